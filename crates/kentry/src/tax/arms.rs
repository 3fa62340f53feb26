//! Puts each layer around the probe, and measures all of them in turns with the base.

use crate::error::Error;
use crate::progress;
use crate::this_machine::{executor, here};
use attribution::tax::{
    ALREADY_SLOW, Added, Base, CONFIDENCE, LayerCost, OperationCost, ProfileUsed, SCHEMA, Tax, TwoLevels,
    added, is_already_slow, two_levels,
};
use document::{Document, Row};
use environment::Restrictions;
use layers::under::words;
use layers::{Kind, Layer, NOTHING, Word};
use measure::arms::{Arm, Arms, NEEDED, Setup};
use measure::{HostPlan, Probes};
use places::host::{Executor, Files, Interrupt, Limits, Priority, Under, Wrapper};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use table::Probe;

/// The longest that one run of a probe may take, under any layer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The part of the time that layers get which have another process run at each call: they are few, and so dear that few rounds tell.
const OF_SLOW: f64 = 0.25;

/// The same where no others are asked for, so that the rest is for the controls alone.
const OF_SLOW_ALONE: f64 = 0.6;

/// What is always measured, shown or not: what both add tells whether calls take the slow way without any layer ([`is_already_slow`]).
const DISPATCH: &str = "user-dispatch";
const FILTER: &str = "seccomp-1";

/// The longest reason that is passed on, in characters.
const SAID: usize = 300;

/// This program, whatever has become of its file.
const THIS: &str = "/proc/self/exe";

/// What is to be measured.
#[derive(Debug, Default)]
pub struct Asked {
    /// The layers.
    pub words: Vec<Word>,
    /// The profile of one of them.
    pub profile: Option<ProfileUsed>,
    /// What a reader must know of it, in words.
    pub notes: Vec<String>,
}

/// A layer, and the executor whose probes are under it.
struct Ready {
    word: Word,
    executor: Under,
}

/// Layers that are measured in turns with each other and with the base, and their arms.
struct Part {
    words: Vec<Word>,
    arms: Arms,
}

/// What runs probes here.
struct Place {
    files: Rc<Files>,
    priority: Priority,
    limits: Limits,
}

impl Place {
    fn under(&self, word: &Word) -> Ready {
        let wrapper = Wrapper { environment: Vec::new(), words: words(THIS, word) };
        let executor = Under::new(wrapper, self.files.clone(), self.priority, self.limits.clone());
        Ready { word: word.clone(), executor }
    }
}

/// Measures the layers. `note` is told what a reader should know on the way.
///
/// # Errors
/// [`Error::Environment`] where no probe runs at all.
pub fn measure(
    asked: &Asked,
    plan: &HostPlan,
    interrupt: &Interrupt,
    note: &mut dyn FnMut(&str),
) -> Result<Tax, Error> {
    let begin = Instant::now();
    let (machine, priority) = here(plan, interrupt)?;
    let refused = machine.realtime_refused.clone();
    let files = Files::embedded().map_err(|error| Error::Environment(error.to_string()))?;
    let limits = Limits { time: TIMEOUT, output: record::MOST_OUTPUT, interrupt: interrupt.clone() };
    let place = Place { files: Rc::new(files), priority, limits };
    let cpu = plan.cpus.only().or(machine.cpus.keys().last().copied()).unwrap_or(0);
    try_base(&place, cpu)?;
    let found = tried(&place, &asked.words, cpu);
    let controls = tried(&place, &controls(asked), cpu);
    if interrupt.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    let [mut fast, slow] = [false, true].map(|slow| here_of(&found, slow));
    let share = match (fast.is_empty(), slow.is_empty()) {
        (_, true) => 0.0,
        (true, false) => OF_SLOW_ALONE,
        (false, false) => OF_SLOW,
    };
    fast.extend(here_of(&controls, false));
    let mut parts = Vec::new();
    for (words, share) in [(fast, 1.0 - share), (slow, share)] {
        let is_alone = parts.is_empty();
        if share > 0.0 && (!words.is_empty() || is_alone) && !interrupt.load(Ordering::Relaxed) {
            let plan = HostPlan { budget: plan.budget.mul_f64(share), ..plan.clone() };
            parts.push(of_part(words, &plan, &place, interrupt)?);
        }
    }
    let mut tax = tax(asked, &found, &parts, plan, begin.elapsed());
    tax.partial = interrupt.load(Ordering::Relaxed);
    tax.warnings.extend(refused.map(|why| format!("the kernel refused real-time priority: {why}")));
    let tax = tax.with_meaning();
    asked.notes.iter().for_each(|text| note(text));
    Ok(tax)
}

