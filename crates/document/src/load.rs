use crate::v1::{self, DocumentV1};
use crate::{Document, Place, SCHEMA};

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
    #[error("it is JSON, but not a run document of kentry: line {line}, column {column}: {what}")]
    Shape {
        /// The line that does not fit the schema.
        line: usize,
        /// The column there.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// A schema that this version does not know.
    #[error("its schema is {0:?}; this version of kentry reads {SCHEMA:?} and {old:?}", old = v1::SCHEMA)]
    Schema(String),
}

impl From<serde_json::Error> for LoadError {
    fn from(error: serde_json::Error) -> LoadError {
        let (line, column) = (error.line(), error.column());
        if error.is_eof() {
            return LoadError::BreaksOff { line, column };
        }
        if !error.is_data() {
            return LoadError::Syntax { line, column };
        }
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default().to_string();
        LoadError::Shape { line, column, what }
    }
}

/// Reads a document, of this version's schema or an older one.
///
/// # Errors
/// [`LoadError`], with line and column where the text stops making sense.
pub fn load(text: &str) -> Result<Document, LoadError> {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: String,
    }
    if text.trim_ascii().is_empty() {
        return Err(LoadError::Empty);
    }
    let head: Head = serde_json::from_str(text)?;
    match head.schema.as_str() {
        SCHEMA => Ok(placed(serde_json::from_str(text)?)),
        v1::SCHEMA => Ok(serde_json::from_str::<DocumentV1>(text)?.into()),
        _ => Err(LoadError::Schema(head.schema)),
    }
}

/// The document, with the place that its environment tells where it names none.
fn placed(mut document: Document) -> Document {
    if document.measurement.place == Place::default() {
        document.measurement.place = Place::of(&document.environment);
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counter, Machine, Row};
    use serde_json::{Value, json};
    use table::Kernel;

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
        let shape = load(r#"{"schema": "kentry.run/2"}"#).unwrap_err().to_string();
        assert!(shape.contains("not a run document of kentry") && shape.contains("missing field"), "{shape}");
    }

    #[test]
    fn a_number_came_back_with_another_last_digit() {
        let text = "30.31568269485427";
        let number: stats::Ticks = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&number).unwrap(), text);
    }

    #[test]
    fn a_document_without_a_place_has_that_of_its_environment() {
        let host = load(&little().to_string()).unwrap();
        assert_eq!(host.measurement.place, Place::new(Machine::Host, Kernel::Linux));
        assert!(host.is_of_linux() && host.is_of_host());
        let mut bochs = little();
        bochs["environment"]["lab"] = json!({ "accelerator": "bochs" });
        let bochs = load(&bochs.to_string()).unwrap();
        assert_eq!(bochs.measurement.place, Place::new(Machine::Bochs, Kernel::Lab));
        assert!(bochs.is_of_lab() && !bochs.is_of_host());
        assert_eq!((host.counter(), bochs.counter()), (Counter::Time, Counter::Instructions));
    }

    #[test]
    fn the_place_decides_and_not_what_else_a_document_holds() {
        let mut guest = little();
        guest["measurement"]["place"] = json!({ "machine": "qemu-kvm", "kernel": "linux" });
        guest["environment"]["lab"] = json!({ "accelerator": "tcg", "icount": true });
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
        let eight = stats::Instructions(8.0);
        let cost = stats::Cost {
            estimate: eight,
            ci_low: None,
            ci_high: None,
            min: eight,
            p50: eight,
            p99: None,
            p999: None,
            max: eight,
        };
        let row = Row { instructions: Some(cost), ..Row::unmeasured("call", "none", 64) };
        document.results.push(row);
        assert_eq!(document.counter(), Counter::Instructions);
        let text = serde_json::to_string(&document).unwrap();
        assert_eq!(load(&text).unwrap(), document, "and its names are kept");
    }
}
