//! What holds for every catalogue. What a browser makes of one, `tests/page.sh` shows.

#![allow(clippy::unwrap_used, reason = "a test")]

mod sample;

use document::Document;
use report::{Files, catalogue};
use std::collections::BTreeSet;
use summary::Summary;
use table::Table;

fn made(documents: &[Document]) -> Files {
    let summaries: Vec<Summary> = documents.iter().map(Summary::of).collect();
    catalogue(&summaries, Table::get(), None).unwrap()
}

/// Two machines that were timed, one of which shared its core, and the lab's counts.
fn small() -> Vec<Document> {
    let mut other = sample::noisy();
    other.environment.cpu.vendor = Some("AuthenticAMD".into());
    vec![sample::ordinary(), other, sample::lab(), sample::partly_closed()]
}

fn file<'a>(files: &'a Files, name: &str) -> &'a str {
    let found = files.iter().find(|(path, _)| path == name);
    std::str::from_utf8(&found.unwrap_or_else(|| panic!("no {name}")).1).unwrap()
}

fn pages(files: &Files) -> impl Iterator<Item = (&str, &str)> {
    let pages = files.iter().filter(|(path, _)| path.ends_with(".html"));
    pages.map(|(path, bytes)| (path.as_str(), std::str::from_utf8(bytes).unwrap()))
}

/// A page without what is the same in every one.
fn own(page: &str) -> &str {
    let body = page.split_once("<body>").unwrap().1;
    body.split_once("<script>").unwrap().0
}

/// The section of a page with one kind of figures.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let from = page.split_once(&format!("<section id=\"{id}\"")).unwrap().1;
    from.split_once("</section>").unwrap().0
}

#[test]
fn a_small_catalogue() {
    let files = made(&small());
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    insta::assert_snapshot!("catalogue-files", paths.join("\n"));
    insta::assert_snapshot!("catalogue-index", own(file(&files, "index.html")));
    insta::assert_snapshot!("catalogue-entry", own(file(&files, "entries/syscall-x86_64.html")));
    insta::assert_snapshot!("catalogue-json", file(&files, "catalogue.json"));
}

#[test]
fn the_order_of_the_command_line_decides_nothing_and_what_is_given_twice_stands_there_once() {
    let mut documents = small();
    let files = made(&documents);
    documents.reverse();
    documents.extend(small());
    assert!(made(&documents) == files);
    assert!(files.is_sorted());
}

/// Where a link leads, from the page that it stands in.
fn target(page: &str, href: &str) -> (String, Option<String>) {
    let (path, anchor) =
        href.split_once('#').map_or((href, None), |(path, anchor)| (path, Some(anchor.to_owned())));
    if path.is_empty() {
        return (page.to_owned(), anchor);
    }
    let mut folders: Vec<&str> = page.split('/').collect();
    folders.pop();
    for part in path.split('/') {
        match part {
            ".." => drop(folders.pop().expect("a link out of the catalogue")),
            part => folders.push(part),
        }
    }
    (folders.join("/"), anchor)
}

#[test]
fn every_link_is_relative_and_leads_somewhere() {
    let files = made(&small());
    let there: BTreeSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let mut links = 0;
    let mut linked = BTreeSet::from(["index.html".to_owned()]);
    for (path, page) in pages(&files) {
        for href in own(page).split(" href=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0) {
            assert!(!href.contains(':') && !href.starts_with('/'), "{path}: {href}");
            let (to, anchor) = target(path, href);
            assert!(there.contains(to.as_str()), "{path}: {href}");
            if let Some(anchor) = anchor {
                assert!(file(&files, &to).contains(&format!(" id=\"{anchor}\"")), "{path}: {href}");
            }
            linked.insert(to);
            links += 1;
        }
    }
    assert!(links > 500, "{links}");
    assert!(linked.iter().map(String::as_str).eq(there), "each file is linked");
}

#[test]
fn counts_and_times_never_share_a_table() {
    let files = made(&small());
    let lab = Summary::of(&sample::lab());
    let count = lab.rows.iter().find(|row| row.operation == "getppid").unwrap().instructions.unwrap();
    for (path, page) in pages(&files).filter(|(path, _)| !path.starts_with("runs/")) {
        let page = own(page);
        if page.contains("<section id=\"measured\"") {
            let measured = section(page, "measured");
            assert!(!measured.contains("&#39;s lab") && measured.contains("Core cycles"), "{path}");
        }
        if page.contains("<section id=\"counted\"") {
            let counted = section(page, "counted");
            assert!(
                !counted.contains(" ns<") && !counted.contains('±') && counted.contains("no time"),
                "{path}"
            );
        }
    }
    let index = own(file(&files, "index.html"));
    assert!(section(index, "counted").contains(&format!("data-key=\"{count}\"")));
}

