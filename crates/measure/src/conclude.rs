//! From the rounds of all rows to the document.

use crate::earlier::{Alone, Earlier};
use crate::probes::Probes;
use crate::row::Row;
use crate::width;
use document::{Counter, CpuUse, Document, Export, Measurement, Outcome, Place, Recomputed, Samples};
use environment::{CoreType, Environment};
use stats::{Counts, Interrupts, Reference, Round, Vouch, tabulate};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;
use table::Table;

/// CPUID signatures of hypervisors that are emulators.
const EMULATORS: [&str; 1] = ["TCGTCGTCGTCG"];

/// On a processor an imul takes three times as long as a xor. A ratio up to this one is an emulator's, which takes about
/// the same time for every instruction.
const EMULATED_CHAIN: f64 = 2.0;

/// What is known of a measurement besides its rows and its machine.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Where the rounds come from.
    pub place: Place,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// How long it took.
    pub seconds: f64,
    /// How long it was allowed to take.
    pub budget: Duration,
    /// Whether it had to keep to that, even if rows lacked rounds.
    pub strict_budget: bool,
    /// The seed of the order.
    pub seed: u64,
    /// Whether the user ended it.
    pub interrupted: bool,
    /// What ended the guest before its plan was done.
    pub ended: Option<String>,
    /// Whether that was for want of time.
    pub out_of_time: bool,
    /// Whether the probes had real-time priority.
    pub realtime: bool,
    /// Why they had none, although it was asked for.
    pub realtime_refused: Option<String>,
    /// Ticks of the counter in a second.
    pub tsc_hz: Option<f64>,
    /// The CPUs, and their kinds.
    pub cores: BTreeMap<usize, CoreType>,
    /// What earlier runs found.
    pub earlier: Earlier,
    /// What changed on the machine during the run, in words.
    pub changes: Vec<String>,
    /// The command that the probes ran under; none if they ran as they are.
    pub command: Option<String>,
    /// The probes.
    pub probes: Probes,
}

/// What rounds are judged by: one reference for each bitness, whose chains and canaries are encoded differently, and each kind
/// of core, whose width differs. The probe of the C library runs the code of the 64-bit one, and has too few rounds of its own
/// to know the clock by them where the counter is coarse.
pub type References = BTreeMap<(u8, CoreType), Reference>;

/// The document of a measurement that is over. What follows from its rounds alone, [`Document::compute`] computes, as when
/// [`recompute`] asks for it; the findings come last, when each row is finished.
pub fn conclude(
    rows: &[Row],
    facts: Facts,
    environment: Environment,
    vdso: BTreeMap<String, Vec<Export>>,
) -> Document {
    let references = of_facts(rows, &facts, &environment);
    conclude_by(rows, &references, facts, environment, vdso)
}

/// A measurement that is over, before it is judged.
pub struct Measured<'r, 'a> {
    /// Its rows, with their rounds.
    pub rows: &'r [Row<'a>],
    /// What else is known of it.
    pub facts: Facts,
    /// What its vDSO images export, by bitness.
    pub vdso: BTreeMap<String, Vec<Export>>,
}

/// The documents of several measurements whose rounds were taken side by side. All rounds are judged by the same references, so that
/// no judgement makes a difference; but a measurement whose times are not a processor's has its own.
pub fn conclude_together(measurements: Vec<Measured>, environment: &Environment) -> Vec<Document> {
    let own = measurements.iter().map(|measured| of_facts(measured.rows, &measured.facts, environment));
    let own: Vec<References> = own.collect();
    let is_real = |references: &References| times(environment, references) == Times::Real;
    let real = measurements.iter().zip(&own).filter(|(_, own)| is_real(own));
    let rows = real.flat_map(|(measured, _)| measured.rows);
    let together = measurements.first().map(|first| of_facts(rows, &first.facts, environment));
    let together = together.unwrap_or_default();
    let each = measurements.into_iter().zip(&own);
    each.map(|(Measured { rows, facts, vdso }, own)| {
        let references = if is_real(own) { &together } else { own };
        conclude_by(rows, references, facts, environment.clone(), vdso)
    })
    .collect()
}

/// The references of rounds, by what is known of the processor.
fn of_facts<'r, 'a: 'r>(
    rows: impl IntoIterator<Item = &'r Row<'a>>,
    facts: &Facts,
    environment: &Environment,
) -> References {
    references(
        rows,
        &|core| width::vouch(environment, core),
        &|round| core_of(round, facts),
        &facts.earlier.alone,
    )
}

/// The kind of core that a round was taken on.
fn core_of(round: &Round, facts: &Facts) -> CoreType {
    facts.cores.get(&round.cpu).copied().unwrap_or(CoreType::Uniform)
}

