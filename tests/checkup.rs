//! The checks `carried`, `runtimes` and `protections` of `kentry doctor` on the machine that runs the tests: they warn of nothing that is not so.

use document::{Checkup, Diagnosis, Level};
use environment::Roots;
use examine::{Carried, Runtimes};
use findings::doctor::{Check, diagnoses, rows};
use jsonschema::Registry;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use table::Table;

const CHECKS: [&str; 3] = ["carried", "runtimes", "protections"];

/// The rows that the checks ask for, measured in a second.
fn measured() -> document::Document {
    let rows = rows(&[Check::Runtimes, Check::Carried], Table::get());
    let mut entries: Vec<String> =
        rows.into_iter().map(|(entry, _)| format!("--entry={}", entry.name)).collect();
    entries.sort();
    entries.dedup();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.args(["--format", "json", "--budget", "1", "--strict-budget"]).args(&entries);
    document::load(&String::from_utf8(command.output().unwrap().stdout).unwrap()).unwrap()
}

fn look(run: &document::Document) -> Checkup {
    let mut checkup = Checkup::of(run.clone());
    checkup.run.environment = environment::capture(&Roots::default(), 0);
    checkup.carried = Some(Carried::here());
    checkup.runtimes = Some(Runtimes::here());
    checkup
}

fn diagnosed(checkup: &Checkup) -> Vec<Diagnosis> {
    let all = diagnoses(checkup, Table::get()).into_iter();
    all.filter(|diagnosis| CHECKS.contains(&diagnosis.check.as_str())).collect()
}

/// Whether the kernel says, in a file that the check has not parsed, what is warned of.
fn is_so(id: &str) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let has = |line: &str| {
        status.lines().any(|found| found.split_whitespace().collect::<Vec<_>>().join(" ") == line)
    };
    match id {
        "tracer" => !has("TracerPid: 0"),
        "store-bypass" => status.contains("mitigated"),
        // Somebody may watch this machine.
        "call-programs" => true,
        "pti" | "guest-processor" => std::fs::read_to_string("/proc/cpuinfo").unwrap().contains(" pti "),
        _ => false,
    }
}

#[test]
fn thirty_looks_warn_of_nothing_that_is_not_so() {
    let mut run = measured();
    for number in 0..30 {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            if number % 2 == 1 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop()
                    }
                });
            }
            if number % 10 == 9 {
                run = measured();
            }
            let checkup = look(&run);
            is_over.store(true, Ordering::Relaxed);
            for diagnosis in diagnosed(&checkup) {
                let finding = &diagnosis.finding;
                assert!(finding.level != Level::Warning || is_so(&finding.id), "{number}: {finding:#?}");
            }
        });
    }
}

#[test]
fn each_of_these_checks_has_something_to_say_of_this_machine() {
    let checkup = look(&measured());
    let said = diagnosed(&checkup);
    for check in CHECKS {
        assert!(said.iter().any(|diagnosis| diagnosis.check == check), "{check}");
    }
    // A checkup is a document like others.
    let text = serde_json::to_string(&checkup).unwrap();
    assert_eq!(serde_json::from_str::<Checkup>(&text).unwrap().carried, checkup.carried);
    for diagnosis in said {
        println!("{} {:?} {}", diagnosis.check, diagnosis.finding.level, diagnosis.finding.verdict);
        for words in
            [diagnosis.finding.costs, diagnosis.finding.cause, diagnosis.finding.remedy].into_iter().flatten()
        {
            println!("    {words}");
        }
    }
}

/// Of what the command writes.
fn objections(checkup: &Value) -> Vec<String> {
    let schema = |name: &str| -> Value {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        serde_json::from_str(&std::fs::read_to_string(docs.join(name)).unwrap()).unwrap()
    };
    let (of_checkups, of_runs) = (schema("checkup.schema.json"), schema("run.schema.json"));
    let registry =
        Registry::new().add("json-schema:///run.schema.json", &of_runs).unwrap().prepare().unwrap();
    let validator = jsonschema::draft202012::options().with_registry(&registry).build(&of_checkups).unwrap();
    validator.iter_errors(checkup).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn what_the_command_writes_is_what_its_schema_says() {
    let written = |arguments: &[&str]| -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
        command.args(["doctor", "--budget", "1", "--fail-on", "never", "--format", "json"]).args(arguments);
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
    };
    let (whole, behind) = (written(&[]), written(&["--check", "carried", "--", "env"]));
    assert_eq!(objections(&whole), [""; 0]);
    assert_eq!(objections(&behind), [""; 0]);
    assert!(whole["clock_health"].is_object() && whole["behind"].is_null(), "all is looked at");
    assert!(behind["clock_health"].is_null() && behind["behind"]["rows"].is_array(), "what was asked for is");
}
