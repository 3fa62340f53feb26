//! Versions of Linux.

/// Major and minor number.
pub type Version = (u32, u32);

/// The version that a release, or a version, begins with: `6.1.0-56-cloud-amd64` and `6.1` are 6 and 1.
pub fn version(release: &str) -> Option<Version> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The version that this kernel says it has.
pub fn this_kernel() -> Option<Version> {
    version(nix::sys::utsname::uname().ok()?.release().to_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_begins_with_its_version() {
        assert_eq!([version("6.1.0-56-cloud-amd64"), version("6.1")], [Some((6, 1)); 2]);
        assert_eq!(version("6.19-rc1"), Some((6, 19)));
        assert_eq!([version(""), version("6"), version("odd"), version("v6.1")], [None; 4]);
    }
}