/// The document of rounds that are judged by these references.
fn conclude_by(
    rows: &[Row],
    references: &References,
    facts: Facts,
    environment: Environment,
    vdso: BTreeMap<String, Vec<Export>>,
) -> Document {
    let times = times(&environment, references);
    let judged = Judged::of(rows, references, &|round| core_of(round, &facts), &facts, times);
    let earlier = facts.earlier.runs.clone();
    let measurement = measurement(&judged, references, facts);
    let mut document = Document {
        schema: document::SCHEMA.to_string(),
        id: Some(id()),
        results: as_booted(judged.rows, &environment),
        measurement,
        environment,
        vdso,
        findings: Vec::new(),
    };
    document.know(&earlier);
    let mut samples = judged.samples.into_iter();
    let Ok(()) = document.compute::<Infallible>(|_| Ok(samples.next().flatten()));
    with_findings(document)
}

/// Rows with causes that are true of a kernel with these parameters: some name a parameter that may have been given.
fn as_booted(mut rows: Vec<document::Row>, environment: &Environment) -> Vec<document::Row> {
    for row in &mut rows {
        let entry = Table::get().entry(&row.entry);
        let causes = entry.iter().flat_map(|entry| entry.closed.values());
        let is_it = |closed: &&table::Closed| row.reason.as_ref() == Some(&closed.why);
        let given = causes.filter(is_it).find_map(|closed| closed.given.as_ref());
        if let Some(given) = given.filter(|given| environment.kernel.is_given(&given.parameter)) {
            row.reason = Some(given.why.clone());
        }
    }
    rows
}

/// A saved document with the figures and the findings that its rounds and its facts have, whatever it says.
///
/// # Errors
/// [`Recomputed`] where the document does not keep what that takes.
pub fn recompute(document: &Document) -> Result<Document, Recomputed> {
    document::recompute(document).map(with_findings)
}

pub(crate) fn with_findings(mut document: Document) -> Document {
    document.findings = findings::findings(&document, Table::get());
    document
}

/// The references of all rounds of these rows. `vouch` says what vouches for a kind of core, and `core` of which kind a round's is.
pub fn references<'r, 'a: 'r>(
    rows: impl IntoIterator<Item = &'r Row<'a>>,
    vouch: &dyn Fn(CoreType) -> Vouch,
    core: &dyn Fn(&Round) -> CoreType,
    alone: &Alone,
) -> References {
    let mut rounds = BTreeMap::<(u8, CoreType), Vec<&Round>>::new();
    for row in rows {
        for round in &row.rounds {
            rounds.entry((row.row.0.bits(), core(round))).or_default().push(round);
        }
    }
    let reference = |((bits, core), rounds): ((u8, CoreType), Vec<&Round>)| {
        Some(((bits, core), Reference::of(&rounds, vouch(core))?))
    };
    let own = in_common(rounds.into_iter().filter_map(reference).collect());
    let beside = |((bits, core), reference): ((u8, CoreType), Reference)| {
        let others = alone.get(&core).copied().unwrap_or(0.0);
        ((bits, core), reference.beside(others))
    };
    own.into_iter().map(beside).collect()
}

/// What the probes of one bitness found on a kind of core holds for the others: all have the same canary, and one of them may
/// have run in company all the time.
fn in_common(own: References) -> References {
    let best = |core: CoreType| {
        let of_core = own.iter().filter(|((_, other), _)| *other == core);
        of_core.map(|(_, reference)| reference.alone).fold(0.0, f64::max)
    };
    own.iter().map(|(key, reference)| (*key, reference.beside(best(key.1)))).collect()
}

/// Whether times mean anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    /// They are the processor's.
    Real,
    /// They are an emulator's.
    Emulated,
    /// Readings of the counter do not wait for what they are to measure.
    Unordered,
}

/// An emulator is told by its signature or its behaviour, and a fence that does not order by measurement.
fn times(environment: &Environment, references: &References) -> Times {
    let is_emulated =
        |reference: &Reference| reference.chain_ratio.is_some_and(|ratio| ratio <= EMULATED_CHAIN);
    let is_unordered = |reference: &Reference| {
        reference.order.is_some_and(|part| (part - 1.0).abs() > stats::ORDER_TOLERANCE)
    };
    if references.values().any(is_unordered) && emulator(environment).is_none() {
        Times::Unordered
    } else if emulator(environment).is_some() || references.values().any(is_emulated) {
        Times::Emulated
    } else {
        Times::Real
    }
}

/// The emulator that this machine says it is, if it is one.
pub(crate) fn emulator(environment: &Environment) -> Option<&'static str> {
    let signatures = [&environment.hypervisor.signature, &environment.hypervisor.second_signature];
    EMULATORS.into_iter().find(|known| signatures.iter().any(|found| found.as_deref() == Some(*known)))
}

