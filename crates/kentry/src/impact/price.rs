//! What makes calls dearer, by name, and what that costs as far as it was measured.

use crate::options::time::TimeArgs;
use crate::tax;
use crate::tax::arms::Asked;
use crate::this_machine::drawn_seed;
use ::layers::Word;
use attribution::bill::{Price, Unit};
use attribution::impact::{Interval, Part, PartKind};
use attribution::tax::{Tax, Verdict};
use document::Document;
use environment::Environment;
use measure::HostPlan;
use observe::proc::Carried;
use places::host::Interrupt;
use std::time::Duration;
use table::special::GETPPID;
use table::{Setting, Table};

/// Something that a process carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// So many seccomp filters; none where the kernel does not tell how many.
    Filters(Option<u32>),
    /// Loads wait for earlier stores.
    Ssbd,
    /// This process traces it.
    Tracer(u32),
}

impl Layer {
    /// The layer of `kentry tax` that tells what it costs at least.
    fn measured_by(self) -> &'static str {
        match self {
            Layer::Filters(_) => "seccomp-1",
            Layer::Ssbd => "ssbd",
            Layer::Tracer(_) => "ptrace",
        }
    }

    /// How far that speaks of the layer that the process carries.
    fn caveat(self) -> &'static str {
        match self {
            Layer::Filters(_) => {
                "what a filter of one rule costs that the kernel answers by number; one that looks at arguments, or several, cost more"
            }
            Layer::Ssbd => "what SSBD adds to a call; what it adds between calls is not in it",
            Layer::Tracer(_) => {
                "what a tracer costs that stops every call, as strace does, and prints nothing"
            }
        }
    }

    fn what(self) -> String {
        match self {
            Layer::Filters(Some(1)) => "a seccomp filter".to_owned(),
            Layer::Filters(Some(count)) => format!("{count} seccomp filters"),
            Layer::Filters(None) => "seccomp".to_owned(),
            Layer::Ssbd => "loads that wait for earlier stores (SSBD)".to_owned(),
            Layer::Tracer(pid) => format!("a tracer (process {pid})"),
        }
    }
}

/// The time for layers, in seconds, of all of them together.
const LAYERS_BUDGET: u32 = 3;

/// A line of each layer, with what `kentry tax` measures of it here and now. It comes on top of the share, which is measured without it.
pub fn of_layers(layers: &[Layer], time: &TimeArgs, cycle: Option<f64>, interrupt: &Interrupt) -> Vec<Part> {
    let tax = if layers.is_empty() { None } else { measured(layers, time, interrupt) };
    layers.iter().map(|layer| of_layer(*layer, tax.as_ref(), cycle)).collect()
}

fn measured(layers: &[Layer], time: &TimeArgs, interrupt: &Interrupt) -> Option<Tax> {
    let table = Table::get();
    let row = table.entry(GETPPID.entry).zip(table.operation(GETPPID.operation))?;
    let word =
        |layer: &Layer| Some(Word { layer: *::layers::Layer::named(layer.measured_by())?, filter: None });
    let asked = Asked { words: layers.iter().filter_map(word).collect(), ..Asked::default() };
    let plan = time.plan(vec![row], LAYERS_BUDGET, drawn_seed());
    let budget = Duration::from_secs(LAYERS_BUDGET.into());
    let plan = HostPlan { strict_budget: true, budget, ..plan };
    tax::arms::measure(&asked, &plan, interrupt, &mut |_| ()).ok()
}

fn of_layer(layer: Layer, tax: Option<&Tax>, cycle: Option<f64>) -> Part {
    let name = layer.measured_by();
    let added = tax.and_then(|tax| tax.added(name, GETPPID.operation));
    let ns = added.filter(|added| added.verdict == Verdict::Costs).zip(cycle).map(|(added, cycle)| {
        let [estimate, low, high] = [added.cycles, added.low, added.high].map(|cycles| cycles.0 * cycle);
        Interval { estimate: Some(estimate), low, high }
    });
    let note = match ns {
        Some(_) => format!("on top of the share; {}", layer.caveat()),
        None => format!("on top of the share; measured by: kentry tax --layer {name}"),
    };
    Part { kind: PartKind::Layer, what: layer.what(), ns, share: None, note }
}

