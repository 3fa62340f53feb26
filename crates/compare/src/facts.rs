//! What else differs between two sides: facts about the machine, the kernel and the measurement.

use crate::asked;
use crate::comparison::{Confounder, Severity};
use crate::prior::Behaviour;
use document::{Counter, Document, Machine, Name};
use environment::{Environment, Libc};
use std::collections::{BTreeMap, BTreeSet};
use table::Kernel;

/// A fact about a measurement that a comparison looks at.
struct Fact {
    /// Names it for programs.
    id: &'static str,
    /// Names it for readers.
    what: &'static str,
    /// How serious a difference is.
    severity: Severity,
    /// What a difference means.
    meaning: &'static str,
    /// Its value; none where the document does not say.
    value: fn(&Document) -> Option<String>,
}

use Severity::{Caution, Note, Refuses};

/// Every fact, in the order in which differences of one severity are told.
const FACTS: [Fact; 32] = [
    Fact {
        id: "figures",
        what: "what is counted",
        severity: Refuses,
        meaning: "Time on a processor and instructions in an emulator have no unit in common.",
        value: |document| Some(figures(document).into()),
    },
    Fact {
        id: "kernel-kind",
        what: "kind of kernel",
        severity: Refuses,
        meaning: "Linux and each of kentry's own kernels have different code behind every entry, and other configurations.",
        value: kernel_kind,
    },
    Fact {
        id: "command",
        what: "command around the probes",
        severity: Caution,
        meaning: "What the command does to a process is in the figures.",
        value: |document| Some(document.measurement.command.clone().unwrap_or_else(|| "none".into())),
    },
    Fact {
        id: "machine-kind",
        what: "kind of machine",
        severity: Caution,
        meaning: "Entries cost something else in a virtual machine.",
        value: machine_kind,
    },
    Fact {
        id: "machine",
        what: "machine",
        severity: Caution,
        meaning: "Machines of one model differ too; what differs may be the machine.",
        value: |document| document.environment.machine_id.clone(),
    },
    Fact {
        id: "cpu-model",
        what: "processor",
        severity: Caution,
        meaning: "The processor may be the cause of every difference.",
        value: |document| cpu(&document.environment),
    },
    Fact {
        id: "core-type",
        what: "kind of core",
        severity: Caution,
        meaning: "Fast and small cores of one processor cost differently.",
        value: |document| document.environment.cpu.core_type.clone(),
    },
    Fact {
        id: "microcode",
        what: "microcode",
        severity: Caution,
        meaning: "Microcode changes what a mitigation, and with it every entry, costs.",
        value: |document| microcode(&document.environment),
    },
    Fact {
        id: "hypervisor",
        what: "hypervisor",
        severity: Caution,
        meaning: "Another hypervisor handles other instructions, exceptions and clocks itself.",
        value: |document| hypervisor(&document.environment),
    },
    Fact {
        id: "emulator",
        what: "emulator",
        severity: Caution,
        meaning: "Another emulator, or another processor model, executes the guest differently.",
        value: |document| {
            document
                .environment
                .guest
                .as_ref()
                .map(|guest| format!("{}, {}", guest.emulator, guest.cpu_model))
        },
    },
    Fact {
        id: "kernel",
        what: "kernel",
        severity: Caution,
        meaning: "The kernel may be the cause of every difference.",
        value: |document| kernel(&document.environment),
    },
    Fact {
        id: "command-line",
        what: "kernel's command line",
        severity: Caution,
        meaning: "What the kernel was started with may be the cause.",
        value: |document| document.environment.kernel.command_line.clone(),
    },
    Fact {
        id: "preemption",
        what: "preemption model",
        severity: Caution,
        meaning: "It decides what the kernel checks on its way back to a program.",
        value: |document| document.environment.kernel.preemption_model().map(str::to_owned),
    },
    Fact {
        id: "vsyscall",
        what: "vsyscall page",
        severity: Caution,
        meaning: "It decides what the rows of vsyscall execute.",
        value: |document| document.environment.vsyscall.clone(),
    },
    Fact {
        id: "clocksource",
        what: "clocksource",
        severity: Caution,
        meaning: "It decides whether reading a clock enters the kernel.",
        value: |document| document.environment.clock.current_clocksource.clone(),
    },
    Fact {
        id: "c-library",
        what: "C library",
        severity: Caution,
        meaning: "It concerns the rows of libc alone.",
        value: |document| document.environment.libc.as_ref().map(Libc::in_words),
    },
    Fact {
        id: "seccomp",
        what: "seccomp",
        severity: Caution,
        meaning: "A filter is run on every system call.",
        value: |document| {
            let limits = &document.environment.limits;
            let filters = limits
                .seccomp_filters
                .map(|count| format!(", {count} filter{}", if count == 1 { "" } else { "s" }));
            let filters = filters.unwrap_or_default();
            limits.seccomp.as_ref().map(|mode| format!("{mode}{filters}"))
        },
    },
    Fact {
        id: "tracer",
        what: "tracing",
        severity: Caution,
        meaning: "A tracer may stop a process at every system call.",
        value: |document| {
            let tracer = document.environment.limits.tracer_pid?;
            Some(if tracer == 0 { "not traced" } else { "traced" }.into())
        },
    },
    Fact {
        id: "speculation",
        what: "speculation of this process",
        severity: Caution,
        meaning: "A process may be given stricter rules than others, which cost.",
        value: |document| {
            let limits = &document.environment.limits;
            let of = |rule: &Option<String>| rule.clone().unwrap_or_else(|| "unknown".into());
            let is_known =
                limits.speculation_store_bypass.is_some() || limits.speculation_indirect_branch.is_some();
            is_known.then(|| {
                let (store, branch) = (&limits.speculation_store_bypass, &limits.speculation_indirect_branch);
                format!("store bypass {}, indirect branch {}", of(store), of(branch))
            })
        },
    },
    Fact {
        id: "underneath",
        what: "what changed during a run",
        severity: Caution,
        meaning: "Something was switched while it was measured, so that a run's figures may be of both.",
        value: |document| {
            let changes = &document.measurement.changes;
            Some(if changes.is_empty() { "nothing".into() } else { changes.join("; ") })
        },
    },
    Fact {
        id: "smt",
        what: "hyperthreads",
        severity: Note,
        meaning: "A sibling thread makes a core noisy, and some mitigations depend on it.",
        value: |document| document.environment.cpu.smt.active.map(|on| if on { "on" } else { "off" }.into()),
    },
    Fact {
        id: "cpus",
        what: "CPUs",
        severity: Note,
        meaning: "Some entries cost another constant on another CPU.",
        value: cpus,
    },
    Fact {
        id: "boot",
        what: "boot",
        severity: Note,
        meaning: "Where the kernel lies in memory is drawn at every boot, and costs move with it; more boots a side tell how much.",
        // An emulator that counts instructions boots the same for the same seed.
        value: |document| {
            document.environment.boot_id.clone().filter(|_| document.counter() == Counter::Time)
        },
    },
    Fact {
        id: "compiler",
        what: "compiler of the probes",
        severity: Note,
        meaning: "It matters only where the probes differ.",
        value: |document| document.measurement.compiler.clone(),
    },
    Fact {
        id: "kentry",
        what: "version of kentry",
        severity: Note,
        meaning: "Another version may judge rounds by other rules.",
        value: |document| Some(document.measurement.kentry.clone()).filter(|version| !version.is_empty()),
    },
    Fact {
        id: "noise",
        what: "the core was alone in",
        severity: Note,
        meaning: "With company, fewer rounds are kept, and intervals are wider.",
        value: noise,
    },
    Fact {
        id: "partial",
        what: "how it ended",
        severity: Note,
        meaning: "A run that was cut short has fewer rounds.",
        value: |document| Some(if document.measurement.partial { "cut short" } else { "done" }.into()),
    },
    Fact {
        id: "core-cycles",
        what: "core cycles",
        severity: Caution,
        meaning: "Where one side has none, rows are compared in nanoseconds, which move with the core's clock.",
        value: |document| {
            let is_timed = document.counter() == Counter::Time;
            is_timed.then(|| {
                if document.measurement.cycles_per_tick.is_some() { "known" } else { "withheld" }.into()
            })
        },
    },
    Fact {
        id: "core-clock",
        what: "core clock",
        severity: Note,
        meaning: "Core cycles do not depend on it but for what waits for memory; nanoseconds do.",
        value: clock,
    },
    Fact {
        id: "governor",
        what: "frequency governor",
        severity: Note,
        meaning: "It moves the core's clock.",
        value: |document| document.environment.frequency.governor.clone(),
    },
    Fact {
        id: "real-time",
        what: "real-time priority",
        severity: Note,
        meaning: "Without it other processes may interrupt a probe.",
        value: |document| Some(if document.measurement.realtime { "yes" } else { "no" }.into()),
    },
    Fact {
        id: "cpu-quota",
        what: "CPU quota",
        severity: Note,
        meaning: "A group that used up its time is stopped in the middle of a probe.",
        value: |document| document.environment.container.cgroup.cpu_max.clone(),
    },
];

