#![allow(clippy::unwrap_used, reason = "a test")]

use super::*;
use crate::doctor::tests::{FIXTURES, checkup_of, diagnosed};
use document::{Checkup, Diagnosis, Price};
use table::Table;

fn found(checkup: &Checkup, id: &str) -> Vec<Diagnosis> {
    let of = |diagnosis: &Diagnosis| diagnosis.check == "protections" && diagnosis.finding.id == id;
    diagnosed(checkup).into_iter().filter(of).collect()
}

fn one(checkup: &Checkup, called: &str) -> document::Finding {
    let all = found(checkup, "protection").into_iter().map(|diagnosis| diagnosis.finding);
    all.into_iter().find(|finding| finding.verdict.starts_with(called)).unwrap()
}

/// A machine whose kernel says these things besides.
fn with(name: &str, states: &[(&str, &str)]) -> Checkup {
    let mut checkup = checkup_of(name);
    let states = states.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned()));
    checkup.run.environment.mitigations.extend(states);
    checkup
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
    assert!(
        aws.contains("VERW); the microcode half (MD_CLEAR) is missing, so the kernel calls this vulnerable."),
        "{aws}"
    );
    assert_eq!(verdicts(&checkup_of("gvisor"), "protection"), "");
    assert!(!verdicts(&checkup_of("mitigations-off"), "protection").contains("Meltdown"));
}

#[test]
fn a_remedy_is_the_one_that_applies_here() {
    let remedy = |name: &str| found(&checkup_of(name), "mitigations")[0].finding.remedy.clone().unwrap();
    let of = |name: &str, called: &str| one(&checkup_of(name), called).remedy.unwrap();
    let off = remedy("mitigations-off");
    assert!(off.contains("meltdown: boot without mitigations=off"), "{off}");
    assert!(off.ends_with("System calls would then cost more."), "{off}");
    let aws = of("aws-verw", "MDS");
    assert_eq!(aws, "mds: the hypervisor must show what the remedy needs (MD_CLEAR).");
    let mmio = of("aws-verw", "MMIO");
    assert_eq!(mmio, "mmio_stale_data: the hypervisor must show what the remedy needs (FB_CLEAR).");
    let zen5 = remedy("zen5-guest");
    assert_eq!(zen5, "spec_store_bypass: the hypervisor must show what the remedy needs (SSBD).");
    let inception = of("zen5-guest", "Inception");
    assert!(
        inception.contains("IBPB_BRTYPE") && inception.contains("calls cost less"),
        "Zen 5 is spared between programs and kernel: {inception}"
    );
    assert!(![off, aws, zen5].iter().any(|remedy| remedy.contains("newer microcode or")));
}

#[test]
fn what_is_half_closed_is_a_note_of_its_own_and_no_advice_to_open_it() {
    let zen5 = checkup_of("zen5-guest");
    let half = one(&zen5, "Inception");
    assert_eq!(half.level, Level::Note);
    assert!(
        half.verdict
            .contains("the microcode half (IBPB_BRTYPE) is missing, so the kernel calls this vulnerable")
    );
    let costs = half.costs.unwrap();
    assert!(
        costs.contains("spec_rstack_overflow=off would save what it costs, and open the fault, which"),
        "{costs}"
    );
    assert_eq!(verdicts(&zen5, "mitigations"), "Not mitigated here: spec_store_bypass.");
    for name in FIXTURES {
        for finding in found(&checkup_of(name), "protection").into_iter().map(|one| one.finding) {
            assert!(!finding.remedy.is_some_and(|remedy| remedy.contains("=off would")), "{name}");
        }
    }
}

#[test]
fn a_microcode_that_the_kernel_misses_is_told_in_either_case_of_its_words() {
    for state in ["Vulnerable: No microcode", "Vulnerable: Clear CPU buffers attempted, no microcode"] {
        let mut checkup = with("zen4-guest", &[("tsa", state)]);
        checkup.run.environment.hypervisor.present = false;
        let all = diagnosed(&checkup).into_iter().filter_map(|found| found.finding.remedy);
        let text = all.collect::<Vec<_>>().join("\n");
        assert!(text.contains("tsa: the processor lacks what the remedy needs (VERW_CLEAR)"), "{text}");
    }
}

#[test]
fn buffers_are_cleared_where_the_kernel_says_so_and_stale_data_of_mmio_alone_before_guests() {
    let lies = |states: &[(&str, &str)], called: &str| one(&with("skylake-guest", states), called).verdict;
    let exits = "It lies on every return to a program.";
    let guests = "It lies on entries into virtual machines and exits from them.";
    let clears = "Mitigation: Clear CPU buffers; SMT vulnerable";
    let none = ("mds", "Not affected");
    assert!(lies(&[("mmio_stale_data", clears), none], "MMIO").ends_with(guests));
    assert!(lies(&[("mmio_stale_data", clears), ("mds", clears)], "MMIO").ends_with(exits));
    let rfds = ("reg_file_data_sampling", "Mitigation: Clear Register File");
    assert!(lies(&[("mmio_stale_data", clears), none, rfds], "MMIO").ends_with(exits));
    let tsa = |state: &str| lies(&[("tsa", state)], "TSA");
    assert!(tsa("Mitigation: Clear CPU buffers: user/kernel boundary").ends_with(exits));
    assert!(tsa("Mitigation: Clear CPU buffers: VM").ends_with(guests));
    let both = tsa("Mitigation: Clear CPU buffers");
    assert!(both.contains("every return to a program and entries into virtual machines"), "{both}");
    let srso = |state: &str| lies(&[("spec_rstack_overflow", state)], "Inception");
    assert!(srso("Mitigation: Safe RET").contains("every entry into the kernel and each return instruction"));
    assert!(srso("Mitigation: Reduced Speculation").ends_with(guests));
    assert!(srso("Mitigation: IBPB on VMEXIT only").ends_with(guests));
}

