//! The comparison as a whole.

use crate::comparison::{Comparison, Confounder, Row, RunHead, SCHEMA, Severity, Side, Summary, Verdict};
use crate::pair::{self, Both, RowOfBoth};
use crate::run::{Paired, Run, SideRuns};
use crate::settings::Settings;
use crate::{apart, boots, facts, gate, judge};
use std::collections::BTreeSet;
use table::{Kernel, Table};

/// Compares two sides. Of `history`, which may hold any kept runs, those count that differ from a run of a side in nothing that
/// may be the cause of a difference; they tell how much rows vary from run to run, and nothing else.
pub fn compare(
    table: &Table,
    base: &SideRuns,
    new: &SideRuns,
    history: &[Run],
    settings: &Settings,
) -> Comparison {
    let (of_base, of_new) = (distinct(&base.runs), distinct(&new.runs));
    let given = Both::new(table, of_base.runs.clone(), of_new.runs.clone(), history);
    conclude(&given, [base, new], [&of_base, &of_new], settings)
}

/// Compares two arms that were measured together, round by round in pairs: what the pairs say counts, and nothing needs to be known of
/// how much runs vary. Each side is a run by [`Run::of_configuration`], because arms may be on different kinds of core. A row that no pair speaks of is compared as one of two runs.
pub fn compare_pairs(
    table: &Table,
    base: &SideRuns,
    new: &SideRuns,
    pairs: &[Paired],
    settings: &Settings,
) -> Comparison {
    let (of_base, of_new) = (distinct(&base.runs), distinct(&new.runs));
    let given = Both::new(table, of_base.runs.clone(), of_new.runs.clone(), &[]);
    conclude(&Both { paired: pairs, ..given }, [base, new], [&of_base, &of_new], settings)
}

fn conclude(
    given: &Both,
    [base, new]: [&SideRuns; 2],
    [of_base, of_new]: [&Distinct; 2],
    settings: &Settings,
) -> Comparison {
    let confounders = confounders(given, [of_base, of_new]);
    let forbids = |confounder: &Confounder| confounder.severity == Severity::Refuses;
    let refused = !settings.force && confounders.iter().any(forbids);
    let mut pairs = if refused { Vec::new() } else { given.pairs() };
    judge::judge(&mut pairs, &settings.same);
    sort(&mut pairs);
    let kernel = kernel(given);
    let gate = if refused { None } else { gate::judge(given.table, kernel, &settings.gate, &mut pairs) };
    let rows: Vec<Row> = pairs.into_iter().map(|pair| pair.row).collect();
    Comparison {
        schema: SCHEMA.into(),
        base: side(base, &of_base.runs),
        new: side(new, &of_new.runs),
        settings: settings.clone(),
        history: if refused { Vec::new() } else { used(given, &rows) },
        confounders,
        refused,
        summary: Summary::of(&rows),
        rows,
        gate,
    }
}

/// The kept runs that tell how much rows vary: those of groups of several runs, where a row was judged by them.
fn used(given: &Both, rows: &[Row]) -> Vec<RunHead> {
    let of_kept = |row: &Row| row.variation.as_ref().is_some_and(|variation| variation.kept_runs > 0);
    let groups = given.history.iter().filter(|group| group.len() > 1 && rows.iter().any(of_kept));
    groups.flatten().map(|run| run.head.clone()).collect()
}

/// The runs of a side, each once.
struct Distinct<'a> {
    runs: Vec<&'a Run>,
    /// Ids of runs that were given more than once.
    repeated: BTreeSet<String>,
}

impl Distinct<'_> {
    fn ids(&self) -> BTreeSet<String> {
        self.runs.iter().filter_map(|run| run.head.id.clone()).collect()
    }
}

/// A run that is given twice says nothing more the second time.
fn distinct(runs: &[Run]) -> Distinct<'_> {
    let mut seen = BTreeSet::new();
    let mut repeated = BTreeSet::new();
    let mut is_new = |run: &&Run| {
        let Some(id) = &run.head.id else { return true };
        let is_new = seen.insert(id.clone());
        if !is_new {
            repeated.insert(id.clone());
        }
        is_new
    };
    let runs = runs.iter().filter(|run| is_new(run)).collect();
    Distinct { runs, repeated }
}

