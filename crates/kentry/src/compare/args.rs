//! The command line of `kentry compare`, and its exit codes.

use crate::compare::live::LiveArgs;
use crate::error::Error;
use crate::exit::{INCONCLUSIVE, REGRESSION, STOPS_BISECTION, codes};
use crate::options::output::{ShowArgs, formats};
use crate::options::rows::RowArgs;
use crate::options::values::one_of;
use clap::{Args, ValueHint};
use compare::{Above, Gate, GateAnswer, Inconclusive, On, Same, Settings};
use report::Kind;
use std::path::PathBuf;

/// Exit codes of `compare`. They differ from those of other commands, because 1 is what a gate says.
pub const COMPARE_STATUS: &[(&str, &str)] = &[
    ("0", "no regression; or compared, and no gate was asked for"),
    ("1", "a regression"),
    ("2", "wrong usage, or a run that cannot be read"),
    (
        "3",
        "the two sides are not comparable, no probe runs in an arm of --live, or there is too little memory",
    ),
    ("4", "inconclusive: nothing regressed for sure, and something may have"),
    (
        "5",
        "a result could not be written, or a run not kept (other commands end with 1); where no run can be kept at all, kentry warns, and \
         compares",
    ),
    ("130", "--live was interrupted; what was measured so far is compared"),
];

/// The same with `--git-bisect`.
pub const BISECT_STATUS: &[(&str, &str)] = &[
    ("0", "no regression: good"),
    ("1", "a regression: bad"),
    ("125", "inconclusive: this commit is skipped"),
    ("128", "everything else: the bisection stops"),
];

/// The two ways to name runs.
pub const COMPARE_USAGE: &str = "kentry compare [OPTIONS] BASE NEW\n       kentry compare [OPTIONS] --base RUN [--base RUN]... --new RUN [--new RUN]...\n       kentry compare [OPTIONS] --live COMMAND-A COMMAND-B";

/// In which order rows are shown.
const COMPARED_ROWS: &str = "Order of the rows:
  By verdict: closed, opened, cause changed, slower, faster, inconclusive, same. Slower and faster rows that clear the
  margin come before those within it; of each, the greatest change in margins comes first (docs/compare.md).";

/// The exit codes, which are not those of other commands.
pub fn compare_help() -> String {
    let (own, bisect) = (codes(COMPARE_STATUS), codes(BISECT_STATUS));
    format!("{COMPARED_ROWS}\n\nExit status:\n{own}\nWith --git-bisect:\n{bisect}")
}

/// What to compare, by what to judge it, and how to show it.
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// Two runs, what was and what is: by name, id, latest or latest~1 (the one before), or files; - is standard input. Or two files of
    /// `kentry anatomy`: what the second path executes more and less
    #[arg(value_names = ["BASE", "NEW"], num_args = 2, required_unless_present_any = ["base", "new", "live"], conflicts_with_all = ["base", "new", "live"], value_hint = ValueHint::FilePath)]
    pub runs: Vec<PathBuf>,
    /// A run of what was, or several by a glob of names ('old-*') or a tag (tag:commit=1a2b); may be given several times. Several, best of
    /// several boots, tell how much rows vary from run to run
    #[arg(long, value_name = "RUN", requires = "new", value_hint = ValueHint::FilePath)]
    pub base: Vec<PathBuf>,
    /// A run of what is, or several, as --base; may be given several times
    #[arg(long, value_name = "RUN", requires = "base", value_hint = ValueHint::FilePath)]
    pub new: Vec<PathBuf>,
    /// Measure two things that exist at once, in turns: the probe under either command, which stands where {} does, or else at the end;
    /// '' is no command, and --cpu NUMBER may stand before it (docs/live.md)
    #[arg(long, value_names = ["COMMAND A", "COMMAND B"], num_args = 2, allow_hyphen_values = true, conflicts_with_all = ["base", "new"], value_hint = ValueHint::Other)]
    pub live: Vec<String>,
    /// Which rows
    #[command(flatten)]
    pub rows: RowArgs,
    /// Changes below this are the same: N%, Ncycles (instructions, where these are counted), or both with a comma between them, of which
    /// the greater counts
    #[arg(long, value_name = "MARGIN", default_value = "2%,5cycles")]
    pub margin: Same,
    /// Let kept runs of this machine tell, too, how much rows vary from run to run; without it they do so only where no gate is asked for and
    /// each side is a single run, and the report names them
    #[arg(long, conflicts_with = "live", hide_short_help = true)]
    pub history: bool,
    /// Compare even what makes no sense together, such as an emulated run with a native one
    #[arg(long, hide_short_help = true)]
    pub force: bool,
    /// What counts as a regression
    #[command(flatten)]
    pub gate: GateArgs,
    /// How to show it, and where
    #[command(flatten)]
    pub show: CompareShowArgs,
    /// How to measure
    #[command(flatten)]
    pub measured: LiveArgs,
}

