//! Plain loops of calls between two readings of a clock, and what they tell.

use crate::published::Unit;
use record::abi;
use serde::Deserialize;

/// Which of several loops counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// All alike.
    Mean,
    /// The shortest.
    Minimum,
}

/// How calls are timed: so many in a loop, so many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// Calls between two readings of the clock.
    pub calls: u64,
    /// Loops.
    pub repetitions: u64,
    /// Which of them counts.
    pub take: Take,
}

impl Loop {
    /// The plainest way: many calls, and their mean.
    pub const PLAIN: Loop = Loop { calls: 1000, repetitions: 20, take: Take::Mean };

    /// The other one: single calls, of which the shortest counts. The clock's own cost is in each.
    pub const SINGLE: Loop = Loop { calls: 1, repetitions: 1000, take: Take::Minimum };

    /// How often all of it is done, so that the best run can be taken: a mean has every other process's time in it.
    pub fn runs(&self) -> usize {
        match self.take {
            Take::Mean => 20,
            Take::Minimum => 1,
        }
    }

    /// What a call took, in the clock's unit; none where there was no loop.
    pub fn of(&self, took: &[u64]) -> Option<f64> {
        let whole = match self.take {
            Take::Minimum => *took.iter().min()? as f64,
            Take::Mean if took.is_empty() => return None,
            Take::Mean => took.iter().map(|loop_took| *loop_took as f64).sum::<f64>() / took.len() as f64,
        };
        Some(whole / self.calls as f64)
    }

    /// Exactly what is measured, in words.
    pub fn in_words(&self, unit: Unit) -> String {
        let clock = match unit.of_clock() {
            Unit::Ns => "CLOCK_MONOTONIC (by the vDSO)",
            _ => "the TSC (lfence, rdtsc)",
        };
        let calls = thousands(self.calls);
        let (what, times) = match (self.calls, self.repetitions) {
            (_, 1) if unit == Unit::Index => (format!("{calls} turns of the loop"), String::new()),
            (_, many) if unit == Unit::Index => {
                (format!("{calls} turns of the loop"), format!(" of {} repetitions", thousands(many)))
            }
            (1, 1) => ("a single call".to_string(), String::new()),
            (1, many) => ("single calls".to_string(), format!(" of {}", thousands(many))),
            (_, 1) => (format!("{calls} calls in a loop"), String::new()),
            (_, many) => (format!("{calls} calls in a loop"), format!(" of {} loops", thousands(many))),
        };
        let take = match self.take {
            Take::Mean => "mean",
            Take::Minimum => "minimum",
        };
        let runs = match self.runs() {
            1 => String::new(),
            many => {
                format!(", in the fastest of {many} runs, if possible one that no other process interrupted")
            }
        };
        let index = if unit == Unit::Index { "; the index of as many turns in a second" } else { "" };
        format!(
            "{what}, with {clock} read before and behind, whose cost is included; the {take}{times}{runs}{index}"
        )
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        for (what, found, most) in
            [("calls", self.calls, abi::MAX_CALLS), ("repetitions", self.repetitions, abi::MAX_REPETITIONS)]
        {
            if !(1..=most).contains(&found) {
                return Err(format!("loop: {found} {what}; the probe makes 1 to {most}"));
            }
        }
        Ok(())
    }
}

/// With a comma between thousands.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The loops of one entry and operation, by one [`Loop`].
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// Name of the entry.
    pub entry: String,
    /// Name of the operation.
    pub operation: String,
    /// How.
    pub way: Loop,
    /// What they took; or why there is none, in words.
    pub took: Result<Took, String>,
}

/// What loops took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Took {
    /// Each, in the clock's unit.
    pub loops: Vec<u64>,
    /// How often another process had the CPU meanwhile.
    pub preemptions: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_of_all_calls_and_a_minimum_of_the_shortest_loop() {
        let way = |calls, take| Loop { calls, repetitions: 4, take };
        assert_eq!(way(10, Take::Mean).of(&[1000, 2000, 3000, 6000]), Some(300.0));
        assert_eq!(way(10, Take::Minimum).of(&[3000, 1000, 2000]), Some(100.0));
        assert_eq!(way(10, Take::Mean).of(&[]), None);
        assert_eq!(way(10, Take::Minimum).of(&[]), None);
    }

    #[test]
    fn it_is_said_what_is_measured() {
        assert_eq!(
            Loop::PLAIN.in_words(Unit::Ns),
            "1,000 calls in a loop, with CLOCK_MONOTONIC (by the vDSO) read before and behind, whose cost is included; the \
             mean of 20 loops, in the fastest of 20 runs, if possible one that no other process interrupted"
        );
        assert_eq!(
            Loop::SINGLE.in_words(Unit::Cycles),
            "single calls, with the TSC (lfence, rdtsc) read before and behind, whose cost is included; the minimum of 1,000"
        );
        assert_eq!(
            Loop { calls: 10_000, repetitions: 20, take: Take::Mean }.in_words(Unit::Index),
            "10,000 turns of the loop, with CLOCK_MONOTONIC (by the vDSO) read before and behind, whose cost is included; the \
             mean of 20 repetitions, in the fastest of 20 runs, if possible one that no other process interrupted; the index of as \
             many turns in a second"
        );
        assert_eq!([999, 1_000, 16_384, 1_000_000].map(thousands), ["999", "1,000", "16,384", "1,000,000"]);
    }
}
