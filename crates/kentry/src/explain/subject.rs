//! What the argument of `kentry explain` means.

use super::elsewhere::{self, Elsewhere};
use super::finding;
use super::topic::{self, Topic};
use crate::error::Error;
use attribution::anatomy::Part;
use findings::Id;
use measure::select::glob;
use record::trace::Event;
use std::collections::BTreeSet;
use table::{
    Entry, Kernel, Mistake, Operation, Parameter, Profile, Setting, Settings, Switch, Table, is_same_name,
    nearest,
};

/// Something that can be explained.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject<'a> {
    /// A way into the kernel.
    Entry(&'a Entry),
    /// An operation.
    Operation(&'a Operation),
    /// A switch of the lab.
    Switch(&'a Switch),
    /// What people call an attack or a protection, and the switches that it is about.
    Known(&'a str, Vec<&'a Switch>),
    /// A value of a switch.
    Setting(Setting),
    /// A named list of values.
    Profile(&'a Profile),
    /// What a Linux in a guest can be booted with.
    Parameter(&'a Parameter),
    /// A part of an anatomy.
    Part(Part),
    /// The timer's interrupt, which an anatomy may be of.
    Event(Event),
    /// A fault of the processor that no switch is about.
    Elsewhere(&'static Elsewhere),
    /// What several entries are about.
    Topic(&'static Topic),
    /// A finding.
    Finding(Id),
}

impl<'a> Subject<'a> {
    /// The entry that it is, if it is one.
    pub fn entry(&self) -> Option<&'a Entry> {
        match self {
            Subject::Entry(entry) => Some(entry),
            _ => None,
        }
    }
}

/// What a word means, and other meanings that it could have.
#[derive(Debug, PartialEq)]
pub struct Meaning<'a> {
    /// What it means.
    pub subjects: Vec<Subject<'a>>,
    /// The other entries that a short name could mean.
    pub others: Vec<&'a Entry>,
}

/// Tries a name of an entry or an operation, of a switch or a profile, what people call an attack or a protection, each with the guest's
/// parameter, the part of an anatomy, the fault that no switch is about, the subject of several entries, and the finding of that name; a
/// short name; settings, of switches and of parameters (`pti=on`, `nopcid`); and a glob, in this order. What means nothing is tried in
/// lower case.
///
/// # Errors
/// [`Error::Usage`], naming the nearest of all names, or what is wrong with settings.
pub fn meaning<'a>(table: &'a Table, word: &str) -> Result<Meaning<'a>, Error> {
    as_written(table, word).or_else(|unknown| match word.to_lowercase() {
        lower if lower == word => Err(unknown),
        lower => as_written(table, &lower).map_err(|_| unknown),
    })
}

fn as_written<'a>(table: &'a Table, word: &str) -> Result<Meaning<'a>, Error> {
    let only = |subjects| Meaning { subjects, others: Vec::new() };
    let part = Part::named(word).map(Subject::Part);
    let of_name = [table.entry(word).map(Subject::Entry), table.operation(word).map(Subject::Operation)];
    // A switch may have the name of the entry that it changes, which is what is meant then.
    let others = [table.switch(word).map(Subject::Switch), table.profile(word).map(Subject::Profile)];
    let event = Event::named(word).map(Subject::Event);
    let found: Vec<Subject> = of_name.into_iter().flatten().collect();
    let found = if found.is_empty() { others.into_iter().flatten().take(1).collect() } else { found };
    let known = table.known_as(word).map(|(name, switches)| Subject::Known(name, switches));
    let is_called_so =
        |one: &&Parameter| one.name == word || known.is_some() && is_same_name(&one.name, word);
    let parameter = table.parameters.iter().find(is_called_so).map(Subject::Parameter);
    let elsewhere = elsewhere::of(word).map(Subject::Elsewhere);
    let on = |kernel| table.entry_of(word, kernel);
    let short = on(Kernel::Linux).or_else(|| on(Kernel::Lab)).filter(|_| found.is_empty());
    let entry = short.map(Subject::Entry);
    let named = found
        .into_iter()
        .chain(entry)
        .chain(known)
        .chain(parameter)
        .chain(part)
        .chain(event)
        .chain(elsewhere)
        .chain(topic::of(word).map(Subject::Topic))
        .chain(finding::of(word).map(Subject::Finding));
    let named: Vec<Subject> = named.collect();
    if !named.is_empty() {
        let others =
            short.iter().flat_map(|entry| table.family(word).into_iter().filter(move |other| other != entry));
        return Ok(Meaning { subjects: named, others: others.collect() });
    }
    let of_function = table.operations_of(word);
    if !of_function.is_empty() {
        return Ok(only(of_function.into_iter().map(Subject::Operation).collect()));
    }
    let set = settings(table, word);
    if let Some(set) = set.as_ref().ok().filter(|set| !set.is_empty()) {
        return Ok(only(set.clone()));
    }
    let pattern = glob(word).map_err(Error::Usage)?;
    let entries = table.entries.iter().filter(|entry| pattern.matches(&entry.name)).map(Subject::Entry);
    let operations = table.operations.iter().filter(|known| pattern.matches(&known.name));
    let switches = table.switches.iter().filter(|known| pattern.matches(&known.name));
    let profiles = table.profiles.iter().filter(|known| pattern.matches(&known.name));
    let parts = Part::ALL.iter().filter(|part| pattern.matches(part.name()));
    let events = Event::ALL.into_iter().filter(|event| pattern.matches(event.name())).map(Subject::Event);
    let parameters = table.parameters.iter().filter(|known| pattern.matches(&known.name));
    let others = switches.map(Subject::Switch).chain(profiles.map(Subject::Profile));
    let others = others.chain(parameters.map(Subject::Parameter));
    let others = others.chain(parts.map(|part| Subject::Part(*part))).chain(events);
    let matching: Vec<Subject> = entries.chain(operations.map(Subject::Operation)).chain(others).collect();
    match set {
        _ if !matching.is_empty() => Ok(only(matching)),
        Err(mistake) if word.contains('=') => Err(mistake.into()),
        _ => Err(unknown(table, word)),
    }
}

