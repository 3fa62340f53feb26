//! One probe run, from its records to blocks of samples between marks.

use crate::primitives::{median, sorted};
use record::{Canary, Lengths, Payload, Record, Sample, abi};

/// A sample is left out if its chain differs from its block's median by more than this part: the chain's length is fixed, so
/// there was an interrupt in it, or the core's clock changed.
const CHAIN_SLACK: f64 = 0.05;

/// A sample is also left out if its control took more than so many times the median.
const CONTROL_SLACK: f64 = 2.0;

/// A reading of the counter is wrong by less than a step, so an interval is wrong by less than two.
const STEPS_OF_AN_INTERVAL: f64 = 2.0;

/// A run reports success, but lacks records that every measurement has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the records hold no {0}")]
pub struct Malformed(&'static str);

/// One probe run, reduced but not yet judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// When it began, in seconds of the measurement.
    pub at: f64,
    /// The CPU that it was begun on.
    pub cpu: usize,
    /// Before every block, after the last, and after the bursts.
    pub marks: Vec<Mark>,
    /// The samples.
    pub blocks: Vec<Block>,
    /// Cost of a call in each burst of calls back to back, in ticks.
    pub bursts: Vec<f32>,
    /// What imul chains in a row took.
    pub order: Option<Order>,
    /// The counter's step in ticks, as far as its readings show.
    pub step: f64,
    /// How long the probe's pieces of code are.
    pub lengths: Lengths,
    /// Uses of the entry in a sample, and controls; at least one. Blocks have whole samples, and figures are of a use.
    pub uses: u64,
}

/// Chains in a row, in ticks, including the stamps around them: means over the samples without an interrupt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Order {
    /// Nothing between two stamps.
    pub nothing: f64,
    /// One imul chain.
    pub one: f64,
    /// [`Lengths::chains`] imul chains.
    pub many: f64,
}

impl Order {
    /// How long the chains took, as a part of what so many single ones take: 1 if lfence orders rdtsc. If it does not, the
    /// stamps around a single chain miss most of it, and this is much greater.
    pub fn part(&self, chains: u64) -> f64 {
        let due = (self.one - self.nothing) * chains as f64;
        if due > 0.0 { (self.many - self.nothing) / due } else { f64::INFINITY }
    }
}

/// A canary: the state of the core at one moment. Durations are in ticks and include the stamps around them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// The counter when it began.
    pub at: u64,
    /// Duration of nothing: what two stamps take.
    pub nothing: f64,
    /// Duration of the imul chain.
    pub imul: f64,
    /// Duration of the xor chain.
    pub xor: f64,
    /// Duration of the independent nots.
    pub nots: f64,
    /// The CPU.
    pub cpu: u64,
    /// Involuntary context switches of the process so far.
    pub preemptions: u64,
}

/// Samples taken between two marks. Sums are over those that are not left out, in ticks; a sample may be of several uses.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Samples taken.
    pub taken: usize,
    /// Sum of the chains.
    pub chain: f64,
    /// Sum of the controls.
    pub control: f64,
    /// The least control.
    pub least_control: f64,
    /// Samples that are not left out.
    pub sound: usize,
    /// Sum of their entry intervals.
    pub entry: f64,
    /// The entry intervals, the control not yet subtracted; empty once they are forgotten.
    pub entries: Vec<u32>,
    /// By how much the chains and controls with an interrupt in them were too long.
    pub strikes: Vec<f32>,
}

impl Block {
    /// Mean of entry less control, of a whole sample; none without samples.
    pub fn cost(&self) -> Option<f64> {
        (self.sound > 0).then(|| (self.entry - self.control) / self.sound as f64)
    }
}

impl Round {
    /// Reduces the records of one run, begun so many seconds into the measurement.
    ///
    /// # Errors
    /// [`Malformed`] when the run lacks what every measurement has.
    pub fn reduce(records: &[Record], at: f64) -> Result<Round, Malformed> {
        let parts = Parts::collect(records)?;
        let step = step(&parts);
        let blocks: Vec<Block> = parts.blocks.iter().map(|samples| block(samples, step)).collect();
        let first = parts.canaries.first().ok_or(Malformed("canary"))?;
        if blocks.is_empty() || parts.canaries.len() <= blocks.len() {
            return Err(Malformed("samples between canaries"));
        }
        Ok(Round {
            at,
            cpu: usize::try_from(first.cpu).unwrap_or(usize::MAX),
            marks: parts.canaries.iter().map(mark).collect(),
            blocks,
            bursts: parts.bursts.iter().map(|burst| per_call(burst, parts.lengths.burst)).collect(),
            order: order(&parts.order, step),
            step,
            lengths: parts.lengths,
            uses: parts.uses,
        })
    }

