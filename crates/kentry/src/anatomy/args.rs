//! The command line of `kentry anatomy`.

use crate::anatomy::each::Each;
use crate::anatomy::gate::Gate;
use crate::error::Error;
use crate::exit::codes;
use crate::linux::args::{LINUX_SECONDS, parameters_help};
use crate::options::output::{OutputArgs, formats};
use crate::options::values::{budget, cpu_model, is_kernel, seed};
use crate::profiles;
use attribution::anatomy::{LeftOut, Part};
use clap::{Args, ValueHint};
use measure::guest::{GuestPlan, Options};
use measure::select::rows;
use places::emulator::Accelerator;
use record::trace::Event;
use report::Kind;
use std::fmt::Write;
use std::str::FromStr;
use std::time::Duration;
use table::special::GETPPID;
use table::{BadSet, Entry, Kernel, Mistake, Probe, Profile, Setting, Table};

/// The operations that an entry is asked for where nobody names one, of those that it has.
const USUAL: [&str; 2] = [GETPPID.operation, "minor-fault"];

/// The operation whose process executes another program.
const EXECUTES_ANOTHER: &str = "unixbench-exec";

/// Which profile stands beside the path where nobody names one; and the word for no profile.
const AUTO: &str = "auto";
const NONE: &str = "none";

/// Exit codes of `anatomy`, which shows paths whole or not at all.
const ANATOMY_STATUS: &[(&str, &str)] = &[
    ("0", "done"),
    ("1", "a path is longer than --fail-above allows; or the result could not be written"),
    ("2", "wrong usage"),
    ("3", "the environment does not allow following"),
    (
        "4",
        "a guest failed, its path could not be followed, or a file of --history holds no kernel; nothing is shown, but of --history and \
         --each what could be followed",
    ),
    ("130", "interrupted (SIGINT, SIGTERM, SIGHUP, SIGQUIT); nothing is shown"),
];

