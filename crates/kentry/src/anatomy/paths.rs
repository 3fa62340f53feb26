//! The paths of `kentry anatomy`: what the guest of each configuration executed.

use crate::error::Error;
use attribution::anatomy::{Anatomy, BootedConfiguration, Followed, LeftOut};
use document::{Counter, Document, Name, Outcome, Row};
use linux::Kernel;
use measure::guest::{Configuration, GuestPlan, Machine, Request};
use places::guest::{Booted, Hello, Kind};
use record::trace::{Event, Trace};
use std::sync::{Mutex, PoisonError};

/// What is said of a kernel without names.
pub const NO_NAMES: &str = "the kernel does not name its functions (it was built without CONFIG_KALLSYMS)";

/// Boots guests, and keeps what a document of rows has no place for.
pub struct Recorder<'a> {
    machine: &'a dyn Machine,
    booted: Mutex<Vec<(Request, Booted)>>,
}

impl<'a> Recorder<'a> {
    /// Boots on this machine.
    pub fn new(machine: &'a dyn Machine) -> Recorder<'a> {
        Recorder { machine, booted: Mutex::default() }
    }

    /// The boots that are over, in the order of their ends.
    pub fn booted(self) -> Vec<(Request, Booted)> {
        self.booted.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Machine for Recorder<'_> {
    fn boot(&self, request: &Request) -> Booted {
        let booted = self.machine.boot(request);
        let mut all = self.booted.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((request.clone(), booted.clone()));
        booted
    }
}

/// What was asked of guests.
pub struct Asked<'a> {
    /// What was booted.
    pub plan: &'a GuestPlan<'a>,
    /// The kernels, in the order of the plan.
    pub kernels: &'a [Kernel],
    /// The processor where the command line names none.
    pub cpu_model: &'a str,
    /// What is followed, if it is no row.
    pub event: Option<Event>,
}

/// What came of it.
#[derive(Default)]
pub struct Paths {
    /// In the order of the plan.
    pub followed: Vec<Followed>,
    /// Boots without a path.
    pub left_out: Vec<LeftOut>,
    /// Whether one of those is a guest's fault.
    pub has_failed: bool,
}

/// Why a configuration has no path.
enum Without {
    /// The user ended its boot, or what was asked for makes no sense.
    Ended(Error),
    /// The kernel or the machine lacks what is asked for; in words.
    Lacking(String),
    /// The guest failed, or was not followed to the end; in words.
    Failed(String),
}

impl Asked<'_> {
    /// A path for each configuration of the plan; or in words, why one was not followed. Where some may be left out, those that could be
    /// followed do, if the first is among them or each is of a kernel of its own.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the user ended the boot of one, [`Error::Environment`] when the kernel or the machine lacks what is
    /// asked for.
    pub fn followed(
        &self,
        document: &Document,
        booted: &[(Request, Booted)],
        may_leave_out: bool,
    ) -> Result<Result<Paths, String>, Error> {
        let described = document.environment.guest.iter().flat_map(|guest| &guest.kernels);
        let mut paths = Paths::default();
        for (place, (configuration, described)) in self.plan.configurations.iter().zip(described).enumerate()
        {
            // A boot that was interrupted early has no rows: those of the others must not be taken for its own.
            let row = document.results.iter().find(|row| row.configuration == described.settings);
            let row = row.ok_or(Error::Interrupted)?;
            let may_lack = may_leave_out && (place > 0 || self.kernels.len() > 1);
            let (why, has_failed) = match self.path(configuration, row, booted) {
                Ok(path) => {
                    paths.followed.push(path);
                    continue;
                }
                Err(Without::Ended(error)) => return Err(error),
                Err(Without::Lacking(why)) if !may_lack => return Err(Error::Environment(why)),
                Err(Without::Failed(why)) if !may_lack => return Ok(Err(why)),
                Err(Without::Lacking(why)) => (why, false),
                Err(Without::Failed(why)) => (why, true),
            };
            let release = self.kernels.get(configuration.kernel).map_or("", |kernel| kernel.release.as_str());
            let words = described.settings.iter().filter(|(name, _)| *name != document::KERNEL);
            let words = words.map(|(name, value)| format!(" {name}={value}")).collect::<String>();
            paths.left_out.push(LeftOut { boot: format!("{release}{words}"), why });
            paths.has_failed |= has_failed;
        }
        match (paths.followed.is_empty(), paths.left_out.first()) {
            (true, Some(first)) => Ok(Err(first.why.clone())),
            _ => Ok(Ok(paths)),
        }
    }