    /// Samples taken.
    pub fn taken(&self) -> usize {
        self.blocks.iter().map(|block| block.taken).sum()
    }

    /// Forgets the single samples of blocks that no judgement will keep.
    pub fn forget(&mut self, is_hopeless: impl Fn(usize) -> bool) {
        let hopeless = self.blocks.iter_mut().enumerate().filter(|(index, _)| is_hopeless(*index));
        hopeless.for_each(|(_, block)| block.entries = Vec::new());
    }

    /// The marks on either side of a block.
    pub fn around(&self, block: usize) -> Option<(&Mark, &Mark)> {
        self.marks.get(block).zip(self.marks.get(block + 1))
    }
}

fn per_call(burst: &Sample, calls: u64) -> f32 {
    ((burst.interval(2) as f64 - burst.interval(0) as f64) / calls as f64) as f32
}

/// What a run's records are made of.
struct Parts<'a> {
    lengths: Lengths,
    canaries: Vec<Canary>,
    blocks: Vec<&'a [Sample]>,
    bursts: Vec<Sample>,
    order: Vec<Sample>,
    uses: u64,
}

impl<'a> Parts<'a> {
    fn collect(records: &'a [Record]) -> Result<Parts<'a>, Malformed> {
        let (mut canaries, mut blocks) = (Vec::new(), Vec::new());
        let (mut bursts, mut order) = (Vec::new(), Vec::new());
        let (mut lengths, mut uses, mut ended) = (None, 1, false);
        for record in records {
            match &record.payload {
                Payload::Begin(value) => lengths = Some(*value),
                Payload::Canary(canary) => canaries.push(*canary),
                Payload::Samples(block) => blocks.push(block.as_slice()),
                Payload::Bursts(block) => bursts.extend(block),
                Payload::Order(block) => order.extend(block),
                Payload::End { .. } => ended = true,
                Payload::Fact { fact: abi::FACT_USES, value } => uses = *value,
                Payload::Outcome(_) | Payload::Fact { .. } | Payload::Export { .. } => {}
                Payload::Loops(_) | Payload::Lab(_) => {}
            }
        }
        let lengths = lengths.filter(|l| ![l.imuls, l.xors, l.nots, l.burst, l.chains].contains(&0));
        if !ended {
            return Err(Malformed("end"));
        }
        if !(1..=abi::MAX_USES).contains(&uses) {
            return Err(Malformed("possible number of uses"));
        }
        Ok(Parts { lengths: lengths.ok_or(Malformed("begin"))?, canaries, blocks, bursts, order, uses })
    }
}

fn mark(canary: &Canary) -> Mark {
    let [start, nothing, imul, xor, nots] = canary.stamps;
    let ticks = |from: u64, to: u64| to.wrapping_sub(from) as f64;
    Mark {
        at: start,
        nothing: ticks(start, nothing),
        imul: ticks(nothing, imul),
        xor: ticks(imul, xor),
        nots: ticks(xor, nots),
        cpu: canary.cpu,
        preemptions: canary.preemptions,
    }
}

/// Sums over the samples without an interrupt in chain or control.
fn block(samples: &[Sample], step: f64) -> Block {
    let interval = |part| sorted(samples.iter().map(|sample| sample.interval(part) as f64).collect());
    let usual = |part| median(&interval(part)).unwrap_or(0.0);
    let (chain, control) = (usual(0), usual(1));
    let slack = STEPS_OF_AN_INTERVAL * step;
    let mut block = Block {
        taken: samples.len(),
        chain: 0.0,
        control: 0.0,
        least_control: f64::INFINITY,
        sound: 0,
        entry: 0.0,
        entries: Vec::with_capacity(samples.len()),
        strikes: Vec::new(),
    };
    for sample in samples {
        let [one, two, three] = [0, 1, 2].map(|part| sample.interval(part) as f64);
        let is_struck =
            (one - chain).abs() > chain * CHAIN_SLACK + slack || two > control * CONTROL_SLACK + slack;
        match u32::try_from(sample.interval(2)) {
            Ok(entry) if !is_struck => {
                block.chain += one;
                block.control += two;
                block.least_control = block.least_control.min(two);
                block.sound += 1;
                block.entry += three;
                block.entries.push(entry);
            }
            _ => block.strikes.push((one - chain).max(two - control).max(three - f64::from(u32::MAX)) as f32),
        }
    }
    block
}

/// The counter's step by all intervals of a run.
fn step(parts: &Parts) -> f64 {
    let canaries = parts.canaries.iter().flat_map(|canary| canary.stamps.windows(2));
    let canaries = canaries.map(|pair| pair[1].wrapping_sub(pair[0]));
    let samples = parts.blocks.iter().flat_map(|block| block.iter());
    let samples = samples.flat_map(|sample| [0, 1, 2].map(|part| sample.interval(part)));
    crate::step::step(canaries.chain(samples))
}

fn order(samples: &[Sample], step: f64) -> Option<Order> {
    let ticks = samples.iter().map(|sample| [0, 1, 2].map(|part| sample.interval(part) as f64));
    let ticks: Vec<[f64; 3]> = ticks.collect();
    // Whatever the clock is, the chains of one sample are as long to one another as those of the others.
    let usual = median(&sorted(ticks.iter().map(|[_, one, many]| one / many).collect()))?;
    let is_usual = |[_, one, many]: &&[f64; 3]| {
        (one / many - usual).abs() <= CHAIN_SLACK * usual + STEPS_OF_AN_INTERVAL * step / many
    };
    let kept: Vec<&[f64; 3]> = ticks.iter().filter(is_usual).collect();
    let mean = |part: usize| kept.iter().map(|sample| sample[part]).sum::<f64>() / kept.len() as f64;
    (!kept.is_empty()).then(|| Order { nothing: mean(0), one: mean(1), many: mean(2) })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A run on a machine where a tick is half a cycle, a stamp costs 40 ticks, and the entry `entry` ticks more: so many
    /// blocks of 64 samples.
    pub fn records(entry: u64, blocks: usize) -> Vec<Record> {
        let of = |payload| Record { entry: 2, operation: 2, payload };
        let canary = |at: u64| {
            let stamps = [0, 40, 464, 888, 888 + 40 + 250].map(|ticks| at + ticks);
            of(Payload::Canary(Canary { stamps, cpu: 1, preemptions: 0 }))
        };
        let order = Sample { stamps: [0, 40, 464, 464 + 40 + 8 * 384] };
        let mut records = vec![
            of(Payload::Begin(Lengths { bits: 64, imuls: 256, xors: 768, nots: 2000, burst: 16, chains: 8 })),
            of(Payload::Order(vec![order; 8])),
        ];
        for block in 0..blocks as u64 {
            let samples =
                (0..64).map(|i| sample(block * 100_000 + 2000 + i * 1500, 424, 40, 40 + entry)).collect();
            records.extend([canary(block * 100_000), of(Payload::Samples(samples))]);
        }
        let burst = Sample { stamps: [0, 64, 64, 64 + 64 + 16 * (entry + 8)] };
        records.push(canary(blocks as u64 * 100_000));
        records.push(of(Payload::Bursts(vec![burst; 4])));
        records.push(canary(blocks as u64 * 100_000 + 50_000));
        records.push(of(Payload::End { preemptions: 0, minor_faults: 3 }));
        records
    }

    fn sample(start: u64, chain: u64, control: u64, entry: u64) -> Sample {
        Sample { stamps: [start, start + chain, start + chain + control, start + chain + control + entry] }
    }

    fn samples_of(records: &mut [Record]) -> &mut Vec<Sample> {
        let samples = records.iter_mut().find_map(|record| match &mut record.payload {
            Payload::Samples(samples) => Some(samples),
            _ => None,
        });
        samples.unwrap()
    }

    #[test]
    fn a_round_without_noise_is_exact() {
        let round = Round::reduce(&records(100, 2), 1.5).unwrap();
        assert_eq!((round.at, round.cpu, round.taken(), round.marks.len()), (1.5, 1, 128, 4));
        for block in &round.blocks {
            assert_eq!((block.cost(), block.control, block.chain), (Some(100.0), 64.0 * 40.0, 64.0 * 424.0));
            assert_eq!(block.entries, [140; 64]);
        }
        // All intervals are multiples of four but the four canaries'.
        assert_eq!((round.order.map(|order| order.part(8)), round.step), (Some(1.0), 4.0));
        assert_eq!(round.bursts, [108.0; 4]);
    }

    #[test]
    fn a_sample_of_several_uses_says_how_many() {
        let with = |value| {
            let mut records = records(1600, 2);
            let (entry, operation) = (records[0].entry, records[0].operation);
            records.insert(
                1,
                Record { entry, operation, payload: Payload::Fact { fact: abi::FACT_USES, value } },
            );
            Round::reduce(&records, 0.0)
        };
        let round = with(16).unwrap();
        assert_eq!((round.uses, round.blocks[0].cost()), (16, Some(1600.0)));
        assert_eq!(Round::reduce(&records(100, 2), 0.0).unwrap().uses, 1);
        for impossible in [0, 65, u64::MAX] {
            assert_eq!(
                with(impossible).unwrap_err().to_string(),
                "the records hold no possible number of uses"
            );
        }
    }

    #[test]
    fn samples_with_a_struck_chain_or_control_are_counted_and_left_out() {
        let mut records = records(100, 2);
        let samples = samples_of(&mut records);
        samples[0] = sample(0, 460, 40, 9000);
        samples[1] = sample(0, 424, 93, 9000);
        samples[2] = sample(0, 424, 40, 9000);
        let round = Round::reduce(&records, 0.0).unwrap();
        let first = &round.blocks[0];
        assert_eq!((first.taken, first.sound, first.strikes.as_slice()), (64, 62, &[36.0, 53.0][..]));
        // A long entry belongs to the entry until there is evidence of an interrupt.
        assert!(first.entries.contains(&9000));
    }

    #[test]
    fn a_step_of_the_counter_is_no_strike() {
        let mut records = records(100, 1);
        // 10 ns of a 3.8 GHz counter: chains of 11 or 12 steps, controls of one or two.
        for (index, sample) in samples_of(&mut records).iter_mut().enumerate() {
            sample.stamps = sample.stamps.map(|stamp| (stamp + index as u64 * 7) / 38 * 38);
        }
        for record in &mut records {
            if let Payload::Canary(canary) = &mut record.payload {
                canary.stamps = canary.stamps.map(|stamp| stamp / 38 * 38);
            }
        }
        let round = Round::reduce(&records, 0.0).unwrap();
        assert_eq!((round.step, round.blocks[0].sound), (38.0, 64));
    }

    #[test]
    fn an_entry_cheaper_than_its_control_is_negative_not_zero() {
        let mut records = records(0, 1);
        for sample in samples_of(&mut records) {
            sample.stamps[3] -= 3;
        }
        assert_eq!(Round::reduce(&records, 0.0).unwrap().blocks[0].cost(), Some(-3.0));
    }

    #[test]
    fn an_lfence_that_does_not_order_is_told_by_chains_in_a_row() {
        let mut records = records(100, 1);
        let Some(Payload::Order(order)) = records.get_mut(1).map(|record| &mut record.payload) else {
            panic!()
        };
        // The stamps miss most of one chain, but not of eight.
        order.iter_mut().for_each(|sample| sample.stamps = [0, 40, 90, 2600]);
        assert!(Round::reduce(&records, 0.0).unwrap().order.unwrap().part(8) > 5.0);
    }

    #[test]
    fn a_run_that_lacks_something_is_malformed() {
        let whole = records(100, 1);
        for (left_out, what) in [(0, "begin"), (3, "samples between canaries"), (7, "end")] {
            let mut records = whole.clone();
            records.remove(left_out);
            assert_eq!(
                Round::reduce(&records, 0.0).unwrap_err().to_string(),
                format!("the records hold no {what}")
            );
        }
    }
}
