//! The one table: `entries.toml`, parsed and checked.
//!
//! Everything that knows an entry by name or id gets it from here: the command at run time, the probe through
//! the header that [`header`] renders at build time.

#![deny(missing_docs)]

mod differs;
pub mod feature;
pub mod freestanding;
pub mod header;
mod known;
mod mistake;
mod nearest;
mod operation;
mod orders;
mod origin;
mod parameter;
pub mod paths;
mod profile;
mod requirement;
mod sets;
mod setting;
mod settings;
mod short;
pub mod source;
pub mod special;
mod switch;
mod vocabulary;

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

pub use differs::Differs;
pub use known::is_same_name;
pub use mistake::Mistake;
pub use nearest::nearest;
pub use operation::{Call, Loops, Operation};
pub use orders::{EVERYWHERE, Orders};
pub use origin::Origin;
pub use parameter::{Evidence, Filter, Parameter, ParameterValue};
pub use profile::Profile;
pub use requirement::SwitchValues;
pub use sets::Sets;
pub use setting::Setting;
pub use settings::{BadSet, DEFAULT, Settings};
pub use source::Load;
pub use switch::{Group, Requirement, Switch};

/// The text of `entries.toml` as it was when this crate was built.
pub const SOURCE: &str = include_str!("../../../entries.toml");

/// The same as JSON, by this crate's build script.
const JSON: &str = include_str!(concat!(env!("OUT_DIR"), "/entries.json"));

/// General registers in the order of the probe's register snapshots and of the `preserved` bit mask.
pub const REGISTERS: [&str; 16] = [
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15",
];

/// Bit 30 of a call number in `rax`: the call is an x32 one (arch/x86/include/uapi/asm/unistd.h).
pub const X32_BIT: u32 = 0x4000_0000;

/// What can be wrong with a table.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not TOML, or has unknown keys or wrong types.
    #[error("entries.toml: {0}")]
    Syntax(#[from] toml::de::Error),
    /// It contradicts itself.
    #[error("entries.toml: {0}")]
    Content(String),
}

/// Which of the embedded programs runs an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub enum Probe {
    /// The freestanding 64-bit program.
    Probe64,
    /// The freestanding 32-bit program.
    Probe32,
    /// The 64-bit program that is linked to the system's C library.
    Libc,
}

impl TryFrom<String> for Probe {
    type Error = String;

    fn try_from(name: String) -> Result<Probe, String> {
        let named = Probe::ALL.into_iter().find(|probe| probe.name() == name);
        named.ok_or_else(|| format!("{name:?} is no probe"))
    }
}

impl Probe {
    /// Every probe.
    pub const ALL: [Probe; 3] = [Probe::Probe64, Probe::Probe32, Probe::Libc];

    /// The file's name.
    pub fn name(self) -> &'static str {
        match self {
            Probe::Probe64 => "probe64",
            Probe::Probe32 => "probe32",
            Probe::Libc => "probe-libc",
        }
    }

    /// Bitness of the process.
    pub fn bits(self) -> u8 {
        if self == Probe::Probe32 { 32 } else { 64 }
    }

    /// The folder of `probe/` that holds the entry files for this bitness.
    pub fn folder(self) -> &'static str {
        if self == Probe::Probe32 { "i386" } else { "x86_64" }
    }
}

/// What the timed instruction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A call number in a register and an instruction that enters the kernel.
    Number,
    /// A call through a pointer to a function that the kernel or the C library provides.
    Function,
    /// An instruction that faults or traps.
    Exception,
    /// A call through a pointer to the probe's own reader of a mapped clock.
    Memory,
    /// An instruction that is no entry.
    Instruction,
}

/// The ABI whose call numbers an entry takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Abi {
    /// arch/x86/entry/syscalls/syscall_64.tbl
    #[serde(rename = "x86_64")]
    X86_64,
    /// arch/x86/entry/syscalls/syscall_32.tbl
    I386,
    /// syscall_64.tbl with bit 30 set
    X32,
}

