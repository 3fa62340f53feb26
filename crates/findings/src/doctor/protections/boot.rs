//! What the command line and the build of the kernel change of what is usual: words about protections, FRED, preemption.

use crate::facts::list;
use crate::faults::PROTECTED_FAULTS;
use crate::id::Id;
use document::{Finding, Level};
use environment::{Environment, command_line_words};

/// Parameters about protections that no fault's own word is: Documentation/admin-guide/kernel-parameters.txt.
const MORE: [&str; 10] = [
    "mitigations",
    "pti",
    "nopti",
    "spectre_v2",
    "spectre_v2_user",
    "spectre_bhi",
    "nospec_store_bypass_disable",
    "nosmt",
    "spectre_v1",
    "kvm-intel.vmentry_l1d_flush",
];

/// The value that is what a kernel does unasked.
const USUAL: &str = "auto";

pub(super) fn findings(environment: &Environment) -> Vec<Finding> {
    words(environment).into_iter().chain(fred(environment)).chain(preemption(environment)).collect()
}

/// Words that change what the kernel does about faults.
fn words(environment: &Environment) -> Option<Finding> {
    let line = environment.kernel.command_line.as_deref()?;
    let words: Vec<&str> = command_line_words(line).into_iter().filter(|word| is_change(word)).collect();
    if words.is_empty() {
        return None;
    }
    let said: Vec<String> = words.iter().map(|word| format!("{word}: {}", what_of(word))).collect();
    let costs_nothing = words.iter().all(|word| left_out(word).is_some_and(|out| are_guests(&out)));
    let (end, remedy) = match costs_nothing {
        true => (" A machine that runs no guests loses nothing.", None),
        false => ("", Some("Boot without these words for what the kernel does unasked.")),
    };
    let verdict = format!("{}.{end}", said.join("; "));
    Some(Finding { remedy: remedy.map(str::to_owned), ..Id::BootWords.finding(Level::Note, verdict) })
}

/// Whether a word is about a protection, and asks for something unusual.
fn is_change(word: &str) -> bool {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let name = name.replace('-', "_");
    let of_fault = PROTECTED_FAULTS.iter().any(|fault| {
        let own = fault.off.map(|off| off.split('=').next().unwrap_or(off));
        own == Some(name.as_str()) || fault.name == name
    });
    (of_fault || MORE.iter().any(|known| known.replace('-', "_") == name)) && value != USUAL
}

/// What a word does: of attack vectors (since Linux 6.17), which are left out.
fn what_of(word: &str) -> String {
    match (word, left_out(word)) {
        ("mitigations=off", _) => "every fault is left open".into(),
        ("mitigations=auto,nosmt", _) => {
            "every fault is closed, and second threads of cores are switched off where one needs it".into()
        }
        (_, Some(out)) if are_guests(&out) => "protections against guests are off".into(),
        (_, Some(out)) => {
            let vectors: Vec<String> = out.into_iter().map(vector).collect();
            format!("what is only against attacks {} is off", list(&vectors))
        }
        (word, None) if word.starts_with("mitigations=") => "decides about all protections".into(),
        _ => "decides about one protection".into(),
    }
}

/// The attack vectors that `mitigations=` leaves out, if there are any.
fn left_out(word: &str) -> Option<Vec<&str>> {
    let value = word.strip_prefix("mitigations=")?;
    let out: Vec<&str> = value.split([',', ';']).filter_map(|part| part.strip_prefix("no_")).collect();
    (!out.is_empty()).then_some(out)
}

fn are_guests(vectors: &[&str]) -> bool {
    vectors.iter().all(|vector| ["guest_host", "guest_guest"].contains(vector))
}

fn vector(name: &str) -> String {
    match name {
        "user_kernel" => "of programs on the kernel".into(),
        "user_user" => "of programs on each other".into(),
        "guest_host" => "of guests on their host".into(),
        "guest_guest" => "of guests on each other".into(),
        "cross_thread" => "by the other thread of a core".into(),
        other => format!("of a kind that kentry does not know ({other})"),
    }
}

/// The processor delivers entries by FRED, and the kernel does not use it.
fn fred(environment: &Environment) -> Option<Finding> {
    let cpu = &environment.cpu;
    let has = |flags: &[String]| flags.iter().any(|flag| flag == "fred");
    let unused = has(&cpu.flags) && !has(cpu.kernel_flags.as_deref()?);
    let verdict = "This processor offers FRED, by which it enters the kernel and returns without the IDT and without swapgs; this kernel \
                   does not use it.";
    unused.then(|| Finding {
        remedy: Some(
            "Boot with fred=on, of a kernel that is built with CONFIG_X86_FRED (since Linux 6.9).".into(),
        ),
        ..Id::Fred.finding(Level::Note, verdict)
    })
}

/// How the kernel may be preempted, which decides how long others wait, and what a return from an interrupt looks at.
fn preemption(environment: &Environment) -> Option<Finding> {
    let kernel = &environment.kernel;
    let mode = kernel.preemption_mode.as_deref()?;
    let is_dynamic = kernel.preemption.as_deref() == Some("dynamic");
    let by = kernel.preemption_mode_source.as_deref().unwrap_or("the kernel");
    let how = match mode {
        "none" => "a program's time in the kernel ends where it waits, or returns",
        "voluntary" => "a program's time in the kernel ends at marked places, too",
        "lazy" => "a program's time in the kernel ends at the next tick, and at once for real-time programs",
        "full" => "a program's time in the kernel may end anywhere",
        _ => return None,
    };
    let verdict = format!("Preemption is {mode}: {how}.");
    let remedy = is_dynamic.then(|| {
        "preempt=none, voluntary, full or lazy at boot chooses another; a kernel built with one of them has that alone.".to_owned()
    });
    Some(Finding {
        evidence: Some(format!(
            "by {by}; built {}",
            kernel.preemption.as_deref().unwrap_or("as it does not say")
        )),
        remedy,
        ..Id::Preemption.finding(Level::Ok, verdict)
    })
}
