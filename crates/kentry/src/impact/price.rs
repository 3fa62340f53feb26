//! What makes calls dearer, by name, and what that costs as far as it was measured.

use crate::options::time::TimeArgs;
use crate::prices::{self, LabRuns};
use crate::tax;
use crate::tax::arms::Asked;
use crate::this_machine::{drawn_seed, is_emulated};
use ::layers::Word;
use attribution::impact::{Interval, Part, PartKind};
use attribution::tax::{Tax, Verdict as TaxVerdict};
use document::{Checkup, Document, PriceSource, PriceUnit};
use environment::{Environment, Restrictions, Verdict};
use findings::doctor::{Doing, Lies, Protection, priced_settings};
use measure::HostPlan;
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

    /// Whether what both are costs the same: another tracer is another layer.
    fn is_kind_of(self, other: Layer) -> bool {
        matches!((self, other), (Layer::Filters(_), Layer::Filters(_))) || self == other
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
    let ns = added.filter(|added| added.verdict == TaxVerdict::Costs).zip(cycle).map(|(added, cycle)| {
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
pub fn layers(carried: &Restrictions) -> Vec<Layer> {
    let filters = carried.is_filtered().then_some(Layer::Filters(carried.seccomp_filters));
    let ssbd = carried.has_ssbd().then_some(Layer::Ssbd);
    filters.into_iter().chain(ssbd).chain(carried.tracer().map(Layer::Tracer)).collect()
}

/// What a process carries beyond what kentry does, and what both carry: that is in the crossing that kentry measures.
pub fn beyond(carried: &Restrictions, own: &Restrictions) -> (Vec<Layer>, Vec<Layer>) {
    let (mut on_top, mut shared) = (Vec::new(), Vec::new());
    let owns = layers(own);
    for layer in layers(carried) {
        match (layer, owns.iter().find(|other| other.is_kind_of(layer))) {
            (_, None) => on_top.push(layer),
            (Layer::Filters(Some(all)), Some(Layer::Filters(Some(own)))) => {
                let more = all.saturating_sub(*own);
                on_top.extend((more > 0).then_some(Layer::Filters(Some(more))));
                shared.push(Layer::Filters(Some(all.min(*own))));
            }
            // Where the kernel does not tell how many filters there are, nobody knows whether there are more.
            (Layer::Filters(_), Some(_)) => shared.push(Layer::Filters(None)),
            (_, Some(_)) => shared.push(layer),
        }
    }
    (on_top, shared)
}

/// A line of each layer that is in the share.
pub fn shared_parts(shared: &[Layer]) -> Vec<Part> {
    let part = |layer: &Layer| Part {
        kind: PartKind::Shared,
        what: layer.what(),
        ns: None,
        share: None,
        note: "in the share: kentry carries it itself, so that each crossing was measured with it".into(),
    };
    shared.iter().map(part).collect()
}

/// What is to be said where kentry carries what the process does not: then crossings are dearer here.
pub fn lacks(carried: &Restrictions, own: &Restrictions) -> Option<String> {
    let (more, _) = beyond(own, carried);
    let words: Vec<String> = more.into_iter().map(Layer::what).collect();
    (!words.is_empty()).then(|| {
        format!(
            "kentry itself carries {}, which these calls do not: a crossing is measured too dear, and the share is too high",
            words.join(", ")
        )
    })
}

/// Where a protection lies that is on the way of every call.
const ON_CALLS: [Lies; 3] = [Lies::Entries, Lies::Exits, Lies::Returns];

/// What the lab has of what a kernel does on every call and no fault asks for, by findings' words.
const SETTINGS: [(&str, &str); 2] = [("a random stack offset", "stack-offset"), ("audit (audit=1)", "audit")];

/// What the kernel does on every call here, as `kentry doctor` says it; each with what a kept run of the lab tells of it.
pub fn protections(
    plain: &Document,
    table: &Table,
    runs: &LabRuns,
    cycle: Option<f64>,
    no_time: Option<&str>,
) -> Vec<Part> {
    let environment = &plain.environment;
    let mut checkup = Checkup::of(plain.clone());
    checkup.prices = prices::of(table, &priced_settings(environment), runs);
    let is_on_calls =
        |protection: &Protection| protection.lies().iter().any(|place| ON_CALLS.contains(place));
    let of_faults: Vec<Protection> = findings::doctor::protections(&checkup);
    let mut parts: Vec<Part> = of_faults
        .iter()
        .filter(|protection| is_on_calls(protection))
        .map(|protection| of_fault(protection, cycle, no_time))
        .collect();
    let taxes = findings::kernel_taxes(environment);
    for (words, name) in SETTINGS.iter().filter(|(words, _)| taxes.iter().any(|tax| tax == words)) {
        let setting = setting_here(environment, name);
        let price = prices::of(table, &[setting], runs).into_iter().next();
        let ns = price.as_ref().and_then(|price| time(price, cycle));
        let note = price.map(|price| price.words).unwrap_or_default();
        parts.push(protection((*words).to_owned(), ns, &note, no_time));
    }
    parts
}

/// What a switch of the lab is here: some are on in more than one way.
fn setting_here(environment: &Environment, name: &str) -> Setting {
    let mut steps = findings::like_here(environment).steps.into_iter().map(|step| step.setting);
    steps.find(|setting| setting.name == name).unwrap_or_else(|| Setting::new(name, "on"))
}

fn of_fault(found: &Protection, cycle: Option<f64>, no_time: Option<&str>) -> Part {
    let is_on_calls = |doing: &&Doing| doing.lies.iter().any(|place| ON_CALLS.contains(place));
    let does: Vec<&str> = found.doings.iter().copied().filter(is_on_calls).map(|doing| doing.what).collect();
    // What two settings take together, only a run with both tells.
    let ns = match found.prices.as_slice() {
        [one] => time(one, cycle),
        _ => None,
    };
    let name = found.fault.called.split(" (").next().unwrap_or_default();
    let what = format!("{name}: {}", does.join(", "));
    protection(what, ns, found.costs().trim_end_matches('.'), no_time)
}

fn protection(what: String, ns: Option<Interval>, costs: &str, no_time: Option<&str>) -> Part {
    // Where it is known that no time can be had, that a time needs KVM helps nobody.
    let why = no_time.filter(|_| ns.is_none()).map(|why| format!("; no time of it can be had here: {why}"));
    let note = format!("in the share; {costs}{}", why.unwrap_or_default());
    Part { kind: PartKind::Protection, what, ns, share: None, note }
}

/// Why this machine tells no time of the lab's settings, if that is known.
pub fn no_time(runs: &[Document]) -> Option<&'static str> {
    if !std::path::Path::new("/dev/kvm").exists() {
        return Some("this machine has no KVM");
    }
    let by_kvm = |run: &&Document| !run.measurement.place.machine.known().is_some_and(is_emulated);
    let lab = runs.iter().find(by_kvm)?.environment.lab.as_ref()?;
    (lab.ring0.verdict == Verdict::Emulated)
        .then_some("a kept run found that KVM does not run ring 0 natively")
}

/// What a setting takes, where it was timed.
fn time(price: &document::Price, cycle: Option<f64>) -> Option<Interval> {
    let is_timed = price.source == PriceSource::Timed && price.unit == PriceUnit::Cycles;
    let bounds = Interval { estimate: price.amount, low: price.low?, high: price.high? };
    cycle.filter(|_| is_timed).map(|cycle| bounds * cycle)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With filters, as many as the kernel tells; 0 is no seccomp.
    fn carried(filters: Option<u32>, has_ssbd: bool, tracer: u32) -> Restrictions {
        let mode = if filters == Some(0) { 0 } else { 2 };
        let filters = filters.map(|filters| format!("Seccomp_filters:\t{filters}\n")).unwrap_or_default();
        let ssbd = if has_ssbd { "thread force mitigated" } else { "thread vulnerable" };
        Restrictions::of_status(&format!(
            "TracerPid:\t{tracer}\nSeccomp:\t{mode}\n{filters}Speculation_Store_Bypass:\t{ssbd}\n"
        ))
    }

    #[test]
    fn what_the_lab_has_is_a_setting_of_it() {
        let table = Table::get();
        for (_, name) in SETTINGS {
            assert!(table.set(table::Kernel::Lab, &format!("{name}=on")).is_ok(), "{name}=on");
        }
    }

    #[test]
    fn a_stack_offset_of_a_generator_has_another_price_than_one_of_the_clock() {
        let mut plain = Document::empty();
        plain.environment.kernel.randomize_kstack_offset = Some(true);
        let mut here = |release: &str, name| {
            plain.environment.kernel.release = Some(release.into());
            setting_here(&plain.environment, name).to_string()
        };
        assert_eq!(here("6.12.9", "stack-offset"), "stack-offset=on");
        assert_eq!(here("7.2.13", "stack-offset"), "stack-offset=prandom");
        assert_eq!(here("7.2.13", "audit"), "audit=on");
    }

    /// One fault had two names, and doctor another list.
    #[test]
    fn protections_are_those_of_the_checkup() {
        let mut plain = Document::empty();
        let mut says =
            |fault: &str, words: &str| plain.environment.mitigations.insert(fault.into(), words.into());
        says("meltdown", "Mitigation: PTI");
        says("l1tf", "Mitigation: PTE Inversion");
        says("mds", "Not affected");
        plain.environment.kernel.randomize_kstack_offset = Some(true);
        let parts = protections(&plain, Table::get(), &LabRuns::of(Vec::new()), Some(0.25), Some("why"));
        let words: Vec<&str> = parts.iter().map(|part| part.what.as_str()).collect();
        let [meltdown, offset] = words.as_slice() else { panic!("{words:?}") };
        assert!(meltdown.starts_with("Meltdown: ") && *offset == "a random stack offset", "{words:?}");
        for part in &parts {
            assert!(
                part.ns.is_none()
                    && part.note.starts_with("in the share; ")
                    && part.note.ends_with("here: why"),
                "instructions are no time: {part:?}"
            );
        }
    }

    /// A filter that kentry carries, too, is in the crossing that it measures.
    #[test]
    fn what_kentry_carries_itself_is_not_on_top() {
        let of = |filters: u32, has_ssbd| carried(Some(filters), has_ssbd, 0);
        let (on_top, shared) = beyond(&of(3, true), &of(2, true));
        assert_eq!(on_top, [Layer::Filters(Some(1))]);
        assert_eq!(shared, [Layer::Filters(Some(2)), Layer::Ssbd]);
        let (on_top, shared) = beyond(&of(1, true), &of(0, false));
        assert_eq!((on_top.len(), shared.len()), (2, 0));
        assert_eq!(shared_parts(&layers(&of(1, false)))[0].kind, PartKind::Shared);
        assert!(lacks(&of(0, false), &of(1, false)).is_some() && lacks(&of(1, true), &of(1, true)).is_none());
        let (on_top, shared) = beyond(&carried(None, false, 7), &carried(Some(1), false, 8));
        assert_eq!((on_top, shared), (vec![Layer::Tracer(7)], vec![Layer::Filters(None)]));
    }

    #[test]
    fn what_tells_the_price_of_a_layer_is_one_of_the_tax() {
        for layer in [Layer::Filters(None), Layer::Ssbd, Layer::Tracer(7)] {
            assert!(::layers::Layer::named(layer.measured_by()).is_some(), "{layer:?}");
        }
    }

    #[test]
    fn a_layer_without_a_price_has_none() {
        let parts: Vec<Part> = layers(&carried(Some(2), true, 7))
            .into_iter()
            .map(|layer| of_layer(layer, None, Some(0.25)))
            .collect();
        let words: Vec<&str> = parts.iter().map(|part| part.what.as_str()).collect();
        assert_eq!(
            words,
            ["2 seccomp filters", "loads that wait for earlier stores (SSBD)", "a tracer (process 7)"]
        );
        assert!(parts.iter().all(|part| part.ns.is_none() && part.note.contains("kentry tax --layer")));
        assert!(layers(&Restrictions::default()).is_empty());
    }
}
