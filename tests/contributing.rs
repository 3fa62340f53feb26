//! What CONTRIBUTING.md says that a change touches, against a commit that made one.

use crate::skipped::skipped;
use std::path::Path;
use std::process::Command;

const CONTRIBUTING: &str = include_str!("../CONTRIBUTING.md");

/// A kind of change: the subject of a commit that made one, and the files that it may touch, in which NAME stands for any name.
struct Change {
    subject: String,
    files: Vec<String>,
}

/// What stands between backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// The rows of the table. One with a subject begins a change; the files of the last are those of all.
fn changes() -> Vec<Change> {
    let (_, table) = CONTRIBUTING.split_once("| change | file | what it needs |\n|---|---|---|\n").unwrap();
    let (mut changes, mut of_all) = (Vec::<Change>::new(), Vec::new());
    for row in table.lines().take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [change, files, _] = cells[..] else { panic!("{row}") };
        if let Some(subject) = quoted(change).next() {
            changes.push(Change { subject, files: Vec::new() });
        }
        match changes.last_mut() {
            Some(last) if !change.starts_with("Each") => last.files.extend(quoted(files)),
            _ => of_all.extend(quoted(files)),
        }
    }
    changes.iter_mut().for_each(|change| change.files.extend(of_all.iter().cloned()));
    changes
}

/// Whether a path is one of these; NAME and * are any name without a slash.
fn is_one_of(path: &str, files: &[String]) -> bool {
    let is_it = |file: &String| {
        let (path, file): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), file.split('/').collect());
        let is_part = |(part, pattern): (&&str, &&str)| match pattern.split_once("NAME") {
            Some((before, after)) => part.starts_with(before) && part.ends_with(after),
            None => *pattern == "*" || part == pattern,
        };
        path.len() == file.len() && path.iter().zip(&file).all(is_part)
    };
    files.iter().any(is_it)
}

/// What git says, in the repository; nothing where it has none.
fn git(arguments: &[&str]) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_commits_that_show_what_a_change_touches_touch_no_more() {
    let changes = changes();
    assert_eq!(changes.len(), 6);
    let is_whole = git(&["rev-parse", "--is-shallow-repository"]).is_some_and(|said| said.trim() == "false");
    let Some(log) = git(&["log", "--format=%H %s"]).filter(|_| is_whole) else {
        return skipped("there is no history here");
    };
    for Change { subject, files } in changes {
        let commit = log.lines().find_map(|line| line.split_once(' ').filter(|(_, said)| *said == subject));
        let (commit, _) = commit.unwrap_or_else(|| panic!("no commit: {subject}"));
        let touched = git(&["show", "--format=", "--name-only", commit]).unwrap();
        let more: Vec<&str> = touched.lines().filter(|path| !is_one_of(path, &files)).collect();
        assert!(!touched.is_empty() && more.is_empty(), "{subject}: {more:?}");
    }
}
