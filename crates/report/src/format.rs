use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// What a report is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A table for a terminal.
    Text,
    /// The document itself.
    Json,
    /// One line for each result, RFC 4180.
    Csv,
    /// Tables in GitHub's Markdown.
    Markdown,
}

/// Not the name of a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a format: text, json, csv, markdown")]
pub struct UnknownFormat(pub String);

impl Format {
    /// Every format.
    pub const ALL: [Format; 4] = [Format::Text, Format::Json, Format::Csv, Format::Markdown];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Markdown => "markdown",
        }
    }

    /// What a file of this name is taken to be; none when its ending says nothing.
    pub fn of_file(path: &Path) -> Option<Format> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "json" => Some(Format::Json),
            "csv" => Some(Format::Csv),
            "md" | "markdown" => Some(Format::Markdown),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let found = Format::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_ending_names_its_format() {
        let of = |name: &str| Format::of_file(Path::new(name));
        assert_eq!(of("run.json"), Some(Format::Json));
        assert_eq!(of("a.b/RUN.CSV"), Some(Format::Csv));
        assert_eq!([of("x.md"), of("x.markdown")], [Some(Format::Markdown); 2]);
        for unknown in ["run", "run.txt", ".json", "json", "run.json/x", "-", ""] {
            assert_eq!(of(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn names_come_back() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let unknown = "xml".parse::<Format>().unwrap_err().to_string();
        assert_eq!(unknown, "\"xml\" is not a format: text, json, csv, markdown");
    }
}
