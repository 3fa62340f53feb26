//! The command line of `kentry bill`.

use crate::anatomy::args::{of_release, of_versions};
use crate::counted::BILL_SECONDS;
use crate::error::Error;
use crate::exit::{LAB_STATUS, exit_status};
use crate::options::guest::GuestArgs;
use crate::options::output::{OutputArgs, formats};
use crate::options::save::SaveArgs;
use crate::profiles;
use attribution::bill::Question;
use clap::{Arg, Args, ValueHint};
use environment::Environment;
use measure::TableRow;
use measure::select::rows;
use report::Kind;
use std::fmt::Write;
use std::path::PathBuf;
use table::special::GETPPID;
use table::{BadSet, Kernel, Mistake, ORDER, Profile, Table, Whose};

/// The profile of a user who names none.
const PROFILE: &str = findings::LIKE_HERE;

/// More orders than anybody has time for.
const MOST_ORDERS: i64 = 1000;

/// What to bill, on what, and how to show it.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", formats(Kind::BILL)))]
pub struct BillArgs {
    /// The entry whose path is billed, by its name or short name
    #[arg(short, long, value_name = "NAME", default_value = GETPPID.entry, value_hint = ValueHint::Other)]
    pub entry: String,
    /// The operation that it is asked for [default: getppid; of an entry that has none its first]
    #[arg(short, long, value_name = "NAME", value_hint = ValueHint::Other)]
    pub operation: Option<String>,
    /// The profile whose steps are billed, in its order; they are listed below
    #[arg(short, long, value_name = "NAME", default_value = PROFILE, value_hint = ValueHint::Other)]
    pub profile: String,
    /// Add steps to the profile, or take them instead of those that the profile has of their switches; a later --set of the same switch
    /// raises it step by step: --set cr3-writes=1 --set cr3-writes=2
    #[arg(short, long, value_name = "SWITCH=VALUE,...", value_hint = ValueHint::Other)]
    pub set: Vec<String>,
    /// Leave a step of the profile out: pti=on, or pti for all steps of that switch; may be given several times
    #[arg(long, value_name = "STEP", value_hint = ValueHint::Other, hide_short_help = true)]
    pub without: Vec<String>,
    /// Also measure the steps in so many random orders, and show the mean of what each adds (an estimate of its Shapley value)
    #[arg(long, value_name = "NUMBER", default_value = "0", value_parser = clap::value_parser!(u64).range(..=MOST_ORDERS as u64), allow_negative_numbers = true, hide_short_help = true)]
    pub orders: u64,
    /// Explain what this run of a Linux says of the same entry and operation: its name, id, latest, or a file that was saved with
    /// --output FILE.json; - is standard input
    #[arg(long, value_name = "RUN", value_hint = ValueHint::FilePath)]
    pub run: Option<PathBuf>,
    /// Measure the same entry and operation on this Linux first, and explain that
    #[arg(long, conflicts_with_all = ["run", "dry_run"])]
    pub here: bool,
    /// Boot this Linux (a file, a package or folder that contains one, or auto) in QEMU's emulation, follow the entry through it, and assign
    /// each instruction to a step of the profile or, in C code, to a part of the anatomy; a second boot tells what is saved without the
    /// protections that parameters switch off. The profile is that of the kernel's version, unless --profile names another
    #[arg(long, value_name = "KERNEL", value_hint = ValueHint::FilePath, conflicts_with_all = ["run", "here", "orders", "ring_3", "listing", "dry_run", "bochs"])]
    pub follow: Option<String>,
    /// Also time the bytes of the path in ring 3 of this Linux, with each step on and off, and without what ring 3 cannot execute, which is
    /// listed; of syscall-x86_64 and getppid
    #[arg(long = "ring-3", conflicts_with_all = ["listing", "dry_run"])]
    pub ring_3: bool,
    /// What runs the kernel
    #[command(flatten)]
    pub guest: GuestArgs,
    /// Print the path with all steps of the profile instead, as the kernel has built it, beside what Linux has for each step and the
    /// order in which Linux comes to them
    #[arg(long, conflicts_with_all = ["here", "orders", "dry_run", "format", "verbose", "no_save", "name", "tag"])]
    pub listing: bool,
    /// Follow the entry through this Linux (a file, a package or folder that contains one, or auto), and print the assembler's part of its
    /// path beside that of the lab, instruction by instruction, and what differs; the profile is that of the kernel's version, unless
    /// --profile names another. With --bochs the lab's path is built in Bochs; the Linux is followed in QEMU
    #[arg(long, value_name = "KERNEL", value_hint = ValueHint::FilePath, conflicts_with_all = ["run", "here", "follow", "orders", "ring_3", "listing", "dry_run", "verbose", "no_save", "name", "tag"])]
    pub beside_linux: Option<String>,
    /// Print what would be measured on a processor that has everything, and measure nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Whether to keep the run of the lab
    #[command(flatten)]
    pub save: SaveArgs,
    /// What the bill is written as, and where
    #[command(flatten)]
    pub to: OutputArgs,
    /// Show every configuration that was measured as well
    #[arg(short, long)]
    pub verbose: bool,
}

