//! Where the figures of a line come from.

use super::machine::{Line, Machine};
use super::measure::Measure;
use crate::figure::ABSENT;
use crate::plain::plain;
use summary::Run;

/// What stands before the figures of a line.
pub(super) struct Facts {
    /// The processor or the emulator.
    pub machine: String,
    /// What of the run it is, where that has several.
    pub configuration: String,
    /// By which lines are chosen.
    pub vendor: String,
    pub kernel: String,
    /// In short, and all of them.
    pub mitigations: Mitigations,
    /// The day.
    pub date: String,
    pub kentry: String,
    /// How much of the run found the core alone; empty in a table of counts.
    pub quiet: Option<String>,
    /// The run's id.
    pub run: String,
}

/// What a kernel does about faults of the processor.
pub(super) struct Mitigations {
    pub short: String,
    pub all: String,
}

impl Facts {
    pub fn of(machine: &Machine, line: &Line, measure: Measure) -> Facts {
        let run = &machine.summary.run;
        Facts {
            machine: self::machine(run),
            configuration: plain(&line.configuration),
            vendor: run.cohort.cpu_vendor.as_deref().map(plain).unwrap_or_default(),
            kernel: kernel(run, line.kernel),
            mitigations: mitigations(run, line),
            date: plain(run.started.get(..DAY).unwrap_or(&run.started)),
            kentry: plain(&run.kentry),
            quiet: (measure == Measure::Time).then(|| quiet(run)),
            run: plain(&run.run_id),
        }
    }
}

/// The length of a day in RFC 3339.
const DAY: usize = "2026-01-01".len();

/// What executed the instructions: a processor's name and numbers, and what is below it.
pub(super) fn machine(run: &Run) -> String {
    let emulator = match run.machine.as_str() {
        "host" => None,
        "qemu-tcg" => Some("QEMU, emulated".to_owned()),
        "qemu-kvm" => Some("QEMU with KVM".to_owned()),
        "bochs" => Some("Bochs, emulated".to_owned()),
        other => Some(plain(other)),
    };
    let processor = processor(run);
    let below = run.cohort.hypervisor.as_deref().filter(|name| *name != "none" && emulator.is_none());
    let parts = [
        emulator,
        processor,
        below.map(|name| format!("under {}", plain(name))),
        run.core_type.as_deref().map(plain),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "unknown machine".to_owned() } else { parts.join(", ") }
}

/// `AMD EPYC (AuthenticAMD 26.2.1)`: family, model and stepping tell processors apart whose names are alike.
fn processor(run: &Run) -> Option<String> {
    let cohort = &run.cohort;
    let number = |number: Option<u32>| number.map_or_else(|| ABSENT.to_owned(), |number| number.to_string());
    let numbers = cohort.cpu_vendor.as_deref().map(|vendor| {
        let [family, model, stepping] =
            [cohort.cpu_family, cohort.cpu_model, cohort.cpu_stepping].map(number);
        plain(&format!("{vendor} {family}.{model}.{stepping}"))
    });
    match (run.cpu_brand.as_deref().map(plain), numbers) {
        (Some(brand), Some(numbers)) => Some(format!("{brand} ({numbers})")),
        (brand, numbers) => brand.or(numbers),
    }
}

/// Of a run with several kernels the line's own.
fn kernel(run: &Run, own: Option<&str>) -> String {
    match run.kernel.as_str() {
        "linux" => {
            let release =
                own.or(run.cohort.kernel_release.as_deref()).map_or_else(|| ABSENT.to_owned(), plain);
            format!("Linux {release}")
        }
        // What is known of a kernel's release is the host's.
        "lab" => "kentry's lab".to_owned(),
        "lab-i386" => "kentry's lab, 32-bit".to_owned(),
        other => plain(other),
    }
}

/// Of a run in which kernels or their parameters differ, nobody says of which line they are; and the lab's are its configuration.
fn mitigations(run: &Run, line: &Line) -> Mitigations {
    if run.mitigations.is_empty() || !line.configuration.is_empty() || run.kernel != "linux" {
        return Mitigations { short: ABSENT.to_owned(), all: String::new() };
    }
    let begins = |word: &str| run.mitigations.values().filter(|value| value.starts_with(word)).count();
    let (vulnerable, unaffected) = (begins("Vulnerable"), begins("Not affected"));
    let mitigated = run.mitigations.len() - vulnerable - unaffected;
    let pti = run.pti.map(|on| if on { "pti on, " } else { "pti off, " }).unwrap_or_default();
    let all: Vec<String> =
        run.mitigations.iter().map(|(name, value)| plain(&format!("{name}: {value}"))).collect();
    Mitigations {
        short: format!("{pti}{mitigated} mitigated, {vulnerable} vulnerable, {unaffected} not affected"),
        all: all.join("; "),
    }
}

fn quiet(run: &Run) -> String {
    run.quiet_ratio.map_or_else(|| ABSENT.to_owned(), |ratio| format!("{:.0} % quiet", 100.0 * ratio))
}
