//! `kentry bill --listing`: the path with all steps of a profile, as the kernel has built it, beside what Linux has for each step and
//! the place that it has in Linux's order.

use crate::error::Error;
use crate::lab::listing as path_listing;
use attribution::assembly::{Built, Judged, Order, Unknown};
use attribution::bill::Plan;
use measure::lab::{Configuration, Configurations, Emulator, Listed};
use places::lab::Limits;
use std::fmt::Write;
use table::paths::{File, Path, Paths};
use table::{Entry, Table};

/// Columns for an instruction.
const COLUMN: usize = 48;

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

/// The templates of the kernel's file.
///
/// # Errors
/// [`Error::Environment`] when it has none.
pub fn templates() -> Result<(File<'static>, Paths), Error> {
    places::lab::kernel_paths(places::lab::Mode::Long).map_err(|error| Error::Environment(error.to_string()))
}

impl Listing<'_> {
    /// Its template in the kernel's file.
    ///
    /// # Errors
    /// [`Error::Environment`] when the kernel's file has no such path.
    pub fn template<'p>(&self, templates: &'p Paths) -> Result<&'p Path, Error> {
        let path = templates.path(&self.path);
        path.ok_or_else(|| Error::Environment(format!("there is no path {}", self.path)))
    }

    /// Of each step, the place of the setting that brings it; none of those that bare has.
    ///
    /// # Errors
    /// [`Error::Environment`] when the kernel's file has not what the kernel has listed.
    pub fn places(&self, order: &Order, templates: &Paths) -> Result<Vec<Option<usize>>, Error> {
        let values: Vec<(&str, &str)> = self.built.configuration.values().collect();
        let unknown = |Unknown(step)| Error::Environment(Unknown(report::plain(&step)).to_string());
        let template = templates.steps(self.template(templates)?);
        order.places(&Built { template, steps: &self.built.steps }, &values).map_err(unknown)
    }
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
    let (kernel, templates) = templates()?;
    let order = Order::new(table, plan.steps());
    let places = listing.places(&order, &templates)?;
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
        side_by_side(&mut text, &left.collect::<Vec<_>>(), &beside(&order, *place));
    }
    elsewhere(&mut text, plan, &order, &places);
    line!(text, "");
    order.judged(entry, &listed.steps, &places).iter().for_each(|judged| said(&mut text, judged));
    Ok(text)
}

/// What stands beside a step that the setting in this place brings.
fn beside(order: &Order, place: Option<usize>) -> Vec<String> {
    let Some((place, (setting, origins))) = place.and_then(|at| Some((at, order.setting(at)?))) else {
        return vec!["bare".to_owned()];
    };
    let mut lines = vec![format!("{}. {setting}", place + 1)];
    for origin in origins {
        let texts = [origin.symbol.clone(), versions(origin)];
        lines.extend(
            texts.iter().flat_map(|text| textwrap::wrap(text, LINUX - 3)).map(|line| format!("   {line}")),
        );
    }
    lines
}

/// The file, and the versions that have it there.
fn versions(origin: &table::Origin) -> String {
    let since = origin.since.as_ref().map(|version| format!(", since {version}")).unwrap_or_default();
    let until = origin.until.as_ref().map(|version| format!(", until {version}")).unwrap_or_default();
    format!("{}{since}{until}", origin.file)
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
    let others = (0..order.count()).filter(|place| !places.contains(&Some(*place)));
    let others: Vec<usize> = others.collect();
    if others.is_empty() {
        return;
    }
    line!(text, "\nnot in this path");
    for place in others {
        let why = plan.left_out(place).map(|why| vec![format!("left out: {why}")]).unwrap_or_default();
        let lines = beside(order, Some(place));
        let rest = lines.iter().skip(1).map(|line| line.trim_start().to_owned()).chain(why);
        line!(text, "  {}", lines.first().map(String::as_str).unwrap_or_default());
        for more in rest {
            line!(text, "       {more}");
        }
    }
}

/// What is said of the order of one way.
fn said(text: &mut String, judged: &Judged) {
    let options = textwrap::Options::new(COLUMN + LINUX).subsequent_indent("  ");
    for line in textwrap::wrap(&judged.sentence, options) {
        line!(text, "{line}");
    }
    if !judged.unjudged.is_empty() {
        line!(text, "  not judged: {}", judged.unjudged.join(" "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attribution::assembly::{OF_C, family, has_order, stands_for_c};
    use std::collections::BTreeSet;
    use table::ORDER;
    use table::paths::Step;

    /// In Linux's order, what is attached to hooks where registers are saved is in what stands for C; and no family of that has died out.
    #[test]
    fn what_stands_for_c_is_what_the_kernels_file_has_for_it() {
        let (_, templates) = templates().unwrap();
        let of_hooks = templates.attached.iter().filter(|(hook, _)| OF_C_HOOKS.contains(hook));
        let attached: BTreeSet<u64> =
            of_hooks.flat_map(|(_, all)| &all.steps).map(|step| step.start).collect();
        let order = Table::get().switch(ORDER).unwrap();
        let is_in_order = |step: &&Step| {
            let allows = |value: u32| {
                let mut of_order = step.conditions.iter().filter(|one| one.which == u32::from(order.id));
                of_order.all(|one| one.allows(value))
            };
            (1..order.values.len() as u32).any(allows)
        };
        let ordered = templates.paths.iter().filter(|path| has_order(Table::get(), path));
        let steps: Vec<Step> = ordered.flat_map(|path| templates.steps(path)).collect();
        let found: BTreeSet<&str> = steps
            .iter()
            .filter(|step| attached.contains(&step.start))
            .filter(is_in_order)
            .map(|step| step.name.as_str())
            .collect();
        let others: Vec<&&str> = found.iter().filter(|name| !stands_for_c(name)).collect();
        assert!(found.len() > 10 && others.is_empty(), "{others:?} of {found:?}");
        let own = templates.paths.iter().flat_map(|path| &path.own.steps).chain(&steps);
        let families: BTreeSet<&str> = own.map(|step| family(&step.name)).collect();
        assert!(OF_C.iter().all(|known| families.contains(known)), "{families:?}");
    }

    /// IN_SAVED and OUT_SAVED (lab/entry/layout.h).
    const OF_C_HOOKS: [u64; 2] = [3, 4];
}