/// Layers, and of each why it cannot be had, if it cannot.
type Tried = Vec<(Word, Result<(), String>)>;

fn tried(place: &Place, words: &[Word], cpu: usize) -> Tried {
    words.iter().map(|word| (word.clone(), try_out(place, word, cpu))).collect()
}

/// The controls that are not asked for.
fn controls(asked: &Asked) -> Vec<Word> {
    let is_asked = |layer: &&Layer| asked.words.iter().any(|word| word.layer == **layer);
    let all = [DISPATCH, FILTER].into_iter().filter_map(Layer::named);
    all.filter(|layer| !is_asked(layer)).map(|layer| Word::from(*layer)).collect()
}

/// Those that can be had and have another process run at each call, or have not.
fn here_of(tried: &Tried, slow: bool) -> Vec<Word> {
    let is_wanted =
        |(word, tried): &&(Word, Result<(), String>)| tried.is_ok() && word.layer.is_slow() == slow;
    tried.iter().filter(is_wanted).map(|(word, _)| word.clone()).collect()
}

/// The base must work: without it there is nothing to compare with.
fn try_base(place: &Place, cpu: usize) -> Result<(), Error> {
    let mut base = place.under(&NOTHING.into());
    match base.executor.describe(Probe::Probe64, cpu) {
        Ok(_) => Ok(()),
        Err(failure) if failure.is_interrupted() => Err(Error::Interrupted),
        Err(failure) => Err(Error::Environment(format!("no probe runs as a program of its own: {failure}"))),
    }
}

/// Why a layer cannot be had: what it says itself, or how its program ended.
fn try_out(place: &Place, word: &Word, cpu: usize) -> Result<(), String> {
    let mut ready = place.under(word);
    match ready.executor.describe(Probe::Probe64, cpu) {
        Ok(_) => Ok(()),
        Err(failure) => {
            let said = ready.executor.said().lines().map(str::trim).rfind(|line| !line.is_empty());
            let why = match said {
                Some(said) => said.to_string(),
                None if word.layer.kind == Kind::Profile => {
                    format!(
                        "the profile forbids what any program needs, such as execve, write or exit_group: {}",
                        plainly(&failure.to_string())
                    )
                }
                None => plainly(&failure.to_string()),
            };
            Err(report::plain(&why.chars().take(SAID).collect::<String>()))
        }
    }
}

/// What is said of the program that a layer is put on by, which is called by its link in /proc, is said of kentry.
fn plainly(text: &str) -> String {
    text.strip_prefix("exe ").map_or_else(|| text.to_string(), |rest| format!("kentry, as the probe, {rest}"))
}

/// Measures some layers, the base, and the base once more.
fn of_part(
    mut words: Vec<Word>,
    plan: &HostPlan,
    place: &Place,
    interrupt: &Interrupt,
) -> Result<Part, Error> {
    let both = [Word::from(NOTHING), Word::from(NOTHING)];
    words.splice(0..0, both);
    let mut ready: Vec<Ready> = words.iter().map(|word| place.under(word)).collect();
    let (machine, _) = here(plan, interrupt)?;
    let mut scout = executor(place.priority, TIMEOUT, interrupt)?;
    let arms = ready.iter_mut().map(|ready| Arm {
        cpu: None,
        command: Some(ready.word.layer.name.to_string()),
        probes: Probes::embedded(),
        executor: &mut ready.executor,
    });
    let setup = Setup { arms: arms.collect(), scout: &mut scout, here: machine };
    let bar = progress::Bar::new();
    let arms = measure::arms::measure(plan, setup, &mut |progress| bar.show(progress))?;
    Ok(Part { words, arms })
}

