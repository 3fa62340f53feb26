//! Boots a plan in an emulator, and sorts what comes back by the plan's lines.

use crate::build::Program;
use crate::executable;
use crate::skipped::skipped;
use places::lab::{
    Accelerator, Agreed, Bochs, Configured, End, Event, Events, File, Guest, Limits, Line, Mode, Plan, Qemu,
    Strays, Trouble,
};
use record::{Boot, Payload, Request, Sample, Step, Verdict, abi};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;
use table::{Differs, Entry, Kernel, Operation, Table};

/// Longer than any boot here takes on a machine that does other things, too.
const TIME: Duration = Duration::from_secs(120);

/// After so many instructions a program is taken to run away; the longest that does not takes a tenth.
pub const LIMIT: u64 = 100_000_000;

/// CLOCK_REALTIME of every boot, seconds.
pub const NOW: u64 = 1_700_000_000;

/// The QEMU that is here, `QEMU 7.2.22`; nothing where there is none.
pub static QEMU: LazyLock<String> =
    LazyLock::new(|| Qemu::new(Accelerator::Tcg, None).version(&limits()).unwrap_or_default());

/// AMD's processors by the emulators' names for them.
pub const AMD_IN_QEMU: &str = "EPYC";
pub const AMD_IN_BOCHS: &str = "ryzen";

/// What the kernel is booted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emulator {
    TcgIntel,
    TcgAmd,
    Bochs,
    BochsAmd,
}

impl Emulator {
    pub const ALL: [Emulator; 4] =
        [Emulator::TcgIntel, Emulator::TcgAmd, Emulator::Bochs, Emulator::BochsAmd];

    /// One of each kind that the kernel tells apart.
    pub const KINDS: [Emulator; 3] = [Emulator::TcgIntel, Emulator::TcgAmd, Emulator::Bochs];

    /// As the key `differs` of entries.toml names it.
    pub fn name(self) -> &'static str {
        match self {
            Emulator::TcgIntel => "tcg GenuineIntel",
            Emulator::TcgAmd => "tcg AuthenticAMD",
            Emulator::Bochs => "bochs GenuineIntel",
            Emulator::BochsAmd => "bochs AuthenticAMD",
        }
    }

    /// Whether it lacks an entry, as the processors of its vendor do where the table does not say that it differs: Intel's have no
    /// `syscall` in 32-bit code, and AMD's no `sysenter` in long mode.
    pub fn lacks(self, entry: &Entry) -> bool {
        let differs = entry.differs.get(self.name()).is_some_and(|differs| self.is_of(differs));
        // QEMU checks no limits of segments, and the kernel takes the segment away; and behind a gate into ring 1 it has the privileges of
        // ring 0, and the kernel closes that.
        if self.is_tcg() && (entry.name == "limit-fault" || !entry.through.is_empty()) {
            return true;
        }
        match self {
            Emulator::TcgIntel | Emulator::Bochs => entry.name == "syscall-i386" && !differs,
            // Where it is executed, what leads back is not.
            Emulator::TcgAmd => entry.name.contains("sysenter"),
            Emulator::BochsAmd => entry.name.contains("sysenter") && !differs,
        }
    }

    /// The same of a kernel: in protected mode, QEMU has the privileges of rings 1 and 2, and both vendors' processors have `sysenter`; but it checks no
    /// limits of segments, and redirects no interrupts.
    pub fn lacks_on(self, kernel: Kernel, entry: &Entry) -> bool {
        match (kernel, entry.name.as_str()) {
            // AMD's is open with events-by=task alone.
            (Kernel::LabI386, "syscall-i386") => true,
            (Kernel::LabI386, "limit-fault" | "v86-int-redirected") => self.is_tcg(),
            (Kernel::LabI386, _) => false,
            _ => self.lacks(entry),
        }
    }

    /// The processor, by the emulator's name for it; none for what it has by default.
    pub fn model(self) -> Option<&'static str> {
        match self {
            Emulator::TcgIntel | Emulator::Bochs => None,
            Emulator::TcgAmd => Some(AMD_IN_QEMU),
            Emulator::BochsAmd => Some(AMD_IN_BOCHS),
        }
    }

    /// Whether its processor is AMD's.
    pub fn is_amd(self) -> bool {
        matches!(self, Emulator::TcgAmd | Emulator::BochsAmd)
    }

    /// Whether it is QEMU's emulation.
    pub fn is_tcg(self) -> bool {
        matches!(self, Emulator::TcgIntel | Emulator::TcgAmd)
    }

    /// Whether the version that is here differs so, under the kernel for long mode.
    fn is_of(self, differs: &Differs) -> bool {
        differs.is_in(if self.is_tcg() { &QEMU } else { "" }, Kernel::Lab)
    }

    fn hertz(self) -> u64 {
        match self {
            Emulator::TcgIntel | Emulator::TcgAmd => Qemu::TCG_HERTZ,
            Emulator::Bochs | Emulator::BochsAmd => Bochs::HERTZ,
        }
    }

    fn boot(self, mode: Mode, archive: &[u8], programs: usize, limits: &Limits) -> Result<Guest, Trouble> {
        let model = self.model();
        match self.is_tcg() {
            true => Qemu::new(Accelerator::Tcg, model).in_mode(mode).boot(archive, programs, limits),
            false => Bochs::new(model).in_mode(mode).boot(archive, programs, limits),
        }
    }
}

