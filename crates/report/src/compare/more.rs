//! What would settle what is open: how many more runs, and what to type for them. Where a gate is open, its rows are what matters.

use super::again;
use super::words::{self, NAMED, count, plainly};
use compare::{Comparison, GateAnswer, Row, RunHead, Source, Verdict};
use document::Machine;
use table::Kernel;

/// What would settle rows that are open.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct More {
    /// In a sentence.
    pub text: String,
    /// To be typed: what measures on the base's side, and then what compares. Empty where nobody knows how its runs were made.
    pub commands: Vec<String>,
}

/// The rows that leave a gate open; none where it has an answer.
pub(super) fn open(compared: &Comparison) -> Vec<&Row> {
    let is_open = compared.gate.as_ref().is_some_and(|gate| gate.answer == GateAnswer::Inconclusive);
    compared.rows.iter().filter(|row| is_open && leaves_open(row)).collect()
}

/// Whether a gate cannot tell of this row.
pub(super) fn leaves_open(row: &Row) -> bool {
    row.gate.as_ref().is_some_and(|gate| gate.answer == GateAnswer::Inconclusive)
}

/// What settles the rows that leave a gate open, by what it takes.
struct Needs<'a> {
    /// So many more runs a side, at least so many as the gate lacks, for those that runs settle.
    runs: Option<u64>,
    /// Those that more than [`Row::MANY`] would be needed for.
    many: usize,
    /// Those that have no figure on a side.
    without_figure: Vec<&'a Row>,
}

