//! Which entries are open, by which setting, and which programs need them. An entry that is closed is no fault: somebody chose it, or the
//! processor lacks it. What costs 32-bit programs something that it need not cost is a warning.

use crate::doctor::CheckupFacts;
use crate::facts::{Facts, count, list, price};
use crate::id::Id;
use document::{Figure, Finding, Level, Outcome, Row, Unit};
use table::special::{RowName, SYSCALL};

/// The 32-bit entry that every kernel with 32-bit programs has.
const INT80: RowName = RowName { entry: "int80-i386", operation: "getppid" };

/// The entry that the kernel chose for 32-bit programs.
const GATEWAY: RowName = RowName { entry: "gateway-i386", operation: "getppid" };

/// The 32-bit vDSO.
const VDSO32: RowName = RowName { entry: "vdso-i386", operation: "gettimeofday" };

/// The x32 ABI.
const X32: RowName = RowName { entry: "syscall-x32", operation: "getppid" };

/// The page at a fixed address.
const VSYSCALL: RowName = RowName { entry: "vsyscall", operation: "gettimeofday" };

/// The function that has taken the place of the page's.
const VDSO: RowName = RowName { entry: "vdso-x86_64", operation: "gettimeofday" };

/// Entries that are functions, which may make a call themselves.
const FUNCTIONS: [&str; 4] = ["vsyscall", "vdso-x86_64", "vdso-i386", "libc"];

/// A row of each entry that a program can choose, in the table's order.
pub(crate) const ROWS: [RowName; 12] = [
    RowName { entry: SYSCALL, operation: "getppid" },
    RowName { entry: "int80-x86_64", operation: "getppid" },
    X32,
    VSYSCALL,
    VDSO,
    INT80,
    RowName { entry: "sysenter-i386", operation: "getppid" },
    RowName { entry: "syscall-i386", operation: "getppid" },
    GATEWAY,
    VDSO32,
    RowName { entry: "lcall7-i386", operation: "none" },
    RowName { entry: "libc", operation: "gettimeofday" },
];

/// What a clock read costs where there is no 32-bit vDSO.
pub(crate) const CLOCK_BY_INT80: RowName = RowName { operation: "gettimeofday", ..INT80 };

pub(crate) fn findings(facts: &CheckupFacts) -> Vec<Finding> {
    let of = &facts.run;
    [every_entry(of), vsyscall(of), thirty_two_bit(of), vdso32(of), x32(of)].into_iter().flatten().collect()
}

fn row<'a>(facts: &Facts<'a>, name: RowName) -> Option<&'a Row> {
    facts.row(name.entry, name.operation)
}

/// Whether an entry was tried, and is closed. A function that answers an error is open, and a filter refuses the call behind it; SIGSYS is
/// a filter's, too.
fn is_closed(row: &Row) -> bool {
    let is_filters = row.reason.as_deref().is_some_and(|reason| reason.contains("SIGSYS"));
    match row.outcome {
        Outcome::Unsupported => true,
        Outcome::Refused => !FUNCTIONS.contains(&row.entry.as_str()) && !is_filters,
        Outcome::Fault => !is_filters,
        _ => false,
    }
}

/// The seconds that a row costs, as a figure.
fn seconds(row: &Row) -> Option<Figure> {
    row.figure()?;
    let value = row.ns?.unitless().estimate * 1e-9;
    let labels = [("entry", &row.entry), ("operation", &row.operation)];
    let labels = labels.map(|(label, value)| (label.to_owned(), value.clone())).into();
    Some(Figure { name: "crossing".to_owned(), labels, unit: Unit::Seconds, value })
}

/// One line for all of them.
fn every_entry(facts: &Facts) -> Option<Finding> {
    let tried: Vec<&Row> = ROWS.iter().filter_map(|name| row(facts, *name)).collect();
    let open: Vec<&&Row> = tried.iter().filter(|row| row.outcome == Outcome::Ok).collect();
    let closed: Vec<String> =
        tried.iter().filter(|row| is_closed(row)).map(|row| row.entry.clone()).collect();
    let unknown = tried.len() - open.len() - closed.len();
    if tried.is_empty() {
        return None;
    }
    let mut verdict = format!("{} of {} are open", open.len(), count(tried.len(), "entry", "entries"));
    if !closed.is_empty() {
        verdict += &format!("; closed: {}", list(&closed));
    }
    if unknown > 0 {
        verdict += &format!("; {} could not be tried", count(unknown, "entry", "entries"));
    }
    let reason = |row: &&&Row| Some(format!("{}: {}", row.entry, row.reason.as_ref()?));
    let costs =
        open.iter().filter_map(|row| Some(format!("{} {}: {}", row.entry, row.operation, price(row)?)));
    let evidence: Vec<String> = tried
        .iter()
        .filter(|row| is_closed(row))
        .collect::<Vec<_>>()
        .iter()
        .filter_map(reason)
        .chain(costs)
        .collect();
    Some(Finding {
        evidence: (!evidence.is_empty()).then(|| evidence.join("; ")),
        next: Some("kentry list".to_owned()),
        figures: open.iter().filter_map(|row| seconds(row)).collect(),
        ..Id::Entries.finding(Level::Ok, verdict + ".")
    })
}

