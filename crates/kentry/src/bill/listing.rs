//! `kentry bill --listing`: the path with all steps of a profile, as the kernel has built it, beside what Linux has for each step and
//! the place that it has in Linux's order.

use crate::error::Error;
use crate::lab::listing as path_listing;
use attribution::assembly::steps_of_lab;
use attribution::bill::Plan;
use measure::lab::{Configuration, Configurations, Emulator, Listed};
use places::lab::Limits;
use std::collections::BTreeMap;
use std::fmt::Write;
use table::paths::{Path, Paths, Step};
use table::{EVERYWHERE, Entry, Kind, ORDER, Setting, Table};

/// Columns for an instruction.
const COLUMN: usize = 48;

/// Steps that stand before or behind the frame, whichever it is, and are not of it.
const MOVES: [&str; 1] = ["is there such a call"];

/// Steps behind which the way out begins, by how their names begin: the service, or what handles an exception.
const SERVICE: [&str; 3] = ["dispatch", "handle", "C: handle"];

/// What the orders are of.
const WAY_IN: &str = "way in: the steps come";
const WAY_OUT: &str = "way out: the steps come";

/// Columns for what Linux has.
const LINUX: usize = 52;

/// The configuration with every step of a plan.
fn whole<'a>(table: &'a Table, plan: &Plan) -> Configurations<'a> {
    let values = whole_of(plan).map(|(name, value)| (name.as_str(), value.as_str()));
    let configuration = Configuration::defaults(table).with(values);
    let named = table.switches.iter().map(|switch| switch.name.as_str());
    Configurations { all: vec![configuration], named: named.collect() }
}

/// Its switches and values.
fn whole_of(plan: &Plan) -> impl Iterator<Item = (&String, &String)> {
    let of_question = |configuration: &&attribution::bill::Configuration| {
        configuration.operation == plan.question.operation
    };
    let whole =
        plan.configurations.iter().filter(of_question).max_by_key(|configuration| configuration.steps.len());
    whole.into_iter().flat_map(|configuration| &configuration.values)
}

/// A path of the lab with every step of a plan, as the kernel has built it.
pub struct Listing<'a> {
    /// Its name in the kernel's file.
    pub path: String,
    /// Its steps.
    pub built: Listed<'a>,
}

/// Has the kernel build the path of an entry.
///
/// # Errors
/// [`Error::Environment`] when it does not list it, and those of booting it.
pub fn built<'a>(
    table: &'a Table,
    entry: &'a Entry,
    plan: &Plan,
    emulator: &Emulator,
    limits: &Limits,
) -> Result<Listing<'a>, Error> {
    let whole = whole(table, plan);
    let built_for =
        whole.all.first().ok_or_else(|| Error::Environment("there is no configuration".into()))?;
    let path = path_listing::path_in(places::lab::Mode::Long, entry, built_for)?;
    let listed = measure::lab::listing(entry, &path, &whole, emulator, limits)?;
    let built = listed.into_iter().next();
    let built =
        built.ok_or_else(|| Error::Environment(format!("the kernel did not list its path {path}")))?;
    Ok(Listing { path, built })
}

/// Of each step of a path that was built, the place of the setting that brings it; none of those that bare has.
///
/// # Errors
/// [`Error::Environment`] when the kernel's file has no such path.
pub fn settings(table: &Table, plan: &Plan, path: &str, built: &Listed) -> Result<Vec<Option<usize>>, Error> {
    let (_, templates) = places::lab::kernel_paths(places::lab::Mode::Long).map_err(internal)?;
    places(table, &Order::new(table, plan), &templates, template(&templates, path)?, built)
}

/// Whether the order of a path's steps is switched.
///
/// # Errors
/// [`Error::Environment`] when the kernel's file has no such path.
pub fn has_order(table: &Table, path: &str) -> Result<bool, Error> {
    let (_, templates) = places::lab::kernel_paths(places::lab::Mode::Long).map_err(internal)?;
    let steps = templates.steps(template(&templates, path)?);
    let order = table.switch(ORDER).map(|order| u32::from(order.id));
    // Steps of hooks are of many paths.
    let mut own = steps.iter().filter(|step| step.hook.is_none());
    Ok(own.any(|step| step.conditions.iter().any(|one| Some(one.which) == order)))
}

fn template<'a>(templates: &'a Paths, path: &str) -> Result<&'a Path, Error> {
    templates.path(path).ok_or_else(|| Error::Environment(format!("there is no path {path}")))
}

fn internal(error: table::paths::Error) -> Error {
    Error::Environment(error.to_string())
}

