//! Whether a guest has what it was booted with, by its own words.

use super::configuration::Configuration;
use super::parameters::Parameters;
use super::words::Words;
use environment::version;
use serde_json::Value;
use table::{Evidence, Parameter, ParameterValue};

/// Parameters that Linux looks for in its command line by itself (`cmdline_find_option`, and the code that unpacks it), and passes on
/// like those that it does not know.
const FOUND: [&str; 24] = [
    "clearcpuid",
    "dis_ucode_ldr",
    "fred",
    "kaslr",
    "mem_encrypt",
    "no387",
    "no5lvl",
    "no_user_ibt",
    "no_user_shstk",
    "nofxsr",
    "nokaslr",
    "nopti",
    "nospec_store_bypass_disable",
    "nospectre_v2",
    "noxsave",
    "noxsaveopt",
    "noxsaves",
    "pti",
    "setcpuid",
    "spec_store_bypass_disable",
    "spectre_v2",
    "spectre_v2_user",
    "split_lock_detect",
    "tsx",
];

/// What a guest says of a value that it was booted with.
enum Confirmation {
    /// Nothing: its document has no such field.
    None,
    /// That it has the value.
    Agrees,
    /// Something else: in this field, and in words.
    Contradicts(String, String),
}

/// Looks for what contradicts a configuration: parameters that the kernel did not know, and facts that are otherwise. A word of `--append`
/// that stands for a value is judged as that value is. What nothing confirms is returned: settings of which the guest says nothing either
/// way, as `l1tf=off`, and words that stand for none, as `quiet`.
///
/// # Errors
/// The first contradiction, in words.
pub fn judge(
    configuration: &Configuration,
    unknown: &[String],
    document: &Value,
) -> Result<Vec<String>, String> {
    let append = configuration.append.as_deref().map(Words::of).unwrap_or_default();
    let set: Vec<_> = configuration.parameters.iter().flat_map(Parameters::values).collect();
    let is_set = |one: &(&Parameter, &ParameterValue)| set.contains(one);
    let written = configuration.written.values().filter(|one| !is_set(one));
    let all: Vec<_> = set.iter().copied().chain(written).collect();
    let is_given = |name: &str| all.iter().any(|(parameter, _)| parameter.name == name);
    let mut unverified = Vec::new();
    for one in all.iter().copied() {
        let (parameter, value) = one;
        let name = format!("{}={}", parameter.name, value.name);
        let machine = if is_set(&one) { String::new() } else { fitting_machine(&name, value) };
        let of_value = |why: String| format!("{name}: {why}{}{machine}", versions(value, document));
        let of_append = append.each().filter(|word| parameter.written(word) == Some(value));
        let words: Words = std::iter::once(value.append.as_str()).chain(of_append).collect();
        if let Some(word) = first_unknown(&words, unknown) {
            return Err(of_value(format!("this kernel does not know {word}")));
        }
        match confirmation(value, is_given, document) {
            Confirmation::Contradicts(field, why) => {
                return Err(of_value(in_words(parameter, value, (&field, &why))));
            }
            Confirmation::None if !value.kernel_chooses => unverified.push(name),
            Confirmation::None | Confirmation::Agrees => {}
        }
    }
    if let Some(word) = first_unknown(&append, unknown) {
        return Err(format!("{word}: this kernel does not know it, and passed it on to its first program"));
    }
    let is_known = |word: &str| configuration.written.knows(word);
    unverified.extend(append.each().filter(|word| !is_known(word)).map(shortened));
    Ok(unverified)
}

/// What the document says of a value: something if it has one of the fields, and that it agrees if none of those contradicts. Fields that
/// another parameter overrules do not count where that is given.
fn confirmation(value: &ParameterValue, is_given: impl Fn(&str) -> bool, document: &Value) -> Confirmation {
    let mut all = Confirmation::None;
    let counts = |evidence: &&Evidence| !evidence.unless.as_deref().is_some_and(&is_given);
    for evidence in value.shows.iter().filter(counts) {
        match of_evidence(evidence, document) {
            Confirmation::Contradicts(field, why) => return Confirmation::Contradicts(field, why),
            Confirmation::Agrees => all = Confirmation::Agrees,
            Confirmation::None => {}
        }
    }
    all
}

