//! The lab's path beside Linux's own, instruction by instruction.

use crate::escape::escaped;
use crate::grid::{Cell, Column, Grid};
use crate::line::{Line, look, wrapped, written};
use crate::text::{after_blank, fact};
use crate::{Error, Format, Kind, Style};
use attribution::assembly::{Assembly, Count, Counted, One, Pair};

/// What makes two instructions the same, in words.
const LEGEND: &str = "=: the same in kind, which is what it does, to which registers, to what kind of memory, with which constant. Where a \
                      branch goes, where a variable lies and how far from a register an operand lies do not count, nor does the length of a \
                      nop. Code that is C in Linux, and what stands for it in the lab, is left out, and so are functions that both call.";

/// In `format`.
///
/// # Errors
/// [`Error`] where the format is none of it.
pub fn assembly(assembly: &Assembly, format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    match format {
        Format::Text => Ok(text(assembly, style)),
        Format::Csv => lines(assembly).csv(),
        Format::Markdown => Ok(markdown(assembly)),
        _ => Err(Error::unfit(Kind::ASSEMBLY, format)),
    }
}

fn text(assembly: &Assembly, style: &Style) -> Vec<u8> {
    let width = style.columns();
    let mut lines: Vec<Line> =
        head(assembly).iter().flat_map(|(label, text)| fact(label, text, width)).collect();
    lines.push(Line::default());
    lines.extend(self::lines(assembly).lines(width));
    lines.extend(after_blank(wrapped(Line::default(), look::FAINT, LEGEND, width, 0)));
    for table in [kinds(assembly), c(assembly)].iter().filter(|table| !table.is_empty()) {
        lines.push(Line::default());
        lines.extend(table.lines(width));
    }
    written(&lines, style)
}

fn markdown(assembly: &Assembly) -> Vec<u8> {
    let mut out = format!("# kentry bill --beside-linux: {}\n\n", escaped(&title(assembly)));
    for (label, text) in head(assembly).iter().filter(|(label, _)| *label != "assembly") {
        out.push_str(&format!("- {label}: {}\n", escaped(text)));
    }
    out.push_str(&format!("\n{}\n{}\n", lines(assembly).markdown(), escaped(LEGEND)));
    for table in [kinds(assembly), c(assembly)].iter().filter(|table| !table.is_empty()) {
        out.push_str(&format!("\n{}", table.markdown()));
    }
    out.into_bytes()
}

fn title(assembly: &Assembly) -> String {
    let Assembly { entry, operation, kernel, profile, .. } = assembly;
    format!("{operation} through {entry}: profile {profile} of the lab beside Linux {kernel}")
}

fn head(assembly: &Assembly) -> Vec<(&'static str, String)> {
    let Assembly { off, on, lacking, columns, c, .. } = assembly;
    let Counted { only_lab, only_linux, elsewhere } = columns.counted();
    let differs = match columns.counted() {
        none if none.is_none() => {
            "nothing: every instruction is the same in kind, in the same order".to_owned()
        }
        _ => format!(
            "Linux alone has {only_linux}, the lab alone has {only_lab}, and {elsewhere} stand in another place"
        ),
    };
    let all: usize = c.iter().map(|count| count.count).sum();
    let left_out = |why: &str, steps: &[String]| {
        (!steps.is_empty()).then(|| ("left out", format!("{}: {why}", steps.join(" "))))
    };
    let facts = [
        Some(("assembly", title(assembly))),
        Some(("figures", "instructions of one use, followed in QEMU's emulation; no times".to_owned())),
        left_out("this boot of Linux has them switched off", off),
        (!on.is_empty())
            .then(|| ("added", format!("{}: this boot of Linux has them switched on", on.join(" ")))),
        left_out("the emulated processor lacks what they need", lacking),
        Some((
            "columns",
            format!(
                "{} instructions of the lab, {} of Linux's assembly; {all} of Linux are C code, or functions that both call",
                columns.lab.len(),
                columns.linux.len()
            ),
        )),
        Some(("differs", differs)),
    ];
    facts.into_iter().flatten().collect()
}

/// Both columns.
fn lines(assembly: &Assembly) -> Grid {
    let (lab, linux) = (&assembly.columns.lab, &assembly.columns.linux);
    let of = |column: &[One], place: Option<usize>| place.and_then(|place| column.get(place)).cloned();
    let pairs: Vec<(Option<One>, Option<One>)> = assembly
        .columns
        .pairs()
        .into_iter()
        .map(|(left, right): Pair| (of(lab, left), of(linux, right)))
        .collect();
    let text = |one: &Option<One>| one.as_ref().map_or_else(|| Cell::from(""), |one| Cell::from(&one.text));
    let place = |one: &Option<One>| one.as_ref().map_or_else(|| Cell::from(""), |one| Cell::from(&one.place));
    Grid::of(&pairs)
        .column(Column::word("").key("same").alone("same"), |(lab, linux)| sign(lab, linux))
        .column(Column::text("lab"), |(lab, _)| text(lab))
        .column(Column::text("step"), |(lab, _)| place(lab))
        .column(Column::text("Linux"), |(_, linux)| text(linux))
        .column(Column::text("function").spare(1), |(_, linux)| place(linux))
        .grid()
}

fn sign(lab: &Option<One>, linux: &Option<One>) -> &'static str {
    match (lab, linux) {
        (Some(_), Some(_)) => "=",
        (Some(_), None) => "<",
        _ => ">",
    }
}

/// What differs, by kind.
fn kinds(assembly: &Assembly) -> Grid {
    let kinds: Vec<(&str, Count)> = assembly.columns.kinds().into_iter().collect();
    Grid::of(&kinds)
        .column(Column::text("what differs, by kind"), |(kind, _)| *kind)
        .column(Column::number("lab"), |(_, count)| Cell::unless_0(count.lab))
        .column(Column::number("Linux"), |(_, count)| Cell::unless_0(count.linux))
        .grid()
}

/// Linux's C code, by part.
fn c(assembly: &Assembly) -> Grid {
    Grid::of(&assembly.c)
        .column(Column::text("Linux's C code, by part"), |count| count.part.name())
        .column(Column::number("instructions"), |count| count.count)
        .column(Column::number("idle"), |count| Cell::unless_0(count.idle))
        .grid()
}