/// Whether there is no Bochs, which then is said.
pub fn bochs_is_missing() -> bool {
    static VERSION: LazyLock<Result<String, Trouble>> = LazyLock::new(|| Bochs::new(None).version(&limits()));
    let missing = VERSION.as_ref().err().filter(|trouble| trouble.is_missing());
    missing.inspect(|trouble| skipped(trouble)).is_some()
}

/// A Bochs whose configuration is changed by a command of the shell, which reads it from `$3` and writes it to `$folder/rc`; what it
/// prints goes to `output`, or where it would go anyway.
pub fn changed_bochs(folder: &Path, model: Option<&str>, change: &str, output: Option<&Path>) -> Bochs {
    let program = folder.join("bochs");
    let output = output.map_or(String::new(), |file| format!(" > {}", file.display()));
    // Its arguments are --help, or -q -f CONFIGURATION -rc FILE and perhaps more.
    let text = format!(
        "#!/bin/bash\n[ \"$1\" != --help ] || exec bochs \"$@\"\nset -e\nfolder=$(dirname \"$0\")\n{change}\n\
         exec bochs -q -f \"$folder/rc\" \"${{@:4}}\"{output}\n"
    );
    executable::write(&program, text.as_bytes());
    Bochs { program: program.into(), ..Bochs::new(model) }
}

/// Whether the QEMU that is here is older.
pub fn qemu_is_before(version: &str) -> bool {
    let differs = Differs { how: String::new(), before: Some(version.into()), kernels: Vec::new() };
    differs.is_in(&QEMU, Kernel::Lab)
}

/// Whether Intel's model executes `syscall` in 32-bit code in the QEMU that is here, which no processor of Intel's does.
pub fn intel_has_syscall_32() -> bool {
    !Emulator::TcgIntel.lacks(Table::get().entry("syscall-i386").unwrap())
}

pub fn limits() -> Limits {
    Limits { time: TIME, output: 256 << 20, interrupt: places::lab::Interrupt::default() }
}

/// Boots an archive with so many programs.
pub type Boots<'a> = dyn Fn(&[u8], usize, &Limits) -> Result<Guest, Trouble> + 'a;

/// A plan while it is written.
#[derive(Debug, Clone, Default)]
pub struct Script {
    lines: Vec<Line>,
    files: BTreeMap<String, Vec<u8>>,
    labels: Vec<String>,
    /// The last value of each switch.
    switches: BTreeMap<String, String>,
    /// What the address layout is drawn from.
    pub seed: u64,
    /// Which of the lab's kernels is booted.
    pub mode: Mode,
}

