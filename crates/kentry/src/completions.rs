//! Completion scripts.
//!
//! Static scripts that contain the table's names: the shell completes file names itself, with `~` and quoting. The one command that they
//! run is `kentry runs names`, where a run belongs, because nothing else knows which are kept. (The library's dynamic engine is not stable yet, and in bash it loses words with
//! `=`, which is what `--set` takes.)

use crate::cli::Cli;
use crate::explain::{elsewhere, topic};
use crate::profiles;
use attribution::anatomy::Part;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::Shell;
use findings::Id;
use record::trace::Event;
use std::collections::BTreeSet;
use table::{DEFAULT, Kernel, Table};

/// The script for a shell.
pub fn script(shell: Shell) -> Vec<u8> {
    let mut command = command(Table::get());
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "kentry", &mut script);
    match shell {
        Shell::Bash => script.extend(bash(&command).into_bytes()),
        Shell::Zsh => script = zsh(&String::from_utf8_lossy(&script)).into_bytes(),
        Shell::Fish => script = fish(&String::from_utf8_lossy(&script), &command).into_bytes(),
        _ => (),
    }
    script
}

/// What the library leaves out for fish: values of an option before any subcommand (the option still lacks its value,
/// which argparse refuses), and values of positional arguments.
fn fish(script: &str, command: &Command) -> String {
    const REFUSES: &str = "argparse -s (__fish_kentry_global_optspecs) -- $cmd 2>/dev/null\n";
    const ALSO: &str = "    or argparse -s (__fish_kentry_global_optspecs) -- $cmd[1..-2] 2>/dev/null\n";
    let mut script = script.replace(REFUSES, &format!("{REFUSES}{ALSO}"));
    script = script.replace("-f -a \"(__fish_print_hostnames)\"", &format!("-F -a \"{FISH_RUNS}\""));
    for (path, subcommand) in with_path(command) {
        for argument in subcommand.get_positionals() {
            let using = match path.split_once(' ') {
                None => format!("__fish_kentry_using_subcommand {path}"),
                Some((of, name)) => {
                    format!("__fish_kentry_using_subcommand {of}; and __fish_seen_subcommand_from {name}")
                }
            };
            let values = argument.get_possible_values();
            let lines: Vec<String> = values.iter().map(fish_value).collect();
            let offered = match argument.get_value_hint() {
                RUN => format!("-F -a \"{FISH_RUNS}\""),
                ValueHint::FilePath | ValueHint::DirPath => "-F".to_string(),
                _ => format!("-f -a \"{}\"", lines.join("\n")),
            };
            script.push_str(&format!("complete -c kentry -n \"{using}\" {offered}\n"));
        }
    }
    script
}

/// What fish offers for a run, beside files.
const FISH_RUNS: &str = "(kentry runs names 2>/dev/null)";

/// What the library writes for arguments that are runs: it knows none, and no other argument is a host.
const RUN: ValueHint = ValueHint::Hostname;

/// All subcommands, and theirs, each with the words that name it: `runs show`.
fn with_path(command: &Command) -> Vec<(String, &Command)> {
    let shown = |known: &&Command| !known.is_hide_set();
    let mut all = Vec::new();
    for outer in command.get_subcommands().filter(shown) {
        all.push((outer.get_name().to_string(), outer));
        let inner = outer.get_subcommands().filter(shown);
        all.extend(inner.map(|inner| (format!("{} {}", outer.get_name(), inner.get_name()), inner)));
    }
    all
}

/// Zsh completes a run by our function.
fn zsh(script: &str) -> String {
    const RUNS: &str = r#"
_kentry_runs() {
    local -a runs
    runs=(${(f)"$(kentry runs names 2>/dev/null)"})
    _alternative 'runs:run:compadd -a runs' 'files:file:_files'
}
"#;
    // The script ends by calling its function.
    let (head, call) = script.split_at(script.rfind("if [ \"$funcstack[1]\"").unwrap_or(script.len()));
    format!("{}{RUNS}\n{call}", head.replace(":_hosts'", ":_kentry_runs'"))
}

