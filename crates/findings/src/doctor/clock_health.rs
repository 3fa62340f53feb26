//! Whether clocks are steady, and agree from CPU to CPU. A warning needs more than the method's uncertainty.

use crate::doctor::CheckupFacts;
use crate::facts::{count, list};
use crate::id::Id;
use document::{Confidence, Figure, Finding, Level, Unit};
use environment::Environment;
use examine::{Apart, ClockHealth, Steadiness, Steps};
use std::collections::BTreeMap;

const TSC: &str = "tsc";
const MONOTONIC: &str = "monotonic";
const REALTIME: &str = "realtime";

/// If the counter goes faster or slower than it is said to by more than this part, that is worth a note: a crystal is better than that.
const FREQUENCY: f64 = 5e-4;

pub(crate) fn findings(facts: &CheckupFacts) -> Vec<Finding> {
    let Some(health) = facts.clock_health() else { return Vec::new() };
    let seen = Seen { health, environment: facts.environment() };
    [Some(seen.steady()), seen.apart(), seen.demoted()].into_iter().flatten().collect()
}

struct Seen<'a> {
    health: &'a ClockHealth,
    environment: &'a Environment,
}

impl Seen<'_> {
    fn has_looked(&self) -> bool {
        !self.health.steadiness.is_empty()
    }

    /// Whether the clocks go by the counter, so that its faults are theirs.
    fn is_by_tsc(&self) -> bool {
        self.environment.clock.current_clocksource.as_deref() == Some(TSC)
    }

    /// How steady each clock is on each CPU.
    fn steady(&self) -> Finding {
        let of = |clock: &str, what: fn(&Steadiness) -> Steps| total(&self.health.steadiness, clock, what);
        let faults = [
            (MONOTONIC, "went backward", of(MONOTONIC, |each| each.backward)),
            (TSC, "went backward", of(TSC, |each| each.backward)),
            (MONOTONIC, "stood still", of(MONOTONIC, |each| each.stalls)),
            (MONOTONIC, "jumped ahead", of(MONOTONIC, |each| each.jumps)),
        ];
        let faults: Vec<_> = faults.iter().filter(|(_, _, steps)| steps.count > 0).collect();
        let finding = if !self.has_looked() {
            Id::ClockSteady.finding(
                Level::Note,
                "Whether clocks are steady could not be seen: no thread ran on a CPU of its own.",
            )
        } else if let Some((clock, what, steps)) = faults.first() {
            self.unsteady(
                clock,
                what,
                *steps,
                faults.iter().map(|(clock, what, _)| format!("{clock} {what}")).collect(),
            )
        } else if let Some(finding) = self.set() {
            finding
        } else {
            self.is_steady()
        };
        Finding { evidence: self.steps(), figures: self.rate_figures(), ..finding }
    }

    fn unsteady(&self, clock: &str, what: &str, steps: Steps, all: Vec<String>) -> Finding {
        // A stall and a jump are told by the counter beside the clock: where its rate may change, it proves nothing.
        let is_certain = what == "went backward" || self.environment.tsc.invariant;
        let level = match (what, is_certain) {
            ("went backward", _) if clock == MONOTONIC => Level::Critical,
            (_, true) => Level::Warning,
            (_, false) => Level::Note,
        };
        let verdict = format!(
            "The clock {clock} {what} {}, by up to {}, beside the time stamp counter of the same thread.",
            count(steps.count as usize, "time", "times"),
            in_time(steps.largest_ns)
        );
        let cause = match (is_certain, self.is_by_tsc()) {
            (false, _) => {
                "The time stamp counter is not invariant here, so that it may be the one that changed."
            }
            (_, true) => {
                "The time stamp counter, by which the clock goes, is not steady; or the hypervisor changed it, as when a guest is moved."
            }
            (_, false) => "The clocksource is not steady, or the kernel lost updates of its time.",
        };
        Finding {
            cause: Some(format!("{cause} Seen: {}.", list(&all))),
            remedy: Some("Programs that measure or wait by this clock see it: compare with another host, or another clocksource.".to_owned()),
            confidence: if is_certain { Confidence::Seen } else { Confidence::Likely },
            ..Id::ClockSteady.finding(level, verdict)
        }
    }

    /// The wall clock may be set; programs that must not see that use another.
    fn set(&self) -> Option<Finding> {
        let of = |what: fn(&Steadiness) -> Steps| total(&self.health.steadiness, REALTIME, what);
        let (back, ahead) = (of(|each| each.backward), of(|each| each.jumps));
        let by = back.largest_ns.max(ahead.largest_ns);
        let stands = of(|each| each.stalls).count;
        (back.count + ahead.count + stands > 0).then(|| Finding {
            cause: Some("Somebody set it meanwhile: NTP, or an administrator.".to_owned()),
            confidence: Confidence::Likely,
            ..Id::ClockSteady.finding(
                Level::Note,
                format!(
                    "The wall clock moved by up to {} beside the other clocks, which are steady.",
                    in_time(by)
                ),
            )
        })
    }

    fn is_steady(&self) -> Finding {
        let readings: u64 =
            self.health.steadiness.iter().fold(0, |sum, each| sum.saturating_add(each.readings));
        let gap = self.health.steadiness.iter().map(|each| each.longest_gap_ns).fold(0.0, f64::max);
        let cpus = count(self.looked_at(), "CPU", "CPUs");
        let verdict = format!(
            "Clocks are steady on {cpus}: in {readings} readings none went backward, stood still or jumped; the longest that a thread was \
             kept from reading was {}.",
            in_time(gap)
        );
        let unlooked = self.unlooked();
        let level = if unlooked.is_some() { Level::Note } else { Level::Ok };
        Finding { cause: unlooked, ..Id::ClockSteady.finding(level, verdict) }
    }

    fn looked_at(&self) -> usize {
        let mut cpus: Vec<usize> = self.health.steadiness.iter().map(|each| each.cpu).collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus.len()
    }

    /// What was not looked at, and why.
    fn unlooked(&self) -> Option<String> {
        let cpus = &self.environment.cpus;
        let outside =
            cpus.online.as_ref().zip(cpus.allowed.as_ref()).filter(|(online, allowed)| online != allowed);
        let outside =
            outside.map(|(online, allowed)| format!("this process may use CPUs {allowed} of {online}"));
        let refused = self
            .health
            .not_looked
            .iter()
            .take(3)
            .map(|not| format!("CPU {}: {}", not.cpu, not.why.trim_end_matches('.')));
        let more = self.health.not_looked.len().saturating_sub(3);
        let more = (more > 0).then(|| count(more, "more CPU", "more CPUs"));
        let late = Some(self.health.left_out).filter(|left| *left > 0);
        let late = late.map(|left| {
            format!("there was no time for {}", count(left as usize, "pair or CPU", "pairs and CPUs"))
        });
        let all: Vec<String> = outside.into_iter().chain(refused).chain(more).chain(late).collect();
        (!all.is_empty()).then(|| format!("Not everything was looked at: {}.", all.join("; ")))
    }

    /// `tsc in steps of 26 ticks (10.0 ns); the counter went at 2596.1 MHz ± 0.2 ppm by CLOCK_MONOTONIC_RAW over 1.2 s`
    fn steps(&self) -> Option<String> {
        let step = |clock: &str| {
            let seen = self.health.steadiness.iter().filter(|each| each.clock == clock);
            seen.filter_map(|each| each.common_step).min()
        };
        let ticks = step(TSC).zip(self.health.rate.filter(|rate| rate.hz.is_finite() && rate.hz > 0.0));
        let ticks = ticks.map(|(step, rate)| (step, step as f64 * 1e9 / rate.hz));
        let of_counter = ticks.map(|(step, ns)| {
            format!("tsc in steps of {} ({ns:.1} ns)", count(step as usize, "tick", "ticks"))
        });
        // Of a clock that goes by the counter, rounding to nanoseconds hides the steps.
        let of_clock = |clock: &str| {
            let ns = step(clock)?;
            let by_counter = ticks.is_some_and(|(_, least)| self.is_by_tsc() && least > ns as f64);
            (!by_counter).then(|| format!("{clock} in steps of {ns} ns"))
        };
        let rate = self
            .health
            .rate
            .filter(|rate| is_plain(&[rate.hz, rate.uncertainty, rate.seconds]) && rate.hz > 0.0);
        let rate = rate.map(|rate| {
            format!(
                "the counter went at {:.3} MHz ± {:.1} ppm by CLOCK_MONOTONIC_RAW over {:.2} s",
                rate.hz / 1e6,
                rate.uncertainty * 1e6,
                rate.seconds
            )
        });
        let said = self.environment.tsc.frequency_hz.zip(self.health.rate);
        let said = said
            .map(|(said, rate)| (said as f64, rate.hz))
            .filter(|(said, hz)| (hz / said - 1.0).abs() > FREQUENCY);
        let said = said.map(|(said, _)| format!("CPUID says {:.3} MHz", said / 1e6));
        let parts = [of_counter, of_clock(MONOTONIC), of_clock(REALTIME), rate, said];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn rate_figures(&self) -> Vec<Figure> {
        let gap = self.health.steadiness.iter().map(|each| each.longest_gap_ns).fold(0.0, f64::max);
        let steps = |clock: &str, what: fn(&Steadiness) -> Steps| {
            total(&self.health.steadiness, clock, what).count as f64
        };
        let of = |name: &str, clock: &str, unit, value: f64| Figure {
            name: name.to_owned(),
            labels: [("clock".to_owned(), clock.to_owned())].into(),
            unit,
            value,
        };
        if !self.has_looked() {
            return Vec::new();
        }
        let figures = [
            of("clock_backward_steps", MONOTONIC, Unit::Count, steps(MONOTONIC, |each| each.backward)),
            of("clock_stalls", MONOTONIC, Unit::Count, steps(MONOTONIC, |each| each.stalls)),
            of("clock_jumps", MONOTONIC, Unit::Count, steps(MONOTONIC, |each| each.jumps)),
            of("clock_longest_gap", MONOTONIC, Unit::Seconds, gap / 1e9),
        ];
        figures.into_iter().filter(|figure| figure.value.is_finite()).collect()
    }

    /// How far CPUs are apart; none where there is one CPU, of which nobody can be apart.
    fn apart(&self) -> Option<Finding> {
        let of = |counter: &'static str| {
            self.health.apart.iter().filter(move |each| each.counter == counter && is_sane(each))
        };
        let worst = |counter| {
            of(counter).filter(|each| each.warp_ns > 0.0).max_by(|a, b| a.warp_ns.total_cmp(&b.warp_ns))
        };
        let finding = match (worst(MONOTONIC), worst(TSC), self.drift()) {
            (Some(apart), _, _) => self.warped(apart, Level::Critical),
            (None, Some(apart), _) => {
                self.warped(apart, if self.is_by_tsc() { Level::Critical } else { Level::Note })
            }
            (None, None, Some((first, last))) => self.drifted(first, last),
            (None, None, None) => self.together()?,
        };
        let figure = |counter: &'static str| {
            let furthest = of(counter).max_by(|a, b| a.warp_ns.total_cmp(&b.warp_ns))?;
            let labels = [("counter".to_owned(), counter.to_owned())].into();
            Some(Figure {
                name: "clock_warp".to_owned(),
                labels,
                unit: Unit::Seconds,
                value: furthest.warp_ns / 1e9,
            })
        };
        Some(Finding { figures: [TSC, MONOTONIC].into_iter().filter_map(figure).collect(), ..finding })
    }

    fn warped(&self, apart: &Apart, level: Level) -> Finding {
        let counter = in_words(&apart.counter);
        let verdict = format!(
            "{counter} of CPU {} and CPU {} are apart: who goes from one to the other, or reads what the other has stamped, sees time run \
             backward by up to {}.",
            apart.from,
            apart.to,
            in_time(apart.warp_ns)
        );
        let harmless = "The kernel's clocks do not go by it; only programs that read the counter themselves (rdtsc) see it.";
        let cause = match (self.health.log.demotion(), level) {
            (Some(line), _) => Some(format!("The kernel's log says: \"{}\".", line.text.trim())),
            (None, Level::Warning | Level::Critical) => None,
            (None, _) => Some(harmless.to_owned()),
        };
        let remedy = if self.is_by_tsc() {
            "Let the kernel leave the counter: boot without tsc=reliable, or with another clocksource. Newer firmware sets all counters alike."
        } else {
            "Do not compare readings of rdtsc between CPUs."
        };
        Finding {
            evidence: Some(offset_in_words(apart)),
            cause,
            remedy: Some(remedy.to_owned()),
            ..Id::ClockApart.finding(level, verdict)
        }
    }

    /// A pair whose offsets at the beginning and at the end have nothing in common.
    fn drift(&self) -> Option<(&Apart, &Apart)> {
        let mut firsts = BTreeMap::new();
        let seen = self.health.apart.iter().filter(|each| is_sane(each)).map(|last| {
            let first: &Apart = firsts.entry((last.from, last.to, last.counter.as_str())).or_insert(last);
            (first, last)
        });
        let is_moved = |(first, last): &(&Apart, &Apart)| {
            let ((low, high), (lower, higher)) = (first.ends(), last.ends());
            first.at_ns < last.at_ns && (low > higher || lower > high)
        };
        let mut moved = seen.filter(is_moved);
        moved.next()
    }

    fn drifted(&self, first: &Apart, last: &Apart) -> Finding {
        let verdict = format!(
            "{} of CPU {} and CPU {} drift apart: from {:.0} to {:.0} ns in {:.1} s.",
            in_words(&first.counter),
            first.from,
            first.to,
            first.offset_ns,
            last.offset_ns,
            (last.at_ns - first.at_ns) / 1e9
        );
        let level = if first.counter == MONOTONIC || self.is_by_tsc() { Level::Warning } else { Level::Note };
        Finding {
            evidence: Some(format!("{}; later {}", offset_in_words(first), offset_in_words(last))),
            cause: Some("The counters of these CPUs go at two rates.".to_owned()),
            remedy: Some("Let the kernel use a clocksource that all CPUs share, such as hpet.".to_owned()),
            confidence: Confidence::Seen,
            ..Id::ClockApart.finding(level, verdict)
        }
    }

    fn together(&self) -> Option<Finding> {
        let of = |counter: &'static str| {
            let of = self.health.apart.iter().filter(move |each| each.counter == counter && is_sane(each));
            of.map(farthest).reduce(f64::max)
        };
        let (tsc, monotonic) = (of(TSC), of(MONOTONIC));
        let known = [tsc, monotonic].into_iter().flatten().reduce(f64::max);
        let Some(farthest_ns) = known else {
            let has_others = self.health.cpus.len() > 1;
            return has_others.then(|| {
                let finding = Id::ClockApart.finding(
                    Level::Note,
                    "Whether CPUs agree on the time could not be told: no two of them exchanged a message.",
                );
                Finding { cause: self.unlooked(), ..finding }
            });
        };
        let verdict = format!(
            "CPUs agree on the time: no two are farther apart than {}, and none need be at all.",
            in_time(farthest_ns)
        );
        let widest = self
            .health
            .apart
            .iter()
            .filter(|each| is_sane(each))
            .max_by(|a, b| farthest(a).total_cmp(&farthest(b)));
        Some(Finding { evidence: widest.map(offset_in_words), ..Id::ClockApart.finding(Level::Ok, verdict) })
    }

    /// Whether the kernel has left the best clock that it has.
    fn demoted(&self) -> Option<Finding> {
        let line = self.health.log.demotion()?;
        let source = self.environment.clock.current_clocksource.as_deref().unwrap_or("unknown");
        let verdict = format!(
            "The kernel found fault with a clock, {:.1} s after it began; its clocksource is {source} now.",
            line.at
        );
        Some(Finding {
            evidence: Some(line.text.trim().to_owned()),
            ..Id::ClockDemoted.finding(Level::Note, verdict)
        })
    }
}

