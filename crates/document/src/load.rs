use crate::shape::{self, Bounded};
use crate::{Document, SCHEMA};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Why a text is not a run document.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Not JSON.
    #[error("it is not JSON from line {line}, column {column} on")]
    Syntax {
        /// The line at which it stops being JSON.
        line: usize,
        /// The column there.
        column: usize,
    },
    /// Nothing at all.
    #[error("it is empty")]
    Empty,
    /// JSON whose end is missing.
    #[error("it breaks off at line {line}, column {column}")]
    BreaksOff {
        /// The last line.
        line: usize,
        /// Its last column.
        column: usize,
    },
    /// JSON, but not of the schema's shape.
    #[error("it is JSON, but not {kind} of kentry: {place} (line {line}, column {column}): {what}")]
    Shape {
        /// What it should be, with its article: `a run document`.
        kind: &'static str,
        /// Where that is in the document: `results[3].ns.estimate`.
        place: String,
        /// The line that does not fit the schema.
        line: usize,
        /// The column there.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// A schema that this version does not know.
    #[error("its schema is {found:?}; this version of kentry reads {known}")]
    Schema {
        /// What it says.
        found: String,
        /// What can be read.
        known: String,
    },
}

impl LoadError {
    fn of(kind: &'static str, error: serde_path_to_error::Error<serde_json::Error>, text: &str) -> LoadError {
        let place = error.path().to_string();
        let error = error.into_inner();
        let (line, column) = (error.line(), error.column());
        if error.is_eof() {
            return LoadError::BreaksOff { line, column };
        }
        // A word where another type stands is bad syntax to the parser, although it is JSON.
        if !error.is_data() && serde_json::from_str::<IgnoredAny>(text).is_err() {
            return LoadError::Syntax { line, column };
        }
        let place =
            if place == "." { "the whole".to_string() } else { shape::shortened(&place).into_owned() };
        LoadError::Shape { kind, line, column, place, what: shape::in_words(&error.to_string()) }
    }
}

/// What a run's document is called.
const RUN: &str = "a run document";

fn parse<'a, T: Deserialize<'a>>(text: &'a str, kind: &'static str) -> Result<T, LoadError> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let value =
        serde_path_to_error::deserialize(&mut parser).map_err(|error| LoadError::of(kind, error, text))?;
    parser.end().map_err(|error| LoadError::Syntax { line: error.line(), column: error.column() })?;
    Ok(value)
}

/// The schema that a text names; what it should be, in words and with its article, stands in errors.
///
/// # Errors
/// [`LoadError`] when it is no JSON, or names none.
pub fn schema_of(text: &str, kind: &'static str) -> Result<String, LoadError> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    if text.trim_ascii().is_empty() {
        return Err(LoadError::Empty);
    }
    Ok(parse::<Head>(text, kind)?.schema)
}

/// Reads what is saved under one schema; `kind` is what it is, in words and with its article. All of its numbers are within what can be counted.
///
/// # Errors
/// [`LoadError`], with place, line and column where the text stops making sense.
pub fn read<'a, T: Deserialize<'a>>(text: &'a str, schema: &str, kind: &'static str) -> Result<T, LoadError> {
    let found = schema_of(text, kind)?;
    if found != schema {
        return Err(LoadError::Schema {
            found: shape::shortened(&found).into_owned(),
            known: format!("{schema:?}"),
        });
    }
    let value = parse(text, kind)?;
    parse::<Bounded>(text, kind)?;
    Ok(value)
}

