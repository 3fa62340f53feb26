//! What a bill says of the path's bytes in ring 3: a column of the table, what the protections are of the whole, and what is not in any
//! of these figures.

use super::words::{error, name};
use crate::figure::{ABSENT, number};
use crate::grid::{Cell, Column, Grid, Words};
use crate::line::look;
use attribution::bill::{Bill, Figure, Published, Ring3, Ring3Line};

/// The column of core cycles.
pub(super) const HEADING: &str = "ring 3";

/// What the figures are.
const FIGURES: &str = "core cycles of the path's own bytes, called as a function in ring 3: with a stack, variables and a service \
                       as the lab's kernel has them, and without what ring 3 cannot execute. Of a step: what the path loses without it. ±: 95 % confidence \
                       of the middle over layouts; by layout: the 10th to the 90th percentile of the turns, and a kernel has one layout. A processor may \
                       do more of it beside other work than it does here";

/// Of each row of the steps' table, in its order: bare, the steps, their sum and interactions, which have none here, and the whole. With
/// each, between which figures most layouts lie.
pub(super) fn figures(ring3: &Ring3, steps: usize) -> Vec<(Option<Figure>, String)> {
    let of_step = |place: usize| {
        let found = ring3.lines.get(place).map(|line| (line.in_company, range(line.range)));
        found.unwrap_or_default()
    };
    let sum = |figure| (figure, String::new());
    let sums = [None, None, ring3.whole].map(sum);
    std::iter::once(sum(ring3.bare)).chain((0..steps).map(of_step)).chain(sums).collect()
}

/// `1.2 to 2.9`
fn range(range: Option<[f64; 2]>) -> String {
    range.map(|[low, high]| format!("{} to {}", number(low), number(high))).unwrap_or_default()
}

/// What stands below the table: label and text.
pub(super) fn facts(bill: &Bill, ring3: &Ring3) -> Vec<(&'static str, String)> {
    let mut facts = vec![(HEADING, sentence(bill, ring3))];
    facts.extend(guessed(bill, ring3).map(|text| ("guessed", text)));
    facts.extend(faster(bill, ring3).map(|text| ("faster", text)));
    if let Some(why) = &ring3.why {
        facts.push(("no figure", format!("the whole has no figure: {why}")));
    }
    facts.push(("timed", FIGURES.to_owned()));
    if let Some(control) = &ring3.control {
        facts.push(("control", format!("the same path twice, as two arms: {}", with_error(control))));
    }
    facts.push(("where", measured(ring3)));
    facts.extend(absent(bill, ring3).map(|text| ("no figure", text)));
    facts
}

/// "The protections of this path cost 61 ±2 cycles here (59 to 63 by layout), where a getppid takes 438 ±1 on this Linux, whose protections
/// may be others; at most 4 privileged instructions of theirs are not in that": one that stands on a way which this call does not take
/// counts, too.
fn sentence(bill: &Bill, ring3: &Ring3) -> String {
    let count: usize = ring3.left_out.iter().map(|left| left.of_protections).sum();
    let (instructions, are) = if count == 1 { ("instruction", "is") } else { ("instructions", "are") };
    let left = format!("at most {count} privileged {instructions} of theirs {are} not in that");
    let by_layout = range(ring3.protections_range);
    let by_layout = if by_layout.is_empty() { by_layout } else { format!(" ({by_layout} by layout)") };
    let there = ring3.here.as_ref().map(|here| {
        format!(
            ", where a {} takes {} on this Linux, whose protections may be others",
            bill.operation,
            with_error(here)
        )
    });
    let there = there.unwrap_or_default();
    match (&ring3.protections, &ring3.whole) {
        (Some(figure), _) => format!(
            "the protections of this path cost {} cycles here{by_layout}{there}; {left}",
            with_error(figure)
        ),
        (None, Some(_)) => format!("the protections of this path have nothing that ring 3 executes; {left}"),
        (None, None) => format!("the protections of this path cost {ABSENT} cycles here; {left}"),
    }
}

/// The steps that this Linux may not have, with what each costs here.
fn guessed(bill: &Bill, ring3: &Ring3) -> impl Iterator<Item = String> {
    let of = |(line, found): (&attribution::bill::Line, &Ring3Line)| {
        let (why, figure) = (line.step.guess.as_ref()?, found.in_company.as_ref()?);
        Some(format!("{}, {} cycles of the whole: {why}", line.step.name(), with_error(figure)))
    };
    bill.lines.iter().zip(&ring3.lines).filter_map(of)
}

