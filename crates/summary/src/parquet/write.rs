//! From summaries to the tables.

use super::KEY;
use super::cells::Cells;
use super::columns::{Column, ROWS, RUN_ID, RUNS, schema};
use super::digest::{self, Hashed, Running};
use crate::{SCHEMA, Summary};
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result as Written};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

/// Records of a group, which is gathered in memory: databases share work by groups, and like them this large.
const GROUP: usize = 1 << 17;

/// Why tables could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Unwritable {
    /// A value that the tables have no place for.
    #[error("the run {run_id:?} cannot be written, column {column}: {why}")]
    Value {
        /// Of this run.
        run_id: String,
        /// Where it should stand.
        column: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A second summary of the same run: rows could not tell which they are of.
    #[error("the run {run_id:?} is there twice; give each run once")]
    Twice {
        /// The run.
        run_id: String,
    },
    /// The file could not be written.
    #[error("{0}")]
    Failed(#[from] ParquetError),
}

/// Writes summaries, one after the other, into two files. A group of records is held in memory at most.
pub struct Writer<W: Write + Send> {
    runs: Table<W>,
    rows: Table<W>,
    known: HashSet<String>,
}

impl<W: Write + Send> Writer<W> {
    /// Into these two.
    ///
    /// # Errors
    /// [`Unwritable`], if the first bytes cannot be written.
    pub fn new(runs: W, rows: W) -> Result<Writer<W>, Unwritable> {
        Ok(Writer { runs: Table::new(runs, &RUNS)?, rows: Table::new(rows, &ROWS)?, known: HashSet::new() })
    }

    /// Adds a run with its rows.
    ///
    /// # Errors
    /// [`Unwritable`]; the files are of no use then.
    pub fn add(&mut self, summary: &Summary) -> Result<(), Unwritable> {
        let run_id = &summary.run.run_id;
        if !self.known.insert(run_id.clone()) {
            return Err(Unwritable::Twice { run_id: run_id.clone() });
        }
        let mut run = fields(&summary.run);
        // Nobody said when.
        if summary.run.started.is_empty() {
            run.remove("started");
        }
        self.runs.add(run_id, &run)?;
        for row in &summary.rows {
            let mut row = fields(row);
            row.insert(RUN_ID.to_owned(), Value::from(run_id.as_str()));
            self.rows.add(run_id, &row)?;
        }
        Ok(())
    }

    /// Ends both files, which are of no use without their ends; returns them, that of the runs first.
    ///
    /// # Errors
    /// [`Unwritable`], if they cannot be written.
    pub fn close(self) -> Result<(W, W), Unwritable> {
        Ok((self.runs.close()?, self.rows.close()?))
    }
}

/// By their names: texts, numbers and maps of texts always are JSON.
fn fields(of: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

struct Table<W: Write + Send> {
    file: SerializedFileWriter<Hashed<W>>,
    running: Running,
    columns: &'static [Column],
    cells: Vec<Cells>,
    records: usize,
}

impl<W: Write + Send> Table<W> {
    fn new(to: W, columns: &'static [Column]) -> Written<Table<W>> {
        let properties = WriterProperties::builder()
            .set_key_value_metadata(Some(vec![KeyValue::new(KEY.to_owned(), SCHEMA.to_owned())]))
            .set_created_by(concat!("kentry ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::SNAPPY)
            // A group has few pages: what is known of each would be as large as they are.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        let running = Running::default();
        let to = Hashed::new(to, running.clone());
        let file = SerializedFileWriter::new(to, schema(columns)?, Arc::new(properties.build()))?;
        Ok(Table { file, running, columns, cells: columns.iter().map(Cells::of).collect(), records: 0 })
    }

    fn add(&mut self, run_id: &str, fields: &Map<String, Value>) -> Result<(), Unwritable> {
        for (column, cells) in self.columns.iter().zip(&mut self.cells) {
            let value = fields.get(column.name).unwrap_or(&Value::Null);
            let wrong = |why| Unwritable::Value { run_id: run_id.to_owned(), column: column.name, why };
            cells.add(column, value).map_err(wrong)?;
        }
        self.records += 1;
        if self.records == GROUP {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Written<()> {
        let mut group = self.file.next_row_group()?;
        for leaf in self.cells.iter().flat_map(Cells::leaves) {
            let mut to =
                group.next_column()?.ok_or_else(|| ParquetError::General("no such column".into()))?;
            leaf.write(&mut to)?;
            to.close()?;
        }
        group.close()?;
        self.cells = self.columns.iter().map(Cells::of).collect();
        self.records = 0;
        Ok(())
    }

    fn close(mut self) -> Written<W> {
        if self.records > 0 {
            self.flush()?;
        }
        self.file.flush()?;
        let digest = KeyValue::new(digest::KEY.to_owned(), self.running.written());
        self.file.append_key_value_metadata(digest);
        Ok(self.file.into_inner()?.into_inner())
    }
}