/// The facts of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Facts {
    /// By the id of a fact of [`FACTS`].
    known: BTreeMap<&'static str, String>,
    /// What the kernel does about each fault of the processor.
    mitigations: BTreeMap<String, String>,
    /// Switches of the kernel.
    sysctls: BTreeMap<String, String>,
    /// SHA-256 of each probe.
    probes: BTreeMap<String, String>,
    /// The rows that it was asked for, in words.
    rows: BTreeSet<String>,
    /// The command that asks for them; none where that takes many options.
    asked_by: Option<String>,
}

impl Facts {
    /// `options` are those that ask for the document's rows.
    pub fn of(document: &Document, options: Option<&str>) -> Facts {
        Facts {
            known: FACTS.iter().filter_map(|fact| Some((fact.id, (fact.value)(document)?))).collect(),
            mitigations: document.environment.mitigations.clone(),
            sysctls: document.environment.sysctls.clone(),
            probes: document.measurement.probes.clone(),
            rows: asked::rows(document),
            asked_by: options.map(|options| format!("kentry{options}")),
        }
    }

    /// Whether nothing differs that may be the cause of a difference. Only of such runs is it known that what their figures differ by is
    /// variation from run to run, and not an effect: a kept run must be so like a run of a side, and like the others of its group.
    pub fn is_alike(&self, other: &Facts) -> bool {
        let mut causes = FACTS.iter().filter(|fact| fact.severity != Note);
        let is_same = |fact: &Fact| self.known.get(fact.id) == other.known.get(fact.id);
        let is_alike = self.mitigations == other.mitigations && self.probes == other.probes;
        causes.all(is_same) && is_alike && self.rows == other.rows
    }
}

