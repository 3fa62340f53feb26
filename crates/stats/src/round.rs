use crate::IMUL_CYCLES;
use crate::primitives::{median, sorted, trimmed_mean};
use record::{Canary, Lengths, Payload, Record, Sample};

/// Share trimmed off both ends of a mean over samples.
const TRIM: f64 = 0.05;

/// A sample is disturbed when its chain is off the round's median by more than this part: the chain's time is
/// fixed, so an interrupt fell into it or the frequency changed.
const CHAIN_SLACK: f64 = 0.05;

/// Or when its control took more than so many times the median.
const CONTROL_SLACK: f64 = 2.0;

/// The records of a run that claims to be well are not those of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the records hold no {0}")]
pub struct Malformed(&'static str);

/// One probe run, reduced.
///
/// `cycles_per_tick`, `chain_ratio` and `canary` are NaN when what they are measured with took no more time than an
/// empty interval: an interrupt fell into that. [`crate::Reference`] passes over them, and excludes a round
/// without a canary.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Entry less control, mean, in ticks.
    pub cost: f64,
    /// The control's mean, in ticks.
    pub control: f64,
    /// Core cycles in a tick, by the imul chain.
    pub cycles_per_tick: f64,
    /// Cycles of an imul if a xor takes one: 3 where the chain can be trusted.
    pub chain_ratio: f64,
    /// Independent nots executed in a core cycle.
    pub canary: f64,
    /// Whether it changed the CPU on its way.
    pub migrated: bool,
    /// Involuntary context switches.
    pub preemptions: u64,
    /// Samples taken.
    pub taken: usize,
    /// Of these, disturbed ones, left out of all figures.
    pub disturbed: usize,
    /// Least and greatest entry interval, in ticks.
    pub extremes: (f64, f64),
    /// The undisturbed entry intervals, in ticks, the control not yet subtracted.
    pub intervals: Vec<u32>,
    /// Cost of a call in each burst of calls back to back, in ticks.
    pub bursts: Vec<f32>,
}

impl Round {
    /// Reduces the records of one run.
    ///
    /// # Errors
    /// [`Malformed`] when the run lacks what every measurement has.
    pub fn reduce(records: &[Record]) -> Result<Round, Malformed> {
        let parts = Parts::collect(records)?;
        let sound = parts.undisturbed().ok_or(Malformed("samples"))?;
        let mean =
            |part| trimmed_mean(&intervals(&sound, part), TRIM).ok_or(Malformed("undisturbed samples"));
        let (chain, control, entry) = (mean(0)?, mean(1)?, mean(2)?);
        let clock = parts.clock(chain)?;
        let all = intervals(&sound, 2);
        Ok(Round {
            cost: entry - control,
            control,
            cycles_per_tick: clock.cycles_per_tick,
            chain_ratio: clock.chain_ratio,
            canary: clock.canary,
            migrated: parts.canaries.windows(2).any(|pair| pair[0].cpu != pair[1].cpu),
            preemptions: parts.preemptions,
            taken: parts.samples.len(),
            disturbed: parts.samples.len() - sound.len(),
            extremes: (all.first().copied().unwrap_or(0.0), all.last().copied().unwrap_or(0.0)),
            intervals: all.iter().map(|ticks| *ticks as u32).collect(),
            bursts: parts.bursts.iter().map(|burst| per_call(burst, parts.lengths.burst)).collect(),
        })
    }
}

fn per_call(burst: &Sample, calls: u64) -> f32 {
    ((burst.interval(2) as f64 - burst.interval(0) as f64) / calls as f64) as f32
}

/// What a run's chains say of the core's clock; NaN where one took no time.
struct Clock {
    cycles_per_tick: f64,
    chain_ratio: f64,
    canary: f64,
}

/// What a run's records are made of.
struct Parts {
    lengths: Lengths,
    canaries: Vec<Canary>,
    samples: Vec<Sample>,
    bursts: Vec<Sample>,
    preemptions: u64,
}

