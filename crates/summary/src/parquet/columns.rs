//! The columns of both tables: a field of [`crate::Run`] or [`crate::Row`] each, of the same name, which a test holds.

use Kind::{Flag, Map, Number, Text, Time, Whole};
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::Result;
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// UTF-8.
    Text,
    /// A whole number of 64 bits with a sign: every database has that.
    Whole,
    /// A number of 64 bits.
    Number,
    /// True or false.
    Flag,
    /// Microseconds since 1970, UTC.
    Time,
    /// Texts by names.
    Map,
}

/// One column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub name: &'static str,
    pub kind: Kind,
    /// Whether it is never null.
    pub is_required: bool,
}

const fn all(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, is_required: true }
}

const fn some(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, is_required: false }
}

/// What tells a row's run.
pub(super) const RUN_ID: &str = "run_id";

/// Of the table of runs.
pub(super) const RUNS: [Column; 41] = [
    all(RUN_ID, Text),
    // Null where the summary has an empty text.
    some("started", Time),
    some("machine_id", Text),
    some("cpu_vendor", Text),
    some("cpu_family", Whole),
    some("cpu_model", Whole),
    some("cpu_stepping", Whole),
    some("microcode", Text),
    some("hypervisor", Text),
    some("smt", Flag),
    some("kernel_release", Text),
    some("command_line_sha256", Text),
    some("clocksource", Text),
    some("preemption", Text),
    some("mitigations_sha256", Text),
    some("libc", Text),
    all("duration_seconds", Number),
    all("kentry", Text),
    all("machine", Text),
    all("kernel", Text),
    all("partial", Flag),
    some("quiet_ratio", Number),
    some("tsc_hertz", Number),
    some("core_hertz", Number),
    some("boot_id", Text),
    some("cpu_brand", Text),
    some("core_type", Text),
    some("product", Text),
    some("kernel_version", Text),
    some("command_line", Text),
    all("mitigations", Map),
    some("pti", Flag),
    some("randomize_kstack_offset", Flag),
    some("vsyscall", Text),
    some("seccomp_filters", Whole),
    some("traced", Flag),
    some("cpu_quota", Number),
    some("governor", Text),
    some("speculation_store_bypass", Text),
    some("probes_sha256", Text),
    all("findings", Map),
];

/// Of the table of rows.
pub(super) const ROWS: [Column; 18] = [
    all(RUN_ID, Text),
    all("entry", Text),
    all("operation", Text),
    all("bits", Whole),
    some("configuration", Text),
    all("timing", Text),
    all("outcome", Text),
    some("reason", Text),
    some("path", Text),
    some("noise", Text),
    some("core_cycles", Number),
    some("core_cycles_ci_low", Number),
    some("core_cycles_ci_high", Number),
    some("nanoseconds", Number),
    some("nanoseconds_ci_low", Number),
    some("nanoseconds_ci_high", Number),
    some("instructions", Number),
    all("kept_rounds", Whole),
];

/// The leaves of a map: what their paths end in, as the format wants it.
pub(super) const MAP_LEAVES: [&str; 2] = ["key_value.key", "key_value.value"];

impl Kind {
    /// What the format stores for it, of each leaf.
    pub(super) fn physical(self) -> Physical {
        match self {
            Text | Map => Physical::BYTE_ARRAY,
            Whole | Time => Physical::INT64,
            Number => Physical::DOUBLE,
            Flag => Physical::BOOLEAN,
        }
    }

    /// In words, with its article.
    pub(super) fn told(self) -> &'static str {
        match self {
            Text => "a text",
            Whole => "a whole number of 64 bits",
            Number => "a number of 64 bits",
            Flag => "true or false",
            Time => "a time in UTC with microseconds",
            Map => "a map of texts",
        }
    }

    /// No value of it has fewer bytes in a file: a text has its length before it. Flags have less than one.
    pub(super) fn least(self) -> usize {
        match self {
            Text | Map => 4,
            Whole | Time | Number => 8,
            Flag => 0,
        }
    }

    /// What that means.
    pub(super) fn logical(self) -> Option<LogicalType> {
        match self {
            Text | Map => Some(LogicalType::String),
            Time => Some(LogicalType::timestamp(true, TimeUnit::MICROS)),
            Whole | Number | Flag => None,
        }
    }
}

impl Column {
    fn repetition(self) -> Repetition {
        if self.is_required { Repetition::REQUIRED } else { Repetition::OPTIONAL }
    }

    fn leaf(self, name: &str) -> Result<TypePtr> {
        let of = Type::primitive_type_builder(name, self.kind.physical());
        Ok(Arc::new(of.with_logical_type(self.kind.logical()).with_repetition(self.repetition()).build()?))
    }

    fn field(self) -> Result<TypePtr> {
        if self.kind != Map {
            return self.leaf(self.name);
        }
        let leaves = vec![self.leaf("key")?, self.leaf("value")?];
        let entries = Type::group_type_builder("key_value").with_repetition(Repetition::REPEATED);
        let map = Type::group_type_builder(self.name).with_repetition(self.repetition());
        let entries = Arc::new(entries.with_fields(leaves).build()?);
        Ok(Arc::new(map.with_logical_type(Some(LogicalType::Map)).with_fields(vec![entries]).build()?))
    }
}

/// The schema of a table.
pub(super) fn schema(columns: &[Column]) -> Result<TypePtr> {
    let fields = columns.iter().map(|column| column.field()).collect::<Result<Vec<TypePtr>>>()?;
    Ok(Arc::new(Type::group_type_builder("kentry").with_fields(fields).build()?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::{Row, Run};
    use serde_json::{Value, from_value, json, to_value};
    use std::collections::BTreeSet;

    fn names(columns: &[Column]) -> BTreeSet<&str> {
        columns.iter().map(|column| column.name).collect()
    }

    fn keys(value: &Value) -> BTreeSet<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    fn row() -> Value {
        let row: Row = from_value(json!({
            "entry": "vdso-x86_64", "operation": "getrandom", "bits": 64, "timing": "hardware", "outcome": "ok",
            "kept_rounds": 9,
        }))
        .unwrap();
        to_value(row).unwrap()
    }

    #[test]
    fn every_field_has_a_column_of_its_name_and_no_column_lacks_its_field() {
        let run = to_value(Run::default()).unwrap();
        assert_eq!(names(&RUNS), keys(&run));
        let mut row = row();
        row["run_id"] = json!("1");
        assert_eq!(names(&ROWS), keys(&row));
    }

    /// `T` refuses a null exactly in columns that have none.
    fn agrees<T: serde::de::DeserializeOwned>(columns: &[Column], good: &Value, but: &str) {
        for column in columns.iter().filter(|column| column.name != but) {
            let mut value = good.clone();
            value[column.name] = Value::Null;
            assert_eq!(from_value::<T>(value).is_err(), column.is_required, "{}", column.name);
        }
    }

    #[test]
    fn columns_are_null_where_fields_are() {
        agrees::<Run>(&RUNS, &to_value(Run::default()).unwrap(), "started");
        agrees::<Row>(&ROWS, &row(), RUN_ID);
    }
}
