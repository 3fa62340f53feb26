//! The runs of a catalogue, and their lines: a run that measured several configurations has one for each.

use super::measure::Measure;
use super::order::natural;
use super::path;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use summary::{Row, Summary};

/// A run.
pub(super) struct Machine<'a> {
    /// What its files are called.
    pub slug: String,
    pub summary: &'a Summary,
    /// Its configurations, in the order in which it has them.
    pub lines: Vec<Line<'a>>,
}

/// A configuration of a run.
pub(super) struct Line<'a> {
    /// What tells it from the others of its run; empty where it has no other.
    pub configuration: String,
    /// The kernel that it booted, where the run says.
    pub kernel: Option<&'a str>,
    pub rows: Placed<'a>,
}

/// The key of a configuration that names the kernel.
const KERNEL: &str = "kernel";

/// Each run once, in the order of processors, kernels and dates.
pub(super) fn all(summaries: &[Summary]) -> Vec<Machine<'_>> {
    let mut machines: Vec<Machine> = summaries
        .iter()
        .map(|summary| Machine { slug: path::slug(summary), summary, lines: lines(&summary.rows) })
        .collect();
    machines.sort_by(|left, right| in_order(left, right));
    machines.dedup_by(|later, earlier| later.summary == earlier.summary);
    tell_apart(&mut machines);
    machines
}

fn in_order(left: &Machine, right: &Machine) -> Ordering {
    let key = |machine: &Machine| {
        let run = &machine.summary.run;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        [
            text(&run.cohort.cpu_vendor),
            text(&run.cpu_brand),
            run.kernel.clone(),
            text(&run.cohort.kernel_release),
            run.started.clone(),
        ]
    };
    let both = key(left).into_iter().zip(key(right));
    let order = both.map(|(left, right)| natural(&left, &right)).find(|order| order.is_ne());
    // What is alike in all of that is ordered by everything, so that the order of the command line decides nothing.
    order
        .unwrap_or_else(|| left.slug.cmp(&right.slug))
        .then_with(|| summary::write(left.summary).cmp(&summary::write(right.summary)))
}

/// Two runs whose digests begin alike.
fn tell_apart(machines: &mut [Machine]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for machine in machines {
        let count = seen.entry(machine.slug.clone()).or_default();
        *count += 1;
        if *count > 1 {
            machine.slug = format!("{}-{count}", machine.slug);
        }
    }
}

impl Machine<'_> {
    /// How many of its rows have a figure of this kind.
    pub fn figures(&self, measure: Measure) -> usize {
        self.summary.rows.iter().filter(|row| measure.has_figure(row)).count()
    }
}

/// Rows, each with its place in the run.
type Placed<'a> = Vec<(usize, &'a Row)>;

fn lines(rows: &[Row]) -> Vec<Line<'_>> {
    let mut places: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let mut grouped: Vec<(Option<&str>, Placed)> = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let configuration = row.configuration.as_deref();
        let place = *places.entry(configuration).or_insert_with(|| {
            grouped.push((configuration, Vec::new()));
            grouped.len() - 1
        });
        grouped[place].1.push((number, row));
    }
    let configurations: Vec<Option<&str>> = grouped.iter().map(|(configuration, _)| *configuration).collect();
    let lines = grouped.into_iter().map(|(configuration, rows)| Line {
        configuration: apart(configuration, &configurations),
        kernel: settings(configuration).find_map(|(name, value)| (name == KERNEL).then_some(value)),
        rows,
    });
    lines.collect()
}

/// `pcid=off;pti=on`
fn settings(configuration: Option<&str>) -> impl Iterator<Item = (&str, &str)> {
    configuration.unwrap_or_default().split(';').filter_map(|setting| setting.split_once('='))
}

/// The settings that not every configuration of the run has. The kernel stands in a column of its own.
fn apart(configuration: Option<&str>, all: &[Option<&str>]) -> String {
    let is_common =
        |setting: &(&str, &str)| all.iter().all(|other| settings(*other).any(|own| own == *setting));
    let own = settings(configuration).filter(|setting| setting.0 != KERNEL && !is_common(setting));
    own.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_configurations_have_tells_none_apart() {
        let all = [Some("core=fast;pti=on"), Some("core=fast;pti=off"), Some("core=fast;kernel=6.1;pti=off")];
        assert_eq!(all.map(|one| apart(one, &all)), ["pti=on", "pti=off", "pti=off"]);
        assert_eq!(apart(None, &[None]), "");
        assert_eq!(apart(Some("odd"), &[Some("odd"), None]), "");
    }
}