/// Programs that are linked statically against an old C library jump into the page.
fn vsyscall(facts: &Facts) -> Option<Finding> {
    let page = row(facts, VSYSCALL)?;
    let next = Some("kentry explain vsyscall".to_owned());
    if matches!(page.outcome, Outcome::Refused | Outcome::Fault) && !is_closed(page) {
        let verdict =
            "Whether the vsyscall page is open could not be told: a filter refuses the call behind it.";
        return Some(Finding {
            evidence: page.reason.clone(),
            next,
            ..Id::VsyscallPage.finding(Level::Note, verdict)
        });
    }
    if is_closed(page) {
        let verdict = "The vsyscall page is closed: programs that are linked statically against glibc before 2.14 (CentOS 6 and its \
                       containers) die with SIGSEGV when they read the clock.";
        let given = facts.document.environment.kernel.is_given("vsyscall=none");
        let cause = if given {
            "The command line has vsyscall=none."
        } else {
            "The kernel was built so (CONFIG_LEGACY_VSYSCALL_NONE)."
        };
        return Some(Finding {
            evidence: page.reason.clone(),
            cause: Some(cause.to_owned()),
            remedy: Some(
                "Boot with vsyscall=xonly where such programs must run; nothing is to be done elsewhere."
                    .to_owned(),
            ),
            next,
            ..Id::VsyscallPage.finding(Level::Note, verdict)
        });
    }
    let cost = price(page)?;
    let vdso = row(facts, VDSO).and_then(price);
    let mode =
        facts.document.environment.vsyscall.as_deref().map(|mode| format!(" ({mode})")).unwrap_or_default();
    let verdict =
        format!("The vsyscall page is open{mode}: old static programs run, and read the clock in {cost}.");
    let costs = vdso.map(|vdso| format!("The vDSO takes {vdso} for the same."));
    Some(Finding { costs, next, ..Id::VsyscallPage.finding(Level::Ok, verdict) })
}

/// Programs of 32 bits.
fn thirty_two_bit(facts: &Facts) -> Option<Finding> {
    let int80 = row(facts, INT80)?;
    let next = Some("kentry explain int80-i386".to_owned());
    if is_closed(int80) {
        let verdict =
            "32-bit programs do not run here: Wine's 32-bit parts, old games and vendors' tools need them.";
        let line = &facts.document.environment.kernel;
        let cause = match line.is_given("ia32_emulation=0") {
            true => "The command line has ia32_emulation=0.".to_owned(),
            false => format!(
                "{}.",
                int80.reason.as_deref().unwrap_or("The kernel does not say why").trim_end_matches('.')
            ),
        };
        let remedy =
            "Boot with ia32_emulation=1 where they must run, if the kernel has CONFIG_IA32_EMULATION."
                .to_owned();
        return Some(Finding {
            cause: Some(cause),
            remedy: Some(remedy),
            next,
            ..Id::Programs32Bit.finding(Level::Note, verdict)
        });
    }
    let slow = price(int80)?;
    let verdict = match row(facts, GATEWAY).and_then(price) {
        Some(chosen) => format!(
            "32-bit programs run: a call takes {chosen} by the entry that the kernel chose for them, and {slow} by int $0x80."
        ),
        None => format!("32-bit programs run: a call takes {slow} by int $0x80."),
    };
    Some(Finding { next, ..Id::Programs32Bit.finding(Level::Ok, verdict) })
}

/// Without the vDSO, 32-bit programs read the clock by calls, and call by `int $0x80`.
fn vdso32(facts: &Facts) -> Option<Finding> {
    let (vdso, int80) = (row(facts, VDSO32)?, row(facts, INT80)?);
    if vdso.outcome != Outcome::Unsupported || int80.outcome != Outcome::Ok {
        return None;
    }
    let verdict = "32-bit programs find no vDSO: each of their clock reads and calls is an int $0x80.";
    let kernel = &facts.document.environment.kernel;
    let cause = match kernel.is_given("vdso32=0") {
        true => "The command line has vdso32=0.".to_owned(),
        false => {
            "The sysctl abi.vsyscall32 is 0, or the kernel was built so (CONFIG_COMPAT_VDSO).".to_owned()
        }
    };
    let by_int80 = row(facts, CLOCK_BY_INT80).and_then(price);
    let served = row(facts, VDSO).and_then(price);
    let costs = by_int80
        .zip(served)
        .map(|(call, vdso)| format!("Each clock read costs {call}; the 64-bit vDSO takes {vdso}."));
    Some(Finding {
        evidence: vdso.reason.clone(),
        cause: Some(cause),
        costs,
        remedy: Some(
            "Set it back: sysctl abi.vsyscall32=1. Programs that are started after that have it.".to_owned(),
        ),
        next: Some("kentry explain vdso-i386".to_owned()),
        ..Id::Vdso32Bit.finding(Level::Warning, verdict)
    })
}

