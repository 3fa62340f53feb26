//! Which setting of a profile brings each step of the lab's path, and whether the steps come in the order in which Linux comes to them.

use crate::assembly::family::{is_of_exceptions, serves};
use crate::assembly::steps_of_lab;
use crate::bill;
use std::collections::BTreeMap;
use table::paths::{Path, Step};
use table::{EVERYWHERE, Entry, Kind, ORDER, Origin, Setting, Table};

/// Steps that stand before or behind the frame, whichever it is, and are not of it.
const MOVES: [&str; 1] = ["is there such a call"];

/// What the orders are of.
const WAY_IN: &str = "way in: the steps come";
const WAY_OUT: &str = "way out: the steps come";

/// A step that was listed, and that the kernel's file has not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the kernel lists a step that its file has not: {0}")]
pub struct Unknown(pub String);

/// A path as the kernel has built it.
#[derive(Debug, Clone)]
pub struct Built<'a> {
    /// All steps that it may have, by the kernel's file.
    pub template: Vec<Step>,
    /// Those that it has.
    pub steps: &'a [record::Step],
}

/// Whether the order of a path's own steps is switched; those of hooks are of many paths.
pub fn has_order(table: &Table, path: &Path) -> bool {
    let order = table.switch(ORDER).map(|order| u32::from(order.id));
    let mut conditions = path.own.steps.iter().flat_map(|step| &step.conditions);
    conditions.any(|one| Some(one.which) == order)
}

/// The profile's settings in Linux's order, with what Linux has for each.
pub struct Order<'a> {
    settings: Vec<(Setting, Vec<&'a Origin>)>,
    bare: BTreeMap<String, String>,
    table: &'a Table,
}