/// Writing to a String cannot fail.
macro_rules! line {
    ($text:expr, $($words:tt)*) => { let _ = writeln!($text, $($words)*); };
}

/// The listing: the steps of the path, what Linux has for each, what of the profile is elsewhere, and where the orders differ.
///
/// # Errors
/// [`Error::Environment`] when the kernel's file has no such path.
pub fn text(table: &Table, entry: &Entry, plan: &Plan, listing: &Listing) -> Result<String, Error> {
    let Listing { path, built: listed } = listing;
    let (kernel, templates) = places::lab::kernel_paths(places::lab::Mode::Long).map_err(internal)?;
    let template = template(&templates, path)?;
    let order = Order::new(table, plan);
    let places = places(table, &order, &templates, template, listed)?;
    let mut text = String::new();
    let start = listed.steps.first().map_or(0, |step| step.address);
    let code =
        |step: &record::Step| table::paths::disassemble(&kernel, step.address, &step.code, Some(start));
    let count: usize = listed.steps.iter().map(|step| code(step).len()).sum();
    line!(text, "path {path} with {}: {count} instructions", plan.question.profile.name);
    line!(
        text,
        "beside each step: its place in the order in which Linux comes to it, and what Linux has for it"
    );
    for (step, place) in listed.steps.iter().zip(&places) {
        let left = std::iter::once(report::plain(&step.name)).chain(
            code(step).into_iter().map(|line| format!("  +{:<4x}{}", line.address - start, line.text)),
        );
        side_by_side(&mut text, &left.collect::<Vec<_>>(), &order.beside(*place));
    }
    elsewhere(&mut text, plan, &order, &places);
    differs(&mut text, table, entry, &order, &places, &listed.steps);
    Ok(text)
}

/// The profile's settings in Linux's order, with what Linux has for each.
struct Order<'a> {
    settings: Vec<(Setting, Vec<&'a table::Origin>)>,
    bare: BTreeMap<String, String>,
}

