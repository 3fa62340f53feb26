//! The profiles that a command line can name.

use bill::{Profile, Setting};
use table::Table;

/// Provisional, until the table has them.
const PROFILES: [(&str, &str, &str); 2] = [
    ("bare", "no protection at all", ""),
    ("linux-6.1", "Linux 6.1, as far as the lab has it", "swapgs=on,pti=on,pcid=keep,stack=frame,smap=on"),
];

/// The name of each, and what it is.
pub fn all() -> Vec<(&'static str, &'static str)> {
    PROFILES.iter().map(|(name, what, _)| (*name, *what)).collect()
}

/// The profile of that name.
pub fn find(_: &Table, name: &str) -> Option<Profile> {
    let (name, _, settings) = PROFILES.iter().find(|(known, ..)| *known == name)?;
    let setting = |text: &str| {
        let (switch, value) = text.split_once('=')?;
        Some(Setting { switch: switch.into(), value: value.into(), guess: None })
    };
    Some(Profile { name: (*name).into(), settings: settings.split(',').filter_map(setting).collect() })
}