/// What counts as a regression.
#[derive(Debug, Clone, Args)]
pub struct GateArgs {
    /// End with 1 if a row costs more by this for sure: 3%, 10cycles, 3%,5cycles (the greater counts), or for some rows
    /// 'syscall=5%', 'int80-*=5%' or 'libc getcpu=4cycles'; may be given several times, and the last one that names a row counts for it
    #[arg(long, value_name = "[ROWS=]LIMIT", allow_hyphen_values = true)]
    pub fail_above: Vec<Above>,
    /// End with 1 if a row opened, closed, or is closed for another reason
    #[arg(long, value_name = "EVENT", value_delimiter = ',', value_parser = one_of(&On::ALL, On::name))]
    pub fail_on: Vec<On>,
    /// What JUnit and KTAP say of a row that --fail-above or --fail-on leaves open: skip, with the reason, or fail [default: skip]
    #[arg(long, value_name = "HOW", value_parser = one_of(&Inconclusive::ALL, Inconclusive::name), hide_short_help = true)]
    pub inconclusive: Option<Inconclusive>,
}

/// `--all` and `--verbose` of comparisons.
const ALL_COMPARED: &str =
    "Show every row, not only those of the first screen; with --live, measure every row, too";
const VERBOSE: &str = "Show what each row's verdict rests on, and every row";

/// How to show a comparison, and where.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", formats(Kind::COMPARISON)), mut_arg("all", |arg| arg.help(ALL_COMPARED)), mut_arg("verbose", |arg| arg.help(VERBOSE)))]
pub struct CompareShowArgs {
    /// Its rows
    #[command(flatten)]
    pub rows: ShowArgs,
    /// End as `git bisect run` expects: 125 if it is inconclusive, and 128 where there is no answer. It needs --fail-above or --fail-on
    #[arg(long, hide_short_help = true)]
    pub git_bisect: bool,
}

impl CompareArgs {
    /// What the comparison is judged by.
    pub fn settings(&self) -> Settings {
        let GateArgs { fail_above, fail_on, inconclusive } = self.gate.clone();
        let gate = Gate { above: fail_above, on: fail_on, inconclusive: inconclusive.unwrap_or_default() };
        Settings { same: self.margin, force: self.force, gate }
    }

    /// Refuses options that say how a gate ends where there is none: every run would pass it.
    ///
    /// # Errors
    /// [`Error::Usage`], with the first of them.
    pub fn has_its_gate(&self) -> Result<(), Error> {
        let needs = [
            (self.gate.inconclusive.is_some(), "--inconclusive says what a gate leaves open"),
            (self.show.git_bisect, "--git-bisect says what a gate finds"),
        ];
        match needs.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, what)) if !self.settings().gate.is_asked_for() => {
                Err(Error::Usage(format!("{what}: add --fail-above 3% or --fail-on closed")))
            }
            _ => Ok(()),
        }
    }

    /// Whether kept runs tell how much rows vary. A gate uses the runs that it is given, and nothing else: the same runs get the same
    /// verdict, whatever else is kept.
    pub fn uses_history(&self, base: usize, new: usize) -> bool {
        self.history || (base == 1 && new == 1 && !self.settings().gate.is_asked_for())
    }

    /// The runs of both sides, as they are named.
    pub fn sides(&self) -> [&[PathBuf]; 2] {
        match self.runs.as_slice() {
            [base, new] => [std::slice::from_ref(base), std::slice::from_ref(new)],
            _ => [&self.base, &self.new],
        }
    }
}

/// How a comparison went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// There is an answer; without a gate, it passes.
    Answered(GateAnswer),
    /// The sides make no sense together.
    NotComparable,
    /// There is none: the exit code says why.
    Failed(u8),
}