/// What to follow, in which Linux, and how to show it.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", formats(Kind::ANATOMY)))]
pub struct AnatomyArgs {
    /// The entry whose path to follow, by its name or short name; or timer-interrupt or execve
    #[arg(value_name = "ENTRY", value_hint = ValueHint::Other)]
    pub entry: String,
    /// The operation to perform through it [default: getppid, or minor-fault; otherwise the entry's first]
    #[arg(short, long, value_name = "NAME", value_hint = ValueHint::Other)]
    pub operation: Option<String>,
    /// Boot this kernel: a file (vmlinuz, vmlinux), a package or folder that contains one, or auto, which is this machine's own if it is
    /// readable, otherwise the newest installed one
    #[arg(long, value_name = "FILE|auto", default_value = linux::AUTO, value_hint = ValueHint::FilePath)]
    pub kernel: String,
    /// Pass these parameters to the kernel unchanged; those that kentry knows by name are verified in the guest, as with --set
    #[arg(long, value_name = "PARAMETERS", value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub append: Option<String>,
    /// Boot with these parameters, which kentry knows by name and verifies in the guest
    #[arg(short, long, value_name = "NAME=VALUE,...", value_hint = ValueHint::Other)]
    pub set: Option<String>,
    /// Boot on this 64-bit processor, by QEMU's name (qemu-system-x86_64 -cpu help lists them) [default: max,vendor=GenuineIntel]
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other, value_parser = cpu_model)]
    pub cpu_model: Option<String>,
    /// Follow a second boot with these parameters instead of those of --append, verified alike, and show instruction by instruction what
    /// it executes more and less
    #[arg(long, value_name = "PARAMETERS", value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub against: Option<String>,
    /// Follow a second boot with this kernel instead of --kernel, and show what it executes more and less; may be combined with
    /// --against
    #[arg(long, value_name = "FILE|auto", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub against_kernel: Option<String>,
    /// Follow a second boot on this processor instead of --cpu-model, and show what it executes more and less
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other, value_parser = cpu_model, hide_short_help = true)]
    pub against_cpu_model: Option<String>,
    /// Follow the path in each of these kernels, and show from version to version what came and what went; the lab stands beside none
    #[arg(long, value_name = "KERNEL", num_args = 1.., conflicts_with_all = ["kernel", "against", "against_kernel", "against_cpu_model"], value_hint = ValueHint::FilePath)]
    pub history: Vec<String>,
    /// Follow the path without the features that add to calls (a random stack offset, seccomp, audit, tracing), once with each, and once with
    /// all, and show what each adds; where KVM runs the guests' ring 0 on the processor, also in cycles
    #[arg(long, conflicts_with_all = ["history", "against", "against_kernel", "against_cpu_model"])]
    pub each: bool,
    /// End with status 1 if a path has more instructions than this, or more of a part: 340, work=60
    #[arg(long, value_name = "COUNT|PART=COUNT,...", value_parser = Gate::from_str, value_hint = ValueHint::Other, hide_short_help = true)]
    pub fail_above: Option<Gate>,
    /// Show this profile of the lab beside the path, part by part: a name, none, or auto, which is the newest profile that is not newer
    /// than the kernel
    #[arg(long, value_name = "PROFILE", default_value = AUTO, value_hint = ValueHint::Other, hide_short_help = true)]
    pub beside: String,
    /// How long one boot may take [default: 120]
    #[arg(long, value_name = "SECONDS", value_parser = budget, allow_negative_numbers = true, hide_short_help = true)]
    pub timeout: Option<Duration>,
    /// Draw all of the guest's random numbers from this number (at most 2^53) [default: 0]
    #[arg(long, value_name = "NUMBER", value_parser = seed, allow_negative_numbers = true, hide_short_help = true)]
    pub seed: Option<u64>,
    /// The guest's memory
    #[arg(long, value_name = "MIB", default_value_t = places::guest::MEMORY_MIB, value_parser = clap::value_parser!(u64).range(64..=1 << 20), allow_negative_numbers = true, hide_short_help = true)]
    pub memory: u64,
    /// Print the plan, and boot nothing
    #[arg(long)]
    pub dry_run: bool,
    /// What the anatomy is written as, and where
    #[command(flatten)]
    pub to: OutputArgs,
    /// Show addresses and bytes in a listing; and of a history, or more than two paths, every instruction that differs
    #[arg(short, long)]
    pub verbose: bool,
    /// What `against` is, once the kernel's release is known: how `kentry bill --follow` asks for a second boot; none of a kernel without one
    #[arg(skip)]
    pub against_of: Option<fn(&str) -> Option<String>>,
}

/// An error of a plan of two boots, as it is of the options of the second.
fn of_second(error: measure::Error) -> Error {
    match Error::from(error) {
        Error::Usage(why) => {
            let option = |why: String, name: &str, second: &str| match why.strip_prefix(name) {
                Some(rest) => format!("{second}{rest}"),
                None => why,
            };
            let why = option(why, "--append", "--against");
            Error::Usage(option(
                option(why, "--kernel", "--against-kernel"),
                "--cpu-model",
                "--against-cpu-model",
            ))
        }
        other => other,
    }
}

impl AnatomyArgs {
    /// The defaults for an entry: one boot, and no profile beside it.
    pub fn usual(entry: &str) -> AnatomyArgs {
        AnatomyArgs {
            entry: entry.to_string(),
            operation: None,
            kernel: linux::AUTO.to_string(),
            append: None,
            set: None,
            cpu_model: None,
            against: None,
            against_kernel: None,
            against_cpu_model: None,
            history: Vec::new(),
            each: false,
            fail_above: None,
            beside: NONE.to_string(),
            timeout: None,
            seed: None,
            memory: places::guest::MEMORY_MIB,
            dry_run: false,
            to: OutputArgs::USUAL,
            verbose: false,
            against_of: None,
        }
    }

