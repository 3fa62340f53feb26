//! A noisy minute of a real machine, played again: what the statistics make of it is what its own long quiet stretches show.
//!
//! `noisy-minute.tape` was recorded by crates/places/examples/record.rs in a virtual machine on Sapphire Rapids whose sibling
//! hyperthreads belong to other guests: seven rows in turn on both CPUs, of whose blocks about a third is quiet.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use simulator::Tape;
use stats::{Figures, Levels, Reference, Round, Scale, Tabulated, Vouch, figures, tabulate};
use std::collections::BTreeMap;

/// The recorded processor's own width.
const WIDTH: f64 = 5.0;

/// A stretch so long is quiet beyond doubt, away from its ends by so many blocks.
const LONG: usize = 24;
const ENDS: usize = 8;

/// Entry and operation, as in `entries.toml`: none of them varies with its placement in memory, and all cost enough that one
/// percent is more than the differences between processes.
const STEADY: [(u16, u16, &str); 4] = [
    (2, 1, "syscall-x86_64 none"),
    (6, 4, "vdso-x86_64 clock_gettime-monotonic"),
    (8, 2, "int80-i386 getppid"),
    (9, 2, "sysenter-i386 getppid"),
];

type Row = (u16, u16);

/// The tape's rounds by row, and each probe's reference.
struct Played {
    rows: BTreeMap<Row, Vec<Round>>,
    references: BTreeMap<u64, Reference>,
}

fn play(vouch: Vouch, wanted: impl Fn(&Round) -> bool) -> Played {
    let tape = Tape::read(include_bytes!("noisy-minute.tape")).unwrap();
    let mut rows = BTreeMap::<Row, Vec<Round>>::new();
    for run in &tape.runs {
        let round = Round::reduce(&run.records, run.at.as_secs_f64()).unwrap();
        assert_eq!(round.cpu, usize::from(run.cpu));
        if wanted(&round) {
            rows.entry((run.entry, run.operation)).or_default().push(round);
        }
    }
    let mut by_bits = BTreeMap::<u64, Vec<&Round>>::new();
    rows.values().flatten().for_each(|round| by_bits.entry(round.lengths.bits).or_default().push(round));
    let reference = |(bits, rounds): (u64, Vec<&Round>)| Some((bits, Reference::of(&rounds, vouch)?));
    let references = by_bits.into_iter().filter_map(reference).collect();
    Played { rows, references }
}

impl Played {
    fn reference(&self, round: &Round) -> &Reference {
        &self.references[&round.lengths.bits]
    }

    fn tabulated(&self, row: Row) -> Tabulated {
        let rounds: Vec<&Round> = self.rows.values().flatten().collect();
        let clock = self.reference(rounds[0]).cycles_per_tick(rounds[0].marks[0].imul);
        let interrupts = stats::Interrupts::of(rounds.iter().copied(), clock);
        tabulate(&self.rows[&row], |round| Some(self.reference(round)), interrupts.as_ref())
    }

    fn figures(&self, row: Row) -> Figures {
        let tabulated = self.tabulated(row);
        let step = self.references.values().map(|reference| reference.step).fold(f64::INFINITY, f64::min);
        let clock_error = self.references.values().map(|reference| reference.chain_error).fold(0.0, f64::max);
        let scale = Scale { nanos_per_tick: None, cycles: true, clock_error, step };
        figures(&tabulated.lines, &tabulated.cycles, &tabulated.ticks, &scale, &Levels::NONE)
    }

