//! The formats, and which of them a kind of result is written in.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// What a result is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// For a terminal.
    Text,
    /// Of an anatomy: the table of parts alone.
    Parts,
    /// Of an anatomy: functions below those that called them.
    Tree,
    /// Of an anatomy: every instruction.
    Listing,
    /// The document itself.
    Json,
    /// Lines of JSON without rounds: one for the run, one for each row.
    Ndjson,
    /// A line for each row, RFC 4180.
    Csv,
    /// Tables in GitHub's Markdown.
    Markdown,
    /// A page.
    Html,
    /// A picture.
    Svg,
    /// Of an anatomy or an impact: stacks with counts, a line each, for flame graph tools.
    Folded,
    /// Of a comparison, for CI servers: JUnit's XML, a row a test case.
    Junit,
    /// Of a comparison, for the kernel's test harnesses: KTAP, version 1.
    Ktap,
    /// Of a checkup, for Nagios and what follows its rules for plugins.
    Nrpe,
    /// Of a checkup, for node_exporter's textfile collector: the text format of Prometheus, version 0.0.4.
    Prometheus,
}

/// Not the name of a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a format")]
pub struct UnknownFormat(pub String);

/// A format's name on the command line, the endings of its files, and the command that makes one for who asked another.
type Row = (Format, &'static str, &'static [&'static str], &'static str);

const ROWS: [Row; 15] = [
    (Format::Text, "text", &["txt"], ""),
    (Format::Parts, "parts", &[], "`kentry anatomy` makes tables of parts"),
    (Format::Tree, "tree", &[], "`kentry anatomy` makes trees of functions"),
    (Format::Listing, "listing", &[], "`kentry anatomy` makes listings"),
    (Format::Json, "json", &["json"], ""),
    (Format::Ndjson, "ndjson", &["ndjson", "jsonl"], "`kentry export RUN --to ndjson` makes lines of JSON"),
    (Format::Csv, "csv", &["csv"], "`kentry show RUN` makes CSV of a run"),
    (Format::Markdown, "markdown", &["md", "markdown"], "`kentry show RUN` makes Markdown of a run"),
    (Format::Html, "html", &["html", "htm"], "`kentry report RUN --output FILE.html` makes a page"),
    (
        Format::Svg,
        "svg",
        &["svg"],
        "`kentry bill`, `kentry anatomy`, `kentry reproduce`, and `kentry linux` with --history or --kernel make pictures",
    ),
    (Format::Folded, "folded", &["folded"], "`kentry anatomy` and `kentry impact` make folded stacks"),
    (Format::Junit, "junit", &["xml"], "`kentry compare` makes JUnit"),
    (Format::Ktap, "ktap", &["ktap", "tap"], "`kentry compare` makes KTAP"),
    (Format::Nrpe, "nrpe", &[], "`kentry doctor` answers Nagios"),
    (Format::Prometheus, "prometheus", &["prom"], "`kentry doctor` and `kentry export` make metrics"),
];

impl Format {
    /// Every format.
    pub const ALL: [Format; ROWS.len()] = {
        let mut all = [Format::Text; ROWS.len()];
        let mut at = 0;
        while at < ROWS.len() {
            all[at] = ROWS[at].0;
            at += 1;
        }
        all
    };

    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.0 == self).unwrap_or(&ROWS[0])
    }

    /// As on the command line.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// What files of it end in, without the dot, the usual first; nothing of what no ending names.
    pub fn endings(self) -> &'static [&'static str] {
        self.row().2
    }

    /// Which command makes it, in words.
    pub fn made_by(self) -> &'static str {
        self.row().3
    }

    /// What a file of this name is taken to be; none when its ending says nothing.
    pub fn of_file(path: &Path) -> Option<Format> {
        let ending = path.extension()?.to_ascii_lowercase();
        let ending = ending.to_str()?;
        ROWS.iter().find(|row| row.2.contains(&ending)).map(|row| row.0)
    }

    /// Whether it is text for a person.
    pub fn is_text(self) -> bool {
        matches!(self, Format::Text | Format::Parts | Format::Tree | Format::Listing)
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

/// A kind of result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// With its article: a run.
    pub name: &'static str,
    /// What it is written in, what nobody has to ask for first.
    pub formats: &'static [Format],
}

/// All that an anatomy is written in, and last what only a run is.
const OF_SAVED: &[Format] = &[
    Format::Text,
    Format::Parts,
    Format::Tree,
    Format::Listing,
    Format::Json,
    Format::Csv,
    Format::Markdown,
    Format::Svg,
    Format::Folded,
    Format::Ndjson,
];

/// All that a run of named kernels is written in, and last what no other run is.
const OF_KERNELS: &[Format] =
    &[Format::Text, Format::Json, Format::Csv, Format::Markdown, Format::Ndjson, Format::Svg];

const ROWS_OF_A_TABLE: &[Format] = &[Format::Text, Format::Json, Format::Csv, Format::Markdown];

