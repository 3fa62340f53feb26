//! A setting: of a name, a value.

use serde::Deserialize;
use std::fmt;

/// A name and its value, `pti=on`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Setting {
    /// Of a switch or a parameter.
    pub name: String,
    /// The value, as the table writes it.
    pub value: String,
}

impl Setting {
    /// Of these words, whether there are such a name and value or not.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Setting {
        Setting { name: name.into(), value: value.into() }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}={}", self.name, self.value)
    }
}
