//! Writes a simulated fleet, for tests of databases and for whoever wants to try a query:
//!
//!     cargo run --release -p summary --features parquet,simulated --example fleet -- FOLDER HOSTS DAYS
//!
//! For each day and kind of machine, makes `FOLDER/day=DAY/cohort=KIND/runs.parquet` and `rows.parquet`, and says how long that took; beside
//! the tables the same as lines, `lines.ndjson`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{File, create_dir_all};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use summary::{Summary, parquet, simulated, write};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, hosts, days] = &arguments[..] else {
        return Err("usage: fleet FOLDER HOSTS DAYS".into());
    };
    let (hosts, days): (usize, u32) = (hosts.parse()?, days.parse()?);
    let (mut to_write, mut to_read) = (0.0, 0.0);
    for day in 0..days {
        for (kind, summaries) in of_day(hosts, day) {
            let folder = PathBuf::from(folder).join(format!("day={}/cohort={kind}", simulated::date(day)));
            create_dir_all(&folder)?;
            write_lines(&folder, &summaries)?;
            to_write += timed(|| write_tables(&folder, &summaries))?;
            to_read += timed(|| read_back(&folder, &summaries))?;
        }
    }
    println!("{hosts} hosts, {days} days: {to_write:.2} s to write the tables, {to_read:.2} s to read them");
    Ok(())
}

fn of_day(hosts: usize, day: u32) -> BTreeMap<String, Vec<Summary>> {
    let mut kinds: BTreeMap<String, Vec<Summary>> = BTreeMap::new();
    for (host, summary) in simulated::fleet(1, hosts, day).enumerate() {
        let kind = &simulated::KINDS[host % simulated::KINDS.len()];
        let (family, model, stepping) = kind.processor;
        kinds.entry(format!("{}-{family}-{model}-{stepping}", kind.vendor)).or_default().push(summary);
    }
    kinds
}

/// Seconds.
fn timed(what: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let begun = Instant::now();
    what()?;
    Ok(begun.elapsed().as_secs_f64())
}

fn write_lines(folder: &Path, summaries: &[Summary]) -> Result<(), Box<dyn Error>> {
    let mut file = BufWriter::new(File::create(folder.join("lines.ndjson"))?);
    for summary in summaries {
        file.write_all(&write(summary))?;
    }
    Ok(file.flush()?)
}

fn write_tables(folder: &Path, summaries: &[Summary]) -> Result<(), Box<dyn Error>> {
    let file = |name| File::create(folder.join(name)).map(BufWriter::new);
    let mut tables = parquet::Writer::new(file("runs.parquet")?, file("rows.parquet")?)?;
    for summary in summaries {
        tables.add(summary)?;
    }
    let (mut runs, mut rows) = tables.close()?;
    runs.flush()?;
    Ok(rows.flush()?)
}

fn read_back(folder: &Path, summaries: &[Summary]) -> Result<(), Box<dyn Error>> {
    let read = parquet::read(&folder.join("runs.parquet"), &folder.join("rows.parquet"))?;
    if read == summaries { Ok(()) } else { Err("what was read is not what was written".into()) }
}
