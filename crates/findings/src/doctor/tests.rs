//! Recorded machines, and changes of them: nothing panics, and nothing warns that has no reason to.

#![allow(clippy::unwrap_used, reason = "a test")]

use super::*;
use crate::testing::Maker;
use document::{Level, Path};
use examine::{Carried, Runtimes};
use serde_json::Value;

/// Environments as `kentry` writes them, of machines that are told by their names.
pub(super) const FIXTURES: [&str; 8] = [
    "skylake-guest",
    "zen2",
    "aws-verw",
    "zen4-guest",
    "mitigations-off",
    "gvisor",
    "zen5-guest",
    "sapphire-guest",
];

fn fixture(name: &str) -> String {
    let path = format!("{}/src/doctor/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// A checkup of a recorded machine, whose C library makes a system call for random bytes.
pub(super) fn checkup_of(name: &str) -> Checkup {
    let mut checkup = plain();
    checkup.run.environment = serde_json::from_str(&fixture(name)).unwrap();
    checkup
}

/// With all rows that the checks ask for, and nothing carried.
pub(super) fn plain() -> Checkup {
    let maker = Maker::host()
        .cost("syscall-x86_64", "none", 280.0)
        .cost("syscall-x86_64", "getppid", 300.0)
        .served("libc", "getrandom", 1270.0, Path::Kernel)
        .served("vdso-x86_64", "getrandom", 182.0, Path::User)
        .cost("syscall-x86_64", "getrandom", 1200.0)
        .served("libc", "getcpu", 90.0, Path::User)
        .served("vdso-x86_64", "getcpu", 80.0, Path::User)
        .cost("syscall-x86_64", "getcpu", 320.0)
        .cost("rseq", "none", 7.0);
    let mut checkup = Checkup::of(maker.document);
    let carried = r#"{"process": {"pid": 7, "name": "kentry", "is_own": true}, "seccomp": {"mode": "off", "filters": 0},
        "store_bypass": "thread-allowed", "indirect_branch": "thread-allowed", "user_dispatch": false, "programs": [], "landlock": 0}"#;
    checkup.carried = Some(serde_json::from_str(carried).unwrap());
    let runtimes = r#"{"rseq": {"in_kernel": true, "feature_size": 28, "in_loader": true,
        "in_program": {"program": "/bin/true", "registered": true, "size": 32}}}"#;
    checkup.runtimes = Some(serde_json::from_str(runtimes).unwrap());
    checkup
}

/// What the checks of these subjects say.
pub(super) fn diagnosed(checkup: &Checkup) -> Vec<Diagnosis> {
    let facts =
        CheckupFacts { run: Facts { document: &checkup.run, table: Table::get() }, checkup: Some(checkup) };
    let of = |check: Check| {
        let diagnosis = move |finding| Diagnosis { check: check.name().to_owned(), finding };
        findings_of(check)(&facts).into_iter().map(diagnosis)
    };
    [Check::Runtimes, Check::Carried, Check::Protections].into_iter().flat_map(of).collect()
}

/// The rule: a warning is false unless the document says, in the field that it is about, the very thing that is warned of.
fn is_true(checkup: &Checkup, id: &str) -> bool {
    let environment = &checkup.run.environment;
    let carried = checkup.carried.clone().unwrap_or_default();
    let isolates = environment.kernel.pti == Some(true);
    match id {
        "pti" => {
            isolates && environment.mitigations.get("meltdown").is_some_and(|state| state == "Not affected")
        }
        "guest-processor" => {
            isolates && environment.hypervisor.present && !environment.cpu.flags.contains(&"pcid".to_owned())
        }
        "tracer" => carried.tracer.is_some(),
        "store-bypass" => carried.store_bypass.is_some_and(examine::StoreBypass::is_off_for_thread),
        "call-programs" => carried.programs.is_some_and(|programs| !programs.is_empty()),
        _ => false,
    }
}

/// Numbers that are the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// Changes one thing somewhere in a document.
fn change(value: &mut Value, draw: &mut Draw) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let at = draw.below(map.len());
            let key = map.keys().nth(at).unwrap().clone();
            if draw.below(12) == 0 {
                map.remove(&key);
            } else {
                change(&mut map[&key], draw);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let at = draw.below(list.len());
            match draw.below(6) {
                0 => _ = list.remove(at),
                1 => list.push(list[at].clone()),
                _ => change(&mut list[at], draw),
            }
        }
        Value::String(text) => *text = changed(text, draw),
        Value::Bool(is) => *is = !*is,
        Value::Number(number) => {
            let numbers = [0, 1, 2, 6, 25, number.as_i64().unwrap_or(0) + 1, i64::from(u32::MAX)];
            *value = numbers[draw.below(numbers.len())].into();
        }
        other => {
            let others = [Value::Null, "Vulnerable".into(), true.into(), 3.into(), Value::Array(vec![])];
            *other = others[draw.below(others.len())].clone();
        }
    }
}

