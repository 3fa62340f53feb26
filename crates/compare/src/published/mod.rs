//! Figures that others have published: `published.toml`, parsed and checked against the table of entries; and beside them what
//! comes out here ([`Reproduction`]).
//!
//! Nothing here measures. How a publication's author measured is said by its [`Loop`]s, which the caller has timed.

mod check;
mod loops;
mod ratio;
mod reproduction;

pub use loops::{Loop, Take, Timed, Took};
pub use ratio::Ratio;
pub use reproduction::{
    Compared, Figure, GuestFigure, GuestUnit, Here, InGuests, Measured, Parts, Reproduction, Way,
};

use environment::Environment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use table::{Kernel, Loops, Table};
use toml::Spanned;

/// The text of `published.toml` as it was when this crate was built.
pub const SOURCE: &str = include_str!("../../../../published.toml");

/// What can be wrong with the text.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not TOML, or has unknown keys or wrong types; with line and column.
    #[error("published.toml: {0}")]
    Syntax(#[from] toml::de::Error),
    /// It contradicts itself or the table of entries.
    #[error("published.toml: line {line}: {what}")]
    Content {
        /// Where the offending publication, column or row begins, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

/// What published figures count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Cycles of a clock that the source does not name.
    Cycles,
    /// Ticks of the time stamp counter.
    Ticks,
    /// Cycles of the core.
    CoreCycles,
    /// UnixBench's index: the more, the faster. Its loops have one, as [`table::Loops`] says.
    Index,
}

impl Unit {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Ns => "ns",
            Unit::Cycles => "cycles",
            Unit::Ticks => "TSC ticks",
            Unit::CoreCycles => "core cycles",
            Unit::Index => "index",
        }
    }

    /// What a loop's clock counts for figures of this unit. Only the probe's own samples tell the core's cycles.
    pub fn of_clock(self) -> Unit {
        if matches!(self, Unit::Ns | Unit::Index) { Unit::Ns } else { Unit::Ticks }
    }

    /// What figures of loops are in beside figures of this unit.
    pub fn of_loops(self) -> Unit {
        if self == Unit::Index { Unit::Index } else { self.of_clock() }
    }

    /// What kentry's own figures are in beside figures of this unit.
    pub fn of_kentry(self) -> Unit {
        match self {
            Unit::Ns | Unit::Ticks | Unit::Index => self,
            Unit::Cycles | Unit::CoreCycles => Unit::CoreCycles,
        }
    }

    /// Whether a published figure can be divided by one of `other`. Cycles of an unknown clock can be of either.
    pub fn compares_with(self, other: Unit) -> bool {
        self == other || (self == Unit::Cycles && matches!(other, Unit::Ticks | Unit::CoreCycles))
    }
}

/// A published figure; none where the author gave none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct Published(pub Option<f64>);

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Number(f64),
    Text(String),
}

impl TryFrom<Value> for Published {
    type Error = String;

    fn try_from(value: Value) -> Result<Published, String> {
        match value {
            Value::Number(number) if number.is_finite() && number > 0.0 => Ok(Published(Some(number))),
            Value::Number(number) => Err(format!("{number} is no cost")),
            Value::Text(text) if text == "-" => Ok(Published(None)),
            Value::Text(text) => Err(format!("{text:?} is neither a number nor \"-\"")),
        }
    }
}

/// Whether something is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnOff {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// How the vsyscall page is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vsyscall {
    /// By a page fault.
    Emulated,
    /// By code in the page.
    Native,
}

/// What a kernel must have, so that figures can be measured on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// Page-table isolation, or none.
    pub pti: Option<OnOff>,
    /// The vsyscall page.
    pub vsyscall: Option<Vsyscall>,
}

impl Needs {
    /// Why this machine does not fulfil them, in words; none if it does. What is not known is not there.
    pub fn missing(&self, here: &Environment) -> Option<String> {
        let pti = match (self.pti, here.kernel.pti) {
            (None, _) | (Some(OnOff::On), Some(true)) | (Some(OnOff::Off), Some(false)) => None,
            (_, None) => Some("this kernel does not tell whether page-table isolation is on".to_string()),
            (Some(OnOff::On), Some(false)) => {
                Some(format!("page-table isolation is off here{}", why_off(here)))
            }
            (Some(OnOff::Off), Some(true)) => Some("page-table isolation is on here".to_string()),
        };
        pti.or_else(|| self.vsyscall?.missing(here.vsyscall.as_deref()))
    }
}

