//! Tables hold what summaries do, and files that are damaged or made by others are answered with words.

#![allow(clippy::unwrap_used, reason = "a test")]

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use summary::parquet::{KEY, Writer, read};
use summary::{SCHEMA, Summary, simulated};

/// Both tables of summaries.
fn written(summaries: &[Summary]) -> (Vec<u8>, Vec<u8>) {
    let mut writer = Writer::new(Vec::new(), Vec::new()).unwrap();
    for summary in summaries {
        writer.add(summary).unwrap();
    }
    writer.close().unwrap()
}

fn files(folder: &Path, (runs, rows): &(Vec<u8>, Vec<u8>)) -> (PathBuf, PathBuf) {
    let (runs_at, rows_at) = (folder.join("runs.parquet"), folder.join("rows.parquet"));
    std::fs::write(&runs_at, runs).unwrap();
    std::fs::write(&rows_at, rows).unwrap();
    (runs_at, rows_at)
}

fn read_back(tables: &(Vec<u8>, Vec<u8>)) -> Result<Vec<Summary>, String> {
    let folder = tempfile::tempdir().unwrap();
    let (runs, rows) = files(folder.path(), tables);
    read(&runs, &rows)
        .map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

fn fleet(hosts: usize) -> Vec<Summary> {
    simulated::fleet(1, hosts, 2).collect()
}

#[test]
fn what_is_read_is_what_was_written() {
    let mut summaries = fleet(120);
    // Runs of everything that can be unknown, and of nothing.
    summaries[3].run.mitigations.clear();
    summaries[4].rows.clear();
    let cohort = summary::Cohort::default();
    let bare = summary::Run { run_id: "bare".to_owned(), cohort, ..summary::Run::default() };
    summaries.push(Summary { run: bare, rows: Vec::new() });
    summaries[5].rows[0].configuration = Some("pcid=off;pti=on".to_owned());
    summaries[5].rows[0].instructions = Some(7.0);
    summaries[6].run.started = "2026-11-26T19:09:55.855123Z".to_owned();
    summaries[7].run.product = Some("Ünïcode \u{0} \" ' \n".to_owned());
    assert_eq!(read_back(&written(&summaries)).unwrap(), summaries);
}

#[test]
fn no_summary_makes_two_empty_tables() {
    assert_eq!(read_back(&written(&[])).unwrap(), Vec::new());
}

#[test]
fn more_records_than_a_group_holds_are_whole() {
    let mut one = fleet(1).remove(0);
    let few = one.rows.clone();
    one.rows = few.iter().cycle().take(60_000).cloned().collect();
    let summaries: Vec<Summary> = (0..3)
        .map(|number| {
            let mut summary = one.clone();
            summary.run.run_id = format!("{number}");
            summary
        })
        .collect();
    let tables = written(&summaries);
    let rows = SerializedFileReader::new(bytes::Bytes::from(tables.1.clone())).unwrap();
    assert_eq!(rows.num_row_groups(), 2);
    assert!(read_back(&tables).unwrap() == summaries);
}

#[test]
fn both_files_name_the_schema_that_they_follow_and_have_a_digest_of_their_pages() {
    let (runs, rows) = written(&fleet(1));
    for file in [runs, rows] {
        let reader = SerializedFileReader::new(bytes::Bytes::from(file)).unwrap();
        let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
        assert_eq!(pairs[0], KeyValue::new(KEY.to_owned(), SCHEMA.to_owned()));
        assert_eq!((pairs[1].key.as_str(), pairs.len()), ("kentry.sha256", 2));
    }
}

/// Three of four lost bits were read as other figures.
#[test]
fn a_bit_that_is_lost_in_a_page_is_seen() {
    let (runs, rows) = written(&fleet(3));
    let reader = SerializedFileReader::new(bytes::Bytes::from(rows.clone())).unwrap();
    let pages = reader.metadata().row_group(0).columns().iter().map(|column| column.byte_range());
    let end = pages.map(|(from, length)| from + length).max().unwrap() as usize;
    for at in (4..end).step_by(7) {
        let mut other = rows.clone();
        other[at] ^= 1 << (at % 8);
        let why = read_back(&(runs.clone(), other)).unwrap_err().to_string();
        assert!(why.ends_with("it is damaged: its pages have another digest"), "{at}: {why}");
    }
}

#[test]
fn what_no_table_can_hold_is_refused_with_run_and_column() {
    let refused = |change: fn(&mut Summary)| {
        let mut summary = fleet(1).remove(0);
        summary.run.run_id = "r".to_owned();
        change(&mut summary);
        Writer::new(Vec::new(), Vec::new()).unwrap().add(&summary).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|summary| summary.run.started = "yesterday".to_owned()),
        "the run \"r\" cannot be written, column started: \"yesterday\" is no time since 1970 in UTC, as \
         2026-11-26T19:09:55.855Z is"
    );
    assert_eq!(
        refused(|summary| summary.rows[0].kept_rounds = u64::MAX),
        "the run \"r\" cannot be written, column kept_rounds: 18446744073709551615 does not fit there"
    );
    assert_eq!(
        refused(|summary| summary.run.duration_seconds = f64::NAN),
        "the run \"r\" cannot be written, column duration_seconds: null does not fit there"
    );
    let mut writer = Writer::new(Vec::new(), Vec::new()).unwrap();
    let summary = fleet(1).remove(0);
    writer.add(&summary).unwrap();
    let twice = writer.add(&summary).unwrap_err().to_string();
    assert!(twice.ends_with("is there twice; give each run once"), "{twice}");
}