#[test]
fn what_several_faults_share_has_one_figure_and_is_given_back_by_all_words_together() {
    let clears = "Mitigation: Clear CPU buffers; SMT vulnerable";
    let mut checkup =
        with("skylake-guest", &[("mds", clears), ("mmio_stale_data", clears), ("tsx_async_abort", clears)]);
    checkup.prices = vec![
        price("verw=on", 310.0, PriceUnit::Cycles, PriceSource::Timed),
        price("ibrs=on", 300.0, PriceUnit::Cycles, PriceSource::Timed),
    ];
    let figures: Vec<_> =
        found(&checkup, "protection").into_iter().flat_map(|one| one.finding.figures).collect();
    assert_eq!(figures.iter().map(|figure| figure.value).sum::<f64>(), 610.0, "{figures:?}");
    let costs = |called: &str| one(&checkup, called).costs.unwrap();
    let words = "mds=off, tsx_async_abort=off and mmio_stale_data=off together would save at most that";
    assert!(costs("MDS").contains(words), "{}", costs("MDS"));
    assert!(costs("TAA").starts_with("verw=on: once for this and MDS, where its price stands; "));
    let mut zen2 = checkup_of("zen2");
    zen2.prices = vec![price("returns=untrain", 7.0, PriceUnit::Instructions, PriceSource::Code)];
    for (called, words) in [
        ("Retbleed", "retbleed=off and spec_rstack_overflow=off together"),
        ("Inception", "spec_rstack_overflow=off and retbleed=off together"),
    ] {
        let costs = one(&zen2, called).costs.unwrap();
        assert!(costs.contains(words), "safe RET untrains returns by itself: {costs}");
    }
}

#[test]
fn what_is_built_in_is_not_given_back_and_what_has_no_price_is_named() {
    let mut zen5 = checkup_of("zen5-guest");
    zen5.prices = vec![price("index-mask=on", 3.0, PriceUnit::Instructions, PriceSource::Code)];
    let masks = one(&zen5, "Spectre v1");
    assert!(!masks.costs.clone().unwrap().contains("nospectre_v1"), "{masks:?}");
    assert!(!masks.verdict.contains("swapgs"), "this processor needs no fence: {masks:?}");
    zen5.run.environment.cpu.bugs.as_mut().unwrap().push("swapgs".into());
    zen5.run.environment.cpu.kernel_flags.as_mut().unwrap().retain(|flag| flag != "smap");
    let fenced = one(&zen5, "Spectre v1").costs.unwrap();
    assert!(fenced.contains("nospectre_v1 would save at most fences behind swapgs, and open"), "{fenced}");
    zen5.prices = vec![price("rsb=32", 96.0, PriceUnit::Instructions, PriceSource::Code)];
    let v2 = one(&zen5, "Spectre v2").costs.unwrap();
    assert!(v2.starts_with("rsb=32: ") && v2.contains("; no price is known of retpolines; "), "{v2}");
}

#[test]
fn an_atom_without_invpcid_has_a_hypervisor_that_hides_nothing() {
    let mut denverton = checkup_of("skylake-guest");
    let cpu = &mut denverton.run.environment.cpu;
    cpu.flags.retain(|flag| flag != "adx");
    cpu.kernel_flags.as_mut().unwrap().retain(|flag| flag != "adx");
    assert_eq!(verdicts(&denverton, "guest-processor"), "");
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
    assert_eq!(
        verdicts(&checkup_of("zen5-guest"), "boot-words"),
        "mitigations=auto,no_guest_host,no_guest_guest: protections against guests are off. A machine that runs no guests loses nothing."
    );
    let mut programs = checkup_of("zen5-guest");
    programs.run.environment.kernel.command_line = Some("mitigations=auto,no_user_kernel".into());
    let verdict = verdicts(&programs, "boot-words");
    assert!(
        verdict.contains("attacks of programs on the kernel is off") && !verdict.contains("loses nothing"),
        "{verdict}"
    );
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
    let pti = "pti=on: 4 of them; pti=off would save at most that, and open the fault, which gives up the kernel's memory, to every \
               program that is run here.";
    assert_eq!((after.as_str(), figures[0].unit), (pti, Unit::Count));
    let (_, figures) = costs(&checkup, "MDS");
    assert_eq!((figures[0].unit, figures[0].value), (Unit::Cycles, 310.0));
    let mut zen5 = checkup_of("zen5-guest");
    zen5.prices = vec![price("returns=untrain", 6.0, PriceUnit::Instructions, PriceSource::Code)];
    let (guessed, _) = costs(&zen5, "Inception");
    assert!(guessed.contains("by a guess: safe RET has another sequence"), "{guessed}");
    let all = found(&checkup, "protection");
    assert!(!all.iter().any(|one| one.finding.costs.as_ref().unwrap().contains("900")));
}
