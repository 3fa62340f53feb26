//! What other rules for quiet blocks would make of recorded minutes: the evidence of docs/adr/0008-quiet-blocks.md.
//!
//!     cargo run --release -p stats --example rules -- TAPE...
//!
//! The truth of a row on a CPU is the median cost over blocks in the middle of long quiet stretches of all tapes together.
#![allow(clippy::unwrap_used)] // a developer's tool: what fails, fails loudly

use record::{Payload, abi};
use simulator::Tape;
use stats::{Reference, Round, Vouch, quantile_of};
use std::collections::BTreeMap;

/// Of the processor that the tapes are from: Sapphire Rapids.
const WIDTH: Vouch = Vouch::NoSibling;

/// A long stretch has so many blocks; so many at its ends are not its middle.
const LONG: usize = 24;
const ENDS: usize = 8;

/// Entry, operation, CPU. Those that cost 50 to 1000 cycles are looked at: cheaper ones vary by more than 1 % between
/// processes, dearer ones with their placement.
type Row = (u16, u16, usize);

/// One block: whether it is quiet, and what it costs in core cycles.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// The slower of the canaries around it, as a part of the reference.
    rate: f64,
    cost: f64,
    /// Core cycles from its first canary to its last.
    cycles: f64,
}

struct Recorded {
    row: Row,
    /// Where the process had its canary.
    place: Option<u64>,
    /// Nots in a cycle, by its quiet canaries.
    canaries: Vec<f64>,
    tape: usize,
    blocks: Vec<Block>,
}

fn main() {
    let mut recorded = Vec::new();
    for (number, file) in std::env::args().skip(1).enumerate() {
        let tape = Tape::read(&std::fs::read(&file).unwrap()).unwrap();
        let of_tape = play(&tape, number);
        let blocks = of_tape.iter().flat_map(|round| &round.blocks);
        let quiet = blocks.clone().filter(|block| block.rate >= 1.0 / 1.10).count() as f64;
        println!(
            "{file}: {} rounds, {:.0} % of the blocks quiet",
            of_tape.len(),
            100.0 * quiet / blocks.count() as f64
        );
        recorded.extend(of_tape);
    }
    let truth = truth(&recorded);
    for (row, cost) in &truth {
        println!("truth of {row:?}: {cost:.2} core cycles");
    }
    places(&recorded);
    around_a_change(&recorded, &truth);
    rules(&recorded, &truth);
}

/// The rounds of a tape, each probe by a reference of its own.
fn play(tape: &Tape, number: usize) -> Vec<Recorded> {
    let mut by_bits = BTreeMap::<u64, Vec<(Row, Option<u64>, Round)>>::new();
    for run in &tape.runs {
        let Ok(round) = Round::reduce(&run.records, run.at.as_secs_f64()) else { continue };
        let row = (run.entry, run.operation, usize::from(run.cpu));
        let place = run.records.iter().find_map(|record| match record.payload {
            Payload::Fact { fact: abi::FACT_CANARY, value } => Some(value),
            _ => None,
        });
        by_bits.entry(round.lengths.bits).or_default().push((row, place, round));
    }
    let mut out = Vec::new();
    for rounds in by_bits.into_values() {
        let all: Vec<&Round> = rounds.iter().map(|(.., round)| round).collect();
        let reference = Reference::of(&all, WIDTH).unwrap();
        assert!(reference.vouched, "tape {number}: the core was never alone");
        for (row, place, round) in &rounds {
            let rates = reference.rates(round).into_iter();
            let canaries = rates.filter(|rate| reference.is_quiet(*rate)).collect();
            let blocks = blocks(round, &reference);
            out.push(Recorded { row: *row, place: *place, canaries, tape: number, blocks });
        }
    }
    out
}

/// Whether it matters where a canary's code stands: the quiet canaries of each place.
fn places(recorded: &[Recorded]) {
    let mut places = BTreeMap::<u64, Vec<f64>>::new();
    for round in recorded {
        places.entry(round.place.unwrap_or(0)).or_default().extend(&round.canaries);
    }
    println!("place of the canary: how many were quiet, nots in a cycle (10th percentile, median, 90th)");
    for (place, rates) in places {
        let at = |q| quantile_of(rates.iter().copied(), q).unwrap_or(f64::NAN);
        println!("  {place:3} {:8} {:.3} {:.3} {:.3}", rates.len(), at(0.1), at(0.5), at(0.9));
    }
}

