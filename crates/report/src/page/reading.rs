//! What the words and marks of the page mean; only those that it has.

use super::comparison::Head;
use super::{PageRun, Text};
use crate::cells::COUNTED;
use crate::fact::is_counted;
use crate::head::lacks_cycles;
use crate::text::POPULATION;
use document::Row;
use table::special::{BARE_SYSCALL, CALL};

pub(super) fn terms(runs: &[PageRun], comparison: &Head) -> Vec<Text> {
    let mut terms = Vec::new();
    let mut say = |label, text: String| terms.push(Text { label, text });
    let is_timed = !runs.iter().all(|run| is_counted(&run.document));
    if is_timed {
        say("cost", "The entry less its control, which is the same code without the entry. Negative differences are shown as they are, and what is not known is -.".into());
        say(
            "95 % interval",
            format!("{POPULATION}. Another CPU, another boot or another hour may differ by more."),
        );
        say(
            "× syscall",
            format!(
                "The cost as a multiple of a bare system call ({BARE_SYSCALL}); × call: of a call and return ({CALL})."
            ),
        );
        say("p99", "99 of 100 single samples are at most this. - where a sample is the mean of several uses, as of most entries that stay in user space.".into());
        say("single samples", "How they are distributed, all but half a percent at either end. Each small chart has a scale of its own; open a row for its axes. Dashed lines are modes: costs that samples gather at.".into());
        say("noisy", "The row works, but fewer than six rounds found the core alone. What was seen meanwhile estimates nothing.".into());
        say("ns", "At the clock that the core ran at; core cycles do not depend on it.".into());
    }
    if runs.iter().any(|run| lacks_cycles(&run.document)) {
        say("TSC ticks", "Stand where core cycles cannot be told.".into());
    }
    if rows(runs).any(|row| row.instructions.is_some()) {
        say(
            "emulated",
            format!(
                "Such rows count the instructions that an emulator executed; they are no time. {COUNTED}"
            ),
        );
    }
    let judgement: &[(&str, &str)] = match comparison.is_judged() {
        true if is_timed => &JUDGED,
        true => &COUNTED_CHANGES,
        false if runs.len() > 1 && comparison.answers.is_empty() => &NOT_JUDGED,
        false => &[],
    };
    judgement.iter().for_each(|(label, text)| say(label, (*text).into()));
    if let Some(margin) = comparison.margin.as_ref().filter(|_| comparison.is_judged()) {
        say(
            "margin",
            format!("{margin}, whichever is more. A change of less may exist, and you may not care."),
        );
    }
    say("private", "The environment names this machine's kernel with its command line, and its processor: look before you publish the page.".into());
    terms
}

fn rows(runs: &[PageRun]) -> impl Iterator<Item = &Row> {
    runs.iter().flat_map(|run| &run.document.results)
}

/// Where a comparison judged differences.
const JUDGED: [(&str, &str); 5] = [
    (
        "within a run",
        "The ± beside a cost says how sure it is in that run alone. What moves between runs is not in it: two of these intervals that do not touch are no proof of a change.",
    ),
    (
        "difference",
        "How the cost changed from the first run, and from where to where the change may be. What moves between runs is in this interval.",
    ),
    (
        "slower, faster",
        "The interval leaves out 0: the cost changed. Where nothing has changed, at most 5 of 100 comparisons contain any false slower or faster, however many rows they have. Each other run is a comparison of its own, so of pages with several, more contain one.",
    ),
    ("same", "Any change is for sure smaller than the margin."),
    (
        "inconclusive",
        "Neither is sure; the row may have changed or not. More runs tell; kentry compare says about how many.",
    ),
];

/// The same of instructions.
const COUNTED_CHANGES: [(&str, &str); 1] =
    [("difference", "Instructions are counted: what differs from the first run, differs for sure.")];

/// Where nobody compared the runs.
const NOT_JUDGED: [(&str, &str); 2] = [
    (
        "difference",
        "Of a run's estimate from that of the first, with the run's own interval; the band is the first run's. What moves between runs is in neither: two intervals that do not touch are no proof of a change.",
    ),
    ("verdict", "This page gives none: nobody compared the runs."),
];
