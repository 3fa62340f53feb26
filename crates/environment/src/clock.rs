//! The kernel's clock.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::reader::Reader;

/// What the kernel's clock counts with. With anything but `tsc`, and `kvm-clock` or `hyperv_clocksource_tsc_page`,
/// the vDSO's `clock_gettime` becomes a system call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// `/sys/devices/system/clocksource/clocksource0/current_clocksource`.
    pub current_clocksource: Option<String>,
    /// The clocksources to choose from, the best first. `available_clocksource` in the same directory.
    pub available_clocksources: Option<Vec<String>>,
    /// Offsets of this process's time namespace that are not zero, by clock (`monotonic`, `boottime`): the vDSO takes
    /// another path when there are any. `/proc/self/timens_offsets`.
    pub time_namespace: Option<BTreeMap<String, ClockOffset>>,
}

/// By how much a time namespace moves a clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockOffset {
    /// Whole seconds.
    pub seconds: i64,
    /// The rest in nanoseconds.
    pub nanoseconds: i64,
}

impl Clock {
    pub(crate) fn capture(reader: &mut Reader) -> Self {
        const DIRECTORY: &str = "/sys/devices/system/clocksource/clocksource0";
        let available = reader.line(&format!("{DIRECTORY}/available_clocksource"));
        let offsets = reader.text_unless(
            "/proc/self/timens_offsets",
            "before Linux 5.6 and on kernels without time namespaces",
        );
        Self {
            current_clocksource: reader.line(&format!("{DIRECTORY}/current_clocksource")),
            available_clocksources: available
                .map(|line| line.split_whitespace().map(str::to_owned).collect()),
            time_namespace: offsets.map(|text| moved_clocks(&text)),
        }
    }
}

/// Lines `clock seconds nanoseconds`, without those that are zero.
fn moved_clocks(text: &str) -> BTreeMap<String, ClockOffset> {
    let clock = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        let seconds = words.next()?.parse().ok()?;
        let nanoseconds = words.next()?.parse().ok()?;
        Some((name, ClockOffset { seconds, nanoseconds }))
    };
    text.lines().filter_map(clock).filter(|(_, offset)| *offset != ClockOffset::default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::GARBAGE;

    #[test]
    fn only_moved_clocks_are_listed() {
        assert!(
            moved_clocks("monotonic           0         0\nboottime            0         0\n").is_empty()
        );
        let moved = moved_clocks("monotonic      172800         0\nboottime            -5         7\n");
        assert_eq!(moved["monotonic"], ClockOffset { seconds: 172_800, nanoseconds: 0 });
        assert_eq!(moved["boottime"], ClockOffset { seconds: -5, nanoseconds: 7 });
    }

    #[test]
    fn garbage_moves_nothing() {
        for text in GARBAGE {
            assert!(moved_clocks(text).is_empty(), "{text}");
        }
    }
}
