//! Summaries of a fleet whose true costs are known, for tests and benches alone. The same seed, host and day give the same summary, so that a
//! test can say what must come out:
//!
//! - Hosts are of four kinds ([`KINDS`]), which differ in processor, C library, mitigations and costs; host `n` is of kind `n % 4`.
//! - On the day [`ROLL_OUT`] every host boots [`NEW_KERNEL`]. It makes system calls of the kind [`SLOWED`] slower by [`SLOWED_BY`], and
//!   those of no other.
//! - Some hosts are odd ([`odd`]); nothing else is. A host differs from the next of its kind by some 0.3 %, a run from the next by 1 %.

use crate::of::{digest, of_map, rounded};
use crate::{Cohort, Row, Run, Summary};
use document::{Level, Outcome, Path, Timing};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

/// Day 0, in seconds since 1970: 2026-11-26.
const BEGINNING: u64 = 1_795_651_200;

/// The first day with [`NEW_KERNEL`].
pub const ROLL_OUT: u32 = 3;

/// Until then.
pub const OLD_KERNEL: &str = "6.1.0-31-amd64";

/// From then on.
pub const NEW_KERNEL: &str = "6.12.9-1-amd64";

/// Which of [`KINDS`] has slower system calls with [`NEW_KERNEL`].
pub const SLOWED: usize = 1;

/// By this much.
pub const SLOWED_BY: f64 = 1.12;

/// A kind of machine.
#[derive(Debug)]
pub struct Kind {
    /// The maker of its processor.
    pub vendor: &'static str,
    /// Its family, model and stepping.
    pub processor: (u32, u32, u32),
    /// Its name.
    pub brand: &'static str,
    microcode: Option<&'static str>,
    hypervisor: &'static str,
    libc: &'static str,
    hertz: f64,
    /// What costs there are multiplied by.
    pub scale: f64,
    meltdown: &'static str,
}

/// The kinds of a fleet.
pub const KINDS: [Kind; 4] = [
    Kind {
        vendor: "AuthenticAMD",
        processor: (25, 17, 1),
        brand: "AMD EPYC 9354 32-Core Processor",
        microcode: Some("0xa101154"),
        hypervisor: "none",
        libc: "Debian GLIBC 2.36-9+deb12u14",
        hertz: 3.25e9,
        scale: 1.0,
        meltdown: "Not affected",
    },
    Kind {
        vendor: "GenuineIntel",
        processor: (6, 85, 4),
        brand: "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz",
        microcode: Some("0x2007006"),
        hypervisor: "none",
        libc: "Debian GLIBC 2.36-9+deb12u14",
        hertz: 2.1e9,
        scale: 3.4,
        meltdown: "Mitigation: PTI",
    },
    Kind {
        vendor: "GenuineIntel",
        processor: (6, 143, 8),
        brand: "Intel(R) Xeon(R) Platinum 8480+",
        microcode: Some("0x2b000603"),
        hypervisor: "none",
        libc: "Debian GLIBC 2.41-12",
        hertz: 2.0e9,
        scale: 1.3,
        meltdown: "Not affected",
    },
    // What a guest's hypervisor hides is unknown.
    Kind {
        vendor: "AuthenticAMD",
        processor: (25, 1, 1),
        brand: "AMD EPYC 7R13 Processor",
        microcode: None,
        hypervisor: "KVMKVMKVM",
        libc: "Debian GLIBC 2.41-12",
        hertz: 2.65e9,
        scale: 1.1,
        meltdown: "Not affected",
    },
];

/// What is odd of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Odd {
    /// Its clocksource is `hpet`: clocks of the vDSO and of the C library are served by the kernel.
    Clocksource,
    /// Its entries are slower by a third, and no fact says why.
    Slow,
    /// It gets slower by 1 % every day.
    Drifts,
    /// 32-bit calls are turned off by the kernel's command line.
    Closed,
}

/// What is odd of a host: of 100, nos. 20, 41, 62 and 83 are.
pub fn odd(host: usize) -> Option<Odd> {
    match host % 100 {
        20 => Some(Odd::Clocksource),
        41 => Some(Odd::Slow),
        62 => Some(Odd::Drifts),
        83 => Some(Odd::Closed),
        _ => None,
    }
}

