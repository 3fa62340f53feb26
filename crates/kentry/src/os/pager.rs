//! Long text on a terminal goes through a pager, as with git.

use crate::os::interrupts;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

/// A shell's exit codes for a command that cannot be executed, or does not exist.
const NOT_RUN: [Option<i32>; 2] = [Some(126), Some(127)];

/// Whether the text was shown by a pager. It was not where standard output is no terminal, the text fits on it, no pager
/// is wanted, or the pager cannot be run; then the caller must print it.
pub fn show(text: &str) -> bool {
    let height = terminal_size::terminal_size().map_or(0, |(_, height)| usize::from(height.0));
    if !io::stdout().is_terminal() || text.lines().count() < height {
        return false;
    }
    let variable = |name: &str| std::env::var_os(name);
    command(&variable).is_some_and(|command| page(command, text).unwrap_or(false))
}

/// `KENTRY_PAGER`, or else `PAGER`, as the shell understands them, or else less. An empty one and `cat` mean none.
fn command(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<Command> {
    let Some(asked) = ["KENTRY_PAGER", "PAGER"].into_iter().find_map(variable) else {
        return Some(Command::new("less"));
    };
    if asked.is_empty() || asked == "cat" {
        return None;
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(asked);
    Some(shell)
}

/// Runs the pager; false if it could not be run. Leaving it before the end of the text is no error.
fn page(mut pager: Command, text: &str) -> io::Result<bool> {
    // The pager handles these signals itself; we wait until it ends. It does not inherit our handlers, but it would inherit
    // ignored signals.
    interrupts::leave();
    pager.stdin(Stdio::piped());
    // Quit if it fits on one screen, show colors, leave the text on the screen.
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            pager.env(name, value);
        }
    }
    let mut pager = pager.spawn()?;
    if let Some(mut input) = pager.stdin.take() {
        // The user may leave the pager before the end.
        let _ = input.write_all(text.as_bytes());
    }
    Ok(!NOT_RUN.contains(&pager.wait()?.code()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_names_the_pager() {
        let chosen = |set: &[(&str, &str)]| {
            let found =
                |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
            let command = command(&found)?;
            let last = command.get_args().last().unwrap_or(command.get_program());
            Some(last.to_string_lossy().into_owned())
        };
        assert_eq!(chosen(&[]).as_deref(), Some("less"));
        assert_eq!(chosen(&[("PAGER", "more")]).as_deref(), Some("more"));
        assert_eq!(chosen(&[("PAGER", "more"), ("KENTRY_PAGER", "most -x")]).as_deref(), Some("most -x"));
        assert_eq!(chosen(&[("PAGER", "more"), ("KENTRY_PAGER", "")]), None);
        assert_eq!(chosen(&[("PAGER", "cat")]), None);
    }
}