/// The steps with which the path is faster than without: more than noise and layouts make of it. None if there are none.
fn faster(bill: &Bill, ring3: &Ring3) -> Option<String> {
    let is_less = |found: &Ring3Line| {
        let below = |bound: Option<f64>| bound.is_some_and(|bound| bound < 0.0);
        below(found.in_company.and_then(|figure| figure.high)) && below(found.range.map(|[_, high]| high))
    };
    let steps: Vec<String> = bill
        .lines
        .iter()
        .zip(&ring3.lines)
        .filter(|(_, found)| is_less(found))
        .map(|(line, _)| name(bill, line))
        .collect();
    let said = || {
        format!(
            "{}: the path takes less time with each of these than without, in at least nine turns of ten",
            steps.join(", ")
        )
    };
    (!steps.is_empty()).then(said)
}

fn with_error(figure: &Figure) -> String {
    format!("{} {}", number(figure.estimate), error(figure)).trim_end().to_owned()
}

/// Where and how often.
fn measured(ring3: &Ring3) -> String {
    let of = |text: &Option<String>| text.clone().unwrap_or_else(|| ABSENT.to_owned());
    format!(
        "path {} on {}, Linux {}; {} turns, each in a layout of its own, of which every figure has at least {}",
        ring3.path,
        of(&ring3.cpu),
        of(&ring3.kernel),
        ring3.turns,
        ring3.undisturbed.map_or_else(|| ABSENT.to_owned(), |turns| turns.to_string())
    )
}

/// The steps without a figure, by the reason.
fn absent(bill: &Bill, ring3: &Ring3) -> impl Iterator<Item = String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (line, found) in bill.lines.iter().zip(&ring3.lines) {
        let Some(why) = found.why.as_deref() else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, steps)) => steps.push(name(bill, line)),
            None => reasons.push((why, vec![name(bill, line)])),
        }
    }
    reasons.into_iter().map(|(why, steps)| format!("{}: {why}", steps.join(", ")))
}

/// What is in none of the figures.
pub(super) fn left_out(ring3: &Ring3) -> Grid {
    Grid::of(&ring3.left_out)
        .column(Column::text("left out"), |left| Cell::name(&left.instruction))
        .column(Column::number("times").look(look::PLAIN), |left| left.count.to_string())
        .column(Column::number("of protections"), |left| left.of_protections.to_string())
        .words(Words::BEHIND, |left| format!("in: {}", left.steps.join(", ")))
        .grid()
}

/// What others have published of something that the bill names.
pub(super) struct Beside<'a> {
    /// A step's setting, or an instruction that is left out.
    pub what: String,
    /// What the step costs here, with its error; none of an instruction, which is not executed.
    here: Option<[String; 2]>,
    published: &'a Published,
}

impl Beside<'_> {
    /// Cost, processor and source.
    pub fn words(&self) -> String {
        let Published { cost, processor, source } = self.published;
        let processor = processor.as_deref().unwrap_or("a processor that is not named");
        format!("{cost}, on {processor} ({source})")
    }
}

/// All that is published: of the steps first, which are measured here as well.
pub(super) fn published<'a>(bill: &Bill, ring3: &'a Ring3) -> Vec<Beside<'a>> {
    let steps = bill.lines.iter().zip(&ring3.lines).flat_map(|(line, found)| {
        let here = found.in_company.map(|figure| [number(figure.estimate), error(&figure)]);
        let one = move |published| Beside { what: line.step.name(), here: here.clone(), published };
        found.published.iter().map(one)
    });
    let left_out = ring3.left_out.iter().flat_map(|left| {
        let one = |published| Beside { what: left.instruction.clone(), here: None, published };
        left.published.iter().map(one)
    });
    steps.chain(left_out).collect()
}

/// As a table: each stands beside what was measured here, and is in no figure.
pub(super) fn comparison(published: &[Beside]) -> Grid {
    let here =
        |part: usize| move |one: &Beside| one.here.as_ref().map(|here| Cell::Number(here[part].clone()));
    Grid::of(published)
        .column(Column::text("published"), |one| Cell::name(&one.what))
        .column(Column::number("here").look(look::PLAIN), here(0))
        .column(Column::number("±"), here(1))
        .words(Words::BEHIND, Beside::words)
        .grid()
}