/// Both sides' facts of each run.
pub(crate) struct Sides<'a> {
    pub base: Vec<&'a Facts>,
    pub new: Vec<&'a Facts>,
}

/// What differs, the most serious first.
pub(crate) fn confounders(sides: &Sides) -> Vec<Confounder> {
    let of_facts = FACTS.iter().filter_map(|fact| {
        let values = sides.values(|facts| facts.known.get(fact.id));
        differ(fact.id, fact.what, values, fact.severity, fact.meaning)
    });
    let mut found: Vec<Confounder> = of_facts.collect();
    found.extend(sides.of_map(
        |facts| &facts.mitigations,
        ("mitigation", "mitigation of"),
        Caution,
        "A mitigation costs on every entry, or on every switch of programs.",
    ));
    found.extend(sides.of_map(
        |facts| &facts.sysctls,
        ("sysctl", "sysctl"),
        Note,
        "A switch of the kernel that entries may depend on.",
    ));
    found.extend(sides.of_map(
        |facts| &facts.probes,
        ("probe", "code of"),
        Caution,
        "The timed code is another: a difference may be one of the measurement. Measure both sides with one kentry.",
    ));
    found.extend(other_rows(sides));
    found.sort_by_key(|confounder| confounder.severity);
    found
}

/// Runs that were asked for other rows.
fn other_rows(sides: &Sides) -> Option<Confounder> {
    let meaning = "What runs between the rounds of a row is in its figure: on one machine a bare system call cost 14 % more when it was \
                   measured alone. Measure the same rows on both sides.";
    let all: BTreeSet<&BTreeSet<String>> =
        sides.base.iter().chain(&sides.new).map(|facts| &facts.rows).collect();
    // A run without rows says nothing.
    if all.iter().filter(|rows| !rows.is_empty()).count() < 2 {
        return None;
    }
    let words = |facts: &&Facts| facts.asked_by.clone().unwrap_or_else(|| row_count(facts.rows.len()));
    let values = [&sides.base, &sides.new].map(|side| side.iter().map(words).collect::<BTreeSet<_>>());
    let mut values = values.map(|side| side.into_iter().collect::<Vec<String>>());
    if values[0] == values[1] {
        values[1].iter_mut().for_each(|rows| *rows = rows.replace(" row", " other row"));
    }
    Some(confounder("rows-measured", "rows measured", values, Caution, meaning))
}

/// Sides without a row in common; with how many rows either has, and whether they are of one kernel.
pub(crate) fn nothing_in_common(rows: [usize; 2], is_one_kernel: bool) -> Confounder {
    let meaning = if is_one_kernel {
        "No row is on both sides: they measured other calls. Measure the same on both."
    } else {
        "No row is on both sides: they are rows of different kernels."
    };
    confounder("rows", "rows", rows.map(|rows| vec![row_count(rows)]), Refuses, meaning)
}

