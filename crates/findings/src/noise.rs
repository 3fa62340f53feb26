//! How noisy the run was: who else used the cores, and which rows have no figure because of it.

use crate::facts::{Facts, count, list};
use crate::id::Id;
use document::{Confidence, CpuUse, Finding, Level, Row, Timing};
use stats::{LEAST_ROUNDS, NoiseKind};

/// So many rows without a figure are named.
const NAMED: usize = 3;

/// Steal below this share of the run is no news.
const STEAL_SHARE: f64 = 0.01;

/// Quiet shares that are farther apart than this are told CPU by CPU.
const FAR_APART: f64 = 0.2;

/// A run that took less, in seconds, may have met one state of the noise only: it cannot tell whether the machine is ever
/// quiet.
const SHORT: f64 = 1.0;

/// The first screen is thin if more than this part of the rows has no figure.
const THIN: f64 = 0.5;

/// Rows beyond which the next run should have fewer.
const MANY: usize = 24;

/// What programs use most.
const FEWER: &str = "kentry -e syscall -e vdso";

/// The next run gets so many times the budget of a run with few rows.
const LONGER: f64 = 5.0;

/// What to do about noise, in general.
const REMEDY: &str = "Measure again when the machine is idle, measure fewer rows (--entry), give more time (--budget), or \
                      choose a quieter CPU (--cpu).";

/// What to do about a lack of time.
const MORE_TIME: &str = "Give more time (--budget), or ask for fewer rows (--entry, --operation).";

/// The same where time was not short because the budget was, but because rounds took so long.
const TOO_BUSY: &str = "The machine was too busy: most rows got one or two rounds. Try again when it is idle, or ask for fewer \
                        rows (--entry, --operation).";

/// Rounds that so little can be made of are few, whatever the budget.
const HARDLY_ANY: u64 = 2;

/// A round takes some 3 ms, and up to four times that on a noisy CPU. If rounds take longer than this on average, in seconds,
/// the probes waited for a CPU.
const SLOW_ROUND: f64 = 0.025;

/// From this share of the run on, steal explains why time was short.
const MUCH_STEAL: f64 = 0.25;

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    if !facts.are_times() {
        return Vec::new();
    }
    [noise(facts), never_seen_quiet(facts), few_rounds(facts), steal(facts), no_realtime(facts)]
        .into_iter()
        .flatten()
        .collect()
}

/// Rows that work and have no figure, by the reason.
fn lost(facts: &Facts, kind: NoiseKind) -> usize {
    let kinds = facts.document.results.iter().filter_map(|row| row.noise.map(|noise| noise.kind));
    kinds.filter(|found| *found == kind).count()
}

/// Timed rows that work, and have no figure.
fn without_figure<'a>(facts: &Facts<'a>) -> impl Iterator<Item = &'a Row> {
    facts.working().filter(|row| row.timing == Timing::Hardware && row.figure().is_none())
}

/// Their names, if they are few.
fn names(facts: &Facts) -> String {
    let names: Vec<String> = without_figure(facts).map(Row::in_words).collect();
    if names.len() <= NAMED { format!(" ({})", list(&names)) } else { String::new() }
}