impl<'a> Needs<'a> {
    fn of(compared: &Comparison, open: &[&'a Row]) -> Needs<'a> {
        let needed = |row: &&Row| row.gate.as_ref().and_then(|gate| gate.more_runs);
        let lacks = compared.gate.as_ref().map_or(0, |gate| gate.missing[0].max(gate.missing[1]));
        let are_many = |row: &&&Row| {
            let is_counted = row.variation.as_ref().is_some_and(|known| known.source == Source::Counted);
            let is_held = row.gate.as_ref().is_some_and(|gate| gate.interval.is_some());
            is_held && !is_counted && needed(row).is_none()
        };
        Needs {
            runs: open.iter().filter_map(needed).max().map(|runs| runs.max(lacks)),
            many: open.iter().filter(are_many).count(),
            without_figure: open.iter().copied().filter(|row| row.change.is_none()).collect(),
        }
    }
}

/// What decides a gate that is open, in sentences that follow others; empty where it has an answer.
pub(super) fn decides(compared: &Comparison) -> String {
    let open = open(compared);
    let needs = Needs::of(compared, &open);
    let mut said = Vec::new();
    if open.iter().any(|row| row.change.is_some()) {
        said.extend(match (is_live(compared), needs.runs, needs.many) {
            (true, ..) => Some(format!("More turns decide it: {}.", longer(compared))),
            (false, Some(runs), 0) => {
                Some(format!("About {} a side decide it.", count(runs as usize, "more run")))
            }
            (false, Some(runs), many) => Some(format!(
                "About {} a side decide {} of them; {many} would need more than {}: {WIDER}.",
                count(runs as usize, "more run"),
                open.len() - many - needs.without_figure.len(),
                Row::MANY
            )),
            (false, None, 0) => None,
            (false, None, _) => {
                Some(format!("More than {} more runs a side would be needed: {WIDER}.", Row::MANY))
            }
        });
    }
    let named: Vec<String> = needs.without_figure.iter().take(NAMED).map(|row| row.in_words()).collect();
    if let [first, ..] = &needs.without_figure[..] {
        let rest = needs.without_figure.len() - named.len();
        let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        let (has, it) = if needs.without_figure.len() == 1 { ("has", "it") } else { ("have", "them") };
        let side = words::without_figure(first);
        let is_alike = needs.without_figure.iter().all(|row| words::without_figure(row) == side);
        let side = if is_alike { side } else { "one side" };
        said.push(format!(
            "{}{rest} {has} no figure on {side}: measure {it} longer (--budget), or leave {it} out (-e, -o).",
            named.join(", ")
        ));
    }
    said.iter().map(|sentence| format!(" {sentence}")).collect()
}

/// What is advised where no number of runs would do.
const WIDER: &str = "measure where it is quieter, or longer (--budget), or ask for a wider limit";

/// None where nothing is open.
pub(super) fn more(compared: &Comparison) -> Option<More> {
    let open = open(compared);
    if !open.is_empty() {
        // What it says of arms stands beside the gate.
        let runs = Needs::of(compared, &open).runs.filter(|_| !is_live(compared))?;
        let runs_of_sides = count(runs as usize, "more run");
        return Some(more_runs(compared, runs, format!("For the gate, {runs_of_sides} on each side")));
    }
    let rows: Vec<&Row> = compared.rows.iter().filter(|row| row.verdict == Verdict::Inconclusive).collect();
    if rows.is_empty() {
        return None;
    }
    let inconclusive = count(rows.len(), "inconclusive row");
    if is_live(compared) {
        let text = format!("{inconclusive}. More turns would tell: {}.", longer(compared));
        return Some(More { text, commands: Vec::new() });
    }
    let mut needed: Vec<u64> = rows.iter().filter_map(|row| row.more_runs).collect();
    needed.sort_unstable();
    // What settles half of them; the rest may need many times as much.
    let Some(runs) = needed.get(rows.len().div_ceil(2) - 1).or(needed.last()).copied() else {
        let text = format!(
            "{inconclusive}: more than {} more runs a side would be needed. Measure where it is quieter, or longer \
             (--budget), or ask for a wider margin (--margin).",
            Row::MANY
        );
        return Some(More { text, commands: Vec::new() });
    };
    let settled = needed.iter().filter(|needed| **needed <= runs).count();
    let of = if settled == rows.len() { inconclusive } else { format!("{settled} of {inconclusive}") };
    let text = format!("About {} on each side would settle {of}", count(runs as usize, "more run"));
    Some(more_runs(compared, runs, text))
}

fn sides(compared: &Comparison) -> [&compare::Side; 2] {
    [&compared.base, &compared.new]
}

fn runs(compared: &Comparison) -> impl Iterator<Item = &RunHead> {
    sides(compared).into_iter().flat_map(|side| &side.runs)
}

/// Whether a run was measured in turns with another: a single run under no command is none like it.
fn is_live(compared: &Comparison) -> bool {
    let in_turns = |row: &Row| row.variation.as_ref().is_some_and(|known| known.source == Source::Pairs);
    compared.rows.iter().any(in_turns) || runs(compared).any(|run| run.arm.is_some() || run.command.is_some())
}

/// How arms are measured longer.
fn longer(compared: &Comparison) -> String {
    let than = budget(compared).map(|seconds| format!(" than {seconds}")).unwrap_or_default();
    format!("measure both arms again, with a greater --budget{than}")
}

/// The longest duration that the runs were given, as the command line takes it; none where it is not known of all.
fn budget(compared: &Comparison) -> Option<String> {
    let all: Vec<f64> = runs(compared).map(|run| run.budget_seconds).collect::<Option<_>>()?;
    all.into_iter().filter(|seconds| seconds.is_finite() && *seconds > 0.0).reduce(f64::max).map(plainly)
}

/// As the runs were made, as far as their documents tell: of the same rows, because what runs between a row's rounds is in its figure.
/// So many more runs a side, behind a sentence that says what for.
fn more_runs(compared: &Comparison, runs: u64, what_for: String) -> More {
    let sides = sides(compared);
    let Some(measure) = measure(compared, runs) else {
        let then = "of the same rows as these; then give every run, by --base and --new.";
        return More { text: format!("{what_for}, {then}"), commands: Vec::new() };
    };
    let commands = std::iter::once(measure).chain(again::compare(sides)).collect();
    More { text: what_for + &again::then(sides), commands }
}

fn measure(compared: &Comparison, more: u64) -> Option<String> {
    let is_here = |place: &document::Place| {
        place.machine.known() == Some(Machine::Host) && place.kernel.known() == Some(Kernel::Linux)
    };
    let mut asked = runs(compared).map(|run| run.options.as_deref());
    let options = asked.next().flatten().filter(|first| asked.all(|other| other == Some(first)))?;
    // Without its command an arm is measured as something else.
    let can_be_told = runs(compared).all(|run| is_here(&run.place)) && !is_live(compared);
    can_be_told.then(|| {
        let budget = budget(compared).map(|seconds| format!(" --budget {seconds}")).unwrap_or_default();
        let tag = again::tag(sides(compared));
        format!("for i in $(seq {more}); do kentry{options}{budget}{tag}; done")
    })
}