    /// What is followed, if it is no entry of the table.
    pub fn event(&self) -> Option<Event> {
        Event::named(&self.entry)
    }

    /// What is booted: one row, in one configuration or two; with `--history` in one for each kernel, with `--each` in one for each feature.
    ///
    /// # Errors
    /// [`Error::Usage`] when it asks for what does not exist, or twice for the same.
    pub fn plan<'a>(&self, table: &'a Table) -> Result<GuestPlan<'a>, Error> {
        if self.each {
            return Ok(self.of_features(table, None)?.0);
        }
        let first = self.first(table)?;
        let plan = GuestPlan::new(table, &first).map_err(|error| self.of_history(error))?;
        match self.with_second(&first)? {
            None => Ok(plan),
            Some(both) => {
                // The first was fine, so the second is wrong.
                let mut plan = GuestPlan::new(table, &both).map_err(of_second)?;
                // All that is crossed begins with what is of the first boot, and ends with what is of the second.
                let last = plan.configurations.pop();
                plan.configurations.truncate(1);
                plan.configurations.extend(last);
                Ok(plan)
            }
        }
    }

    /// With `--each`: what is booted of a kernel of this release, which may be too old for some features, and of those why; of one that is not
    /// known yet, all that there may be.
    ///
    /// # Errors
    /// As [`AnatomyArgs::plan`].
    fn of_features<'a>(
        &self,
        table: &'a Table,
        release: Option<&str>,
    ) -> Result<(GuestPlan<'a>, Vec<LeftOut>), Error> {
        let first = self.first(table)?;
        let Each { sets: set, left_out } = Each::of(table, self.set.as_deref(), release)?;
        Ok((GuestPlan::new(table, &Options { set, ..first })?, left_out))
    }

    /// What is booted of a kernel of this release, and of what it is too old for, why, where that depends on the release; otherwise none.
    ///
    /// # Errors
    /// As [`AnatomyArgs::plan`].
    pub fn plan_of<'a>(
        &self,
        table: &'a Table,
        release: &str,
    ) -> Result<Option<(GuestPlan<'a>, Vec<LeftOut>)>, Error> {
        if self.each {
            return self.of_features(table, Some(release)).map(Some);
        }
        let Some(against) = self.against_of.and_then(|of| of(release)) else { return Ok(None) };
        let both = AnatomyArgs { against: Some(against), against_of: None, ..self.clone() };
        Ok(Some((both.plan(table)?, Vec::new())))
    }

    /// The options of the first boot.
    fn first(&self, table: &Table) -> Result<Options, Error> {
        if let (Some(event), Some(_)) = (self.event(), &self.operation) {
            return Err(Error::Usage(format!("--operation: {} is no entry, and has none", event.name())));
        }
        let (entry, operation) = self.row(table)?;
        self.set.iter().try_for_each(|text| match table.set(Kernel::Linux, text) {
            Err(bad) => Err(self.of_set(table, bad)),
            Ok(_) => Ok(()),
        })?;
        let append = self.append.iter().cloned().collect();
        Ok(Options { entry: vec![entry], operation: vec![operation], append, ..self.options() })
    }

    /// An error of a plan, as it is of the option that names its kernels.
    fn of_history(&self, error: measure::Error) -> Error {
        match Error::from(error) {
            Error::Usage(why) if !self.history.is_empty() => {
                Error::Usage(why.replacen("--kernel", "--history", 1))
            }
            other => other,
        }
    }

    /// A mistake in `--set`. Two values are two boots, which --against names.
    fn of_set(&self, table: &Table, bad: BadSet) -> Error {
        let Mistake::TwoValues { settings: [first, second], .. } = &*bad.mistake else { return bad.into() };
        let words = |setting: &Setting| {
            let value = table.parameter(&setting.name).and_then(|known| known.value(&setting.value));
            value.map(|value| value.append.clone()).filter(|words| !words.is_empty())
        };
        let how = match (words(first), words(second)) {
            (Some(first), Some(second)) => format!(
                "`kentry anatomy {} --append {first} --against {second}` follows both, side by side",
                self.entry
            ),
            _ => format!(
                "follow each by itself, as `kentry anatomy {} --set {first} --output 1.json`, and compare the files: kentry compare 1.json \
                 2.json",
                self.entry
            ),
        };
        Error::Usage(format!("--set {}: a boot has one value of {}; {how}", bad.text, first.name))
    }

    /// The options of two boots, of which the second differs from the first by what --against… name; none where nothing is named.
    fn with_second(&self, first: &Options) -> Result<Option<Options>, Error> {
        let named = [&self.against, &self.against_kernel, &self.against_cpu_model];
        if named.iter().all(|one| one.is_none()) {
            return Ok(None);
        }
        let both = |own: &[String], usual: &str, other: &Option<String>| {
            let first = own.first().map_or(usual, String::as_str);
            match other {
                Some(other) if other.trim() != first.trim() => vec![first.to_string(), other.clone()],
                _ => own.to_vec(),
            }
        };
        let usual = Accelerator::Tcg.usual_model();
        let append = both(&first.append, "", &self.against);
        let kernels = both(&first.kernels, linux::AUTO, &self.against_kernel);
        let cpu_models = both(&first.cpu_models, usual, &self.against_cpu_model);
        if [&append, &kernels, &cpu_models].iter().all(|list| list.len() < 2) {
            return Err(self.same_again());
        }
        Ok(Some(Options { append, kernels, cpu_models, ..first.clone() }))
    }

    /// Why there are no two boots, by the options that are to tell them apart.
    pub fn same_again(&self) -> Error {
        if !self.history.is_empty() {
            return Error::Usage("--history: two of these are one kernel; name each once".into());
        }
        let all = [
            ("--against", self.against.is_some(), "other parameters than --append has"),
            ("--against-kernel", self.against_kernel.is_some(), "another kernel than --kernel is"),
            (
                "--against-cpu-model",
                self.against_cpu_model.is_some(),
                "another processor than --cpu-model is",
            ),
        ];
        let named: Vec<_> = all.iter().filter(|(_, is_named, _)| *is_named).collect();
        let options: Vec<&str> = named.iter().map(|(option, ..)| *option).collect();
        let others: Vec<&str> = named.iter().map(|(.., other)| *other).collect();
        let (options, others) = (options.join(", "), others.join(", or "));
        Error::Usage(format!("{options}: both boots would be the same; name {others}"))
    }

    /// What executes the guests, and for how long; of no rows yet.
    pub fn options(&self) -> Options {
        Options {
            entry: Vec::new(),
            operation: Vec::new(),
            kernels: if self.history.is_empty() { vec![self.kernel.clone()] } else { self.history.clone() },
            append: Vec::new(),
            cpu_models: self.cpu_model.iter().cloned().collect(),
            set: self.set.iter().cloned().collect(),
            // Where time is measured, nothing can be followed.
            accel: measure::lab::Accel::Tcg,
            boots: None,
            follows: true,
            seed: self.seed.unwrap_or(0),
            memory_mib: self.memory,
            time: self.timeout.unwrap_or(Duration::from_secs(LINUX_SECONDS)),
        }
    }

    /// The one row that is followed, by its names.
    fn row(&self, table: &Table) -> Result<(String, String), Error> {
        let word = if self.event().is_some() { GETPPID.entry } else { &self.entry };
        let named = match self.event() {
            Some(Event::Execve) => vec![EXECUTES_ANOTHER.to_string()],
            _ => self.operation.iter().cloned().collect(),
        };
        if let Some(why) = is_an_operation(table, word).or_else(|| self.is_a_kernel()) {
            return Err(Error::Usage(why));
        }
        let found = rows(table, Kernel::Linux, &[word.to_string()], &named)?;
        let entries: Vec<&Entry> = found.iter().map(|(entry, _)| *entry).collect();
        let Some(first) = found.first().filter(|_| entries.windows(2).all(|two| two[0].id == two[1].id))
        else {
            let mut names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
            names.dedup();
            return Err(Error::Usage(format!(
                "one entry is followed; these are several: {}",
                names.join(", ")
            )));
        };
        if self.operation.is_some() && found.len() > 1 {
            let names: Vec<&str> = found.iter().map(|(_, operation)| operation.name.as_str()).collect();
            return Err(Error::Usage(format!(
                "one operation is followed; these are several: {}",
                names.join(", ")
            )));
        }
        let named = |name: &str| found.iter().find(|(_, operation)| operation.name == name);
        let usual = USUAL.iter().find_map(|name| named(name));
        let (entry, operation) = usual.unwrap_or(first);
        if entry.probe == Probe::Libc {
            return Err(Error::Usage(format!("{}: guests have no C library to follow", entry.name)));
        }
        Ok((entry.name.clone(), operation.name.clone()))
    }

    /// What to write where the entry's place has a kernel; none where it has not.
    fn is_a_kernel(&self) -> Option<String> {
        let each = if self.each { " --each" } else { "" };
        let kernel = report::plain(&self.entry);
        is_kernel(&self.entry).then(|| {
            format!("{kernel} is a kernel, and a path begins with an entry: `kentry anatomy syscall{each} --kernel {kernel}`")
        })
    }

    /// Whether a profile of the lab is wanted beside the path, if one fits the kernel.
    pub fn has_profile_beside(&self) -> bool {
        self.beside != NONE && self.event().is_none() && !self.has_several()
    }

    /// Whether there are more paths than two may be: a table has a line for each.
    pub fn has_several(&self) -> bool {
        self.each || !self.history.is_empty()
    }

    /// Whether a boot behind the first may be left out, with a word of why.
    pub fn may_leave_out(&self) -> bool {
        self.has_several() || self.against_of.is_some()
    }

    /// Whether the profile beside is found by the kernel's release, so that there may be none.
    pub fn finds_profile(&self) -> bool {
        self.beside == AUTO
    }

    /// The profile beside a kernel of this release; none where there is none, or none is asked for.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is no such profile.
    pub fn profile<'a>(&self, table: &'a Table, release: &str) -> Result<Option<&'a Profile>, Error> {
        match self.beside.as_str() {
            NONE => Ok(None),
            AUTO if self.has_several() => Ok(None),
            AUTO => Ok(of_release(table, release)),
            name => {
                let names = table.profiles.iter().map(|profile| profile.name.as_str());
                let unknown = || Error::Usage(format!("--beside: {}", Table::unknown_profile(name, names)));
                table.profile(name).map(Some).ok_or_else(unknown)
            }
        }
    }
}

