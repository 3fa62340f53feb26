//! The lab kernel in an emulator or a virtual machine, measured as a host is.

use places::lab::Line;
use std::time::{SystemTime, UNIX_EPOCH};

mod believed;
mod boots;
mod configuration;
mod counted;
mod described;
mod ended;
mod found;
mod image;
mod listing;
mod machine;
mod measure;
mod plan;
mod setup;

pub use configuration::{Configuration, Configurations};
pub use ended::{not_loaded, unsupported};
pub use image::image;
pub use listing::{Listed, listing};
pub use machine::{Emulator, accelerator, choose, features, is_pvm, machine_of};
pub use measure::measure;
pub use plan::{Accel, LabPlan, Numbered, Options};
pub use setup::Setup;

/// What the kernel of a machine is told about time: the wall clock, and the counter's frequency, which the emulator defines, or else this
/// machine's counter has (`tsc_hz`): QEMU's smallest machine has no timer that would tell. An image is told no frequency.
pub fn clock_lines(emulator: Option<&Emulator>, tsc_hz: Option<f64>) -> Vec<Line> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let hertz = emulator.and_then(|emulator| emulator.tsc_hz().or(tsc_hz.map(|hertz| hertz as u64)));
    std::iter::once(Line::Time(now.as_secs())).chain(hertz.map(Line::Tsc)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use places::lab::{Accelerator, Bochs, Qemu};

    #[test]
    fn under_kvm_the_kernel_is_told_this_machines_rate() {
        let told = |emulator: Option<&Emulator>| {
            clock_lines(emulator, Some(2.4e9)).into_iter().find_map(|line| match line {
                Line::Tsc(hertz) => Some(hertz),
                _ => None,
            })
        };
        let qemu = |accelerator| Emulator::Qemu(Qemu::new(accelerator, None));
        assert_eq!(told(Some(&qemu(Accelerator::Kvm))), Some(2_400_000_000));
        assert_eq!(told(Some(&qemu(Accelerator::Tcg))), Some(Qemu::TCG_HERTZ));
        assert_eq!(told(Some(&Emulator::Bochs(Bochs::new(None)))), Some(Bochs::HERTZ));
        assert_eq!(told(None), None);
    }
}