fn confounders(given: &Both, [base, new]: [&Distinct; 2]) -> Vec<Confounder> {
    let sides = facts::Sides {
        base: given.base.iter().map(|run| &run.facts).collect(),
        new: given.new.iter().map(|run| &run.facts).collect(),
    };
    let mut found = facts::confounders(&sides);
    if !given.have_rows_in_common() {
        found.push(nothing_in_common(given));
    }
    let is_unknown = |run: &&Run| run.is_of_one_boot && run.head.boot.is_none();
    found.extend(facts::unknown_boots([&given.base, &given.new].map(|runs| runs.iter().any(is_unknown))));
    if boots::is_one_against_others([&given.base, &given.new]) {
        facts::warn_of_one_boot(&mut found);
    }
    let on_both = base.ids().intersection(&new.ids()).cloned().collect();
    found.extend(facts::same_run(on_both));
    found.extend(facts::repeated([&base.repeated, &new.repeated].map(|ids| ids.iter().cloned().collect())));
    let rows = |runs: &[&Run]| runs.iter().flat_map(|run| &run.repeated).cloned().collect();
    found.extend(facts::repeated_rows([&given.base, &given.new].map(|runs| rows(runs))));
    found.sort_by_key(|confounder| confounder.severity);
    found
}

/// The first kernel of the runs that this kentry knows.
fn kernel(given: &Both) -> Option<Kernel> {
    given.base.iter().chain(&given.new).find_map(|run| run.head.place.kernel.known())
}

fn are_of_one_kernel(given: &Both) -> bool {
    let kernels: Vec<_> = given.base.iter().chain(&given.new).map(|run| &run.head.place.kernel).collect();
    kernels.windows(2).all(|two| two[0] == two[1])
}

/// What sides without a row in common differ in: their configurations, if they are of one kernel, or else the calls that they measured.
fn nothing_in_common(given: &Both) -> Confounder {
    let sides = [&given.base[..], &given.new[..]];
    let is_one_kernel = are_of_one_kernel(given);
    match apart::configurations(given.table, sides) {
        Some(configurations) if is_one_kernel => facts::other_configurations(configurations, kernel(given)),
        _ => facts::nothing_in_common(sides.map(pair::rows_of), is_one_kernel),
    }
}

fn side(given: &SideRuns, runs: &[&Run]) -> Side {
    let boots: BTreeSet<&Option<String>> = runs.iter().map(|run| &run.head.boot).collect();
    Side {
        label: given.label.clone(),
        runs: runs.iter().map(|run| run.head.clone()).collect(),
        boots: boots.len(),
    }
}

/// Those that matter most first: by verdict; of these, changes beyond the margin before those within, and the greater ones first.
fn sort(pairs: &mut [RowOfBoth]) {
    let size = |row: &Row| {
        let change = row.change.as_ref().map_or(0.0, |change| change.estimate.abs());
        // In margins, because rows of 5 cycles and of 5000 are beside each other.
        row.margin.filter(|margin| *margin > 0.0).map_or(change, |margin| change / margin)
    };
    pairs.sort_by(|RowOfBoth { row: a, .. }, RowOfBoth { row: b, .. }| {
        let by_verdict = (a.verdict, a.within_margin).cmp(&(b.verdict, b.within_margin));
        by_verdict.then_with(|| size(b).total_cmp(&size(a)))
    });
}

impl Summary {
    fn of(rows: &[Row]) -> Summary {
        let count = |verdict: Verdict| rows.iter().filter(|row| row.verdict == verdict).count() as u64;
        let is_change = |row: &&Row| matches!(row.verdict, Verdict::Slower | Verdict::Faster);
        Summary {
            rows: rows.len() as u64,
            compared: rows.iter().filter(|row| row.change.is_some()).count() as u64,
            verdicts: Verdict::ALL.into_iter().map(|verdict| (verdict, count(verdict))).collect(),
            within_margin: rows.iter().filter(is_change).filter(|row| row.within_margin).count() as u64,
        }
    }
}
