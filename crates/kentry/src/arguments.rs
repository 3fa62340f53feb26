//! What this process was called with, parsed.

use crate::cli::Cli;
use crate::error::{Error, code_without_command, is_for_nagios};
use crate::exit::EXEC_FAILED;
use crate::help;
use crate::messages::note;
use crate::options::values::is_kernel;
use crate::os::{locale, standard};
use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use table::{Table, Whose};

/// The command line of this process.
///
/// # Errors
/// What to print instead (also help and version), without control characters from the command line.
pub fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let matches = help::command().try_get_matches_from(arguments);
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| harmless(error, arguments))
}

/// Prints help or what is wrong with the command line, and ends; with --exec, with a code that cannot be the program's, and with
/// --git-bisect, with one that stops a bisection.
pub fn leave(error: &clap::Error, arguments: &[OsString]) -> ! {
    let is_wrong = error.use_stderr();
    let printed = standard::check().and_then(|()| error.print()).and_then(|()| std::io::stdout().flush());
    // If standard error cannot be written, the code still tells that the usage was wrong.
    let unwritten = printed.err().filter(|why| !is_wrong && why.kind() != std::io::ErrorKind::BrokenPipe);
    if is_wrong && is_for_nagios(arguments) {
        // Nagios reads the first line of the standard output. That it cannot be written, the code tells.
        let _ = std::io::stdout().write_all(&report::unknown_status("wrong usage: see its standard error"));
    }
    let usual = u8::try_from(error.exit_code()).unwrap_or(EXEC_FAILED);
    let code = match unwritten {
        None if is_wrong => code_without_command(arguments, usual),
        None => usual,
        Some(source) => {
            let error = Error::Output { target: "standard output".into(), source };
            note(&error.to_string());
            code_without_command(arguments, error.exit_code())
        }
    };
    std::process::exit(i32::from(code))
}

/// The library repeats arguments unescaped, and does not name the one that is not UTF-8.
fn harmless(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    if error.kind() == ErrorKind::InvalidUtf8 {
        let invalid = arguments.iter().filter(|argument| argument.to_str().is_none());
        let invalid: Vec<String> = invalid.map(|argument| report::plain_os(argument)).collect();
        let text = format!("names and numbers are written in UTF-8, which {} is not\n", invalid.join(", "));
        return clap::Error::raw(ErrorKind::InvalidUtf8, text);
    }
    suggest(&mut error, arguments);
    let said: Vec<(ContextKind, ContextValue)> =
        error.context().map(|(kind, value)| (kind, value.clone())).collect();
    for (kind, value) in said {
        let plain = |text: String| locale::text(&report::plain(&text)).into_owned();
        match value {
            ContextValue::String(text) => drop(error.insert(kind, ContextValue::String(plain(text)))),
            ContextValue::Strings(texts) => {
                let texts = texts.into_iter().map(plain).collect();
                drop(error.insert(kind, ContextValue::Strings(texts)));
            }
            _ => (),
        }
    }
    error
}