impl Ended {
    /// The exit code, as [`COMPARE_STATUS`] and [`BISECT_STATUS`] say.
    pub fn exit_code(self, is_bisection: bool) -> u8 {
        match (self, is_bisection) {
            (Ended::Answered(GateAnswer::Pass), _) => 0,
            (Ended::Answered(GateAnswer::Regression), _) => REGRESSION,
            (Ended::Answered(GateAnswer::Inconclusive), true) => 125,
            (_, true) => STOPS_BISECTION,
            (Ended::Answered(GateAnswer::Inconclusive), false) => INCONCLUSIVE,
            (Ended::NotComparable, false) => 3,
            (Ended::Failed(code), false) => code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use crate::exit::INTERRUPTED;
    use clap::Parser;

    fn parse(words: &str) -> Result<CompareArgs, clap::Error> {
        let words = ["kentry", "compare"].into_iter().chain(words.split_whitespace());
        match Cli::try_parse_from(words)?.command {
            Some(Command::Compare(args)) => Ok(args),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sides_are_two_runs_or_several_each() {
        let sides = |words: &str| parse(words).unwrap().sides().map(<[PathBuf]>::len);
        assert_eq!(sides("before after"), [1, 1]);
        assert_eq!(sides("--base a --base b --new c"), [2, 1]);
        for wrong in ["", "a", "a b c", "--base a", "--new a", "a --base b --new c", "a b --new c"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn arms_are_commands_and_no_options() {
        let live = ["kentry", "compare", "--live", "", "--cpu 1 strace -f", "--budget", "2"];
        let Some(Command::Compare(args)) = Cli::try_parse_from(live).unwrap().command else { panic!() };
        assert_eq!((args.live, args.runs.len()), (vec![String::new(), "--cpu 1 strace -f".to_string()], 0));
        assert_eq!(args.measured.time.budget, Some(std::time::Duration::from_secs(2)));
        for wrong in ["--live a", "x y --live a b", "--live a b --base x --new y"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_option_of_live_for_runs_that_are_measured_said_that_it_cannot_be_used_with_runs() {
        for (words, option) in [
            ("x y --budget 2", "--budget"),
            ("--base x --new y --cpu 1", "--cpu"),
            ("x y --realtime --seed 1", "--seed"),
            ("x y --timeout 3", "--timeout"),
            ("x y --no-save", "--no-save"),
        ] {
            let error = parse(words).unwrap().measured.none_given().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{option} needs --live: ")), "{words}: {error}");
        }
        assert!(parse("x y").unwrap().measured.none_given().is_ok());
    }

    #[test]
    fn what_a_gate_asks_for() {
        let args =
            parse("a b --fail-above 3% --fail-above int80-*=10cycles --fail-on opened,closed --git-bisect")
                .unwrap();
        let gate = args.settings().gate;
        let above: Vec<String> = gate.above.iter().map(Above::to_string).collect();
        assert_eq!(
            (above.join(" ").as_str(), gate.on),
            ("3% int80-*=10cycles", vec![On::Opened, On::Closed])
        );
        assert_eq!(parse("a b").unwrap().settings(), Settings::default());
        let margin = parse("a b --margin 1%").unwrap().margin;
        assert_eq!(margin, Same { percent: 1.0, cycles: 0.0 });
        for wrong in ["--fail-above 3", "--fail-above nan%", "--fail-on fire", "--margin x", "--margin 1%,2%"]
        {
            assert!(parse(&format!("a b {wrong}")).is_err(), "{wrong}");
        }
    }

    /// `--git-bisect --inconclusive fail` took `--inconclusive` for a gate, and called every commit good.
    #[test]
    fn a_bisection_without_a_gate_called_every_commit_good() {
        let gate = |words: &str| parse(&format!("a b {words}")).unwrap().has_its_gate();
        for (words, option) in [
            ("--git-bisect", "--git-bisect"),
            ("--inconclusive fail", "--inconclusive"),
            ("--git-bisect --inconclusive skip", "--inconclusive"),
        ] {
            let error = gate(words).unwrap_err().to_string();
            let is_said = error.starts_with(&format!("{option} says what a gate"))
                && error.ends_with(": add --fail-above 3% or --fail-on closed");
            assert!(is_said, "{words}: {error}");
            for rule in ["--fail-above 3%", "--fail-on closed"] {
                assert!(gate(&format!("{words} {rule}")).is_ok(), "{words} {rule}");
            }
        }
        assert!(gate("").is_ok());
    }

    #[test]
    fn kept_runs_tell_something_only_where_they_are_asked_for_or_nothing_else_does() {
        let uses = |words: &str, base, new| parse(words).unwrap().uses_history(base, new);
        assert!(
            uses("a b", 1, 1) && uses("a b --history", 3, 3) && uses("a b --history --fail-above 3%", 1, 1)
        );
        assert!(!uses("a b --fail-above 3%", 1, 1) && !uses("a b --fail-on closed", 1, 1));
        assert!(!uses("--base a --new b", 2, 1) && !uses("--base a --new b", 1, 3));
        assert!(parse("--live a b --history").is_err());
    }

    #[test]
    fn exit_codes_are_the_documented_ones() {
        use GateAnswer::{Inconclusive, Pass, Regression};
        let all = [
            Ended::Answered(Pass),
            Ended::Answered(Regression),
            Ended::Failed(2),
            Ended::NotComparable,
            Ended::Answered(Inconclusive),
            Ended::Failed(5),
            Ended::Failed(INTERRUPTED),
        ];
        assert_eq!(all.map(|ended| ended.exit_code(false)), [0, 1, 2, 3, 4, 5, 130]);
        assert_eq!(all.map(|ended| ended.exit_code(true)), [0, 1, 128, 128, 125, 128, 128]);
        let documented = |status: &[(&str, &str)]| {
            status.iter().map(|(code, _)| code.parse().unwrap()).collect::<Vec<u8>>()
        };
        assert_eq!(documented(COMPARE_STATUS), all.map(|ended| ended.exit_code(false)));
        assert_eq!(documented(BISECT_STATUS), [0, 1, 125, 128]);
        let page = include_str!("../../../../docs/compare.md");
        for (ended, (code, meaning)) in all.iter().zip(COMPARE_STATUS) {
            let line = format!("\n| {code} | {meaning} | {}, ", ended.exit_code(true));
            assert!(page.contains(&line), "{line}");
        }
    }
}