/// All rows with their rounds, not yet with figures of these.
struct Judged {
    rows: Vec<document::Row>,
    /// Of each row, if it was timed.
    samples: Vec<Option<Samples>>,
    cycles: bool,
    quiet_share: Option<f64>,
    cpus: Vec<CpuUse>,
}

impl Judged {
    fn of(
        rows: &[Row],
        references: &References,
        core: &dyn Fn(&Round) -> CoreType,
        facts: &Facts,
        times: Times,
    ) -> Judged {
        let all = || rows.iter().flat_map(|row| &row.rounds);
        let cycles = !references.is_empty()
            && references.values().all(|reference| reference.chain_holds() && reference.clocks_agree());
        let clock = references.values().next().zip(all().next());
        let clock =
            clock.and_then(|(reference, round)| Some(reference.cycles_per_tick(round.marks.first()?.imul)));
        let interrupts = clock.and_then(|clock| Interrupts::of(all(), clock));
        let mut out = Vec::new();
        let mut samples = Vec::new();
        for row in rows.iter().filter(|row| row.was_tried()) {
            let (mut result, mut singles) = (row.without_figures(), None);
            if times == Times::Emulated {
                result.timing = document::Timing::Emulated;
            }
            if result.outcome == Outcome::Ok {
                match row.counter {
                    Counter::Instructions => count(row, &mut result),
                    Counter::Time if times == Times::Real => {
                        let reference = |round: &Round| references.get(&(row.row.0.bits(), core(round)));
                        singles = Some(judge(row, &mut result, reference, interrupts.as_ref()));
                    }
                    Counter::Time => {}
                }
            }
            out.push(result);
            samples.push(singles);
        }
        let cpus = cpus(rows, &out, references, core, facts);
        let canaries = cpus.iter().map(|cpu| (cpu.quiet_share * cpu.rounds as f64, cpu.rounds as f64));
        let sum = canaries.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let real = times == Times::Real;
        let quiet_share = (sum.1 > 0.0 && real).then(|| sum.0 / sum.1);
        Judged { rows: out, samples, cycles: cycles && real, quiet_share, cpus }
    }
}

fn count(row: &Row, result: &mut document::Row) {
    let samples = row.counted.len() as u64;
    result.instructions = stats::instructions(&row.counted);
    result.counts = Counts { rounds: 1, kept_rounds: 1, samples, kept_samples: samples, ..Counts::default() };
}

fn judge<'a>(
    row: &Row,
    result: &mut document::Row,
    reference: impl Fn(&Round) -> Option<&'a Reference>,
    interrupts: Option<&Interrupts>,
) -> Samples {
    let tabulated = tabulate(&row.rounds, reference, interrupts);
    result.counts = tabulated.counts;
    result.rounds = tabulated.lines;
    let stored =
        |distribution: &stats::Distribution| (!distribution.is_empty()).then(|| distribution.store());
    result.distribution_cycles = stored(&tabulated.cycles);
    result.distribution_ticks = stored(&tabulated.ticks);
    Samples { cycles: tabulated.cycles, ticks: tabulated.ticks }
}

fn cpus(
    rows: &[Row],
    results: &[document::Row],
    references: &References,
    core: &dyn Fn(&Round) -> CoreType,
    facts: &Facts,
) -> Vec<CpuUse> {
    let mut cpus = BTreeMap::<usize, (CpuUse, f64, f64)>::new();
    for row in rows {
        for round in &row.rounds {
            let Some(reference) = references.get(&(row.row.0.bits(), core(round))) else { continue };
            let (used, quiet, all) = cpus.entry(round.cpu).or_default();
            let rates = reference.rates(round);
            *quiet += rates.iter().filter(|rate| reference.is_quiet(**rate)).count() as f64;
            *all += rates.len() as f64;
            used.rounds += 1;
            used.canary.insert(row.row.0.bits().to_string(), reference.seen);
            used.vouched_by = vouched_by(reference);
        }
    }
    for row in results {
        for (cpu, _) in
            row.rounds.cpu.iter().zip(&row.rounds.excluded).filter(|(_, excluded)| excluded.is_none())
        {
            if let Some((used, ..)) = cpus.get_mut(cpu) {
                used.kept_rounds += 1;
            }
        }
    }
    let finish = |(cpu, (used, quiet, all)): (usize, (CpuUse, f64, f64))| CpuUse {
        cpu,
        core: facts.cores.get(&cpu).copied().unwrap_or(CoreType::Uniform).name().into(),
        quiet_share: if all > 0.0 { quiet / all } else { 0.0 },
        ..used
    };
    cpus.into_iter().map(finish).collect()
}

fn vouched_by(reference: &Reference) -> String {
    match (reference.vouched, reference.vouch) {
        (true, Vouch::Width(_)) => "known-width",
        (true, Vouch::NoSibling) => "no-sibling",
        (false, _) | (true, Vouch::Nothing) => CpuUse::NOTHING,
    }
    .into()
}