/// The line about noise above every report.
fn noise(facts: &Facts) -> Option<Finding> {
    let measurement = &facts.document.measurement;
    let share = measurement.quiet_share?;
    let timed = facts.working().filter(|row| row.timing == Timing::Hardware).count();
    let too_few = if measurement.partial {
        "had too few rounds when the run was interrupted"
    } else {
        "had too few rounds"
    };
    let kinds = [
        (NoiseKind::Shared, "had a shared core"),
        (NoiseKind::Preempted, "lost the CPU to other processes"),
        (NoiseKind::TooFew, too_few),
    ];
    let why = kinds.map(|(kind, words)| (lost(facts, kind), words));
    let missing = without_figure(facts).count();
    let uncertain = without_figure(facts).filter(|row| row.noise.is_none()).count();
    let why = why.into_iter().chain([(uncertain, "had an interval wider than the cost")]);
    let why: Vec<String> =
        why.filter(|(rows, _)| *rows > 0).map(|(rows, words)| format!("{rows} {words}")).collect();
    let used: Vec<&CpuUse> = measurement.cpus.iter().filter(|cpu| cpu.rounds > 0).collect();
    let alone = alone(&used, share, measurement.seconds);
    let verdict = match missing {
        0 => format!("{alone}. Every row has a figure."),
        1 => format!("{alone}. 1 of {timed} rows has no figure{}: {}.", names(facts), list(&why)),
        _ => format!("{alone}. {missing} of {timed} rows have no figure{}: {}.", names(facts), list(&why)),
    };
    let level = if missing > 0 { Level::Note } else { Level::Ok };
    let each = used.iter().map(|cpu| {
        format!(
            "CPU {}: {} of {} rounds kept, alone in {:.0} %",
            cpu.cpu,
            cpu.kept_rounds,
            cpu.rounds,
            cpu.quiet_share * 100.0
        )
    });
    let each: Vec<String> = each.collect();
    Some(Finding {
        evidence: (!each.is_empty()).then(|| each.join("; ")),
        cause: cause(facts).map(str::to_owned),
        remedy: (missing > 0).then(|| remedy(facts, missing).to_owned()),
        next: next(facts, missing, timed),
        confidence: if missing > 0 { Confidence::Inferred } else { Confidence::Seen },
        ..Id::Noise.finding(level, verdict)
    })
}

fn remedy(facts: &Facts, missing: usize) -> &'static str {
    if lost(facts, NoiseKind::TooFew) == missing { more_time(facts) } else { REMEDY }
}

/// What to do about a lack of time. On a machine that is too busy, more of it helps little.
fn more_time(facts: &Facts) -> &'static str {
    let rounds: Vec<u64> =
        facts.working().filter(|row| row.timing == Timing::Hardware).map(|row| row.counts.rounds).collect();
    let hardly_any = rounds.iter().filter(|rounds| **rounds <= HARDLY_ANY).count();
    let all: u64 = rounds.iter().fold(0, |sum, rounds| sum.saturating_add(*rounds));
    let seconds = facts.document.measurement.seconds;
    let is_slow = all > 0 && seconds > SLOW_ROUND * all as f64;
    let is_busy = is_slow || stolen(facts).is_some_and(|stolen| stolen > seconds * 1000.0 * MUCH_STEAL);
    if is_busy && hardly_any * 2 > rounds.len() { TOO_BUSY } else { MORE_TIME }
}

/// Milliseconds in which the hypervisor ran something else.
fn stolen(facts: &Facts) -> Option<f64> {
    facts.document.environment.load.as_ref()?.steal_ms
}

/// The command that will probably show more, after a run that shows little.
fn next(facts: &Facts, missing: usize, timed: usize) -> Option<String> {
    if !facts.document.is_of_host() || missing as f64 <= THIN * timed as f64 {
        return None;
    }
    let measurement = &facts.document.measurement;
    if timed > MANY {
        return Some(FEWER.to_owned());
    }
    let mut entries: Vec<&str> = facts.working().map(|row| row.entry.as_str()).collect();
    entries.dedup();
    let entries: String = entries.iter().map(|entry| format!(" -e {entry}")).collect();
    Some(format!("kentry{entries} --budget {:.0}", (LONGER * measurement.budget_seconds).max(LONGER)))
}

