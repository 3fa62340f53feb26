use crate::Format;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// What a bill is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BillFormat {
    /// For a terminal.
    Text,
    /// The bill itself, schema `kentry.bill/1`.
    Json,
    /// A line for each step and each part, RFC 4180.
    Csv,
    /// Tables in GitHub's Markdown.
    Markdown,
    /// A picture of the path.
    Svg,
}

impl BillFormat {
    /// Every format.
    pub const ALL: [BillFormat; 5] =
        [BillFormat::Text, BillFormat::Json, BillFormat::Csv, BillFormat::Markdown, BillFormat::Svg];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            BillFormat::Text => Format::Text.name(),
            BillFormat::Json => Format::Json.name(),
            BillFormat::Csv => Format::Csv.name(),
            BillFormat::Markdown => Format::Markdown.name(),
            BillFormat::Svg => "svg",
        }
    }

    /// What a file of this name is taken to be; none when its ending says nothing.
    pub fn of_file(path: &Path) -> Option<BillFormat> {
        let is_svg = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"));
        if is_svg { Some(BillFormat::Svg) } else { Format::of_file(path).map(BillFormat::from) }
    }
}

impl From<Format> for BillFormat {
    fn from(format: Format) -> BillFormat {
        match format {
            Format::Text => BillFormat::Text,
            Format::Json => BillFormat::Json,
            Format::Csv => BillFormat::Csv,
            Format::Markdown => BillFormat::Markdown,
        }
    }
}

impl fmt::Display for BillFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for BillFormat {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        BillFormat::ALL.into_iter().find(|format| format.name() == name).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_ending_names_its_format_and_names_come_back() {
        let of = |name: &str| BillFormat::of_file(Path::new(name));
        assert_eq!([of("bill.svg"), of("a.b/BILL.SVG")], [Some(BillFormat::Svg); 2]);
        assert_eq!((of("bill.json"), of("bill.md")), (Some(BillFormat::Json), Some(BillFormat::Markdown)));
        assert_eq!([of("bill.txt"), of("svg"), of(".svg")], [None; 3]);
        for format in BillFormat::ALL {
            assert_eq!(format.name().parse(), Ok(format));
        }
    }
}