fn why_off(here: &Environment) -> &'static str {
    match here.mitigations.get("meltdown").map(String::as_str) {
        Some("Not affected") => " (this processor does not need it)",
        _ => "",
    }
}

impl Vsyscall {
    fn missing(self, mode: Option<&str>) -> Option<String> {
        match (self, mode) {
            (Vsyscall::Emulated, Some("emulate" | "xonly")) | (Vsyscall::Native, Some("native")) => None,
            (_, Some("none")) => Some("this kernel has no vsyscall page".into()),
            (Vsyscall::Native, Some(_)) => {
                Some("the vsyscall page is emulated here; Linux dropped the native one in 2018".into())
            }
            (Vsyscall::Emulated, Some(mode)) => {
                Some(format!("the vsyscall page is {mode} here, not emulated"))
            }
            (_, None) => Some("how the vsyscall page is served here is not known".into()),
        }
    }
}

/// Figures for one machine or configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// What this kernel must have for it.
    #[serde(default)]
    pub needs: Needs,
    /// The lab's switches that stand for it.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// The parameters of a Linux guest that stand for it.
    #[serde(default)]
    pub boot: BTreeMap<String, String>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its heading.
    pub name: String,
    /// A figure for each column.
    pub published: Vec<Published>,
    /// The entry that it is measured by on this Linux; none where it cannot be.
    pub entry: Option<String>,
    /// The operation.
    pub operation: Option<String>,
    /// What this kernel must have for it.
    #[serde(default)]
    pub needs: Needs,
    /// The entry that stands for it in the lab, if that is another.
    pub lab: Option<String>,
    /// The lab's switches that stand for it.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// The entry that stands for it in a Linux guest.
    pub guest: Option<String>,
    /// The parameters of that guest that stand for it.
    #[serde(default)]
    pub boot: BTreeMap<String, String>,
    /// What else there is to know.
    pub remark: Option<String>,
    /// Why it cannot be measured on this Linux.
    pub absent: Option<String>,
}

impl Row {
    /// Entry and operation on this Linux.
    pub fn on_linux(&self) -> Option<(&str, &str)> {
        Some((self.entry.as_deref()?, self.operation.as_deref()?))
    }

    /// What UnixBench makes of its operation, if that is one of UnixBench's loops.
    pub(crate) fn loops(&self, table: &Table) -> Option<Loops> {
        table.operation(self.operation.as_deref()?)?.loops
    }

    /// Entry and operation in a Linux guest, if it is measured in one.
    pub fn in_guest(&self) -> Option<(&str, &str)> {
        Some((self.guest.as_deref()?, self.operation.as_deref()?))
    }

    /// Entry and operation in one of the lab's kernels, if it has them.
    pub fn in_lab<'a>(&'a self, kernel: Kernel, table: &Table) -> Option<(&'a str, &'a str)> {
        let (entry, operation) = (self.lab.as_deref().or(self.entry.as_deref())?, self.operation.as_deref()?);
        let known = table.entry(entry)?;
        known.all_on(kernel).any(|name| name == operation).then_some((entry, operation))
    }
}

/// Who is cited. Nothing of it is guessed: what is not known is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Citation {
    /// Who published it.
    pub author: Option<String>,
    /// In which year.
    pub year: Option<u16>,
    /// Where it can be read.
    pub address: Option<String>,
}