/// What to write where the entry is named by an operation's name; none where it is not.
fn is_an_operation(table: &Table, word: &str) -> Option<String> {
    let operation = *table.operations_of(word).first()?;
    let serves = |entry: &&Entry| entry.operations_on(Kernel::Linux).contains(&operation.name);
    // A name may be that of an entry, too.
    if table.entry_of(word, Kernel::Linux).is_some() {
        return None;
    }
    let usual = table.entry(GETPPID.entry).filter(serves);
    let entry = usual.or_else(|| table.entries.iter().find(serves))?;
    // Its short name, where it has one that means it.
    let short = entry.name.strip_suffix("-x86_64");
    let means = |short: &&str| table.entry_of(short, Kernel::Linux).is_some_and(|meant| meant.id == entry.id);
    let entry = short.filter(means).unwrap_or(&entry.name);
    let operation = &operation.name;
    Some(format!(
        "{word} is an operation, and a path begins with an entry: `kentry anatomy {entry} --operation {operation}`"
    ))
}

/// The profile `linux-X.Y` of the newest version that is not newer.
pub(crate) fn of_release<'a>(table: &'a Table, release: &str) -> Option<&'a Profile> {
    let version = environment::version(release)?;
    let older = of_versions(table).filter(|(known, _)| *known <= version);
    older.max_by_key(|(known, _)| *known).map(|(_, profile)| profile)
}

