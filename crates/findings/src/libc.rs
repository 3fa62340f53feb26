//! The C library against the vDSO, for the same operation.

use crate::facts::{Facts, cost, count, list, price};
use crate::id::Id;
use document::{Confidence, Finding, Level, Path, Row};
use table::special::{LIBC, VDSO};

/// The C library is dear when its interval lies above the vDSO's by this factor.
const FACTOR: f64 = 1.5;

pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    if !facts.are_of_one_linux() {
        return Vec::new();
    }
    finding(facts).into_iter().collect()
}

/// A row of the C library and the vDSO's row for the same operation.
struct Pair<'a> {
    libc: &'a Row,
    vdso: &'a Row,
}

impl Pair<'_> {
    /// By what factor the C library costs more; none where one has no interval or their units differ.
    fn factor(&self) -> Option<f64> {
        let ((libc, unit), (vdso, other)) = (cost(self.libc)?, cost(self.vdso)?);
        (unit == other && vdso.ci_high? > 0.0).then_some(())?;
        Some(libc.ci_low? / vdso.ci_high?)
    }

    /// `getrandom takes 330 ns instead of 47`
    fn words(&self) -> Option<String> {
        let operation = &self.libc.operation;
        if let (Some(libc), Some(vdso)) = (self.libc.ns, self.vdso.ns) {
            return Some(format!(
                "{operation} takes {:.0} ns instead of {:.0}",
                libc.estimate.0, vdso.estimate.0
            ));
        }
        Some(format!("{operation} takes {} instead of {}", price(self.libc)?, price(self.vdso)?))
    }

    /// `getrandom: 1270 cycles (330.2 ns), vDSO 182 cycles (47.3 ns)`
    fn evidence(&self) -> Option<String> {
        Some(format!("{}: {}, vDSO {}", self.libc.operation, price(self.libc)?, price(self.vdso)?))
    }
}

fn finding(facts: &Facts) -> Option<Finding> {
    let operations = &facts.table.entry(LIBC)?.operations;
    let pairs = operations.iter().filter_map(|operation| {
        let pair = Pair { libc: facts.timed(LIBC, operation)?, vdso: facts.timed(VDSO, operation)? };
        Some((pair.factor()?, pair))
    });
    let mut pairs: Vec<(f64, Pair)> = pairs.collect();
    let compared = pairs.len();
    pairs.retain(|(factor, _)| *factor >= FACTOR);
    pairs.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let name = name(facts);
    let next = Some("kentry explain libc".to_owned());
    let dear: Vec<String> = pairs.iter().filter_map(|(_, pair)| pair.words()).collect();
    if dear.is_empty() {
        let compared = (compared > 0).then(|| count(compared, "operation", "operations"))?;
        let verdict = format!("{name} costs no more than {FACTOR} times the vDSO ({compared} compared).");
        return Some(Finding { next, ..Id::Libc.finding(Level::Ok, verdict) });
    }
    let verdict = format!("{name} is slower than the vDSO: {}.", list(&dear));
    let evidence: Vec<String> = pairs.iter().filter_map(|(_, pair)| pair.evidence()).collect();
    let evidence = Some(evidence.join("; "));
    let enters = pairs
        .iter()
        .all(|(_, pair)| pair.libc.path == Some(Path::Kernel) && pair.vdso.path == Some(Path::User));
    let cause = if enters {
        "It makes a system call where the vDSO answers in user space.".to_owned()
    } else {
        "It does more than call the vDSO.".to_owned()
    };
    let confidence = if enters { Confidence::Seen } else { Confidence::Likely };
    let random = pairs.iter().any(|(_, pair)| pair.libc.operation == "getrandom");
    let remedy = if random {
        "glibc takes the vDSO's getrandom from version 2.41 on; otherwise call the vDSO's function directly."
    } else {
        "A newer C library may take the vDSO; otherwise call the vDSO's function directly."
    };
    let (cause, remedy) = (Some(cause), Some(remedy.to_owned()));
    Some(Finding { evidence, cause, remedy, next, confidence, ..Id::Libc.finding(Level::Note, verdict) })
}

/// `glibc 2.36`, or what it is.
fn name(facts: &Facts) -> String {
    let libc = facts.document.environment.libc.as_ref();
    let version = |libc: &environment::Libc| libc.version.as_ref().map(|version| format!(" {version}"));
    libc.map_or("The C library".to_owned(), |libc| {
        format!("{}{}", libc.name, version(libc).unwrap_or_default())
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::testing::{Maker, found};
    use document::{Confidence, Level, Path};

    fn pair(libc: f64, vdso: f64) -> Maker {
        let maker = Maker::host().served("libc", "getrandom", libc, Path::Kernel);
        maker.served("vdso-x86_64", "getrandom", vdso, Path::User)
    }

    #[test]
    fn a_library_that_makes_a_system_call_is_noted() {
        let mut maker = pair(1270.0, 182.0);
        let libc = environment::Libc {
            name: "glibc".into(),
            version: Some("2.36".into()),
            ..environment::Libc::default()
        };
        maker.document.environment.libc = Some(libc);
        let finding = found(&maker, "libc").unwrap();
        assert_eq!((finding.level, finding.confidence), (Level::Note, Confidence::Seen));
        assert_eq!(
            finding.verdict,
            "glibc 2.36 is slower than the vDSO: getrandom takes 330 ns instead of 47."
        );
        assert_eq!(
            finding.evidence.as_deref(),
            Some("getrandom: 1270 cycles (330.2 ns), vDSO 182 cycles (47.3 ns)")
        );
        assert!(finding.remedy.unwrap().contains("2.41"));
    }

    #[test]
    fn a_small_difference_is_no_news() {
        let finding = found(&pair(200.0, 182.0), "libc").unwrap();
        assert_eq!(finding.level, Level::Ok);
        assert!(finding.verdict.contains("(1 operation compared)"), "{}", finding.verdict);
    }

    #[test]
    fn only_intervals_that_lie_apart_count() {
        let mut maker = pair(1270.0, 182.0);
        let cost = maker.row("libc", "getrandom").core_cycles.as_mut().unwrap();
        cost.ci_low = Some(stats::Cycles(250.0));
        assert_eq!(found(&maker, "libc").unwrap().level, Level::Ok);
    }

    #[test]
    fn without_a_figure_nothing_is_compared() {
        let mut maker = pair(1270.0, 182.0);
        crate::testing::make_noisy(maker.row("vdso-x86_64", "getrandom"));
        assert_eq!(found(&maker, "libc"), None);
    }
}
