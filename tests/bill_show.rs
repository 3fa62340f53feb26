//! What is shown of bills: formats, saved bills, listings. Figures are tested elsewhere.

use crate::qemu;
use std::process::{Command, Output};
use table::Table;
use tempfile::TempDir;

/// The command, with a folder of kept runs of its own; words are separated by blanks.
fn kentry(folder: &TempDir, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
    command.env("XDG_DATA_HOME", folder.path()).current_dir(folder.path());
    command.args(line.split(' ')).output().unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn stdout(folder: &TempDir, line: &str) -> String {
    let output = kentry(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn complaint(folder: &TempDir, line: &str) -> String {
    let output = kentry(folder, line);
    assert!(!output.status.success() && output.stdout.is_empty(), "{line}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_saved_bill_is_shown_in_every_format_as_it_was_when_it_was_measured() {
    if !qemu::is_here() {
        return;
    }
    let data = folder();
    stdout(&data, "bill --accel tcg --profile linux-6.1 --output bill.json");
    let saved = std::fs::read_to_string(data.path().join("bill.json")).unwrap();
    let bill = attribution::bill::load(&saved).unwrap();
    let profile = Table::get().profile("linux-6.1").unwrap();
    assert_eq!(bill.lines.len(), profile.steps.len());
    // What is shown again is the same; the run of the lab was kept, too.
    assert_eq!(stdout(&data, "show bill.json --format json"), saved);
    let run = stdout(&data, &format!("show {} --format json", bill.run.as_ref().unwrap()));
    assert!(document::load(&run).unwrap().is_of_lab());
    let (text, markdown) =
        (stdout(&data, "show bill.json"), stdout(&data, "show bill.json --format markdown"));
    let csv = stdout(&data, "show bill.json --format csv");
    stdout(&data, "show bill.json --output bill.svg");
    let picture = std::fs::read_to_string(data.path().join("bill.svg")).unwrap();
    assert!(picture.starts_with("<svg ") && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    for shown in [&text, &markdown, &csv, &picture] {
        for step in &profile.steps {
            assert!(shown.contains(&step.to_string()), "{step}: {shown}");
        }
    }
    assert!(text.contains("a count ranks no cost"), "{text}");
    // The figures of all steps and the interactions add up to the whole.
    let sum: f64 = bill.lines.iter().filter_map(|line| line.alone).map(|figure| figure.estimate).sum();
    let estimate = |figure: Option<attribution::bill::Figure>| figure.unwrap().estimate;
    assert_eq!(estimate(bill.bare) + sum + estimate(bill.interactions), estimate(bill.whole));
}

#[test]
fn a_bill_is_no_run_and_a_run_no_picture() {
    if !qemu::is_here() {
        return;
    }
    let data = folder();
    stdout(&data, "bill --accel tcg --profile bare --no-save --output bill.json");
    assert!(complaint(&data, "compare bill.json bill.json").contains("it is a bill, and not a run"));
    assert!(complaint(&data, "show bill.json --entry call").contains("a bill is shown whole"));
    assert!(complaint(&data, "show bill.json bill.json --output x.svg").contains("not as a picture"));
    assert!(stdout(&data, "show bill.json bill.json").matches("profile bare").count() == 2);
    stdout(&data, "lab --accel tcg --entry call --name run");
    assert!(
        complaint(&data, "show run --output x.svg")
            .contains("and not as svg; `kentry bill`, `kentry anatomy`, `kentry reproduce`, and `kentry linux` with --history or --kernel make pictures")
    );
    assert!(!data.path().join("x.svg").exists(), "nothing is written then");
    let damaged =
        std::fs::read_to_string(data.path().join("bill.json")).unwrap().replace("\"lines\"", "\"line\"");
    std::fs::write(data.path().join("damaged.json"), damaged).unwrap();
    let why = complaint(&data, "show damaged.json");
    assert!(why.contains("not a bill of kentry: ") && why.contains("\"lines\" is missing"), "{why}");
}

#[test]
fn a_listing_has_every_setting_of_the_profile_once_with_what_linux_has() {
    if !qemu::is_here() {
        return;
    }
    let (data, table) = (folder(), Table::get());
    let built = |entry: &str, profile: &str| {
        let line = format!("bill --accel tcg --listing --entry {entry} --profile {profile}");
        stdout(&data, &line)
    };
    for entry in ["syscall-x86_64", "int80-i386"] {
        let text = built(entry, "linux-6.1");
        let (path, elsewhere) = text.split_once("\nnot in this path\n").unwrap();
        for (place, step) in table.profile("linux-6.1").unwrap().steps.iter().enumerate() {
            let named = format!(" {}. {step}\n", place + 1);
            assert_ne!(path.contains(&named), elsewhere.contains(&named), "{named}: {text}");
            let origins = table.origins_of(step);
            assert!(
                !origins.is_empty() && origins.iter().all(|origin| text.contains(&origin.file)),
                "{step}: {text}"
            );
        }
        assert!(path.contains("pti=on\n") && path.contains("SWITCH_TO_KERNEL_CR3"), "{text}");
        assert!(text.contains("\nway in: ") && text.contains("\nway out: "), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    // What is compared with Linux comes in its order, and what has the lab's own does not.
    for (row, profile, has_order) in [
        ("syscall-x86_64", "linux-6.1", true),
        ("syscall-x86_64", "linux-7.1", true),
        ("syscall-x86_64", "linux-7.3", true),
        ("page-fault --operation minor-fault", "linux-6.1", true),
        ("page-fault --operation minor-fault", "linux-7.1", true),
        ("syscall-x86_64", "linux-6.1 --without order --without return-checks --without idle", false),
    ] {
        let text = built(row, profile);
        assert_eq!(text.contains("\nway out: the steps come in Linux's order\n"), has_order, "{row}: {text}");
        // The stack pointer is moved last, for the other steps of a service find the frame by it; as Linux 7.1 and 7.2 do.
        let way_in = match (row, profile) {
            ("syscall-x86_64", profile) if profile != "linux-7.1" => {
                "way in: the steps come in Linux's order, but work=on (place "
            }
            _ => "way in: the steps come in Linux's order\n",
        };
        assert!(!has_order || text.contains(way_in), "{row}: {text}");
    }
    let bare = built("syscall-x86_64", "bare");
    assert!(!bare.contains("1. ") && !bare.contains("not in this path"), "{bare}");
    assert!(complaint(&data, "bill --listing --orders 3").contains("cannot be used with"));
}