    fn path(
        &self,
        configuration: &Configuration,
        row: &Row,
        booted: &[(Request, Booted)],
    ) -> Result<Followed, Without> {
        let kernel = self.kernels.get(configuration.kernel);
        let unknown = || Without::Ended(Error::Usage("--kernel: there is no such kernel".into()));
        let kernel = kernel.ok_or_else(unknown)?;
        let request = self.plan.request(configuration, 0, self.cpu_model, Counter::Instructions);
        let guest = guest_of(&request, self.kernels);
        let boot = booted.iter().find(|(known, _)| *known == request).map(|(_, booted)| booted);
        let Some(boot) = boot.filter(|_| row.outcome == Outcome::Ok) else {
            let why = unanswered(row, &guest);
            // What this kernel does not have is no fault of the guest's.
            let is_lacking = !matches!(row.outcome, Outcome::Ok | Outcome::Error | Outcome::Timeout);
            return Err(if is_lacking { Without::Lacking(why) } else { Without::Failed(why) });
        };
        // It has counted, and something went wrong before it had told everything.
        match &boot.trouble {
            Some(trouble) if trouble.kind() == Kind::Interrupted => {
                return Err(Without::Ended(Error::Interrupted));
            }
            Some(trouble) => return Err(Without::Failed(format!("{guest}: {trouble}"))),
            None => {}
        }
        let trace = self.event.map_or_else(|| of_row(boot), |event| of_event(event, boot));
        let trace = trace.map_err(|why| Without::Failed(format!("{guest}: {why}")))?;
        let mut anatomy = Anatomy::of(&trace, &boot.symbols, kernel);
        if let Some(event) = self.event {
            (anatomy.entry, anatomy.operation) = (event.name().into(), "none".into());
        }
        // An event's row has more, or other things, than the path.
        let count = if self.event.is_some() { None } else { count(row) };
        let configuration = self::configuration(kernel, configuration, &request);
        Ok(Followed::new(configuration, count, trace.control as u64, anatomy))
    }
}

/// A row's count, if it is whole.
fn count(row: &Row) -> Option<u64> {
    let count = row.instructions.as_ref().map(|cost| cost.estimate.0);
    count.filter(|count| *count >= 0.0 && count.fract() == 0.0).map(|count| count as u64)
}

/// Of which boot something is said: with the kernel where there are several.
fn guest_of(request: &Request, kernels: &[Kernel]) -> String {
    let kernel = kernels.get(request.kernel).filter(|_| kernels.len() > 1);
    let kernel = kernel.map(|kernel| format!(" of {}", report::plain(&kernel.release))).unwrap_or_default();
    match request.parameters.as_str() {
        "" => format!("the guest{kernel}"),
        parameters => format!("the guest{kernel} with {}", report::plain(parameters)),
    }
}

fn unanswered(row: &Row, guest: &str) -> String {
    let why = row.reason.as_deref().unwrap_or("nobody said why");
    format!("{} {} in {guest}: {}: {why}", row.entry, row.operation, row.outcome.name())
}

fn of_event(event: Event, boot: &Booted) -> Result<Trace, String> {
    match boot.event.clone() {
        Some(followed) => followed.map(|steps| Trace { entry: 0, operation: 0, steps, control: 0 }),
        None if event == Event::Execve => Err("the guest did not execute a program".into()),
        None if boot.symbols.is_empty() => {
            Err(format!("{NO_NAMES}, so nobody knows where the timer's interrupt begins"))
        }
        None => Err(untimely(boot.hello.as_ref())),
    }
}

/// Why no interrupt of the timer was followed, by what ticks.
fn untimely(hello: Option<&Hello>) -> String {
    let other = hello.filter(|hello| !hello.ticks_by_apic()).and_then(|hello| hello.tick.as_deref());
    other.map_or_else(
        || "no interrupt of the APIC's timer came while the program ran".into(),
        |tick| {
            let tick = report::plain(tick);
            format!(
                "the kernel's tick comes from {tick}, and only interrupts of the APIC's timer are followed"
            )
        },
    )
}

fn of_row(boot: &Booted) -> Result<Trace, String> {
    let why = || boot.unfollowed.first().map(|(_, why)| why.clone());
    let unsaid = || "the path was not followed, and the guest did not say why".into();
    boot.traces.first().cloned().ok_or_else(|| why().unwrap_or_else(unsaid))
}

