//! Exit codes, and what they mean.

/// Of every command.
pub const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "done"),
    (
        "1",
        "a result could not be written, or a run not kept, or not with its --name; where no run can be kept at all, kentry \
         warns and ends with 0, unless --name or --tag was given",
    ),
    ("2", "wrong usage"),
    ("3", "the environment does not allow measuring"),
    ("130", "interrupted (SIGINT, SIGTERM, SIGHUP, SIGQUIT); what was measured is printed, marked partial"),
];

/// One more for `measure`.
pub const NOISY_STATUS: (&str, &str) = ("6", "too few figures (--fail-if-noisy)");

/// Exit codes of `doctor`.
pub const DOCTOR_STATUS: &[(&str, &str)] = &[
    ("0", "no finding is at --fail-on (a warning, unless it says otherwise) or worse"),
    ("1", "one is; or a result could not be written"),
    ("2", "wrong usage"),
    ("3", "nothing could be looked at"),
    ("130", "interrupted (SIGINT, SIGTERM, SIGHUP, SIGQUIT); what was found out is printed, marked partial"),
];

/// What `doctor` adds to its exit codes.
pub const NAGIOS: &str = "With --format nrpe the exit status is that of a plugin of Nagios: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.";

/// The code of `doctor` where a finding is at --fail-on or worse.
pub const FOUND: u8 = 1;

/// Nagios's states, as exit codes: something costs more than it need, something is wrong, nothing could be looked at.
pub const NAGIOS_WARNING: u8 = 1;
/// See [`NAGIOS_WARNING`].
pub const NAGIOS_CRITICAL: u8 = 2;
/// See [`NAGIOS_WARNING`].
pub const NAGIOS_UNKNOWN: u8 = 3;

/// The code of [`NOISY_STATUS`].
pub const NOISY: u8 = 6;

/// Exit codes of `fleet`.
pub const FLEET_STATUS: &[(&str, &str)] = &[
    ("0", "judged; of a roll-out: no regression, or no gate was asked for"),
    ("1", "a regression (--fail-above); or a result could not be written"),
    ("2", "wrong usage, or nothing that is named can be read"),
    ("4", "inconclusive (--fail-above): nothing regressed for sure, and something may have"),
    ("7", "judged, but files are damaged and were left out"),
];

/// The code of a gate that a row fails.
pub const REGRESSION: u8 = 1;

/// The code of a gate that is neither passed nor failed.
pub const INCONCLUSIVE: u8 = 4;

/// The code of `fleet` where files were left out.
pub const DAMAGED: u8 = 7;

/// One more for `lab`.
pub const LAB_STATUS: &[(&str, &str)] =
    &[("4", "the guest did not finish its plan; what was measured is printed, marked partial")];

/// Exit codes with `--exec`.
pub const EXEC_STATUS: &[(&str, &str)] = &[
    ("125", "kentry itself failed, or the time (--timeout) was up"),
    ("126", "the program cannot be loaded"),
    ("127", "there is no such program"),
    ("128 + n", "signal n ended the program"),
];

/// Exit codes of `impact -- COMMAND`.
pub const IMPACT_STATUS: &[(&str, &str)] = &[
    ("125", "kentry itself failed"),
    ("126", "the program cannot be loaded"),
    ("127", "there is no such program"),
    ("128 + n", "signal n ended the program"),
];

/// The exit code of `compare --git-bisect` where there is no answer.
pub const STOPS_BISECTION: u8 = 128;

/// The exit code when a guest did not finish its plan; what was measured is shown.
pub const UNFINISHED: u8 = 4;

/// The exit code after an interruption: 128 plus the number of SIGINT, as shells report it.
pub const INTERRUPTED: u8 = 130;

/// The exit code of `--exec` where kentry itself failed, or the time was up.
pub const EXEC_FAILED: u8 = 125;

/// The exit code of `--exec` where the program cannot be loaded.
pub const NOT_LOADED: u8 = 126;

/// The exit code of `--exec` where there is no such program.
pub const NOT_FOUND: u8 = 127;

/// The exit code of `--exec` where a signal ended the program, less the signal's number.
pub const SIGNALLED: u8 = 128;

/// The exit codes of every command, and those of this one, ascending.
pub fn exit_status(more: &[(&str, &str)]) -> String {
    let mut all: Vec<&(&str, &str)> = EXIT_STATUS.iter().chain(more).collect();
    all.sort_by_key(|(code, _)| code.parse::<u8>().ok());
    format!("Exit status:\n{}", codes(all))
}

/// The exit codes of `fleet`.
pub fn fleet_status() -> String {
    format!("Exit status:\n{}", codes(FLEET_STATUS))
}

/// A line for each code.
pub fn codes<'a>(all: impl IntoIterator<Item = &'a (&'a str, &'a str)>) -> String {
    all.into_iter().map(|(code, what)| format!("  {code:<7}  {what}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_stood_behind_130() {
        for more in [std::slice::from_ref(&NOISY_STATUS), LAB_STATUS] {
            let text = exit_status(more);
            let codes =
                text.lines().skip(1).map(|line| line.split_whitespace().next().unwrap().parse().unwrap());
            let codes: Vec<u8> = codes.collect();
            assert!(codes.is_sorted() && codes.len() == EXIT_STATUS.len() + 1, "{text}");
        }
    }
}