/// Sides without a row in common, that measured the same calls in these configurations.
pub(crate) fn other_configurations(configurations: [Vec<String>; 2], kernel: Option<Kernel>) -> Confounder {
    let how =
        if kernel == Some(Kernel::Lab) { "kentry lab with a --set for each" } else { "one run of both" };
    let meaning = format!(
        "No row is on both sides: the same calls were measured in other configurations. Measure both sides in the same one; {how} shows \
         configurations side by side."
    );
    confounder("rows", "configuration of the rows", configurations, Refuses, &meaning)
}

fn row_count(rows: usize) -> String {
    if rows == 1 { "1 row".into() } else { format!("{rows} rows") }
}

/// Runs of one boot each, of which it is unknown which, on either side.
pub(crate) fn unknown_boots(unknown: [bool; 2]) -> Option<Confounder> {
    let meaning = "Older versions did not note it. The sides are taken to be of different boots, which makes intervals wider.";
    let value = |is_unknown| vec![if is_unknown { "unknown" } else { "known" }.to_string()];
    let is_any = unknown.contains(&true);
    is_any.then(|| confounder("boot-unknown", "boot", unknown.map(value), Note, meaning))
}

/// Raises what is said of the boot, where one boot is compared with others.
pub(crate) fn warn_of_one_boot(found: &mut [Confounder]) {
    let [steady, jumpy] = [Behaviour::Steady, Behaviour::Piecewise].map(Behaviour::percent_of_two_boots);
    let meaning = format!(
        "The sides are of different boots, and one of them has a single boot: what boots add cannot be seen. A difference of up to \
         {steady:.1} % of a steady row, and {jumpy:.1} % of an interrupt or exception, is assumed to be one of boots; where they add \
         more, so may be a greater one. Measure in two or more boots a side."
    );
    let is_boot = |confounder: &&mut Confounder| ["boot", "boot-unknown"].contains(&&*confounder.id);
    if let Some(boot) = found.iter_mut().find(is_boot) {
        (boot.severity, boot.meaning) = (Caution, meaning);
    }
}

/// Runs, by their ids, that stand on both sides.
pub(crate) fn same_run(ids: Vec<String>) -> Option<Confounder> {
    let meaning = "The same run stands on both sides, and cannot differ from itself.";
    (!ids.is_empty()).then(|| confounder("same-run", "run", [ids.clone(), ids], Caution, meaning))
}

/// Runs, by their ids, that were given more than once on one side.
pub(crate) fn repeated(ids: [Vec<String>; 2]) -> Option<Confounder> {
    let meaning = "It counts once: a run says nothing more the second time.";
    let is_any = ids.iter().any(|ids| !ids.is_empty());
    is_any.then(|| confounder("repeated-run", "run that was given twice", ids, Caution, meaning))
}

/// Rows that a document of either side has more than once.
pub(crate) fn repeated_rows(rows: [BTreeSet<String>; 2]) -> Option<Confounder> {
    let meaning = "A document has it more than once, which kentry does not write. Of each run, the first of them counts.";
    let is_any = rows.iter().any(|rows| !rows.is_empty());
    let rows = rows.map(|rows| rows.into_iter().collect());
    is_any.then(|| confounder("repeated-row", "row that is there twice", rows, Caution, meaning))
}

fn confounder(
    id: &str,
    what: &str,
    [base, new]: [Vec<String>; 2],
    severity: Severity,
    meaning: &str,
) -> Confounder {
    Confounder { id: id.into(), what: what.into(), base, new, severity, meaning: meaning.into() }
}

impl Sides<'_> {
    /// The different values that the runs of either side say.
    fn values(&self, of: impl Fn(&Facts) -> Option<&String>) -> [BTreeSet<String>; 2] {
        [&self.base, &self.new].map(|side| side.iter().filter_map(|facts| of(facts).cloned()).collect())
    }

    /// A confounder for each key of a map that differs.
    fn of_map(
        &self,
        map: impl Fn(&Facts) -> &BTreeMap<String, String>,
        (id, what): (&str, &str),
        severity: Severity,
        meaning: &str,
    ) -> Vec<Confounder> {
        let is_empty = |side: &[&Facts]| side.iter().all(|facts| map(facts).is_empty());
        // Of a side that says nothing at all, each key would be a line.
        if is_empty(&self.base) || is_empty(&self.new) {
            return Vec::new();
        }
        let all = self.base.iter().chain(&self.new);
        let keys: BTreeSet<String> = all.flat_map(|facts| map(facts).keys().cloned()).collect();
        let of_key = |key: String| {
            let values = self.values(|facts| map(facts).get(&key));
            differ(&format!("{id}:{key}"), &format!("{what} {key}"), values, severity, meaning)
        };
        keys.into_iter().filter_map(of_key).collect()
    }
}