    /// The median cost of the blocks in the middle of long stretches in which no canary is more than 5 % slower than the
    /// fastest: not by the rule that is tested.
    fn truth(&self, row: Row) -> f64 {
        let mut costs = Vec::new();
        for round in &self.rows[&row] {
            let reference = self.reference(round);
            let quiet: Vec<bool> =
                reference.rates(round).iter().map(|rate| *rate >= reference.alone / 1.05).collect();
            let both = |block: usize| quiet[block] && quiet[block + 1];
            let blocks: Vec<usize> = (0..round.blocks.len()).filter(|block| both(*block)).collect();
            for stretch in blocks.chunk_by(|a, b| a + 1 == *b).filter(|stretch| stretch.len() >= LONG) {
                let middle = stretch[ENDS..stretch.len() - ENDS].iter().map(|block| &round.blocks[*block]);
                costs.extend(middle.filter_map(|block| {
                    Some(block.cost()? * reference.cycles_per_tick(block.chain / block.sound as f64))
                }));
            }
        }
        assert!(costs.len() >= 50, "{row:?}: only {} blocks in long quiet stretches", costs.len());
        stats::quantile_of(costs.into_iter(), 0.5).unwrap()
    }
}

#[test]
fn a_noisy_minute_gives_the_figures_of_its_quiet_stretches() {
    let played = play(Vouch::Width(WIDTH), |_| true);
    for (entry, operation, name) in STEADY {
        let row = (entry, operation);
        let (figures, truth) = (played.figures(row), played.truth(row));
        let cost = figures.core_cycles.unwrap();
        let off = 100.0 * (cost.estimate.0 / truth - 1.0);
        println!("{name}: {:.2}, off by {off:+.2} % of {truth:.2}", cost.estimate.0);
        assert!(off.abs() < 1.0, "{name}: {:.2} instead of {truth:.2}", cost.estimate.0);
        let (low, high) = (cost.ci_low.unwrap().0, cost.ci_high.unwrap().0);
        assert!(
            (low / truth - 1.0).abs() < 0.02 && (high / truth - 1.0).abs() < 0.02,
            "{name}: {low} to {high}"
        );
    }
    for row in played.rows.keys() {
        assert!(played.figures(*row).core_cycles.is_some(), "{row:?} has no estimate");
    }
}

#[test]
fn what_was_shared_is_left_out_and_is_most_of_the_minute() {
    let played = play(Vouch::Width(WIDTH), |_| true);
    let counts = played.rows.keys().map(|row| played.tabulated(*row).counts);
    let counts = counts.fold(stats::Counts::default(), |sum, counts| sum + counts);
    let share = counts.kept_blocks as f64 / counts.blocks as f64;
    println!(
        "{} of {} rounds, {} of {} blocks are kept",
        counts.kept_rounds, counts.rounds, counts.kept_blocks, counts.blocks
    );
    assert!((0.05..0.5).contains(&share), "{share}");
    for round in played.rows.values().flatten() {
        let reference = played.reference(round);
        for block in reference.judge(round).unwrap_or_default() {
            let (before, after) = round.around(block).unwrap();
            assert_eq!((before.cpu, before.preemptions), (after.cpu, after.preemptions));
        }
    }
}

/// The rounds that the rule keeps nothing of, alone: they were shared throughout, and their fastest canaries would make a
/// reference of their own.
#[test]
fn without_its_quiet_stretches_the_minute_has_no_figures() {
    let whole = play(Vouch::Width(WIDTH), |_| true);
    let shared = play(Vouch::Width(WIDTH), |round| {
        let reference = whole.reference(round);
        reference.rates(round).iter().all(|rate| *rate * 1.3 < reference.alone)
    });
    let rounds = shared.rows.values().flatten().count();
    assert!(rounds >= 20, "only {rounds} rounds were shared throughout");
    for row in shared.rows.keys() {
        assert_eq!(shared.figures(*row).core_cycles, None, "{row:?}");
    }
}