/// Cut, doubled, with another character somewhere, or words that matter elsewhere.
fn changed(text: &str, draw: &mut Draw) -> String {
    let characters: Vec<char> = text.chars().collect();
    let at = draw.below(characters.len() + 1);
    let (before, after) = characters.split_at(at);
    let (before, after): (String, String) = (before.iter().collect(), after.iter().collect());
    let odd = [
        "",
        ";",
        ", ",
        ": ",
        "Mitigation: ",
        "Vulnerable",
        "Not affected",
        "\u{0}",
        "\u{1f600}",
        "=",
        " pti=on ",
    ];
    match draw.below(4) {
        0 => before,
        1 => format!("{text}{text}"),
        2 => format!("{before}{}", after.chars().skip(1).collect::<String>()),
        _ => format!("{before}{}{after}", odd[draw.below(odd.len())]),
    }
}

#[test]
fn changed_machines_have_no_panic_and_no_false_warning() {
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    for name in FIXTURES {
        let original: Value = serde_json::from_str(&fixture(name)).unwrap();
        let mut understood = 0;
        for _ in 0..2000 {
            let mut environment = original.clone();
            (0..=draw.below(4)).for_each(|_| change(&mut environment, &mut draw));
            let mut checkup = plain();
            let Ok(environment) = serde_json::from_value(environment) else { continue };
            understood += 1;
            checkup.run.environment = environment;
            check(&checkup, name);
        }
        assert!(understood > 1000, "{name}: only {understood} could be read");
    }
}

#[test]
fn changed_processes_and_runtimes_have_no_panic_and_no_false_warning() {
    let mut draw = Draw(0x2545_f491_4f6c_dd1d);
    let mut loaded = plain();
    let carried = loaded.carried.get_or_insert_default();
    carried.tracer = Some(examine::Tracer { pid: 9, name: Some("strace".into()) });
    carried.seccomp = examine::Seccomp { mode: Some(examine::SeccompMode::Filter), filters: Some(3) };
    carried.programs = Some(vec![examine::KernelProgram::default()]);
    for checkup in [plain(), loaded] {
        let whole = [serde_json::to_value(&checkup.carried), serde_json::to_value(&checkup.runtimes)];
        for _ in 0..2000 {
            let [mut carried, mut runtimes] = whole.each_ref().map(|value| value.as_ref().unwrap().clone());
            (0..=draw.below(4)).for_each(|_| change(&mut carried, &mut draw));
            change(&mut runtimes, &mut draw);
            let mut changed = checkup.clone();
            changed.carried = serde_json::from_value::<Carried>(carried).ok();
            changed.runtimes = serde_json::from_value::<Runtimes>(runtimes).ok();
            check(&changed, "a process");
        }
    }
}

fn check(checkup: &Checkup, name: &str) {
    for diagnosis in diagnosed(checkup) {
        let finding = &diagnosis.finding;
        let is_warning = finding.level == Level::Warning;
        assert!(!is_warning || is_true(checkup, &finding.id), "{name}: {finding:?}");
        assert!(finding.figures.iter().all(|figure| figure.value.is_finite()), "{finding:?}");
    }
}

#[test]
fn what_is_said_is_sentences_and_each_finding_of_these_checks_can_appear() {
    let mut all: Vec<Diagnosis> = FIXTURES.iter().flat_map(|name| diagnosed(&checkup_of(name))).collect();
    all.extend(carried::tests::all().iter().flat_map(diagnosed));
    for diagnosis in &all {
        let finding = &diagnosis.finding;
        let sentences =
            [Some(&finding.verdict), finding.cause.as_ref(), finding.remedy.as_ref(), finding.costs.as_ref()];
        for words in sentences.into_iter().flatten() {
            assert!(words.ends_with('.') && words.trim() == words && !words.contains(".."), "{words:?}");
        }
        assert!(finding.next.as_ref().is_none_or(|next| next.starts_with("kentry ")), "{finding:?}");
        let layers = finding.next.iter().flat_map(|next| next.split(" --layer ").skip(1));
        assert!(layers.clone().all(|layer| layers::Layer::named(layer).is_some()), "{:?}", finding.next);
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        assert!(finding.figures.iter().all(|figure| is_name(&figure.name)), "{finding:?}");
    }
    let seen = |id: &&crate::Id| all.iter().any(|diagnosis| diagnosis.finding.id == id.name());
    let unseen: Vec<_> = OF_CHECKUPS.iter().copied().flatten().filter(|id| !seen(id)).collect();
    assert_eq!(unseen, Vec::<&crate::Id>::new());
}

#[test]
fn the_rows_that_checks_ask_for_are_in_the_table() {
    let table = Table::get();
    for check in Check::ALL {
        let is_known = |(entry, operation): &(String, String)| {
            let mut rows = table.rows(table::Kernel::Linux);
            rows.any(|(known, of)| known.name == *entry && of.name == *operation)
        };
        let names = names(*check, table);
        assert!(names.len() > 1 && names.iter().all(is_known), "{names:?}");
    }
    assert!(rows(&[Check::Runtimes], table).len() > 10);
}
