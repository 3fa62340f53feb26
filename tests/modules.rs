//! Which top-level modules of a crate know which, by the text of its files. What `lib.rs` and `main.rs` know does not count: they know
//! all. Text is as rustfmt leaves it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Of each module, the others that it names.
type Known = BTreeMap<String, BTreeSet<String>>;

/// The circles of a crate's modules, each written `a → b → a`, by its files: paths below `src`, and what is in them.
pub fn circles(files: &[(PathBuf, String)]) -> Vec<String> {
    let known = known(files);
    let circles = known.keys().filter_map(|module| circle(&known, module));
    // Each of its modules finds it.
    let by_modules: BTreeMap<BTreeSet<&str>, Vec<&str>> =
        circles.map(|circle| (circle.iter().copied().collect(), circle)).rev().collect();
    by_modules.into_values().map(|circle| circle.join(" → ")).collect()
}

/// The shortest way from a module back to itself.
fn circle<'k>(known: &'k Known, start: &'k str) -> Option<Vec<&'k str>> {
    let mut ways = vec![vec![start]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in known.get(*way.last()?).into_iter().flatten() {
                let further = [way.as_slice(), &[next.as_str()]].concat();
                if next == start {
                    return Some(further);
                }
                if seen.insert(next) {
                    longer.push(further);
                }
            }
        }
        ways = longer;
    }
    None
}

fn known(files: &[(PathBuf, String)]) -> Known {
    let code: Vec<(&Path, String)> = files.iter().map(|(path, text)| (path.as_path(), code(text))).collect();
    let names: BTreeSet<String> = code.iter().filter_map(|(path, _)| module(path)).collect();
    let root = code.iter().find(|(path, _)| *path == Path::new("lib.rs"));
    let reexported = root.map(|(_, code)| reexported(code)).unwrap_or_default();
    let mut known: Known = names.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
    for (path, code) in &code {
        let Some(own) = module(path) else { continue };
        let roots: &[&str] = if is_top(path) { &["crate::", "super::"] } else { &["crate::"] };
        let named = roots.iter().flat_map(|root| behind(code, root));
        let owner =
            |name: String| if names.contains(&name) { Some(name) } else { reexported.get(&name).cloned() };
        let others = named.filter_map(owner).filter(|other| *other != own && names.contains(other));
        known.entry(own.clone()).or_default().extend(others);
    }
    known
}

/// The top-level module that a file is of.
fn module(path: &Path) -> Option<String> {
    let first = path.iter().next()?.to_str()?;
    Some(first.trim_end_matches(".rs").to_string()).filter(|name| name != "lib" && name != "main")
}

/// Whether `super` is the crate in it.
fn is_top(path: &Path) -> bool {
    path.iter().count() == 1 || path.iter().count() == 2 && path.ends_with("mod.rs")
}

/// What is compiled without tests, without comments.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        if line.trim_start() != "#[cfg(test)]" {
            code += line.split("//").next().unwrap_or_default();
            code.push('\n');
            continue;
        }
        // The item ends where a line that is indented as little closes it.
        let is_end = |line: &str| {
            let is_outer = line.len() - line.trim_start().len() <= indent;
            is_outer && !line.trim_start().starts_with('#') && line.ends_with(['}', ';', ','])
        };
        lines.by_ref().find(|line| is_end(line));
    }
    code
}

/// Names that stand behind `crate::`, or each of those in braces there.
fn behind(code: &str, root: &str) -> Vec<String> {
    let places = code.match_indices(root);
    let is_whole = |at: usize| !code[..at].ends_with(|c: char| is_of_name(c) || c == '$' || c == ':');
    places.filter(|(at, _)| is_whole(*at)).flat_map(|(at, _)| firsts(&code[at + root.len()..])).collect()
}

/// The first name of a path, or that of each path in braces.
fn firsts(rest: &str) -> Vec<String> {
    let Some(list) = rest.strip_prefix('{') else { return first(rest).into_iter().collect() };
    let (mut depth, mut end) = (1, list.len());
    let mut starts = vec![0];
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => starts.push(at + 1),
            _ => {}
        }
        if depth == 0 {
            end = at;
            break;
        }
    }
    starts.into_iter().filter_map(|start| first(list[..end].get(start..)?.trim_start())).collect()
}

fn first(rest: &str) -> Option<String> {
    let end = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
    Some(rest[..end].to_string()).filter(|name| !name.is_empty())
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What `lib.rs` takes out of its modules, and out of which: others may name it as the crate's own.
fn reexported(code: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for statement in code.split(';') {
        let Some((before, path)) = statement.rsplit_once("use ") else { continue };
        if before.ends_with(is_of_name) {
            continue;
        }
        let path = path.trim_start_matches("crate::").trim_start_matches("self::");
        let mut names = path.split(|c| !is_of_name(c)).filter(|name| !name.is_empty());
        let Some(owner) = names.next() else { continue };
        found.extend(names.map(|name| (name.to_string(), owner.to_string())));
    }
    found
}