fn configuration(kernel: &Kernel, asked: &Configuration, request: &Request) -> BootedConfiguration {
    let settings = asked.parameters.iter().flat_map(|parameters| parameters.values());
    BootedConfiguration {
        release: kernel.release.clone(),
        file: kernel.file.to_string_lossy().into_owned(),
        parameters: request.parameters.clone(),
        settings: settings.map(|(parameter, value)| (parameter.name.clone(), value.name.clone())).collect(),
        machine: Name::Known(document::Machine::QemuTcg),
        cpu: request.cpu.clone(),
        seed: request.seed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::Timing;
    use measure::guest::{Options, Setup, measure};
    use places::guest::Trouble;
    use record::trace::Executed;
    use stats::{Cost, Instructions};
    use std::sync::atomic::Ordering;
    use std::time::Duration;
    use table::Table;

    #[test]
    fn a_guest_that_went_wrong_after_it_had_counted_was_followed_in_part() {
        let interrupted = || Trouble::Machine(places::emulator::Trouble::Interrupted);
        for event in [None, Some(Event::TimerInterrupt)] {
            let late = |trouble: Trouble| {
                let machine = MadeUp { late: Some(trouble), ..MadeUp::default() };
                on(machine, options(), event)
            };
            assert!(matches!(late(interrupted()), Err(Error::Interrupted)));
            let why = late(hung()).unwrap().unwrap_err();
            assert!(why.contains("did not finish within 3 s") && !why.contains("CONFIG_KALLSYMS"), "{why}");
        }
    }

    #[test]
    fn a_timer_that_is_not_followed_says_which_one_ticks() {
        let of = |tick: Option<&str>| {
            untimely(Some(&Hello { tick: tick.map(str::to_string), ..Hello::default() }))
        };
        assert!(of(Some("pit")).starts_with("the kernel's tick comes from pit,"));
        for unclear in [of(Some("lapic-deadline")), of(None), untimely(None)] {
            assert_eq!(unclear, "no interrupt of the APIC's timer came while the program ran");
        }
    }

    /// A machine whose guest is interrupted where its parameters are these; another executes one instruction, at an address that its
    /// parameters give.
    #[derive(Default)]
    struct MadeUp {
        interrupted: Option<&'static str>,
        interrupt: places::host::Interrupt,
        /// What goes wrong after its guests have counted, and before they tell their symbols.
        late: Option<Trouble>,
        /// With these parameters, a guest does not come up.
        hung: Option<&'static str>,
    }

    fn hung() -> Trouble {
        Trouble::Hung { time: Duration::from_secs(3), began: true, console: String::new() }
    }

    impl Machine for MadeUp {
        fn boot(&self, request: &Request) -> Booted {
            if self.interrupted == Some(request.parameters.as_str()) {
                self.interrupt.store(true, Ordering::Relaxed);
                return Booted {
                    trouble: Some(Trouble::Machine(places::emulator::Trouble::Interrupted)),
                    ..Booted::default()
                };
            }
            if self.hung == Some(request.parameters.as_str()) {
                return Booted { trouble: Some(hung()), ..Booted::default() };
            }
            let (entry, operation) = request.rows[0];
            let address = if request.parameters == "quiet" { 0x2000 } else { 0x1000 };
            let address = address + 0x10 * request.kernel as u64 + 0xffff_ffff_8100_0000;
            let step = Executed { address, ring: 0, long: true, bytes: vec![0x90] };
            let trace = Trace { entry, operation, steps: vec![step], control: 0 };
            let document = serde_json::to_vec(&answer()).unwrap();
            // Each kernel has its own symbols.
            let symbol = record::trace::Symbol { address, name: format!("of_kernel_{}", request.kernel) };
            Booted {
                document: Some(document),
                traces: vec![trace],
                symbols: if self.late.is_none() { vec![symbol] } else { Vec::new() },
                trouble: self.late.clone(),
                ..Booted::default()
            }
        }
    }

    fn answer() -> Document {
        let row = Row {
            timing: Timing::Emulated,
            instructions: Some(Cost::single(Instructions(1.0))),
            ..Row::unmeasured("syscall-x86_64", "getppid", 64)
        };
        Document {
            id: Some("0".repeat(32)),
            environment: environment::Environment { host: "linux".into(), ..Default::default() },
            vdso: [("64".to_string(), Vec::new())].into(),
            results: vec![row],
            ..Document::empty()
        }
    }

    /// What comes of two configurations when the guest of one is interrupted.
    fn paths(interrupted: Option<&'static str>) -> Result<Result<Vec<Followed>, String>, Error> {
        of_options(options(), interrupted)
    }

    fn options() -> Options {
        Options {
            entry: vec!["syscall".into()],
            operation: vec!["getppid".into()],
            kernels: vec!["auto".into()],
            append: vec!["loud".into(), "quiet".into()],
            cpu_models: Vec::new(),
            set: Vec::new(),
            accel: measure::lab::Accel::Tcg,
            boots: None,
            follows: true,
            seed: 0,
            memory_mib: 512,
            time: Duration::from_secs(60),
        }
    }

    fn of_options(
        options: Options,
        interrupted: Option<&'static str>,
    ) -> Result<Result<Vec<Followed>, String>, Error> {
        on(MadeUp { interrupted, ..MadeUp::default() }, options, None)
    }

    fn on(
        machine: MadeUp,
        options: Options,
        event: Option<Event>,
    ) -> Result<Result<Vec<Followed>, String>, Error> {
        Ok(all(machine, options, event, false)?.map(|paths| paths.followed))
    }

    fn all(
        machine: MadeUp,
        options: Options,
        event: Option<Event>,
        may_leave_out: bool,
    ) -> Result<Result<Paths, String>, Error> {
        let plan = GuestPlan::new(Table::get(), &options).unwrap();
        let kernels: Vec<Kernel> = plan
            .kernels
            .iter()
            .map(|name| Kernel { release: format!("6.{name}"), file: name.into(), ..Kernel::default() })
            .collect();
        let interrupt = machine.interrupt.clone();
        let recorder = Recorder::new(&machine);
        let setup = Setup {
            machine: &recorder,
            place: document::Machine::QemuTcg,
            version: "QEMU 7.2.22".into(),
            cpu_model: "max".into(),
            kernels: kernels
                .iter()
                .map(|kernel| measure::guest::Kernel {
                    file: kernel.file.to_string_lossy().into_owned(),
                    release: kernel.release.clone(),
                })
                .collect(),
            at_once: 2,
            interrupt,
        };
        let document = measure(&plan, &setup, &mut |_, _| ())?;
        let asked = Asked { plan: &plan, kernels: &kernels, cpu_model: "max", event };
        asked.followed(&document, &recorder.booted(), may_leave_out)
    }

    #[test]
    fn a_second_boot_that_fails_is_left_out_where_it_may_be_and_the_first_never() {
        let of = |hung, may_leave_out| {
            all(MadeUp { hung: Some(hung), ..MadeUp::default() }, options(), None, may_leave_out).unwrap()
        };
        let paths = of("quiet", true).unwrap();
        let [followed] = &paths.followed[..] else { panic!("{:?}", paths.followed) };
        assert_eq!(followed.configuration.parameters, "loud");
        let [left] = &paths.left_out[..] else { panic!("{:?}", paths.left_out) };
        assert!(left.why.contains("did not finish within 3 s") && paths.has_failed, "{left:?}");
        for (hung, may_leave_out) in [("quiet", false), ("loud", true)] {
            let why = of(hung, may_leave_out).err().unwrap();
            assert!(why.contains("did not finish within 3 s"), "{hung}: {why}");
        }
    }

    #[test]
    fn each_configuration_has_the_path_of_its_own_guest() {
        let paths = paths(None).unwrap().unwrap();
        let found = paths
            .iter()
            .map(|path| (path.configuration.parameters.as_str(), path.anatomy.instructions.len()));
        assert_eq!(found.collect::<Vec<_>>(), [("loud", 1), ("quiet", 1)]);
        assert_ne!(paths[0].anatomy, paths[1].anatomy);
    }

    #[test]
    fn each_kernel_has_its_own_names_and_release() {
        let kernels = vec!["1".into(), "12".into()];
        let two = Options { kernels, append: Vec::new(), ..options() };
        let paths = of_options(two.clone(), None).unwrap().unwrap();
        let found = paths.iter().map(|path| {
            let function = path.anatomy.instructions[0].function_name();
            format!("{} {function}", path.configuration.release)
        });
        assert_eq!(found.collect::<Vec<_>>(), ["6.1 of_kernel_0", "6.12 of_kernel_1"]);
        let error = of_options(two, Some("")).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
    }

    #[test]
    fn why_a_path_was_not_followed_is_said() {
        let unfollowed = vec![((1, 2), "too long".to_string())];
        assert_eq!(of_row(&Booted { unfollowed, ..Booted::default() }).unwrap_err(), "too long");
        assert!(of_row(&Booted::default()).unwrap_err().contains("did not say why"));
        let why = of_event(Event::TimerInterrupt, &Booted::default()).unwrap_err();
        assert!(why.contains("CONFIG_KALLSYMS"), "{why}");
    }

    #[test]
    fn an_interruption_in_one_of_two_boots_was_an_answer_of_one_path() {
        for interrupted in ["loud", "quiet"] {
            let error = paths(Some(interrupted)).unwrap_err();
            assert!(matches!(error, Error::Interrupted), "{interrupted}: {error}");
        }
    }
}