impl Script {
    pub fn new() -> Script {
        let mut script = Script::default();
        script.lines.push(Line::Limit(LIMIT));
        for probe in places::lab::probes() {
            script.files.insert(probe.name.into(), probe.bytes.into());
        }
        script
    }

    /// The same for the kernel of protected mode.
    pub fn protected() -> Script {
        Script::in_mode(Mode::Protected)
    }

    /// The same for the kernel of this mode.
    pub fn in_mode(mode: Mode) -> Script {
        Script { mode, ..Script::new() }
    }

    /// Changes each probe: in the place of these bytes, which it has once, are those.
    pub fn change_probes(&mut self, from: &[u8], to: &[u8]) {
        assert_eq!(from.len(), to.len());
        for probe in ["probe64", "probe32"] {
            let bytes = self.files.get_mut(probe).unwrap();
            let is_here = |at: &usize| bytes[*at..].starts_with(from);
            let [at] = (0..bytes.len()).filter(is_here).collect::<Vec<_>>()[..] else {
                panic!("{probe} has {from:?} not once");
            };
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }

    pub fn limit(&mut self, ticks: u64) {
        self.lines.push(Line::Limit(ticks));
    }

    /// `pti=on smap=off`
    pub fn set(&mut self, switches: &str) {
        let pairs: Vec<(String, String)> = switches
            .split_whitespace()
            .map(|pair| pair.split_once('=').unwrap())
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        self.switches.extend(pairs.iter().cloned());
        self.lines.push(Line::Set(pairs));
    }

    /// From here on, steps that have no effect without a feature are executed without it.
    pub fn harmless(&mut self) {
        self.lines.push(Line::Harmless);
    }

    /// The configuration as it was set, and what runs in it.
    fn label(&mut self, what: String) -> usize {
        let switches = self.switches.iter().map(|(name, value)| format!("{name}={value}"));
        self.labels.push(format!("{what} [{}]", switches.collect::<Vec<_>>().join(" ")));
        self.labels.len() - 1
    }

    /// A probe's shortest run.
    pub fn row(&mut self, entry: &Entry, operation: &Operation) -> usize {
        self.blocks(entry, operation, 1, 3, LIMIT)
    }

    /// The same with no setting and no server.
    pub fn bare_row(&mut self, entry: &Entry, operation: &Operation) -> usize {
        self.run_probe(entry, operation, 1, 3, LIMIT)
    }

    /// The same beside another program in place of the server.
    pub fn client(
        &mut self,
        entry: &Entry,
        operation: &Operation,
        server: &Program,
        arguments: &[&str],
    ) -> usize {
        self.beside(server, arguments);
        self.bare_row(entry, operation)
    }

    /// A run that samples for so many ticks.
    pub fn long_row(&mut self, entry: &Entry, operation: &Operation, ticks: u64) -> usize {
        self.blocks(entry, operation, abi::MAX_BLOCKS, abi::BLOCK_SAMPLES, ticks)
    }

    fn blocks(
        &mut self,
        entry: &Entry,
        operation: &Operation,
        blocks: u64,
        samples: u64,
        ticks: u64,
    ) -> usize {
        for (name, value) in entry.needs_for(operation) {
            if self.switches.get(name).is_none_or(|now| now != value) {
                self.set(&format!("{name}={value}"));
            }
        }
        if operation.server && !operation.thread {
            let arguments = Self::request(entry, operation, blocks, samples, ticks).server_arguments();
            self.lines.push(Line::Beside { file: entry.probe.name().into(), arguments });
        }
        self.run_probe(entry, operation, blocks, samples, ticks)
    }

    fn request(entry: &Entry, operation: &Operation, blocks: u64, samples: u64, ticks: u64) -> Request {
        Request {
            entry: entry.id,
            operation: operation.id,
            blocks,
            ticks,
            bursts: 0,
            parent: abi::LAB_PARENT,
            cpu: abi::LAB_CPU,
            path: false,
            samples,
            footprint: record::Footprint::NONE,
            uses: 1,
        }
    }

    fn run_probe(
        &mut self,
        entry: &Entry,
        operation: &Operation,
        blocks: u64,
        samples: u64,
        ticks: u64,
    ) -> usize {
        let arguments = Self::request(entry, operation, blocks, samples, ticks).arguments();
        self.lines.push(Line::Run { file: entry.probe.name().into(), arguments });
        self.label(format!("{} {}", entry.name, operation.name))
    }

    fn add(&mut self, program: &Program) {
        let old = self.files.insert(program.name.clone(), program.bytes.clone());
        assert!(old.is_none_or(|old| old == program.bytes), "two programs named {}", program.name);
    }

    /// As Linux would run it.
    pub fn exec<A: AsRef<[u8]>>(&mut self, program: &Program, arguments: &[A]) -> usize {
        self.add(program);
        let arguments: Vec<Vec<u8>> = arguments.iter().map(|argument| argument.as_ref().to_vec()).collect();
        let words =
            arguments.iter().take(4).map(|word| String::from_utf8_lossy(word).chars().take(40).collect());
        let words = words.collect::<Vec<String>>().join(" ");
        self.lines.push(Line::Exec { file: program.name.clone().into(), arguments });
        self.label(format!("{} {words}", program.name))
    }

    /// As [`Script::exec`], under a name that says what is special.
    pub fn exec_as<A: AsRef<[u8]>>(&mut self, program: &Program, arguments: &[A], name: &str) -> usize {
        let number = self.exec(program, arguments);
        self.labels[number] = format!("{} ({name})", program.name);
        number
    }

    /// What every program of the boot can read from its standard input.
    pub fn input(&mut self, bytes: &[u8]) {
        self.files.insert(places::lab::INPUT.into(), bytes.into());
    }

    /// A file that the archive does not have.
    pub fn exec_missing(&mut self, name: &str) -> usize {
        self.lines.push(Line::Exec { file: name.into(), arguments: Vec::new() });
        self.label(format!("missing {name:?}"))
    }

    /// As a probe is run: exceptions serve as system calls.
    pub fn run(&mut self, program: &Program, arguments: &[&str]) -> usize {
        self.add(program);
        let words = arguments.iter().map(|word| word.to_string()).collect();
        self.lines.push(Line::Run { file: program.name.clone(), arguments: words });
        self.label(format!("{} {}, exceptions serve", program.name, arguments.join(" ")))
    }

    /// Runs together with the next program.
    pub fn beside(&mut self, program: &Program, arguments: &[&str]) {
        self.add(program);
        let arguments = arguments.iter().map(|word| word.to_string()).collect();
        self.lines.push(Line::Beside { file: program.name.clone(), arguments });
    }

    pub fn check(&mut self, name: &str) -> usize {
        self.lines.push(Line::Check(name.into()));
        self.label(format!("check {name}"))
    }

    /// The steps of a path, as it is built then.
    pub fn list(&mut self, path: &str) -> usize {
        self.lines.push(Line::Listing(path.into()));
        self.label(format!("listing {path}"))
    }

    /// Where paths begin in their slots is drawn from this.
    pub fn layout(&mut self, number: u64) {
        self.lines.push(Line::Layout(number));
    }

    /// The boot module, for a counter of this frequency; with 0, the kernel is told none.
    pub fn archive(&self, hertz: u64) -> Vec<u8> {
        let files: Vec<File> = self.files.iter().map(|(name, bytes)| File { name, bytes }).collect();
        places::lab::pack(&self.plan(hertz), &files).unwrap()
    }

    fn plan(&self, hertz: u64) -> Plan {
        let mut lines = vec![Line::Seed(self.seed), Line::Time(NOW)];
        lines.extend((hertz != 0).then_some(Line::Tsc(hertz)));
        lines.extend(self.lines.iter().cloned());
        Plan { lines }
    }

    /// How many programs and checks there are.
    pub fn numbered(&self) -> usize {
        self.labels.len()
    }

    /// What runs by this number, and in which configuration.
    pub fn label_of(&self, number: u64) -> &str {
        &self.labels[number as usize]
    }

    /// Everything that the guest says; none, having said why, where the emulator is not here.
    pub fn events(&self, emulator: Emulator) -> Option<Vec<Event>> {
        let boot =
            |archive: &[u8], programs, limits: &Limits| emulator.boot(self.mode, archive, programs, limits);
        self.events_in(&boot, emulator.hertz())
    }

    fn events_in(&self, boot: &Boots, hertz: u64) -> Option<Vec<Event>> {
        match boot(&self.archive(hertz), self.numbered(), &limits()) {
            Err(trouble) if trouble.is_missing() => {
                skipped(trouble);
                None
            }
            booted => Some(self.listen(&mut booted.unwrap())),
        }
    }

    /// Boots it to its end.
    pub fn boot(&self, emulator: Emulator) -> Option<Session> {
        Some(Session::new(self.events(emulator)?, &self.labels))
    }

    /// The same, without telling the kernel how fast the counter runs.
    pub fn boot_untold(&self, emulator: Emulator) -> Option<Session> {
        let boot =
            |archive: &[u8], programs, limits: &Limits| emulator.boot(self.mode, archive, programs, limits);
        self.boot_in(&boot, 0)
    }

    /// Listens to a guest that has said this already, to its end.
    pub fn follow(&self, said: Event, guest: &mut Guest) -> Session {
        let events = std::iter::once(said).chain(self.listen(guest)).collect();
        Session::new(events, &self.labels)
    }

    /// Hears a guest out, whose kernel must be configured as it is asked.
    fn listen(&self, guest: &mut Guest) -> Vec<Event> {
        let (events, trouble) = heard(&mut Agreed::new(guest, &self.plan(0)));
        if let Some(trouble) = trouble {
            panic!("{trouble}\n{}", last_words(&events, &self.labels));
        }
        events
    }

    /// Boots it in something else.
    pub fn boot_in(&self, boot: &Boots, hertz: u64) -> Option<Session> {
        Some(Session::new(self.events_in(boot, hertz)?, &self.labels))
    }

    /// Boots it where it may fail.
    pub fn try_in(&self, boot: &Boots, hertz: u64, limits: &Limits) -> Result<Session, String> {
        let mut guest =
            boot(&self.archive(hertz), self.numbered(), limits).map_err(|trouble| trouble.to_string())?;
        match heard(&mut Agreed::new(&mut guest, &self.plan(hertz))) {
            (events, None) => Ok(Session::new(events, &self.labels)),
            (events, Some(trouble)) => Err(format!("{trouble}\n{}", last_words(&events, &self.labels))),
        }
    }

    /// Hears a guest, which may fail, until the last program begins. That one has no end then.
    pub fn until_the_last(&self, guest: &mut Guest) -> Result<Session, String> {
        let last = Event::Begin(self.numbered() as u64 - 1);
        let (plan, mut events) = (self.plan(0), Vec::new());
        let mut agreed = Agreed::new(guest, &plan);
        while events.last() != Some(&last) {
            match agreed.next() {
                Ok(event) => events.push(event),
                Err(trouble) => return Err(format!("{trouble}\n{}", last_words(&events, &self.labels))),
            }
        }
        Ok(Session::new(events, &self.labels))
    }
}

/// What a guest says, and what ended it unless it came to its end.
fn heard(guest: &mut dyn Events) -> (Vec<Event>, Option<Trouble>) {
    let mut events = Vec::new();
    loop {
        match guest.next() {
            Ok(Event::Done) => return (events, None),
            Ok(event) => events.push(event),
            Err(trouble) => return (events, Some(trouble)),
        }
    }
}

/// What ran when a guest failed, and what its kernel said.
fn last_words(events: &[Event], labels: &[String]) -> String {
    let begun = events.iter().filter(|event| matches!(event, Event::Begin(_))).count();
    let running = begun.checked_sub(1).and_then(|last| labels.get(last));
    let lines = events.iter().filter_map(|event| match event {
        Event::Log(line) => Some(line.as_str()),
        _ => None,
    });
    format!("last begun: {running:?}; log: {:#?}", lines.collect::<Vec<_>>())
}

/// What became of one line of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub label: String,
    /// What the kernel says that the switches are.
    pub configured: Configured,
    pub end: End,
    /// Whether interrupts were on behind a gate, where that was observed.
    pub interrupts: Option<bool>,
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
    pub steps: Vec<Step>,
    pub log: Vec<String>,
    /// Interrupts that nobody asked for.
    pub strays: Strays,
}

