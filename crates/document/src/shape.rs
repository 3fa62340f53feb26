//! What is wrong with a text that is JSON, but no document: the place, and in plain words what stands there.

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// No counter of 64 bits counts further than this. What is computed from such numbers stays finite.
const GREATEST: f64 = u64::MAX as f64;

const TOO_GREAT: &str = "a number that no 64-bit counter reaches stands there";

/// Any JSON whose numbers are all within what can be counted.
pub(crate) struct Bounded;

impl<'de> Deserialize<'de> for Bounded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bounded, D::Error> {
        deserializer.deserialize_any(Bounded)
    }
}

impl<'de> Visitor<'de> for Bounded {
    type Value = Bounded;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Bounded, E> {
        if number.abs() <= GREATEST { Ok(Bounded) } else { Err(E::custom(TOO_GREAT)) }
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Bounded, E> {
        Ok(Bounded)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Bounded, E> {
        Ok(Bounded)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Bounded, E> {
        Ok(Bounded)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Bounded, E> {
        Ok(Bounded)
    }

    fn visit_unit<E: Error>(self) -> Result<Bounded, E> {
        Ok(Bounded)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Bounded, A::Error> {
        while list.next_element::<Bounded>()?.is_some() {}
        Ok(Bounded)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Bounded, A::Error> {
        // The key as a text, because a place is told by it.
        while object.next_entry::<String, Bounded>()?.is_some() {}
        Ok(Bounded)
    }
}

/// The parser's message in words, without names of types.
pub(crate) fn in_words(message: &str) -> String {
    // Only the parser's own words are behind the last one; a word from the document may hold any text.
    let message = message.rsplit_once(" at line ").map_or(message, |(what, _)| what);
    if let Some(field) = message.strip_prefix("missing field ") {
        return format!("the field {} is missing", quoted(field));
    }
    if let Some(field) = message.strip_prefix("duplicate field ") {
        return format!("the field {} is given twice", quoted(field));
    }
    if let Some((variant, _)) =
        message.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", "))
    {
        return format!("this version of kentry does not know the word {}", quoted(variant));
    }
    let kind = ["invalid type: ", "invalid value: "].into_iter().find_map(|kind| message.strip_prefix(kind));
    // What was found may hold any text; what was expected does not.
    if let Some((found, expected)) = kind.and_then(|rest| rest.rsplit_once(", expected ")) {
        return format!("{} stands where {} belongs", found_in_words(found), expected_in_words(expected));
    }
    if let Some((word, what)) = unknown_word(message) {
        return format!("this version of kentry does not know the {what} \"{}\"", shortened(word));
    }
    if let Some(length) = message.strip_prefix("invalid length ").and_then(|rest| rest.split_once(',')) {
        return format!("a list of {} has the wrong length", length.0);
    }
    if message == TOO_GREAT { message.to_string() } else { "it does not fit the schema".to_string() }
}

/// What types of this project say of a word that they do not have: `"fine" is no outcome`. The word, and what it is not.
fn unknown_word(message: &str) -> Option<(&str, &str)> {
    let (word, what) = message.rsplit_once(" is no ")?;
    let word = word.strip_prefix('"')?.strip_suffix('"')?;
    what.chars().all(|letter| letter.is_ascii_lowercase() || letter == ' ').then_some((word, what))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", shortened(name.trim_matches('`')))
}

/// A text from a document, which may be of any length, for a line of an error: its beginning and its end.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    const BEGINNING: usize = 80;
    const END: usize = 40;
    let place = |number| text.char_indices().nth(number).map(|(place, _)| place);
    let (Some(beginning), Some(_)) = (place(BEGINNING), place(BEGINNING + END)) else {
        return text.into();
    };
    let end = text.char_indices().nth_back(END - 1).map_or(text.len(), |(place, _)| place);
    let parts = text.get(..beginning).zip(text.get(end..));
    parts.map_or_else(|| text.into(), |(beginning, end)| format!("{beginning}…{end}").into())
}

fn found_in_words(found: &str) -> String {
    let number = found.strip_prefix("floating point ").or(found.strip_prefix("integer "));
    if let Some(number) = number {
        return format!("the number {}", number.trim_matches('`'));
    }
    match found {
        "null" => "nothing (null)",
        "sequence" => "a list",
        "map" => "an object",
        "boolean `true`" => "true",
        "boolean `false`" => "false",
        _ if found.starts_with("string ") => "a text",
        _ => "something else",
    }
    .to_string()
}

fn expected_in_words(expected: &str) -> String {
    if let Some(length) = expected.strip_prefix("an array of length ") {
        return format!("a list of {length}");
    }
    match expected {
        "f32" | "f64" => "a number",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0 on",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "a boolean" => "true or false",
        "a string" | "string or map" => "a text",
        "a sequence" => "a list",
        "a map" => "an object",
        _ if expected.starts_with("struct ") => "an object",
        _ => "something else",
    }
    .to_string()
}