/// Of all CPUs.
fn total(all: &[Steadiness], clock: &str, what: fn(&Steadiness) -> Steps) -> Steps {
    let of = all.iter().filter(|each| each.clock == clock).map(what);
    of.fold(Steps::default(), |sum, each| Steps {
        count: sum.count.saturating_add(each.count),
        largest_ns: sum.largest_ns.max(each.largest_ns),
    })
}

fn in_words(counter: &str) -> &'static str {
    if counter == TSC { "The time stamp counters" } else { "The clocks (CLOCK_MONOTONIC)" }
}

fn offset_in_words(apart: &Apart) -> String {
    format!(
        "{} of CPU {} is {:.0} ± {:.0} ns ahead of CPU {}'s, by {}",
        apart.counter,
        apart.to,
        apart.offset_ns,
        apart.uncertainty_ns,
        apart.from,
        count(apart.exchanges as usize, "exchange", "exchanges")
    )
}

/// Whatever a document says.
fn is_sane(apart: &Apart) -> bool {
    is_plain(&[apart.at_ns, apart.offset_ns, apart.uncertainty_ns, apart.warp_ns])
        && apart.uncertainty_ns >= 0.0
        && apart.exchanges > 0
}

fn is_plain(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| number.is_finite())
}

/// `25 ns`, `3.1 µs`, `12 ms`
fn in_time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        ns => format!("{:.1} s", ns / 1e9),
    }
}

