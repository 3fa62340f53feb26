//! One entry and operation in one configuration.

use crate::Rate;
use record::Footprint;
use serde::{Deserialize, Serialize};
use stats::{
    Cost, Counts, Cycles, Instructions, Lines, Mode, Nanos, Noise, SeenLevels, Spread, StoredDistribution,
    Ticks,
};
use std::collections::BTreeMap;
use table::special::RowName;
use table::{Entry, Table};

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Outcome {
    /// Measured.
    Ok,
    /// This machine, kernel or C library does not have it.
    Unsupported,
    /// It exists, but the kernel answers with an error.
    Refused,
    /// It ended in a signal.
    Fault,
    /// It answered wrongly, or changed a register that it must preserve.
    Mismatch,
    /// It did not end in time.
    Timeout,
    /// The attempt itself went wrong.
    Error,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Outcome; 7] = [
        Outcome::Ok,
        Outcome::Unsupported,
        Outcome::Refused,
        Outcome::Fault,
        Outcome::Mismatch,
        Outcome::Timeout,
        Outcome::Error,
    ];

    /// As in documents and tables.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Unsupported => "unsupported",
            Outcome::Refused => "refused",
            Outcome::Fault => "fault",
            Outcome::Mismatch => "mismatch",
            Outcome::Timeout => "timeout",
            Outcome::Error => "error",
        }
    }
}

/// Where a row's figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Timing {
    /// Time on a processor.
    Hardware,
    /// No time: an emulator executed the instructions. Where it counts them there is `instructions`, and never another cost.
    Emulated,
}

/// Where a function is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Path {
    /// Without entering the kernel.
    User,
    /// By the kernel.
    Kernel,
}

impl Timing {
    /// Every way.
    pub const ALL: [Timing; 2] = [Timing::Hardware, Timing::Emulated];

    /// As in documents and tables.
    pub fn name(self) -> &'static str {
        match self {
            Timing::Hardware => "hardware",
            Timing::Emulated => "emulated",
        }
    }
}

impl Path {
    /// Every path.
    pub const ALL: [Path; 2] = [Path::User, Path::Kernel];

    /// As in documents and tables.
    pub fn name(self) -> &'static str {
        match self {
            Path::User => "user",
            Path::Kernel => "kernel",
        }
    }
}

/// Documents have the names that `name` spells.
macro_rules! spelled_by_name {
    ($($spelled:ident: $what:literal,)*) => {$(
        impl From<$spelled> for &'static str {
            fn from(spelled: $spelled) -> &'static str {
                spelled.name()
            }
        }

        impl TryFrom<String> for $spelled {
            type Error = String;

            fn try_from(name: String) -> Result<$spelled, String> {
                let named = $spelled::ALL.into_iter().find(|spelled| spelled.name() == name);
                named.ok_or_else(|| format!("{name:?} is no {}", $what))
            }
        }
    )*};
}

spelled_by_name! {
    Outcome: "outcome",
    Timing: "timing",
    Path: "path",
}

/// The key of a row's configuration that tells its footprint: pages and lines that were touched behind every use, `64` or
/// `64,512`. Where it is not there, nothing was touched, as if it were `0`.
pub const FOOTPRINT: &str = "footprint";

/// Instructions by the ring that executed them, the control's subtracted from those of ring 3.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rings {
    /// By the kernel.
    pub ring0: Instructions,
    /// By the program.
    pub ring3: Instructions,
}

