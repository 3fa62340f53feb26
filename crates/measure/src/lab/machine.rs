//! What runs the lab kernel: which emulator, and whether a processor executes its instructions natively.

use super::found::{self, ring_test};
use super::{Accel, Options};
use crate::Error;
use crate::conclude::emulator;
use document::Machine;
use environment::{Environment, Roots, why_emulated};
use places::lab::{Accelerator, Bochs, Collected, Guest, Limits, Mode, Plan, Qemu, Trouble};
use record::Boot;
use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

/// The longest that an empty boot may take. It takes a tenth of a second; where KVM emulates ring 0 a second and more, or it never
/// ends.
const TRIAL_TIME: Duration = Duration::from_secs(10);

/// The program that makes the virtual machine.
#[derive(Debug, Clone)]
pub enum Emulator {
    /// QEMU, with its own emulation or KVM.
    Qemu(Qemu),
    /// Bochs, which emulates more of a processor.
    Bochs(Bochs),
}

impl Emulator {
    /// The machine that it makes.
    pub fn machine(&self) -> Machine {
        match self {
            Emulator::Qemu(qemu) => machine_of(qemu.accelerator),
            Emulator::Bochs(_) => Machine::Bochs,
        }
    }

    /// Ticks in a second of the guest's counter, where the emulator defines that.
    pub fn tsc_hz(&self) -> Option<u64> {
        match self {
            Emulator::Qemu(Qemu { accelerator: Accelerator::Kvm, .. }) => None,
            Emulator::Qemu(Qemu { accelerator: Accelerator::Tcg, .. }) => Some(Qemu::TCG_HERTZ),
            Emulator::Bochs(_) => Some(Bochs::HERTZ),
        }
    }

    /// Which of the lab's kernels it boots.
    pub fn mode(&self) -> Mode {
        match self {
            Emulator::Qemu(qemu) => Mode::of_kernel(&qemu.kernel),
            Emulator::Bochs(bochs) => Mode::of_kernel(&bochs.kernel),
        }
    }

    /// The plan for this machine. QEMU's emulation ignores registers that its processor does not have: there, steps that are
    /// harmless without their feature are executed.
    pub fn plan(&self, plan: Plan) -> Plan {
        if self.forgives() { plan.harmlessly() } else { plan }
    }

    /// The processor, as the emulator is asked for it.
    pub fn cpu_model(&self) -> &str {
        match self {
            Emulator::Qemu(qemu) => &qemu.cpu_model,
            Emulator::Bochs(bochs) => &bochs.cpu_model,
        }
    }

    /// Whether it executes steps whose feature its processor lacks, without effect (`harmless` in `entries.toml`): TCG ignores writes of
    /// model-specific registers that it does not know, and Bochs raises #GP.
    pub fn forgives(&self) -> bool {
        self.machine() == Machine::QemuTcg
    }

    /// Pins the virtual machine to a CPU of this machine, where a processor runs it.
    pub fn pin(&mut self, cpu: usize) {
        if let Emulator::Qemu(qemu @ Qemu { accelerator: Accelerator::Kvm, .. }) = self {
            qemu.cpu = Some(cpu);
        }
    }

    /// Boots an archive whose plan has so many programs and checks.
    ///
    /// # Errors
    /// When the emulator cannot be started.
    pub fn boot(&self, archive: &[u8], programs: usize, limits: &Limits) -> Result<Guest, Trouble> {
        match self {
            Emulator::Qemu(qemu) => qemu.boot(archive, programs, limits),
            Emulator::Bochs(bochs) => bochs.boot(archive, programs, limits),
        }
    }

    /// The emulator's name and version.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn version(&self, limits: &Limits) -> Result<String, Trouble> {
        match self {
            Emulator::Qemu(qemu) => qemu.version(limits),
            Emulator::Bochs(bochs) => bochs.version(limits),
        }
    }
}

/// The machine that QEMU makes with an accelerator.
pub fn machine_of(accelerator: Accelerator) -> Machine {
    match accelerator {
        Accelerator::Kvm => Machine::QemuKvm,
        Accelerator::Tcg => Machine::QemuTcg,
    }
}

/// The machine that a command line asks for. `say` gets the reason why `auto` falls back to emulation.
///
/// # Errors
/// As [`accelerator`].
pub fn choose(options: &Options, limits: &Limits, say: &mut dyn FnMut(&str)) -> Result<Emulator, Error> {
    let model = options.cpu_model.as_deref();
    let mode = Mode::of(options.whose.kernel());
    if options.bochs {
        return Ok(Emulator::Bochs(Bochs::new(model).in_mode(mode)));
    }
    let accelerator = accelerator(options.accel, model, limits, say)?;
    Ok(Emulator::Qemu(Qemu::new(accelerator, model).in_mode(mode)))
}

