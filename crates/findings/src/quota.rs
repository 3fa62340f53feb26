//! The CPU quota of the control group that kentry runs in.

use crate::facts::{Facts, count};
use crate::id::Id;
use document::{Finding, Level};

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    facts.document.is_of_host().then(|| quota(facts)).flatten().into_iter().collect()
}

/// A quota of one CPU or more is no news unless it was used up, by kentry and whatever else is in the group.
fn quota(facts: &Facts) -> Option<Finding> {
    let environment = &facts.document.environment;
    let group = &environment.container.cgroup;
    let cpus = group.cpu_quota?;
    let load = environment.load.as_ref();
    let periods = load.and_then(|load| load.throttled_periods).unwrap_or(0);
    if periods == 0 && cpus >= 1.0 {
        return None;
    }
    let limit = format!("This process's control group may use {cpus:.2} CPUs");
    let (level, verdict) = match load.and_then(|load| load.throttled_ms).filter(|_| periods > 0) {
        Some(stopped) => {
            let times = count(periods as usize, "time", "times");
            let effect = "such rounds are left out, and rows may lack rounds";
            (Level::Warning, format!("{limit}, and was stopped {times}, for {stopped:.0} ms: {effect}."))
        }
        None => (Level::Note, format!("{limit}: the kernel stops it when they are used up.")),
    };
    let place = group.path.as_ref().map(|path| format!(" in {path} or above"));
    Some(Finding {
        evidence: group.cpu_max.as_ref().map(|quota| format!("cpu.max {quota}{}", place.unwrap_or_default())),
        cause: Some("The group has a CPU quota, such as CPUQuota= of systemd, --cpus of docker, or limits.cpu of Kubernetes.".to_owned()),
        remedy: Some("Raise the quota, or measure outside of the group.".to_owned()),
        ..Id::CpuQuota.finding(level, verdict)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::testing::{Maker, found};
    use document::Level;
    use environment::LoadDuring;

    fn with(quota: Option<f64>, throttled: Option<u64>) -> Maker {
        let mut maker = Maker::host();
        let environment = &mut maker.document.environment;
        environment.container.cgroup.cpu_quota = quota;
        environment.container.cgroup.cpu_max = Some("20000 100000".into());
        environment.container.cgroup.path = Some("/a".into());
        let throttled_ms = throttled.map(|periods| periods as f64 * 80.0);
        environment.load =
            Some(LoadDuring { throttled_periods: throttled, throttled_ms, ..LoadDuring::default() });
        maker
    }

    #[test]
    fn a_quota_that_stopped_the_run_is_a_warning() {
        let finding = found(&with(Some(0.2), Some(7)), "cpu-quota").unwrap();
        assert_eq!(finding.level, Level::Warning);
        let said = "This process's control group may use 0.20 CPUs, and was stopped 7 times, for 560 ms: such rounds are left \
                    out, and rows may lack rounds.";
        assert_eq!(finding.verdict, said);
        assert_eq!(finding.evidence.unwrap(), "cpu.max 20000 100000 in /a or above");
        assert!(found(&with(Some(4.0), Some(1)), "cpu-quota").unwrap().verdict.contains("stopped 1 time,"));
    }

    #[test]
    fn a_quota_below_one_cpu_is_a_note_and_a_wide_one_no_news() {
        for throttled in [None, Some(0)] {
            assert_eq!(found(&with(Some(0.5), throttled), "cpu-quota").unwrap().level, Level::Note);
            assert_eq!(found(&with(Some(2.0), throttled), "cpu-quota"), None);
        }
        assert_eq!(found(&with(None, None), "cpu-quota"), None);
    }
}
