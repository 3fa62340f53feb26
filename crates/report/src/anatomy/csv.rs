//! Followed paths as CSV: a line for each instruction.

use super::words::place;
use crate::Error;
use crate::grid::{Column, Grid};
use attribution::anatomy::{Document, Followed, Instruction};

pub(super) fn render(document: &Document) -> Result<Vec<u8>, Error> {
    let numbered = |path| numbered(path).map(move |(number, one)| (path, number, one));
    let all: Vec<(&Followed, usize, &Instruction)> = document.paths.iter().flat_map(numbered).collect();
    Grid::of(&all)
        .column(Column::text("entry"), |(path, ..)| &path.anatomy.entry)
        .column(Column::text("operation"), |(path, ..)| &path.anatomy.operation)
        .column(Column::text("release"), |(path, ..)| &path.configuration.release)
        .column(Column::text("configuration"), |(path, ..)| path.configuration.name())
        .column(Column::number("number"), |(_, number, _)| *number)
        .column(Column::number("ring"), |(.., one)| one.ring)
        .column(Column::number("address"), |(.., one)| format!("{:#x}", one.address))
        .column(Column::text("place"), |(.., one)| place(one))
        .column(Column::number("depth"), |(.., one)| one.depth)
        .column(Column::text("bytes"), |(.., one)| &one.bytes)
        .column(Column::text("text"), |(.., one)| &one.text)
        .column(Column::text("part"), |(.., one)| one.part.name())
        .column(Column::text("confidence"), |(.., one)| one.confidence.name())
        .column(Column::text("idle"), |(.., one)| one.idle.to_string())
        .column(Column::text("cpu"), |(path, ..)| &path.configuration.cpu)
        .grid()
        .csv()
}

fn numbered(path: &Followed) -> impl Iterator<Item = (usize, &Instruction)> {
    path.anatomy.instructions.iter().enumerate()
}