/// What is to execute the instructions of QEMU's guests, with this processor if one is named. `say` gets the reason why `auto` falls
/// back to emulation.
///
/// # Errors
/// [`Error::Environment`] when KVM is asked for, but is missing or does not run ring 0 natively.
pub fn accelerator(
    accel: Accel,
    model: Option<&str>,
    limits: &Limits,
    say: &mut dyn FnMut(&str),
) -> Result<Accelerator, Error> {
    let kvm = Qemu::new(Accelerator::Kvm, model);
    match accel {
        Accel::Tcg => Ok(Accelerator::Tcg),
        Accel::Kvm => {
            try_natively(&kvm, limits)?.map_err(Error::Environment)?;
            Ok(Accelerator::Kvm)
        }
        // A processor that is named is to be emulated, since it may not be this machine's.
        Accel::Auto if model.is_some() => Ok(Accelerator::Tcg),
        Accel::Auto => {
            let this = ThisKvm::look();
            // Without it there is nothing to try; and what an emulator's processor does natively takes the emulator's time.
            let is_worth_it = this.has_virtualization && this.emulator.is_none();
            let tried = if is_worth_it { try_natively(&kvm, limits)? } else { Err(this.why()) };
            let Err(why) = tried else { return Ok(Accelerator::Kvm) };
            say(&why);
            Ok(Accelerator::Tcg)
        }
    }
}

/// What the processor has of what switches may need, as the kernel finds it in an empty boot.
///
/// # Errors
/// [`Error::Environment`] when the guest does not boot, [`Error::Interrupted`] when the user interrupted it.
pub fn features(emulator: &Emulator, limits: &Limits) -> Result<Vec<String>, Error> {
    let mut collected = Collected::default();
    let archive = places::lab::pack(&Plan::default(), &[]).map_err(Trouble::from)?;
    let read =
        emulator.boot(&archive, 0, limits).and_then(|mut guest| collected.read(&mut guest, &mut |_| ()));
    match (collected.boot, read) {
        (Some(boot), _) => Ok(found::features(boot.features)),
        (None, Err(trouble)) => Err(trouble.into()),
        (None, Ok(())) => Err(Error::Environment("the guest said nothing of its processor".into())),
    }
}

/// Whether KVM lets a guest's ring 0 run on the processor; the inner error says why not.
fn try_natively(kvm: &Qemu, limits: &Limits) -> Result<Result<(), String>, Error> {
    if let Err(error) = OpenOptions::new().read(true).write(true).open("/dev/kvm") {
        return Ok(Err(format!("/dev/kvm cannot be used: {error}")));
    }
    let limits = Limits { time: TRIAL_TIME, ..limits.clone() };
    let mut collected = Collected::default();
    let result = places::lab::pack(&Plan::default(), &[])
        .map_err(Trouble::from)
        .and_then(|archive| kvm.boot(&archive, 0, &limits))
        .and_then(|mut guest| collected.read(&mut guest, &mut |_| ()));
    let why = match (result, collected.boot) {
        // If QEMU is missing, or the user interrupted, emulation would fail, too.
        (Err(trouble), _) if trouble.is_missing() || trouble.is_interruption() => return Err(trouble.into()),
        (_, Some(boot)) => is_native(&boot),
        (Err(trouble), None) => Err(format!("KVM does not run the kernel here: {trouble}")),
        (Ok(()), None) => Err("KVM does not run the kernel here".into()),
    };
    Ok(why.map_err(|why| ThisKvm::look().explain(&why)))
}

/// Whether ring 0 runs on the processor, if not all of it, by what the kernel found.
fn is_native(boot: &Boot) -> Result<(), String> {
    why_emulated(&ring_test(boot)).map_or(Ok(()), |why| Err(format!("this KVM emulates ring 0: {why}")))
}

/// Whether this machine's KVM is PVM, which runs no guest's kernel in the processor's ring 0.
pub fn is_pvm() -> bool {
    is_pvm_of(is_loaded)
}

fn is_pvm_of(has_module: impl Fn(&str) -> bool) -> bool {
    has_module("kvm_pvm") && !has_module("kvm_amd") && !has_module("kvm_intel")
}