/// How much of the run, which took so many seconds, was quiet; in words.
fn alone(used: &[&CpuUse], share: f64, seconds: f64) -> String {
    let (cpus, cores) = (cpus(used), cores(used));
    if !used.is_empty() && used.iter().all(|cpu| cpu.is_unvouched()) {
        return match seconds < SHORT {
            true => {
                format!("Too short to tell: in {seconds:.1} s nothing showed that {cpus} had {cores} alone")
            }
            false => format!("Never quiet: nothing shows that {cpus} ever had {cores} alone"),
        };
    }
    let word = match share {
        0.8.. => "Quiet",
        0.2.. => "Partly noisy",
        _ => "Noisy",
    };
    let shares = used.iter().map(|cpu| cpu.quiet_share);
    let (least, most) = (shares.clone().fold(1.0, f64::min), shares.fold(0.0, f64::max));
    if most - least < FAR_APART {
        return format!("{word}: {cpus} had {cores} alone in {:.0} % of the checks", share * 100.0);
    }
    let each: Vec<String> =
        used.iter().map(|cpu| format!("CPU {} in {:.0} %", cpu.cpu, cpu.quiet_share * 100.0)).collect();
    format!("{word}: alone on its core was {} of the checks", list(&each))
}

fn cores(used: &[&CpuUse]) -> &'static str {
    if used.len() == 1 { "its core" } else { "their cores" }
}

/// Who is to blame for rows without a figure.
fn cause(facts: &Facts) -> Option<&'static str> {
    if lost(facts, NoiseKind::Shared) > 0 {
        return Some(
            "Another hyperthread of the core, or another virtual machine on it, used what the core shares.",
        );
    }
    (lost(facts, NoiseKind::Preempted) > 0).then_some("Other processes ran on the same CPU.")
}

/// `CPU 1`, `CPUs 0 and 1`.
fn cpus(used: &[&CpuUse]) -> String {
    let numbers: Vec<String> = used.iter().map(|cpu| cpu.cpu.to_string()).collect();
    match &numbers[..] {
        [] => "the run".to_owned(),
        [one] => format!("CPU {one}"),
        several => format!("CPUs {}", list(several)),
    }
}

/// CPUs whose fastest canaries may still be those of a shared core.
fn never_seen_quiet(facts: &Facts) -> Option<Finding> {
    let used = facts.document.measurement.cpus.iter().filter(|cpu| cpu.rounds >= LEAST_ROUNDS as u64);
    let unvouched: Vec<&CpuUse> = used.filter(|cpu| cpu.is_unvouched()).collect();
    // The line about noise says that such a run is too short to tell.
    if unvouched.is_empty() || facts.document.measurement.seconds < SHORT {
        return None;
    }
    let verdict = format!(
        "Nothing shows that {} ever had {} alone, so that rounds from there are no estimate of anything.",
        cpus(&unvouched),
        cores(&unvouched)
    );
    let canary = unvouched.iter().flat_map(|cpu| {
        let rates = cpu.canary.iter();
        rates.map(move |(bits, rate)| {
            format!("CPU {}: {rate:.2} independent {bits}-bit instructions a cycle at best", cpu.cpu)
        })
    });
    let canary: Vec<String> = canary.collect();
    Some(Finding {
        evidence: (!canary.is_empty()).then(|| canary.join("; ")),
        cause: Some(
            "Either the core was shared from beginning to end, or this version does not know how fast such a core is alone."
                .to_owned(),
        ),
        remedy: Some(REMEDY.to_owned()),
        confidence: Confidence::Inferred,
        ..Id::NeverSeenQuiet.finding(Level::Warning, verdict)
    })
}

fn few_rounds(facts: &Facts) -> Option<Finding> {
    let rows = lost(facts, NoiseKind::TooFew);
    let verdict = format!(
        "{} no time for {LEAST_ROUNDS} rounds, which an estimate needs.",
        count(rows, "row had", "rows had")
    );
    (rows > 0).then(|| Finding {
        remedy: Some(more_time(facts).to_owned()),
        ..Id::FewRounds.finding(Level::Note, verdict)
    })
}