/// Our functions for bash: which words are split, and where a run belongs.
fn bash(command: &Command) -> String {
    let is_run = |arg: &&Arg| arg.get_value_hint() == RUN;
    let (mut places, mut options, mut others) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (path, subcommand) in with_path(command) {
        places.extend(subcommand.get_positionals().find(is_run).map(|_| format!("'{path}'")));
        for option in subcommand.get_opts().filter(|option| option.get_action().takes_values()) {
            let named = if is_run(&option) { &mut options } else { &mut others };
            named.extend(option.get_long().map(|long| format!("--{long}")));
            named.extend(option.get_short().map(|short| format!("-{short}")));
        }
    }
    let list = |words: BTreeSet<String>| words.into_iter().collect::<Vec<_>>().join(" | ");
    BASH_WORDS
        .replace("RUN_OPTIONS", &list(options))
        .replace("OTHER_OPTIONS", &list(others))
        .replace("PLACES", &list(places))
}

fn fish_value(value: &PossibleValue) -> String {
    let help = value.get_help().map(|help| help.to_string().replace('\'', "\\'").replace('"', "\\\""));
    format!("{}\\t'{}'", value.get_name(), help.unwrap_or_default())
}

/// Bash ends a word at `=`. This splits `--option=value` into two words and joins `name=value` into one, as the script
/// above expects them; and it completes after the last comma of a list.
const BASH_WORDS: &str = r#"
_kentry_words() {
    local command=$1 words=() word whole cur prev part prefix
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ ${#words[@]} -gt 1 && ($word == "=" || ${words[-1]} == *=) && ${words[-1]} != "" && $word != -* ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    whole=${words[-1]}
    if [[ $whole == --*=* ]]; then
        words[-1]=${whole%%=*}
        words+=("${whole#*=}")
    fi
    cur=${words[-1]} prev=${words[-2]}
    part=$cur prefix=
    if [[ $prev == --set || $prev == -s ]]; then
        part=${cur##*,} prefix=${cur%"${cur##*,}"}
    fi
    words[-1]=$part
    local COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
    _kentry "$command" "$part" "$prev"
    # What readline replaces begins behind the last '='.
    COMPREPLY=("${COMPREPLY[@]/#/$prefix}")
    # The subcommand, and that of the subcommand, where they stand before the word that is being typed.
    local before=("${words[@]:1:${#words[@]}-2}")
    _kentry_takes_run "${before[0]-}" "${before[1]-}" "$prev" "$part" && _kentry_runs "$command" "$part"
    if [[ $whole == *=* && $COMP_WORDBREAKS == *=* ]]; then
        prefix=${whole%=*}=
        [[ $whole == --*=* ]] && prefix=${prefix#*=}
        [[ -z $prefix ]] || COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
    fi
}
# Whether the word that is being typed is a run.
_kentry_takes_run() {
    [[ $4 != -* ]] || return 1
    case $3 in
    RUN_OPTIONS) return 0 ;;
    OTHER_OPTIONS) return 1 ;;
    esac
    case "$1" in
    PLACES) return 0 ;;
    esac
    case "$1 $2" in
    PLACES) return 0 ;;
    *) return 1 ;;
    esac
}
# Kept runs by their names, and files.
_kentry_runs() {
    local name
    COMPREPLY=()
    while IFS= read -r name; do
        [[ $name == "$2"* ]] && COMPREPLY+=("$name")
    done < <("$1" runs names 2>/dev/null; compgen -f -- "$2")
    compopt -o filenames 2>/dev/null
}
complete -F _kentry_words -o nosort -o bashdefault -o default kentry 2>/dev/null ||
    complete -F _kentry_words -o bashdefault -o default kentry
"#;