/// Which kernel serves the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// Linux: the one that the command runs on, or a guest's.
    Linux,
    /// kentry's own kernel, in `lab/`, in long mode.
    Lab,
    /// The same in 32-bit protected mode.
    #[serde(rename = "lab-i386")]
    LabI386,
}

impl Kernel {
    /// Every kernel.
    pub const ALL: [Kernel; 3] = [Kernel::Linux, Kernel::Lab, Kernel::LabI386];

    /// Whether it is kentry's own, in either mode: then it has the lab's switches.
    pub fn is_lab(self) -> bool {
        self != Kernel::Linux
    }
}

/// Whose rows: a kernel's own, or those of another personality of the lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Linux's.
    Linux,
    /// The lab's, which are by calls of Linux.
    Lab,
    /// The lab's with the calls of GNU Mach.
    Mach,
    /// Those of the lab's kernel for protected mode, by calls of Linux.
    LabI386,
    /// That kernel's with the calls of GNU Mach.
    MachI386,
}

impl Whose {
    /// All of them.
    pub const ALL: [Whose; 5] = [Whose::Linux, Whose::Lab, Whose::Mach, Whose::LabI386, Whose::MachI386];

    /// The kernel that has them.
    pub fn kernel(self) -> Kernel {
        match self {
            Whose::Linux => Kernel::Linux,
            Whose::Lab | Whose::Mach => Kernel::Lab,
            Whose::LabI386 | Whose::MachI386 => Kernel::LabI386,
        }
    }

    /// Those with the calls of GNU Mach; none on a kernel that has no personalities.
    pub fn machs(kernel: Kernel) -> Option<Whose> {
        match kernel {
            Kernel::Linux => None,
            Kernel::Lab => Some(Whose::Mach),
            Kernel::LabI386 => Some(Whose::MachI386),
        }
    }

    /// Whether they are with the calls of GNU Mach.
    pub fn is_machs(self) -> bool {
        Whose::machs(self.kernel()) == Some(self)
    }
}

impl From<Kernel> for Whose {
    fn from(kernel: Kernel) -> Whose {
        match kernel {
            Kernel::Linux => Whose::Linux,
            Kernel::Lab => Whose::Lab,
            Kernel::LabI386 => Whose::LabI386,
        }
    }
}

/// The switch of the lab that says in which order the steps of a path stand.
pub const ORDER: &str = "order";

/// The switch of the lab that says whose calls there are besides those of Linux.
pub const PERSONALITY: &str = "personality";

/// Its value for GNU Mach's.
pub const MACH: &str = "mach";

/// What a cause means for one entry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    /// The outcome to report: `unsupported`, `refused` or `fault`.
    pub outcome: String,
    /// Why, in words.
    pub why: String,
    /// What is true instead where the kernel was booted with a parameter.
    #[serde(default)]
    pub given: Option<BootedWith>,
}

/// A parameter that rules out a part of a cause.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootedWith {
    /// As it stands on the command line: `syscall.x32=y`.
    pub parameter: String,
    /// Why, in words, where it was given.
    pub why: String,
}