/// What settings mean, as a `--set` of the lab and as one of a Linux. These do not have the same names and values, so it is a mistake only
/// if it is one to both.
fn settings<'a>(table: &'a Table, word: &str) -> Result<Vec<Subject<'a>>, Mistake> {
    let read = |kernel| table.settings(kernel, word);
    let of_lab = read(Kernel::Lab).or_else(|mistake| read(Kernel::LabI386).map_err(|_| mistake));
    match (of_lab, read(Kernel::Linux)) {
        (Err(of_lab), Err(of_linux)) => Err(closer(table, of_lab, of_linux)),
        (of_lab, of_linux) => {
            let switches =
                of_lab.iter().flat_map(Settings::iter).filter_map(|set| switch_or_value(table, set));
            let parameters = of_linux.iter().flat_map(Settings::iter);
            let parameters = parameters.filter_map(|set| table.parameter(&set.name).map(Subject::Parameter));
            Ok(switches.chain(parameters).collect())
        }
    }
}

/// The value of a switch; of a value that means nothing is done, the switch.
fn switch_or_value<'a>(table: &'a Table, setting: &Setting) -> Option<Subject<'a>> {
    let switch = table.switch(&setting.name)?;
    let is_first = setting.value == switch.first();
    Some(if is_first { Subject::Switch(switch) } else { Subject::Setting(setting.clone()) })
}

/// Of the mistakes that a word is to both kernels, that of the one that knows its names.
fn closer(table: &Table, of_lab: Mistake, of_linux: Mistake) -> Mistake {
    match (of_lab, of_linux) {
        (Mistake::NoName { name, .. }, Mistake::NoName { .. }) => {
            table.unknown_to(&[Kernel::Lab, Kernel::LabI386, Kernel::Linux], &name)
        }
        (of_lab, of_linux) if of_lab.is_of_a_name() && !of_linux.is_of_a_name() => of_linux,
        (of_lab, _) => of_lab,
    }
}