impl BillArgs {
    /// What is asked; `linux` tells the facts of the Linux that `like-here` is like, if that is asked for.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is no such entry, operation, profile or step, or settings contradict each other; and those of `linux`.
    pub fn question(
        &self,
        table: &Table,
        linux: &dyn Fn() -> Result<Environment, Error>,
    ) -> Result<Question, Error> {
        self.question_of(table, self.profile(table, linux)?)
    }

    /// The same of this profile.
    ///
    /// # Errors
    /// As of [`BillArgs::question`].
    pub fn question_of(&self, table: &Table, profile: Profile) -> Result<Question, Error> {
        let (entry, operation) = self.row(table)?;
        let sets = self.set.iter().map(|text| table.set(Kernel::Lab, text).map_err(of_bill));
        let sets = sets.collect::<Result<Vec<_>, _>>()?;
        let profile = profile.with(table, &sets)?.without(table, &self.without)?;
        let question = Question {
            entry: entry.name.clone(),
            operation: operation.name.clone(),
            profile,
            orders: usize::try_from(self.orders).unwrap_or(usize::MAX),
            seed: self.guest.seed.unwrap_or(0),
        };
        attribution::bill::Plan::check(table, &question)?;
        Ok(question)
    }

    /// The one row that the command line means.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is none, or several.
    pub fn row<'a>(&self, table: &'a Table) -> Result<TableRow<'a>, Error> {
        if let Some(operation) = self.operation_in_place_of_an_entry(table) {
            let why = format!("--entry {}: this is an operation; write --operation {operation}", self.entry);
            return Err(Error::Usage(why));
        }
        let operation = self.operation_of(table);
        // Without its name, no operation of another personality is meant.
        let whose = table.operation(operation).map_or(Whose::Lab, |known| known.whose(Kernel::Lab));
        let found = rows(table, whose, std::slice::from_ref(&self.entry), &[operation.to_owned()])?;
        match found.as_slice() {
            [row] => Ok(*row),
            several => {
                let each =
                    several.iter().map(|(entry, operation)| format!("{} {}", entry.name, operation.name));
                let each = each.collect::<Vec<_>>().join(", ");
                let (entry, operation) =
                    several.first().map(|(entry, operation)| (&entry.name, &operation.name)).unzip();
                Err(Error::Usage(format!(
                    "a bill is of one entry and operation, and these are several: {each}; write --entry {} --operation {}",
                    entry.map_or("", String::as_str),
                    operation.map_or("", String::as_str)
                )))
            }
        }
    }

    /// The operation that is named; where none is, that of most entries, or the first of an entry that has not that.
    fn operation_of<'a>(&'a self, table: &'a Table) -> &'a str {
        let usual = GETPPID.operation;
        let entry = table.entry_of(&self.entry, Kernel::Lab);
        let served = entry.map(|entry| entry.operations_on(Kernel::Lab)).unwrap_or_default();
        let first = served.first().filter(|_| !served.iter().any(|name| name == usual));
        self.operation.as_deref().or(first.map(String::as_str)).unwrap_or(usual)
    }

    /// What to ask the usual entry for, where its operation is named in its place; of a C function with several, the first.
    fn operation_in_place_of_an_entry<'a>(&self, table: &'a Table) -> Option<&'a str> {
        let usual =
            table.entry(GETPPID.entry).filter(|_| table.entry_of(&self.entry, Kernel::Lab).is_none())?;
        let served = usual.operations_on(Kernel::Lab);
        let named = table.operations_of(&self.entry);
        named
            .into_iter()
            .map(|operation| operation.name.as_str())
            .find(|name| served.iter().any(|one| one == name))
    }

    /// The profile of a kernel of this release, unless the command line names another.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is none.
    pub fn profile_of(&self, table: &Table, release: &str) -> Result<Profile, Error> {
        if self.profile != findings::LIKE_HERE {
            return self.profile(table, &|| Err(Error::Usage(format!("--profile {}", self.profile))));
        }
        let none = || {
            let release = report::plain(release);
            Error::Usage(format!("no profile is of Linux {release} or an older one; name one (--profile)"))
        };
        let mut profile = of_release(table, release).cloned().ok_or_else(none)?;
        // Between the versions that profiles are of, the order has changed.
        let version = environment::version(release);
        let is_reached =
            |since: &str| environment::version(since).is_some_and(|since| version >= Some(since));
        if let Some(order) = table.order_reached(&is_reached) {
            profile.steps.iter_mut().filter(|step| step.name == ORDER).for_each(|step| *step = order.clone());
        }
        Ok(profile)
    }

    /// What is wrong with the question of every release, which is known before one is followed.
    ///
    /// # Errors
    /// [`Error::Usage`] of the newest.
    pub fn check_of_releases(&self, table: &Table) -> Result<(), Error> {
        let releases = of_versions(table).map(|(_, profile)| profile.name.trim_start_matches("linux-"));
        let question = |release| self.question_of(table, self.profile_of(table, release)?);
        let mut questions: Vec<_> = releases.map(question).collect();
        match questions.iter().all(Result::is_err) {
            true => questions.pop().transpose().map(drop),
            false => Ok(()),
        }
    }

    fn profile(
        &self,
        table: &Table,
        linux: &dyn Fn() -> Result<Environment, Error>,
    ) -> Result<Profile, Error> {
        if self.profile == findings::LIKE_HERE {
            return Ok(findings::like_here(&linux()?).profile());
        }
        let unknown = || Table::unknown_profile(&self.profile, profiles::all(table).map(|(name, _)| name));
        Ok(table.profile(&self.profile).cloned().ok_or_else(unknown)?)
    }
}

/// A bill's `--set` adds steps, so two values of a switch are two steps, one behind the other, and no two configurations.
fn of_bill(bad: BadSet) -> Error {
    match *bad.mistake {
        Mistake::TwoValues { settings: [first, second], .. } => Error::Usage(format!(
            "--set {}: a --set has one value of {}; `kentry bill --set {first} --set {second}` adds both, one behind the other",
            bad.text, first.name
        )),
        _ => bad.into(),
    }
}

/// The profiles, and the exit codes.
pub(crate) fn bill_help() -> String {
    let mut text = String::from("Profiles (--profile):\n");
    for (name, what) in profiles::all(Table::get()) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {name:<18}{what}");
    }
    format!("{text}\n`kentry lab --help` lists the switches.\n\n{}", exit_status(LAB_STATUS))
}

/// A bill has its own time.
pub(crate) fn bill_timeout(argument: Arg) -> Arg {
    let [seconds, in_bochs] = BILL_SECONDS;
    argument.help(format!("How long the guest may take [default: {seconds}; with --bochs {in_bochs}]"))
}