/// The ABI that hardly any program uses.
fn x32(facts: &Facts) -> Option<Finding> {
    let x32 = row(facts, X32)?;
    let is = if x32.outcome == Outcome::Ok {
        "Programs of the x32 ABI run."
    } else if is_closed(x32) {
        "Programs of the x32 ABI do not run; hardly any exist outside of Debian's x32 port."
    } else {
        return None;
    };
    Some(Finding { evidence: x32.reason.clone(), ..Id::ProgramsX32.finding(Level::Ok, is) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
pub(crate) mod tests {
    use crate::doctor::{Check, diagnoses};
    use crate::testing::Maker;
    use document::{Checkup, Finding, Level, Outcome};
    use table::Table;

    fn found(maker: &Maker) -> Vec<Finding> {
        let all = diagnoses(&Checkup::of(maker.document.clone()), Table::get());
        let own = all.into_iter().filter(|diagnosis| diagnosis.check == Check::Entries.name());
        own.map(|diagnosis| diagnosis.finding).collect()
    }

    fn healthy() -> Maker {
        Maker::host()
            .cost("syscall-x86_64", "getppid", 300.0)
            .cost("vsyscall", "gettimeofday", 1400.0)
            .cost("vdso-x86_64", "gettimeofday", 90.0)
            .cost("int80-i386", "getppid", 1200.0)
            .cost("int80-i386", "gettimeofday", 1300.0)
            .cost("gateway-i386", "getppid", 400.0)
            .cost("vdso-i386", "gettimeofday", 95.0)
    }

    /// Of a machine on which all is open, and of one that has lost the 32-bit vDSO and never had x32.
    pub fn made() -> Vec<Checkup> {
        let mut lost = healthy().closed("syscall-x32", "getppid", Outcome::Refused, "ENOSYS");
        let row = lost.row("vdso-i386", "gettimeofday");
        (row.outcome, row.core_cycles) = (Outcome::Unsupported, None);
        [healthy(), lost].map(|maker| Checkup::of(maker.document)).into()
    }

    #[test]
    fn what_is_open_is_as_it_should_be() {
        let findings = found(&healthy());
        assert!(findings.iter().all(|finding| finding.level == Level::Ok), "{findings:?}");
        assert_eq!(findings[0].verdict, "6 of 6 entries are open.");
        assert_eq!(findings[0].figures.len(), 6);
        let all: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(all, ["entries", "vsyscall-page", "programs-32-bit"]);
    }

    #[test]
    fn a_lost_vdso_costs_32_bit_programs_something() {
        let mut maker = healthy();
        let row = maker.row("vdso-i386", "gettimeofday");
        (row.outcome, row.core_cycles, row.ns) = (Outcome::Unsupported, None, None);
        let findings = found(&maker);
        let finding = findings.iter().find(|finding| finding.id == "vdso-32-bit").unwrap();
        assert_eq!(finding.level, Level::Warning);
        let costs = finding.costs.as_deref().unwrap();
        assert!(
            costs.starts_with("Each clock read costs 1300 cycles") && costs.contains("takes 90 cycles"),
            "{costs}"
        );
        assert!(finding.remedy.as_deref().unwrap().contains("abi.vsyscall32=1"));
    }

    #[test]
    fn a_closed_page_is_no_fault_and_names_its_setting() {
        let mut maker = healthy();
        let row = maker.row("vsyscall", "gettimeofday");
        (row.outcome, row.core_cycles) = (Outcome::Fault, None);
        let page =
            |maker: &Maker| found(maker).into_iter().find(|finding| finding.id == "vsyscall-page").unwrap();
        assert_eq!(page(&maker).level, Level::Note);
        assert!(page(&maker).cause.unwrap().contains("CONFIG_LEGACY_VSYSCALL_NONE"));
        maker.document.environment.kernel.command_line = Some("quiet vsyscall=none".into());
        assert_eq!(page(&maker).cause.unwrap(), "The command line has vsyscall=none.");
    }

    #[test]
    fn a_filter_was_taken_for_a_closed_page() {
        let mut maker = healthy();
        for (outcome, reason) in [(Outcome::Refused, "the kernel answers EPERM"), (Outcome::Fault, "SIGSYS")]
        {
            let row = maker.row("vsyscall", "gettimeofday");
            (row.outcome, row.core_cycles, row.reason) = (outcome, None, Some(reason.into()));
            let findings = found(&maker);
            let page = findings.iter().find(|finding| finding.id == "vsyscall-page").unwrap();
            assert!(page.verdict.contains("could not be told"), "{}", page.verdict);
            assert!(!findings[0].verdict.contains("closed: "), "{}", findings[0].verdict);
        }
    }

    #[test]
    fn what_could_not_be_tried_is_neither_open_nor_closed() {
        let mut maker = healthy();
        maker.row("int80-i386", "getppid").outcome = Outcome::Timeout;
        let findings = found(&maker);
        assert_eq!(findings[0].verdict, "5 of 6 entries are open; 1 entry could not be tried.");
    }
}
