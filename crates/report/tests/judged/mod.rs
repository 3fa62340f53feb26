//! What a schema of `docs/` says of a document.

use jsonschema::Registry;
use serde_json::Value;

/// The schema that others refer to, by the name of its file beside them.
const OF_RUNS: (&str, &str) =
    ("json-schema:///run.schema.json", include_str!("../../../../docs/run.schema.json"));

/// The schema of a text, if it is a good one.
pub fn validator(schema: &str) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(schema).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    let of_runs: Value = serde_json::from_str(OF_RUNS.1).unwrap();
    let registry = Registry::new().add(OF_RUNS.0, &of_runs).unwrap().prepare().unwrap();
    jsonschema::draft202012::options().with_registry(&registry).build(&schema).unwrap()
}
/// Where the schema objects: JSON pointers.
pub fn objections(schema: &str, value: &Value) -> Vec<String> {
    let validator = validator(schema);
    let errors = validator.iter_errors(value);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Checks that a document is refused with each of these values in its place.
#[allow(dead_code, reason = "not every test needs it")]
pub fn refuses_values<'v>(schema: &str, good: &Value, wrong: impl IntoIterator<Item = (&'v str, Value)>) {
    for (place, value) in wrong {
        let mut bad = good.clone();
        *bad.pointer_mut(place).unwrap() = value.clone();
        assert!(!objections(schema, &bad).is_empty(), "{place} = {value} was accepted");
    }
}

/// Checks that a document is refused without any one field of these objects, and with a field that nobody knows.
#[allow(dead_code, reason = "not every test needs it")]
pub fn refuses_other_fields(schema: &str, good: &Value, places: &[&str]) {
    for place in places {
        for field in good.pointer(place).unwrap().as_object().unwrap().keys() {
            let mut bad = good.clone();
            bad.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(field);
            assert!(!objections(schema, &bad).is_empty(), "{place} without {field} was accepted");
        }
        let mut bad = good.clone();
        bad.pointer_mut(place).unwrap()["novel"] = Value::from(1);
        assert!(!objections(schema, &bad).is_empty(), "{place}/novel was accepted");
    }
}
