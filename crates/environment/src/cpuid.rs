//! The CPUID leaves, read once: in a virtual machine each one costs an exit of microseconds.

use std::collections::BTreeMap;
use std::thread;

use raw_cpuid::CpuIdResult;

use crate::reader::Reader;

/// Leaf and subleaf pairs below their range's highest leaf. The first of each range tells that highest leaf.
const BASIC: [(u32, u32); 9] =
    [(0, 0), (1, 0), (7, 0), (7, 1), (7, 2), (0xb, 0), (0x15, 0), (0x16, 0), (0x1a, 0)];
const EXTENDED: [(u32, u32); 9] = [
    (0x8000_0000, 0),
    (0x8000_0001, 0),
    (0x8000_0002, 0),
    (0x8000_0003, 0),
    (0x8000_0004, 0),
    (0x8000_0007, 0),
    (0x8000_0008, 0),
    (0x8000_001e, 0),
    (0x8000_0021, 0),
];
const HYPERVISOR: [(u32, u32); 2] = [(0x4000_0000, 0), (0x4000_0010, 0)];
/// Where a second hypervisor interface starts, for instance KVM's own below the one it offers to Windows.
const HYPERVISOR_ABOVE: [(u32, u32); 1] = [(0x4000_0100, 0)];

/// Leaf 7, EDX: the processor has cores of more than one kind (Intel SDM volume 2, CPUID).
const HYBRID_BIT: u32 = 1 << 15;

/// The leaf of the native model id, which differs by core.
const CORE_KIND: u32 = 0x1a;

/// Leaf 1, ECX: the bit that no processor sets, and hypervisors set to show themselves.
const HYPERVISOR_BIT: u32 = 31;

/// A register of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Register {
    Eax,
    Ebx,
    Ecx,
    Edx,
}

/// The leaves that CPUID returned. A leaf that the processor does not have reads as zeros.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leaves(BTreeMap<(u32, u32), CpuIdResult>);

impl Leaves {
    /// Reads the leaves on `cpu`. Processors with two kinds of cores answer differently on each.
    ///
    /// A new thread does this, so that the caller's affinity never changes, not even after an error.
    pub fn read_on(cpu: usize, reader: &mut Reader) -> Self {
        on_cpu(cpu, Self::read).unwrap_or_else(|why| {
            reader.miss(&format!("CPUID on CPU {cpu}"), format!("{why}; read on another CPU"));
            Self::read()
        })
    }

    fn read() -> Self {
        let mut leaves = Self::default();
        leaves.read_range(&BASIC);
        leaves.read_range(&EXTENDED);
        if leaves.bit(1, 0, Register::Ecx, HYPERVISOR_BIT) {
            leaves.read_range(&HYPERVISOR);
            leaves.read_range(&HYPERVISOR_ABOVE);
        }
        leaves
    }

    /// Beyond the highest leaf an Intel processor answers with other data, so nothing is read there.
    fn read_range(&mut self, range: &[(u32, u32)]) {
        let Some(&(first, _)) = range.first() else { return };
        let highest = raw_cpuid::native_cpuid::cpuid_count(first, 0).eax;
        for &(leaf, subleaf) in range.iter().filter(|(leaf, _)| *leaf == first || *leaf <= highest) {
            self.0.insert((leaf, subleaf), raw_cpuid::native_cpuid::cpuid_count(leaf, subleaf));
        }
    }

    /// The four registers of a leaf.
    pub fn get(&self, leaf: u32, subleaf: u32) -> CpuIdResult {
        const NOTHING: CpuIdResult = CpuIdResult { eax: 0, ebx: 0, ecx: 0, edx: 0 };
        self.0.get(&(leaf, subleaf)).copied().unwrap_or(NOTHING)
    }

    /// One bit of a leaf.
    pub fn bit(&self, leaf: u32, subleaf: u32, register: Register, bit: u32) -> bool {
        let answer = self.get(leaf, subleaf);
        let value = match register {
            Register::Eax => answer.eax,
            Register::Ebx => answer.ebx,
            Register::Ecx => answer.ecx,
            Register::Edx => answer.edx,
        };
        value.checked_shr(bit).unwrap_or(0) & 1 == 1
    }

