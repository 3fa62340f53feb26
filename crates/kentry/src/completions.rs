//! Completion scripts.
//!
//! Static scripts that contain the table's names: they run no command, and the shell completes file names
//! itself, with `~` and quoting. (The library's dynamic engine is not stable yet, and in bash it loses words with
//! `=`, which is what `--set` takes.)

use crate::cli::Cli;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use table::Table;

/// The script for a shell.
pub fn script(shell: Shell) -> Vec<u8> {
    let mut command = command(Table::get());
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "kentry", &mut script);
    match shell {
        Shell::Bash => script.extend_from_slice(BASH_WORDS.as_bytes()),
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
    for subcommand in command.get_subcommands() {
        for argument in subcommand.get_positionals() {
            let values = argument.get_possible_values();
            let lines: Vec<String> = values.iter().map(fish_value).collect();
            script.push_str(&format!(
                "complete -c kentry -n \"__fish_kentry_using_subcommand {}\" -f -a \"{}\"\n",
                subcommand.get_name(),
                lines.join("\n")
            ));
        }
    }
    script
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
    if [[ $whole == *=* && $COMP_WORDBREAKS == *=* ]]; then
        prefix=${whole%=*}=
        [[ $whole == --*=* ]] && prefix=${prefix#*=}
        [[ -z $prefix ]] || COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
    fi
}
complete -F _kentry_words -o nosort -o bashdefault -o default kentry 2>/dev/null ||
    complete -F _kentry_words -o bashdefault -o default kentry
"#;

/// The command line for completion: a name is one of the table's. (When it is parsed, a name may also be a glob.)
fn command(table: &'static Table) -> Command {
    let entries = || table.entries.iter().map(|entry| value(&entry.name, &entry.title));
    let operations = || table.operations.iter().map(|operation| value(&operation.name, &operation.what));
    let short = || table.short_names().into_iter().map(PossibleValue::new);
    let switches = || {
        let pairs = table.switches.iter().flat_map(|switch| {
            // Of a number, its default stands for all.
            let number = switch.range.is_some().then_some(&switch.default);
            switch.values.iter().chain(number).map(move |to| (switch, to))
        });
        pairs.map(|(switch, to)| value(&format!("{}={to}", switch.name), &switch.what))
    };
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
    rows(Cli::command())
        .mut_subcommand("measure", rows)
        .mut_subcommand("compare", rows)
        .mut_subcommand("lab", |lab| rows(lab).mut_arg("set", |arg| offering(arg, switches())))
        .mut_subcommand("explain", |explain| {
            let switches =
                switches().chain(table.switches.iter().map(|switch| value(&switch.name, &switch.what)));
            let profiles = table.profiles.iter().map(|profile| value(&profile.name, &profile.what));
            let profiles =
                profiles.chain([value(findings::LIKE_HERE, "this machine's kernel, by its own words")]);
            let names = entries().chain(operations()).chain(short()).chain(switches).chain(profiles);
            explain.mut_arg("name", |arg| offering(arg, names))
        })
        .mut_subcommand("reproduce", |reproduce| {
            let tables = published::Publications::get().iter().map(|table| value(&table.name, &table.title));
            reproduce.mut_arg("table", |arg| offering(arg, tables))
        })
        .mut_subcommand("man", |man| {
            man.mut_arg("subcommand", |arg| offering(arg, subcommands().into_iter().map(PossibleValue::new)))
        })
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
        for subcommand in ["explain", "man", "completions"] {
            let line = format!("using_subcommand {subcommand}\" -f -a");
            assert!(ours.contains(&line), "{subcommand}");
        }
    }
}
