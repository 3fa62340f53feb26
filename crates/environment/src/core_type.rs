//! Which kind of core each CPU is: some processors have fast ones and efficient ones.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::cpuid;
use crate::reader::Reader;
use crate::roots::Roots;

/// The kind of core that a CPU is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum CoreType {
    /// A fast core of a processor with two kinds (Intel: P-core).
    Performance,
    /// A small core of a processor with two kinds (Intel: E-core).
    Efficient,
    /// A core of a processor whose cores are all of one kind, as far as is known.
    Uniform,
}

impl CoreType {
    /// Every kind.
    pub const ALL: [CoreType; 3] = [CoreType::Performance, CoreType::Efficient, CoreType::Uniform];

    /// As in documents.
    pub fn name(self) -> &'static str {
        match self {
            CoreType::Performance => "performance",
            CoreType::Efficient => "efficient",
            CoreType::Uniform => "uniform",
        }
    }
}

impl From<CoreType> for &'static str {
    fn from(core: CoreType) -> &'static str {
        core.name()
    }
}

impl TryFrom<String> for CoreType {
    type Error = String;

    fn try_from(name: String) -> Result<CoreType, String> {
        let named = CoreType::ALL.into_iter().find(|core| core.name() == name);
        named.ok_or_else(|| format!("{name:?} is no kind of core"))
    }
}

/// The kind of core that each of these CPUs (numbered as Linux counts) is.
///
/// The kernel's lists under `/sys/devices` tell, on Intel processors with two kinds (arch/x86/events/intel/core.c makes
/// one such device for each kind's counters). For a CPU that is in none of them, as in many virtual machines, the CPUID
/// instruction on that CPU tells.
pub fn core_types(roots: &Roots, cpus: &[usize]) -> BTreeMap<usize, CoreType> {
    let hybrid = cpuid::is_hybrid();
    let kind = |cpu| if hybrid { cpuid::core_kind_on(cpu) } else { None };
    core_types_or_ask(roots, cpus, &kind)
}

/// `kind` answers like leaf 0x1A; it is asked for the CPUs that are in no list.
fn core_types_or_ask(
    roots: &Roots,
    cpus: &[usize],
    kind: &dyn Fn(usize) -> Option<u8>,
) -> BTreeMap<usize, CoreType> {
    let reader = Reader::new(roots);
    let performance = list(&reader, "/sys/devices/cpu_core/cpus");
    let efficient = list(&reader, "/sys/devices/cpu_atom/cpus");
    let core_type = |cpu: &usize| match (performance.contains(cpu), efficient.contains(cpu)) {
        (true, false) => CoreType::Performance,
        (false, true) => CoreType::Efficient,
        _ => kind(*cpu).map_or(CoreType::Uniform, from_cpuid),
    };
    cpus.iter().map(|cpu| (*cpu, core_type(cpu))).collect()
}

fn list(reader: &Reader, path: &str) -> BTreeSet<usize> {
    reader.candidate_line(path).and_then(|list| crate::cpu_list::parse(&list)).unwrap_or_default()
}

/// Intel SDM volume 2, CPUID, leaf 0x1A: the core type.
fn from_cpuid(kind: u8) -> CoreType {
    match kind {
        0x20 => CoreType::Efficient,
        0x40 => CoreType::Performance,
        _ => CoreType::Uniform,
    }
}

#[cfg(test)]
mod tests {
    use super::CoreType::{Efficient, Performance, Uniform};
    use super::*;
    use crate::testing::{GARBAGE, Scratch};

    /// The types of these CPUs, in order; `kind` answers for CPUs that are in no list.
    fn types(scratch: &Scratch, cpus: &[usize], kind: Option<u8>) -> Vec<CoreType> {
        core_types_or_ask(&scratch.roots(), cpus, &|_| kind).into_values().collect()
    }

    #[test]
    fn the_kernels_lists_tell_both_kinds() {
        let scratch = Scratch::new("core-types");
        scratch.write("/sys/devices/cpu_core/cpus", b"0-3\n");
        scratch.write("/sys/devices/cpu_atom/cpus", b"4-7,2000\n");
        assert_eq!(types(&scratch, &[0, 3, 4, 2000], None), [Performance, Performance, Efficient, Efficient]);
        assert_eq!(types(&scratch, &[5, 1], None), [Performance, Efficient], "by number, in any order");
        assert_eq!(types(&scratch, &[9, 10], Some(0x20)), [Efficient; 2], "a low-power core is in no list");
    }

    #[test]
    fn without_lists_the_processor_is_asked() {
        let scratch = Scratch::new("core-types-cpuid");
        assert_eq!(types(&scratch, &[0, 1], Some(0x40)), [Performance; 2]);
        assert_eq!(types(&scratch, &[0, 1], Some(0x20)), [Efficient; 2]);
        for unknown in [None, Some(0), Some(0x10), Some(0xff)] {
            assert_eq!(types(&scratch, &[0, 1], unknown), [Uniform; 2]);
        }
    }

    #[test]
    fn lists_that_make_no_sense_tell_nothing() {
        let scratch = Scratch::new("core-types-garbage");
        for text in GARBAGE {
            scratch.write("/sys/devices/cpu_core/cpus", text.as_bytes());
            assert_eq!(types(&scratch, &[0], None), [Uniform], "{text}");
        }
        scratch.write("/sys/devices/cpu_core/cpus", b"0-3");
        scratch.write("/sys/devices/cpu_atom/cpus", b"3-7");
        assert_eq!(types(&scratch, &[3], None), [Uniform], "a CPU in both lists");
    }

    #[test]
    fn every_cpu_of_this_machine_has_a_type() {
        let cpus = process::allowed_cpus().unwrap();
        let types = core_types(&Roots::default(), &cpus);
        assert_eq!(types.keys().copied().collect::<Vec<_>>(), cpus);
        let is_uniform = types.values().all(|kind| *kind == Uniform);
        assert_eq!(is_uniform, types.values().any(|kind| *kind == Uniform), "all of them, or none");
    }

    #[test]
    fn the_names_in_documents() {
        let names = [Performance, Efficient, Uniform].map(|kind| serde_json::to_string(&kind).unwrap());
        assert_eq!(names, ["\"performance\"", "\"efficient\"", "\"uniform\""]);
    }
}
