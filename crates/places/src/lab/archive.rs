//! The boot module: a ustar archive of the plan and the programs.

use crate::lab::Plan;
use std::io;
use table::Probe;

/// A file for the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File<'a> {
    /// Its name, without folder.
    pub name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// The name of the file that programs can read from their standard input.
pub const INPUT: &str = "stdin";

/// The probes that a plan may run. The lab has no C library, and therefore not the probe that needs one.
pub fn probes() -> Vec<File<'static>> {
    [Probe::Probe64, Probe::Probe32]
        .map(|probe| File { name: probe.name(), bytes: crate::probes::image(probe) })
        .into()
}

/// The archive of a plan and its files; the same content gives the same bytes.
///
/// # Errors
/// If the format cannot hold a name.
pub fn pack(plan: &Plan, files: &[File]) -> io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    let text = plan.render();
    let plan = File { name: "plan", bytes: text.as_bytes() };
    for file in std::iter::once(&plan).chain(files) {
        let mut header = tar::Header::new_ustar();
        header.set_path(file.name)?;
        header.set_size(file.bytes.len() as u64);
        header.set_mode(0o755);
        header.set_mtime(0);
        header.set_cksum();
        archive.append(&header, file.bytes)?;
    }
    archive.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn the_plan_is_the_first_file() {
        let plan = Plan { lines: vec![crate::lab::Line::Seed(1)] };
        let bytes = pack(&plan, &[File { name: "hello", bytes: b"world" }]).unwrap();
        assert_eq!(bytes, pack(&plan, &[File { name: "hello", bytes: b"world" }]).unwrap());
        assert_eq!(bytes.get(257..263), Some(b"ustar\0".as_slice()));
        let mut archive = tar::Archive::new(bytes.as_slice());
        let files: Vec<(String, String)> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let mut entry = entry.unwrap();
                let mut text = String::new();
                entry.read_to_string(&mut text).unwrap();
                (entry.path().unwrap().display().to_string(), text)
            })
            .collect();
        let expected = [("plan", "lab 4\nseed 1\n"), ("hello", "world")];
        assert_eq!(files, expected.map(|(name, text)| (name.to_string(), text.to_string())));
    }

    #[test]
    fn a_name_that_is_too_long_is_an_error() {
        let name = "n".repeat(300);
        assert!(pack(&Plan::default(), &[File { name: &name, bytes: &[] }]).is_err());
    }
}