/// One entry and operation, in one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the entry.
    pub entry: String,
    /// Its id in the table; null where the table of that version has none.
    pub entry_id: Option<u16>,
    /// Name of the operation.
    pub operation: String,
    /// Its id in the table; null where the table of that version has none.
    pub operation_id: Option<u16>,
    /// Bitness of the process that used it.
    pub bits: u8,
    /// All of the lab's switches; of a Linux in a guest, what the command line names of it (`kernel`, `cpu-model`, `append`, and
    /// parameters of the table); or the kind of core where several were measured. And [`FOOTPRINT`] where one was asked for. Empty on a
    /// host otherwise.
    #[serde(default)]
    pub configuration: BTreeMap<String, String>,
    /// Where the figures come from.
    pub timing: Timing,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it did not work, in words; null if it did.
    pub reason: Option<String>,
    /// Whether a call of a function enters the kernel, as the probe found out; null for entries that are not functions.
    pub path: Option<Path>,
    /// How many uses of the entry a sample holds. Where there are several, single samples are means of so many: there are neither
    /// high percentiles nor modes, and least, greatest, median and distribution are of these means, not of single uses.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub uses: u64,
    /// Remarks for the reader, in words.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Why a row that works has no figures.
    pub noise: Option<Noise>,
    /// In core cycles.
    pub core_cycles: Option<Cost<Cycles>>,
    /// In ticks of the time stamp counter.
    pub ticks: Option<Cost<Ticks>>,
    /// In nanoseconds.
    pub ns: Option<Cost<Nanos>>,
    /// The same as UnixBench counts it, of its loops; none of others, and in documents of versions that did not have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// In instructions executed; only in an emulated guest.
    pub instructions: Option<Cost<Instructions>>,
    /// The same by the ring that executed them; only where the path was followed and its length is the estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rings: Option<Rings>,
    /// The estimate of each boot that has one, in their order; only of a Linux whose instructions were counted in a guest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boots: Vec<Instructions>,
    /// Core cycles for a call among calls made back to back, without fences between them.
    pub throughput: Option<Cost<Cycles>>,
    /// Why there is no throughput although it was measured, in words.
    pub throughput_withheld: Option<String>,
    /// The costs that single samples gather at, where there are several; in core cycles, or else in ticks.
    #[serde(default)]
    pub modes: Vec<Mode>,
    /// The CPU that the estimate is of; none where no CPU had enough rounds of its own.
    pub cpu: Option<usize>,
    /// How much of the spread between rounds is layout, where layouts were drawn: in the lab, where time is measured.
    #[serde(default)]
    pub spread: Option<Spread>,
    /// What earlier runs of this machine showed of how its cost changes from time to time, which is in its intervals; none where there
    /// were too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<SeenLevels>,
    /// How much was measured, and how much of that was kept.
    #[serde(default)]
    pub counts: Counts,
    /// The rounds, which the figures are computed from; empty where instructions are counted.
    pub rounds: Lines,
    /// Single samples in core cycles; null where there are none.
    pub distribution_cycles: Option<StoredDistribution>,
    /// Single samples in ticks; null where there are none.
    pub distribution_ticks: Option<StoredDistribution>,
}

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_one(uses: &u64) -> bool {
    *uses == 1
}

impl Row {
    /// Which it is, for a reader of its document: `call none pcid=off pti=on`.
    pub fn in_words(&self) -> String {
        row_in_words(&self.entry, &self.operation, &self.configuration)
    }

    /// Whether a use of it leaves user space: as its probe found out, or else as the table says. What has several uses in a sample does not.
    pub fn leaves_user_space(&self) -> bool {
        let entry = Table::get().entry(&self.entry);
        let by_table = || self.uses == 1 && entry.is_none_or(Entry::leaves_user_space);
        self.path.map_or_else(by_table, |path| path == Path::Kernel)
    }

    /// Whether something was found out about it.
    pub fn has_outcome(&self) -> bool {
        self.outcome != Outcome::Ok || self.counts.samples > 0
    }

    /// Whether it is this row of the table, in whatever configuration, but without a footprint.
    pub fn is(&self, name: RowName) -> bool {
        name.is(&self.entry, &self.operation) && !self.has_footprint()
    }

    /// What was touched behind every use; `None` if the document says something else than pages and lines.
    pub fn footprint(&self) -> Option<Footprint> {
        self.configuration.get(FOOTPRINT).map_or(Some(Footprint::NONE), |text| text.parse().ok())
    }

    /// Whether something was touched: its figures are not those of the entry alone.
    pub fn has_footprint(&self) -> bool {
        self.footprint() != Some(Footprint::NONE)
    }