fn unknown(table: &Table, word: &str) -> Error {
    let entries = table.entries.iter().map(|entry| entry.name.as_str());
    let operations = table.operations.iter().map(|operation| operation.name.as_str());
    let switches = table.switches.iter().map(|switch| switch.name.as_str());
    let profiles = table.profiles.iter().map(|profile| profile.name.as_str()).chain([findings::LIKE_HERE]);
    let parts = Part::ALL.iter().map(|part| part.name()).chain(Event::ALL.map(Event::name));
    let names = entries.chain(operations).chain(table.short_names()).chain(switches).chain(profiles);
    let parameters = table.parameters.iter().map(|parameter| parameter.name.as_str());
    let names = names.chain(parts).chain(parameters).chain(table.known_names());
    let names = names.chain(Id::ALL.iter().map(|id| id.name()));
    let names = names.chain(elsewhere::ALL.iter().flat_map(|fault| fault.names).copied());
    let names = names.chain(topic::ALL.iter().flat_map(|topic| topic.names).copied());
    let hint = beginning(word, &table.known_names()).unwrap_or_else(|| nearest(word, names));
    let word = report::plain(word);
    Error::Usage(format!(
        "there is no entry, operation, switch, parameter, profile, finding or part of an anatomy \"{word}\"{hint} (`kentry list` shows the table; `kentry linux --help` and `kentry anatomy --help` list parameters and parts)"
    ))
}

