//! What runs the lab's kernel, as command lines say it.

use crate::options::values::{budget, cpu_model, seed};
use clap::{Args, ValueEnum, ValueHint};
use measure::lab::Options;
use std::time::Duration;
use table::Whose;

/// How long the guest of `kentry lab` may take, in seconds; and in Bochs.
pub const LAB_SECONDS: [u64; 2] = [60, 600];

/// What executes a guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Accel {
    /// KVM where it runs ring 0 natively, otherwise TCG
    Auto,
    /// The processor, by KVM: times
    Kvm,
    /// QEMU's own emulation: instructions are counted
    Tcg,
}

impl From<Accel> for measure::lab::Accel {
    fn from(accel: Accel) -> measure::lab::Accel {
        match accel {
            Accel::Auto => measure::lab::Accel::Auto,
            Accel::Kvm => measure::lab::Accel::Kvm,
            Accel::Tcg => measure::lab::Accel::Tcg,
        }
    }
}

/// What runs the kernel, and how long it may take.
#[derive(Debug, Clone, Args)]
pub struct GuestArgs {
    /// What executes the kernel's instructions
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    pub accel: Accel,
    /// The processor to emulate, by the emulator's name for it (qemu-system-x86_64 -cpu help, bochs -help cpu); one of 32 bits will do
    /// for --lab-kernel i386 alone; --accel auto then means tcg [default: max,vendor=GenuineIntel; with --bochs tigerlake]
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other, value_parser = cpu_model)]
    pub cpu_model: Option<String>,
    /// How long the guest may take [default: 60; with --bochs 600, since each --set takes it some 20 seconds]
    #[arg(long, value_name = "SECONDS", value_parser = budget, allow_negative_numbers = true, hide_short_help = true)]
    pub timeout: Option<Duration>,
    /// Draw order, address layout and random bytes from this number (at most 2^53) [default: 0 where instructions are
    /// counted, so that every run is the same; another each time where time is measured]
    #[arg(long, value_name = "NUMBER", value_parser = seed, allow_negative_numbers = true, hide_short_help = true)]
    pub seed: Option<u64>,
    /// Run in Bochs, which is slow, but has PCID and checks segment limits; QEMU's emulation does neither
    #[arg(long, conflicts_with = "accel", hide_short_help = true)]
    pub bochs: bool,
}

impl GuestArgs {
    /// The options of the lab, for all rows in one configuration; so many seconds unless the command line says, and in Bochs.
    pub fn options(&self, [seconds, in_bochs]: [u64; 2]) -> Options {
        let usual = Duration::from_secs(if self.bochs { in_bochs } else { seconds });
        Options {
            entry: Vec::new(),
            operation: Vec::new(),
            whose: Whose::Lab,
            set: Vec::new(),
            footprints: Vec::new(),
            accel: self.accel.into(),
            cpu_model: self.cpu_model.clone(),
            bochs: self.bochs,
            seed: self.seed.unwrap_or(0),
            time: self.timeout.unwrap_or(usual),
        }
    }
}