impl Kind {
    /// Of any machine, measured.
    pub const RUN: Kind = Kind { name: "a run", formats: OF_KERNELS.split_at(OF_KERNELS.len() - 1).0 };
    /// Of Linux kernels that the command line named.
    pub const KERNELS: Kind = Kind { name: "a run of named kernels", formats: OF_KERNELS };
    /// Runs for other programs, without their rounds.
    pub const EXPORT: Kind =
        Kind { name: "an export", formats: &[Format::Ndjson, Format::Csv, Format::Prometheus] };
    /// Of entries, of runs, of published tables.
    pub const LIST: Kind = Kind { name: "a list", formats: ROWS_OF_A_TABLE };
    /// Of a published table.
    pub const REPRODUCTION: Kind = Kind {
        name: "a reproduction",
        formats: &[Format::Text, Format::Json, Format::Csv, Format::Markdown, Format::Svg],
    };
    /// What `kentry tax` makes.
    pub const TAX: Kind = Kind { name: "a table of layers", formats: ROWS_OF_A_TABLE };
    /// What would be measured.
    pub const PLAN: Kind = Kind { name: "a plan", formats: &[Format::Text, Format::Json] };
    /// Of a path in the lab.
    pub const LISTING: Kind = Kind { name: "a listing", formats: &[Format::Text] };
    /// What `kentry bill` makes.
    pub const BILL: Kind = Kind {
        name: "a bill",
        formats: &[Format::Text, Format::Json, Format::Csv, Format::Markdown, Format::Svg],
    };
    /// What `kentry bill --beside-linux` makes.
    pub const ASSEMBLY: Kind = Kind { name: "a path beside Linux's", formats: ROWS_OF_A_TABLE };
    /// What `kentry anatomy` makes.
    pub const ANATOMY: Kind = Kind { name: "an anatomy", formats: OF_SAVED.split_at(OF_SAVED.len() - 1).0 };
    /// What `kentry impact` makes.
    pub const IMPACT: Kind =
        Kind { name: "an impact", formats: &[Format::Text, Format::Json, Format::Markdown, Format::Folded] };
    /// Whatever was saved: what an anatomy or a run can be.
    pub const SAVED: Kind = Kind { name: "a saved document", formats: OF_SAVED };
    /// What `kentry compare` makes.
    pub const COMPARISON: Kind = Kind {
        name: "a comparison",
        formats: &[Format::Text, Format::Json, Format::Csv, Format::Markdown, Format::Junit, Format::Ktap],
    };
    /// What `kentry compare` makes of anatomies.
    pub const COMPARED_PATHS: Kind = Kind { name: "a comparison of anatomies", formats: ROWS_OF_A_TABLE };
    /// What `kentry fleet` makes.
    pub const FLEET: Kind = Kind {
        name: "a fleet",
        formats: &[Format::Text, Format::Json, Format::Csv, Format::Markdown, Format::Html],
    };
    /// What `kentry doctor` makes.
    pub const CHECKUP: Kind = Kind {
        name: "a checkup",
        formats: &[Format::Text, Format::Json, Format::Markdown, Format::Nrpe, Format::Prometheus],
    };
    /// About runs.
    pub const PAGE: Kind = Kind { name: "a page", formats: &[Format::Html] };

    /// Whether it is written in this format.
    pub fn is_written_in(&self, format: Format) -> bool {
        self.formats.contains(&format)
    }

    /// The usual endings of its files, and text, in words: `text, .json, .csv and .md`.
    pub fn in_words(&self) -> String {
        let word = |format: &Format| match (format, format.endings()) {
            (Format::Text, _) => Some("text".to_owned()),
            (_, [usual, ..]) => Some(format!(".{usual}")),
            (_, []) => None,
        };
        enumerated(&self.formats.iter().filter_map(word).collect::<Vec<_>>(), "and")
    }

    /// The names of its formats, in words: `text, json, csv or markdown`.
    pub fn names(&self) -> String {
        let names = self.formats.iter().map(|format| format.name().to_owned());
        enumerated(&names.collect::<Vec<_>>(), "or")
    }
}

/// With commas, and this word before the last.
fn enumerated(words: &[String], before_last: &str) -> String {
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} {before_last} {last}", others.join(", ")),
        _ => words.concat(),
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
        assert_eq!([of("x.tap"), of("x.ktap")], [Some(Format::Ktap); 2]);
        assert_eq!([of("a/junit.XML"), of("a.SVG")], [Some(Format::Junit), Some(Format::Svg)]);
        for unknown in ["run", "run.parts", ".json", "json", "run.json/x", "-", ""] {
            assert_eq!(of(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn names_and_endings_come_back_and_no_two_are_the_same() {
        for (format, row) in Format::ALL.into_iter().zip(ROWS) {
            assert_eq!((format.to_string().parse(), format), (Ok(format), row.0));
            for ending in format.endings() {
                assert_eq!(Format::of_file(Path::new(&format!("x.{ending}"))), Some(format));
            }
        }
        assert_eq!("xml".parse::<Format>().unwrap_err().to_string(), "\"xml\" is not a format");
    }

    #[test]
    fn a_kind_says_what_it_is_written_in() {
        assert_eq!(Kind::RUN.in_words(), "text, .json, .csv, .md and .ndjson");
        assert_eq!(Kind::ANATOMY.in_words(), "text, .json, .csv, .md, .svg and .folded");
        assert_eq!(Kind::PAGE.in_words(), ".html");
        assert_eq!(Kind::RUN.names(), "text, json, csv, markdown or ndjson");
        assert_eq!([Kind::PLAN.names(), Kind::PAGE.names()], ["text or json", "html"]);
        assert!(Kind::SAVED.is_written_in(Format::Tree) && !Kind::RUN.is_written_in(Format::Tree));
    }

    /// Somebody who asks a command for what it does not make is told which command makes it.
    #[test]
    fn what_only_some_kinds_are_written_in_says_which_command_makes_it() {
        for format in Format::ALL.into_iter().filter(|format| !format.endings().is_empty()) {
            let is_of_all =
                [Kind::RUN, Kind::COMPARISON, Kind::PAGE].iter().all(|kind| kind.is_written_in(format));
            assert!(
                is_of_all || !format.made_by().is_empty() || [Format::Text, Format::Json].contains(&format)
            );
        }
    }
}
