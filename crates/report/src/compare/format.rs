use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// What a comparison is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareFormat {
    /// For a terminal.
    Text,
    /// For a pull request: GitHub's Markdown.
    Markdown,
    /// The comparison itself, schema `kentry.compare/1`.
    Json,
    /// For CI servers: JUnit's XML, a row a test case.
    Junit,
    /// For the kernel's test harnesses: KTAP, version 1.
    Ktap,
}

impl CompareFormat {
    /// Every format.
    pub const ALL: [CompareFormat; 5] = [
        CompareFormat::Text,
        CompareFormat::Markdown,
        CompareFormat::Json,
        CompareFormat::Junit,
        CompareFormat::Ktap,
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            CompareFormat::Text => "text",
            CompareFormat::Markdown => "markdown",
            CompareFormat::Json => "json",
            CompareFormat::Junit => "junit",
            CompareFormat::Ktap => "ktap",
        }
    }

    /// What a file of this name is taken to be; none when its ending says nothing.
    pub fn of_file(path: &Path) -> Option<CompareFormat> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "md" | "markdown" => Some(CompareFormat::Markdown),
            "json" => Some(CompareFormat::Json),
            "xml" => Some(CompareFormat::Junit),
            "ktap" | "tap" => Some(CompareFormat::Ktap),
            _ => None,
        }
    }
}

impl fmt::Display for CompareFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for CompareFormat {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        CompareFormat::ALL.into_iter().find(|format| format.name() == name).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_ending_names_its_format_and_names_come_back() {
        let of = |name: &str| CompareFormat::of_file(Path::new(name));
        assert_eq!(of("a/junit.XML"), Some(CompareFormat::Junit));
        assert_eq!([of("x.tap"), of("x.ktap")], [Some(CompareFormat::Ktap); 2]);
        assert_eq!([of("x.md"), of("x.markdown")], [Some(CompareFormat::Markdown); 2]);
        assert_eq!([of("x.txt"), of("x.csv"), of("x"), of(".xml")], [None; 4]);
        for format in CompareFormat::ALL {
            assert_eq!(format.name().parse(), Ok(format));
        }
    }
}