/// The first of these words that the kernel passed on as none of its own.
fn first_unknown(words: &Words, unknown: &[String]) -> Option<String> {
    let is_found = |word: &str| FOUND.contains(&word.split('=').next().unwrap_or_default());
    // The kernel passes words on without their quotation marks.
    let plain = |word: &str| word.replace('"', "");
    let is_unknown =
        |word: &&str| !is_found(word) && unknown.iter().any(|passed| plain(passed) == plain(word));
    words.each().find(is_unknown).map(shortened)
}

/// A word of a command line, as far as a message needs it.
fn shortened(word: &str) -> String {
    const LETTERS: usize = 100;
    let kept: String = word.chars().take(LETTERS).collect();
    if kept.len() < word.len() { format!("{kept}…") } else { kept }
}

/// What boots a machine that has what a word alone cannot bring; nothing where the kernel is all that decides.
fn fitting_machine(name: &str, value: &ParameterValue) -> String {
    if value.board.is_none() && value.cpu.is_empty() {
        return String::new();
    }
    format!("; --set {name} boots a machine that fits")
}

/// When Linux has had a value, for the words in which an ignored one is reported; nothing where this kernel is of those versions.
fn versions(value: &ParameterValue, document: &Value) -> String {
    let release = document.pointer("/environment/kernel/release").and_then(Value::as_str);
    if release.is_some_and(|release| is_of(value, release)) {
        return String::new();
    }
    in_versions(value).map(|when| format!(" ({when})")).unwrap_or_default()
}

/// Whether a kernel of this release is of the versions that know a value.
pub fn is_of(value: &ParameterValue, release: &str) -> bool {
    let is_before =
        |one: &str, other: &str| version(one).zip(version(other)).is_none_or(|(one, other)| one < other);
    let is_older = value.since.as_deref().is_some_and(|since| is_before(release, since));
    let is_newer = value.until.as_deref().is_some_and(|until| is_before(until, release));
    !is_older && !is_newer
}

/// When Linux has had a value: `Linux has it since 5.13`. None where all versions have it, or nobody knows.
pub fn in_versions(value: &ParameterValue) -> Option<String> {
    match (&value.since, &value.until) {
        (Some(since), Some(until)) => Some(format!("Linux has it from {since} to {until}")),
        (Some(since), None) => Some(format!("Linux has it since {since}")),
        (None, Some(until)) => Some(format!("Linux had it until {until}")),
        (None, None) => None,
    }
}

fn in_words(parameter: &Parameter, value: &ParameterValue, (field, why): (&str, &str)) -> String {
    // What the kernel says of itself is not the processor's doing, whatever that was given for it.
    if value.cpu.is_empty() || !field.starts_with("environment.cpu.") {
        return format!("the guest contradicts it: {why}");
    }
    match value.name.as_str() {
        "off" => format!("the guest's processor still has {}: {why}", parameter.name),
        _ => format!("this machine gives the guest's processor no {}: {why}", parameter.name),
    }
}

/// What the document says of one field.
fn of_evidence(evidence: &Evidence, document: &Value) -> Confirmation {
    let found = evidence.field.split('.').try_fold(document, |value, name| value.get(name));
    let Some(found) = found.filter(|found| !found.is_null()) else { return Confirmation::None };
    let is_silent = evidence.where_has.as_ref().is_some_and(|word| has(found, word) != Some(true));
    if is_silent || is_of_another_kind(evidence, found) {
        return Confirmation::None;
    }
    let why = contradiction(evidence, found);
    why.map_or(Confirmation::Agrees, |why| Confirmation::Contradicts(evidence.field.clone(), why))
}

