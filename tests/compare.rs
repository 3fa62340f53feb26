//! `kentry compare` as it is called, on runs of simulated machines, whose true costs are known: names, formats, gates and exit codes.

use crate::simulated::{Case, Ids, cost, ids, quiet};
use crate::skipped::skipped;
use compare::{Comparison, Verdict};
use document::Document;
use runs::Store;
use serde_json::{Value, json};
use simulator::Subject;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// A folder with runs in files: `a1` to `a3`, and `c1` to `c3`, of one machine, `b1` to `b3` of one on which a system call costs a
/// tenth more.
static RUNS: LazyLock<BTreeMap<&str, String>> = LazyLock::new(|| {
    let names = ["a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"];
    let run = |(name, seed): (&'static str, u64)| {
        let slower = if name.starts_with('b') { 1.1 } else { 1.0 };
        (
            name,
            json_of(&run(seed, move |row| if row == ids("syscall-x86_64", "none") { slower } else { 1.0 })),
        )
    };
    names.into_iter().zip(1..).map(run).collect()
});

/// A short run of some rows, each of which costs so many times as much as usual: hundreds of cycles.
fn run(seed: u64, factor: impl Fn(Ids) -> f64 + 'static) -> Document {
    let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
    let entries = words(&["call", "rdtsc", "rdtscp", "syscall-x86_64"]);
    let mut case =
        Case { entries, operations: words(&["none", "getppid"]), budget: 1.0, ..Case::on(quiet(seed)) };
    case.environment.machine_id = Some("0123456789abcdef".repeat(2));
    case.environment.boot_id = Some("fedcba9876543210".repeat(2));
    case.environment.kernel.release = Some("6.18.44".into());
    let mut document = case.costing(move |row| Subject::from(40.0 * cost(row) * factor(row))).document();
    document.id = Some(format!("{seed:032x}"));
    document.measurement.started = format!("2026-11-22T10:00:{seed:02}Z");
    document
}

fn json_of(document: &Document) -> String {
    serde_json::to_string(document).unwrap()
}

/// The command with a folder of its own, in which the runs are files.
struct User(tempfile::TempDir);