/// What was meant: a document that is named where a subcommand belongs should be shown, and an entry or operation measured.
fn suggest(error: &mut clap::Error, arguments: &[OsString]) {
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let subcommand = arguments.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let asked =
        said(ContextKind::InvalidSubcommand).or_else(|| said(ContextKind::InvalidArg)).unwrap_or_default();
    let tip = if let Some(option) = kernel_option(subcommand).filter(|_| is_kernel(&asked)) {
        format!("a kernel is named by an option: `kentry {subcommand} {option} {}`", report::plain(&asked))
    } else if is_document(&asked) {
        format!("a saved document is shown with `kentry show {}`", report::plain(&asked))
    } else if let Some(command) = to_measure(subcommand, &asked) {
        format!("to measure it: {command}")
    } else if asked == "--set" {
        "kernels in virtual machines have settings: `kentry lab --set NAME=VALUE`, `kentry linux --set NAME=VALUE`".into()
    } else if error.kind() == ErrorKind::MissingRequiredArgument && subcommand == "reproduce" {
        "name a published table; `kentry reproduce --list` shows what there is".into()
    } else {
        return;
    };
    // The library's own guess is by letters alone.
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

/// The command that measures the entry or operation of this name: on the kernel of the subcommand; without one on Linux, if it is there.
fn to_measure(subcommand: &str, word: &str) -> Option<String> {
    let (linux, lab) = ((Whose::Linux, "kentry"), (Whose::Lab, "kentry lab"));
    let mach = (Whose::Mach, "kentry lab --personality mach");
    let protected = (Whose::LabI386, "kentry lab --lab-kernel i386");
    let mach_i386 = (Whose::MachI386, "kentry lab --lab-kernel i386 --personality mach");
    let commands = match subcommand {
        "lab" => vec![lab, mach, protected, mach_i386],
        "linux" => vec![(Whose::Linux, "kentry linux")],
        "measure" => vec![linux],
        _ if subcommand == word => vec![linux, lab, mach, protected, mach_i386],
        _ => return None,
    };
    let table = Table::get();
    let serves = |whose: Whose| {
        let named = table.operations_of(word);
        table.rows(whose).any(|(_, operation)| named.contains(&operation))
    };
    commands.into_iter().find_map(|(whose, command)| {
        let named = table.entry_of(word, whose.kernel());
        let is_entry = named.is_some_and(|entry| !entry.operations_of(whose).is_empty());
        let option = if is_entry { "-e" } else { "-o" };
        (is_entry || serves(whose)).then(|| format!("{command} {option} {word}"))
    })
}

/// By which option a subcommand takes a kernel; none if it takes none.
fn kernel_option(subcommand: &str) -> Option<&'static str> {
    match subcommand {
        "bill" => Some("--follow"),
        "linux" => Some("--kernel"),
        _ => None,
    }
}

fn is_document(name: &str) -> bool {
    !name.starts_with('-') && (name.ends_with(".json") || Path::new(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(line: &str) -> String {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        parse(&arguments).unwrap_err().to_string()
    }

    #[test]
    fn who_names_a_kernel_where_none_belongs_is_told_its_option() {
        let file = tempfile::Builder::new().prefix("vmlinuz-6.1-").tempfile().unwrap();
        let kernel = file.path().to_str().unwrap();
        for (command, option) in [("bill", "--follow"), ("linux", "--kernel")] {
            let said = complaint(&format!("kentry {command} {kernel}"));
            assert!(said.contains(&format!("`kentry {command} {option} {kernel}`")), "{said}");
        }
        assert!(!complaint("kentry bill vmlinuz-that-is-nowhere").contains("--follow"));
    }

    #[test]
    fn who_names_what_is_measured_is_told_the_command() {
        for (line, command) in [
            ("kentry getppid", "to measure it: kentry -o getppid\n"),
            ("kentry syscall", "to measure it: kentry -e syscall\n"),
            ("kentry trapgate-i386", "to measure it: kentry lab -e trapgate-i386\n"),
            ("kentry mach_print", "to measure it: kentry lab --personality mach -o mach_print\n"),
            (
                "kentry lab mapped-time-mach",
                "to measure it: kentry lab --personality mach -e mapped-time-mach\n",
            ),
            ("kentry lab getppid", "to measure it: kentry lab -o getppid\n"),
            ("kentry lab syscall", "to measure it: kentry lab -e syscall\n"),
            ("kentry linux getppid", "to measure it: kentry linux -o getppid\n"),
            ("kentry --set pti=off", "`kentry lab --set NAME=VALUE`"),
            ("kentry reproduce", "`kentry reproduce --list` shows"),
            ("kentry run.json", "`kentry show run.json`"),
        ] {
            let said = complaint(line);
            assert!(said.contains(command), "{line}: {said}");
        }
        assert!(!complaint("kentry nonsense").contains("to measure it"));
    }
}
