//! What the doctor says of clocks under conditions that are made for real: nothing wrong, a time namespace, filters, a busy CPU.

use crate::skipped::skipped;
use document::{Checkup, Diagnosis, Document, Level};
use examine::ClockHealth;
use findings::doctor::diagnoses;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use table::Table;

/// Clocks as a command would see them that wraps kentry, such as `unshare -T`; none where the wrapper itself did not work.
fn measured(wrapper: &[&str]) -> Option<Document> {
    let kentry = env!("CARGO_BIN_EXE_kentry");
    let mut words = wrapper.to_vec();
    words.extend([kentry, "measure", "--budget", "1", "--format", "json", "--no-save"]);
    for entry in ["vdso-x86_64", "syscall-x86_64", "libc", "vdso-i386"] {
        words.extend(["--entry", entry]);
    }
    for operation in ["clock_*", "gettimeofday"] {
        words.extend(["--operation", operation]);
    }
    let (program, arguments) = words.split_first().unwrap();
    let output = Command::new(program).args(arguments).output().ok()?;
    document::load(&String::from_utf8(output.stdout).ok()?).ok()
}

fn of_check(checkup: &Checkup, check: &str) -> Vec<Diagnosis> {
    diagnoses(checkup, Table::get()).into_iter().filter(|diagnosis| diagnosis.check == check).collect()
}

fn served(checkup: &Checkup) -> Diagnosis {
    let [served] = of_check(checkup, "clocks").try_into().unwrap();
    served
}

