//! What makes calls dearer, by name, and what that costs as far as it was measured.

use attribution::bill::{Price, Unit};
use attribution::impact::{Interval, Part, PartKind};
use document::Document;
use environment::Environment;
use observe::proc::Carried;
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

/// What a layer adds to a call on this machine, in nanoseconds, and where that comes from; none as long as nobody measured it.
///
/// Whoever measures layers adds their prices here: everything else follows.
pub fn of_layer(_layer: &Layer) -> Option<(Interval, String)> {
    None
}

/// What a process carries.
pub fn layers(carried: &Carried) -> Vec<Layer> {
    let filters = carried.has_seccomp.then_some(Layer::Filters(carried.filters));
    let ssbd = carried.has_ssbd.then_some(Layer::Ssbd);
    let tracer = (carried.tracer != 0).then_some(Layer::Tracer(carried.tracer));
    filters.into_iter().chain(ssbd).chain(tracer).collect()
}

/// A line of a layer. It comes on top of the share, which is measured without it.
pub fn of(layer: &Layer) -> Part {
    let (what, measure) = match layer {
        Layer::Filters(Some(1)) => ("a seccomp filter".to_owned(), LIVE),
        Layer::Filters(Some(count)) => (format!("{count} seccomp filters"), LIVE),
        Layer::Filters(None) => ("seccomp".to_owned(), LIVE),
        Layer::Ssbd => ("loads that wait for earlier stores (SSBD)".to_owned(), LIVE),
        Layer::Tracer(pid) => (
            format!("a tracer (process {pid})"),
            "kentry compare --live '' 'strace -f -o /dev/null' -e syscall -o getppid",
        ),
    };
    let (ns, note) = match of_layer(layer) {
        Some((ns, note)) => (Some(ns), note),
        None => (None, format!("on top of the share; measured by: {measure}")),
    };
    Part { kind: PartKind::Layer, what, ns, share: None, note }
}

const LIVE: &str = "kentry compare --live '' 'COMMAND THAT ADDS IT' -e syscall -o getppid";

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
    fn a_layer_without_a_price_has_none() {
        let carried = Carried { filters: Some(2), has_seccomp: true, has_ssbd: true, tracer: 7 };
        let parts: Vec<Part> = layers(&carried).iter().map(of).collect();
        let words: Vec<&str> = parts.iter().map(|part| part.what.as_str()).collect();
        assert_eq!(
            words,
            ["2 seccomp filters", "loads that wait for earlier stores (SSBD)", "a tracer (process 7)"]
        );
        assert!(parts.iter().all(|part| part.ns.is_none() && part.note.contains("kentry compare --live")));
        assert!(layers(&Carried::default()).is_empty());
    }
}
