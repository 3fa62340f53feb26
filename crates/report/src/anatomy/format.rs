use crate::Format;
use std::fmt;
use std::path::Path;

/// What followed paths are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnatomyFormat {
    /// For a terminal: parts, differences, and the lab's profile beside them.
    Text,
    /// The table of parts alone.
    Parts,
    /// Functions below those that called them.
    Tree,
    /// Every instruction.
    Listing,
    /// Stacks with counts, a line each, for flame graph tools.
    Folded,
    /// A flame graph.
    Svg,
    /// The document itself, schema `kentry.anatomy/1`.
    Json,
    /// A line for each instruction, RFC 4180.
    Csv,
    /// Tables in GitHub's Markdown.
    Markdown,
}

impl AnatomyFormat {
    /// Every format.
    pub const ALL: [AnatomyFormat; 9] = [
        AnatomyFormat::Text,
        AnatomyFormat::Parts,
        AnatomyFormat::Tree,
        AnatomyFormat::Listing,
        AnatomyFormat::Folded,
        AnatomyFormat::Svg,
        AnatomyFormat::Json,
        AnatomyFormat::Csv,
        AnatomyFormat::Markdown,
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            AnatomyFormat::Text => Format::Text.name(),
            AnatomyFormat::Parts => "parts",
            AnatomyFormat::Tree => "tree",
            AnatomyFormat::Listing => "listing",
            AnatomyFormat::Folded => "folded",
            AnatomyFormat::Svg => "svg",
            AnatomyFormat::Json => Format::Json.name(),
            AnatomyFormat::Csv => Format::Csv.name(),
            AnatomyFormat::Markdown => Format::Markdown.name(),
        }
    }

    /// What a file of this name is taken to be; none when its ending says nothing.
    pub fn of_file(path: &Path) -> Option<AnatomyFormat> {
        let ends = |wanted: &str| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(wanted));
        match () {
            () if ends("svg") => Some(AnatomyFormat::Svg),
            () if ends("folded") => Some(AnatomyFormat::Folded),
            () => Format::of_file(path).map(AnatomyFormat::from),
        }
    }

    /// The same as one of any document; none where it is of some documents alone.
    pub fn of_any(self) -> Option<Format> {
        Format::ALL.into_iter().find(|format| AnatomyFormat::from(*format) == self)
    }

    /// Whether it is text for a person.
    pub fn is_text(self) -> bool {
        use AnatomyFormat::{Listing, Parts, Text, Tree};
        matches!(self, Text | Parts | Tree | Listing)
    }
}

impl From<Format> for AnatomyFormat {
    fn from(format: Format) -> AnatomyFormat {
        match format {
            Format::Text => AnatomyFormat::Text,
            Format::Json => AnatomyFormat::Json,
            Format::Csv => AnatomyFormat::Csv,
            Format::Markdown => AnatomyFormat::Markdown,
        }
    }
}

impl fmt::Display for AnatomyFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_ending_names_its_format() {
        let of = |name: &str| AnatomyFormat::of_file(Path::new(name));
        assert_eq!([of("a.svg"), of("A.SVG")], [Some(AnatomyFormat::Svg); 2]);
        assert_eq!((of("a.folded"), of("a.json")), (Some(AnatomyFormat::Folded), Some(AnatomyFormat::Json)));
        assert_eq!([of("a.txt"), of("folded"), of(".svg")], [None; 3]);
    }
}
