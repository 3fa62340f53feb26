//! Whether a guest has what it was booted with, by its own words.

use super::configuration::Configuration;
use super::words::Words;
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

/// Looks for what contradicts a configuration: parameters that the kernel did not know, and facts that are otherwise.
///
/// # Errors
/// The first that does, in words.
pub fn judge(configuration: &Configuration, unknown: &[String], document: &Value) -> Result<(), String> {
    for (parameter, value) in configuration.settings.iter().flat_map(|settings| settings.values()) {
        let name = format!("{}={}", parameter.name, value.name);
        let of_value = |why: String| format!("{name}: {why}{}", versions(value));
        if let Some(word) = first_unknown(&Words::of(&value.append), unknown) {
            return Err(of_value(format!("this kernel does not know {word}")));
        }
        if let Some(why) = value.shows.iter().find_map(|evidence| contradiction(evidence, document)) {
            return Err(of_value(in_words(parameter, value, &why)));
        }
    }
    let append = configuration.append.as_deref().map(Words::of).unwrap_or_default();
    match first_unknown(&append, unknown) {
        Some(word) => {
            Err(format!("--append: this kernel does not know {word}, and passed it on to its first program"))
        }
        None => Ok(()),
    }
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

/// When Linux has had a value, for the words in which an ignored one is reported.
fn versions(value: &ParameterValue) -> String {
    match (&value.since, &value.until) {
        (Some(since), Some(until)) => format!(" (Linux has it from {since} to {until})"),
        (Some(since), None) => format!(" (Linux has it since {since})"),
        (None, Some(until)) => format!(" (Linux had it until {until})"),
        (None, None) => String::new(),
    }
}

fn in_words(parameter: &Parameter, value: &ParameterValue, why: &str) -> String {
    if value.cpu.is_empty() {
        return format!("the guest contradicts it: {why}");
    }
    match value.name.as_str() {
        "off" => format!("the guest's processor still has {}: {why}", parameter.name),
        _ => format!("this machine gives the guest's processor no {}: {why}", parameter.name),
    }
}

/// What the document says instead; none where it agrees, or says nothing of the field.
fn contradiction(evidence: &Evidence, document: &Value) -> Option<String> {
    let found = evidence.field.split('.').try_fold(document, |value, name| value.get(name))?;
    let name = evidence.field.trim_start_matches("environment.");
    let text = plain_text(found);
    let has = |word: &String| match found {
        Value::Array(all) => Some(all.iter().any(|one| one.as_str() == Some(word))),
        Value::String(text) => Some(text.contains(word.as_str())),
        _ => None,
    };
    if let Some(wanted) = &evidence.is {
        return text.filter(|text| text != wanted).map(|text| format!("{name} is {text}"));
    }
    if let Some(word) = &evidence.has {
        return (has(word) == Some(false)).then(|| match text {
            Some(text) => format!("{name} is \"{text}\""),
            None => format!("{name} lacks {word}"),
        });
    }
    if let Some(word) = &evidence.lacks {
        return (has(word) == Some(true)).then(|| match text {
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
    use crate::guest::Settings;
    use serde_json::json;
    use table::Table;

    fn judged(set: &str, append: &str, unknown: &[&str], document: Value) -> Result<(), String> {
        let settings = Settings::parse(Table::get(), set).unwrap();
        let configuration = Configuration {
            kernel: 0,
            append: (!append.is_empty()).then(|| append.to_string()),
            cpu_model: None,
            settings: Some(settings),
        };
        let unknown: Vec<String> = unknown.iter().map(|word| word.to_string()).collect();
        judge(&configuration, &unknown, &document)
    }

    #[test]
    fn a_guest_that_says_otherwise_has_ignored_it() {
        let with =
            |set: &str, environment: Value| judged(set, "", &[], json!({ "environment": environment }));
        assert_eq!(with("pti=on", json!({ "kernel": { "pti": true } })), Ok(()));
        let ignored = with("pti=on", json!({ "kernel": { "pti": false } })).unwrap_err();
        assert_eq!(
            ignored,
            "pti=on: the guest contradicts it: kernel.pti is false (Linux has it since 4.15)"
        );
        let native = with("vsyscall=native", json!({ "vsyscall": "xonly" })).unwrap_err();
        assert!(native.ends_with("vsyscall is xonly (Linux had it until 5.1)"), "{native}");
        let clock = |name: &str| json!({ "clock": { "current_clocksource": name } });
        for counter in ["tsc", "tsc-early"] {
            assert_eq!(with("clocksource=tsc", clock(counter)), Ok(()));
        }
        let jiffies = with("clocksource=tsc", clock("refined-jiffies")).unwrap_err();
        assert!(jiffies.contains("current_clocksource is \"refined-jiffies\""), "{jiffies}");
        let filter = |mode: &str| json!({ "limits": { "seccomp": mode } });
        assert_eq!(with("seccomp=on", filter("filter")), Ok(()));
        let none = with("seccomp=on", filter("off")).unwrap_err();
        assert!(none.contains("limits.seccomp is off"), "{none}");
        let flags = |flags: Value| json!({ "cpu": { "kernel_flags": flags } });
        assert_eq!(with("pcid=on", flags(json!(["pcid"]))), Ok(()));
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
        assert_eq!(judged("vdso=off", "", &[], json!({ "vdso": { "64": [] } })), Ok(()));
    }

    #[test]
    fn what_a_guest_does_not_say_contradicts_nothing() {
        for silent in [
            json!({}),
            json!({ "environment": null }),
            json!({ "environment": { "kernel": { "pti": null } } }),
        ] {
            assert_eq!(judged("pti=on,vsyscall=none,nopcid,vdso=off", "", &[], silent), Ok(()));
        }
    }

    #[test]
    fn a_parameter_that_linux_finds_by_itself_was_taken_for_unknown() {
        let document = json!({ "environment": { "kernel": { "pti": true } } });
        assert_eq!(
            judged("pti=on", "nokaslr spectre_v2=auto", &["nokaslr", "spectre_v2=auto", "pti=on"], document),
            Ok(())
        );
        for word in ["noxsaves", "noxsaveopt", "split_lock_detect=off", "no_user_shstk", "no_user_ibt"] {
            assert_eq!(judged("default", word, &[word], json!({})), Ok(()));
        }
    }

    #[test]
    fn what_the_kernel_passed_on_it_did_not_know() {
        let known = judged("pti=on", "quiet", &["BOOT_IMAGE=x"], json!({}));
        assert_eq!(known, Ok(()));
        let set = judged("ia32_emulation=off", "", &["ia32_emulation=off"], json!({})).unwrap_err();
        assert_eq!(
            set,
            "ia32_emulation=off: this kernel does not know ia32_emulation=off (Linux has it since 6.7)"
        );
        let append = judged("default", "quiet foo=bar", &["foo=bar"], json!({})).unwrap_err();
        assert!(append.starts_with("--append: this kernel does not know foo=bar"), "{append}");
        let long = format!("é={}", "x".repeat(1500));
        let append = judged("default", &long, &[&long], json!({})).unwrap_err();
        assert!(append.contains("xx…, and passed it on") && append.chars().count() < 200, "{append}");
    }
}