/// Whether a list has this word, or a text contains it; none of what is neither.
fn has(found: &Value, word: &str) -> Option<bool> {
    match found {
        Value::Array(all) => Some(all.iter().any(|one| one.as_str() == Some(word))),
        Value::String(text) => Some(text.contains(word)),
        _ => None,
    }
}

/// Whether a field holds nothing that this evidence could be looked for in.
fn is_of_another_kind(evidence: &Evidence, found: &Value) -> bool {
    match found {
        Value::Array(_) => evidence.is.is_some(),
        Value::String(_) => evidence.some.is_some(),
        Value::Bool(_) | Value::Number(_) => evidence.is.is_none(),
        Value::Null | Value::Object(_) => true,
    }
}

/// What a field says instead; none where it agrees.
fn contradiction(evidence: &Evidence, found: &Value) -> Option<String> {
    let name = evidence.field.trim_start_matches("environment.");
    let text = plain_text(found);
    if let Some(wanted) = &evidence.is {
        return text.filter(|text| text != wanted).map(|text| format!("{name} is {text}"));
    }
    if let Some(word) = &evidence.has {
        return (has(found, word) == Some(false)).then(|| match text {
            Some(text) => format!("{name} is \"{text}\""),
            None => format!("{name} lacks {word}"),
        });
    }
    if let Some(word) = &evidence.lacks {
        return (has(found, word) == Some(true)).then(|| match text {
            Some(text) => format!("{name} is \"{text}\""),
            None => format!("{name} has {word}"),
        });
    }
    let is_some = found.as_array().map(|all| !all.is_empty())?;
    let wanted = evidence.some?;
    (is_some != wanted).then(|| format!("{name} is {}", if is_some { "there" } else { "empty" }))
}

