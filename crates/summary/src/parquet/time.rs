//! Times as a table has them, and as summaries do.

use std::time::{Duration, UNIX_EPOCH};

/// The end of the year 9999 in microseconds since 1970: no text of RFC 3339 says more.
const LAST: i64 = 253_402_300_799_999_999;

/// Microseconds since 1970 of a time in RFC 3339, UTC. What is finer is cut off.
pub(super) fn micros(text: &str) -> Result<i64, String> {
    let time = humantime::parse_rfc3339(text).ok();
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since
        .and_then(|since| i64::try_from(since.as_micros()).ok())
        .ok_or_else(|| format!("{text:?} is no time since 1970 in UTC, as 2026-11-26T19:09:55.855Z is"))
}

/// In RFC 3339, with milliseconds, as documents have it; with microseconds where there are some.
pub(super) fn text(micros: i64) -> Result<String, String> {
    let in_range = Some(micros).filter(|micros| (0..=LAST).contains(micros));
    let since = in_range.and_then(|micros| u64::try_from(micros).ok());
    let since = since.ok_or_else(|| format!("{micros} µs since 1970 are no time from 1970 to 9999"))?;
    let time = UNIX_EPOCH + Duration::from_micros(since);
    let text = if since % 1000 == 0 {
        humantime::format_rfc3339_millis(time)
    } else {
        humantime::format_rfc3339_micros(time)
    };
    Ok(text.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_the_same_before_and_behind() {
        for told in ["1970-01-01T00:00:00.000Z", "2026-11-26T19:09:55.855Z", "9999-12-31T23:59:59.999999Z"] {
            assert_eq!(text(micros(told).unwrap()).unwrap(), told);
        }
        assert_eq!(text(micros("2026-11-26T19:09:55Z").unwrap()).unwrap(), "2026-11-26T19:09:55.000Z");
        assert_eq!(micros("1970-01-01T00:00:01.000002Z"), Ok(1_000_002));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for odd in
            ["", "yesterday", "2026-13-01T00:00:00Z", "1969-12-31T23:59:59Z", "2026-11-26T19:09:55+01:00"]
        {
            assert!(micros(odd).unwrap_err().contains("is no time"), "{odd:?}");
        }
        for odd in [-1, LAST + 1, i64::MIN, i64::MAX] {
            assert!(text(odd).unwrap_err().contains("no time from 1970 to 9999"), "{odd}");
        }
    }
}
