//! The tables of an impact, for text and Markdown alike.

use super::words::{amount, error, grouped, saving, saving_error, short, short_share};
use crate::bar;
use crate::grid::{Cell, Column, Grid, Weight, Words};
use crate::line::look;
use attribution::impact::{Impact, Interval, Part, Process, Remedy};

/// Without --verbose, so many calls and processes.
const SHOWN: usize = 16;

const NOTES: Words =
    Words { heading: "", alone: "note", look: look::FAINT, least: 30, below: Some(6), hang: None };

fn drawn(share: f64, columns: usize) -> String {
    bar::part_of(share, 1.0, columns)
}

fn bar_of(share: Option<&Interval>) -> Cell {
    Cell::Bar(share.map_or(0.0, |share| share.estimate.unwrap_or(share.low)), drawn)
}

fn weight(is_known: bool) -> Weight {
    if is_known { Weight::Ordinary } else { Weight::Without }
}

/// The calls, the most frequent first; and how many are left out.
pub(super) fn calls(impact: &Impact, verbose: bool) -> (Grid, usize) {
    let count = if verbose { impact.calls.len() } else { impact.calls.len().min(SHOWN) };
    let shown = impact.calls.get(..count).unwrap_or_default();
    let grid = Grid::of(shown)
        .column(Column::text("call"), |line| Cell::name(&line.name))
        .column(Column::word("numbers").spare(1), |line| &line.numbers)
        .column(Column::number("calls"), |line| Cell::Number(grouped(line.count)))
        .column(Column::number("in a second").spare(2), |line| {
            Cell::Number(grouped(line.per_second.round() as u64))
        })
        .column(Column::number("share %"), |line| Cell::Number(short_share(line.share.as_ref())))
        .column(Column::number("±").spare(1), |line| error(line.share.as_ref()))
        .column(Column::bar("share").spare(3), |line| bar_of(line.share.as_ref()))
        .grid();
    (grid, impact.calls.len() - count)
}

/// The processes, if there are several.
pub(super) fn processes(impact: &Impact, verbose: bool) -> (Grid, usize) {
    let several = if impact.processes.len() > 1 { impact.processes.as_slice() } else { &[] };
    let count = if verbose { several.len() } else { several.len().min(SHOWN) };
    let most = |process: &Process| {
        let names = process.calls.iter().take(3).map(|call| format!("{} {}", call.name, grouped(call.count)));
        names.collect::<Vec<_>>().join(", ")
    };
    let sum = |process: &Process| process.calls.iter().map(|call| call.count).sum::<u64>();
    let grid = Grid::of(several.get(..count).unwrap_or_default())
        .column(Column::text("process"), |process| Cell::from(process.name.as_str()))
        .column(Column::number("pid"), |process| process.pid)
        .column(Column::number("calls"), |process| Cell::Number(grouped(sum(process))))
        .column(Column::text("most of them"), most)
        .grid();
    (grid, several.len() - count)
}

/// What the share is made of, and what the processes carry.
pub(super) fn parts(impact: &Impact) -> Grid {
    let ns = |part: &Part| part.ns;
    Grid::of(&impact.parts)
        .column(Column::text("layer or protection"), |part| Cell::from(part.what.as_str()))
        .column(Column::number("ns a call"), move |part| Cell::Number(short(ns(part).as_ref(), amount)))
        .column(Column::number("share %"), |part| Cell::Number(short_share(part.share.as_ref())))
        .column(Column::number("±").spare(1), |part| error(part.share.as_ref()))
        .weight(|part| weight(part.ns.is_some()))
        .words(NOTES, |part| part.note.clone())
        .grid()
}

/// What would give back a part of it.
pub(super) fn remedies(impact: &Impact) -> Grid {
    Grid::of(&impact.remedies)
        .column(Column::text("remedy"), |remedy: &Remedy| Cell::from(remedy.what.as_str()))
        .column(Column::number("calls"), |remedy| Cell::Number(grouped(remedy.calls)))
        .column(Column::number("ns a call"), |remedy| Cell::Number(short(remedy.ns.as_ref(), amount)))
        .column(Column::number("gives back % of the CPU time"), |remedy| Cell::Number(saving(remedy)))
        .column(Column::number("±").spare(1), saving_error)
        .weight(|remedy| weight(remedy.ns.is_some()))
        .words(NOTES, |remedy| remedy.note.clone())
        .grid()
}
