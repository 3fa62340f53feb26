//! From the tables to summaries.

use super::columns::{Column, ROWS, RUN_ID, RUNS};
use super::leaf::{Budget, Leaf, Place, next};
use super::{KEY, digest};
use crate::{MOST_ROWS, Run, SCHEMA, Summary};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

/// Records that are in memory twice, as columns and as records.
const BATCH: usize = 1 << 12;

/// Why two files are no tables of summaries. Files are named as they were given.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It cannot be opened, or is no file of Parquet, or of something else.
    #[error("{file}: {why}")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// A column that is not as it should be.
    #[error("{file}, column {column}: {why}")]
    Column {
        /// The file.
        file: String,
        /// The column.
        column: &'static str,
        /// What is wrong.
        why: String,
    },
    /// A record that makes no sense.
    #[error("{file}, record {record}: {why}")]
    Record {
        /// The file.
        file: String,
        /// The record, from 1.
        record: u64,
        /// What is wrong.
        why: String,
    },
}

/// Reads the tables of runs and of their rows; runs are in the order of their file, and so are the rows of each.
///
/// # Errors
/// [`Unreadable`], with file and column, or file and record.
pub fn read(runs: &Path, rows: &Path) -> Result<Vec<Summary>, Unreadable> {
    let mut summaries: Vec<Summary> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    each(runs, &RUNS, |mut fields| {
        // Nobody said when.
        fields.entry("started").and_modify(|started| {
            if started.is_null() {
                *started = Value::from("");
            }
        });
        let run: Run = of(fields)?;
        if places.insert(run.run_id.clone(), summaries.len()).is_some() {
            return Err(format!("the run {:?} is there twice", run.run_id));
        }
        summaries.push(Summary { run, rows: Vec::new() });
        Ok(())
    })?;
    each(rows, &ROWS, |mut fields| {
        let Some(Value::String(run_id)) = fields.remove(RUN_ID) else {
            return Err(format!("its {RUN_ID} is null"));
        };
        let place = places.get(&run_id).and_then(|place| summaries.get_mut(*place));
        let of_run =
            place.ok_or_else(|| format!("it is of the run {run_id:?}, which {} lacks", runs.display()))?;
        if of_run.rows.len() == MOST_ROWS {
            return Err(format!("it is one row more than the {MOST_ROWS} that a run may have"));
        }
        let row: crate::Row = of(fields)?;
        row.check()?;
        of_run.rows.push(row);
        Ok(())
    })?;
    Ok(summaries)
}

fn of<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
}

/// Reads the records of a table, one after the other.
fn each(
    path: &Path,
    columns: &[Column],
    mut take: impl FnMut(Map<String, Value>) -> Result<(), String>,
) -> Result<(), Unreadable> {
    let table = Table::open(path, columns)?;
    let (mut budget, mut record) = (Budget::new(), 0);
    for group in 0..table.reader.num_row_groups() {
        let (mut left, mut leaves) = table.group(group)?;
        while left > 0 {
            let count = left.min(BATCH);
            for fields in table.records(&mut leaves, count, &mut budget)? {
                record += 1;
                let file = || table.file.clone();
                take(fields).map_err(|why| Unreadable::Record { file: file(), record, why })?;
            }
            left -= count;
        }
    }
    Ok(())
}

struct Table {
    /// As it was given.
    file: String,
    bytes: u64,
    reader: SerializedFileReader<File>,
    places: Vec<Place>,
}

impl Table {
    fn open(path: &Path, columns: &[Column]) -> Result<Table, Unreadable> {
        let file = path.display().to_string();
        let wrong = |why: String| Unreadable::File { file: file.clone(), why };
        let (reader, bytes) = open(path).map_err(wrong)?;
        let metadata = reader.metadata().file_metadata();
        let pairs = metadata.key_value_metadata().into_iter().flatten();
        let schema = pairs.filter(|pair| pair.key == KEY).find_map(|pair| pair.value.as_deref());
        match schema {
            Some(SCHEMA) => {}
            Some(other) => {
                return Err(wrong(format!(
                    "its schema is {other:?}; this version of kentry reads {SCHEMA:?}"
                )));
            }
            None => return Err(wrong(format!("it is no table of summaries: its metadata has no {KEY}"))),
        }
        let mut pairs = metadata.key_value_metadata().into_iter().flatten();
        if let Some(pair) = pairs.find(|pair| pair.key == digest::KEY) {
            digest::check(path, pair.value.as_deref().unwrap_or_default()).map_err(wrong)?;
        }
        let mut places = Vec::new();
        for column in columns {
            let wrong = |why| Unreadable::Column { file: file.clone(), column: column.name, why };
            match Place::find(*column, metadata.schema_descr()).map_err(wrong)? {
                Some(place) => places.push(place),
                None if column.is_required => return Err(wrong("the file does not have it".to_owned())),
                None => {}
            }
        }
        Ok(Table { file, bytes, reader, places })
    }

    fn wrong(&self, column: &Column, why: String) -> Unreadable {
        Unreadable::Column { file: self.file.clone(), column: column.name, why }
    }

    /// How many records a group has, and its columns.
    fn group(&self, group: usize) -> Result<(usize, Vec<Vec<Leaf>>), Unreadable> {
        let wrong = |why| Unreadable::File { file: self.file.clone(), why };
        let group = self.reader.get_row_group(group).map_err(|error| wrong(error.to_string()))?;
        let records = usize::try_from(group.metadata().num_rows())
            .map_err(|_| wrong("a group has fewer than no records".to_owned()))?;
        let open =
            |place: &Place| place.open(&*group, self.bytes).map_err(|why| self.wrong(&place.column, why));
        Ok((records, self.places.iter().map(open).collect::<Result<_, _>>()?))
    }

    /// The next records of a group.
    fn records(
        &self,
        leaves: &mut [Vec<Leaf>],
        count: usize,
        budget: &mut Budget,
    ) -> Result<Vec<Map<String, Value>>, Unreadable> {
        let mut records = vec![Map::new(); count];
        for (place, leaves) in self.places.iter().zip(leaves) {
            let column = &place.column;
            let values = next(leaves, count, budget).map_err(|why| self.wrong(column, why))?;
            if values.len() != count {
                return Err(self.wrong(column, "it has another number of records than the group".to_owned()));
            }
            for (record, value) in records.iter_mut().zip(values) {
                record.insert(column.name.to_owned(), value);
            }
        }
        Ok(records)
    }
}

/// A file, and how many bytes it has. A pipe would wait, and has no end to begin at.
fn open(path: &Path) -> Result<(SerializedFileReader<File>, u64), String> {
    let unreadable = |error| format!("it cannot be read: {error}");
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err("it is no file; tables of Parquet are files".to_owned());
    }
    let file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    let reader = SerializedFileReader::new(file);
    Ok((reader.map_err(|error| format!("it is no whole file of Parquet: {error}"))?, bytes))
}