impl<'a> Order<'a> {
    fn new(table: &'a Table, plan: &Plan) -> Order<'a> {
        let of = |step: &attribution::bill::Step| {
            let setting = Setting::new(&step.switch, &step.value);
            let origins = table.origins_of(&setting);
            (setting, origins)
        };
        Order { settings: plan.steps().iter().map(of).collect(), bare: table.bare() }
    }

    /// The place of the setting that brings a step: the last of those without which it would not be there. A step that bare has, too,
    /// has none.
    fn place_of(&self, table: &Table, step: &Step) -> Option<usize> {
        let brings = |(place, (setting, _)): (usize, &(Setting, _))| {
            let switch = table.switch(&setting.name)?;
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

    /// What stands beside a step.
    fn beside(&self, place: Option<usize>) -> Vec<String> {
        let Some((place, (setting, origins))) = place.and_then(|at| Some((at, self.settings.get(at)?)))
        else {
            return vec!["bare".to_owned()];
        };
        let mut lines = vec![format!("{}. {setting}", place + 1)];
        for origin in origins {
            let texts = [origin.symbol.clone(), versions(origin)];
            lines.extend(
                texts
                    .iter()
                    .flat_map(|text| textwrap::wrap(text, LINUX - 3))
                    .map(|line| format!("   {line}")),
            );
        }
        lines
    }
}

/// The file, and the versions that have it there.
fn versions(origin: &table::Origin) -> String {
    let since = origin.since.as_ref().map(|version| format!(", since {version}")).unwrap_or_default();
    let until = origin.until.as_ref().map(|version| format!(", until {version}")).unwrap_or_default();
    format!("{}{since}{until}", origin.file)
}

/// Of each step that was built, the place of the setting that brings it.
fn places(
    table: &Table,
    order: &Order,
    templates: &Paths,
    path: &Path,
    listed: &Listed,
) -> Result<Vec<Option<usize>>, Error> {
    let configuration: Vec<(&str, &str)> = listed.configuration.values().collect();
    let steps = templates.steps(path);
    let on: Vec<&Step> =
        steps.iter().filter(|step| step.hook.is_none() && step.is_on(&configuration)).collect();
    let mut next = on.iter();
    // Both have the same steps in the same order; an empty one may be missing in what was listed.
    // A step that bare has elsewhere has moved, and no setting brings it: the check of a call's number belongs to the dispatch.
    let bare: Vec<(&str, &str)> =
        order.bare.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let is_in_bare = |name: &str| steps.iter().any(|step| step.name == name && step.is_on(&bare));
    let place = |built: &record::Step| {
        let found = next.find(|step| step.name == built.name);
        let template = found.ok_or_else(|| {
            Error::Environment(format!(
                "the kernel lists a step that its file has not: {}",
                report::plain(&built.name)
            ))
        })?;
        let place = order.place_of(table, template);
        Ok(place.filter(|_| !MOVES.contains(&template.name.as_str()) || !is_in_bare(&template.name)))
    };
    listed.steps.iter().map(place).collect()
}

/// A line that is too long for its column stands alone.
fn side_by_side(text: &mut String, left: &[String], right: &[String]) {
    line!(text, "");
    let mut right = right.iter();
    for cell in left {
        let beside = if cell.chars().count() < COLUMN { right.next() } else { None };
        let beside = beside.map(String::as_str).unwrap_or_default();
        line!(text, "{}", format!("{cell:COLUMN$}{beside}").trim_end());
    }
    for cell in right {
        line!(text, "{:COLUMN$}{cell}", "");
    }
}

/// What of the profile adds nothing to this path: registers, mappings, a switch of address spaces; and what was left out.
fn elsewhere(text: &mut String, plan: &Plan, order: &Order, places: &[Option<usize>]) {
    let others = (0..order.settings.len()).filter(|place| !places.contains(&Some(*place)));
    let others: Vec<usize> = others.collect();
    if others.is_empty() {
        return;
    }
    line!(text, "\nnot in this path");
    for place in others {
        let why = plan.left_out(place).map(|why| vec![format!("left out: {why}")]).unwrap_or_default();
        let lines = order.beside(Some(place));
        let rest = lines.iter().skip(1).map(|line| line.trim_start().to_owned()).chain(why);
        line!(text, "  {}", lines.first().map(String::as_str).unwrap_or_default());
        for more in rest {
            line!(text, "       {more}");
        }
    }
}

/// The settings that come to the path in another order than Linux's: on the way in of a system call, the order is the profile's; of an
/// exception, and on the way out, the table's. int80 may come by the way of exceptions (error_entry).
fn differs(
    text: &mut String,
    table: &Table,
    entry: &Entry,
    order: &Order,
    places: &[Option<usize>],
    built: &[record::Step],
) {
    let executed = steps_of_lab(built);
    let is_service = |place: &usize| {
        let name = built.get(*place).map(|step| step.name.as_str()).unwrap_or_default();
        SERVICE.iter().any(|service| name.starts_with(service))
    };
    let service = executed.iter().rposition(is_service).map_or(executed.len(), |at| at + 1);
    let (way_in, way_out) = executed.split_at(service);
    let brought = |steps: &[usize]| {
        let all = steps.iter().filter_map(|step| places.get(*step).copied().flatten());
        all.filter(|place| !order.is_everywhere(*place)).collect::<Vec<_>>()
    };
    line!(text, "");
    let by_switch = |text: &mut String, way: &str, steps: &[usize], switches: &[String]| {
        let place_in = |place: &usize| {
            let name = &order.settings.get(*place)?.0.name;
            switches.iter().position(|one| one == name)
        };
        let brought = brought(steps);
        let found: Vec<usize> = brought.iter().filter_map(place_in).collect();
        said(text, way, &found, &|place| switches.get(place).cloned().unwrap_or_default());
        let mut unknown: Vec<String> = brought
            .iter()
            .filter(|place| place_in(place).is_none())
            .map(|place| order.name(*place))
            .collect();
        unknown.dedup();
        if !unknown.is_empty() {
            line!(text, "  not judged: {}", unknown.join(" "));
        }
    };
    let orders = &table.orders;
    let is_exceptions =
        entry.kind == Kind::Exception || built.iter().any(|step| step.name.starts_with("error_entry"));
    if is_exceptions {
        by_switch(text, WAY_IN, way_in, &orders.exceptions_in);
        by_switch(text, WAY_OUT, way_out, &orders.exceptions_out);
    } else {
        let named = |place| format!("{} (place {})", order.name(place), place + 1);
        said(text, WAY_IN, &brought(way_in), &named);
        by_switch(text, WAY_OUT, way_out, &orders.calls_out);
    }
}

/// Whether what comes first of each of these places rises, in a sentence.
fn said(text: &mut String, way: &str, places: &[usize], name: &dyn Fn(usize) -> String) {
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
    let sentence = match others.is_empty() {
        true => format!("{way} in Linux's order"),
        false => format!("{way} in Linux's order, but {}", others.join("; ")),
    };
    let options = textwrap::Options::new(COLUMN + LINUX).subsequent_indent("  ");
    for line in textwrap::wrap(&sentence, options) {
        line!(text, "{line}");
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
}
