//! Boots the lab kernel (`lab/`, compiled by `build.rs` and embedded here) in an emulator or a virtual machine, and
//! reads what it says.
//!
//! A [`Plan`] goes in as a file of an archive, beside the programs that it runs; records come out on the serial line.
//! [`Guest`] returns them one by one, [`Collected`] sorts them by program. Reading always ends, whatever the guest does:
//! when the plan is done, or with a [`Trouble`] that says in words what went wrong.

mod agreed;
mod archive;
mod bochs;
mod collected;
mod configured;
mod disk;
mod guest;
mod image;
mod plan;
mod qemu;
mod session;
mod trouble;

use crate::packed::unpacked;
use std::sync::LazyLock;
use table::paths;

pub use crate::emulator::Accelerator;
pub use agreed::Agreed;
pub use archive::{File, INPUT, pack, probes};
pub use bochs::Bochs;
pub use collected::{Collected, Ran, Strays};
pub use configured::Configured;
pub use guest::{Events, Guest, Reader};
pub use image::image;
pub use plan::{DEFAULT, Line, Plan};
pub use process::{Interrupt, Limits};
pub use qemu::Qemu;
pub use session::{End, Event, Session};
pub use trouble::{Disorder, Trouble};

/// A mode of the processor that the lab has a kernel for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Long mode: programs of 64 and of 32 bits.
    #[default]
    Long,
    /// Protected mode of 32 bits, which was there before long mode: `lab/i386`.
    Protected,
}

impl Mode {
    /// Of the kernel that has these rows.
    pub fn of(kernel: table::Kernel) -> Mode {
        if kernel == table::Kernel::LabI386 { Mode::Protected } else { Mode::Long }
    }

    /// Of a kernel's file: ELF's class.
    pub fn of_kernel(kernel: &[u8]) -> Mode {
        const CLASS: usize = 4;
        const CLASS_32: u8 = 1;
        if kernel.get(CLASS) == Some(&CLASS_32) { Mode::Protected } else { Mode::Long }
    }

    /// The name of its kernel in plans, as the table and documents have it.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Long => "lab",
            Mode::Protected => "lab-i386",
        }
    }

    /// The kernel of the table and of documents.
    pub fn kernel(self) -> table::Kernel {
        match self {
            Mode::Long => table::Kernel::Lab,
            Mode::Protected => table::Kernel::LabI386,
        }
    }
}

/// Both kernels as the binary has them.
const LONG: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernel.z"));
const PROTECTED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernel-i386.z"));

/// The kernel for a mode, an ELF file that QEMU and a disk (by its PVH note) and GRUB (by its multiboot2 header) boot.
pub fn kernel(mode: Mode) -> &'static [u8] {
    static UNPACKED: [LazyLock<Vec<u8>>; 2] =
        [LazyLock::new(|| unpacked(LONG)), LazyLock::new(|| unpacked(PROTECTED))];
    let [long, protected] = &UNPACKED;
    match mode {
        Mode::Long => long,
        Mode::Protected => protected,
    }
}

/// A kernel's file, read, and the templates of its paths.
///
/// # Errors
/// When the file is not one of this lab's.
pub fn kernel_paths(mode: Mode) -> Result<(paths::File<'static>, paths::Paths), paths::Error> {
    let file = paths::File::read(kernel(mode))?;
    let paths = paths::Paths::read(&file)?;
    Ok((file, paths))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn both_kernels_are_small_in_the_binary() {
        assert!(LONG.len() + PROTECTED.len() < 700 << 10, "{} + {}", LONG.len(), PROTECTED.len());
    }

    #[test]
    fn a_kernels_file_says_its_mode() {
        assert_eq!(
            [Mode::Long, Mode::Protected].map(|mode| Mode::of_kernel(kernel(mode))),
            [Mode::Long, Mode::Protected]
        );
    }

    /// A switch that a kernel does not have is refused by the command, since that kernel takes it and does nothing.
    #[test]
    fn no_path_of_a_kernel_depends_on_a_switch_that_it_does_not_have() {
        let table = table::Table::get();
        for mode in [Mode::Long, Mode::Protected] {
            let (_, paths) = kernel_paths(mode).unwrap();
            let own = paths.paths.iter().map(|path| &path.own);
            let steps =
                own.chain(paths.attached.iter().map(|(_, steps)| steps)).flat_map(|steps| &steps.steps);
            let decide: BTreeSet<u32> =
                steps.flat_map(|step| &step.conditions).map(|condition| condition.which).collect();
            for switch in &table.switches {
                let is_had = switch.kernels.contains(&mode.kernel());
                assert!(is_had || !decide.contains(&u32::from(switch.id)), "{mode:?}: {}", switch.name);
            }
            assert!(decide.contains(&u32::from(table.switch("pti").unwrap().id)), "{mode:?}");
        }
    }
}