/// Reads a document.
///
/// # Errors
/// [`LoadError`], with place, line and column where the text stops making sense.
pub fn load(text: &str) -> Result<Document, LoadError> {
    read(text, SCHEMA, RUN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counter, CpuUse, Measurement, Row};
    use serde_json::{Value, json};

    /// A document of this version with little in it.
    fn little() -> Value {
        json!({
            "schema": SCHEMA, "id": "00112233445566778899aabbccddeeff", "measurement": {}, "environment": {},
            "vdso": {}, "results": [], "findings": [],
        })
    }

    #[test]
    fn other_schemas_and_other_texts_are_told_apart() {
        let newer = load(r#"{"schema": "kentry.run/9"}"#).unwrap_err().to_string();
        assert!(
            newer.starts_with(r#"its schema is "kentry.run/9"; this version of kentry reads "kentry.run/2""#)
        );
        assert_eq!(load("{]").unwrap_err().to_string(), "it is not JSON from line 1, column 2 on");
        assert_eq!(load("{\"schema\":").unwrap_err().to_string(), "it breaks off at line 1, column 10");
        assert_eq!(load(" \n").unwrap_err().to_string(), "it is empty");
        assert_eq!(
            load("{\"schema\": \"x\"} x").unwrap_err().to_string(),
            "it is not JSON from line 1, column 17 on"
        );
        let wrong = |text: &str| {
            let said = load(text).unwrap_err().to_string();
            said.strip_prefix("it is JSON, but not a run document of kentry: ").unwrap_or(&said).to_string()
        };
        let lacking = wrong(r#"{"schema": "kentry.run/2"}"#);
        assert_eq!(lacking, "the whole (line 1, column 26): the field \"measurement\" is missing");
        assert_eq!(
            wrong(r#"{"schema": 2}"#),
            "schema (line 1, column 12): the number 2 stands where a text belongs"
        );
        assert_eq!(wrong("[]").split_once(": ").unwrap().1, "a list of 0 has the wrong length");
    }

    /// A whole document without rows.
    fn document() -> serde_json::Value {
        let document = Document {
            id: Some("0".repeat(32)),
            measurement: Measurement {
                tsc_hz: Some(2e9),
                cpus: vec![CpuUse::default()],
                ..Measurement::default()
            },
            vdso: [("64".to_string(), Vec::new())].into(),
            ..Document::empty()
        };
        serde_json::to_value(document).unwrap()
    }

    #[test]
    fn errors_named_types_of_the_parser_and_no_place() {
        let with = |place: &str, value: serde_json::Value| {
            let mut document = document();
            *document.pointer_mut(place).unwrap() = value;
            load(&document.to_string()).unwrap_err().to_string()
        };
        for (place, value, said) in [
            (
                "/measurement/tsc_hz",
                json!("fast"),
                "measurement.tsc_hz: a text stands where a number belongs",
            ),
            (
                "/measurement/partial",
                json!(0),
                "measurement.partial: the number 0 stands where true or false belongs",
            ),
            (
                "/measurement/seed",
                json!(-1),
                "measurement.seed: the number -1 stands where a whole number from 0 on belongs",
            ),
            ("/measurement/cpus", json!({}), "measurement.cpus: an object stands where a list belongs"),
            (
                "/measurement/cpus/0",
                json!("x, expected f64"),
                "measurement.cpus[0]: a text stands where an object belongs",
            ),
            (
                "/measurement/started",
                json!(null),
                "measurement.started: nothing (null) stands where a text belongs",
            ),
            ("/vdso/64", json!([1]), "vdso.64[0]: the number 1 stands where an object belongs"),
            (
                "/measurement/tsc_hz",
                json!(1e308),
                "measurement.tsc_hz: a number that no 64-bit counter reaches stands there",
            ),
            (
                "/measurement/cpus/0/canary",
                json!({"64": -1e20}),
                "measurement.cpus[0].canary.64: a number that no 64-bit counter reaches stands there",
            ),
        ] {
            let found = with(place, value);
            let (before, after) = found.split_once(" (line 1, column ").unwrap();
            let place = before.rsplit(' ').next().unwrap();
            assert_eq!(format!("{place}{}", after.split_once(')').unwrap().1), said, "{found}");
        }
    }

    #[test]
    fn a_word_that_is_not_known_is_named() {
        let said = |outcome: &str| {
            let mut little = little();
            little["results"] = json!([Row::unmeasured("call", "none", 64)]);
            little["results"][0]["outcome"] = json!(outcome);
            let error = load(&little.to_string()).unwrap_err().to_string();
            let (place, what) = error.split_once(" (line 1, column ").unwrap();
            assert!(place.ends_with(": results[0].outcome"), "{error}");
            what.split_once("): ").unwrap().1.to_string()
        };
        assert_eq!(said("fine"), "this version of kentry does not know the outcome \"fine\"");
        let strange = "\" is no use at line 1";
        assert!(said(strange).contains("the outcome \"\\\" is no use at line 1\""), "{}", said(strange));
    }

    #[test]
    fn an_error_is_a_line_however_long_the_documents_words_are() {
        let long = "ä".repeat(100_000);
        let mut vdso = little();
        vdso["vdso"] = json!({ long.as_str(): 1 });
        let mut row = little();
        row["results"] = json!([Row::unmeasured("call", "none", 64)]);
        row["results"][0]["outcome"] = json!(long);
        for text in [vdso, row, json!({ "schema": long })] {
            let said = load(&text.to_string()).unwrap_err().to_string();
            assert!(
                said.contains("äää…") && said.chars().count() < 400,
                "{} characters",
                said.chars().count()
            );
        }
        let edge = "x".repeat(120);
        assert_eq!(shape::shortened(&edge), edge);
        assert_eq!(shape::shortened(&format!("{edge}y")).chars().count(), 121);
        assert!(shape::shortened(&format!("{edge}yz")).ends_with("xyz"));
    }

    #[test]
    fn a_number_came_back_with_another_last_digit() {
        let text = "30.31568269485427";
        let number: stats::Ticks = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&number).unwrap(), text);
    }

    #[test]
    fn the_place_decides_and_not_what_else_a_document_holds() {
        let mut guest = little();
        guest["measurement"]["place"] = json!({ "machine": "qemu-kvm", "kernel": "linux" });
        guest["environment"]["guest"] = json!({ "accelerator": "tcg", "icount": true });
        let guest = load(&guest.to_string()).unwrap();
        assert_eq!((guest.counter(), guest.is_of_linux(), guest.is_of_host()), (Counter::Time, true, false));
    }

    #[test]
    fn of_a_later_versions_machine_the_rows_tell_what_figures_are() {
        let mut later = little();
        later["measurement"]["place"] = json!({ "machine": "own-vmm", "kernel": "hurd" });
        let mut document = load(&later.to_string()).unwrap();
        assert_eq!(document.counter(), Counter::Time);
        assert!(!document.is_of_lab() && !document.is_of_linux() && !document.is_of_host());
        let cost = stats::Cost::single(stats::Instructions(8.0));
        let row = Row { instructions: Some(cost), ..Row::unmeasured("call", "none", 64) };
        document.results.push(row);
        assert_eq!(document.counter(), Counter::Instructions);
        let text = serde_json::to_string(&document).unwrap();
        assert_eq!(load(&text).unwrap(), document, "and its names are kept");
    }
}