/// A text, a number or a truth, as it is written; none of what is null or has parts.
fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use table::Table;

    fn judged(set: &str, append: &str, unknown: &[&str], document: Value) -> Result<Vec<String>, String> {
        let settings = Table::get().settings(table::Kernel::Linux, set).unwrap();
        let configuration = Configuration {
            kernel: 0,
            append: (!append.is_empty()).then(|| append.to_string()),
            written: Parameters::written(Table::get(), &Words::of(append)),
            cpu_model: None,
            parameters: Some(Parameters::of(Table::get(), &settings)),
        };
        let unknown: Vec<String> = unknown.iter().map(|word| word.to_string()).collect();
        judge(&configuration, &unknown, &document)
    }

    #[test]
    fn a_guest_that_says_otherwise_has_ignored_it() {
        let with =
            |set: &str, environment: Value| judged(set, "", &[], json!({ "environment": environment }));
        assert_eq!(with("pti=on", json!({ "kernel": { "pti": true } })), Ok(vec![]));
        let ignored = with("pti=on", json!({ "kernel": { "pti": false } })).unwrap_err();
        assert_eq!(
            ignored,
            "pti=on: the guest contradicts it: kernel.pti is false (Linux has it since 4.15)"
        );
        let native = with("vsyscall=native", json!({ "vsyscall": "xonly" })).unwrap_err();
        assert!(native.ends_with("vsyscall is xonly (Linux had it until 5.1)"), "{native}");
        let clock = |name: &str| json!({ "clock": { "current_clocksource": name } });
        for counter in ["tsc", "tsc-early"] {
            assert_eq!(with("clocksource=tsc", clock(counter)), Ok(vec![]));
        }
        let jiffies = with("clocksource=tsc", clock("refined-jiffies")).unwrap_err();
        assert!(jiffies.contains("current_clocksource is \"refined-jiffies\""), "{jiffies}");
        let filter = |mode: &str| json!({ "limits": { "seccomp": mode } });
        assert_eq!(with("seccomp=on", filter("filter")), Ok(vec![]));
        let none = with("seccomp=on", filter("off")).unwrap_err();
        assert!(none.contains("limits.seccomp is off"), "{none}");
        let flags = |flags: Value| json!({ "cpu": { "kernel_flags": flags } });
        assert_eq!(with("pcid=on", flags(json!(["pcid"]))), Ok(vec![]));
        let none = with("pcid=on", flags(json!(["smap"]))).unwrap_err();
        assert_eq!(
            none,
            "pcid=on: this machine gives the guest's processor no pcid: cpu.kernel_flags lacks pcid"
        );
        assert!(with("nosmap", flags(json!(["smap"]))).unwrap_err().contains("still has smap"));
        let off = json!({ "mitigations": { "spectre_v2": "Mitigation: Retpolines" } });
        assert!(with("mitigations=off", off).unwrap_err().contains("is \"Mitigation: Retpolines\""));
        assert!(
            judged("vdso=off", "", &[], json!({ "vdso": { "64": [1] } })).unwrap_err().contains("is there")
        );
        assert_eq!(judged("vdso=off", "", &[], json!({ "vdso": { "64": [] } })), Ok(vec![]));
    }

    #[test]
    fn what_a_guest_does_not_say_is_neither_contradicted_nor_verified() {
        for silent in [
            json!({}),
            json!({ "environment": null }),
            json!({ "environment": { "kernel": { "pti": null } } }),
        ] {
            let mut unverified = judged("pti=on,vsyscall=none,nopcid,vdso=off", "", &[], silent).unwrap();
            unverified.sort();
            assert_eq!(unverified, ["pcid=off", "pti=on", "vdso=off", "vsyscall=none"]);
        }
        let of_another_kind =
            json!({ "environment": { "vsyscall": ["none"], "mitigations": { "mds": true } } });
        assert_eq!(judged("vsyscall=none,mds=off", "", &[], of_another_kind).unwrap().len(), 2);
        let audits = |audit: Value| judged("audit=on", "", &[], json!({ "environment": { "audit": audit } }));
        assert_eq!(audits(json!(true)), Ok(vec![]));
        assert_eq!(audits(Value::Null), Ok(vec!["audit=on".to_string()]));
        assert_eq!(
            judged("l1tf=off", "", &[], json!({})),
            Ok(vec!["l1tf=off".to_string()]),
            "nothing shows it"
        );
        assert_eq!(judged("mitigations=auto", "", &[], json!({})), Ok(vec![]), "whatever it says agrees");
        // One field is enough, if none contradicts.
        let some = json!({ "environment": { "kernel": { "pti": false } } });
        assert_eq!(judged("mitigations=off", "", &[], some), Ok(vec![]));
    }

    #[test]
    fn a_processor_without_the_mitigation_that_was_asked_for_passed_as_one_with_it() {
        let with = |set: &str, name: &str, text: &str| {
            judged(set, "", &[], json!({ "environment": { "mitigations": { name: text } } })).is_ok()
        };
        let bhi = |set: &str, state: &str| {
            with(
                set,
                "spectre_v2",
                &format!("Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; BHI: {state}"),
            )
        };
        for (state, [on, off]) in [
            ("BHI_DIS_S", [true, false]),
            ("SW loop, KVM: SW loop", [true, false]),
            // Where retpolines are enough, the kernel clears nothing whatever it was asked for.
            ("Retpoline", [false, true]),
            ("Not affected", [false, true]),
            ("Vulnerable", [false, true]),
            ("Vulnerable, KVM: SW loop", [false, true]),
        ] {
            assert_eq!([bhi("spectre_bhi=on", state), bhi("spectre_bhi=off", state)], [on, off], "{state}");
        }
        // Linux stops before it comes to this part of the text.
        for text in ["Not affected", "Vulnerable: LFENCE", "Vulnerable: eIBRS with unprivileged eBPF"] {
            let document = || json!({ "environment": { "mitigations": { "spectre_v2": text } } });
            for set in ["spectre_bhi=on", "spectre_bhi=off"] {
                assert_eq!(judged(set, "", &[], document()), Ok(vec![set.to_string()]), "{text}");
            }
        }
        let runs_all_the_same =
            with("spec_rstack_overflow=off", "spec_rstack_overflow", "Vulnerable: Safe RET, no microcode");
        assert!(!runs_all_the_same);
        let srso = |set: &str, state: &str| with(set, "spec_rstack_overflow", state);
        for (state, [microcode, safe]) in [
            ("Mitigation: Safe RET", [false, true]),
            ("Mitigation: safe RET", [false, true]),
            ("Vulnerable: Safe RET, no microcode", [false, true]),
            ("Vulnerable: Microcode, no safe RET", [true, false]),
            ("Mitigation: IBPB", [false, false]),
            ("Mitigation: microcode", [true, false]),
            ("Vulnerable: No microcode", [false, false]),
            ("Mitigation: SMT disabled", [false, false]),
            ("Not affected", [false, false]),
        ] {
            let found =
                [srso("spec_rstack_overflow=microcode", state), srso("spec_rstack_overflow=safe-ret", state)];
            assert_eq!(found, [microcode, safe], "{state}");
        }
    }

    #[test]
    fn what_is_done_about_retbleed_on_request_agrees_with_the_request() {
        let retbleed = |value: &str, state: &str| {
            let document = json!({ "environment": { "mitigations": { "retbleed": state } } });
            judged(&format!("retbleed={value}"), "", &[], document).is_ok()
        };
        for (state, agrees) in [
            ("Mitigation: untrained return thunk; SMT enabled with STIBP protection", ["unret"].as_slice()),
            ("Mitigation: IBPB; SMT disabled", &["ibpb"]),
            ("Vulnerable: untrained return thunk / IBPB on non-AMD based uarch", &["unret", "ibpb"]),
            ("Mitigation: IBRS", &[]),
            ("Vulnerable", &["off"]),
        ] {
            for value in ["unret", "ibpb", "off"] {
                assert_eq!(retbleed(value, state), agrees.contains(&value), "{value}: {state}");
            }
        }
    }

    #[test]
    fn a_kernel_says_what_it_does_about_indirect_targets() {
        let its = |value: &str, state: &str| {
            let document =
                json!({ "environment": { "mitigations": { "indirect_target_selection": state } } });
            judged(&format!("indirect_target_selection={value}"), "", &[], document).is_ok()
        };
        for (state, agrees) in [
            ("Not affected", ["off"].as_slice()),
            ("Vulnerable", &["off"]),
            ("Mitigation: Aligned branch/return thunks", &["on", "force"]),
            ("Mitigation: Vulnerable, KVM: Not affected", &["vmexit"]),
            ("Mitigation: Retpolines, Stuffing RSB", &["on", "force", "stuff"]),
        ] {
            for value in ["on", "off", "force", "vmexit", "stuff"] {
                assert_eq!(its(value, state), agrees.contains(&value), "{value}: {state}");
            }
        }
    }

    #[test]
    fn a_word_of_append_that_the_kernel_did_not_obey_had_figures() {
        let retpolines = || {
            json!({ "environment": {
                "kernel": { "pti": true, "release": "6.1.0-56-cloud-amd64" },
                "mitigations": { "spectre_v2": "Mitigation: Retpolines" },
                "clock": { "current_clocksource": "tsc" },
            } })
        };
        let append = |words: &str| judged("default", words, &[], retpolines());
        let set = |text: &str| judged(text, "", &[], retpolines());
        assert_eq!(append("quiet spectre_v2=ibrs"), set("spectre_v2=ibrs"), "in the same words");
        assert_eq!(
            append("spectre_v2=ibrs").unwrap_err(),
            "spectre_v2=ibrs: the guest contradicts it: mitigations.spectre_v2 is \"Mitigation: Retpolines\""
        );
        assert_eq!(append("nopti").unwrap_err(), "pti=off: the guest contradicts it: kernel.pti is true");
        assert_eq!(append("nopti pti=on l1tf=off"), Ok(vec!["l1tf=off".to_string()]), "the last counts");
        // A word alone boots no other board.
        let hpet = append("clocksource=hpet").unwrap_err();
        assert!(hpet.ends_with("is tsc; --set clocksource=hpet boots a machine that fits"), "{hpet}");
        assert!(!set("clocksource=hpet").unwrap_err().contains("--set"));
        let unknown = judged("default", "audit=0", &["audit=0"], json!({})).unwrap_err();
        assert_eq!(unknown, "audit=off: this kernel does not know audit=0");
        let both = judged("pti=on", "nopti", &[], retpolines()).unwrap_err();
        assert!(both.starts_with("pti=off: the guest contradicts it"), "{both}");
    }

    #[test]
    fn a_kernel_of_a_version_that_knows_a_parameter_was_advised_another_version() {
        let ignored = |release: &str| {
            let kernel = json!({ "pti": false, "release": release });
            judged("pti=on", "", &[], json!({ "environment": { "kernel": kernel } })).unwrap_err()
        };
        for (release, named) in [("4.14.0", true), ("4.15.0-1-amd64", false), ("6.1.0", false), ("odd", true)]
        {
            assert_eq!(ignored(release).ends_with("(Linux has it since 4.15)"), named, "{release}");
        }
    }

    #[test]
    fn what_a_parameter_of_its_own_overrules_contradicted_mitigations_off() {
        let document = || {
            json!({ "environment": {
                "kernel": { "pti": true },
                "mitigations": { "spectre_v2": "Vulnerable" },
            } })
        };
        for (set, append) in [
            ("mitigations=off,pti=on", ""),
            ("default", "mitigations=off pti=on"),
            ("pti=on", "mitigations=off"),
        ] {
            assert_eq!(judged(set, append, &[], document()), Ok(vec![]), "{set} {append}");
        }
        assert!(judged("default", "mitigations=off", &[], document()).is_err());
    }

    #[test]
    fn a_kernel_without_kaslr_was_blamed_on_the_processor() {
        let moved = |moved: bool| judged("kaslr=on", "", &[], json!({ "environment": { "kaslr": moved } }));
        assert_eq!(moved(true), Ok(vec![]));
        assert_eq!(moved(false).unwrap_err(), "kaslr=on: the guest contradicts it: kaslr is false");
    }

    #[test]
    fn a_parameter_that_linux_finds_by_itself_was_taken_for_unknown() {
        let document = json!({ "environment": { "kernel": { "pti": true } } });
        assert_eq!(
            judged("pti=on", "nokaslr spectre_v2=auto", &["nokaslr", "spectre_v2=auto", "pti=on"], document),
            Ok(vec!["kaslr=off".to_string()])
        );
        for word in ["noxsaves", "noxsaveopt", "split_lock_detect=off", "no_user_shstk", "no_user_ibt"] {
            assert_eq!(judged("default", word, &[word], json!({})), Ok(vec![word.to_string()]));
        }
    }

    #[test]
    fn what_the_kernel_passed_on_it_did_not_know() {
        let known = judged("default", "quiet", &["BOOT_IMAGE=x"], json!({}));
        assert_eq!(known, Ok(vec!["quiet".to_string()]));
        let set = judged("ia32_emulation=off", "", &["ia32_emulation=off"], json!({})).unwrap_err();
        assert_eq!(
            set,
            "ia32_emulation=off: this kernel does not know ia32_emulation=off (Linux has it since 6.7)"
        );
        let append = judged("default", "quiet foo=bar", &["foo=bar"], json!({})).unwrap_err();
        assert_eq!(append, "foo=bar: this kernel does not know it, and passed it on to its first program");
        let long = format!("é={}", "x".repeat(1500));
        let append = judged("default", &long, &[&long], json!({})).unwrap_err();
        assert!(
            append.contains("xx…: this kernel does not know it") && append.chars().count() < 200,
            "{append}"
        );
    }
}