impl User {
    fn new() -> User {
        let user = User(tempfile::tempdir().unwrap());
        for (name, text) in RUNS.iter() {
            user.write(&format!("{name}.json"), text);
        }
        user
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Changes a document on its way into another file.
    fn change(&self, from: &str, to: &str, change: impl FnOnce(&mut Value)) {
        let mut value: Value = serde_json::from_str(&RUNS[from]).unwrap();
        change(&mut value);
        self.write(to, &value.to_string());
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
        command.arg("compare").args(words.split_whitespace());
        command.env("XDG_DATA_HOME", self.path("data")).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    fn compare(&self, words: &str) -> Output {
        self.command(words).output().unwrap()
    }

    /// The comparison, as JSON has it.
    fn comparison(&self, words: &str) -> Comparison {
        let output = self.compare(&format!("{words} --format json"));
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)))
    }

    /// Keeps runs as a measurement does.
    fn keep(&self, text: &str, name: Option<&str>) -> String {
        let store = Store::at(self.path("data/kentry/runs"));
        store.prepare().unwrap();
        let document = document::load(text).unwrap();
        store.keep(&document, text, name, &BTreeMap::new()).unwrap().id
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

const SLOWER: &str = "--base a1.json --base a2.json --base a3.json --new b1.json --new b2.json --new b3.json";
const ALIKE: &str = "--base a1.json --base a2.json --new a3.json";

fn verdict(compared: &Comparison, name: &str) -> Verdict {
    compared.rows.iter().find(|row| row.in_words() == name).unwrap().verdict
}

#[test]
fn a_row_that_got_slower_is_found_and_no_other() {
    let user = User::new();
    let compared = user.comparison(SLOWER);
    let slower: Vec<String> =
        compared.rows.iter().filter(|row| row.verdict == Verdict::Slower).map(|row| row.in_words()).collect();
    assert_eq!(slower, ["syscall-x86_64 none"]);
    let change = compared.rows[0].change.as_ref().unwrap();
    let (low, high) = (change.percent_low.unwrap(), change.percent_high.unwrap());
    assert!(low < 10.0 && 10.0 < high && high - low < 10.0, "{change:?}");
    let text = printed(&user.compare(SLOWER));
    assert!(
        text.contains("slower?      Yes: 1 of 5 rows got slower, most of all syscall-x86_64 none (+"),
        "{text}"
    );
    assert!(text.lines().count() <= 40 && text.contains("most of all syscall-x86_64 none"), "{text}");
    let alike = user.comparison(ALIKE);
    assert!(alike.rows.iter().all(|row| !row.verdict.is_difference()), "{:?}", alike.summary);
}

/// Four runs failed a gate with an empty store, and were inconclusive with a full one.
#[test]
fn a_gate_says_the_same_of_the_same_runs_whatever_else_is_kept() {
    let (empty, full) = (User::new(), User::new());
    ["c1", "c2", "c3"].iter().for_each(|name| drop(full.keep(&RUNS[name], Some(name))));
    let four = "--base a1.json --base a2.json --new b1.json --new b2.json --fail-above 3%";
    let [without, with] = [&empty, &full].map(|user| user.comparison(four));
    assert_eq!((&without.rows, &without.gate), (&with.rows, &with.gate));
    let gate = without.gate.unwrap();
    assert_eq!((gate.answer, gate.missing), (compare::GateAnswer::Inconclusive, [1, 1]));
    let one = "a1.json b1.json";
    let used = |words: &str| full.comparison(words).history.len();
    assert_eq!([used(one), used(&format!("{one} --fail-above 3%")), used(SLOWER)], [3, 0, 0]);
    assert_eq!(used(&format!("{one} --fail-above 3% --history")), 3);
    assert!(printed(&full.compare(one)).contains("3 kept runs tell how much rows vary: "), "they are named");
}

#[test]
fn every_exit_code_is_as_documented() {
    let user = User::new();
    user.change("a1", "emulated.json", |run| {
        run["measurement"]["place"] = json!({"machine": "qemu-tcg", "kernel": "lab"});
    });
    let full = |words: &str| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        user.command(words).stdout(full).output().unwrap()
    };
    let gate = "--fail-above 3%";
    let cases = [
        (SLOWER.to_string(), 0, None),
        (format!("{SLOWER} --fail-above 50% --fail-on closed"), 0, Some(0)),
        (format!("{SLOWER} {gate}"), 1, Some(1)),
        (format!("{SLOWER} --fail-above 50% --fail-above syscall-*=5%"), 1, Some(1)),
        // The limit lies within the interval.
        (
            format!("{SLOWER} --fail-above 10% --fail-above rdtsc*=1000% --fail-above call=1000%"),
            4,
            Some(125),
        ),
        (format!("a1.json emulated.json {gate}"), 3, Some(128)),
        (format!("a1.json nobody.json {gate}"), 2, Some(128)),
        (format!("a1.json b1.json {gate} --fail-on fire"), 2, Some(128)),
        (format!("a1.json b1.json {gate} -e vsyscall"), 2, Some(128)),
        (format!("a1.json b1.json {gate} --output /nonexistent/x"), 5, Some(128)),
    ];
    for (words, expected, bisected) in cases {
        let output = user.compare(&words);
        assert_eq!(code(&output), expected, "{words}: {} {}", said(&output), printed(&output));
        assert_eq!(
            expected == 2 || expected == 3 || expected == 5,
            !output.stderr.is_empty(),
            "{}",
            said(&output)
        );
        if let Some(bisected) = bisected {
            let output = user.compare(&format!("{words} --git-bisect"));
            assert_eq!(code(&output), bisected, "{words} --git-bisect: {}", said(&output));
        }
    }
    assert_eq!(code(&full("a1.json b1.json")), 5);
    assert_eq!(code(&full("a1.json b1.json --fail-above 3% --git-bisect")), 128);
    for words in ["--git-bisect", "--git-bisect --inconclusive fail"] {
        let without = user.compare(&format!("{SLOWER} {words}"));
        assert_eq!(code(&without), 128, "there is nothing to fail on: {}", said(&without));
        assert!(said(&without).contains("add --fail-above 3% or --fail-on closed"), "{}", said(&without));
    }
    assert_eq!(code(&user.compare("a1.json b1.json --inconclusive fail")), 2);
}