fn steal(facts: &Facts) -> Option<Finding> {
    let stolen = stolen(facts)?;
    let verdict = format!(
        "The hypervisor ran something else for {stolen:.0} ms of this run; the tail (p99.9, max) contains it."
    );
    (stolen > facts.document.measurement.seconds * 1000.0 * STEAL_SHARE).then(|| Finding {
        remedy: Some("Measure again later, or on a machine whose CPUs are not overcommitted.".to_owned()),
        ..Id::Steal.finding(Level::Note, verdict)
    })
}

fn no_realtime(facts: &Facts) -> Option<Finding> {
    let refused = facts.document.measurement.realtime_refused.as_ref()?;
    let verdict = "The kernel refused real-time priority, so that other processes may have taken the CPU.";
    Some(Finding {
        evidence: Some(refused.clone()),
        remedy: Some(
            "Run as root or raise RLIMIT_RTPRIO. On an idle machine the figures are the same without it."
                .to_owned(),
        ),
        ..Id::NoRealtime.finding(Level::Note, verdict)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::testing::{Maker, found, make_noisy};
    use document::{CpuUse, Level};
    use stats::NoiseKind;

    fn run(share: f64) -> Maker {
        let mut maker = Maker::host()
            .cost("call", "none", 8.0)
            .cost("syscall-x86_64", "none", 288.0)
            .cost("cpuid", "none", 30_412.0);
        maker.document.measurement.quiet_share = Some(share);
        maker.document.measurement.seconds = 4.0;
        maker.document.measurement.cpus = vec![CpuUse {
            cpu: 1,
            rounds: 412,
            kept_rounds: 390,
            quiet_share: share,
            vouched_by: "known-width".into(),
            ..CpuUse::default()
        }];
        maker
    }

    #[test]
    fn a_quiet_run_says_so() {
        let finding = found(&run(0.964), "noise").unwrap();
        assert_eq!(finding.level, Level::Ok);
        assert_eq!(
            finding.verdict,
            "Quiet: CPU 1 had its core alone in 96 % of the checks. Every row has a figure."
        );
    }

    #[test]
    fn a_noisy_run_says_which_rows_lack_a_figure_and_what_to_do() {
        let mut maker = run(0.12);
        make_noisy(maker.row("cpuid", "none"));
        let finding = found(&maker, "noise").unwrap();
        assert_eq!(finding.level, Level::Note);
        assert_eq!(
            finding.verdict,
            "Noisy: CPU 1 had its core alone in 12 % of the checks. 1 of 3 rows has no figure (cpuid none): 1 had a shared core."
        );
        assert!(finding.remedy.unwrap().contains("--budget"));
    }

    #[test]
    fn a_document_without_canaries_has_no_line_about_noise() {
        let mut maker = run(0.5);
        maker.document.measurement.quiet_share = None;
        assert_eq!(found(&maker, "noise"), None);
    }

    #[test]
    fn a_core_that_nothing_vouches_for_is_a_warning() {
        let mut maker = run(0.9);
        assert_eq!(found(&maker, "never-seen-quiet"), None);
        maker.document.measurement.cpus[0].vouched_by = "nothing".into();
        maker.document.measurement.cpus[0].canary = [("64".to_owned(), 2.24)].into();
        assert!(found(&maker, "noise").unwrap().verdict.starts_with("Never quiet: nothing shows"));
        let finding = found(&maker, "never-seen-quiet").unwrap();
        assert_eq!(finding.level, Level::Warning);
        assert!(finding.evidence.unwrap().contains("2.24 independent 64-bit"));
        // A CPU on which no round was kept may have been quiet for moments.
        maker.document.measurement.cpus[0].vouched_by = "known-width".into();
        maker.document.measurement.cpus[0].kept_rounds = 0;
        assert_eq!(found(&maker, "never-seen-quiet"), None);
    }

    #[test]
    fn a_short_run_was_called_never_quiet() {
        let mut maker = run(0.9);
        maker.document.measurement.cpus[0].vouched_by = "nothing".into();
        maker.document.measurement.seconds = 0.3;
        let finding = found(&maker, "noise").unwrap();
        let said = "Too short to tell: in 0.3 s nothing showed that CPU 1 had its core alone. Every row";
        assert!(finding.verdict.starts_with(said), "{}", finding.verdict);
        assert_eq!(found(&maker, "never-seen-quiet"), None);
    }

    #[test]
    fn a_run_that_shows_little_says_what_to_type_next() {
        let mut maker = run(0.1);
        maker.document.measurement.budget_seconds = 4.0;
        let next = |maker: &Maker| found(maker, "noise").unwrap().next;
        assert_eq!(next(&maker), None);
        make_noisy(maker.row("cpuid", "none"));
        assert_eq!(next(&maker), None, "two of three rows have a figure");
        make_noisy(maker.row("call", "none"));
        assert_eq!(next(&maker).unwrap(), "kentry -e call -e syscall-x86_64 -e cpuid --budget 20");
        let mut whole = run(0.1);
        for row in 0..40 {
            whole = whole.cost("vdso-x86_64", &row.to_string(), 80.0);
            make_noisy(whole.row("vdso-x86_64", &row.to_string()));
        }
        assert_eq!(next(&whole).unwrap(), "kentry -e syscall -e vdso");
    }

    #[test]
    fn rows_without_enough_rounds_are_counted() {
        let mut maker = run(0.9);
        assert_eq!(found(&maker, "few-rounds"), None);
        make_noisy(maker.row("cpuid", "none"));
        maker.row("cpuid", "none").noise.as_mut().unwrap().kind = NoiseKind::TooFew;
        let finding = found(&maker, "few-rounds").unwrap();
        assert_eq!(finding.verdict, "1 row had no time for 6 rounds, which an estimate needs.");
        assert_eq!(found(&maker, "noise").unwrap().remedy, finding.remedy);
    }

    #[test]
    fn a_busy_machine_was_told_to_be_given_more_time() {
        let run = |seconds, rounds: [u64; 3], steal_ms| {
            let mut maker = run(0.9);
            maker.document.measurement.seconds = seconds;
            maker.document.environment.load =
                Some(environment::LoadDuring { steal_ms, ..Default::default() });
            for (row, rounds) in maker.document.results.iter_mut().zip(rounds) {
                make_noisy(row);
                row.noise.as_mut().unwrap().kind = NoiseKind::TooFew;
                row.counts.rounds = rounds;
            }
            let remedies = ["noise", "few-rounds"].map(|id| found(&maker, id).unwrap().remedy.unwrap());
            assert_eq!(remedies[0], remedies[1]);
            remedies[0].starts_with("The machine was too busy: most rows got one or two rounds.")
        };
        assert!(run(0.4, [2, 1, 5], None), "50 ms a round");
        assert!(!run(0.4, [3, 3, 2], None), "most have more than two rounds");
        assert!(!run(0.04, [2, 1, 5], None), "the budget was short");
        assert!(run(0.04, [2, 1, 5], Some(20.0)) && !run(0.04, [2, 1, 5], Some(5.0)));
    }

    #[test]
    fn steal_counts_from_a_hundredth_of_the_run_on() {
        let mut maker = run(0.9);
        for (milliseconds, is_news) in [(30.0, false), (130.0, true)] {
            let load = environment::LoadDuring { steal_ms: Some(milliseconds), ..Default::default() };
            maker.document.environment.load = Some(load);
            assert_eq!(found(&maker, "steal").is_some(), is_news);
        }
    }

    #[test]
    fn a_refused_priority_comes_with_the_kernels_answer() {
        let mut maker = run(0.9);
        assert_eq!(found(&maker, "no-realtime"), None);
        maker.document.measurement.realtime_refused = Some("EPERM (Operation not permitted)".into());
        assert!(found(&maker, "no-realtime").unwrap().evidence.unwrap().starts_with("EPERM"));
    }
}
