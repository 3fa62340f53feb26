use crate::v1::{self, DocumentV1};
use crate::{Document, SCHEMA};

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
    let head: Head = serde_json::from_str(text)?;
    match head.schema.as_str() {
        SCHEMA => Ok(serde_json::from_str(text)?),
        v1::SCHEMA => Ok(serde_json::from_str::<DocumentV1>(text)?.into()),
        _ => Err(LoadError::Schema(head.schema)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_schemas_and_other_texts_are_told_apart() {
        let newer = load(r#"{"schema": "kentry.run/9"}"#).unwrap_err().to_string();
        assert!(
            newer.starts_with(r#"its schema is "kentry.run/9"; this version of kentry reads "kentry.run/2""#)
        );
        assert_eq!(load("{").unwrap_err().to_string(), "it is not JSON from line 1, column 1 on");
        let shape = load(r#"{"schema": "kentry.run/2"}"#).unwrap_err().to_string();
        assert!(shape.contains("not a run document of kentry") && shape.contains("missing field"), "{shape}");
    }

    #[test]
    fn a_number_came_back_with_another_last_digit() {
        let text = "30.31568269485427";
        let number: stats::Ticks = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&number).unwrap(), text);
    }
}