/// A table as somebody else may make it, of texts alone: one group of these columns, each with its values; no group without columns.
fn foreign(schema: &str, named: Option<&str>, columns: &[&[&str]]) -> Vec<u8> {
    let pairs = named.map(|named| vec![KeyValue::new(KEY.to_owned(), named.to_owned())]);
    let properties =
        WriterProperties::builder().set_key_value_metadata(pairs).set_compression(Compression::SNAPPY);
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    if columns.is_empty() {
        return file.into_inner().unwrap();
    }
    let mut group = file.next_row_group().unwrap();
    for values in columns {
        let mut column = group.next_column().unwrap().unwrap();
        let values: Vec<ByteArray> = values.iter().map(|text| ByteArray::from(*text)).collect();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    file.into_inner().unwrap()
}

#[test]
fn what_is_no_table_of_summaries_is_refused_with_its_file_and_column() {
    let good = written(&fleet(2));
    let as_runs = |runs: Vec<u8>| read_back(&(runs, good.1.clone())).unwrap_err();
    let one_text = "message x { required binary run_id (STRING); }";
    for (runs, complaint) in [
        (Vec::new(), "runs.parquet: it is no whole file of Parquet: "),
        (b"{\"schema\":\"kentry.summary/1\"}\n".to_vec(), "runs.parquet: it is no whole file of Parquet: "),
        (
            foreign(one_text, None, &[&["1"]]),
            "runs.parquet: it is no table of summaries: its metadata has no kentry.schema",
        ),
        (
            foreign(one_text, Some("kentry.summary/2"), &[&["1"]]),
            "runs.parquet: its schema is \"kentry.summary/2\"; this version of kentry reads \"kentry.summary/1\"",
        ),
        (
            foreign(one_text, Some(SCHEMA), &[&["1"]]),
            "runs.parquet, column duration_seconds: the file does not have it",
        ),
        (
            foreign(
                "message x { required binary run_id; required binary smt; }",
                Some(SCHEMA),
                &[&["1"], &["on"]],
            ),
            "runs.parquet, column smt: it is of another type than true or false",
        ),
        (
            foreign("message x { required binary run_id; repeated binary libc; }", Some(SCHEMA), &[]),
            "runs.parquet, column libc: it is of another type than a text",
        ),
        (
            foreign(
                "message x { required binary run_id; required int64 started (TIMESTAMP_MILLIS); }",
                Some(SCHEMA),
                &[],
            ),
            "runs.parquet, column started: it is of another type than a time in UTC with microseconds",
        ),
        (good.1.clone(), "runs.parquet, column duration_seconds: the file does not have it"),
    ] {
        let error = as_runs(runs);
        assert!(error.starts_with(complaint), "{error}\n{complaint}");
    }
}

#[test]
fn tables_that_do_not_belong_together_are_refused() {
    let (runs, rows) = written(&fleet(2));
    let (other_runs, _) = written(&simulated::fleet(7, 2, 0).collect::<Vec<Summary>>());
    let error = read_back(&(other_runs, rows)).unwrap_err();
    assert!(error.starts_with("rows.parquet, record 1: it is of the run "), "{error}");
    assert!(error.ends_with("runs.parquet lacks"), "{error}");
    let odd_rows = "message x { required binary run_id; required binary entry; required binary operation; }";
    let error =
        read_back(&(runs, foreign(odd_rows, Some(SCHEMA), &[&["1"], &["call"], &["none"]]))).unwrap_err();
    assert_eq!(error, "rows.parquet, column bits: the file does not have it");
}

#[test]
fn a_row_more_than_a_run_may_have_is_refused() {
    let mut summary = fleet(1).remove(0);
    summary.rows = summary.rows.iter().cycle().take(summary::MOST_ROWS + 1).cloned().collect();
    let error = read_back(&written(&[summary])).unwrap_err();
    assert_eq!(error, "rows.parquet, record 65537: it is one row more than the 65536 that a run may have");
}

#[test]
fn a_text_that_is_too_long_is_refused() {
    let mut summary = fleet(1).remove(0);
    summary.run.command_line = Some("x".repeat(summary::parquet::LONGEST_TEXT + 1));
    let error = read_back(&written(&[summary])).unwrap_err();
    assert_eq!(error, "runs.parquet, column command_line: a text has 262145 bytes, more than 262144");
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("nowhere");
    let error = read(folder.path(), &there).unwrap_err().to_string();
    assert!(error.ends_with(": it is no file; tables of Parquet are files"), "{error}");
    let error = read(&there, &there).unwrap_err().to_string();
    assert!(error.contains("nowhere: it cannot be read: No such file"), "{error}");
}

/// A good file after one of the accidents that files have, or that a mean hand makes.
fn damaged(good: &[u8], random: &mut SmallRng) -> Vec<u8> {
    let mut bytes = good.to_vec();
    let mut below = |bound: usize| (random.next_u64() % bound.max(1) as u64) as usize;
    // Half of the damage is in the footer, where sizes and offsets are.
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize + 8;
    let from = if below(2) == 0 { bytes.len() - footer } else { 4 };
    for _ in 0..=below(4) {
        let length = bytes.len();
        let at = from.min(length - 1) + below(length.saturating_sub(from));
        match below(6) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes[at] ^= 1 << below(8),
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][below(5)],
            3 => bytes.insert(at, below(256) as u8),
            4 => drop(bytes.remove(at)),
            _ => {
                let end = (at + below(64)).min(length);
                bytes[at..end].fill(below(256) as u8);
            }
        }
        if bytes.len() < 2 {
            break;
        }
    }
    bytes
}