/// The command line for completion: a name is one of the table's. (When it is parsed, a name may also be a glob.)
fn command(table: &'static Table) -> Command {
    let entries = || table.entries.iter().map(|entry| value(&entry.name, &entry.title));
    let operations = || table.operations.iter().map(|operation| value(&operation.name, &operation.what));
    // What a Linux has; the lab has more.
    let there = || table.entries.iter().filter(|entry| entry.kernels.contains(&Kernel::Linux));
    let of_linux = || there().map(|entry| value(&entry.name, &entry.title));
    let short_of_linux = || {
        let names = table.short_names().into_iter();
        names.filter(|name| table.entry_of(name, Kernel::Linux).is_some()).map(PossibleValue::new)
    };
    let asked_of_linux = || {
        let is_asked = |name: &String| there().any(|entry| entry.operations_on(Kernel::Linux).contains(name));
        let known = table.operations.iter().filter(move |operation| is_asked(&operation.name));
        known.map(|operation| value(&operation.name, &operation.what))
    };
    let short = || table.short_names().into_iter().map(PossibleValue::new);
    let settings = |kernel| {
        let all = table.offered(kernel).into_iter();
        all.map(|(setting, what)| value(&setting.to_string(), what)).collect::<Vec<_>>().into_iter()
    };
    let of_i386_alone = || {
        let (all, of_long_mode) = (table.offered(Kernel::LabI386).into_iter(), table.offered(Kernel::Lab));
        let alone = all.filter(|one| !of_long_mode.contains(one));
        alone.map(|(setting, what)| value(&setting.to_string(), what)).collect::<Vec<_>>().into_iter()
    };
    let default = || value(DEFAULT, "nothing is set");
    let sets_of_linux = || settings(Kernel::Linux).chain([default()]);
    let sets_of_lab = || settings(Kernel::Lab).chain(of_i386_alone()).chain([default()]);
    let subcommands = || {
        let shown = |known: &&Command| !known.is_hide_set();
        Cli::command()
            .get_subcommands()
            .filter(shown)
            .map(|known| known.get_name().to_string())
            .collect::<Vec<_>>()
    };
    let rows = |command: Command| {
        command
            .mut_arg("entry", |arg| offering(arg, entries()))
            .mut_arg("operation", |arg| offering(arg, operations()))
    };
    rows(with_runs(Cli::command()))
        .mut_subcommand("measure", rows)
        .mut_subcommand("compare", rows)
        .mut_subcommand("lab", |lab| rows(lab).mut_arg("set", |arg| offering(arg, sets_of_lab())))
        .mut_subcommand("linux", |linux| {
            linux
                .mut_arg("entry", |arg| offering(arg, of_linux()))
                .mut_arg("operation", |arg| offering(arg, asked_of_linux()))
                .mut_arg("set", |arg| offering(arg, sets_of_linux()))
        })
        .mut_subcommand("anatomy", |anatomy| {
            let profiles = table.profiles.iter().map(|profile| value(&profile.name, &profile.what));
            let events = Event::ALL.map(|event| value(event.name(), event.what()));
            anatomy
                .mut_arg("entry", |arg| offering(arg, of_linux().chain(short_of_linux()).chain(events)))
                .mut_arg("operation", |arg| offering(arg, asked_of_linux()))
                .mut_arg("set", |arg| offering(arg, sets_of_linux()))
                .mut_arg("beside", |arg| offering(arg, profiles.chain([value("none", "no profile")])))
        })
        .mut_subcommand("bill", |bill| {
            let profiles = profiles::all(table).map(|(name, what)| value(name, what));
            rows(bill)
                .mut_arg("set", |arg| offering(arg, settings(Kernel::Lab)))
                .mut_arg("profile", |arg| offering(arg, profiles))
                .mut_arg("without", |arg| offering(arg, settings(Kernel::Lab)))
        })
        .mut_subcommand("explain", |explain| {
            let switches = settings(Kernel::Lab)
                .chain(of_i386_alone())
                .chain(table.switches.iter().map(|switch| value(&switch.name, &switch.what)));
            let profiles = table.profiles.iter().map(|profile| value(&profile.name, &profile.what));
            let profiles =
                profiles.chain([value(findings::LIKE_HERE, "this machine's kernel, by its own words")]);
            // The others are called like a switch or an operation.
            let is_other =
                |part: &&Part| table.switch(part.name()).is_none() && table.operation(part.name()).is_none();
            let parts = Part::ALL.iter().filter(is_other).map(|part| value(part.name(), part.what()));
            let parts = parts.chain(Event::ALL.map(|event| value(event.name(), event.what())));
            let names =
                entries().chain(operations()).chain(short()).chain(switches).chain(profiles).chain(parts);
            // With a blank they would have to be quoted; the others are said in few words by the switch that they are of.
            let known = table.known_names().into_iter().filter(|name| !name.contains(' '));
            let known = known.filter_map(|name| Some(value(name, &table.known_as(name)?.1.first()?.what)));
            let elsewhere =
                elsewhere::ALL.iter().flat_map(|fault| fault.names).filter(|name| !name.contains(' '));
            let elsewhere =
                elsewhere.map(|name| value(name, "a fault of the processor that no entry pays for"));
            let topics = topic::ALL.iter().flat_map(|topic| topic.names).filter(|name| !name.contains(' '));
            let topics = topics.map(|name| value(name, "what several entries are about"));
            let has_another_name =
                |id: &&Id| table.switch(id.name()).is_none() && table.entry(id.name()).is_none();
            let findings = Id::ALL.iter().filter(has_another_name).map(|id| value(id.name(), "a finding"));
            let names = names.chain(known).chain(elsewhere).chain(topics).chain(findings);
            explain.mut_arg("name", |arg| offering(arg, names))
        })
        .mut_subcommand("reproduce", |reproduce| {
            let tables =
                compare::published::Publications::get().iter().map(|table| value(&table.name, &table.title));
            reproduce.mut_arg("table", |arg| offering(arg, tables))
        })
        .mut_subcommand("tax", |tax| {
            let layers = layers::LAYERS.iter().map(|layer| value(layer.name, layer.what));
            tax.mut_arg("layer", |arg| offering(arg, layers))
        })
        .mut_subcommand("man", |man| {
            man.mut_arg("subcommand", |arg| offering(arg, subcommands().into_iter().map(PossibleValue::new)))
        })
}