/// The profiles `linux-X.Y`, each with its version.
pub(crate) fn of_versions(table: &Table) -> impl Iterator<Item = ((u32, u32), &Profile)> {
    table.profiles.iter().filter_map(|profile| {
        let name = profile.name.strip_prefix("linux-")?;
        // A name with more than the version is of a certain processor.
        let is_plain = name.chars().all(|c| c.is_ascii_digit() || c == '.');
        Some((environment::version(name).filter(|_| is_plain)?, profile))
    })
}

/// The parts, the parameters, the profiles and the exit codes.
pub(crate) fn anatomy_help() -> String {
    let mut text = String::from("Parts:\n");
    let widest = Part::ALL.iter().map(|part| part.name().len()).max().unwrap_or(0);
    for part in Part::ALL {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {:widest$}  {}", part.name(), part.what());
    }
    text.push_str("\nProfiles (--beside):\n");
    for (name, what) in profiles::all(Table::get()).filter(|(name, _)| *name != findings::LIKE_HERE) {
        let _ = writeln!(text, "  {name:<18}{what}");
    }
    format!("{text}\n{}\nExit status:\n{}", parameters_help(Table::get()), codes(ANATOMY_STATUS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn args(words: &str) -> AnatomyArgs {
        let cli = Cli::try_parse_from(["kentry", "anatomy"].into_iter().chain(words.split(' '))).unwrap();
        match cli.command {
            Some(Command::Anatomy(args)) => args,
            other => panic!("{other:?}"),
        }
    }

    fn row(words: &str) -> Result<(String, String), String> {
        args(words).row(Table::get()).map_err(|error| error.to_string())
    }

    #[test]
    fn one_row_is_followed() {
        let is = |words: &str, entry: &str, operation: &str| {
            assert_eq!(row(words), Ok((entry.to_string(), operation.to_string())), "{words}");
        };
        is("syscall", "syscall-x86_64", "getppid");
        is("int80-i386", "int80-i386", "getppid");
        is("ud", "ud", "signal");
        is("page-fault", "page-fault", "minor-fault");
        is("syscall --operation none", "syscall-x86_64", "none");
        is("timer-interrupt", "syscall-x86_64", "getppid");
        is("execve", "syscall-x86_64", "unixbench-exec");
        assert!(row("int80-*").unwrap_err().contains("these are several"));
        let file = tempfile::Builder::new().prefix("vmlinuz-").tempfile().unwrap();
        let kernel = file.path().to_str().unwrap();
        assert!(row(kernel).unwrap_err().ends_with(&format!("`kentry anatomy syscall --kernel {kernel}`")));
        assert!(row("libc").unwrap_err().contains("no C library"));
        assert!(row("syscall --operation clock_gettime").unwrap_err().contains("these are several"));
        assert!(row("sycsall").unwrap_err().contains("did you mean"));
        let timer = args("timer-interrupt --operation none").plan(Table::get());
        assert!(timer.unwrap_err().to_string().contains("is no entry"));
    }

    #[test]
    fn an_operation_in_place_of_the_entry_says_which_command_works() {
        let of = |word: &str| args(word).plan(Table::get()).unwrap_err().to_string();
        let wanted = |word: &str, command: &str| {
            let why = of(word);
            assert!(why.starts_with(&format!("{word} is an operation")), "{why}");
            assert!(why.ends_with(&format!("`kentry anatomy {command}`")), "{why}");
            assert!(args(command).plan(Table::get()).is_ok(), "{command}");
        };
        wanted("getppid", "syscall --operation getppid");
        wanted("minor-fault", "page-fault --operation minor-fault");
    }

    #[test]
    fn a_second_boot_differs_in_its_parameters() {
        let words = |text: &str| {
            let args = args(text);
            let plan = args.plan(Table::get()).unwrap();
            plan.configurations.iter().map(|one| one.words().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(words("syscall --against pti=on"), ["", "pti=on"]);
        assert_eq!(words("syscall --append pti=off --against pti=on --set audit=on").len(), 2);
        assert_eq!(words("syscall"), [""]);
        let why = |text: &str| args(text).plan(Table::get()).unwrap_err().to_string();
        assert_eq!(
            why("syscall --append pti=on --against pti=on"),
            "--against: both boots would be the same; name other parameters than --append has"
        );
        assert_eq!(
            why("syscall --kernel a --against-kernel a"),
            "--against-kernel: both boots would be the same; name another kernel than --kernel is"
        );
        let both = why("syscall --append x --against x --cpu-model EPYC --against-cpu-model EPYC");
        assert!(
            both.starts_with("--against, --against-cpu-model: ") && both.contains(", or another"),
            "{both}"
        );
        assert!(
            why("syscall --append x=\"").starts_with("--append x=\""),
            "{}",
            why("syscall --append x=\"")
        );
        assert!(why("syscall --append y --against x=\"").starts_with("--against x=\""));
        assert!(why("syscall --set pti=off --against pti=on").starts_with("--against pti=on: --set"));
    }

    #[test]
    fn a_second_boot_differs_from_the_first_by_what_is_named() {
        let boots = |text: &str| {
            let args = args(text);
            let plan = args.plan(Table::get()).unwrap();
            let boot = |one: &measure::guest::Configuration| {
                format!("{} {} {}", plan.kernels[one.kernel], one.words(), one.cpu("usual"))
            };
            plan.configurations.iter().map(boot).collect::<Vec<_>>()
        };
        assert_eq!(boots("syscall --kernel a --against-kernel b"), ["a  usual", "b  usual"]);
        assert_eq!(
            boots("syscall --kernel a --append pti=off --against-kernel b"),
            ["a pti=off usual", "b pti=off usual"]
        );
        assert_eq!(
            boots(
                "syscall --kernel a --append pti=off --against-kernel b --against pti=on --against-cpu-model EPYC"
            ),
            ["a pti=off max,vendor=GenuineIntel", "b pti=on EPYC"]
        );
        assert_eq!(
            boots("syscall --kernel a --append pti=on --against-kernel b --against pti=on"),
            ["a pti=on usual", "b pti=on usual"],
            "what both have is no difference"
        );
        assert_eq!(
            boots("syscall --cpu-model EPYC --set pti=off --against-cpu-model max"),
            ["auto pti=off EPYC", "auto pti=off max"]
        );
    }

    #[test]
    fn the_profile_beside_is_of_the_newest_version_that_is_not_newer() {
        let name = |profile: Option<&'static Profile>| profile.map(|profile| profile.name.as_str());
        let of = |release: &str| name(args("syscall").profile(Table::get(), release).unwrap());
        assert_eq!(of("6.1.0-56-cloud-amd64"), Some("linux-6.1"));
        assert_eq!(of("6.12.117+deb12-cloud-amd64"), Some("linux-6.12"));
        assert_eq!(
            (of("5.15.1"), of("7.2.13"), of("7.3-rc1")),
            (Some("linux-5.10"), Some("linux-7.1"), Some("linux-7.3"))
        );
        assert_eq!(of("6.19-rc1"), Some("linux-6.18"));
        assert_eq!((of("4.9.0"), of("")), (None, None));
        let named = |text: &str| args(text).profile(Table::get(), "6.1.0");
        assert_eq!(named("syscall --beside none").unwrap(), None);
        assert_eq!(name(named("syscall --beside bare").unwrap()), Some("bare"));
        assert!(named("syscall --beside linux-6.2").unwrap_err().to_string().contains("did you mean"));
    }
}
