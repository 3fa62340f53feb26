//! A bill that was saved.

use crate::bill::{Bill, SCHEMA};
use document::LoadError;

/// Reads a saved bill.
///
/// # Errors
/// [`LoadError`], with place, line and column where the text stops making sense.
pub fn load(text: &str) -> Result<Bill, LoadError> {
    document::read(text, SCHEMA, "a bill")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn little() -> Value {
        json!({
            "schema": SCHEMA, "kentry": "0.1.0", "started": "", "place": { "machine": "qemu-tcg", "kernel": "lab" }, "cpu": null,
            "partial": false, "run": null, "entry": "call", "operation": "none", "profile": "bare", "not_in_lab": [], "unit": "instructions",
            "features": [], "bare": { "estimate": 8, "low": null, "high": null, "p": null, "rounds": 0 }, "whole": null,
            "added": null, "lines": [], "sum": null, "interactions": null, "orders": 0, "there": null, "configurations": [],
        })
    }

    fn with(place: &str, value: Value) -> String {
        let mut little = little();
        *little.pointer_mut(place).unwrap() = value;
        load(&little.to_string()).map_or_else(|error| error.to_string(), |_| "it was read".into())
    }

    #[test]
    fn what_is_no_bill_is_refused_with_a_place() {
        assert_eq!(load(&little().to_string()).unwrap().bare.unwrap().estimate, 8.0);
        assert_eq!(
            with("/schema", json!("kentry.run/2")),
            "its schema is \"kentry.run/2\"; this version of kentry reads \"kentry.bill/1\""
        );
        let unknown = with("/unit", json!("hours"));
        assert!(unknown.contains("not a bill of kentry: unit (line 1"), "{unknown}");
        let great = with("/bare/estimate", json!(1e300));
        assert!(great.ends_with("a number that no 64-bit counter reaches stands there"), "{great}");
        assert!(with("/lines", json!([1])).contains("lines[0]"), "{}", with("/lines", json!([1])));
        assert_eq!(load(" ").unwrap_err().to_string(), "it is empty");
    }
}
