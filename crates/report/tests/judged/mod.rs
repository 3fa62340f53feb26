//! What a schema of `docs/` says of a document.

use serde_json::Value;

/// The schema of a text, if it is a good one.
pub fn validator(schema: &str) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(schema).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// Where the schema objects: JSON pointers.
pub fn objections(schema: &str, value: &Value) -> Vec<String> {
    let validator = validator(schema);
    let errors = validator.iter_errors(value);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}