/// `; did you mean …?`, of all that people call attacks or protections and that begin with the word.
fn beginning(word: &str, known: &BTreeSet<&str>) -> Option<String> {
    let begins = |name: &&&str| name.split_once(' ').is_some_and(|(first, _)| is_same_name(first, word));
    let names: Vec<&str> = known.iter().filter(begins).copied().collect();
    let (last, others) = names.split_last()?;
    let names =
        if others.is_empty() { (*last).to_owned() } else { format!("{} or {last}", others.join(", ")) };
    Some(format!("; did you mean {names}?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use attribution::anatomy::Event;

    fn names(word: &str) -> Result<Vec<String>, String> {
        let meaning = meaning(Table::get(), word).map_err(|error| error.to_string())?;
        let name = |subject: &Subject| match subject {
            Subject::Entry(entry) => entry.name.clone(),
            Subject::Operation(operation) => operation.name.clone(),
            Subject::Switch(switch) => format!("switch {}", switch.name),
            Subject::Known(name, switches) => {
                let switches: Vec<&str> = switches.iter().map(|switch| switch.name.as_str()).collect();
                format!("{name} of {}", switches.join(" "))
            }
            Subject::Setting(setting) => format!("setting {setting}"),
            Subject::Profile(profile) => format!("profile {}", profile.name),
            Subject::Parameter(parameter) => format!("parameter {}", parameter.name),
            Subject::Part(part) => format!("part {}", part.name()),
            Subject::Event(event) => event.name().to_string(),
            Subject::Elsewhere(fault) => format!("fault {}", fault.names[0]),
            Subject::Topic(topic) => format!("topic {}", topic.names[0]),
            Subject::Finding(id) => format!("finding {}", id.name()),
        };
        let others = meaning.others.iter().map(|entry| format!("also {}", entry.name));
        Ok(meaning.subjects.iter().map(name).chain(others).collect())
    }

    #[test]
    fn a_word_is_a_name_a_short_name_a_function_or_a_glob() {
        assert_eq!(names("getppid").unwrap(), ["getppid"]);
        assert_eq!(names("int3").unwrap(), ["int3"]);
        assert_eq!(names("syscall").unwrap(), ["syscall-x86_64", "also syscall-i386", "also syscall-x32"]);
        assert_eq!(names("sysenter").unwrap(), ["sysenter-i386", "also sysenter-x86_64"]);
        assert_eq!(names("call-gate").unwrap(), ["call-gate-x86_64", "also call-gate-i386"]);
        assert_eq!(names("vdso").unwrap(), ["vdso-x86_64", "parameter vdso", "also vdso-i386"]);
        assert!(names("clock_gettime").unwrap().contains(&"clock_gettime-realtime".to_string()));
        assert_eq!(names("rdtsc*").unwrap(), ["rdtsc", "rdtscp"]);
        let all = names("*").unwrap().len();
        let Table { entries, operations, switches, profiles, parameters, .. } = Table::get();
        let of_table = entries.len() + operations.len() + switches.len() + profiles.len();
        assert_eq!(all, of_table + parameters.len() + Part::ALL.len() + Event::ALL.len());
    }

    #[test]
    fn a_word_is_a_switch_one_of_its_values_or_a_profile() {
        assert_eq!(names("pti").unwrap(), ["switch pti", "parameter pti", "part pti", "finding pti"]);
        assert_eq!(names("pti=on").unwrap(), ["setting pti=on", "parameter pti"]);
        assert_eq!(names("pcid=on").unwrap(), ["setting pcid=keep", "parameter pcid"], "an older name");
        assert_eq!(names("rsb=032").unwrap(), ["setting rsb=32"]);
        assert_eq!(names("pti=off").unwrap(), ["switch pti", "parameter pti"], "nothing is done then");
        assert_eq!(names("vsyscall").unwrap(), ["vsyscall", "parameter vsyscall"], "the entry");
        assert_eq!(names("vsyscall=native").unwrap(), ["setting vsyscall=native", "parameter vsyscall"]);
        assert_eq!(names("vsyscall=xonly").unwrap(), ["parameter vsyscall"], "Linux alone has it");
        assert!(names("vsyscall=nope").unwrap_err().contains("is no value of vsyscall"));
        assert_eq!(names("mitigations=off").unwrap(), ["profile mitigations=off"]);
        assert_eq!(names("seccomp=on").unwrap(), ["parameter seccomp"]);
        assert_eq!(names("clocksource").unwrap(), ["parameter clocksource"]);
        assert_eq!(names("nosmap").unwrap(), ["parameter smap"]);
        assert_eq!(names("linux-6.18*").unwrap(), ["profile linux-6.18", "profile linux-6.18-eibrs"]);
        let wrong = names("ibrs=enhanced?").unwrap_err();
        assert!(wrong.contains("which can be off, on, enhanced; did you mean enhanced?"), "{wrong}");
        assert!(
            names("rsb=65").unwrap_err().contains("which can be a whole number from 0 to 64"),
            "{:?}",
            names("rsb=65")
        );
        assert!(names("ptii").unwrap_err().contains("did you mean pti?"));
    }

    #[test]
    fn a_word_is_what_people_call_it_in_whatever_case() {
        for word in ["KAISER", "Meltdown", "meltdown", "CVE-2017-5754"] {
            let found = names(word).unwrap();
            assert!(found.len() == 1 && found[0].ends_with(" of pti"), "{found:?}");
        }
        let spectre = ["Spectre v2 of ibrs stibp ibpb rsb dispatch", "parameter spectre_v2"];
        for word in ["Spectre v2", "spectre-v2", "spectre_v2"] {
            assert_eq!(names(word).unwrap(), spectre, "{word}");
        }
        assert_eq!(names("mds").unwrap(), ["MDS of verw", "parameter mds"]);
        assert_eq!(names("seccomp").unwrap(), ["seccomp of filter", "parameter seccomp"]);
        assert_eq!(names("PTI").unwrap(), names("pti").unwrap());
        assert_eq!(names("GETPPID").unwrap(), ["getppid"]);
        assert_eq!(names("PTI=ON").unwrap(), names("pti=on").unwrap());
        let spectre = names("Spectre").unwrap_err();
        let all = "did you mean Spectre BHI, Spectre v1, Spectre v2 or Spectre v4?";
        assert!(spectre.contains(all), "it was SpectreRSB alone: {spectre}");
        assert!(names("Retblead").unwrap_err().contains("did you mean Retbleed?"));
    }

    #[test]
    fn a_word_is_a_subject_of_several_entries() {
        assert_eq!(names("vm86").unwrap(), ["topic virtual-8086 mode"]);
        assert_eq!(names("task").unwrap(), ["topic task gate"], "it was one of its entries, at random");
        assert_eq!(names("Protected_Mode").unwrap(), ["topic protected mode"]);
        assert!(names("task-*").unwrap().len() >= 5);
    }

    #[test]
    fn a_word_is_a_part_of_an_anatomy() {
        assert_eq!(names("kernel-stack").unwrap(), ["part kernel-stack"]);
        assert_eq!(names("kernel-*").unwrap(), ["part kernel-stack"]);
        assert_eq!(names("signal").unwrap(), ["signal", "part signal"]);
        assert_eq!(names("timer-interrupt").unwrap(), ["timer-interrupt"]);
        assert!(names("kernel-stak").unwrap_err().contains("did you mean kernel-stack?"));
    }

    #[test]
    fn the_nearest_of_all_names_is_suggested() {
        for (word, near) in
            [("sysentre-i386", "sysenter-i386"), ("getpppid", "getppid"), ("syscal", "syscall")]
        {
            let error = names(word).unwrap_err();
            assert!(error.contains(&format!("did you mean {near}?")), "{error}");
        }
        assert!(names("[").unwrap_err().contains("not a glob"));
    }
}