/// Of a part, the base and the base once more.
const BASE: usize = 0;
const AGAIN: usize = 1;

fn tax(asked: &Asked, found: &Tried, parts: &[Part], plan: &HostPlan, took: Duration) -> Tax {
    let first = parts.first();
    let document = first.and_then(|part| part.arms.documents.first());
    let facts = document.map(|document| &document.environment);
    let compared = parts.iter().map(|part| part.words.len() - 1).sum::<usize>() * plan.rows.len();
    let levels = first.and_then(|part| levels(part, plan, compared));
    let layer = |(word, tried): &(Word, Result<(), String>)| match tried {
        Err(why) => LayerCost::missing(&word.layer, why.clone()),
        Ok(()) => {
            let at = parts
                .iter()
                .find_map(|part| Some((part, part.words.iter().position(|known| known == word)?)));
            let costs = at.map_or_else(Vec::new, |(part, arm)| costs(part, arm, plan, compared));
            let depends = levels.filter(|_| word.layer.is_slow_way());
            LayerCost::of(&word.layer, costs.into_iter().map(|cost| without(cost, depends)).collect())
        }
    };
    Tax {
        schema: SCHEMA,
        kentry: env!("CARGO_PKG_VERSION").into(),
        started: document.map(|document| document.measurement.started.clone()).unwrap_or_default(),
        seconds: took.as_secs_f64(),
        kernel: facts.and_then(|facts| facts.kernel.release.clone()),
        cpu: facts.and_then(|facts| facts.cpu.brand.clone()),
        cpus: document.map(cpus).unwrap_or_default(),
        quiet_share: document.and_then(|document| document.measurement.quiet_share),
        core_hz: document.and_then(|document| core_hz(&document.measurement)),
        partial: false,
        seed: plan.seed,
        entry: plan.rows.first().map(|(entry, _)| entry.name.clone()).unwrap_or_default(),
        confidence: CONFIDENCE,
        profile: asked.profile.clone(),
        base: plan.rows.iter().map(|(_, operation)| base(document, &operation.name)).collect(),
        again: first.map(|part| costs(part, AGAIN, plan, compared)).unwrap_or_default(),
        layers: found.iter().map(layer).collect(),
        meaning: Default::default(),
        warnings: asked
            .notes
            .iter()
            .cloned()
            .chain(of_slow_way(first, levels, plan, compared))
            .chain(warnings(parts))
            .collect(),
    }
}

/// The two levels of the base, if it has two: of each operation, in all rounds of the base.
fn levels(part: &Part, plan: &HostPlan, compared: usize) -> Option<TwoLevels> {
    let of_arm = |turns, arm| part.arms.pairs(turns, arm, arm).into_iter().map(|pair| pair.base);
    let of = |turns| of_arm(turns, BASE).chain(of_arm(turns, AGAIN)).collect();
    let costs: Vec<Vec<f64>> = part.arms.turns.iter().map(of).collect();
    two_levels(&costs, &control(part, FILTER, plan, compared)?)
}

/// What a control adds to the first operation, if that is known.
fn control(part: &Part, name: &str, plan: &HostPlan, compared: usize) -> Option<Added> {
    let arm = part.words.iter().position(|word| word.layer.name == name)?;
    costs(part, arm, plan, compared).first()?.added
}

/// A figure that depends on the level of the base is none.
fn without(cost: OperationCost, levels: Option<TwoLevels>) -> OperationCost {
    match levels {
        Some(levels) if cost.added.is_some() => {
            OperationCost { added: None, why: Some(levels.to_string()), ..cost }
        }
        _ => cost,
    }
}