fn blocks(round: &Round, reference: &Reference) -> Vec<Block> {
    let rates = reference.rates(round);
    let of = |(index, block): (usize, &stats::Block)| {
        let (before, after) = round.around(index)?;
        let stayed = before.cpu == after.cpu && before.preemptions == after.preemptions;
        let rate = rates.get(index)?.min(*rates.get(index + 1)?) / reference.alone;
        let clock = reference.cycles_per_tick(block.chain / block.sound as f64);
        let cycles = after.at.saturating_sub(before.at) as f64 * clock;
        Some(Block { rate: if stayed { rate } else { 0.0 }, cost: block.cost()? * clock, cycles })
    };
    round.blocks.iter().enumerate().filter_map(of).collect()
}

/// Stretches of neighbouring blocks for which this holds, by their places.
fn stretches(blocks: &[Block], holds: impl Fn(&Block) -> bool) -> Vec<Vec<usize>> {
    let places: Vec<usize> = (0..blocks.len()).filter(|index| holds(&blocks[*index])).collect();
    places.chunk_by(|a, b| a + 1 == *b).map(<[usize]>::to_vec).collect()
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    quantile_of(values, 0.5)
}

fn truth(recorded: &[Recorded]) -> BTreeMap<Row, f64> {
    let mut costs = BTreeMap::<Row, Vec<f64>>::new();
    for round in recorded {
        for stretch in stretches(&round.blocks, |block| block.rate >= 1.0 / 1.10) {
            if stretch.len() >= LONG {
                let middle = &stretch[ENDS..stretch.len() - ENDS];
                costs
                    .entry(round.row)
                    .or_default()
                    .extend(middle.iter().map(|index| round.blocks[*index].cost));
            }
        }
    }
    costs
        .into_iter()
        .filter(|(_, costs)| costs.len() >= 50)
        .map(|(row, costs)| (row, median(costs.into_iter()).unwrap()))
        .collect()
}

/// By how much blocks are too dear, by their distance from a shared stretch before or after them.
fn around_a_change(recorded: &[Recorded], truth: &BTreeMap<Row, f64>) {
    let (mut after, mut before) = (BTreeMap::<usize, Vec<f64>>::new(), BTreeMap::<usize, Vec<f64>>::new());
    let mut short = BTreeMap::<usize, Vec<f64>>::new();
    for round in recorded
        .iter()
        .filter(|round| truth.get(&round.row).is_some_and(|cost| (50.0..1000.0).contains(cost)))
    {
        let truth = truth[&round.row];
        for stretch in stretches(&round.blocks, |block| block.rate >= 1.0 / 1.10) {
            let off = |index: usize| 100.0 * (round.blocks[index].cost / truth - 1.0);
            let begins = stretch.first() != Some(&0);
            let ends = stretch.last() != Some(&(round.blocks.len() - 1));
            if begins && stretch.len() > 1 {
                stretch.iter().take(12).enumerate().for_each(|(place, index)| {
                    // The last block before a shared stretch is another matter.
                    if place + 1 < stretch.len() {
                        after.entry(place).or_default().push(off(*index));
                    }
                });
            }
            if ends && stretch.len() > 8 {
                stretch
                    .iter()
                    .rev()
                    .take(6)
                    .enumerate()
                    .for_each(|(place, index)| before.entry(place).or_default().push(off(*index)));
            }
            if begins && ends && stretch.len() > 2 {
                let inner = &stretch[2..];
                let mean = median(inner.iter().map(|index| off(*index))).unwrap();
                short.entry(inner.len().min(16)).or_default().push(mean);
            }
        }
    }
    let show = |name: &str, by_place: BTreeMap<usize, Vec<f64>>| {
        println!(
            "{name}: place, how many, off by % (10th percentile, median, mean without the farthest 5 %, 90th)"
        );
        for (place, off) in by_place {
            let at = |q| quantile_of(off.iter().copied(), q).unwrap();
            let (low, high) = (at(0.025), at(0.975));
            let near: Vec<f64> = off.iter().copied().filter(|value| (low..=high).contains(value)).collect();
            let mean = near.iter().sum::<f64>() / near.len() as f64;
            println!(
                "  {place:3} {:6} {:7.2} {:7.2} {mean:7.2} {:7.2}",
                off.len(),
                at(0.1),
                at(0.5),
                at(0.9)
            );
        }
    };
    show("blocks after a shared stretch", after);
    show("blocks before a shared stretch, counted from it", before);
    show("quiet stretches between shared ones, less two blocks, by the blocks that are left", short);
}

