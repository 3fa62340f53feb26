//! One column of a group, read record by record; nothing in it is believed.

use super::columns::{Column, Kind, MAP_LEAVES};
use super::pages::Checked;
use super::time;
use super::{LONGEST_TEXT, MOST_TEXT};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::SchemaDescriptor;
use serde_json::{Map, Number, Value};

/// Bytes of text that a file may have still.
pub(super) struct Budget(u64);

impl Budget {
    pub(super) fn new() -> Budget {
        Budget(MOST_TEXT)
    }

    fn text(&mut self, bytes: &ByteArray) -> Result<String, String> {
        let bytes = bytes.data();
        let left = self.0.checked_sub(bytes.len() as u64);
        self.0 = left.ok_or_else(|| format!("the file has more than {MOST_TEXT} bytes of text"))?;
        if bytes.len() > LONGEST_TEXT {
            return Err(format!("a text has {} bytes, more than {LONGEST_TEXT}", bytes.len()));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| "a text is no UTF-8".to_owned())?;
        Ok(text.to_owned())
    }
}

/// Where a file has a column.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub column: Column,
    /// Its leaves by their numbers in the file; a map has two.
    leaves: Vec<(usize, i16)>,
}

impl Place {
    /// None where the file has no such column; an error where it has another shape.
    pub(super) fn find(column: Column, schema: &SchemaDescriptor) -> Result<Option<Place>, String> {
        let paths = match column.kind {
            Kind::Map => MAP_LEAVES.map(|leaf| format!("{}.{leaf}", column.name)).to_vec(),
            _ => vec![column.name.to_owned()],
        };
        let mut leaves = Vec::new();
        for path in paths {
            let is_it = |leaf: &_| schema.column(*leaf).path().string() == path;
            let Some(leaf) = (0..schema.num_columns()).find(is_it) else { continue };
            let found = schema.column(leaf);
            let is_repeated = i16::from(column.kind == Kind::Map);
            // Others write texts without saying that they are.
            let means_it =
                column.kind == Kind::Text || found.logical_type_ref() == column.kind.logical().as_ref();
            if found.physical_type() != column.kind.physical()
                || found.max_rep_level() != is_repeated
                || (column.kind == Kind::Time && !means_it)
            {
                return Err(format!("it is of another type than {}", column.kind.told()));
            }
            leaves.push((leaf, found.max_def_level()));
        }
        let wanted = if column.kind == Kind::Map { 2 } else { 1 };
        match leaves.len() {
            0 => Ok(None),
            found if found == wanted => Ok(Some(Place { column, leaves })),
            _ => Err(format!("it is of another type than {}", column.kind.told())),
        }
    }

    /// Begins to read it in a group of a file that has so many bytes.
    pub(super) fn open(&self, group: &dyn RowGroupReader, bytes: u64) -> Result<Vec<Leaf>, String> {
        let open = |&(leaf, defined): &(usize, i16)| {
            if !lies_within(group.metadata().column(leaf), bytes) {
                return Err("it lies outside of the file".to_owned());
            }
            let pages = group.get_column_page_reader(leaf).map_err(|error| error.to_string())?;
            let descriptor = group.metadata().column(leaf).column_descr_ptr();
            let checked = Checked::new(pages, &descriptor, self.column.kind.least());
            let reader = get_column_reader(descriptor, Box::new(checked));
            Ok(Leaf { reader, kind: self.column.kind, defined })
        };
        self.leaves.iter().map(open).collect()
    }
}

/// The crate panics over a place before the file's beginning.
fn lies_within(chunk: &ColumnChunkMetaData, bytes: u64) -> bool {
    let first = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let place = u64::try_from(first).ok().zip(u64::try_from(chunk.compressed_size()).ok());
    place.and_then(|(first, size)| first.checked_add(size)).is_some_and(|end| end <= bytes)
}

/// A leaf of a column in a group.
pub(super) struct Leaf {
    reader: ColumnReader,
    kind: Kind,
    /// The level at which there is a value.
    defined: i16,
}

/// The next values of a leaf: null where there is none, and whether a record begins there.
struct Batch(Vec<(bool, Value)>);

/// The next `count` records of a column.
///
/// # Errors
/// What is wrong in it, in words.
pub(super) fn next(leaves: &mut [Leaf], count: usize, budget: &mut Budget) -> Result<Vec<Value>, String> {
    match leaves {
        [leaf] => Ok(leaf.next(count, budget)?.0.into_iter().map(|(_, value)| value).collect()),
        [names, values] => maps(names.next(count, budget)?, values.next(count, budget)?),
        _ => Err("it has no leaf".to_owned()),
    }
}

fn maps(names: Batch, values: Batch) -> Result<Vec<Value>, String> {
    if names.0.len() != values.0.len() {
        return Err(format!("{} names have {} values", names.0.len(), values.0.len()));
    }
    let mut maps: Vec<Map<String, Value>> = Vec::new();
    for ((begins, name), (value_begins, value)) in names.0.into_iter().zip(values.0) {
        if begins != value_begins {
            return Err("names and values are in different records".to_owned());
        }
        if begins {
            maps.push(Map::new());
        }
        match (maps.last_mut(), name, value) {
            (Some(map), Value::String(name), value @ Value::String(_)) => {
                map.insert(name, value);
            }
            (Some(_), Value::Null, Value::Null) => {}
            _ => return Err("a name has no value, or a value no name".to_owned()),
        }
    }
    Ok(maps.into_iter().map(Value::Object).collect())
}

impl Leaf {
    fn next(&mut self, count: usize, budget: &mut Budget) -> Result<Batch, String> {
        let (kind, defined) = (self.kind, self.defined);
        match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(reader) => {
                batch(reader, count, defined, |text| budget.text(text).map(Value::from))
            }
            ColumnReader::Int64ColumnReader(reader) if kind == Kind::Time => {
                batch(reader, count, defined, |micros| time::text(*micros).map(Value::from))
            }
            ColumnReader::Int64ColumnReader(reader) => {
                batch(reader, count, defined, |number| Ok(Value::from(*number)))
            }
            ColumnReader::DoubleColumnReader(reader) => batch(reader, count, defined, |number| {
                Number::from_f64(*number).map(Value::from).ok_or_else(|| format!("{number} is no number"))
            }),
            ColumnReader::BoolColumnReader(reader) => {
                batch(reader, count, defined, |flag| Ok(Value::from(*flag)))
            }
            _ => Err(format!("it is of another type than {}", kind.told())),
        }
    }
}

fn batch<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    count: usize,
    defined: i16,
    mut value: impl FnMut(&T::T) -> Result<Value, String>,
) -> Result<Batch, String> {
    let (mut levels, mut repeated, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let (records, _, _) = reader
        .read_records(count, Some(&mut levels), Some(&mut repeated), &mut values)
        .map_err(|error| error.to_string())?;
    if records != count {
        return Err("it ends before the other columns do".to_owned());
    }
    // Columns that have no nulls have no levels, and those that are no maps do not say where records begin.
    let places = if levels.is_empty() { values.len() } else { levels.len() };
    let mut values = values.iter();
    let mut next = |at: usize| {
        let is_null = levels.get(at).is_some_and(|level| *level != defined);
        let begins = repeated.get(at).is_none_or(|level| *level == 0);
        let value = if is_null { Ok(Value::Null) } else { values.next().map_or_else(short, &mut value) };
        Ok((begins, value?))
    };
    (0..places).map(&mut next).collect::<Result<_, String>>().map(Batch)
}

fn short() -> Result<Value, String> {
    Err("it has fewer values than it says".to_owned())
}