/// The rule that the blocks replaced: whole rounds, by the median of their canaries, within 2 % of the 90th percentile of
/// all rounds. On this minute it is wrong, or has nothing to say; else the tape would prove nothing.
#[test]
fn the_rule_of_whole_rounds_fails_on_it() {
    let played = play(Vouch::Width(WIDTH), |_| true);
    let mut failed = Vec::new();
    for (entry, operation, name) in STEADY {
        let row = (entry, operation);
        let (lines, truth) = (played.tabulated(row).lines, played.truth(row));
        let bits = played.rows[&row][0].lengths.bits;
        let of_probe = played.rows.iter().filter(|(_, rounds)| rounds[0].lengths.bits == bits);
        let canaries = of_probe.flat_map(|(other, _)| played.tabulated(*other).lines.canary);
        let best = stats::quantile_of(canaries, 0.9).unwrap();
        let rounds = &played.rows[&row];
        let costs: Vec<f64> = (0..lines.len())
            .filter(|index| (lines.canary[*index] / best - 1.0).abs() <= 0.02)
            .filter_map(|index| whole(played.reference(&rounds[index]), &rounds[index]))
            .collect();
        let kept = costs.len();
        let off = stats::quantile_of(costs.into_iter(), 0.5).map(|cost| 100.0 * (cost / truth - 1.0));
        println!("{name}: {kept} of {} rounds kept, off by {off:?} %", lines.len());
        // It gave no interval where it left out more than half.
        if kept * 2 < lines.len() || off.is_none_or(|off| off.abs() > 1.0) {
            failed.push(name);
        }
    }
    assert_eq!(failed.len(), STEADY.len(), "it holds for all but {failed:?}");
}

/// A round's mean over all its blocks, in core cycles.
fn whole(reference: &Reference, round: &Round) -> Option<f64> {
    let sum = |of: fn(&stats::Block) -> f64| round.blocks.iter().map(of).sum::<f64>();
    let sound = sum(|block| block.sound as f64);
    let cost = sum(|block| block.cost().unwrap_or(0.0) * block.sound as f64) / sound;
    Some(cost * reference.cycles_per_tick(sum(|block| block.chain) / sound)).filter(|cost| cost.is_finite())
}

/// What short runs make of their clock: windows of the minute, each with a few rounds of one probe, against the whole
/// minute. A window in which nothing was alone has no figures, and so needs no clock.
#[test]
fn the_clock_of_a_short_run_is_as_sure_as_it_says() {
    let whole = play(Vouch::Width(WIDTH), |_| true);
    let (mut windows, mut missed, mut off) = (0, Vec::new(), Vec::new());
    for (bits, long) in &whole.references {
        let rounds = whole.rows.values().flatten().filter(|round| round.lengths.bits == *bits);
        let mut rounds: Vec<&Round> = rounds.collect();
        rounds.sort_by(|a, b| a.at.total_cmp(&b.at));
        for length in [8, 12, 16, 24, 32] {
            for window in rounds.windows(length).step_by(length / 2) {
                let Some(short) = Reference::of(window, Vouch::Width(WIDTH)) else { continue };
                if !short.vouched {
                    continue;
                }
                let error = short.chain / long.chain - 1.0;
                println!(
                    "{bits} bits, {length} rounds: off by {:+.2} %, known to {:.2} %",
                    100.0 * error,
                    100.0 * short.chain_error
                );
                windows += 1;
                off.push(error);
                if error.abs() > 1.96 * short.chain_error.hypot(long.chain_error) {
                    missed.push(format!(
                        "{bits} bits, {length} rounds: {error:+.4} ± {:.4}",
                        short.chain_error
                    ));
                }
            }
        }
    }
    let bias = stats::quantile_of(off.iter().copied(), 0.5).unwrap();
    println!("{windows} windows, {} missed, median {:+.3} %", missed.len(), 100.0 * bias);
    assert!(windows >= 100, "only {windows} windows");
    // Of 100, 95 should be right; windows overlap, so that a miss seldom comes alone.
    assert!(missed.len() * 10 <= windows, "{} of {windows}: {missed:#?}", missed.len());
    assert!(bias.abs() < 0.002, "{bias}");
}