/// As another program writes it: the digest would keep all damage from those who decode.
fn without_digest(mut file: Vec<u8>) -> Vec<u8> {
    let name = b"kentry.sha256";
    let at = file.windows(name.len()).rposition(|bytes| bytes == name).unwrap();
    file[at] = b'x';
    file
}

/// Nothing panics, in so many cases as `KENTRY_PARQUET_CASES` says: damage is an error, or changes what is read, or nothing.
#[test]
fn damaged_files_are_answered_with_words() {
    let (runs, rows) = written(&fleet(8));
    let good = (without_digest(runs), without_digest(rows));
    let whole = read_back(&good).unwrap();
    let cases: u64 = std::env::var("KENTRY_PARQUET_CASES").map_or(2000, |cases| cases.parse().unwrap());
    let (mut refused, mut changed, mut panicked) = (0, 0, Vec::new());
    for case in 0..cases {
        let mut random = SmallRng::seed_from_u64(case);
        let mut tables = good.clone();
        let hit = if case % 2 == 0 { &mut tables.0 } else { &mut tables.1 };
        *hit = damaged(hit, &mut random);
        match std::panic::catch_unwind(|| read_back(&tables)) {
            Ok(Ok(read)) => changed += u64::from(read != whole),
            Ok(Err(error)) => {
                assert!(error.starts_with("runs.parquet") || error.starts_with("rows.parquet"), "{error}");
                refused += 1;
            }
            Err(_) => panicked.push(case),
        }
    }
    assert!(panicked.is_empty(), "cases that panicked: {panicked:?}");
    assert!(refused > cases / 2, "{refused} of {cases} were refused");
    println!("{cases} damaged: {refused} refused, {changed} read otherwise");
}