impl Parts {
    fn collect(records: &[Record]) -> Result<Parts, Malformed> {
        let (mut canaries, mut samples, mut bursts) = (Vec::new(), Vec::new(), Vec::new());
        let (mut lengths, mut end) = (None, None);
        for record in records {
            match &record.payload {
                Payload::Begin(value) => lengths = Some(*value),
                Payload::Canary(canary) => canaries.push(*canary),
                Payload::Samples(block) => samples.extend(block),
                Payload::Bursts(block) => bursts.extend(block),
                Payload::End { preemptions, .. } => end = Some(*preemptions),
                Payload::Outcome(_)
                | Payload::Fact { .. }
                | Payload::Order(_)
                | Payload::Export { .. }
                | Payload::Lab(_) => {}
            }
        }
        let lengths = lengths.filter(|l| ![l.imuls, l.xors, l.nots, l.burst].contains(&0));
        Ok(Parts {
            lengths: lengths.ok_or(Malformed("begin"))?,
            preemptions: end.ok_or(Malformed("end"))?,
            canaries,
            samples,
            bursts,
        })
    }

    /// By the canaries, and the mean of the samples' chains in ticks.
    fn clock(&self, chain: f64) -> Result<Clock, Malformed> {
        let mean = |part| mean_interval(&self.canaries, part).ok_or(Malformed("canary"));
        let empty = mean(0)?;
        let took = |ticks: f64| if ticks > empty { ticks - empty } else { f64::NAN };
        let (imul, xor, nots) = (took(mean(1)?), took(mean(2)?), took(mean(3)?));
        let lengths = &self.lengths;
        let cycles_per_tick = IMUL_CYCLES * lengths.imuls as f64 / took(chain);
        Ok(Clock {
            cycles_per_tick,
            chain_ratio: (imul / lengths.imuls as f64) / (xor / lengths.xors as f64),
            canary: lengths.nots as f64 / (nots * cycles_per_tick),
        })
    }

    /// The samples in whose chain and control nothing happened.
    fn undisturbed(&self) -> Option<Vec<Sample>> {
        let chain = median(&intervals(&self.samples, 0))?;
        let control = median(&intervals(&self.samples, 1))?;
        let is_sound = |sample: &&Sample| {
            (sample.interval(0) as f64 / chain - 1.0).abs() <= CHAIN_SLACK
                && sample.interval(1) as f64 <= control * CONTROL_SLACK
                && sample.interval(2) < u64::from(u32::MAX)
        };
        Some(self.samples.iter().filter(is_sound).copied().collect())
    }
}

/// Ticks between stamps `part` and `part + 1` of every sample, sorted.
fn intervals(samples: &[Sample], part: usize) -> Vec<f64> {
    sorted(samples.iter().map(|sample| sample.interval(part) as f64).collect())
}