    /// A row that works, of a process of this bitness, of which nothing is known yet.
    pub fn unmeasured(entry: &str, operation: &str, bits: u8) -> Row {
        Row {
            entry: entry.into(),
            entry_id: None,
            operation: operation.into(),
            operation_id: None,
            bits,
            configuration: BTreeMap::new(),
            timing: Timing::Hardware,
            outcome: Outcome::Ok,
            reason: None,
            path: None,
            uses: 1,
            remarks: Vec::new(),
            noise: None,
            core_cycles: None,
            ticks: None,
            ns: None,
            rate: None,
            instructions: None,
            rings: None,
            boots: Vec::new(),
            throughput: None,
            throughput_withheld: None,
            modes: Vec::new(),
            cpu: None,
            earlier: None,
            counts: Counts::default(),
            rounds: Lines::default(),
            distribution_cycles: None,
            distribution_ticks: None,
            spread: None,
        }
    }
}

/// A row, for a reader of its document: `call none pcid=off pti=on`.
pub fn row_in_words(entry: &str, operation: &str, configuration: &BTreeMap<String, String>) -> String {
    let configuration = configuration.iter().map(|(name, value)| format!(" {name}={value}"));
    format!("{entry} {operation}{}", configuration.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(configuration: &[(&str, &str)]) -> Row {
        let pairs = configuration.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Row { configuration: pairs.collect(), ..Row::unmeasured("call", "none", 64) }
    }

    #[test]
    fn a_row_is_named_with_its_configuration() {
        let (plain, isolated) = (on(&[]), on(&[("pti", "on"), ("pcid", "off")]));
        assert_eq!([plain.in_words(), isolated.in_words()], ["call none", "call none pcid=off pti=on"]);
        assert!(plain.is(table::special::CALL) && isolated.is(table::special::CALL));
    }

    #[test]
    fn a_row_among_a_footprint_is_not_the_rows_own() {
        let among = |text| on(&[(FOOTPRINT, text)]);
        assert_eq!(among("64").in_words(), "call none footprint=64");
        assert!(on(&[]).is(table::special::CALL) && among("0").is(table::special::CALL));
        for text in ["1", "0,512", "a page or two"] {
            assert!(among(text).has_footprint() && !among(text).is(table::special::CALL), "{text}");
        }
        let read = [among("8,16").footprint(), on(&[]).footprint(), among("-1").footprint()];
        assert_eq!(read, [Some(Footprint { pages: 8, lines: 16 }), Some(Footprint::NONE), None]);
    }

    #[test]
    fn a_name_that_none_has_is_an_error_that_says_so() {
        let error = |row: &str| serde_json::from_str::<Row>(row).unwrap_err().to_string();
        let row = serde_json::to_string(&Row::unmeasured("call", "none", 64)).unwrap();
        assert!(row.contains(r#""timing":"hardware","outcome":"ok""#), "{row}");
        assert!(error(&row.replace(r#""ok""#, r#""fine""#)).starts_with(r#""fine" is no outcome"#));
        assert!(error(&row.replace(r#""hardware""#, r#""soft""#)).starts_with(r#""soft" is no timing"#));
        for outcome in Outcome::ALL {
            let closed = Row { outcome, path: Some(Path::User), ..Row::unmeasured("call", "none", 64) };
            let text = serde_json::to_string(&closed).unwrap();
            assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), closed);
        }
    }

    #[test]
    fn a_row_needs_only_what_every_row_has() {
        let row =
            r#"{"entry":"call","operation":"none","bits":64,"timing":"hardware","outcome":"ok","rounds":{}}"#;
        assert_eq!(serde_json::from_str::<Row>(row).unwrap(), Row::unmeasured("call", "none", 64));
        let without_outcome = row.replace(r#""outcome":"ok","#, "");
        assert!(serde_json::from_str::<Row>(&without_outcome).unwrap_err().to_string().contains("outcome"));
    }
}