/// One way into the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its id; it never changes.
    pub id: u16,
    /// As written on the command line, in file names and in headings.
    pub name: String,
    /// One line on what it is.
    pub title: String,
    /// Its heading in a report.
    pub group: String,
    /// Which program runs it.
    pub probe: Probe,
    /// What the timed instruction is.
    pub kind: Kind,
    /// The ABI whose call numbers it takes, for [`Kind::Number`].
    pub abi: Option<Abi>,
    /// Whether the row says that the processor enters the kernel through the IDT; see [`Entry::uses_idt`].
    #[serde(default)]
    pub idt: bool,
    /// The signal that Linux delivers for it, for [`Kind::Exception`].
    pub signal: Option<String>,
    /// What is loaded before the timed instruction, for entries whose file the build writes.
    pub load: Option<Load>,
    /// The timed instruction, as the GNU assembler reads it; `None` if the entry has a file of its own.
    pub enter: Option<String>,
    /// How many uses a sample of it holds where the kernel is not entered and time is measured.
    #[serde(default = "one")]
    pub uses: u64,
    /// Registers that it may change; all others are checked.
    pub clobbers: Vec<String>,
    /// Names of the operations that it can serve on Linux, and in the lab unless the row has a separate list for that; sets
    /// are resolved.
    #[serde(deserialize_with = "sets::names")]
    pub operations: Vec<String>,
    /// The kernels that have it. The lab's for protected mode has what its other one has for 32-bit programs.
    #[serde(default = "all_kernels")]
    pub kernels: Vec<Kernel>,
    /// The lab's file for it, without folder and extension; `None` if it needs no kernel code of its own.
    pub lab: Option<String>,
    /// Whether there is something of long mode in it, so that the lab's kernel for protected mode has it not.
    #[serde(default)]
    pub long_mode: bool,
    /// The lab's paths that it takes in rings between its own and the kernel's, from the outer one.
    #[serde(default)]
    pub through: Vec<String>,
    /// Values of lab switches that it requires.
    #[serde(default)]
    pub needs: BTreeMap<String, String>,
    /// The operations that it serves in the lab, if they differ from those on Linux; sets are resolved, and without those that have a
    /// personality.
    #[serde(default, deserialize_with = "sets::optional_names")]
    pub lab_operations: Option<Vec<String>>,
    /// The operations of GNU Mach that it serves in the lab: of those that its row lists, the ones with that personality.
    #[serde(skip)]
    pub mach_operations: Vec<String>,
    /// How an emulator differs from the processor that it emulates, by accelerator and vendor (`tcg GenuineIntel`).
    #[serde(default)]
    pub differs: BTreeMap<String, Differs>,
    /// Outcome and words by cause (`SIGILL`, `ENOSYS`, `no-symbol`, …).
    #[serde(default)]
    pub closed: BTreeMap<String, Closed>,
}

fn all_kernels() -> Vec<Kernel> {
    vec![Kernel::Linux, Kernel::Lab]
}

fn one() -> u64 {
    1
}

impl Entry {
    /// Names of the operations that it can serve on a kernel; empty if the kernel does not have the entry.
    pub fn operations_on(&self, kernel: Kernel) -> &[String] {
        match (kernel, &self.lab_operations) {
            _ if !self.kernels.contains(&kernel) => &[],
            (Kernel::Lab | Kernel::LabI386, Some(operations)) => operations,
            _ => &self.operations,
        }
    }

    /// Whether it always runs with one value of a switch of the lab's.
    pub fn fixes(&self, switch: &str) -> bool {
        self.needs.contains_key(switch)
    }

    /// The signal by which Linux answers what the lab serves as this operation; none where Linux serves it, too.
    pub fn signal_in_place_of(&self, operation: &str) -> Option<&str> {
        let of_linux = self.operations_on(Kernel::Linux);
        let is_served = of_linux.iter().any(|name| name == operation);
        let is_answered = !is_served && of_linux.iter().any(|name| name == special::SIGNAL);
        self.signal.as_deref().filter(|_| is_answered)
    }

    /// Names of the operations that it can serve by the calls of a personality, in the lab where that is not Linux's own.
    pub fn operations_of(&self, whose: Whose) -> &[String] {
        match whose {
            Whose::Linux | Whose::Lab | Whose::LabI386 => self.operations_on(whose.kernel()),
            Whose::Mach | Whose::MachI386 if self.kernels.contains(&whose.kernel()) => &self.mach_operations,
            Whose::Mach | Whose::MachI386 => &[],
        }
    }

    /// Names of all that it can serve on a kernel, by the calls of whichever personality.
    pub fn all_on(&self, kernel: Kernel) -> impl Iterator<Item = &String> {
        let of_mach = Whose::machs(kernel).map_or(&[][..], |whose| self.operations_of(whose));
        self.operations_on(kernel).iter().chain(of_mach)
    }