/// The program that installs a seccomp filter and executes what follows.
static SURROUND: LazyLock<PathBuf> = LazyLock::new(|| {
    let target = PathBuf::from(concat!(env!("CARGO_TARGET_TMPDIR"), "/surround-clocks"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/surround.c");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    assert!(Command::new(compiler).args(["-O1", "-o"]).arg(&target).arg(source).status().unwrap().success());
    target
});

#[test]
fn the_new_clocks_answer_rightly_and_those_of_cpu_time_enter_the_kernel() {
    let document = measured(&[]).unwrap();
    let rows = document.results.iter().filter(|row| row.outcome == document::Outcome::Ok);
    let paths = |operation: &str| -> Vec<_> {
        let of = rows.clone().filter(|row| row.operation == operation && row.entry != "syscall-x86_64");
        of.map(|row| row.path).collect()
    };
    for clock in ["thread", "process"] {
        let paths = paths(&format!("clock_gettime-{clock}-cputime"));
        assert!(
            !paths.is_empty() && paths.iter().all(|path| *path == Some(document::Path::Kernel)),
            "{paths:?}"
        );
    }
    for operation in ["clock_gettime-tai", "clock_gettime-realtime-coarse", "clock_getres-monotonic"] {
        let of_call = rows.clone().any(|row| row.operation == operation && row.entry == "syscall-x86_64");
        assert!(of_call && !paths(operation).is_empty(), "{operation}: {:?}", document.results);
    }
}

#[test]
fn a_time_namespace_is_no_fault_where_the_vdso_serves_it() {
    let outside = served(&Checkup::of(measured(&[]).unwrap()));
    let Some(inside) = measured(&["unshare", "-T", "--monotonic", "1000", "--boottime", "1000"]) else {
        return skipped("unshare -T is not permitted");
    };
    let offsets = inside.environment.clock.time_namespace.clone().unwrap_or_default();
    assert!(offsets.contains_key("monotonic"), "{offsets:?}");
    let inside = served(&Checkup::of(inside));
    assert_eq!(inside.finding.level, outside.finding.level, "{inside:?}");
}

#[test]
fn a_filter_on_the_call_does_not_hide_that_the_vdso_serves_it() {
    let surround = SURROUND.to_str().unwrap();
    let plain = served(&Checkup::of(measured(&[]).unwrap()));
    // A filter that only takes its time makes calls dearer, and is no matter of the clock's.
    let slow = served(&Checkup::of(measured(&[surround, "allow", "x86_64", "228"]).unwrap()));
    assert_eq!(slow.finding.level, plain.finding.level, "{slow:?}");
    // One that traps the call takes away what answers are checked by: that is said, and is no warning.
    for action in ["trap", "errno=1"] {
        let Some(run) = measured(&[surround, action, "x86_64", "228"]) else {
            return skipped(format!("kentry does not run under {action}"));
        };
        let read = run.results.iter().find(|row| row.entry == "vdso-x86_64").unwrap();
        assert_eq!(
            read.outcome,
            document::Outcome::Refused,
            "the answer was right, and nobody could say so: {:?}",
            read.reason
        );
        let found = served(&Checkup::of(run)).finding;
        assert_eq!(found.level, Level::Note, "{action}: {found:?}");
        assert!(found.cause.as_ref().unwrap().contains("seccomp filter"), "{action}: {found:?}");
    }
}

/// A machine may be busy or have a fault all along. What appears in each look under load, and in none without, load has made.
#[test]
fn load_makes_no_fault_of_its_own() {
    let document = measured(&[]).unwrap();
    let look = || {
        let health = ClockHealth::look(Duration::from_millis(400));
        let checkup = Checkup { clock_health: Some(health), ..Checkup::of(document.clone()) };
        let found = of_check(&checkup, "clock-health");
        assert!(found.iter().any(|diagnosis| diagnosis.finding.id == "clock-steady"), "{found:#?}");
        found.into_iter().filter(is_fault).map(|each| each.finding.id).collect::<BTreeSet<String>>()
    };
    let looks: Vec<[BTreeSet<String>; 2]> = (0..3).map(|_| [look(), while_busy(look)]).collect();
    let without: BTreeSet<&String> = looks.iter().flat_map(|[without, _]| without).collect();
    let is_in_each = |fault: &&String| looks.iter().all(|[_, under]| under.contains(*fault));
    let under = looks.iter().flat_map(|[_, under]| under).filter(is_in_each).collect::<BTreeSet<_>>();
    assert!(under.is_subset(&without), "{looks:#?}");
}

fn is_fault(diagnosis: &Diagnosis) -> bool {
    matches!(diagnosis.finding.level, Level::Warning | Level::Critical)
}

/// Thirty whole looks, every second with all CPUs busy: `cargo test --workspace --test across -- --ignored thirty_looks`.
#[test]
#[ignore = "takes three minutes"]
fn thirty_looks_raise_no_false_alarm() {
    let look = |run: usize| {
        let health = ClockHealth::look(Duration::from_millis(1500));
        let checkup = Checkup { clock_health: Some(health), ..Checkup::of(measured(&[]).unwrap()) };
        let found = ["clocks", "clock-health"].map(|check| of_check(&checkup, check)).concat();
        for Diagnosis { finding, .. } in &found {
            println!("{run}: {:?} {}", finding.level, finding.verdict);
        }
        found.into_iter().filter(is_fault).collect::<Vec<_>>()
    };
    let mut alarms = Vec::new();
    for run in 0..30 {
        alarms.extend(if run % 2 == 0 { look(run) } else { while_busy(|| look(run)) });
    }
    assert!(alarms.is_empty(), "{alarms:#?}");
}

/// With a thread that does nothing but work on each CPU.
fn while_busy<T>(what: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    let busy = || {
        while !is_over.load(Ordering::Relaxed) {
            std::hint::black_box(0);
        }
    };
    std::thread::scope(|scope| {
        (0..process::allowed_cpus().unwrap().len()).for_each(|_| _ = scope.spawn(busy));
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(what));
        is_over.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Prints what is found here, and keeps the checkup where KENTRY_CHECKUP says.
#[test]
#[ignore = "shows what the checks say here"]
fn show() {
    let document = measured(&[]).unwrap();
    let health = ClockHealth::look(Duration::from_millis(1500));
    let checkup = Checkup { clock_health: Some(health), ..Checkup::of(document) };
    if let Some(path) = std::env::var_os("KENTRY_CHECKUP") {
        std::fs::write(Path::new(&path), serde_json::to_string(&checkup).unwrap()).unwrap();
    }
    let found = ["clocks", "clock-health"].map(|check| of_check(&checkup, check)).concat();
    println!("{}", serde_json::to_string_pretty(&found).unwrap());
}
