use crate::{Document, SCHEMA};

/// Why a text is not a run document.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Not JSON, or not of the schema's shape.
    #[error("not a run document: {0}")]
    Shape(#[from] serde_json::Error),
    /// A schema that this version does not know.
    #[error("a document of schema {0:?}; this version reads {SCHEMA:?}")]
    Schema(String),
}

/// Reads a document.
///
/// # Errors
/// [`LoadError`], with line and column where the text stops making sense.
pub fn load(text: &str) -> Result<Document, LoadError> {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: String,
    }
    let head: Head = serde_json::from_str(text)?;
    if head.schema != SCHEMA {
        return Err(LoadError::Schema(head.schema));
    }
    Ok(serde_json::from_str(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_schemas_and_other_texts_are_told_apart() {
        let newer = load(r#"{"schema": "kentry.run/9"}"#).unwrap_err().to_string();
        assert_eq!(newer, r#"a document of schema "kentry.run/9"; this version reads "kentry.run/1""#);
        assert!(load("{").unwrap_err().to_string().contains("line 1 column 1"));
        assert!(load(r#"{"schema": "kentry.run/1"}"#).unwrap_err().to_string().contains("missing field"));
    }
    #[test]
    fn a_number_came_back_with_another_last_digit() {
        let text = "30.31568269485427";
        let number: stats::Ticks = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&number).unwrap(), text);
    }
}
