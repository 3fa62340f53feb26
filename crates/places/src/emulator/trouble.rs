//! What goes wrong with a program that runs or prepares a guest, in words.

use std::process::ExitStatus;
use std::time::Duration;

/// What went wrong with the program, or before it ran.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Trouble {
    /// The program that runs the guest is not installed.
    #[error("there is no {program} here: install it (Debian: apt install {packages})")]
    Missing {
        /// The program.
        program: String,
        /// The Debian packages that contain it and what it needs.
        packages: &'static str,
    },
    /// It could not be started, or watching it failed.
    #[error("{program} {error}")]
    Program {
        /// The program.
        program: String,
        /// What the kernel refused.
        error: process::Error,
    },
    /// It does not tell its version.
    #[error("`{program} --version` {why}")]
    Version {
        /// The program.
        program: String,
        /// What it did instead.
        why: String,
    },
    /// The files that the guest needs could not be made.
    #[error("the guest cannot be prepared: {0}")]
    Files(String),
    /// The program ended before it was done.
    #[error("{program} ended early, {status}{}", told(.said))]
    Ended {
        /// The program.
        program: String,
        /// How.
        status: ExitStatus,
        /// The last that it printed.
        said: String,
    },
    /// The virtual machine stopped by itself.
    #[error("the virtual machine stopped: {0}")]
    Stopped(String),
    /// It did not end in time.
    #[error("the guest did not finish within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// It wrote more than its limits allow.
    #[error("the guest wrote more than {0} bytes")]
    Flood(usize),
    /// Interrupted by the user.
    #[error("interrupted")]
    Interrupted,
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Trouble {
        let limit = error.raw_os_error().and_then(|number| process::limit(process::Errno::from_raw(number)));
        let words = process::in_words(&error);
        Trouble::Files(limit.map_or_else(|| words.clone(), |limit| format!("{words}: {limit}")))
    }
}

/// Of what a program printed, so many lines and letters are told: the reason stands at the end, and every row repeats it.
const LINES: usize = 3;
const LETTERS: usize = 300;

pub(crate) fn told(said: &str) -> String {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES)..].join("; ");
    let letters = last.chars().count();
    let kept: String = last.chars().skip(letters.saturating_sub(LETTERS)).collect();
    if kept.is_empty() { kept } else { format!(": {kept}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_this_machine_is_named() {
        let refused = Trouble::from(std::io::Error::from_raw_os_error(27)).to_string();
        assert_eq!(
            refused,
            "the guest cannot be prepared: File too large: no file may be so large, in memory neither (ulimit -f)"
        );
        let plain = Trouble::from(std::io::Error::from_raw_os_error(5)).to_string();
        assert_eq!(plain, "the guest cannot be prepared: Input/output error");
    }

    #[test]
    fn the_last_of_what_a_program_printed_is_told() {
        assert_eq!(told(" \n"), "");
        assert_eq!(told("one\n two \n\nthree\nfour\n"), ": two; three; four");
        let long = told(&format!("{}end", "é".repeat(5000)));
        assert!(long.chars().count() == LETTERS + 2 && long.ends_with("éend"), "{long}");
    }
}