fn measurement(judged: &Judged, references: &References, facts: Facts) -> Measurement {
    let lines = || judged.rows.iter().map(|row| &row.rounds);
    let each = || lines().flat_map(|lines| lines.cycles_per_tick.iter().zip(&lines.excluded));
    let any_kept = each().any(|(_, excluded)| excluded.is_none());
    // Company does not slow a chain down: where no round was kept, all of them tell the clock, and ranges are in cycles too.
    let clocks = || each().filter(|(_, excluded)| !any_kept || excluded.is_none()).map(|(clock, _)| *clock);
    let [low, middle, high] =
        [0.05, 0.5, 0.95].map(|q| stats::quantile_of(clocks(), q).filter(|_| judged.cycles));
    let ratio = |((bits, _), reference): (&(u8, CoreType), &Reference)| {
        Some((bits.to_string(), reference.chain_ratio?))
    };
    let step = references.values().map(|reference| reference.step).min_by(f64::total_cmp);
    Measurement {
        kentry: facts.probes.kentry,
        compiler: facts.probes.compiler,
        probes: facts.probes.hashes,
        command: facts.command,
        arm: None,
        place: facts.place,
        started: facts.started,
        seconds: facts.seconds,
        budget_seconds: facts.budget.as_secs_f64(),
        strict_budget: facts.strict_budget,
        cpus: judged.cpus.clone(),
        seed: facts.seed,
        partial: facts.interrupted || facts.ended.is_some(),
        ended: facts.ended,
        out_of_time: facts.out_of_time,
        realtime: facts.realtime,
        realtime_refused: facts.realtime_refused,
        tsc_hz: facts.tsc_hz,
        tsc_step: step,
        cycles_per_tick: middle,
        cycles_per_tick_range: low.zip(high).map(|(low, high)| [low, high]),
        clock_error: clock_error(references),
        chain_ratio: references.iter().filter_map(ratio).collect(),
        lfence_order: references.values().filter_map(|reference| reference.order).max_by(f64::total_cmp),
        counts: judged.rows.iter().fold(Counts::default(), |sum, row| sum + row.counts),
        quiet_share: judged.quiet_share,
        changes: facts.changes,
    }
}

fn clock_error(references: &References) -> Option<f64> {
    references.values().map(|reference| reference.chain_error).max_by(f64::total_cmp)
}

/// A time as documents have it.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// 128 random bits; where the system has none, time and process id, which also differ from run to run.
pub(crate) fn id() -> String {
    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        bytes = (now.as_nanos() ^ u128::from(std::process::id()) << 96).to_le_bytes();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simulator::{Machine, Model, Subject};

    #[test]
    fn a_probe_that_was_hardly_ever_alone_is_judged_by_what_the_other_found() {
        let records =
            Machine::new(1, Model::default()).run(0, &Subject::from(305.0), &simulator::request(16, 4));
        let round = Round::reduce(&records, 0.0).unwrap();
        let reference = Reference::of(&[&round], Vouch::Width(5.0)).unwrap();
        let judged_by = |alone: f64, other: f64, core: CoreType| {
            let of = |alone| reference.with_alone(alone, reference.vouch);
            let own = [((32, CoreType::Uniform), of(alone)), ((64, core), of(other))];
            in_common(own.into())[&(32, CoreType::Uniform)].alone
        };
        assert_eq!(judged_by(4.38, 4.58, CoreType::Uniform), 4.58);
        assert_eq!(judged_by(4.58, 4.38, CoreType::Uniform), 4.58);
        assert_eq!(judged_by(4.38, 4.58, CoreType::Efficient), 4.38, "another kind of core");
        assert_eq!(judged_by(3.0, 4.58, CoreType::Uniform), 3.0, "another reason");
    }

    #[test]
    fn a_cause_named_a_parameter_that_was_given() {
        let why = |line: &str| {
            let mut environment = Environment::default();
            environment.kernel.command_line = Some(line.into());
            let closed = &Table::get().entry("syscall-x32").unwrap().closed["ENOSYS"];
            let row = document::Row {
                reason: Some(closed.why.clone()),
                ..document::Row::unmeasured("syscall-x32", "getppid", 64)
            };
            as_booted(vec![row], &environment).remove(0).reason.unwrap()
        };
        for line in ["quiet syscall.x32=y", "syscall.x32=n syscall.x32=1"] {
            assert!(why(line).contains("although syscall.x32=y was given"), "{line}: {}", why(line));
        }
        for line in ["quiet", "syscall.x32=y syscall.x32=n", "init=/bin/sh -- syscall.x32=y"] {
            assert!(why(line).contains("booted without syscall.x32=y"), "{line}: {}", why(line));
        }
    }

    #[test]
    fn ids_differ() {
        assert_ne!(id(), id());
        assert_eq!(id().len(), 32);
    }
}