/// Numbers are those of the summaries, and what has none says why.
#[test]
fn every_figure_is_one_of_its_run() {
    let documents = small();
    let files = made(&documents);
    for document in &documents {
        let summary = Summary::of(document).published();
        let data = summary::write(&summary);
        let (path, _) =
            files.iter().find(|(path, bytes)| path.starts_with("data/") && *bytes == data).unwrap();
        let page = path.replace("data/", "runs/").replace(".ndjson", ".html");
        let page = file(&files, &page);
        for (number, row) in summary.rows.iter().enumerate() {
            let shown = page.split_once(&format!("<tr id=\"row-{number}\">")).unwrap().1;
            let shown = shown.split_once("</tr>").unwrap().0;
            assert!(shown.contains(&format!("class=\"entry\">{}<", row.entry)), "{shown}");
            match row.core_cycles {
                Some(cycles) => assert!(shown.contains(&format!("<b>{cycles:.1}</b>")), "{cycles} {shown}"),
                None if row.instructions.is_none() => assert!(!shown.contains("<b>"), "{shown}"),
                None => {}
            }
        }
    }
}

/// Text that became markup would add a `<` somewhere.
#[test]
fn no_text_becomes_markup_or_leaves_its_folder() {
    let counts = |text: &str| {
        let files = made(&[sample::filled(text), sample::ordinary()]);
        let all =
            pages(&files).map(|(_, page)| (own(page).matches('<').count(), page.matches("</script").count()));
        let mut all: Vec<(usize, usize)> = all.collect();
        all.sort_unstable();
        (files.len(), all)
    };
    assert_eq!(counts(sample::HOSTILE), counts("harmless"));
    let hostile = made(&[sample::filled(sample::HOSTILE), sample::filled("../../../../etc/passwd")]);
    for (path, bytes) in &hostile {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_./".contains(c);
        assert!(
            path.chars().all(is_plain) && !path.contains("..") && path.matches('/').count() < 2,
            "{path}"
        );
        if path.ends_with(".html") {
            let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
            let page = std::str::from_utf8(bytes).unwrap();
            assert!(!own(page).contains(steers) && !page.contains("onerror=\""), "{path}");
        }
    }
    let title = catalogue(&[], Table::get(), Some(sample::HOSTILE)).unwrap();
    assert!(file(&title, "index.html").contains("<title>&#60;/script&#62;"));
    assert_eq!(title.len(), 2, "a catalogue of nothing is one");
}

/// The data of the repository's own catalogue: a file may be added by hand.
#[test]
fn what_stands_in_docs_is_what_its_name_says() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/catalogue");
    let mut summaries = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".ndjson.gz") else { continue };
        let file = std::fs::File::open(entry.path()).unwrap();
        let read = summary::Reader::new(std::io::BufReader::new(flate2::read::GzDecoder::new(file)));
        let read: Vec<Summary> =
            read.map(|one| one.unwrap_or_else(|error| panic!("{name}: {error}"))).collect();
        let [summary] = read.as_slice() else { panic!("{name} has {} runs", read.len()) };
        let release = summary.run.cohort.kernel_release.as_deref().unwrap();
        assert!(name.ends_with(release), "{name}: {release}");
        let (timed, counted) =
            (|row: &summary::Row| row.core_cycles.is_some(), |row: &summary::Row| row.instructions.is_some());
        let has = |is: fn(&summary::Row) -> bool| summary.rows.iter().filter(|row| is(row)).count();
        let (timed, counted) = (has(timed), has(counted));
        let is_emulated = name.starts_with("linux-");
        assert!(
            if is_emulated { counted > 100 && timed == 0 } else { timed > 100 && counted == 0 },
            "{name}: {timed} {counted}"
        );
        assert_eq!(summary.run.machine, if is_emulated { "qemu-tcg" } else { "host" }, "{name}");
        summaries.extend(read);
    }
    assert!(summaries.len() > 20, "{}", summaries.len());
    let files = catalogue(&summaries, Table::get(), None).unwrap();
    assert_eq!(files.iter().filter(|(path, _)| path.starts_with("runs/")).count(), summaries.len());
}