/// What a process carries.
pub fn layers(carried: &Carried) -> Vec<Layer> {
    let filters = carried.has_seccomp.then_some(Layer::Filters(carried.filters));
    let ssbd = carried.has_ssbd.then_some(Layer::Ssbd);
    let tracer = (carried.tracer != 0).then_some(Layer::Tracer(carried.tracer));
    filters.into_iter().chain(ssbd).chain(tracer).collect()
}

/// What the lab has of the protections that findings name, by their words there.
const IN_LAB: [(&str, &str, &str); 6] = [
    ("page-table isolation (PTI)", "pti", "on"),
    ("IBRS on every entry and exit", "ibrs", "on"),
    ("cleared buffers (VERW)", "verw", "on"),
    ("a loop over the branch history", "bhb", "loop"),
    ("untrained returns", "returns", "untrain"),
    ("a random stack offset", "stack-offset", "on"),
];

/// What the kernel does on every call here; each with the price that a kept run of the lab has of it, where it timed that on this machine.
pub fn protections(
    environment: &Environment,
    table: &Table,
    runs: &[Document],
    cycle: Option<f64>,
) -> Vec<Part> {
    let part = |what: String| {
        let setting = IN_LAB
            .iter()
            .find(|(words, ..)| *words == what)
            .map(|(_, name, value)| Setting::new(*name, *value));
        let (ns, note) = setting.map_or_else(
            || (None, "the lab has no switch for it".to_owned()),
            |setting| priced(&setting, table, runs, cycle),
        );
        Part { kind: PartKind::Protection, what, ns, share: None, note }
    };
    findings::kernel_taxes(environment).into_iter().map(part).collect()
}

fn priced(
    setting: &Setting,
    table: &Table,
    runs: &[Document],
    cycle: Option<f64>,
) -> (Option<Interval>, String) {
    let known = runs.iter().find_map(|run| Some((Price::of(table, run, setting)?, run)));
    let Some((price, run)) = known else {
        return (
            None,
            format!(
                "in the share; measured by: kentry bill --profile {}, where KVM runs ring 0 natively",
                findings::LIKE_HERE
            ),
        );
    };
    let figure = price.in_company.as_ref().map(|(figure, _)| figure).or(price.alone.as_ref());
    let ns = figure.filter(|_| price.unit == Unit::Cycles).zip(cycle).and_then(|(figure, cycle)| {
        let interval = Interval { estimate: Some(figure.estimate), low: figure.low?, high: figure.high? };
        Some(interval * cycle)
    });
    (ns, format!("in the share; {}", report::price(&price, run)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_lab_has_is_a_setting_of_it() {
        let table = Table::get();
        for (_, name, value) in IN_LAB {
            assert!(table.set(table::Kernel::Lab, &format!("{name}={value}")).is_ok(), "{name}={value}");
        }
    }

    #[test]
    fn what_tells_the_price_of_a_layer_is_one_of_the_tax() {
        for layer in [Layer::Filters(None), Layer::Ssbd, Layer::Tracer(7)] {
            assert!(::layers::Layer::named(layer.measured_by()).is_some(), "{layer:?}");
        }
    }

    #[test]
    fn a_layer_without_a_price_has_none() {
        let carried = Carried { filters: Some(2), has_seccomp: true, has_ssbd: true, tracer: 7 };
        let parts: Vec<Part> =
            layers(&carried).into_iter().map(|layer| of_layer(layer, None, Some(0.25))).collect();
        let words: Vec<&str> = parts.iter().map(|part| part.what.as_str()).collect();
        assert_eq!(
            words,
            ["2 seccomp filters", "loads that wait for earlier stores (SSBD)", "a tracer (process 7)"]
        );
        assert!(parts.iter().all(|part| part.ns.is_none() && part.note.contains("kentry tax --layer")));
        assert!(layers(&Carried::default()).is_empty());
    }
}