    /// The values of lab switches that it requires when it is asked for this, by their names.
    pub fn needs_for<'a>(&'a self, operation: &'a Operation) -> BTreeMap<&'a str, &'a str> {
        let own = self.needs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        own.chain(operation.personality.iter().map(|value| (PERSONALITY, value.as_str()))).collect()
    }

    /// Whether the probe has timed code for traps of GNU Mach through it.
    pub fn has_traps(&self) -> bool {
        matches!(self.kind, Kind::Number | Kind::Function) && !self.mach_operations.is_empty()
    }

    /// The name as part of an assembler symbol or of a file's symbol: `int80_i386`.
    pub fn symbol(&self) -> String {
        self.name.replace('-', "_")
    }

    /// Whether the processor enters the kernel through the IDT for it: by an interrupt or an exception.
    pub fn uses_idt(&self) -> bool {
        self.idt || self.kind == Kind::Exception
    }

    /// Whether a use of it leaves user space, as far as the row tells. A function may not, which only its probe finds out; `cpuid` does
    /// under a hypervisor.
    pub fn leaves_user_space(&self) -> bool {
        match self.kind {
            Kind::Number | Kind::Exception => true,
            Kind::Memory => false,
            Kind::Function => self.name != special::CALL.entry,
            Kind::Instruction => self.idt || self.name == special::CPUID,
        }
    }

    /// Bitness of the process that it is used from.
    pub fn bits(&self) -> u8 {
        self.probe.bits()
    }

    /// Path of its assembler file below the repository's root; `None` if the build writes the file
    /// ([`source::render`]).
    pub fn source_path(&self) -> Option<String> {
        self.enter.is_none().then(|| format!("probe/{}/{}.S", self.probe.folder(), self.name))
    }

    /// Bit mask over [`REGISTERS`] of those that must come back unchanged.
    pub fn preserved(&self) -> u32 {
        let all: u32 = if self.bits() == 32 { 0x00ff } else { 0xffff };
        let clobbered =
            REGISTERS.iter().enumerate().filter(|(_, name)| self.clobbers.iter().any(|c| c == *name));
        clobbered.fold(all, |mask, (bit, _)| mask & !(1 << bit))
    }

    /// The call numbers of `operation` at this entry, one for each of its calls; empty if the entry takes no numbers, or its ABI
    /// lacks one.
    pub fn numbers(&self, operation: &Operation) -> Vec<u32> {
        self.abi.map(|abi| operation.numbers_in(abi)).unwrap_or_default()
    }

    /// Whether it serves an operation on some kernel.
    fn serves(&self, operation: &Operation) -> bool {
        let listed = self.operations.iter().chain(self.lab_operations.iter().flatten());
        listed.chain(&self.mach_operations).any(|name| *name == operation.name)
    }
}

/// All entries and operations, in the order of the file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Operations.
    #[serde(rename = "operation")]
    pub operations: Vec<Operation>,
    /// Named sets of operations.
    #[serde(default)]
    pub sets: Sets,
    /// The lab's switches.
    #[serde(rename = "switch", default)]
    pub switches: Vec<Switch>,
    /// In which order Linux comes to what they bring, where that is not the order of a profile's steps.
    #[serde(default)]
    pub orders: Orders,
    /// What their settings stand for in Linux.
    #[serde(rename = "origin", default)]
    pub origins: Vec<Origin>,
    /// What kernels have of them.
    #[serde(rename = "profile", default)]
    pub profiles: Vec<Profile>,
    /// What a Linux guest can be booted with by name.
    #[serde(rename = "parameter", default)]
    pub parameters: Vec<Parameter>,
    /// Entries.
    #[serde(rename = "entry")]
    pub entries: Vec<Entry>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    // The build of the probes checks it and fails on an error. To check it again took most of the time of a start; to parse TOML took more
    // than to read JSON does (build.rs).
    let table: Table = serde_json::from_str(JSON).unwrap_or_else(|error| panic!("entries.toml: {error}"));
    table.resolved().unwrap_or_else(|error| panic!("{error}"))
});