fn differ(
    id: &str,
    what: &str,
    [base, new]: [BTreeSet<String>; 2],
    severity: Severity,
    meaning: &str,
) -> Option<Confounder> {
    let (severity, meaning) = match (base.is_empty(), new.is_empty()) {
        (true, true) => return None,
        // It may be the same.
        (true, false) | (false, true) => (Note, "It is known of one side only."),
        (false, false) if base.union(&new).count() == 1 => return None,
        (false, false) => (severity, meaning),
    };
    let values = [base, new].map(|values| values.into_iter().collect());
    Some(confounder(id, what, values, severity, meaning))
}

fn figures(document: &Document) -> &'static str {
    match document.counter() {
        Counter::Time => "time on a processor",
        Counter::Instructions => "instructions in an emulator",
    }
}

fn kernel_kind(document: &Document) -> Option<String> {
    Some(match &document.measurement.place.kernel {
        Name::Known(Kernel::Linux) => "Linux".into(),
        Name::Known(Kernel::Lab) => "kentry's own".into(),
        Name::Known(Kernel::LabI386) => "kentry's own for protected mode".into(),
        Name::Other(name) => name.clone(),
    })
}

fn machine_kind(document: &Document) -> Option<String> {
    Some(match &document.measurement.place.machine {
        Name::Known(Machine::Host) => "host".into(),
        Name::Known(Machine::QemuTcg) => "QEMU with TCG".into(),
        Name::Known(Machine::QemuKvm) => "QEMU with KVM".into(),
        Name::Known(Machine::Bochs) => "Bochs".into(),
        Name::Other(name) => name.clone(),
    })
}

fn cpu(environment: &Environment) -> Option<String> {
    let cpu = &environment.cpu;
    let number = |number: Option<u32>| number.map_or_else(|| "?".into(), |number| number.to_string());
    let signature = [cpu.family, cpu.model, cpu.stepping];
    let is_known = cpu.brand.is_some() || signature.iter().any(Option::is_some);
    is_known.then(|| {
        let [family, model, stepping] = signature.map(number);
        let brand = cpu.brand.as_deref().unwrap_or("unknown").trim().to_string();
        format!("{brand} (family {family}, model {model}, stepping {stepping})")
    })
}

fn microcode(environment: &Environment) -> Option<String> {
    let of_lab = environment.lab.as_ref().and_then(|lab| lab.microcode.clone());
    of_lab.or_else(|| environment.cpu.microcode.clone())
}

fn kernel(environment: &Environment) -> Option<String> {
    let kernel = &environment.kernel;
    let release = kernel.release.as_ref()?;
    Some(kernel.version.as_ref().map_or_else(|| release.clone(), |version| format!("{release} {version}")))
}

fn hypervisor(environment: &Environment) -> Option<String> {
    let below = &environment.hypervisor;
    if environment.cpu.vendor.is_none() && !below.present {
        return None;
    }
    let signature = below.signature.as_deref().unwrap_or("unknown");
    let product = [&below.system_vendor, &below.product_name];
    let product: Vec<&str> = product.into_iter().flatten().map(|name| name.as_str()).collect();
    let what = if below.present { signature } else { "none" };
    Some(if product.is_empty() { what.into() } else { format!("{what} ({})", product.join(" ")) })
}

/// The CPUs with rounds in an estimate.
fn cpus(document: &Document) -> Option<String> {
    let used = document.measurement.cpus.iter().filter(|used| used.kept_rounds > 0 || used.rounds > 0);
    let numbers: BTreeSet<usize> = used.map(|used| used.cpu).collect();
    let numbers: Vec<String> = numbers.into_iter().map(|cpu| cpu.to_string()).collect();
    (!numbers.is_empty()).then(|| numbers.join(", "))
}

/// In steps of which runs do not differ by chance alone.
fn noise(document: &Document) -> Option<String> {
    let share = document.measurement.quiet_share.filter(|share| (0.0..=1.0).contains(share))?;
    let words = ["less than 20 %", "20 to 50 %", "50 to 90 %", "more than 90 %"];
    let at = [0.2, 0.5, 0.9].iter().filter(|limit| share >= **limit).count();
    words.get(at).map(|words| format!("{words} of checks"))
}

/// In steps of a tenth of a gigahertz.
fn clock(document: &Document) -> Option<String> {
    let measurement = &document.measurement;
    let hertz = measurement.cycles_per_tick? * measurement.tsc_hz?;
    let is_clock = hertz.is_finite() && (1e6..1e11).contains(&hertz);
    is_clock.then(|| format!("{:.1} GHz", hertz / 1e9))
}
