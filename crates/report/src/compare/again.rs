//! How more runs are measured so that they can be given to a comparison: each side's have a tag, which --base and --new take.

use crate::runs::short;
use compare::{RunHead, Side};

/// Whole commands name so many runs at most.
const FEW: usize = 4;

/// What to do with more runs, behind a sentence without its stop.
pub(super) fn then(sides: [&Side; 2]) -> String {
    match (values(sides), compare(sides)) {
        (Some([_, new]), Some(_)) => {
            format!(". On the base's side, on the new one with more={new}, and then all together:")
        }
        (Some([base, new]), None) => format!(
            "; then give all runs by --base and --new, and --base tag:more={base} --new tag:more={new}. On the base's side (on the new \
             one with more={new}):"
        ),
        (None, _) => "; then give every run, by --base and --new. On each side:".to_owned(),
    }
}

/// The comparison with the runs that were given and those that have a tag, to be typed; none where they are many, or some cannot be named.
pub(super) fn compare(sides: [&Side; 2]) -> Option<String> {
    let tags = values(sides)?;
    let is_few = sides.iter().map(|side| side.runs.len()).sum::<usize>() <= FEW;
    let mut command = is_few.then(|| "kentry compare".to_owned())?;
    for ((side, option), tag) in sides.iter().zip(["--base", "--new"]).zip(tags) {
        for run in &side.runs {
            command.push_str(&format!(" {option} {}", handle(run)?));
        }
        command.push_str(&format!(" {option} tag:more={tag}"));
    }
    Some(command)
}

/// The option that gives a run of the base's side its tag.
pub(super) fn tag(sides: [&Side; 2]) -> String {
    values(sides).map(|[base, _]| format!(" --tag more={base}")).unwrap_or_default()
}

/// The tags' values; none where one would not tell the sides apart.
fn values([base, new]: [&Side; 2]) -> Option<[String; 2]> {
    let values = [value(base)?, value(new)?];
    (values[0] != values[1]).then_some(values)
}

/// What tells the runs beside this side's first one from those of other comparisons: its name, or the beginning of its id.
fn value(side: &Side) -> Option<String> {
    handle(side.runs.first()?)
}

/// What a kept run is found by: its name, or the beginning of its id.
fn handle(run: &RunHead) -> Option<String> {
    let id = || run.id.as_deref().map(|id| short(id).to_owned()).filter(|id| is_plain(id));
    run.name.as_ref().filter(|name| is_plain(name)).cloned().or_else(id)
}

/// Whether a shell takes a name as it is.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::{Machine, Place};
    use table::Kernel;

    fn side(name: &str) -> Side {
        let run = RunHead {
            id: Some("5cf91bd6".repeat(4)),
            name: (!name.is_empty()).then(|| name.to_owned()),
            started: String::new(),
            place: Place::new(Machine::Host, Kernel::Linux),
            cpu: None,
            machine: None,
            kernel: None,
            boot: None,
            kentry: String::new(),
            quiet_share: None,
            partial: false,
            budget_seconds: None,
            options: None,
            command: None,
            arm: None,
        };
        Side { label: String::new(), runs: vec![run], boots: 1 }
    }

    #[test]
    fn the_runs_that_are_asked_for_can_be_given_to_a_comparison() {
        assert_eq!(tag([&side("old-1"), &side("")]), " --tag more=old-1");
        let sides = [&side("old-1"), &side("")];
        assert!(then(sides).contains("with more=5cf91bd6"), "{}", then(sides));
        let command =
            "kentry compare --base old-1 --base tag:more=old-1 --new 5cf91bd6 --new tag:more=5cf91bd6";
        assert_eq!(compare(sides).as_deref(), Some(command));
    }

    #[test]
    fn many_runs_are_not_typed() {
        let mut many = side("old-1");
        many.runs = vec![many.runs[0].clone(); FEW];
        let sides = [&many, &side("")];
        assert_eq!(compare(sides), None);
        assert!(then(sides).contains("--base tag:more=old-1 --new tag:more=5cf91bd6"), "{}", then(sides));
    }

    #[test]
    fn what_a_shell_would_not_take_as_it_is_is_not_typed() {
        for name in ["$(rm)", "a/b.json"] {
            assert_eq!(tag([&side(name), &side("new")]), " --tag more=5cf91bd6", "{name}");
            let sides = [&side(name), &side("")];
            assert!(tag(sides).is_empty() && !then(sides).contains("tag:"), "one tag for both sides");
        }
    }

    #[test]
    fn a_name_that_a_shell_would_not_take_as_it_is_is_not_typed() {
        assert!(is_plain("clock_gettime-monotonic"));
        for name in ["", "a b", "$(rm)", "a;b", "-e", "ä", "a'b"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
