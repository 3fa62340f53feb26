//! What the words and marks of the page mean; only those that it has.

use super::{PageRun, Text};
use crate::cells::COUNTED;
use crate::head::{is_counted, lacks_cycles};
use crate::text::POPULATION;
use document::Row;
use table::special::{BARE_SYSCALL, CALL};

pub(super) fn terms(runs: &[PageRun]) -> Vec<Text> {
    let mut terms = Vec::new();
    let mut say = |label, text: String| terms.push(Text { label, text });
    let is_counted = |run: &PageRun| is_counted(&run.document);
    if !runs.iter().all(is_counted) {
        say("cost", "The entry less its control, which is the same code without the entry. Negative differences are shown as they are, and what is not known is -.".into());
        say(
            "95 % interval",
            format!(
                "For a typical round: {POPULATION}. The next run, another CPU or another placement in memory may differ by more."
            ),
        );
        say(
            "× syscall",
            format!(
                "The cost as a multiple of a bare system call ({BARE_SYSCALL}); × call: of a call and return ({CALL})."
            ),
        );
        say("p99", "99 of 100 single samples are at most this.".into());
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
    if runs.len() > 1 {
        say("difference", "Of a run's estimate from that of the first, with the run's own interval; the band is the first run's. What moves between runs is in neither: two intervals that do not touch are no proof of a change.".into());
        let is_judged = runs.iter().any(|run| !run.verdicts.is_empty());
        let judged =
            "Beside a difference stands what a comparison says of it, which knows how much runs vary.";
        let not_judged =
            "This page gives none: one run a side does not tell a change from what moves between runs.";
        say("verdict", if is_judged { judged } else { not_judged }.into());
    }
    say("private", "The environment names this machine's kernel with its command line, and its processor: look before you publish the page.".into());
    terms
}

fn rows(runs: &[PageRun]) -> impl Iterator<Item = &Row> {
    runs.iter().flat_map(|run| &run.document.results)
}