/// How far two CPUs may be apart at most, in nanoseconds.
fn farthest(apart: &Apart) -> f64 {
    apart.offset_ns.abs() + apart.uncertainty_ns
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
pub(crate) mod tests {
    use super::*;
    use crate::facts::Facts;
    use crate::testing::Maker;
    use document::Checkup;
    use examine::{KernelLog, LogLine, NotLooked, Rate};
    use table::Table;

    fn healthy() -> ClockHealth {
        let steady = |cpu: usize, clock: &str| Steadiness {
            cpu,
            clock: clock.to_owned(),
            readings: 100_000,
            smallest_ns: Some(20.0),
            common_step: Some(1),
            longest_gap_ns: 3.2e6,
            ..Steadiness::default()
        };
        let apart = |counter: &str, at_ns: f64| Apart {
            from: 0,
            to: 1,
            counter: counter.to_owned(),
            at_ns,
            exchanges: 1900,
            offset_ns: 4.0,
            uncertainty_ns: 61.0,
            warp_ns: 0.0,
        };
        ClockHealth {
            cpus: vec![0, 1],
            steadiness: [0, 1]
                .into_iter()
                .flat_map(|cpu| [MONOTONIC, REALTIME, TSC].map(|clock| steady(cpu, clock)))
                .collect(),
            apart: vec![apart(TSC, 1e7), apart(MONOTONIC, 1e7), apart(TSC, 1.2e9), apart(MONOTONIC, 1.2e9)],
            rate: Some(Rate { hz: 2.6e9, uncertainty: 1e-7, seconds: 1.2 }),
            ..ClockHealth::default()
        }
    }

    fn checkup(health: ClockHealth) -> Checkup {
        let mut run = Maker::host().document;
        run.environment.clock.current_clocksource = Some("tsc".into());
        Checkup { clock_health: Some(health), ..Checkup::of(run) }
    }

    fn found(checkup: &Checkup, id: Id) -> Option<Finding> {
        let run = Facts { document: &checkup.run, table: Table::get() };
        findings(&CheckupFacts { run, checkup: Some(checkup) })
            .into_iter()
            .find(|finding| finding.id == id.name())
    }

    fn demoted() -> ClockHealth {
        let line = LogLine {
            at: 9.0,
            text: "clocksource: Marking clocksource 'tsc' as unstable because the skew is too large:".into(),
        };
        ClockHealth { log: KernelLog { lines: vec![line], ..KernelLog::default() }, ..healthy() }
    }

    pub(crate) fn checkups() -> Vec<Checkup> {
        vec![checkup(healthy()), checkup(demoted())]
    }

    fn with(change: impl FnOnce(&mut ClockHealth)) -> Checkup {
        let mut health = healthy();
        change(&mut health);
        checkup(health)
    }

    #[test]
    fn steady_clocks_that_agree_are_ok_however_long_a_thread_was_preempted() {
        let of = checkup(healthy());
        let steady = found(&of, Id::ClockSteady).unwrap();
        assert_eq!(steady.level, Level::Ok);
        assert!(
            steady.verdict.contains("on 2 CPUs: in 600000 readings") && steady.verdict.contains("3.2 ms"),
            "{}",
            steady.verdict
        );
        assert!(steady.evidence.unwrap().contains("2600.000 MHz ± 0.1 ppm"));
        let apart = found(&of, Id::ClockApart).unwrap();
        assert_eq!(
            (apart.level, apart.verdict.as_str()),
            (
                Level::Ok,
                "CPUs agree on the time: no two are farther apart than 65 ns, and none need be at all."
            )
        );
        assert_eq!(found(&of, Id::ClockDemoted), None);
    }

    #[test]
    fn backward_steps_stalls_and_jumps_are_warnings() {
        let steps = Steps { count: 2, largest_ns: 45_000.0 };
        for (what, words) in [
            (0, "went backward 2 times, by up to 45.0 µs"),
            (1, "stood still 2 times"),
            (2, "jumped ahead 2 times"),
        ] {
            let mut of = with(|health| {
                let clock = &mut health.steadiness[0];
                *[&mut clock.backward, &mut clock.stalls, &mut clock.jumps][what] = steps;
            });
            let finding = found(&of, Id::ClockSteady).unwrap();
            assert_eq!(finding.level, if what == 0 { Level::Critical } else { Level::Warning });
            assert!(finding.verdict.contains(words), "{}", finding.verdict);
            of.run.environment.tsc.invariant = false;
            let level = if what == 0 { Level::Critical } else { Level::Note };
            assert_eq!(
                found(&of, Id::ClockSteady).unwrap().level,
                level,
                "a counter of another rate proves nothing"
            );
        }
    }

    #[test]
    fn a_wall_clock_that_was_set_is_a_note() {
        let of = with(|health| health.steadiness[1].backward = Steps { count: 1, largest_ns: 2e9 });
        let finding = found(&of, Id::ClockSteady).unwrap();
        assert_eq!(finding.level, Level::Note);
        assert!(finding.verdict.contains("moved by up to 2.0 s"), "{}", finding.verdict);
    }

    #[test]
    fn a_warp_is_a_warning_where_the_clock_goes_by_it() {
        let mut of = with(|health| health.apart[0].warp_ns = 830.0);
        let finding = found(&of, Id::ClockApart).unwrap();
        assert_eq!(finding.level, Level::Critical);
        assert!(finding.verdict.ends_with("backward by up to 830 ns."), "{}", finding.verdict);
        of.run.environment.clock.current_clocksource = Some("hpet".into());
        assert_eq!(found(&of, Id::ClockApart).unwrap().level, Level::Note, "the kernel does not go by it");
        of.clock_health.as_mut().unwrap().apart[1].warp_ns = 90.0;
        assert_eq!(found(&of, Id::ClockApart).unwrap().level, Level::Critical, "programs see this one");
    }

    #[test]
    fn counters_that_drift_are_a_warning_and_those_within_uncertainty_are_not() {
        let drift = |by: f64| with(|health| health.apart[2].offset_ns += by);
        assert_eq!(found(&drift(100.0), Id::ClockApart).unwrap().level, Level::Ok);
        let finding = found(&drift(140.0), Id::ClockApart).unwrap();
        assert_eq!(finding.level, Level::Warning);
        assert!(finding.verdict.contains("from 4 to 144 ns in 1.2 s"), "{}", finding.verdict);
    }

    #[test]
    fn what_was_not_looked_at_is_a_note_that_says_so() {
        let mut of = with(|health| {
            health.not_looked.push(NotLooked { cpu: 1, why: "no thread may run there: EINVAL".into() })
        });
        (of.run.environment.cpus.online, of.run.environment.cpus.allowed) =
            (Some("0-3".into()), Some("0-1".into()));
        let finding = found(&of, Id::ClockSteady).unwrap();
        assert_eq!(finding.level, Level::Note);
        let cause = finding.cause.unwrap();
        assert!(
            cause.contains("CPUs 0-1 of 0-3") && cause.contains("CPU 1: no thread may run there"),
            "{cause}"
        );
        let nothing = checkup(ClockHealth { cpus: vec![0, 1], ..ClockHealth::default() });
        for id in [Id::ClockSteady, Id::ClockApart] {
            assert_eq!(found(&nothing, id).unwrap().level, Level::Note);
        }
        assert_eq!(
            found(&checkup(ClockHealth { cpus: vec![0], ..ClockHealth::default() }), Id::ClockApart),
            None
        );
    }

    #[test]
    fn a_clock_that_the_kernel_left_is_a_note_with_its_line() {
        let finding = found(&checkup(demoted()), Id::ClockDemoted).unwrap();
        assert_eq!(finding.level, Level::Note);
        assert!(finding.evidence.unwrap().contains("the skew is too large"));
    }

    #[test]
    fn nonsense_of_a_document_is_no_warning() {
        let of = with(|health| {
            for apart in &mut health.apart {
                (apart.exchanges, apart.warp_ns) = (0, 1e300);
            }
        });
        assert_eq!(found(&of, Id::ClockApart).unwrap().level, Level::Note);
    }
}