#[test]
fn a_gate_that_could_not_fail_is_refused() {
    let user = User::new();
    for short in ["syscall=5%", "syscall-x86_64=5%", "sysc*=5%,5cycles", "syscall-x86_64=5%,5cycles"] {
        assert_eq!(code(&user.compare(&format!("{SLOWER} --fail-above {short}"))), 1, "{short}");
    }
    let cases = [
        (
            "--fail-above sysall=5%",
            "--fail-above sysall=5%: no compared row has this name; did you mean syscall?",
        ),
        ("--fail-above int80-*=5%", "no compared row has this name"),
        ("--fail-above 5% --fail-above 3%", "are both for all rows"),
        ("--fail-above -3%", "it must be zero or more"),
        ("-e syscal", "did you mean syscall?"),
    ];
    for (words, why) in cases {
        let output = user.compare(&format!("{SLOWER} {words}"));
        assert_eq!(code(&output), 2, "{words}: {}", printed(&output));
        assert!(said(&output).contains(why), "{words}: {}", said(&output));
    }
    let passed = user.compare(&format!("{SLOWER} --fail-above syscall=50%"));
    assert!(printed(&passed).contains("Passed: 2 rows within the limit"), "{}", printed(&passed));
    let same = user.compare("a1.json a1.json");
    assert_eq!(code(&same), 2);
    assert!(said(&same).contains("cannot differ from itself"), "{}", said(&same));
}

#[test]
fn what_makes_no_sense_together_is_refused_unless_forced() {
    let user = User::new();
    user.change("a1", "lab.json", |run| {
        run["measurement"]["place"] = json!({"machine": "qemu-tcg", "kernel": "lab"})
    });
    let refused = user.compare("a1.json lab.json");
    assert_eq!(code(&refused), 3);
    assert!(
        said(&refused).contains("not comparable") && said(&refused).contains("--force"),
        "{}",
        said(&refused)
    );
    assert!(printed(&refused).contains("slower?      Not compared"), "{}", printed(&refused));
    assert!(user.comparison("a1.json lab.json").refused);
    let forced = user.compare("a1.json lab.json --force");
    assert_eq!(code(&forced), 0, "{}", said(&forced));
    assert!(
        printed(&forced).contains("refuses      "),
        "what differs is said all the same: {}",
        printed(&forced)
    );
}

#[test]
fn runs_are_named_as_everywhere() {
    let user = User::new();
    let ids: Vec<String> =
        ["a1", "b1"].iter().map(|name| user.keep(&RUNS[name], Some(&format!("kept-{name}")))).collect();
    let expected = user.comparison("a1.json b1.json");
    let rows = |compared: &Comparison| {
        compared.rows.iter().map(|row| (row.in_words(), row.new.clone())).collect::<Vec<_>>()
    };
    for words in ["kept-a1 kept-b1".to_string(), "latest~1 latest".into(), ids.join(" ")] {
        let compared = user.comparison(&words);
        assert_eq!(rows(&compared), rows(&expected), "{words}");
        assert_eq!(compared.base.runs[0].name.as_deref(), Some("kept-a1"), "{words}");
    }
    let mut child =
        user.command("- b1.json --format json").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(RUNS["a1"].as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let piped: Comparison = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((rows(&piped), piped.base.runs[0].name.clone()), (rows(&expected), None));
    let twice = user.compare("- -");
    assert_eq!(code(&twice), 2);
    assert!(said(&twice).contains("standard input (-) can be one run"), "{}", said(&twice));
}

#[test]
fn several_kept_runs_are_named_by_a_glob_or_a_tag() {
    let user = User::new();
    for (run, name) in [("a1", "old-1"), ("a2", "old-2"), ("b1", "new-1")] {
        user.keep(&RUNS[run], Some(name));
    }
    let store = Store::at(user.path("data/kentry/runs"));
    let tags = BTreeMap::from([("commit".to_string(), "1a2b".to_string())]);
    for (run, name) in [("a3", None), ("b2", Some("other"))] {
        store.keep(&document::load(&RUNS[run]).unwrap(), &RUNS[run], name, &tags).unwrap();
    }
    let runs = |words: &str| {
        let compared = user.comparison(words);
        [compared.base, compared.new].map(|side| side.runs.len())
    };
    assert_eq!(runs("--base old-* --new new-*"), [2, 1]);
    assert_eq!(runs("--base old-? --new tag:commit=1a2b"), [2, 2]);
    assert_eq!(runs("--base old-1 --base old-2 --new new-1 --new tag:commit=*"), [2, 3]);
    for nobody in ["nobody-*", "tag:commit=x", "tag:x=1a2b"] {
        let output = user.compare(&format!("--base {nobody} --new new-1"));
        assert_eq!(code(&output), 2);
        assert!(said(&output).contains(&format!("{nobody}: no kept run has")), "{}", said(&output));
    }
    user.write("[x].json", &RUNS["a1"]);
    assert_eq!(runs("--base [x].json --new new-1"), [1, 1], "a file of such a name");
}

#[test]
fn kept_runs_of_this_machine_tell_how_much_rows_vary() {
    let user = User::new();
    let kept = |user: &User| {
        let compared = user.comparison("a1.json b1.json");
        compared.rows.iter().filter_map(|row| row.variation.as_ref()).map(|known| known.kept_runs).max()
    };
    assert_eq!(kept(&user), Some(0), "without a folder there are none");
    let elsewhere = RUNS["a3"].replace(&"0123456789abcdef".repeat(2), &"f".repeat(32));
    user.keep(&elsewhere, None);
    assert_eq!(kept(&user), Some(0), "another machine's say nothing");
    for seed in 10..16 {
        user.keep(&json_of(&run(seed, |_| 1.0)), None);
    }
    assert!(kept(&user) >= Some(4), "{:?}", kept(&user));
    // A damaged one is named, and the others count.
    let folder = user.path("data/kentry/runs");
    let file = folder.join(format!("{:032x}.json.gz", 12));
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 20]).unwrap();
    let output = user.compare("a1.json b1.json");
    assert_eq!(code(&output), 0);
    assert!(
        said(&output).contains("a kept run is left out") && said(&output).contains("damaged"),
        "{}",
        said(&output)
    );
    // No folder of the user's at all.
    let homeless =
        user.command("a1.json b1.json").env_remove("XDG_DATA_HOME").env_remove("HOME").output().unwrap();
    assert_eq!((code(&homeless), said(&homeless)), (0, String::new()));
}

