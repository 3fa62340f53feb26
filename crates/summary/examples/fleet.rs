//! Writes a simulated fleet, for tests of databases and for whoever wants to try a query:
//!
//!     cargo run --release -p summary --example fleet -- FOLDER HOSTS DAYS
//!
//! Makes `FOLDER/day=DAY/runs.parquet`, `rows.parquet` and, for comparison, `lines.ndjson` for each day.

use std::error::Error;
use std::fs::{File, create_dir_all};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use summary::{parquet::Writer, simulated, write};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, hosts, days] = &arguments[..] else {
        return Err("usage: fleet FOLDER HOSTS DAYS".into());
    };
    let hosts = hosts.parse()?;
    for day in 0..days.parse()? {
        let folder = PathBuf::from(folder).join(format!("day={}", simulated::date(day)));
        create_dir_all(&folder)?;
        write_day(&folder, hosts, day)?;
    }
    Ok(())
}

fn write_day(folder: &Path, hosts: usize, day: u32) -> Result<(), Box<dyn Error>> {
    let file = |name| File::create(folder.join(name)).map(BufWriter::new);
    let (mut lines, mut tables) =
        (file("lines.ndjson")?, Writer::new(file("runs.parquet")?, file("rows.parquet")?)?);
    let summaries: Vec<summary::Summary> = simulated::fleet(1, hosts, day).collect();
    let begun = Instant::now();
    for summary in &summaries {
        tables.add(summary)?;
    }
    let (mut runs, mut rows) = tables.close()?;
    (runs.flush()?, rows.flush()?);
    println!("{}: tables of {hosts} hosts took {:.2} s", folder.display(), begun.elapsed().as_secs_f64());
    for summary in &summaries {
        lines.write_all(&write(summary))?;
    }
    lines.flush()?;
    let begun = Instant::now();
    let read = summary::parquet::read(&folder.join("runs.parquet"), &folder.join("rows.parquet"))?;
    println!("{}: read in {:.2} s", folder.display(), begun.elapsed().as_secs_f64());
    if read == summaries { Ok(()) } else { Err("what was read is not what was written".into()) }
}