/// What must be known of calls that take the slow way in without any layer.
fn of_slow_way(
    part: Option<&Part>,
    levels: Option<TwoLevels>,
    plan: &HostPlan,
    compared: usize,
) -> Option<String> {
    if let Some(levels) = levels {
        return Some(format!("{levels}; what filters and hooks add depends on it, and has no figure"));
    }
    let part = part?;
    let of = |name| control(part, name, plan, compared);
    let is_carried = Restrictions::of_process(std::process::id()).is_some_and(|limits| limits.is_filtered());
    if is_carried {
        return Some(CARRIED.into());
    }
    is_already_slow(&of(DISPATCH)?, &of(FILTER)?).then(|| ALREADY_SLOW.into())
}

/// What is said where kentry itself is under a filter, so that its probes are.
const CARRIED: &str = "kentry itself runs under a seccomp filter, which takes its calls off the fast path: layers cost less on top than they \
                       would by themselves";

/// What the core's clock was.
fn core_hz(measurement: &document::Measurement) -> Option<f64> {
    Some(measurement.tsc_hz? * measurement.cycles_per_tick?).filter(|hz| *hz > 0.0)
}

fn cpus(document: &Document) -> Vec<u64> {
    document.measurement.cpus.iter().filter(|cpu| cpu.kept_rounds > 0).map(|cpu| cpu.cpu as u64).collect()
}

fn row<'d>(document: &'d Document, operation: &str) -> Option<&'d Row> {
    document.results.iter().find(|row| row.operation == operation)
}

fn base(document: Option<&Document>, operation: &str) -> Base {
    let row = document.and_then(|document| row(document, operation));
    let cost = row.and_then(|row| row.core_cycles);
    Base {
        operation: operation.into(),
        cycles: cost.map(|cost| cost.estimate),
        low: cost.and_then(|cost| cost.ci_low),
        high: cost.and_then(|cost| cost.ci_high),
        why: if cost.is_some() { None } else { Some(why(row)) },
    }
}

/// Why a row has no figure.
fn why(row: Option<&Row>) -> String {
    row.and_then(|row| row.reason.clone())
        .unwrap_or_else(|| "too few quiet rounds, or core cycles are not known".into())
}

/// What an arm of a part adds to each operation.
fn costs(part: &Part, arm: usize, plan: &HostPlan, compared: usize) -> Vec<OperationCost> {
    let of = |(place, (_, operation)): (usize, &measure::TableRow)| {
        let turns = part.arms.turns.get(place);
        let pairs = turns.map(|turns| part.arms.pairs(turns, BASE, arm)).unwrap_or_default();
        let row = part.arms.documents.get(arm).and_then(|document| row(document, &operation.name));
        let is_open = row.is_some_and(|row| row.outcome == document::Outcome::Ok);
        let found = if is_open { added(&pairs, compared) } else { Err(why(row)) };
        OperationCost {
            operation: operation.name.clone(),
            added: found.as_ref().ok().copied(),
            why: found.err(),
        }
    };
    plan.rows.iter().enumerate().map(of).collect()
}

/// What the measurements say of themselves.
fn warnings(parts: &[Part]) -> Vec<String> {
    let remarks = parts.iter().flat_map(|part| part.words.iter().zip(&part.arms.remarks));
    let mut out: Vec<String> = remarks
        .flat_map(|(word, all)| all.iter().map(move |one| format!("{}: {one}", word.layer.name)))
        .collect();
    let turns = parts
        .iter()
        .flat_map(|part| part.arms.turns.iter().map(move |turns| part.arms.pairs(turns, BASE, AGAIN).len()));
    if let Some(least) = turns.min().filter(|least| *least < NEEDED) {
        out.push(format!(
            "the machine was busy, or the budget is small: some call has {least} quiet turns of the {NEEDED} that make a steady figure (a greater \
             --budget has more)"
        ));
    }
    out
}