fn is_loaded(module: &str) -> bool {
    Path::new("/sys/module").join(module).exists()
}

/// What this machine says about its KVM.
#[derive(Debug, Clone, Copy)]
struct ThisKvm {
    /// Whether its CPUID offers VMX or SVM. Without either, no KVM runs a guest's ring 0 on the processor.
    has_virtualization: bool,
    /// Whether it is PVM, which needs neither.
    is_pvm: bool,
    /// The emulator that this machine's processor is a program of, by its signature.
    emulator: Option<&'static str>,
}

impl ThisKvm {
    fn look() -> ThisKvm {
        ThisKvm::of(&environment::capture(&Roots::default(), 0), is_loaded)
    }

    fn of(machine: &Environment, has_module: impl Fn(&str) -> bool) -> ThisKvm {
        ThisKvm {
            has_virtualization: machine.cpu.flags.iter().any(|flag| flag == "vmx" || flag == "svm"),
            is_pvm: is_pvm_of(has_module),
            emulator: emulator(machine),
        }
    }

    /// In words, why its guests have no ring 0 on the processor; nothing where they may have.
    fn why(self) -> String {
        let pvm = "KVM is PVM here (the module kvm_pvm), which runs no kernel in the processor's ring 0";
        let emulated = |by| {
            format!("this machine's processor is emulated ({by}), and KVM's guests take the emulator's time")
        };
        let facts = [
            self.is_pvm.then(|| pvm.to_owned()),
            (!self.has_virtualization).then(|| "this machine's CPUID offers neither VMX nor SVM".to_owned()),
            self.emulator.map(emulated),
        ];
        facts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn explain(self, what: &str) -> String {
        match self.why() {
            why if why.is_empty() => what.into(),
            why => format!("{what}; {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot(ring0_ticks: u64, ring3_ticks: u64, syscall_works: bool, interrupt_ticks: u64) -> Boot {
        Boot {
            ring0_ticks,
            ring3_ticks,
            syscall_works,
            cr3_ticks: 64 * 200,
            cpuid_ticks: 64 * 1200,
            interrupt_ticks,
            invalid_ticks: 64 * 2000,
            ..Boot::default()
        }
    }

    #[test]
    fn a_kvm_without_the_processors_virtualization_is_named() {
        let of = |flags: &str, modules: &[&str]| {
            let mut machine = Environment::default();
            machine.cpu.flags = flags.split(' ').map(str::to_string).collect();
            ThisKvm::of(&machine, |name| modules.contains(&name)).explain("it failed")
        };
        assert_eq!(of("sse svm", &["kvm", "kvm_amd"]), "it failed");
        let neither = "this machine's CPUID offers neither VMX nor SVM";
        assert_eq!(of("sse", &["kvm"]), format!("it failed; {neither}"));
        let pvm = "KVM is PVM here (the module kvm_pvm), which runs no kernel in the processor's ring 0";
        assert_eq!(of("sse", &["kvm", "kvm_pvm"]), format!("it failed; {pvm}; {neither}"));
        assert_eq!(of("vmx", &["kvm", "kvm_pvm"]), format!("it failed; {pvm}"));
        assert_eq!(of("svm", &["kvm", "kvm_pvm", "kvm_amd"]), "it failed", "built in, and another is used");
    }

    #[test]
    fn a_kvm_on_an_emulated_processor_is_not_worth_a_try() {
        let mut machine = Environment::default();
        machine.cpu.flags = vec!["svm".to_string()];
        assert_eq!(ThisKvm::of(&machine, |_| false).emulator, None);
        machine.hypervisor.signature = Some("TCGTCGTCGTCG".to_string());
        let why = ThisKvm::of(&machine, |_| false).why();
        assert!(why.contains("emulated (TCGTCGTCGTCG)") && !why.contains("CPUID offers"), "{why}");
    }

    #[test]
    fn ring_0_is_native_when_it_is_as_fast_as_ring_3() {
        assert_eq!(is_native(&boot(1000, 990, true, 1)), Ok(()));
        let emulated = |boot| is_native(&boot).unwrap_err();
        assert!(emulated(boot(812_000, 1000, true, 1)).contains("812.0 times as long"));
        assert!(emulated(boot(1000, 1000, false, 1)).contains("system call"));
        assert!(emulated(boot(1000, 1000, true, 0)).contains("an interrupt from ring 3"));
        for bad in [boot(0, 0, true, 1), boot(1, 0, true, 1), boot(0, 1, true, 1)] {
            emulated(bad);
        }
    }
}
