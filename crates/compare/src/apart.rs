//! In which configurations two sides measured the same calls, where they have no row in common.

use crate::run::Run;
use document::{DEFAULT, Identity};
use std::collections::{BTreeMap, BTreeSet};
use table::Table;

type Configuration = BTreeMap<String, String>;

/// What the configurations of either side differ in, as `--set` takes it; none where the sides measured no call in common, or where it is
/// not their configurations that differ.
pub(crate) fn configurations(table: &Table, sides: [&[&Run]; 2]) -> Option<[Vec<String>; 2]> {
    let [base, new] = sides.map(rows);
    let of_base = configurations_of(table, &base, &new);
    let of_new = configurations_of(table, &new, &base);
    let names: Vec<&String> = of_base
        .iter()
        .chain(&of_new)
        .flat_map(Configuration::keys)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .filter(|name| values(&of_base, name) != values(&of_new, name))
        .collect();
    let told = [&of_base, &of_new].map(|side| {
        side.iter().map(|configuration| in_words(configuration, &names)).collect::<BTreeSet<_>>()
    });
    let is_told = told.iter().all(|side| !side.is_empty()) && !names.is_empty();
    is_told.then(|| told.map(|side| side.into_iter().collect()))
}

fn rows<'a>(runs: &[&'a Run]) -> BTreeSet<&'a Identity> {
    runs.iter().flat_map(|run| &run.order).collect()
}

/// Those of the rows whose call the other side measured, too.
fn configurations_of(
    table: &Table,
    rows: &BTreeSet<&Identity>,
    others: &BTreeSet<&Identity>,
) -> BTreeSet<Configuration> {
    let is_on_both = |row: &&&Identity| others.iter().any(|other| row.is_same_call(other));
    rows.iter().filter(is_on_both).map(|row| row.configuration(table)).collect()
}

fn values<'a>(side: &'a BTreeSet<Configuration>, name: &String) -> BTreeSet<Option<&'a String>> {
    side.iter().map(|configuration| configuration.get(name)).collect()
}

/// `pti=on,smap=off`; `default` where nothing of it is set.
fn in_words(configuration: &Configuration, names: &[&String]) -> String {
    let set = |name: &&String| Some(format!("{name}={}", configuration.get(*name)?));
    let pairs: Vec<String> = names.iter().filter_map(set).collect();
    if pairs.is_empty() { DEFAULT.to_owned() } else { pairs.join(",") }
}
