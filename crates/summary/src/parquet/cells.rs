//! What columns hold of a group, until it is written.

use super::columns::{Column, Kind};
use super::time;
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result as Written;
use parquet::file::writer::SerializedColumnWriter;
use serde_json::{Map, Value};

/// Of one column.
pub(super) enum Cells {
    /// One value in each record.
    Plain(Leaf),
    /// Names, and what they stand for.
    Map(Leaf, Leaf),
}

impl Cells {
    /// None yet.
    pub(super) fn of(column: &Column) -> Cells {
        match column.kind {
            Kind::Map => Cells::Map(Leaf::of(Kind::Text), Leaf::of(Kind::Text)),
            kind => Cells::Plain(Leaf::of(kind)),
        }
    }

    /// Adds a record's; says why it cannot.
    pub(super) fn add(&mut self, column: &Column, value: &Value) -> Result<(), String> {
        match (self, value) {
            (Cells::Map(names, values), Value::Object(map)) => add_map(names, values, map),
            (Cells::Map(..), _) => Err(format!("{value} is no map")),
            (Cells::Plain(leaf), Value::Null) if !column.is_required => {
                leaf.defined.push(0);
                Ok(())
            }
            (Cells::Plain(leaf), _) => {
                leaf.push(column.kind, value)?;
                if !column.is_required {
                    leaf.defined.push(1);
                }
                Ok(())
            }
        }
    }

    /// As the format has them, one after the other.
    pub(super) fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        match self {
            Cells::Plain(leaf) => [Some(leaf), None],
            Cells::Map(names, values) => [Some(names), Some(values)],
        }
        .into_iter()
        .flatten()
    }
}

/// An empty map is a place where nothing is defined.
fn add_map(names: &mut Leaf, values: &mut Leaf, map: &Map<String, Value>) -> Result<(), String> {
    for (at, (name, value)) in map.iter().enumerate() {
        names.push(Kind::Text, &Value::from(name.as_str()))?;
        values.push(Kind::Text, value)?;
        for leaf in [&mut *names, &mut *values] {
            leaf.defined.push(1);
            leaf.repeated.push(i16::from(at > 0));
        }
    }
    if map.is_empty() {
        for leaf in [names, values] {
            leaf.defined.push(0);
            leaf.repeated.push(0);
        }
    }
    Ok(())
}

/// Values in the order of the records, without those that are null.
pub(super) struct Leaf {
    values: Values,
    /// 1 where there is a value, 0 where there is none; empty where a column has no nulls.
    defined: Vec<i16>,
    /// Of maps alone: 0 where a record begins, 1 where it goes on.
    repeated: Vec<i16>,
}

enum Values {
    Text(Vec<ByteArray>),
    Whole(Vec<i64>),
    Number(Vec<f64>),
    Flag(Vec<bool>),
}

impl Leaf {
    fn of(kind: Kind) -> Leaf {
        let values = match kind {
            Kind::Text | Kind::Map => Values::Text(Vec::new()),
            Kind::Whole | Kind::Time => Values::Whole(Vec::new()),
            Kind::Number => Values::Number(Vec::new()),
            Kind::Flag => Values::Flag(Vec::new()),
        };
        Leaf { values, defined: Vec::new(), repeated: Vec::new() }
    }

    fn push(&mut self, kind: Kind, value: &Value) -> Result<(), String> {
        let unfit = || format!("{value} does not fit there");
        match &mut self.values {
            Values::Text(texts) => {
                texts.push(ByteArray::from(value.as_str().ok_or_else(unfit)?.as_bytes().to_vec()));
            }
            Values::Whole(times) if kind == Kind::Time => {
                times.push(time::micros(value.as_str().ok_or_else(unfit)?)?);
            }
            Values::Whole(numbers) => numbers.push(value.as_i64().ok_or_else(unfit)?),
            Values::Number(numbers) => numbers.push(value.as_f64().ok_or_else(unfit)?),
            Values::Flag(flags) => flags.push(value.as_bool().ok_or_else(unfit)?),
        }
        Ok(())
    }

    /// Writes all of them.
    pub(super) fn write(&self, to: &mut SerializedColumnWriter<'_>) -> Written<()> {
        match &self.values {
            Values::Text(texts) => self.batch(to.typed::<ByteArrayType>(), texts),
            Values::Whole(numbers) => self.batch(to.typed::<Int64Type>(), numbers),
            Values::Number(numbers) => self.batch(to.typed::<DoubleType>(), numbers),
            Values::Flag(flags) => self.batch(to.typed::<BoolType>(), flags),
        }
    }

    fn batch<T: DataType>(&self, to: &mut ColumnWriterImpl<'_, T>, values: &[T::T]) -> Written<()> {
        fn given(levels: &[i16]) -> Option<&[i16]> {
            (!levels.is_empty()).then_some(levels)
        }
        to.write_batch(values, given(&self.defined), given(&self.repeated)).map(|_| ())
    }
}