/// One boot.
#[derive(Debug, Clone)]
pub struct Session {
    pub boot: Boot,
    /// What the kernel said before the first program.
    pub log: Vec<String>,
    pub ran: Vec<Ran>,
    /// Interrupts that nobody asked for, and that came while no program ran.
    pub strays: Strays,
}

impl Session {
    fn new(events: Vec<Event>, labels: &[String]) -> Session {
        let (mut boot, mut log, mut ran) = (None, Vec::new(), Vec::<Ran>::new());
        let mut configured = Configured::default();
        let mut outside = Strays::new();
        for event in events {
            match event {
                Event::Boot(found) => boot = Some(found),
                Event::Begin(number) => ran.push(Ran {
                    label: labels[number as usize].clone(),
                    configured: configured.clone(),
                    end: End::Unknown(u64::MAX),
                    interrupts: None,
                    output: Vec::new(),
                    errors: Vec::new(),
                    steps: Vec::new(),
                    log: Vec::new(),
                    strays: Strays::new(),
                }),
                Event::Output { descriptor, bytes, .. } => match descriptor {
                    2 => ran.last_mut().unwrap().errors.extend(bytes),
                    _ => ran.last_mut().unwrap().output.extend(bytes),
                },
                Event::End { end, interrupts, .. } => {
                    let last = ran.last_mut().unwrap();
                    (last.end, last.interrupts) = (end, interrupts);
                }
                Event::Step(step) => ran.last_mut().unwrap().steps.push(step),
                Event::Log(line) => ran.last_mut().map_or(&mut log, |ran| &mut ran.log).push(line),
                Event::Stray { number, vector, count } => {
                    let strays = number.map_or(&mut outside, |_| &mut ran.last_mut().unwrap().strays);
                    *strays.entry(vector).or_default() += count;
                }
                Event::Configured(values) => configured = values,
                Event::Counters { .. } | Event::Done => {}
            }
        }
        Session { boot: boot.unwrap(), log, ran, strays: outside }
    }
}

