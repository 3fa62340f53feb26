//! The tax itself. What is absent is `null`, never 0.

use layers::{Group, Layer};
use serde::Serialize;
use stats::Cycles;
use std::collections::BTreeMap;

/// The schema that this version writes.
pub const SCHEMA: &str = "kentry.tax/1";

/// What each layer adds to system calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tax {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Version of kentry that measured it.
    pub kentry: String,
    /// When that began, RFC 3339, UTC.
    pub started: String,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The processor.
    pub cpu: Option<String>,
    /// The CPUs that it was measured on.
    pub cpus: Vec<u64>,
    /// Share of the time in which the core was found undisturbed, 0 to 1.
    pub quiet_share: Option<f64>,
    /// What the core's clock was meanwhile, so that `cycles / core_hz` is a time, in seconds; none where that is not known.
    pub core_hz: Option<f64>,
    /// Whether it was cut short.
    pub partial: bool,
    /// The seed of the order of rounds; at most 2^53.
    pub seed: u64,
    /// Name of the entry.
    pub entry: String,
    /// With this confidence all intervals together contain what they are of.
    pub confidence: f64,
    /// The profile of the layer `seccomp-profile`; null where that was not asked for.
    pub profile: Option<ProfileUsed>,
    /// What each operation costs without a layer, in the order of the table's columns.
    pub base: Vec<Base>,
    /// The same, measured as if it were a layer: what differs here is chance, or what arms of one kind differ by.
    pub again: Vec<OperationCost>,
    /// The layers, in the table's order.
    pub layers: Vec<LayerCost>,
    /// What the figures of each group of layers mean, in a sentence; none where nothing of it was measured.
    pub meaning: BTreeMap<&'static str, String>,
    /// What a reader must know, in words.
    pub warnings: Vec<String>,
}

/// Which profile was used, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileUsed {
    /// The file; null for kentry's own.
    pub file: Option<String>,
    /// How many 64-bit calls have a rule.
    pub calls: usize,
    /// Instructions of its filter.
    pub instructions: usize,
    /// Names in it that no architecture has as a call.
    pub unknown: Vec<String>,
}

/// What an operation costs without a layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Base {
    /// Name of the operation.
    pub operation: String,
    /// What it costs; null where it is not known.
    pub cycles: Option<Cycles>,
    /// The interval of that, of 95 %.
    pub low: Option<Cycles>,
    /// Its other end.
    pub high: Option<Cycles>,
    /// Why there is no figure, in words; null where there is.
    pub why: Option<String>,
}

/// What a layer costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerCost {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a few words.
    pub what: &'static str,
    /// The group that it stands in.
    #[serde(serialize_with = "title")]
    pub group: Group,
    /// Why it cannot be had here, in words; null where it can. Then it has no costs.
    pub missing: Option<String>,
    /// What it adds to each operation, in the order of the columns.
    pub costs: Vec<OperationCost>,
}

fn title<S: serde::Serializer>(group: &Group, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(group.title())
}

/// What a layer adds to an operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperationCost {
    /// Name of the operation.
    pub operation: String,
    /// The figure; null where it is not known.
    pub added: Option<Added>,
    /// Why there is no figure, in words; null where there is.
    pub why: Option<String>,
}

/// A difference to the base.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Added {
    /// The difference, in core cycles for one call.
    pub cycles: Cycles,
    /// Lower end of its interval.
    pub low: Cycles,
    /// Upper end of it.
    pub high: Cycles,
    /// In how many turns both were measured.
    pub turns: usize,
    /// What that means.
    pub verdict: Verdict,
}

/// What a difference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval is above 0.
    Costs,
    /// It is not: the layer costs at most what its upper end says, if anything.
    NoDifferenceSeen,
}

impl Added {
    /// What it costs at most, where no difference was seen: never less than nothing.
    pub fn at_most(&self) -> Cycles {
        Cycles(self.high.0.max(0.0))
    }

    /// The difference, where there is one.
    pub fn seen(&self) -> Option<Cycles> {
        (self.verdict == Verdict::Costs).then_some(self.cycles)
    }

    /// Whether the whole interval is below 0, which no layer explains.
    pub fn is_below(&self) -> bool {
        self.high.0 < 0.0
    }
}

impl LayerCost {
    /// Of a layer that cannot be had, and why.
    pub fn missing(layer: &Layer, why: String) -> LayerCost {
        LayerCost { missing: Some(why), ..LayerCost::of(layer, Vec::new()) }
    }

    /// Of a layer that was measured.
    pub fn of(layer: &Layer, costs: Vec<OperationCost>) -> LayerCost {
        LayerCost { name: layer.name, what: layer.what, group: layer.group, missing: None, costs }
    }

    /// What it adds to an operation, if that is known.
    pub fn added(&self, operation: &str) -> Option<&Added> {
        self.costs.iter().find(|cost| cost.operation == operation)?.added.as_ref()
    }
}

impl Tax {
    /// What a layer adds to an operation, if that is known.
    pub fn added(&self, layer: &str, operation: &str) -> Option<&Added> {
        self.layers.iter().find(|known| known.name == layer)?.added(operation)
    }

    /// So many core cycles in nanoseconds, if the core's clock is known.
    pub fn ns(&self, cycles: Cycles) -> Option<f64> {
        self.core_hz.map(|hz| cycles.0 * 1e9 / hz)
    }

    /// Whether there is any figure of a layer.
    pub fn has_figures(&self) -> bool {
        self.layers.iter().flat_map(|layer| &layer.costs).any(|cost| cost.added.is_some())
    }
}
