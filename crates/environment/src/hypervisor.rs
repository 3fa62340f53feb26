//! What runs below the kernel.

use serde::{Deserialize, Serialize};

use crate::cpuid::{Leaves, Register, characters};
use crate::reader::Reader;

/// The hypervisor, as far as it shows itself, and the name of the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hypervisor {
    /// CPUID leaf 1, ECX bit 31. A hypervisor may hide it.
    pub present: bool,
    /// CPUID leaf 40000000h: `KVMKVMKVM`, `Microsoft Hv`, `VMwareVMware`, `XenVMMXenVMM`, `TCGTCGTCGTCG`.
    pub signature: Option<String>,
    /// CPUID leaf 40000100h: the second interface of a hypervisor that offers two, for instance KVM's beside
    /// Hyper-V's.
    pub second_signature: Option<String>,
    /// `/sys/hypervisor/type`: `xen` in a Xen domain.
    pub sys_type: Option<String>,
    /// DMI's maker of the machine: `Amazon EC2`, `QEMU`, `Dell Inc.`.
    pub system_vendor: Option<String>,
    /// DMI's name of the machine; clouds put the instance type here: `c5.large`.
    pub product_name: Option<String>,
}

impl Hypervisor {
    /// What people call it: `KVM`, `QEMU's emulation`; its signature where that is a name. None where it shows none.
    pub fn name(&self) -> Option<&str> {
        self.signature.as_deref().map(|signature| match signature {
            "KVMKVMKVM" => "KVM",
            "TCGTCGTCGTCG" => "QEMU's emulation",
            "Microsoft Hv" => "Hyper-V",
            "VMwareVMware" => "VMware",
            "XenVMMXenVMM" => "Xen",
            other => other,
        })
    }

    pub(crate) fn capture(reader: &mut Reader, leaves: &Leaves) -> Self {
        const DMI: &str = "where the firmware has no DMI tables, as in micro virtual machines";
        Self {
            sys_type: reader.line_unless("/sys/hypervisor/type", "outside of Xen"),
            system_vendor: reader.line_unless("/sys/class/dmi/id/sys_vendor", DMI),
            product_name: reader.line_unless("/sys/class/dmi/id/product_name", DMI),
            ..Self::from(leaves)
        }
    }

    fn from(leaves: &Leaves) -> Self {
        let signature = |leaf| {
            let answer = leaves.get(leaf, 0);
            characters(&[answer.ebx, answer.ecx, answer.edx])
        };
        let highest_above = leaves.get(0x4000_0100, 0).eax;
        let above = (0x4000_0100..=0x4000_01ff).contains(&highest_above);
        Self {
            present: leaves.bit(1, 0, Register::Ecx, 31),
            signature: signature(0x4000_0000),
            second_signature: if above { signature(0x4000_0100) } else { None },
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KVM: [u32; 3] = [0x4b4d_564b, 0x564b_4d56, 0x4d];
    const HYPER_V: [u32; 3] = [0x7263_694d, 0x666f_736f, 0x7648_2074];

    fn leaf(number: u32, highest: u32, name: [u32; 3]) -> (u32, u32, [u32; 4]) {
        (number, 0, [highest, name[0], name[1], name[2]])
    }

    #[test]
    fn kvm_alone_and_beside_hyper_v() {
        let bit = (1, 0, [0, 0, 1 << 31, 0]);
        let alone = Hypervisor::from(&Leaves::of(&[bit, leaf(0x4000_0000, 0x4000_0001, KVM)]));
        assert!(alone.present);
        assert_eq!((alone.signature.as_deref(), alone.second_signature), (Some("KVMKVMKVM"), None));

        let both = [leaf(0x4000_0000, 0x4000_000a, HYPER_V), leaf(0x4000_0100, 0x4000_0101, KVM)];
        let both = Hypervisor::from(&Leaves::of(&both));
        assert_eq!(both.signature.as_deref(), Some("Microsoft Hv"));
        assert_eq!(both.second_signature.as_deref(), Some("KVMKVMKVM"));
    }

    #[test]
    fn bare_hardware() {
        assert_eq!(Hypervisor::from(&Leaves::default()), Hypervisor::default());
    }
}