/// The date of a day, as 2026-11-26 is that of day 0.
pub fn date(day: u32) -> String {
    let since = Duration::from_secs(BEGINNING + 86_400 * u64::from(day));
    humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string().chars().take(10).collect()
}

/// The first `hosts` hosts of a fleet, on one day.
pub fn fleet(seed: u64, hosts: usize, day: u32) -> impl Iterator<Item = Summary> {
    (0..hosts).map(move |host| summary(seed, host, day))
}

/// What a host measured on a day, counted from 2026-11-26.
pub fn summary(seed: u64, host: usize, day: u32) -> Summary {
    let machine = Machine { host, day, kind: &KINDS[host % KINDS.len()], odd: odd(host) };
    // Two hosts share nothing, nor do two days of a host, but what is the host's own.
    let mut own = Draws::new(&format!("{seed}/{host}"));
    let scale = machine.kind.scale * machine.slower() * (1.0 + 0.003 * own.normal());
    let mut draws = Draws::new(&format!("{seed}/{host}/{day}"));
    let run = machine.run(&mut own, &mut draws);
    let rows = ENTRIES.iter().map(|entry| machine.row(entry, scale, &mut draws)).collect();
    Summary { run, rows }
}

/// A row of a run without options, and what it costs on a machine of scale 1, in core cycles.
struct Entry {
    name: &'static str,
    operation: &'static str,
    bits: u8,
    cycles: f64,
    serves: Serves,
}

#[derive(Clone, Copy, PartialEq)]
enum Serves {
    /// No kernel.
    Nobody,
    /// The kernel, by a call.
    Call,
    /// The kernel, by an exception.
    Exception,
    /// A function that reads the clock in the program, if it can.
    Clock,
    /// A function that needs no kernel.
    Function,
}

const fn entry(name: &'static str, operation: &'static str, bits: u8, cycles: f64, serves: Serves) -> Entry {
    Entry { name, operation, bits, cycles, serves }
}

const ENTRIES: [Entry; 14] = [
    entry("call", "none", 64, 9.0, Serves::Nobody),
    entry("syscall-x86_64", "none", 64, 110.0, Serves::Call),
    entry("syscall-x86_64", "getppid", 64, 160.0, Serves::Call),
    entry("syscall-x86_64", "clock_gettime-monotonic", 64, 240.0, Serves::Call),
    entry("vsyscall", "gettimeofday", 64, 1400.0, Serves::Exception),
    entry("vdso-x86_64", "clock_gettime-monotonic", 64, 70.0, Serves::Clock),
    entry("vdso-x86_64", "getrandom", 64, 210.0, Serves::Function),
    entry("libc", "clock_gettime-monotonic", 64, 74.0, Serves::Clock),
    entry("libc", "getrandom", 64, 480.0, Serves::Call),
    entry("int80-i386", "getppid", 32, 900.0, Serves::Call),
    entry("sysenter-i386", "getppid", 32, 260.0, Serves::Call),
    entry("vdso-i386", "clock_gettime-monotonic", 32, 82.0, Serves::Clock),
    entry("ud", "signal", 64, 2600.0, Serves::Exception),
    entry("page-fault", "minor-fault", 64, 1100.0, Serves::Exception),
];

/// What a clock costs more than usual where the kernel must read an HPET, in nanoseconds.
const HPET: f64 = 1100.0;

struct Machine {
    host: usize,
    day: u32,
    kind: &'static Kind,
    odd: Option<Odd>,
}

impl Machine {
    fn is_rolled_out(&self) -> bool {
        self.day >= ROLL_OUT
    }

    fn slower(&self) -> f64 {
        match self.odd {
            Some(Odd::Slow) => 4.0 / 3.0,
            Some(Odd::Drifts) => 1.01f64.powf(f64::from(self.day)),
            _ => 1.0,
        }
    }

    /// What the new kernel adds.
    fn slowed(&self, entry: &Entry) -> f64 {
        let is_slowed = self.host % KINDS.len() == SLOWED && self.is_rolled_out();
        if is_slowed && entry.serves == Serves::Call { SLOWED_BY } else { 1.0 }
    }