    /// Leaves for tests.
    #[cfg(test)]
    pub fn of(leaves: &[(u32, u32, [u32; 4])]) -> Self {
        let result = |[eax, ebx, ecx, edx]: [u32; 4]| CpuIdResult { eax, ebx, ecx, edx };
        Self(leaves.iter().map(|&(leaf, subleaf, registers)| ((leaf, subleaf), result(registers))).collect())
    }
}

/// Runs `ask` on a CPU, in a new thread, and returns its answer; or why nothing can run there.
fn on_cpu<T: Send>(cpu: usize, ask: impl FnOnce() -> T + Send) -> Result<T, String> {
    let on_cpu = || match process::pin_this_thread(cpu) {
        Ok(()) => Ok(ask()),
        Err(errno) => Err(format!("it cannot be used ({})", errno.desc())),
    };
    let answer = thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, on_cpu).ok()?;
        thread.join().ok()
    });
    answer.unwrap_or_else(|| Err("no thread could be made".to_owned()))
}

/// Which kind of core a CPU is: leaf 0x1A, `EAX`, bits 24 to 31. None where there is no such leaf, or nothing can run.
pub(crate) fn core_kind_on(cpu: usize) -> Option<u8> {
    let ask = || {
        let highest = raw_cpuid::native_cpuid::cpuid_count(0, 0).eax;
        (highest >= CORE_KIND).then(|| raw_cpuid::native_cpuid::cpuid_count(CORE_KIND, 0).eax)
    };
    let [.., kind] = on_cpu(cpu, ask).ok()??.to_le_bytes();
    Some(kind)
}

/// Whether the processor says that its cores are of more than one kind: leaf 7, `EDX`, bit 15.
pub(crate) fn is_hybrid() -> bool {
    let highest = raw_cpuid::native_cpuid::cpuid_count(0, 0).eax;
    highest >= 7 && raw_cpuid::native_cpuid::cpuid_count(7, 0).edx & HYBRID_BIT != 0
}

/// The characters that stand in registers, in the order given, without the zeros and blanks at the ends.
pub(crate) fn characters(registers: &[u32]) -> Option<String> {
    let bytes: Vec<u8> = registers.iter().flat_map(|register| register.to_le_bytes()).collect();
    let text: String = bytes.iter().take_while(|byte| **byte != 0).map(|&byte| char::from(byte)).collect();
    let text = text.trim();
    let readable = !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    readable.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::Roots;

    #[test]
    fn this_processor_has_leaf_zero() {
        let roots = Roots::default();
        let mut reader = Reader::new(&roots);
        let leaves = Leaves::read_on(0, &mut reader);
        assert!(leaves.get(0, 0).eax > 0);
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_noted_and_something_is_read_all_the_same() {
        let roots = Roots::default();
        for cpu in [1023, 1024, 5000, usize::MAX] {
            let mut reader = Reader::new(&roots);
            assert!(Leaves::read_on(cpu, &mut reader).get(0, 0).eax > 0);
            assert!(reader.into_unseen()[0].why.ends_with("read on another CPU"));
        }
    }

    #[test]
    fn bits_beyond_the_register_are_not_set() {
        let leaves = Leaves::of(&[(1, 0, [u32::MAX; 4])]);
        assert!(leaves.bit(1, 0, Register::Edx, 31));
        assert!(!leaves.bit(1, 0, Register::Edx, 32));
        assert!(!leaves.bit(2, 0, Register::Edx, 0));
    }

    #[test]
    fn signatures() {
        assert_eq!(characters(&[0x4b4d_564b, 0x564b_4d56, 0x4d]).as_deref(), Some("KVMKVMKVM"));
        assert_eq!(characters(&[0x7263_694d, 0x666f_736f, 0x7648_2074]).as_deref(), Some("Microsoft Hv"));
        assert_eq!(characters(&[0, 0, 0]), None);
        assert_eq!(characters(&[0xffff_ffff]), None);
    }
}
