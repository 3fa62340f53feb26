//! Settings are one language: the same texts through every command that takes settings, with the same words and exit status for each
//! mistake.

use std::process::{Command, Output};
use table::{Kernel, Table};

/// Each command that takes settings, the kernel whose they are, and what stands before them.
const COMMANDS: [(Kernel, &[&str]); 5] = [
    (Kernel::Lab, &["lab", "--dry-run", "--entry", "call", "--set"]),
    (Kernel::Lab, &["bill", "--dry-run", "--profile", "bare", "--set"]),
    (Kernel::Linux, &["linux", "--dry-run", "--entry", "call", "--set"]),
    (Kernel::Linux, &["anatomy", "syscall", "--dry-run", "--set"]),
    // What it is given may be a setting of either.
    (Kernel::Lab, &["explain"]),
];

fn kentry(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kentry")).args(words).output().unwrap()
}

/// Whether a text is a setting to a command: `explain` takes a word without `=` for a name.
fn is_setting_to(command: &[&str], text: &str) -> bool {
    command != ["explain"] || text.contains('=')
}

#[test]
fn good_settings_are_good_to_every_command() {
    for text in [
        "pti=on",
        "pti=off,smap=on",
        "smap=off, pti = on",
        " pti=on ,smap=off",
        "pcid=off,vsyscall=none",
        "default",
    ] {
        for (_, command) in COMMANDS.iter().filter(|(_, command)| is_setting_to(command, text)) {
            // A bill's steps are not what an entry is.
            if command[0] == "bill" && text.contains("vsyscall") {
                continue;
            }
            let output = kentry(&[command, &[text][..]].concat());
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{command:?} {text:?}: {said}");
            assert!(!output.stdout.is_empty(), "{command:?} {text:?}");
        }
    }
}

#[test]
fn each_mistake_has_the_same_words_and_exit_status_in_every_command() {
    let no_setting = |part: &str| format!("\"{part}\" is no setting; write NAME=VALUE,NAME=VALUE");
    for (text, sentence) in [
        ("", no_setting("")),
        (",", no_setting("")),
        ("pti=on,", no_setting("")),
        ("=on", no_setting("=on")),
        ("pti=on, =", no_setting("=")),
        ("pti", "pti has no value here; it can be VALUES".into()),
        ("smap=off,pti", "pti has no value here; it can be VALUES".into()),
        ("pti=", "\"\" is no value of pti, which can be VALUES".into()),
        ("pti=maybe", "\"maybe\" is no value of pti, which can be VALUES".into()),
        ("pti=onn", "\"onn\" is no value of pti, which can be VALUES; did you mean on?".into()),
        ("ptii=on", "\"ptii\"; did you mean pti? (there are ".into()),
        ("pti=on,zzz=on", "\"zzz\" (there are ".into()),
        ("pti=on,pti=on", "pti=on is set twice; leave one out".into()),
        (
            "pti=off,on",
            "a configuration has one value of pti; `kentry COMMAND --set pti=off --set pti=on` measures two configurations".into(),
        ),
        (
            "pti=off, pti=on",
            "a configuration has one value of pti; `kentry COMMAND --set pti=off --set pti=on` measures two configurations".into(),
        ),
    ] {
        for (kernel, command) in COMMANDS.iter().filter(|(_, command)| is_setting_to(command, text)) {
            let (values, name) = match kernel {
                Kernel::Lab | Kernel::LabI386 => ("off, on, trampoline", "lab"),
                Kernel::Linux => ("on, off", "linux"),
            };
            let sentence = sentence.replace("VALUES", values).replace("COMMAND", name);
            // Two values are two steps of a bill, and no two configurations.
            let is_bill = command[0] == "bill" && sentence.contains("two configurations");
            let steps = "a --set has one value of pti; `kentry bill --set pti=off --set pti=on` adds both";
            let sentence = if is_bill { steps.into() } else { sentence };
            // What is followed twice has options of its own for the second boot.
            let is_anatomy = command[0] == "anatomy" && sentence.contains("two configurations");
            let boots = "a boot has one value of pti; `kentry anatomy syscall --append pti=off --against pti=on` follows both";
            let sentence = if is_anatomy { boots.into() } else { sentence };
            let output = kentry(&[command, &[text][..]].concat());
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains(&sentence), "{command:?} {text:?}: {said}");
            assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{command:?} {text:?}");
            if command.contains(&"--set") {
                assert!(said.starts_with(format!("kentry: --set {text}").trim_end()), "{command:?}: {said}");
            }
        }
    }
}

#[test]
fn what_a_value_requires_is_said_alike() {
    let why = "copy-frame=on requires pti=on or trampoline, and pti is off";
    for (_, command) in
        COMMANDS.iter().filter(|(kernel, command)| *kernel == Kernel::Lab && command[0] != "explain")
    {
        let output = kentry(&[command, &["copy-frame=on"][..]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(why) && output.status.code() == Some(2), "{command:?}: {said}");
    }
}

#[test]
fn the_same_configuration_twice_is_refused_alike() {
    for command in ["lab", "linux"] {
        let output = kentry(&[command, "--dry-run", "--set", "pti=on,smap=off", "--set", "smap=off, pti=on"]);
        let said = String::from_utf8_lossy(&output.stderr);
        let why = "--set smap=off, pti=on: this is the same configuration as --set pti=on,smap=off; leave one of them out";
        assert!(said.contains(why) && output.status.code() == Some(2), "{command}: {said}");
    }
}

#[test]
fn completion_offers_what_can_be_set() {
    let script = String::from_utf8(kentry(&["completions", "bash"]).stdout).unwrap();
    for kernel in Kernel::ALL {
        for (setting, _) in Table::get().offered(kernel) {
            assert_eq!(Table::get().setting(kernel, &setting.to_string()), Ok(setting.clone()));
            assert!(script.contains(&setting.to_string()), "{setting}");
        }
    }
}