/// What a probe says of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Right, and every register as it must be.
    Ok,
    /// A verdict of the probe's own.
    Verdict(Verdict),
    /// The exception that ended it, as a signal.
    Signal(u64),
    /// Anything else.
    Odd(End),
}

impl Ran {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }

    /// Of a probe.
    pub fn answer(&self) -> Answer {
        if let End::Fault([signal, ..]) = self.end {
            return Answer::Signal(signal);
        }
        let verdict = record::parse(&self.output).ok().and_then(|records| {
            records.iter().find_map(|record| match record.payload {
                Payload::Outcome(verdict) => Some(verdict),
                _ => None,
            })
        });
        match (self.end, verdict) {
            (End::Exited(0), Some(Verdict { outcome: abi::OUTCOME_OK, .. })) => Answer::Ok,
            (End::Exited(0), Some(verdict)) => Answer::Verdict(verdict),
            (end, _) => Answer::Odd(end),
        }
    }

    /// Of a probe: ticks that the entry takes more than its control. The least, for a tick may fall into others.
    pub fn cost(&self) -> u64 {
        let records = record::parse(&self.output).unwrap();
        let samples = records.iter().filter_map(|record| match &record.payload {
            Payload::Samples(samples) => Some(samples),
            _ => None,
        });
        let cost = |sample: &Sample| sample.interval(2).checked_sub(sample.interval(1));
        samples.flatten().filter_map(cost).min().unwrap_or_else(|| panic!("{}: no samples", self.label))
    }
}