/// Marks all arguments that are runs.
fn with_runs(command: Command) -> Command {
    let is_run = |arg: &Arg| {
        let names = arg.get_value_names().unwrap_or_default();
        names.iter().any(|name| ["RUN", "BASE"].contains(&name.as_str()))
    };
    let marked = command.mut_args(|arg| if is_run(&arg) { arg.value_hint(RUN) } else { arg });
    marked.mut_subcommands(with_runs)
}

fn offering(arg: Arg, values: impl Iterator<Item = PossibleValue>) -> Arg {
    arg.value_parser(PossibleValuesParser::new(values))
}

/// Shells expand words that begin with `$`, even in a description.
fn value(name: &str, what: &str) -> PossibleValue {
    PossibleValue::new(name.to_string()).help(what.replace(['$', '`', '\\'], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_librarys_scripts_are_still_what_ours_add_to() {
        let command = command(Table::get());
        let generated = |shell| {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command.clone(), "kentry", &mut script);
            String::from_utf8(script).unwrap()
        };
        assert!(generated(Shell::Bash).contains("_kentry() {"));
        let plain = generated(Shell::Fish);
        let ours = fish(&plain, &command);
        assert!(ours.contains("$cmd[1..-2]"), "the library's function has changed");
        assert!(plain.contains("(__fish_print_hostnames)") && !ours.contains("hostnames"));
        let plain = generated(Shell::Zsh);
        let ours_of_zsh = zsh(&plain);
        assert!(plain.contains(":_hosts'") && !ours_of_zsh.contains("_hosts"));
        assert!(ours_of_zsh.find("_kentry_runs() {") < ours_of_zsh.find("if [ \"$funcstack[1]\""));
        for subcommand in ["explain", "man", "completions"] {
            let line = format!("using_subcommand {subcommand}\" -f -a");
            assert!(ours.contains(&line), "{subcommand}");
        }
    }

    #[test]
    fn an_anatomy_was_offered_entries_of_the_lab() {
        let command = command(Table::get());
        let offered = |of: &str, argument: &str| -> Vec<String> {
            let command = command.find_subcommand(of).unwrap();
            let found = command.get_arguments().find(|known| known.get_id() == argument).unwrap();
            found.get_possible_values().iter().map(|value| value.get_name().to_string()).collect()
        };
        let has = |names: &[String], name: &str| names.iter().any(|known| known == name);
        for of in ["anatomy", "linux"] {
            let entries = offered(of, "entry");
            assert!(has(&entries, "syscall-x86_64") && !has(&entries, "call-gate-i386"), "{of}: {entries:?}");
            let operations = offered(of, "operation");
            assert!(has(&operations, "getppid") && has(&operations, "minor-fault"), "{of}: {operations:?}");
        }
        let entries = offered("anatomy", "entry");
        assert!(
            has(&entries, "syscall") && has(&entries, "timer-interrupt") && !has(&entries, "call-gate"),
            "{entries:?}"
        );
        assert!(has(&offered("lab", "entry"), "call-gate-i386"));
        let explained = offered("explain", "name");
        assert!(
            has(&explained, "kernel-stack") && has(&explained, "timer-interrupt") && has(&explained, "pti")
        );
        let formats = offered("show", "format");
        assert!(["tree", "parts", "listing", "folded", "svg"].iter().all(|name| has(&formats, name)));
    }

    #[test]
    fn every_argument_that_is_a_run_is_known_to_be_one() {
        let script = bash(&command(Table::get()));
        for place in ["compare", "report", "show", "runs remove", "runs rename", "runs show", "runs tag"] {
            assert_eq!(script.matches(&format!("'{place}'")).count(), 2, "{place}");
        }
        assert!(script.contains("--base | --new | --run)"), "{script}");
        assert!(script.contains("--budget | ") && !script.contains("_OPTIONS") && !script.contains("PLACES"));
    }
}