impl Table {
    /// The table that this program was built with.
    pub fn get() -> &'static Table {
        &TABLE
    }

    /// Parses and checks a table.
    ///
    /// # Errors
    /// [`Error::Syntax`] with line and column, or [`Error::Content`] naming the row that contradicts another.
    pub fn parse(text: &str) -> Result<Table, Error> {
        let table = toml::from_str::<Table>(text)?.resolved()?;
        table.check().map_err(Error::Content)?;
        Ok(table)
    }

    fn resolved(mut self) -> Result<Table, Error> {
        self.resolve_sets().map_err(Error::Content)?;
        Ok(self)
    }

    /// The entry of that name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The operation of that name.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.name == name)
    }

    /// The operations that are a batch of io_uring, and of how many NOPs, in the table's order.
    pub fn batches(&self) -> impl Iterator<Item = (&Operation, u32)> {
        self.operations.iter().filter_map(|operation| Some((operation, operation.nops?)))
    }

    /// The lab's switch of that name.
    pub fn switch(&self, name: &str) -> Option<&Switch> {
        self.switches.iter().find(|switch| switch.name == name)
    }

    /// Every pair of entry and operation that a kernel has, in the table's order. Those of a personality are not among them, unless they
    /// are what is asked for.
    pub fn rows(&self, whose: impl Into<Whose>) -> impl Iterator<Item = (&Entry, &Operation)> {
        let whose = whose.into();
        self.entries.iter().flat_map(move |entry| {
            let operations = entry.operations_of(whose).iter();
            operations.filter_map(move |name| Some((entry, self.operation(name)?)))
        })
    }

    /// The lengths of operations that make more than one call, each once, the least first: the probe has timed code for each.
    pub fn sequence_lengths(&self) -> BTreeSet<usize> {
        self.operations.iter().map(Operation::length).filter(|length| *length > 1).collect()
    }

    /// Whether an entry serves an operation that makes more than one call.
    pub fn has_sequences(&self, entry: &Entry) -> bool {
        self.operations.iter().any(|operation| operation.length() > 1 && entry.serves(operation))
    }

    fn resolve_sets(&mut self) -> Result<(), String> {
        let operations = &self.operations;
        sets::check(&self.sets, |name| operations.iter().any(|operation| operation.name == name))?;
        for entry in &mut self.entries {
            for names in [Some(&mut entry.operations), entry.lab_operations.as_mut()].into_iter().flatten() {
                *names = sets::resolve(&self.sets, names)
                    .map_err(|what| format!("entry {}: {what}", entry.name))?;
            }
            let is_machs = |name: &String| operations.iter().any(|one| one.name == *name && one.is_machs());
            let listed = match &mut entry.lab_operations {
                Some(listed) => listed,
                None if entry.kernels == [Kernel::Lab] => &mut entry.operations,
                None => continue,
            };
            let (of_mach, of_linux) = std::mem::take(listed).into_iter().partition(is_machs);
            (entry.mach_operations, *listed) = (of_mach, of_linux);
        }
        // What the lab has for 32-bit programs, it has in protected mode, too.
        for entry in &mut self.entries {
            let is_narrow =
                entry.kernels.contains(&Kernel::Lab) && entry.probe == Probe::Probe32 && !entry.long_mode;
            if is_narrow && entry.all_on(Kernel::Lab).next().is_some() {
                entry.kernels.push(Kernel::LabI386);
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        unique("operation", self.operations.iter().map(|o| (o.id, o.name.as_str())))?;
        self.operations.iter().try_for_each(|operation| {
            operation.check().map_err(|what| format!("operation {}: {what}", operation.name))
        })?;
        self.operations.iter().try_for_each(|operation| match &operation.personality {
            Some(value) if value != MACH || !self.has_value(PERSONALITY, value) => {
                Err(format!("operation {}: {value} is no personality that operations have", operation.name))
            }
            _ => Ok(()),
        })?;
        unique("switch", self.switches.iter().map(|s| (s.id, s.name.as_str())))?;
        self.switches.iter().try_for_each(|switch| {
            switch.check(self).map_err(|what| format!("switch {}: {what}", switch.name))
        })?;
        self.check_profiles()?;
        self.check_parameters()?;
        unique("entry", self.entries.iter().map(|e| (e.id, e.name.as_str())))?;
        self.entries.iter().try_for_each(|entry| {
            self.check_entry(entry).map_err(|what| format!("entry {}: {what}", entry.name))
        })?;
        self.check_known()
    }

    fn check_entry(&self, entry: &Entry) -> Result<(), String> {
        let serves_nothing = |kernel: &Kernel| entry.all_on(*kernel).next().is_none();
        if entry.kernels.iter().any(serves_nothing) || entry.kernels.is_empty() {
            return Err("serves no operation".into());
        }
        if let Some((name, value)) = entry.needs.iter().find(|(name, value)| !self.has_value(name, value)) {
            return Err(format!("needs {name}={value}, which is no switch and value"));
        }
        if let Some(unknown) = entry.clobbers.iter().find(|c| !REGISTERS.contains(&c.as_str())) {
            return Err(format!("clobbers {unknown}, which is no register"));
        }
        if !match entry.kind {
            Kind::Number => entry.abi.is_some(),
            Kind::Exception => true,
            _ => entry.abi.is_none(),
        } {
            return Err("kind \"number\" and a key \"abi\" go together".into());
        }
        if entry.idt && entry.kind == Kind::Exception {
            return Err(
                "key \"idt\" says nothing of kind \"exception\", which always goes through the IDT".into()
            );
        }
        source::check(entry)?;
        if (entry.kind == Kind::Exception) != entry.signal.is_some() {
            return Err("kind \"exception\" and a key \"signal\" go together".into());
        }
        if let Some((cause, closed)) = entry
            .closed
            .iter()
            .find(|(_, closed)| !["unsupported", "refused", "fault"].contains(&closed.outcome.as_str()))
        {
            return Err(format!("closed.{cause}: \"{}\" is not an outcome", closed.outcome));
        }
        let listed = entry.operations.iter().chain(entry.lab_operations.iter().flatten());
        for name in listed.clone().chain(&entry.mach_operations) {
            let operation =
                self.operation(name).ok_or(format!("{name} is neither an operation nor a set"))?;
            if operation.is_machs() && listed.clone().any(|listed| listed == name) {
                return Err(format!("operation {name} has a personality, which is the lab's alone"));
            }
            if operation.trap.is_some() && !matches!(entry.kind, Kind::Number | Kind::Function) {
                return Err(format!("operation {name} is a trap, which takes a number or a stub of its own"));
            }
            if operation.is_by_function() && entry.bits() == 32 {
                return Err(format!(
                    "operation {name} is a function of the probe, which only 64-bit probes have"
                ));
            }
            if entry.kind == Kind::Number
                && !operation.is_by_function()
                && entry.numbers(operation).is_empty()
            {
                return Err(format!("operation {name} has no call number in its ABI"));
            }
        }
        Ok(())
    }

    fn has_value(&self, switch: &str, value: &str) -> bool {
        self.switch(switch).is_some_and(|switch| switch.value(value).is_some())
    }
}

fn unique<'a>(what: &str, rows: impl Iterator<Item = (u16, &'a str)>) -> Result<(), String> {
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (id, name) in rows {
        if id == 0 || !ids.insert(id) {
            return Err(format!("{what} {name}: id {id} is 0 or taken"));
        }
        // A value may be a version.
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        if name.is_empty() || !name.chars().all(plain) || !names.insert(name) {
            return Err(format!("{what} {name}: the name is taken, empty, or not of a-z 0-9 - _ ."));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_parses_and_every_row_resolves() {
        let table = Table::get();
        for kernel in Kernel::ALL {
            let declared: usize = table.entries.iter().map(|entry| entry.operations_on(kernel).len()).sum();
            assert_eq!(table.rows(kernel).count(), declared);
        }
    }

    #[test]
    fn an_exception_is_a_signal_on_linux_and_a_call_in_the_lab() {
        let table = Table::get();
        let ud = table.entry("ud").unwrap();
        assert_eq!(ud.operations_on(Kernel::Linux), ["signal"]);
        assert!(ud.operations_on(Kernel::Lab).contains(&"getppid".to_string()));
        assert_eq!(["getppid", "signal"].map(|name| ud.signal_in_place_of(name)), [Some("SIGILL"), None]);
        assert_eq!(table.entry("page-fault").unwrap().signal_in_place_of("minor-fault"), None);
        let of = |name: &str| table.entry(name).unwrap().signal_in_place_of("getppid");
        assert_eq!(["syscall-x86_64", "trapgate-i386"].map(of), [None; 2]);
        assert!(table.entry("libc").unwrap().operations_on(Kernel::Lab).is_empty());
        assert!(table.entry("trapgate-i386").unwrap().operations_on(Kernel::Linux).is_empty());
    }

    #[test]
    fn entries_that_share_the_labs_code_or_an_instruction_go_through_the_idt_alike() {
        let mut known = BTreeMap::<&str, &Entry>::new();
        for entry in &Table::get().entries {
            let instruction = entry.enter.as_deref().filter(|_| entry.kind != Kind::Function);
            // A task gate is one in the IDT and in the GDT alike.
            let file = entry.lab.as_deref().filter(|file| *file != "task-gate");
            for shared in [file, instruction].into_iter().flatten() {
                let other = known.entry(shared).or_insert(entry);
                assert_eq!(other.uses_idt(), entry.uses_idt(), "{} and {}", other.name, entry.name);
            }
            // What an interrupt is, whoever adds it.
            let is_interrupt = instruction.is_some_and(|enter| enter.starts_with("int"));
            assert!(entry.uses_idt() || !is_interrupt, "{} needs idt = true", entry.name);
        }
        let uses = |name: &str| Table::get().entry(name).unwrap().uses_idt();
        assert!(uses("page-fault") && uses("vsyscall") && !uses("syscall-x86_64") && !uses("call-gate-i386"));
        let twice = SOURCE.replacen("signal = \"SIGILL\"", "idt = true\nsignal = \"SIGILL\"", 1);
        let refused = Table::parse(&twice).unwrap_err().to_string();
        assert!(refused.starts_with("entries.toml: entry ud: key \"idt\" says nothing"), "{refused}");
    }

    #[test]
    fn the_table_that_is_built_in_is_that_of_the_file() {
        assert_eq!(format!("{:?}", Table::get()), format!("{:?}", Table::parse(SOURCE).unwrap()));
    }

    #[test]
    fn int80_takes_i386_numbers_in_64_bit_code_too() {
        let table = Table::get();
        let operation = table.operation("gettimeofday").unwrap();
        assert_eq!(table.entry("int80-x86_64").unwrap().numbers(operation), [78]);
        assert_eq!(table.entry("syscall-x86_64").unwrap().numbers(operation), [96]);
        assert_eq!(table.entry("syscall-x32").unwrap().numbers(operation), [96 | X32_BIT]);
    }

    #[test]
    fn preserved_registers_are_all_but_the_clobbered() {
        let entry = Table::get().entry("syscall-x86_64").unwrap();
        assert_eq!(entry.preserved(), 0xffff & !(1 << 0) & !(1 << 2) & !(1 << 11));
        assert_eq!(Table::get().entry("int80-i386").unwrap().preserved(), 0xfe);
    }

    /// Every id that a version has had, with its name; a switch's values have their places as ids. Lines are only added, and
    /// stay when a row is removed: documents that have the id outlive it.
    const IDS: &str = include_str!("../tests/ids.txt");

    #[test]
    fn an_id_is_for_ever_and_so_is_its_name() {
        let table = Table::get();
        let line = |what: &str, id: u16, name: &str| (what.to_string(), id, name.to_string());
        let entries = table.entries.iter().map(|row| line("entry", row.id, &row.name));
        let operations = table.operations.iter().map(|row| line("operation", row.id, &row.name));
        let switches = table.switches.iter().map(|row| line("switch", row.id, &row.name));
        let values = table.switches.iter().flat_map(|switch| {
            let what = format!("switch:{}", switch.name);
            let place = |value: &String| switch.value(value).and_then(|place| u16::try_from(place).ok());
            // A value keeps its old names as aliases.
            let names = switch.values.iter().chain(switch.aliases.keys());
            names.filter_map(move |name| Some(line(&what, place(name)?, name))).collect::<Vec<_>>()
        });
        let now: Vec<_> = entries.chain(operations).chain(switches).chain(values).collect();
        let read = |text: &str| {
            let [what, id, name] = text.split(' ').collect::<Vec<_>>().try_into().unwrap();
            line(what, id.parse().unwrap(), name)
        };
        let ever: Vec<_> = IDS.lines().map(read).collect();
        for row in &now {
            let (what, id, name) = row;
            assert!(ever.contains(row), "append to crates/table/tests/ids.txt: {what} {id} {name}");
        }
        for row in ever.iter().filter(|row| !now.contains(row)) {
            let (what, id, name) = row;
            let taken = now.iter().find(|row| row.0 == *what && (row.1 == *id || row.2 == *name));
            assert_eq!(taken, None, "{what} {id} was {name} in documents of earlier versions");
        }
    }

    fn refused(change: impl Fn(&str) -> String) -> String {
        Table::parse(&change(SOURCE)).unwrap_err().to_string()
    }

    #[test]
    fn contradictions_are_named() {
        let switch = refused(|s| s.replacen("gate = \"trap\"", "gate = \"door\"", 1));
        assert_eq!(
            switch,
            "entries.toml: entry trapgate-x86_64: needs gate=door, which is no switch and value"
        );
        let default = refused(|s| s.replacen("default = \"on\"", "default = \"maybe\"", 1));
        assert_eq!(default, "entries.toml: switch smap: the default maybe is none of its values");
        for (from, to, why) in [
            ("range = [0, 1000]", "range = [1000, 0]", "switch cr3-writes: its range is empty"),
            (
                "range = [0, 1000]",
                "range = [1, 1000]",
                "switch cr3-writes: the default 0 is none of its values",
            ),
            ("range = [0, 1000]", "", "switch cr3-writes: it has either values or a range"),
            ("feature = \"pcid\"", "feature = \"PCID\"", "switch pcid: PCID is not the name of a feature"),
            (
                "stack = [\"frame\"]",
                "stack = [\"maybe\"]",
                "switch clear-registers: requires stack=maybe, which is no switch and value",
            ),
            (
                "stack = [\"frame\"]",
                "stack = []",
                "switch clear-registers: requires stack to have none of its values",
            ),
            ("stack = [\"frame\"]", "clear-registers = [\"on\"]", "switch clear-registers: requires itself"),
            (
                "feature = \"smap\" ",
                "feature = \"smap\", values = [\"of\"] ",
                "switch smap: requires something for of, which is none of its values",
            ),
        ] {
            assert_eq!(refused(|s| s.replacen(from, to, 1)), format!("entries.toml: {why}"));
        }
        let taken =
            refused(|s| s.replacen("id = 36\nname = \"div0-i386\"", "id = 35\nname = \"div0-i386\"", 1));
        assert_eq!(taken, "entries.toml: entry div0-i386: id 35 is 0 or taken");
        let unknown = refused(|s| s.replacen("\"minor-fault\"]", "\"major-fault\"]", 1));
        assert_eq!(unknown, "entries.toml: entry page-fault: major-fault is neither an operation nor a set");
        let register = refused(|s| s.replacen("\"r11\"]", "\"r16\"]", 1));
        assert_eq!(register, "entries.toml: entry syscall-x86_64: clobbers r16, which is no register");
        assert!(refused(|s| s.replacen("kind = \"number\"", "kind = \"numbr\"", 1)).contains("numbr"));
    }
}
