//! Where runs are kept.

use std::ffi::OsString;
use std::path::PathBuf;

/// No variable says where this user's data belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("neither XDG_DATA_HOME nor HOME names a folder")]
pub struct Homeless;

/// The folder of kept runs, by the XDG Base Directory Specification: `$XDG_DATA_HOME/kentry/runs`, or
/// `~/.local/share/kentry/runs`. A path that is not absolute is ignored, as the specification demands.
///
/// # Errors
/// [`Homeless`] where the environment names neither.
pub fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Homeless> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    Ok(data.ok_or(Homeless)?.join("kentry/runs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specification_is_followed() {
        let with = |data: &str, home: &str| {
            let (data, home) = (OsString::from(data), OsString::from(home));
            folder(|name| match name {
                "XDG_DATA_HOME" => Some(data.clone()),
                "HOME" => Some(home.clone()),
                _ => None,
            })
        };
        assert_eq!(with("/data", "/home/a").unwrap(), PathBuf::from("/data/kentry/runs"));
        assert_eq!(with("", "/home/a").unwrap(), PathBuf::from("/home/a/.local/share/kentry/runs"));
        assert_eq!(with("relative", "/home/a").unwrap(), PathBuf::from("/home/a/.local/share/kentry/runs"));
        assert_eq!(with("", "also/relative"), Err(Homeless));
        assert_eq!(folder(|_| None), Err(Homeless));
    }
}
