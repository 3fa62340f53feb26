#![allow(clippy::unwrap_used, reason = "a test")]

use super::*;
use crate::doctor::tests::{FIXTURES, checkup_of, diagnosed};
use document::{Checkup, Diagnosis, Price};
use table::Table;

fn found(checkup: &Checkup, id: &str) -> Vec<Diagnosis> {
    let of = |diagnosis: &Diagnosis| diagnosis.check == "protections" && diagnosis.finding.id == id;
    diagnosed(checkup).into_iter().filter(of).collect()
}

fn verdicts(checkup: &Checkup, id: &str) -> String {
    let found = found(checkup, id).into_iter().map(|diagnosis| diagnosis.finding.verdict);
    found.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_table_of_faults_names_settings_and_files_that_there_are() {
    assert_eq!(here::unknown_settings(Table::get()), Vec::<&str>::new());
    let mut names: Vec<&str> = PROTECTED_FAULTS.iter().map(|fault| fault.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PROTECTED_FAULTS.len());
    // Each clause is one, as State takes lines apart.
    for says in PROTECTED_FAULTS.iter().flat_map(|fault| fault.doings).flat_map(|doing| doing.says) {
        let line = format!("Mitigation: {says}");
        let state = State::of(&line);
        assert!(state.says(&[says]), "{says}");
    }
}

#[test]
fn only_a_guest_without_pcid_that_isolates_page_tables_is_warned() {
    for name in FIXTURES {
        let checkup = checkup_of(name);
        let warned = diagnosed(&checkup).into_iter().filter(|found| found.finding.level == Level::Warning);
        let warned: Vec<String> = warned.map(|found| found.finding.id).collect();
        let expected: &[&str] = if name == "skylake-guest" { &["guest-processor"] } else { &[] };
        assert_eq!(warned, expected, "{name}");
    }
    let verdict = verdicts(&checkup_of("skylake-guest"), "guest-processor");
    assert!(verdict.contains("PCID and INVPCID") && verdict.contains("empties the TLB"), "{verdict}");
}

#[test]
fn isolation_without_need_is_a_warning_as_of_a_run() {
    let mut checkup = checkup_of("zen4-guest");
    checkup.run.environment.kernel.pti = Some(true);
    assert_eq!(found(&checkup, "pti")[0].finding.level, Level::Warning);
}

#[test]
fn each_protection_says_where_it_lies() {
    let skylake = verdicts(&checkup_of("skylake-guest"), "protection");
    for words in [
        "Meltdown (Spectre v3, CVE-2017-5754): this kernel has page tables of its own (PTI), and changes them. It lies on every entry into \
         the kernel and every return to a program.",
        "Retbleed (CVE-2022-29900, CVE-2022-29901): this kernel writes SPEC_CTRL (IBRS).",
        "clears buffers of the processor (VERW). It lies on every return to a program.",
    ] {
        assert!(skylake.contains(words), "{words}: {skylake}");
    }
    assert!(!skylake.contains("Inception") && !skylake.contains("TAA"), "{skylake}");
    let zen2 = verdicts(&checkup_of("zen2"), "protection");
    assert!(zen2.contains("untrains the prediction of returns") && zen2.contains("VMSCAPE"), "{zen2}");
    let aws = verdicts(&checkup_of("aws-verw"), "protection");
    assert!(aws.contains("VERW), and says that this is not enough"), "{aws}");
    assert_eq!(verdicts(&checkup_of("gvisor"), "protection"), "");
    assert!(!verdicts(&checkup_of("mitigations-off"), "protection").contains("Meltdown"));
}

#[test]
fn a_remedy_is_the_one_that_applies_here() {
    let remedy = |name: &str| found(&checkup_of(name), "mitigations")[0].finding.remedy.clone().unwrap();
    let off = remedy("mitigations-off");
    assert!(off.contains("meltdown: boot without mitigations=off"), "{off}");
    let aws = remedy("aws-verw");
    assert!(aws.contains("mds: the hypervisor must show what the remedy needs (MD_CLEAR)"), "{aws}");
    let zen5 = remedy("zen5-guest");
    assert!(
        zen5.contains("spec_store_bypass: the hypervisor must show what the remedy needs (SSBD)"),
        "{zen5}"
    );
    assert!(![off, aws, zen5].iter().any(|remedy| remedy.contains("newer microcode or")));
}

#[test]
fn what_a_hypervisor_hides_is_noted_by_name() {
    let sapphire = checkup_of("sapphire-guest");
    let hidden = verdicts(&sapphire, "guest-processor");
    assert!(hidden.contains("RSBA") && hidden.contains("BHI_CTRL"), "{hidden}");
    assert!(verdicts(&sapphire, "fred").contains("offers FRED"));
    for name in ["zen2", "zen4-guest", "zen5-guest", "aws-verw", "mitigations-off"] {
        assert_eq!(verdicts(&checkup_of(name), "guest-processor"), "", "{name}");
    }
}

#[test]
fn words_of_the_command_line_are_told_and_what_is_usual_is_not() {
    let vectors = &found(&checkup_of("zen5-guest"), "boot-words")[0].finding;
    let evidence = vectors.evidence.as_deref().unwrap();
    assert!(evidence.contains("of guests on their host and of guests on each other"), "{evidence}");
    assert!(verdicts(&checkup_of("mitigations-off"), "boot-words").contains("mitigations=off"));
    let mut usual = checkup_of("zen2");
    usual.run.environment.kernel.command_line = Some("quiet mitigations=auto pti=auto ro".into());
    assert_eq!(verdicts(&usual, "boot-words"), "");
}

fn price(setting: &str, amount: f64, unit: PriceUnit, source: PriceSource) -> Price {
    Price {
        setting: setting.into(),
        entry: Some("syscall-x86_64".into()),
        amount: Some(amount),
        low: None,
        high: None,
        unit,
        source,
        words: format!("{amount} of them"),
        command: "kentry bill".into(),
    }
}

#[test]
fn a_price_is_shown_with_the_protection_that_it_is_of_and_never_made_up() {
    let mut checkup = checkup_of("skylake-guest");
    let settings: Vec<String> =
        priced_settings(&checkup.run.environment).iter().map(ToString::to_string).collect();
    for setting in ["pti=on", "ibrs=on", "verw=on", "rsb=32"] {
        assert!(settings.iter().any(|known| known == setting), "{setting}: {settings:?}");
    }
    let costs = |checkup: &Checkup, called: &str| {
        let found = found(checkup, "protection");
        let one = found.into_iter().find(|one| one.finding.verdict.starts_with(called)).unwrap();
        (one.finding.costs.unwrap(), one.finding.figures)
    };
    let (before, none) = costs(&checkup, "Meltdown");
    assert!(before.starts_with("- (kentry bill") && none.is_empty(), "{before}");
    checkup.prices = vec![
        price("pti=on", 4.0, PriceUnit::Instructions, PriceSource::Counted),
        price("verw=on", 310.0, PriceUnit::Cycles, PriceSource::Timed),
        // The kernel has it not, so it is nobody's price here.
        price("entry-ibpb=on", 900.0, PriceUnit::Cycles, PriceSource::Timed),
    ];
    let (after, figures) = costs(&checkup, "Meltdown");
    assert_eq!((after.as_str(), figures[0].unit), ("pti=on: 4 of them.", Unit::Count));
    let (_, figures) = costs(&checkup, "MDS");
    assert_eq!((figures[0].unit, figures[0].value), (Unit::Cycles, 310.0));
    let mut zen5 = checkup_of("zen5-guest");
    zen5.prices = vec![price("returns=untrain", 6.0, PriceUnit::Instructions, PriceSource::Code)];
    let (guessed, _) = costs(&zen5, "Inception");
    assert!(guessed.contains("by a guess: safe RET has another sequence"), "{guessed}");
    let all = found(&checkup, "protection");
    assert!(!all.iter().any(|one| one.finding.costs.as_ref().unwrap().contains("900")));
}