    /// Why an entry is closed here.
    fn closed(&self, entry: &Entry) -> Option<(Outcome, &'static str)> {
        let is_off = self.odd == Some(Odd::Closed) && entry.name.ends_with("i386");
        if is_off && entry.name == "vdso-i386" {
            return Some((Outcome::Unsupported, "this kernel executes no 32-bit programs"));
        }
        if is_off {
            return Some((Outcome::Fault, "SIGSEGV: ia32_emulation=off on the kernel's command line"));
        }
        let is_amd = self.kind.vendor == "AuthenticAMD";
        (is_amd && entry.name == "sysenter-i386")
            .then_some((Outcome::Unsupported, "SIGILL: #UD: AMD processors have no sysenter in long mode"))
    }

    fn path(&self, entry: &Entry) -> Option<Path> {
        let is_clock = entry.serves == Serves::Clock;
        match entry.serves {
            _ if is_clock && self.odd == Some(Odd::Clocksource) => Some(Path::Kernel),
            Serves::Nobody | Serves::Clock | Serves::Function => Some(Path::User),
            _ if entry.name == "libc" => Some(Path::Kernel),
            _ => None,
        }
    }

    fn row(&self, entry: &Entry, scale: f64, draws: &mut Draws) -> Row {
        let mut row = Row {
            entry: entry.name.to_owned(),
            operation: entry.operation.to_owned(),
            bits: entry.bits,
            configuration: None,
            timing: Timing::Hardware,
            outcome: Outcome::Ok,
            reason: None,
            path: self.path(entry),
            noise: None,
            core_cycles: None,
            core_cycles_ci_low: None,
            core_cycles_ci_high: None,
            nanoseconds: None,
            nanoseconds_ci_low: None,
            nanoseconds_ci_high: None,
            instructions: None,
            kept_rounds: 0,
        };
        let (noise, rounds) = (draws.normal(), 150 + draws.below(40));
        if let Some((outcome, reason)) = self.closed(entry) {
            (row.outcome, row.reason, row.path) = (outcome, Some(reason.to_owned()), None);
            return row;
        }
        // Neighbours: one row of five hundred has no figure.
        if draws.below(500) == 0 {
            row.noise = Some("shared".to_owned());
            return row;
        }
        let hpet = if row.path == Some(Path::Kernel) && entry.serves == Serves::Clock { HPET } else { 0.0 };
        let hertz = self.kind.hertz;
        let cycles = (entry.cycles * scale * self.slowed(entry) + hpet * hertz / 1e9) * (1.0 + 0.01 * noise);
        let figure = |factor: f64| Some(rounded(cycles * factor));
        let nanoseconds = |factor: f64| Some(rounded(cycles * factor * 1e9 / hertz));
        (row.core_cycles, row.core_cycles_ci_low, row.core_cycles_ci_high) =
            (figure(1.0), figure(0.99), figure(1.01));
        (row.nanoseconds, row.nanoseconds_ci_low, row.nanoseconds_ci_high) =
            (nanoseconds(1.0), nanoseconds(0.99), nanoseconds(1.01));
        row.kept_rounds = rounds;
        row
    }

    fn started(&self, draws: &mut Draws) -> String {
        let within = Duration::from_millis(draws.below(3_600_000));
        let day = Duration::from_secs(BEGINNING + 86_400 * u64::from(self.day));
        humantime::format_rfc3339_millis(UNIX_EPOCH + day + within).to_string()
    }

    fn command_line(&self) -> String {
        let off = if self.odd == Some(Odd::Closed) { "ia32_emulation=off " } else { "" };
        format!("{off}quiet ro")
    }

    fn mitigations(&self) -> BTreeMap<String, String> {
        let spectre = match self.kind.vendor {
            "AuthenticAMD" => "Mitigation: Retpolines; IBPB: conditional; STIBP: always-on; RSB filling",
            _ => "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; RSB filling; BHI: BHI_DIS_S",
        };
        let names = [
            ("meltdown", self.kind.meltdown),
            (
                "mds",
                if self.kind.meltdown == "Not affected" {
                    "Not affected"
                } else {
                    "Mitigation: Clear CPU buffers; SMT vulnerable"
                },
            ),
            ("spec_store_bypass", "Mitigation: Speculative Store Bypass disabled via prctl"),
            ("spectre_v1", "Mitigation: usercopy/swapgs barriers and __user pointer sanitization"),
            ("spectre_v2", spectre),
        ];
        names.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
    }