impl Citation {
    /// `author: Justus Winter; year: 2015`: what is known of it; none where nothing is.
    pub fn in_words(&self) -> Option<String> {
        let year = self.year.map(|year| year.to_string());
        let all = [
            ("author", self.author.as_deref()),
            ("year", year.as_deref()),
            ("address", self.address.as_deref()),
        ];
        let known = all.iter().filter_map(|(label, known)| Some(format!("{label}: {}", (*known)?)));
        let words: Vec<String> = known.collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

/// One published table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// As on the command line; it never changes.
    pub name: String,
    /// Other words that people look for it by.
    #[serde(default)]
    pub known_as: Vec<String>,
    /// What was measured, in a few words.
    pub title: String,
    /// Who published it, and where.
    pub source: String,
    /// Its author, as far as that is known.
    pub author: Option<String>,
    /// The year in which it was published, as far as that is known.
    pub year: Option<u16>,
    /// Where it can be read, as far as that is known.
    pub address: Option<String>,
    /// The processor that it was measured on, as far as the source says.
    pub cpu: Option<String>,
    /// The kernel, as far as the source says.
    pub kernel: Option<String>,
    /// What the figures count.
    pub unit: Unit,
    /// What was published, and what it showed, in sentences.
    pub about: String,
    /// How the author measured, in words; none where that is not known.
    pub way: Option<String>,
    /// The same for the probe.
    #[serde(rename = "loop")]
    pub way_here: Option<Loop>,
    /// Name of the row that others are compared with.
    pub base: Option<String>,
    /// Which of the lab's kernels stands for it.
    #[serde(default = "usual_lab")]
    pub lab_kernel: Kernel,
    /// Machines or configurations.
    #[serde(rename = "column")]
    pub columns: Vec<Spanned<Column>>,
    /// What was measured.
    #[serde(rename = "row")]
    pub rows: Vec<Spanned<Row>>,
    /// What its author concluded: figures as parts of others.
    #[serde(rename = "ratio", default)]
    pub ratios: Vec<Spanned<Ratio>>,
}

fn usual_lab() -> Kernel {
    Kernel::Lab
}

impl Publication {
    /// Who is cited.
    pub fn citation(&self) -> Citation {
        Citation { author: self.author.clone(), year: self.year, address: self.address.clone() }
    }

    fn is_known_as(&self, word: &str) -> bool {
        self.known_as.iter().any(|known| known.eq_ignore_ascii_case(word))
    }

    /// The loops that its rows are timed with here, each with its heading: as the author did or, where that is not known, in two
    /// plain ways. None where nothing of it can be measured.
    pub fn loops(&self) -> Vec<(&'static str, Loop)> {
        match self.way_here {
            _ if self.on_linux().is_empty() => Vec::new(),
            Some(way) => vec![("loop", way)],
            None => vec![("loop", Loop::PLAIN), ("single", Loop::SINGLE)],
        }
    }

    /// The entries and operations that are measured on this Linux, each once, in the order of the rows.
    pub fn on_linux(&self) -> Vec<(&str, &str)> {
        let mut all = Vec::new();
        for name in self.rows.iter().filter_map(|row| row.get_ref().on_linux()) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }

    /// Whether only the lab can measure it.
    pub fn is_for_lab(&self, table: &Table) -> bool {
        self.on_linux().is_empty()
            && self.rows.iter().any(|row| row.get_ref().in_lab(self.lab_kernel, table).is_some())
    }
}

/// All published tables, in the order of the file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publications {
    #[serde(rename = "publication")]
    all: Vec<Spanned<Publication>>,
}

static PUBLICATIONS: LazyLock<Publications> = LazyLock::new(|| {
    // A test parses it, so this cannot happen in a command that was tested.
    Publications::parse(SOURCE, Table::get()).unwrap_or_else(|error| panic!("{error}"))
});

