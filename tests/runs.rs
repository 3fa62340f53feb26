//! Runs that are kept, by the command.

use crate::skipped::skipped;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The command with a data folder of its own.
struct User(tempfile::TempDir);

impl User {
    fn new() -> User {
        User(tempfile::tempdir().unwrap())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kentry"));
        command.env("XDG_DATA_HOME", self.0.path()).current_dir(self.0.path());
        command
    }

    fn kentry(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }

    /// A short measurement of one row.
    fn measure(&self, more: &[&str]) -> Output {
        let quick = ["-e", "call", "--budget", "0.05", "--strict-budget", "--format", "json"];
        self.kentry(&[&quick[..], more].concat())
    }

    fn list(&self) -> Vec<serde_json::Value> {
        let output = self.kentry(&["runs", "--format", "json"]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        list["runs"].as_array().unwrap().clone()
    }

    fn folder(&self) -> std::path::PathBuf {
        self.0.path().join("kentry/runs")
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn id(output: &Output) -> String {
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    document["id"].as_str().unwrap().to_string()
}

#[test]
fn what_is_measured_is_kept_and_shown_again() {
    let user = User::new();
    assert!(said(&user.kentry(&["runs"])).contains("no run is kept yet"));
    let first = user.measure(&["--name", "before", "--tag", "commit=1a"]);
    assert_eq!(code(&first), 0, "{}", said(&first));
    let second = user.measure(&[]);
    let list = user.list();
    assert_eq!(list.len(), 2);
    assert_eq!(
        (list[1]["name"].as_str(), &*list[1]["tags"]["commit"].to_string()),
        (Some("before"), "\"1a\"")
    );
    for (name, measured) in
        [("before", &first), (&id(&first)[..6], &first), ("latest", &second), ("latest~1", &first)]
    {
        let shown = user.kentry(&["show", name, "--format", "json"]);
        assert_eq!(code(&shown), 0, "{}", said(&shown));
        assert_eq!(shown.stdout, measured.stdout, "{name}");
    }
    let text = user.kentry(&["runs"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("commit=1a"));
    assert_eq!(code(&user.measure(&["--no-save"])), 0);
    assert_eq!(user.list().len(), 2);
}

#[test]
fn a_page_is_made_of_kept_runs_and_of_files() {
    let user = User::new();
    let none = user.kentry(&["report"]);
    assert_eq!(code(&none), 2, "{}", said(&none));
    user.measure(&["--name", "before"]);
    user.measure(&["--output", "run.json"]);
    let page = |arguments: &[&str]| {
        let output = user.kentry(&[&["report"], arguments].concat());
        assert_eq!(code(&output), 0, "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    // Of the newest, to a pipe.
    let newest = page(&[]);
    assert!(newest.starts_with("<!DOCTYPE html>") && newest.trim_end().ends_with("</html>"));
    assert_eq!(page(&["latest", "-o", "-"]), newest);
    assert_eq!(page(&["before", "run.json", "--title", "a < b", "-o", "report.html"]), "");
    let written = std::fs::read_to_string(user.0.path().join("report.html")).unwrap();
    assert!(written.contains("<title>a &#60; b</title>"));
    assert!(
        written.contains("> before<") && written.contains("> run.json<"),
        "runs are called as they were named"
    );
    for (arguments, status, why) in [
        (&["yours"][..], 2, "no kept run is called yours"),
        (&["latest", "-o", "no/such/report.html"], 1, "there is no such file or folder"),
        (&["latest"; 9], 2, "at most 8 runs, not 9"),
    ] {
        let refused = user.kentry(&[&["report"], arguments].concat());
        assert_eq!(code(&refused), status, "{arguments:?}: {}", said(&refused));
        assert!(said(&refused).contains(why) && refused.stdout.is_empty(), "{}", said(&refused));
    }
}

#[test]
fn a_page_judges_as_a_comparison_does() {
    let user = User::new();
    // Kept runs tell how much rows vary, on the page as well.
    for name in ["one", "two", "before", "after"] {
        user.measure(&["--name", name]);
    }
    let page = user.kentry(&["report", "before", "after", "one"]);
    assert_eq!(code(&page), 0, "{}", said(&page));
    let page = String::from_utf8(page.stdout).unwrap().replace("&#39;", "'");
    let answers: Vec<&str> = page.split("<p class=\"answer\">").skip(1).collect();
    let confidences: Vec<&str> = page.split("Intervals: ").skip(1).collect();
    assert_eq!(answers.len(), 2, "each other run is compared with the first");
    let mut told = 0;
    for (place, other) in ["after", "one"].into_iter().enumerate() {
        let compared = |format: &str| {
            let output = user.kentry(&["compare", "before", other, "--format", format]);
            assert_eq!(code(&output), 0, "{}", said(&output));
            String::from_utf8(output.stdout).unwrap()
        };
        let answer = answers[place].split("</p>").next().unwrap();
        assert!(compared("ktap").contains(&format!("\n# {answer}\n")), "{answer}");
        let markdown = compared("markdown");
        if let Some((_, confidence)) = markdown.split_once("\nIntervals: ") {
            let confidence = confidence.lines().next().unwrap();
            assert!(confidences[told].starts_with(confidence), "{confidence}: {}", &confidences[told][..200]);
            told += 1;
        }
    }
    assert_eq!(confidences.len(), told, "a machine that is too noisy has no intervals anywhere");
}

#[test]
fn a_name_is_one_runs() {
    let user = User::new();
    user.measure(&["--name", "before"]);
    for (arguments, why) in [
        (&["--name", "before"][..], "is called before already"),
        (&["--name", "a/b"], "begins with a letter"),
        (&["--name", "latest"], "newest"),
        (&["--tag", "commit"], "KEY=VALUE"),
        (&["--no-save", "--name", "x"], "cannot be used with"),
    ] {
        let refused = user.measure(arguments);
        assert_eq!(code(&refused), 2, "{arguments:?}: {}", said(&refused));
        assert!(said(&refused).contains(why) && refused.stdout.is_empty(), "{}", said(&refused));
    }
    assert_eq!(code(&user.kentry(&["runs", "rename", "latest", "after"])), 0);
    assert_eq!(code(&user.kentry(&["runs", "tag", "after", "who=me", "why=because of it"])), 0);
    assert_eq!(code(&user.kentry(&["runs", "tag", "after", "who="])), 0);
    let list = user.list();
    assert_eq!(list[0]["tags"].to_string(), "{\"why\":\"because of it\"}");
    assert_eq!(code(&user.kentry(&["show", "before"])), 2);
    let nameless = user.kentry(&["runs", "rename", "after"]);
    assert_eq!((code(&nameless), user.list()[0]["name"].as_str()), (2, Some("after")), "it lost its name");
    assert!(said(&nameless).contains("kentry runs rename RUN --no-name"), "{}", said(&nameless));
    assert_eq!(code(&user.kentry(&["runs", "rename", "after", "--no-name"])), 0);
    assert!(user.list()[0]["name"].is_null());
}

#[test]
fn a_file_is_meant_where_no_run_is() {
    let user = User::new();
    let measured = user.measure(&["--output", "mine"]);
    assert_eq!(code(&measured), 0, "{}", said(&measured));
    let shown = |word: &str| user.kentry(&["show", word, "--format", "json"]);
    let file = std::fs::read(user.0.path().join("mine")).unwrap();
    assert_eq!(shown("mine").stdout, file);
    let other = user.measure(&["--name", "mine"]);
    assert_eq!(shown("mine").stdout, other.stdout, "a run's name goes first");
    assert_eq!(shown("./mine").stdout, file);
    assert!(said(&shown("yours")).contains("no kept run is called yours"));
    assert!(said(&shown("yours.json")).contains("there is no such file"));
}

#[test]
fn old_runs_go_and_wanted_ones_stay() {
    let user = User::new();
    for number in 0..5 {
        let measured = user.measure(if number == 1 { &["--tag", "keep=this"] } else { &[] });
        assert_eq!(code(&measured), 0, "run {number}: {}", said(&measured));
    }
    assert_eq!(code(&user.kentry(&["runs", "prune"])), 2);
    let dry = user.kentry(&["runs", "prune", "--keep", "2", "--dry-run"]);
    assert!(said(&dry).contains("2 of 5 runs would be removed"), "{}", said(&dry));
    assert_eq!(user.list().len(), 5);
    assert_eq!(code(&user.kentry(&["runs", "prune", "--within", "1h"])), 0);
    assert_eq!(user.list().len(), 5);
    assert_eq!(code(&user.kentry(&["runs", "prune", "--keep", "2"])), 0);
    let list = user.list();
    assert_eq!(list.len(), 3);
    assert_eq!(list[2]["tags"]["keep"], "this");
    let ids: Vec<&str> = list.iter().map(|run| run["id"].as_str().unwrap()).collect();
    assert_eq!(code(&user.kentry(&["runs", "remove", ids[0], "nobody"])), 2);
    assert_eq!(user.list().len(), 3, "all or none");
    assert_eq!(code(&user.kentry(&["runs", "remove", ids[0], ids[1]])), 0);
    assert_eq!(user.list().len(), 1);
}

#[test]
fn damage_is_named_and_nothing_else_is_lost() {
    let user = User::new();
    let good = id(&user.measure(&[]));
    let bad = id(&user.measure(&[]));
    let file = user.folder().join(format!("{bad}.json.gz"));
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    std::fs::write(user.folder().join("mine\u{1b}[2J"), "notes").unwrap();
    let listed = user.kentry(&["runs"]);
    assert_eq!(code(&listed), 0);
    assert!(said(&listed).contains("is left out: it is not a run that kentry kept"), "{}", said(&listed));
    assert!(!said(&listed).contains('\u{1b}'));
    let verified = user.kentry(&["runs", "verify"]);
    assert_eq!(code(&verified), 1);
    assert!(
        said(&verified).contains("its end is missing")
            && said(&verified).contains("1 of 3 files are whole runs")
    );
    let shown = user.kentry(&["show", &bad]);
    assert_eq!(code(&shown), 2);
    assert!(said(&shown).contains("it is damaged: its end is missing"), "{}", said(&shown));
    assert_eq!(code(&user.kentry(&["show", &good])), 0);
}

#[test]
fn where_nothing_can_be_kept_there_is_a_result_all_the_same() {
    let user = User::new();
    std::fs::write(user.0.path().join("kentry"), "a file").unwrap();
    let measured = user.measure(&[]);
    assert_eq!(code(&measured), 0);
    assert!(said(&measured).contains("this run will not be kept"), "{}", said(&measured));
    assert!(!id(&measured).is_empty());
    assert_eq!(said(&user.measure(&["--no-save"])), "");
    let named = user.measure(&["--name", "before"]);
    assert_eq!((code(&named), named.stdout.len()), (1, 0), "{}", said(&named));
    // No folder of the user's at all.
    let homeless = user
        .command()
        .args(["-e", "call", "--budget", "0.05"])
        .env_remove("XDG_DATA_HOME")
        .env_remove("HOME")
        .output();
    let homeless = homeless.unwrap();
    assert_eq!(code(&homeless), 0);
    assert!(said(&homeless).contains("neither XDG_DATA_HOME nor HOME"), "{}", said(&homeless));
}

#[test]
fn a_plan_took_a_name_that_its_run_refuses() {
    let user = User::new();
    assert_eq!(code(&user.measure(&["--name", "before"])), 0);
    for (name, why) in [("a/b", "is no name"), ("before", "is called before")] {
        let of = |arguments: &[&str]| user.kentry(&[arguments, &["--name", name]].concat());
        let refused = said(&of(&["-e", "call", "--budget", "0.05"]));
        for command in [&["-e", "call"][..], &["lab", "-e", "call"], &["bill"]] {
            let plan = of(&[command, &["--dry-run"]].concat());
            assert_eq!((code(&plan), plan.stdout.len()), (2, 0), "{command:?}: {}", said(&plan));
            assert_eq!(said(&plan), refused, "{why}");
        }
    }
    let homeless = User::new();
    assert_eq!(code(&homeless.kentry(&["-e", "call", "--name", "new", "--dry-run"])), 0);
    assert!(names(homeless.0.path()).is_empty(), "a plan makes no folder");
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = std::fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

/// A run is written again and again, and each time the process is killed at another moment.
#[test]
fn a_process_that_is_killed_loses_no_run() {
    const KILLED: u64 = 1000;
    let user = User::new();
    let measured = user.measure(&[]);
    let id = id(&measured);
    let begun = Instant::now();
    assert_eq!(code(&user.kentry(&["runs", "tag", &id, "number=none"])), 0);
    let longest = 2 * begun.elapsed().as_micros() as u64;
    let mut finished = 0;
    for number in 0..KILLED {
        let mut child =
            user.command().args(["runs", "tag", &id, &format!("number={number}")]).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(number * 7919 % longest));
        let _ = child.kill();
        finished += u64::from(child.wait().unwrap().success());
    }
    assert!(
        finished > 0 && finished < KILLED,
        "{finished} were not killed: the moments are too late or too early"
    );
    let shown = user.kentry(&["show", &id, "--format", "json"]);
    assert_eq!(shown.stdout, measured.stdout);
    let mut left = names(&user.folder());
    left.retain(|name| !name.starts_with(".kentry-"));
    assert_eq!(left, [format!("{id}.json.gz")]);
    assert_eq!(code(&user.kentry(&["runs", "verify"])), 0);
}

#[test]
fn many_that_write_at_once_lose_nothing() {
    let user = User::new();
    let children: Vec<_> = (0..8)
        .map(|_| {
            user.command()
                .args(["-e", "call", "--budget", "0.05"])
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(user.list().len(), 8);
    let id = user.list()[0]["id"].as_str().unwrap().to_string();
    let writers: Vec<_> = (0..8)
        .map(|number| user.command().args(["runs", "tag", &id, &format!("writer={number}")]).spawn().unwrap())
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(code(&user.kentry(&["runs", "verify"])), 0);
    assert_eq!(user.list().len(), 8);
}

/// They all looked before they measured, and all were called so.
#[test]
fn of_many_runs_at_once_with_one_name_one_has_it() {
    let user = User::new();
    let children: Vec<_> = (0..8)
        .map(|_| {
            user.command()
                .args(["-e", "call", "--budget", "0.5", "--strict-budget", "--name", "before"])
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let outputs: Vec<Output> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let named: Vec<_> = user.list().into_iter().filter(|run| run["name"] == "before").collect();
    assert_eq!(named.len(), 1);
    assert_eq!(outputs.iter().filter(|output| code(output) == 0).count(), 1);
    for output in outputs.iter().filter(|output| code(output) != 0) {
        // One that began when the name was given measured nothing.
        let (status, why) = (code(output), "is called before already");
        assert!(said(output).contains(why), "{}", said(output));
        let is_kept = said(output).contains("is kept without its name");
        assert_eq!(status, if is_kept { 1 } else { 2 }, "{}", said(output));
    }
    let kept = outputs.iter().filter(|output| said(output).contains("is kept without its name")).count();
    assert_eq!(user.list().len(), 1 + kept);
}

#[test]
fn a_runs_name_reaches_the_disk_with_it() {
    let user = User::new();
    user.measure(&[]);
    let traced = Command::new("strace")
        .args(["-f", "-y", "-e", "trace=fsync,linkat,rename,renameat,renameat2"])
        .args([env!("CARGO_BIN_EXE_kentry"), "runs", "tag", "latest", "who=me"])
        .env("XDG_DATA_HOME", user.0.path())
        .output();
    let traced = match traced {
        Ok(traced) if traced.status.success() => said(&traced),
        Ok(traced) => return skipped(format!("strace does not work here: {}", said(&traced))),
        Err(error) => return skipped(format!("strace: {error}")),
    };
    let calls: Vec<&str> =
        traced.lines().filter(|line| line.contains("fsync(") || line.contains("rename")).collect();
    let of = |call: Option<&&str>, what: &str| call.is_some_and(|call| call.contains(what));
    let folder = format!("{}>)", user.folder().display());
    assert!(calls.len() >= 3 && of(calls.last(), &folder) && of(calls.last(), "fsync("), "{traced}");
    assert!(of(calls.iter().rev().nth(1), "rename"), "{traced}");
}

/// A tag is a line of any characters: its escapes steered the terminal, and a spreadsheet took it for a formula.
#[test]
fn a_list_in_csv_is_harmless() {
    let user = User::new();
    user.measure(&[]);
    assert_eq!(code(&user.kentry(&["runs", "tag", "latest", "=k=\u{9b}2J", "note=\u{202e}x"])), 2);
    assert_eq!(code(&user.kentry(&["runs", "tag", "latest", "+k=1", "note=\u{202e}x"])), 0);
    let listed = user.kentry(&["runs", "--format", "csv"]);
    assert_eq!(code(&listed), 0, "{}", said(&listed));
    let text = String::from_utf8(listed.stdout).unwrap();
    assert!(text.contains(",'+k=1 note=\\u{202e}x,"), "{text}");
    assert!(!text.contains('\u{202e}'));
}

/// A clock that was wrong once: its run was `latest` for ever, and `prune` kept it in the place of a real one.
#[test]
fn a_run_of_the_future_is_not_the_latest() {
    let user = User::new();
    let future = user.measure(&["--output", "run.json"]);
    assert_eq!(code(&future), 0, "{}", said(&future));
    let real = id(&user.measure(&[]));
    let future = user.list()[1]["id"].as_str().unwrap().to_string();
    misdate(&user.folder().join(format!("{future}.json.gz")));
    assert_eq!(user.list()[0]["id"].as_str(), Some(real.as_str()));
    let shown = user.kentry(&["show", "latest", "--format", "json"]);
    assert_eq!(id(&shown), real);
    let listed = user.kentry(&["runs"]);
    let why = format!("the run {} began, it says, at 2999-", &future[..8]);
    assert!(said(&listed).contains(&why), "{}", said(&listed));
    assert_eq!(code(&user.kentry(&["runs", "prune", "--keep", "1"])), 0);
    assert_eq!(user.list().len(), 2, "neither the newest nor what has yet to come");
}

/// Makes a kept run one of the year 2999, as a wrong clock does.
fn misdate(file: &Path) {
    use std::io::{Read, Write};
    let mut decoder = flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap());
    let head = String::from_utf8(decoder.header().unwrap().comment().unwrap().to_vec()).unwrap();
    let mut text = String::new();
    decoder.read_to_string(&mut text).unwrap();
    let begin = head.split_once("\"started\":\"").unwrap().1[..5].to_string();
    let dated = |text: &str| text.replace(&format!("\"{begin}"), "\"2999-");
    let out = std::fs::File::create(file).unwrap();
    let mut encoder = flate2::GzBuilder::new().comment(dated(&head)).write(out, flate2::Compression::fast());
    encoder.write_all(dated(&text).as_bytes()).unwrap();
    encoder.finish().unwrap();
}

#[test]
fn explain_shows_the_latest_run_that_has_what_it_tells_of() {
    let user = User::new();
    let none = user.kentry(&["explain", "call"]);
    assert!(
        stdout(&none).contains("No run of this machine is kept") && said(&none).is_empty(),
        "{}",
        said(&none)
    );
    assert_eq!(code(&user.measure(&[])), 0);
    assert_eq!(code(&user.kentry(&["-e", "rdtsc", "--budget", "0.05", "--strict-budget"])), 0);
    for (word, row) in [("call", "- none: "), ("rdtsc", "- none: ")] {
        assert!(stdout(&user.kentry(&["explain", word])).contains(row), "{word}");
    }
    let other = stdout(&user.kentry(&["explain", "int3"]));
    assert!(
        other.contains("The run has no row of this entry; `kentry --entry int3` measures it."),
        "{other}"
    );
}

#[test]
fn a_row_that_was_not_measured_is_told_with_what_measures_it() {
    let user = User::new();
    (0..2).for_each(|_| assert_eq!(code(&user.measure(&[])), 0));
    let gate = user.kentry(&["compare", "latest~1", "latest", "--fail-above", "libc getcpu=4cycles"]);
    let show = user.kentry(&["show", "latest", "-e", "libc", "-o", "getcpu"]);
    for refused in [gate, show] {
        assert!(
            said(&refused).contains("its run did not measure it") && code(&refused) == 2,
            "{}",
            said(&refused)
        );
    }
    let misspelled = user.kentry(&["compare", "latest~1", "latest", "--fail-above", "cal=4cycles"]);
    assert!(said(&misspelled).contains("did you mean call"), "{}", said(&misspelled));
}

#[test]
fn an_ending_that_another_command_makes_is_refused_with_that_command() {
    let user = User::new();
    for (file, command) in
        [("r.html", "kentry report"), ("r.svg", "kentry bill"), ("r.xml", "kentry compare")]
    {
        let refused = user.measure(&["--output", file]);
        assert!(said(&refused).contains(command) && code(&refused) == 2, "{file}: {}", said(&refused));
    }
}