impl<'a> Order<'a> {
    /// Of the steps of a bill.
    pub fn new(table: &'a Table, steps: &[bill::Step]) -> Order<'a> {
        let of = |step: &bill::Step| {
            let setting = step.setting();
            let origins = table.origins_of(&setting);
            (setting, origins)
        };
        Order { settings: steps.iter().map(of).collect(), bare: table.bare(), table }
    }

    /// How many settings there are.
    pub fn count(&self) -> usize {
        self.settings.len()
    }

    /// The setting in a place, with what Linux has for it.
    pub fn setting(&self, place: usize) -> Option<(&Setting, &[&'a Origin])> {
        self.settings.get(place).map(|(setting, origins)| (setting, origins.as_slice()))
    }

    /// Of each step that was built with these values of switches, the place of the setting that brings it; none of those that bare has.
    ///
    /// # Errors
    /// [`Unknown`] when the template has no such step.
    pub fn places(&self, built: &Built, values: &[(&str, &str)]) -> Result<Vec<Option<usize>>, Unknown> {
        let steps = &built.template;
        let on: Vec<&Step> = steps.iter().filter(|step| step.hook.is_none() && step.is_on(values)).collect();
        let mut next = on.iter();
        // Both have the same steps in the same order; an empty one may be missing in what was listed.
        // A step that bare has elsewhere has moved, and no setting brings it: the check of a call's number belongs to the dispatch.
        let bare: Vec<(&str, &str)> =
            self.bare.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let is_in_bare = |name: &str| steps.iter().any(|step| step.name == name && step.is_on(&bare));
        let place = |listed: &record::Step| {
            let found = next.find(|step| step.name == listed.name);
            let template = found.ok_or_else(|| Unknown(listed.name.clone()))?;
            let moves = MOVES.contains(&template.name.as_str()) && is_in_bare(&template.name);
            Ok(self.place_of(template).filter(|_| !moves))
        };
        built.steps.iter().map(place).collect()
    }

    /// The place of the setting that brings a step: the last of those without which it would not be there. A step that bare has, too,
    /// has none.
    fn place_of(&self, step: &Step) -> Option<usize> {
        let brings = |(place, (setting, _)): (usize, &(Setting, _))| {
            let switch = self.table.switch(&setting.name)?;
            let bare = switch.value(self.bare.get(&setting.name)?)?;
            let of_switch = step.conditions.iter().filter(|one| one.which == u32::from(switch.id));
            let value = switch.value(&setting.value)?;
            let is_new = of_switch.clone().any(|one| !one.allows(bare) && one.allows(value));
            is_new.then_some(place)
        };
        let mut all: Vec<usize> = self.settings.iter().enumerate().filter_map(brings).collect();
        // In Linux's order every step has that for a condition; what it is for, another says.
        let is_order = |place: &usize| self.settings.get(*place).is_some_and(|(one, _)| one.name == ORDER);
        if !all.iter().all(is_order) {
            all.retain(|place| !is_order(place));
        }
        // Of values of one switch that a profile has one after the other, the first brings the step.
        let last = self.settings.get(*all.last()?)?;
        all.into_iter()
            .find(|place| self.settings.get(*place).is_some_and(|(one, _)| one.name == last.0.name))
    }

    /// Whether its steps stand all over a path, so that it has no place in an order.
    fn is_everywhere(&self, place: usize) -> bool {
        self.settings.get(place).is_some_and(|(setting, _)| EVERYWHERE.contains(&setting.name.as_str()))
    }

    fn name(&self, place: usize) -> String {
        self.settings.get(place).map(|(setting, _)| setting.to_string()).unwrap_or_default()
    }

    /// The settings that come to the path in another order than Linux's, a sentence for each way: on the way in of a system call, the order
    /// is the profile's; of an exception, and on the way out, the table's. int80 may come by the way of exceptions (error_entry).
    pub fn judged(&self, entry: &Entry, steps: &[record::Step], places: &[Option<usize>]) -> Vec<Judged> {
        let executed = steps_of_lab(steps);
        let is_service = |place: &usize| steps.get(*place).is_some_and(|step| serves(&step.name));
        let service = executed.iter().rposition(is_service).map_or(executed.len(), |at| at + 1);
        let (way_in, way_out) = executed.split_at(service);
        let brought = |steps: &[usize]| {
            let all = steps.iter().filter_map(|step| places.get(*step).copied().flatten());
            all.filter(|place| !self.is_everywhere(*place)).collect::<Vec<_>>()
        };
        let (way_in, way_out) = (brought(way_in), brought(way_out));
        let orders = &self.table.orders;
        let is_exceptions =
            entry.kind == Kind::Exception || steps.iter().any(|step| is_of_exceptions(&step.name));
        if is_exceptions {
            return vec![
                self.by_switch(WAY_IN, &way_in, &orders.exceptions_in),
                self.by_switch(WAY_OUT, &way_out, &orders.exceptions_out),
            ];
        }
        let named = |place| format!("{} (place {})", self.name(place), place + 1);
        let sentence = sentence(WAY_IN, &way_in, &named);
        vec![Judged { sentence, unjudged: Vec::new() }, self.by_switch(WAY_OUT, &way_out, &orders.calls_out)]
    }

    /// By an order of switches.
    fn by_switch(&self, way: &str, brought: &[usize], switches: &[String]) -> Judged {
        let place_in = |place: &usize| {
            let name = &self.settings.get(*place)?.0.name;
            switches.iter().position(|one| one == name)
        };
        let found: Vec<usize> = brought.iter().filter_map(place_in).collect();
        let name = |place: usize| switches.get(place).cloned().unwrap_or_default();
        let unknown = brought.iter().filter(|place| place_in(place).is_none());
        let mut unjudged: Vec<String> = unknown.map(|place| self.name(*place)).collect();
        unjudged.dedup();
        Judged { sentence: sentence(way, &found, &name), unjudged }
    }
}

/// What is said of the order of one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Whether the steps come in Linux's order, and which do not.
    pub sentence: String,
    /// Settings that this order has no place for.
    pub unjudged: Vec<String>,
}

/// Whether what comes first of each of these places rises.
fn sentence(way: &str, places: &[usize], name: &dyn Fn(usize) -> String) -> String {
    let mut first: Vec<usize> = Vec::new();
    for place in places {
        if !first.contains(place) {
            first.push(*place);
        }
    }
    let agrees = longest_rising(&first);
    let other = |(at, place): (usize, &usize)| {
        let earlier = first.iter().take(at).find(|other| agrees.contains(other) && *other > place);
        let later = first.iter().skip(at).find(|other| agrees.contains(other) && *other < place);
        let than = earlier.map(|other| format!(" comes behind {}", name(*other)));
        let than = than.or_else(|| later.map(|other| format!(" comes before {}", name(*other))));
        format!("{}{}", name(*place), than.unwrap_or_default())
    };
    let others = first.iter().enumerate().filter(|(_, place)| !agrees.contains(place)).map(other);
    let others: Vec<String> = others.collect();
    match others.is_empty() {
        true => format!("{way} in Linux's order"),
        false => format!("{way} in Linux's order, but {}", others.join("; ")),
    }
}

/// The longest rising subsequence.
fn longest_rising(places: &[usize]) -> Vec<usize> {
    let mut best: Vec<Vec<usize>> = Vec::new();
    for place in places {
        let before =
            best.iter().filter(|rising| rising.last() < Some(place)).max_by_key(|rising| rising.len());
        let mut rising = before.cloned().unwrap_or_default();
        rising.push(*place);
        best.push(rising);
    }
    best.into_iter().max_by_key(Vec::len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_order_is_as_little_as_can_be() {
        assert_eq!(longest_rising(&[0, 1, 5, 2, 3]), [0, 1, 2, 3]);
        assert_eq!(longest_rising(&[]), [0_usize; 0]);
        assert_eq!(longest_rising(&[3]), [3]);
    }

    #[test]
    fn what_comes_too_early_and_too_late_is_named_with_what_it_comes_before_and_behind() {
        let said = |places: &[usize]| sentence("in:", places, &|place| ["a", "b", "c", "d"][place].into());
        assert_eq!(said(&[0, 1, 0, 2]), "in: in Linux's order", "the first of each counts");
        assert_eq!(said(&[0, 2, 3, 1]), "in: in Linux's order, but b comes behind c");
        assert_eq!(said(&[3, 0, 1, 2]), "in: in Linux's order, but d comes before a");
    }

    /// Steps of a bill, one behind the other.
    fn order(settings: &[&str]) -> Order<'static> {
        let setting = |text: &&str| {
            let (name, value) = text.split_once('=').unwrap();
            (Setting::new(name, value), Vec::new())
        };
        let table = Table::get();
        Order { settings: settings.iter().map(setting).collect(), bare: table.bare(), table }
    }

    /// A step of a template that is there with these values alone.
    fn step(name: &str, settings: &[&str]) -> Step {
        let condition = |text: &&str| {
            let (name, value) = text.split_once('=').unwrap();
            let switch = Table::get().switch(name).unwrap();
            let values = 1 << switch.value(value).unwrap();
            table::paths::Condition { which: u32::from(switch.id), values }
        };
        Step {
            name: name.into(),
            conditions: settings.iter().map(condition).collect(),
            start: 0,
            code: Vec::new(),
            hook: None,
            bits: 64,
            executed: None,
            more: Vec::new(),
        }
    }

    #[test]
    fn a_step_belongs_to_the_last_setting_without_which_it_is_not_there() {
        let order = order(&["swapgs=on", "pti=trampoline", "pti=on", "order=linux-6.1"]);
        let place = |settings: &[&str]| order.place_of(&step("a step", settings));
        assert_eq!(place(&[]), None);
        assert_eq!(place(&["swapgs=on"]), Some(0));
        assert_eq!(place(&["swapgs=on", "pti=on"]), Some(2));
        assert_eq!(place(&["pti=on", "order=linux-6.1"]), Some(2), "the order is no reason");
        assert_eq!(place(&["order=linux-6.1"]), Some(3), "unless it is the only one");
        assert_eq!(place(&["verw=on"]), None, "which is not in the profile");
        assert_eq!(place(&["swapgs=off"]), None, "bare has it, too");
    }

    /// Steps of an instruction each, one behind the other.
    fn listed(names: &[&str]) -> Vec<record::Step> {
        let step = |(place, name): (u64, &&str)| record::Step {
            place,
            address: 0x1000 + place,
            code: vec![0x90],
            name: (*name).to_owned(),
        };
        (0_u64..).zip(names).map(step).collect()
    }

    #[test]
    fn each_way_is_judged_by_its_own_order() {
        let order = order(&["pti=on", "swapgs=on", "idle=on", "canary=on"]);
        let judged = |entry: &str, first: &str| {
            let steps = listed(&[first, "swapgs", "a nop", "dispatch", "swapgs", "pti", "canary"]);
            let places = [Some(0), Some(1), Some(2), None, Some(1), Some(0), Some(3)];
            let judged = order.judged(Table::get().entry(entry).unwrap(), &steps, &places);
            judged.into_iter().map(|one| (one.sentence, one.unjudged.join(" "))).collect::<Vec<_>>()
        };
        let said = |ways: [(&str, &str, &str); 2]| {
            ways.map(|(way, but, unjudged)| (format!("{way} in Linux's order{but}"), unjudged.to_owned()))
                .to_vec()
        };
        // Of a call the profile says how it comes in.
        let call = said([(WAY_IN, "", ""), (WAY_OUT, ", but swapgs comes before pti", "canary=on")]);
        assert_eq!(judged("syscall-x86_64", "pti"), call);
        let of_exceptions = said([
            (WAY_IN, ", but pti comes before swapgs", ""),
            (WAY_OUT, ", but swapgs comes before pti", "canary=on"),
        ]);
        assert_eq!(judged("ud", "pti"), of_exceptions);
        assert_eq!(judged("int80-x86_64", "error_entry: pti"), of_exceptions, "it comes by their way");
        assert_eq!(judged("int80-x86_64", "pti"), call);
    }

    /// The check of a call's number is in bare, too, in another place.
    #[test]
    fn a_step_of_the_dispatch_that_moves_with_the_frame_is_brought_by_nothing() {
        let order = order(&["stack=frame"]);
        let template = vec![
            step(MOVES[0], &["stack=minimum"]),
            step("save registers", &["stack=frame"]),
            step(MOVES[0], &["stack=frame"]),
        ];
        let places = |names: &[&str]| {
            let steps = listed(names);
            order.places(&Built { template: template.clone(), steps: &steps }, &[("stack", "frame")])
        };
        assert_eq!(places(&["save registers", MOVES[0]]), Ok(vec![Some(0), None]));
        assert_eq!(places(&["save registers", "novel"]), Err(Unknown("novel".into())));
    }
}