impl Publications {
    /// Those that this program was built with.
    pub fn get() -> &'static Publications {
        &PUBLICATIONS
    }

    /// Parses and checks a text.
    ///
    /// # Errors
    /// [`Error::Syntax`], or [`Error::Content`] where it contradicts itself or the table.
    pub fn parse(text: &str, table: &Table) -> Result<Publications, Error> {
        let parsed: Publications = toml::from_str(text)?;
        let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        check::check(&parsed, table)
            .map_err(|wrong| Error::Content { line: line(wrong.at), what: wrong.what })?;
        Ok(parsed)
    }

    /// All, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Publication> {
        self.all.iter().map(Spanned::get_ref)
    }

    /// The one of that name.
    pub fn find(&self, name: &str) -> Option<&Publication> {
        self.iter().find(|publication| publication.name == name)
    }

    /// The one of that name; or else all that are known as that, whatever its case.
    pub fn meant(&self, word: &str) -> Vec<&Publication> {
        match self.find(word) {
            Some(named) => vec![named],
            None => self.iter().filter(|publication| publication.is_known_as(word)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl Fn(&str) -> String) -> String {
        Publications::parse(&change(SOURCE), Table::get()).unwrap_err().to_string()
    }

    /// The line of the source on which a text first stands, from 1.
    fn line_of(text: &str) -> usize {
        SOURCE.lines().position(|line| line.contains(text)).unwrap() + 1
    }

    #[test]
    fn a_table_is_found_by_what_people_call_it() {
        let names = |word: &str| -> Vec<&str> {
            Publications::get().meant(word).into_iter().map(|found| found.name.as_str()).collect()
        };
        assert_eq!(names("KAISER"), ["pti-unixbench", "pti-costs"]);
        assert_eq!(names("hurd"), ["gnu-mach-2015"]);
        assert_eq!(names("mach-null-trap"), ["gnu-mach-2015"], "what it was called");
        assert_eq!(names("task-switch"), ["intel-gates"]);
        assert_eq!(names("pti-costs"), ["pti-costs"]);
        assert!(names("nothing").is_empty());
        let taken = refused(|s| s.replacen("known_as = [\"gettimeofday\"", "known_as = [\"l4re-null\"", 1));
        assert!(taken.contains("known as \"l4re-null\", which is a name"), "{taken}");
    }

    #[test]
    fn what_stands_for_gnu_mach_is_its_own_gate_and_its_own_calls() {
        let mach = Publications::get().meant("gnu-mach-2015")[0];
        assert_eq!(mach.lab_kernel, table::Kernel::LabI386, "GNU Mach was a kernel of 32 bits");
        let (entries, operations, sets) = mach.wants(mach.lab_kernel, Table::get());
        assert_eq!(entries, ["lcall7-i386", "sysenter-i386"]);
        assert_eq!(operations, ["mach_print", "mach_msg-null", "mach_msg-send-receive"]);
        assert!(sets.is_empty() && mach.on_linux().is_empty());
        let mixed = refused(|s| s.replacen("operation = \"mach_msg-null\"", "operation = \"getppid\"", 1));
        assert!(mixed.contains("its rows in the lab are by the calls of two personalities"), "{mixed}");
    }

    /// A manual has the clocks of an instruction; a round trip is two of them, which the row's words name.
    #[test]
    fn sums_of_intels_clocks_are_those_that_their_rows_name() {
        // The i486's switch to a TSS of 32 bits, and to one of 16 bits, of whatever kind the old one is; and the Pentium's.
        const TS: i32 = 199;
        const TS_286: i32 = 180;
        const TS_5: i32 = 85;
        const TS_286_5: i32 = 87;
        let intel = Publications::get().find("intel-gates").unwrap();
        assert!(intel.is_for_lab(Table::get()) && intel.loops().is_empty());
        for (row, parts) in [
            ("int, iret", [78 + 55, 99 + 82, 71 + 36, 48 + 27].map(Some)),
            ("lcall, lret", [82 + 55, 86 + 68, 69 + 33, 44 + 23].map(Some)),
            ("lcall, 1 word, lret", [86 + 4 + 55, 94 + 4 + 68, 77 + 4 + 33, 45 + 2 + 23].map(Some)),
            (
                "lcall, 8 words, lret",
                [86 + 4 * 8 + 55, 94 + 4 * 8 + 68, 77 + 4 * 8 + 33, 45 + 2 * 8 + 23].map(Some),
            ),
            ("lcall, lret, ring 3", [26 + 25, 34 + 32, 20 + 18, 4 + 4].map(Some)),
            (
                "int to a task, iret",
                [167 + 169, 309 + 275, 37 + TS + TS + 32, 23 + TS_5 + TS_5 + 10].map(Some),
            ),
            (
                "lcall a task, iret",
                [182 + 169, 309 + 275, 37 + TS + TS + 32, 21 + TS_5 + TS_5 + 10].map(Some),
            ),
            (
                "ljmp a task, twice",
                [180 + 175, 312 + 303, 43 + TS + 42 + TS, 20 + TS_5 + 19 + TS_5].map(Some),
            ),
            (
                "int, 286 TSS, iret",
                [167 + 169, 282 + 265, 37 + TS_286 + TS + 32, 23 + TS_286_5 + TS_5 + 10].map(Some),
            ),
            (
                "lcall, nested, iret",
                [182 + 169, 309 + 275, 37 + TS + TS + 32, 21 + TS_5 + TS_5 + 10].map(|once| Some(2 * once)),
            ),
            ("int from V86, iret", [None, Some(119 + 60), Some(86 + 15), Some(82 + 8)]),
        ] {
            let found = intel.rows.iter().map(Spanned::get_ref).find(|one| one.name == row).unwrap();
            let figures: Vec<Option<f64>> = found.published.iter().map(|figure| figure.0).collect();
            assert_eq!(figures, parts.map(|sum: Option<i32>| sum.map(f64::from)), "{row}");
        }
        assert_eq!(intel.rows.len(), 11);
    }

    #[test]
    fn a_kernel_is_not_asked_for_switches_that_it_does_not_have() {
        let table = Table::get();
        for publication in Publications::get().iter() {
            for kernel in [table::Kernel::Lab, table::Kernel::LabI386] {
                let (.., sets) = publication.wants(kernel, table);
                let sets: Vec<String> = sets.into_iter().filter(|set| !set.is_empty()).collect();
                assert!(table.sets(kernel, &sets).is_ok(), "{}: {sets:?}", publication.name);
            }
        }
    }

    #[test]
    fn every_figure_is_measured_by_a_row_of_the_table_or_says_why_not() {
        let table = Table::get();
        let mut figures = 0;
        for publication in Publications::get().iter() {
            for row in publication.rows.iter().map(Spanned::get_ref) {
                let what = format!("{} {}", publication.name, row.name);
                assert_eq!(row.published.len(), publication.columns.len(), "{what}");
                assert_eq!(row.on_linux().is_some(), row.absent.is_none(), "{what}");
                for (entry, operation) in
                    row.on_linux().into_iter().chain(row.in_lab(publication.lab_kernel, table))
                {
                    assert!(table.entry(entry).is_some() && table.operation(operation).is_some(), "{what}");
                }
                figures += row.published.iter().filter(|figure| figure.0.is_some()).count();
            }
            let is_sentence = |text: &str| text.ends_with('.') && text.split(". ").count() <= 3;
            assert!(is_sentence(&publication.about), "{}: {}", publication.name, publication.about);
        }
        assert!(figures >= 40, "{figures}");
    }

    /// Names are on command lines and in scripts.
    #[test]
    fn a_name_is_for_ever() {
        let names: Vec<&str> =
            Publications::get().iter().map(|publication| publication.name.as_str()).collect();
        for known in [
            "gettimeofday-4.14",
            "gettimeofday-i7-8550u",
            "gnu-mach-2015",
            "intel-gates",
            "kvm-round-trip",
            "l4re-null",
            "pti-unixbench",
            "pti-costs",
        ] {
            assert!(names.contains(&known), "{known}");
        }
    }

    #[test]
    fn what_the_author_did_not_say_is_measured_in_two_plain_ways() {
        let loops = |name: &str| Publications::get().find(name).unwrap().loops();
        assert_eq!(loops("gettimeofday-4.14"), [("loop", Loop::PLAIN), ("single", Loop::SINGLE)]);
        let known = Loop { calls: 16384, repetitions: 1, take: Take::Mean };
        assert_eq!(loops("kvm-round-trip"), [("loop", known)]);
        assert_eq!(loops("pti-costs"), [], "nothing of it is measured on Linux");
    }

    #[test]
    fn hostile_text_is_an_error_with_a_line() {
        let unknown = refused(|text| text.replacen("entry = \"sysenter-i386\"", "entry = \"sysentre\"", 1));
        let line = line_of("entry = \"sysenter-i386\"") - 3;
        assert_eq!(
            unknown,
            format!(
                "published.toml: line {line}: publication gettimeofday-4.14, row sysenter: there is no entry sysentre"
            )
        );
        for (from, to, why) in [
            (
                "operation = \"gettimeofday\"",
                "operation = \"signal\"",
                "int80-i386 does not serve signal on Linux",
            ),
            ("published = [498, 317]", "published = [498]", "1 figures for 2 columns"),
            ("published = [498, 317]", "published = [\"-\", \"-\"]", "no figure was published"),
            ("set = { pti = \"on\" }", "set = { pti = \"maybe\" }", "set: pti=maybe is no switch and value"),
            ("set = { pti = \"on\" }", "set = { kpti = \"on\" }", "set: kpti=on is no switch and value"),
            ("lab = \"call-gate-x86_64\"", "lab = \"libc\"", "libc does not serve none in the lab"),
            ("base = \"syscall\"", "base = \"syscal\"", "base: syscal is none of its rows"),
            ("name = \"PTI off\"", "name = \"PTI on\"", "it has two columns PTI on"),
            ("name = \"sysenter\"", "name = \"int 80h\"", "it has two rows int 80h"),
            ("name = \"sysenter\"", "name = \"sysenter, from 32-bit code\"", "1 to 20 characters"),
            ("of = \"off, trampoline\"", "of = \"the trampoline\"", "there is no row the trampoline"),
            ("column = \"no PCID\"", "column = \"none\"", "no column none"),
            ("of = \"one more CR3 write\"", "of = \"PTI on\"", "it compares a figure with itself"),
            ("to_column = \"PCID\"", "to_column = \"no PCID\"", "it compares a figure with itself"),
            ("of = \"PTI on\"", "of = \"PTI on\"\ncolumn = \"no PCID\"", "was not published"),
            ("name = \"both writes\"", "name = \"one more write\"", "it has two ratios one more write"),
            ("name = \"l4re-null\"", "name = \"pti-costs\"", "the name is taken"),
            ("name = \"l4re-null\"", "name = \"L4Re null\"", "not of a-z 0-9"),
            ("calls = 16384", "calls = 0", "loop: 0 calls; the probe makes 1 to 1000000"),
            ("calls = 16384, repetitions = 1,", "calls = 1, repetitions = 99999,", "loop: 99999 repetitions"),
            (
                "loop = { calls = 16384, repetitions = 1, take = \"mean\" }",
                "",
                "\"way\" and \"loop\" go together",
            ),
            ("unit = \"ns\"", "unit = \"index\"", "UnixBench has no index for its operation"),
            ("absent = \"Linux has no call gates for 64-bit code\"", "", "\"absent\" why it is not"),
            (
                "boot = { pcid = \"off\" }",
                "boot = { pcid = \"flush\" }",
                "pcid=flush is no parameter and value of a Linux",
            ),
            (
                "guest = \"syscall-x86_64\"",
                "guest = \"call-gate-i386\"",
                "does not serve unixbench-syscall on Linux",
            ),
        ] {
            assert!(SOURCE.contains(from), "{from}");
            let error = refused(|text| text.replacen(from, to, 1));
            assert!(error.starts_with("published.toml: line ") && error.contains(why), "{to}: {error}");
        }
    }

    #[test]
    fn wrong_types_and_unknown_keys_are_errors_with_a_line() {
        for (from, to) in [
            ("published = [498, 317]", "published = [498, -1]"),
            ("published = [498, 317]", "published = [498, inf]"),
            ("published = [498, 317]", "published = [498, \"many\"]"),
            ("published = [498, 317]", "publshed = [498, 317]"),
            ("needs = { pti = \"on\" }", "needs = { pti = \"maybe\" }"),
            ("unit = \"ns\"", "unit = \"seconds\""),
            ("take = \"mean\"", "take = \"median\""),
            ("\n[[publication]]\n", "\n[[publication]\n"),
        ] {
            assert!(SOURCE.contains(from), "{from}");
            let error = refused(|text| text.replacen(from, to, 1));
            assert!(error.contains("at line "), "{to}: {error}");
        }
        assert!(Publications::parse("", Table::get()).unwrap_err().to_string().contains("publication"));
    }

    #[test]
    fn what_a_kernel_lacks_is_said() {
        let here = |pti, vsyscall: Option<&str>| {
            let mut here = Environment { vsyscall: vsyscall.map(str::to_string), ..Environment::default() };
            here.kernel.pti = pti;
            here
        };
        let pti = |wanted| Needs { pti: Some(wanted), vsyscall: None };
        assert_eq!(pti(OnOff::On).missing(&here(Some(true), None)), None);
        assert_eq!(pti(OnOff::Off).missing(&here(Some(false), None)), None);
        for (wanted, found) in [(OnOff::On, Some(false)), (OnOff::Off, Some(true)), (OnOff::On, None)] {
            let why = pti(wanted).missing(&here(found, None)).unwrap();
            assert!(why.contains("page-table isolation"), "{why}");
        }
        let page = |wanted| Needs { pti: None, vsyscall: Some(wanted) };
        for (wanted, mode, open) in [
            (Vsyscall::Emulated, Some("xonly"), true),
            (Vsyscall::Emulated, Some("emulate"), true),
            (Vsyscall::Emulated, Some("native"), false),
            (Vsyscall::Native, Some("native"), true),
            (Vsyscall::Native, Some("emulate"), false),
            (Vsyscall::Emulated, Some("none"), false),
            (Vsyscall::Native, None, false),
        ] {
            assert_eq!(page(wanted).missing(&here(None, mode)).is_none(), open, "{wanted:?} {mode:?}");
        }
    }
}