/// Mean over the canaries of the ticks between two stamps, without the longest tenth: that had an interrupt in it.
fn mean_interval(canaries: &[Canary], part: usize) -> Option<f64> {
    let stamps = |canary: &Canary| Some((*canary.stamps.get(part)?, *canary.stamps.get(part + 1)?));
    let ticks = sorted(canaries.iter().filter_map(stamps).map(|(a, b)| b.wrapping_sub(a) as f64).collect());
    let kept = ticks.get(..ticks.len() - ticks.len() / 10)?;
    trimmed_mean(kept, 0.0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A run on a machine where a tick is half a cycle, a stamp costs 40 ticks, and the entry `entry` ticks more.
    pub fn records(entry: u64, samples: usize) -> Vec<Record> {
        let of = |payload| Record { entry: 2, operation: 2, payload };
        let canary = Canary { stamps: [0, 40, 40 + 424, 464 + 424, 888 + 40 + 250], cpu: 1, preemptions: 0 };
        let block = (0..samples).map(|i| sample(i as u64 * 10_000, 424, 40, 40 + entry)).collect();
        let burst = Sample { stamps: [0, 64, 64, 64 + 64 + 16 * (entry + 8)] };
        vec![
            of(Payload::Begin(Lengths { bits: 64, imuls: 256, xors: 768, nots: 2000, burst: 16, chains: 8 })),
            of(Payload::Canary(canary)),
            of(Payload::Samples(block)),
            of(Payload::Canary(canary)),
            of(Payload::Bursts(vec![burst; 4])),
            of(Payload::End { preemptions: 0, minor_faults: 3 }),
        ]
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
        let round = Round::reduce(&records(100, 64)).unwrap();
        assert_eq!(round.cost, 100.0);
        assert_eq!(round.control, 40.0);
        assert_eq!(round.cycles_per_tick, 2.0);
        assert_eq!(round.chain_ratio, 3.0);
        assert_eq!(round.canary, 4.0);
        assert_eq!((round.taken, round.disturbed, round.migrated), (64, 0, false));
        assert_eq!(round.bursts, [108.0; 4]);
        assert_eq!(round.intervals, [140; 64]);
    }

    #[test]
    fn samples_with_a_disturbed_chain_or_control_are_counted_and_left_out() {
        let mut records = records(100, 64);
        samples_of(&mut records)[3] = sample(30_000, 900, 40, 140);
        samples_of(&mut records)[4] = sample(40_000, 424, 9000, 140);
        let round = Round::reduce(&records).unwrap();
        assert_eq!((round.taken, round.disturbed, round.cost), (64, 2, 100.0));
    }

    #[test]
    fn a_long_entry_stays_in_the_tail_but_not_in_the_mean() {
        let mut records = records(100, 64);
        samples_of(&mut records)[5] = sample(50_000, 424, 40, 9_000);
        let round = Round::reduce(&records).unwrap();
        assert_eq!((round.disturbed, round.cost, round.extremes), (0, 100.0, (140.0, 9000.0)));
    }

    #[test]
    fn an_entry_cheaper_than_its_control_is_negative_not_zero() {
        let mut records = records(0, 64);
        for sample in samples_of(&mut records) {
            sample.stamps[3] -= 3;
        }
        assert_eq!(Round::reduce(&records).unwrap().cost, -3.0);
    }

    #[test]
    fn a_change_of_cpu_is_seen() {
        let mut records = records(100, 64);
        let Some(Record { payload: Payload::Canary(canary), .. }) = records.get_mut(3) else { panic!() };
        canary.cpu = 0;
        assert!(Round::reduce(&records).unwrap().migrated);
    }

    #[test]
    fn a_run_that_lacks_something_is_malformed() {
        let whole = records(100, 64);
        for (left_out, what) in [(0, "begin"), (2, "samples"), (5, "end")] {
            let mut records = whole.clone();
            records.remove(left_out);
            assert_eq!(
                Round::reduce(&records).unwrap_err().to_string(),
                format!("the records hold no {what}")
            );
        }
    }
    #[test]
    fn the_product_of_great_lengths_overflowed() {
        let mut records = records(100, 64);
        let Some(Payload::Begin(lengths)) = records.first_mut().map(|record| &mut record.payload) else {
            panic!()
        };
        (lengths.xors, lengths.nots) = (1 << 32, 1 << 32);
        assert!(Round::reduce(&records).unwrap().canary.is_finite());
        let Some(Payload::Begin(lengths)) = records.first_mut().map(|record| &mut record.payload) else {
            panic!()
        };
        lengths.burst = 0;
        assert!(Round::reduce(&records).is_err());
    }

    #[test]
    fn a_chain_that_took_no_time_was_divided_by() {
        for stamps in
            [[7; 5], [0, 424, 848, 1272, 2000], [0, 40, 464, 888, 900], [0, 90_000, 90_424, 90_848, 91_138]]
        {
            let round = Round::reduce(&with_canaries(stamps)).unwrap();
            let figures = [round.cycles_per_tick, round.chain_ratio, round.canary];
            assert!(figures.iter().all(|figure| figure.is_nan() || *figure > 0.0), "{stamps:?}: {figures:?}");
            assert!(round.canary.is_nan() && round.cost == 100.0);
        }
    }

    /// A run whose canaries are all the same.
    pub fn with_canaries(stamps: [u64; 5]) -> Vec<Record> {
        let mut records = records(100, 64);
        for record in &mut records {
            if let Payload::Canary(canary) = &mut record.payload {
                canary.stamps = stamps;
            }
        }
        records
    }
}