    fn findings(&self) -> BTreeMap<String, Level> {
        let clock = if self.odd == Some(Odd::Clocksource) { Level::Warning } else { Level::Ok };
        [("clock-served", clock), ("mitigations", Level::Note), ("system-call", Level::Ok)]
            .into_iter()
            .map(|(id, level)| (id.to_owned(), level))
            .collect()
    }

    fn cohort(&self, own: &mut Draws) -> Cohort {
        let (family, model, stepping) = self.kind.processor;
        let text = |text: &str| Some(text.to_owned());
        Cohort {
            machine_id: Some(own.digits(2)),
            cpu_vendor: text(self.kind.vendor),
            cpu_family: Some(family),
            cpu_model: Some(model),
            cpu_stepping: Some(stepping),
            microcode: self.kind.microcode.map(str::to_owned),
            hypervisor: text(self.kind.hypervisor),
            smt: Some(true),
            kernel_release: text(if self.is_rolled_out() { NEW_KERNEL } else { OLD_KERNEL }),
            command_line_sha256: Some(digest(self.command_line().as_bytes())),
            clocksource: text(if self.odd == Some(Odd::Clocksource) { "hpet" } else { "tsc" }),
            preemption: text("voluntary"),
            mitigations_sha256: of_map(&self.mitigations()),
            libc: text(self.kind.libc),
        }
    }

    fn run(&self, own: &mut Draws, draws: &mut Draws) -> Run {
        let text = |text: &str| Some(text.to_owned());
        Run {
            run_id: draws.digits(2),
            started: self.started(draws),
            duration_seconds: rounded(4.0 + 0.01 * draws.normal()),
            kentry: "0.1.0".to_owned(),
            machine: "host".to_owned(),
            kernel: "linux".to_owned(),
            partial: false,
            quiet_ratio: Some(rounded(0.8 + 0.02 * draws.normal())),
            tsc_hertz: Some(self.kind.hertz),
            core_hertz: Some(self.kind.hertz),
            boot_id: Some(draws.digits(2)),
            cpu_brand: text(self.kind.brand),
            core_type: None,
            product: text("Example R7515"),
            kernel_version: text(if self.is_rolled_out() {
                "#1 SMP PREEMPT_DYNAMIC Debian 6.12.9-1"
            } else {
                "#1 SMP PREEMPT_DYNAMIC Debian 6.1.124-1"
            }),
            command_line: Some(self.command_line()),
            mitigations: self.mitigations(),
            pti: Some(self.kind.meltdown == "Mitigation: PTI"),
            randomize_kstack_offset: Some(true),
            vsyscall: text("xonly"),
            seccomp_filters: Some(0),
            traced: Some(false),
            // One in ten runs in a group with a quota.
            cpu_quota: (self.host % 10 == 7).then_some(1.5),
            governor: (self.kind.hypervisor == "none").then(|| "performance".to_owned()),
            speculation_store_bypass: text("thread vulnerable"),
            probes_sha256: text("f56ef29b55ec438d"),
            findings: self.findings(),
            cohort: self.cohort(own),
        }
    }
}

/// A stream of random numbers.
struct Draws(SmallRng);

impl Draws {
    /// Of this name: other names have other streams.
    fn new(name: &str) -> Draws {
        let seed = u64::from_str_radix(&digest(name.as_bytes()), 16).unwrap_or_default();
        Draws(SmallRng::seed_from_u64(seed))
    }

    /// From 0 to below `bound`, which is far below 2^64.
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    /// Of mean 0 and standard deviation 1: twelve uniform numbers.
    fn normal(&mut self) -> f64 {
        let uniform = |_| (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (0..12).map(uniform).sum::<f64>() - 6.0
    }

    /// Sixteen hexadecimal digits, so many times.
    fn digits(&mut self, times: usize) -> String {
        (0..times).map(|_| format!("{:016x}", self.0.next_u64())).collect()
    }
}