#[test]
fn each_file_has_the_format_of_its_ending() {
    let user = User::new();
    let output = user.compare(&format!(
        "{SLOWER} --output - --output x.md --output x.xml --output x.ktap --output x.json"
    ));
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(printed(&output).starts_with("base         3 runs"), "{}", printed(&output));
    for (name, begin) in
        [("x.md", "### kentry"), ("x.xml", "<?xml"), ("x.ktap", "KTAP version 1\n1..5\n"), ("x.json", "{")]
    {
        let text = std::fs::read_to_string(user.path(name)).unwrap();
        assert!(text.starts_with(begin), "{name}: {text}");
    }
    let both = user.compare("a1.json b1.json --output x.md --output x.xml --format text");
    assert_eq!(code(&both), 2);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compare.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let value: Value = serde_json::from_slice(&std::fs::read(user.path("x.json")).unwrap()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(value["schema"], "kentry.compare/1");
}

#[test]
fn only_the_rows_that_are_named_are_compared() {
    let user = User::new();
    let compared = user.comparison("a1.json b1.json -e syscall -o none");
    assert_eq!(compared.rows.len(), 1);
    // A row that only one run has is no reason to refuse.
    user.change("b1", "less.json", |run| {
        run["results"].as_array_mut().unwrap().retain(|row| row["entry"] != "syscall-x86_64");
    });
    let lacking = user.comparison("--base a1.json --new b2.json --new less.json -e syscall");
    assert_eq!(lacking.rows.iter().filter(|row| row.change.is_some()).count(), 2);
    let none = user.compare("a1.json b1.json -e vsyscall");
    assert!(said(&none).contains("no such row"), "{}", said(&none));
    assert_eq!(code(&user.compare("a1.json b1.json -e [")), 2);
}

#[test]
fn a_gate_fails_on_what_closes() {
    let user = User::new();
    user.change("a2", "closed.json", |run| {
        for row in run["results"].as_array_mut().unwrap().iter_mut().filter(|row| row["entry"] == "rdtscp") {
            row["outcome"] = json!("unsupported");
            row["reason"] = json!("gone |<b> \u{1b}[2J");
            for figures in ["core_cycles", "ticks", "ns", "throughput"] {
                row[figures] = Value::Null;
            }
        }
    });
    assert_eq!(verdict(&user.comparison("a1.json closed.json"), "rdtscp none"), Verdict::Closed);
    assert_eq!(verdict(&user.comparison("closed.json a1.json"), "rdtscp none"), Verdict::Opened);
    let ends = |words: &str| code(&user.compare(words));
    assert_eq!(ends("a1.json closed.json --fail-on opened"), 0);
    assert_eq!(ends("a1.json closed.json --fail-on opened,closed"), 1);
    assert_eq!(ends("closed.json a1.json --fail-on opened --fail-on closed"), 1);
    for format in ["text", "markdown", "json", "junit", "ktap"] {
        let output = user.compare(&format!("a1.json closed.json --color always --format {format}"));
        let text = printed(&output).replace("\u{1b}[", "").replace("[2J", "");
        assert!(!text.contains('\u{1b}') && text.contains("gone"), "{format}: {text}");
    }
}

#[test]
fn what_a_document_says_can_break_nothing() {
    let user = User::new();
    let evil = "\u{1b}]0;x\u{7}\n# SKIP \"'<![CDATA[|`@all";
    user.change("b1", "evil.json", |run| {
        for key in ["started", "kentry", "compiler"] {
            run["measurement"][key] = json!(evil);
        }
        run["id"] = json!(evil);
        run["environment"]["cpu"]["brand"] = json!(evil);
        run["environment"]["kernel"]["release"] = json!(evil);
        run["environment"]["kernel"]["command_line"] = json!(evil.repeat(500));
        run["environment"]["machine_id"] = json!(evil);
        let rows = run["results"].as_array_mut().unwrap();
        rows[0]["entry"] = json!(evil);
        rows[0]["entry_id"] = Value::Null;
        rows[1]["core_cycles"]["estimate"] = json!(1e19);
        rows[2]["core_cycles"]["ci_low"] = json!(-1e19);
        rows[2]["core_cycles"]["ci_high"] = json!(1e19);
        rows[3]["core_cycles"]["estimate"] = json!(0);
    });
    for format in ["text", "markdown", "json", "junit", "ktap"] {
        for sides in ["a1.json evil.json", "evil.json a1.json", "evil.json evil.json --force"] {
            let output = user.compare(&format!("{sides} --all --verbose --format {format}"));
            assert_eq!(code(&output), 0, "{sides} {format}: {}", said(&output));
            let text = printed(&output);
            assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{sides} {format}: {text:?}");
            assert!(!text.contains("NaN") && !text.contains("inf "), "{sides} {format}: {text}");
        }
    }
}

/// A toy repository, in which a commit says which run was measured of it. The seventh of eight made a system call slower; of those in the
/// middle, where git looks first, nothing can be told.
#[test]
fn a_bisection_finds_the_commit_that_made_a_row_slower() {
    if Command::new("git").arg("--version").output().is_err() {
        return skipped("no git here");
    }
    let user = User::new();
    for number in 1..=3 {
        user.change(&format!("c{number}"), &format!("unknown{number}.json"), |run| {
            for row in run["results"].as_array_mut().unwrap() {
                for figures in ["core_cycles", "ticks", "ns", "throughput"] {
                    row[figures] = Value::Null;
                }
            }
        });
    }
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main"])
            .args(words);
        command.current_dir(user.path("toy")).env("KENTRY", env!("CARGO_BIN_EXE_kentry"));
        let output =
            command.env("RUNS", user.0.path()).env("XDG_DATA_HOME", user.path("data")).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}{}", said(&output), printed(&output));
        printed(&output)
    };
    std::fs::create_dir(user.path("toy")).unwrap();
    git(&["init", "-q"]);
    let runs = ["c", "c", "c", "unknown", "unknown", "c", "b", "b"];
    let commit = |(number, run): (usize, &&str)| {
        std::fs::write(user.path("toy/run"), format!("{run}\n{number}\n")).unwrap();
        git(&["add", "run"]);
        git(&["commit", "-q", "-m", run]);
        git(&["rev-parse", "HEAD"]).trim().to_string()
    };
    let commits: Vec<String> = runs.iter().enumerate().map(commit).collect();
    git(&["bisect", "start", &commits[7], &commits[0]]);
    let script = "r=$(head -n 1 run); a=\"$RUNS\"/a; new=\"$RUNS/$r\"; \
                  \"$KENTRY\" compare --base \"$a\"1.json --base \"$a\"2.json --base \"$a\"3.json \
                  --new \"$new\"1.json --new \"$new\"2.json --new \"$new\"3.json \
                  -e syscall -o none --fail-above 5% --git-bisect >/dev/null; \
                  code=$?; echo \"$r $code\" >>\"$RUNS\"/log; exit $code";
    let found = git(&["bisect", "run", "sh", "-c", script]);
    assert!(found.contains(&format!("{} is the first bad commit", commits[6])), "{found}");
    let log = std::fs::read_to_string(user.path("log")).unwrap();
    for line in ["unknown 125", "c 0", "b 1"] {
        assert!(log.lines().any(|found| found == line), "{log}");
    }
}
