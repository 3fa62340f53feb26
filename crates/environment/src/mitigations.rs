//! What the kernel does about the faults of the processor.

use std::collections::BTreeMap;

use crate::reader::Reader;

/// Every file of `/sys/devices/system/cpu/vulnerabilities`: name → its line.
pub(crate) fn capture(reader: &mut Reader) -> BTreeMap<String, String> {
    const DIRECTORY: &str = "/sys/devices/system/cpu/vulnerabilities";
    let names = reader.names(DIRECTORY, "before Linux 4.15");
    let line = |name: String| Some((name.clone(), reader.line(&format!("{DIRECTORY}/{name}"))?));
    names.into_iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Scratch, fixture};

    #[test]
    fn every_file_has_its_line() {
        let roots = fixture("firecracker");
        let mut reader = Reader::new(&roots);
        let mitigations = capture(&mut reader);
        assert_eq!(mitigations.len(), 19);
        assert_eq!(mitigations["meltdown"], "Not affected");
        assert_eq!(mitigations["retbleed"], "Vulnerable");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_noted() {
        let scratch = Scratch::new("mitigations");
        scratch.write("/sys/devices/system/cpu/vulnerabilities/mds/inside", b"");
        let roots = scratch.roots();
        let mut reader = Reader::new(&roots);
        assert!(capture(&mut reader).is_empty());
        assert_eq!(reader.into_unseen()[0].what, "/sys/devices/system/cpu/vulnerabilities/mds");
    }
}