/// Constants in the place of those of `quiet.rs`.
#[derive(Debug, Clone, Copy)]
struct Rule {
    quiet: f64,
    settling: usize,
    least_cycles: f64,
}

impl Rule {
    fn keeps(&self, blocks: &[Block]) -> Vec<usize> {
        let stretches = stretches(blocks, |block| block.rate >= 1.0 / self.quiet);
        let settled = stretches.into_iter().map(|stretch| {
            let settling = if stretch.first() == Some(&0) { 0 } else { self.settling };
            stretch.get(settling..).unwrap_or_default().to_vec()
        });
        let is_long = |stretch: &Vec<usize>| {
            stretch.len() >= 2
                && stretch.iter().map(|index| blocks[*index].cycles).sum::<f64>() >= self.least_cycles
        };
        settled.filter(is_long).flatten().collect()
    }
}

fn rules(recorded: &[Recorded], truth: &BTreeMap<Row, f64>) {
    println!(
        "rule: blocks kept %, rounds kept %, rounds off by more than 1 % and by more than 3 %, in noisy rounds alone (quiet < 50 %): rounds kept %, median off %, 90th percentile; worst row of a tape, % (of how many)"
    );
    for quiet in [1.03, 1.05, 1.07, 1.10, 1.15] {
        for settling in [0, 1, 2, 4] {
            for least_cycles in [2e5, 4e5, 8e5, 16e5] {
                rule(recorded, truth, Rule { quiet, settling, least_cycles });
            }
        }
    }
}

fn rule(recorded: &[Recorded], truth: &BTreeMap<Row, f64>, rule: Rule) {
    let (mut all, mut kept, mut off, mut noisy, mut of_noisy) = (0, 0, Vec::new(), Vec::new(), 0);
    let mut rows = BTreeMap::<(usize, Row), Vec<f64>>::new();
    let mut rounds = 0;
    for round in recorded
        .iter()
        .filter(|round| truth.get(&round.row).is_some_and(|cost| (50.0..1000.0).contains(cost)))
    {
        let places = rule.keeps(&round.blocks);
        rounds += 1;
        all += round.blocks.len();
        kept += places.len();
        let quiet = round.blocks.iter().filter(|block| block.rate >= 1.0 / 1.10).count();
        let is_noisy = quiet * 2 < round.blocks.len();
        of_noisy += usize::from(is_noisy);
        if places.is_empty() {
            continue;
        }
        // Not the mean: interrupts in the entry are for another rule to find.
        let mean = median(places.iter().map(|index| round.blocks[*index].cost)).unwrap();
        let error = 100.0 * (mean / truth[&round.row] - 1.0);
        off.push(error);
        if is_noisy {
            noisy.push(error);
        }
        rows.entry((round.tape, round.row)).or_default().push(error);
    }
    let beyond = |limit: f64| {
        100.0 * off.iter().filter(|error| error.abs() > limit).count() as f64 / off.len().max(1) as f64
    };
    let rows: Vec<f64> = rows
        .into_values()
        .filter(|errors| errors.len() >= stats::LEAST_ROUNDS)
        .filter_map(|errors| median(errors.into_iter()))
        .collect();
    let worst = rows.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(f64::NAN);
    let wrong = rows.iter().filter(|error| error.abs() > 1.0).count();
    let at = |q| quantile_of(noisy.iter().copied(), q).unwrap_or(f64::NAN);
    println!(
        "{:4} {} {:7.0}: {:5.1} {:5.1}   {:5.1} {:5.1}   {:5.1} {:6.2} {:6.2}   {worst:6.2} {wrong}/{}",
        rule.quiet,
        rule.settling,
        rule.least_cycles,
        100.0 * kept as f64 / all as f64,
        100.0 * off.len() as f64 / f64::from(rounds),
        beyond(1.0),
        beyond(3.0),
        100.0 * noisy.len() as f64 / of_noisy.max(1) as f64,
        at(0.5),
        at(0.9),
        rows.len()
    );
}
