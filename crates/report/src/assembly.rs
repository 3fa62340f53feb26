//! The lab's path beside Linux's own, instruction by instruction.

use crate::escape::escaped;
use crate::grid::{Cell, Column, Grid, Weight, Writer};
use crate::line::{Line, look, wrapped, written};
use crate::text::{after_blank, fact};
use crate::{Error, Format, Kind, Style, json};
use attribution::anatomy::PartCount;
use attribution::assembly::{Assembly, Count, Counted, One, Pair};
use serde_json::{Value, json};

/// The schema of the JSON that this version writes (`docs/assembly.schema.json`).
const SCHEMA: &str = "kentry.assembly/1";

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
        Format::Json => json::render(&document(assembly)),
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

fn document(assembly: &Assembly) -> Value {
    let Counted { only_lab, only_linux, elsewhere } = assembly.columns.counted();
    let instruction = |(lab, linux): &(Option<One>, Option<One>)| {
        json!({
            "in": whose(lab, linux),
            "kind": lab.as_ref().or(linux.as_ref()).map(|one| &one.kind),
            "lab": lab.as_ref().map(|one| json!({ "text": one.text, "step": one.place })),
            "linux": linux.as_ref().map(|one| json!({ "text": one.text, "function": one.place })),
        })
    };
    let part = |count: &PartCount| json!({ "part": count.part.name(), "instructions": count.count, "idle": count.idle });
    json!({
        "schema": SCHEMA,
        "kentry": env!("CARGO_PKG_VERSION"),
        "machine": "qemu-tcg",
        "entry": assembly.entry,
        "operation": assembly.operation,
        "kernel": assembly.kernel,
        "profile": assembly.profile,
        "is_ordered": assembly.is_ordered,
        "signal": assembly.signal,
        "off": assembly.off,
        "on": assembly.on,
        "lacking": assembly.lacking,
        "differs": { "lab": only_lab, "linux": only_linux, "elsewhere": elsewhere },
        "instructions": both(assembly).iter().map(instruction).collect::<Vec<_>>(),
        "c": assembly.c.iter().map(part).collect::<Vec<_>>(),
    })
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
        (!lacking.is_empty()).then(|| ("left out", lacking.join("; "))),
        assembly.own_order().map(|said| ("order", said)),
        assembly.until_the_handler().map(|said| ("signal", said)),
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

/// Each line of both columns.
fn both(assembly: &Assembly) -> Vec<(Option<One>, Option<One>)> {
    let (lab, linux) = (&assembly.columns.lab, &assembly.columns.linux);
    let of = |column: &[One], place: Option<usize>| place.and_then(|place| column.get(place)).cloned();
    let pairs = assembly.columns.pairs().into_iter();
    pairs.map(|(left, right): Pair| (of(lab, left), of(linux, right))).collect()
}

/// Both columns.
fn lines(assembly: &Assembly) -> Grid {
    let pairs = both(assembly);
    let text = |one: &Option<One>| one.as_ref().map_or_else(|| Cell::from(""), |one| Cell::from(&one.text));
    let place = |one: &Option<One>| one.as_ref().map_or_else(|| Cell::from(""), |one| Cell::from(&one.place));
    Grid::of(&pairs)
        .column(Column::word("").only(Writer::Text), |(lab, linux)| sign(lab, linux))
        .column(Column::word("in").only(Writer::Csv), |(lab, linux)| whose(lab, linux))
        .column(Column::word("in").only(Writer::Markdown), |(lab, linux)| whose(lab, linux))
        .column(Column::text("lab"), |(lab, _)| text(lab))
        .column(Column::text("step").spare(2), |(lab, _)| place(lab))
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

/// The same as a word: no program takes that for a formula.
fn whose(lab: &Option<One>, linux: &Option<One>) -> &'static str {
    match (lab, linux) {
        (Some(_), Some(_)) => "both",
        (Some(_), None) => "lab",
        _ => "linux",
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

/// Where the instructions of Linux are: its assembler's part, and by part what is C.
fn c(assembly: &Assembly) -> Grid {
    let of_assembly = assembly.columns.linux.len();
    let parts = assembly.c.iter().map(|count| Row::new(count.part.name(), count.count, count.idle));
    let all: usize = of_assembly + assembly.c.iter().map(|count| count.count).sum::<usize>();
    let first = Row::new("the assembler's part, as above", of_assembly, 0);
    let sum = Row { weight: Weight::Sum, ..Row::new("in the kernel", all, 0) };
    let rows: Vec<Row> = std::iter::once(first).chain(parts).chain([sum]).collect();
    Grid::of(&rows)
        .column(Column::text("Linux's C code, by part"), |row| row.name)
        .column(Column::number("instructions"), |row| row.count)
        .column(Column::number("idle"), |row| Cell::unless_0(row.idle))
        .weight(|row| row.weight)
        .grid()
}

/// A row of it.
struct Row {
    name: &'static str,
    count: usize,
    idle: usize,
    weight: Weight,
}

impl Row {
    fn new(name: &'static str, count: usize, idle: usize) -> Row {
        Row { name, count, idle, weight: Weight::Ordinary }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Selection;
    use attribution::anatomy::Part;
    use attribution::assembly::Columns;

    const PLAIN: Style = Style { color: false, width: 100, verbose: false, selection: Selection::All };

    fn sample() -> Assembly {
        let one = |text: &str| One { text: text.into(), place: "place".into(), kind: text.into() };
        let columns = Columns {
            lab: vec![one("swapgs"), one("push %rax"), one("sysretq")],
            linux: vec![one("endbr64"), one("swapgs"), one("sysretq")],
        };
        let c = vec![PartCount { part: Part::Work, count: 70, by_confidence: [0; 4], idle: 0 }];
        let (off, on) = (vec!["ibrs=on".into()], vec!["returns=thunk".into()]);
        let named = ["syscall-x86_64", "getppid", "6.1\u{1b}", "linux-6.1"].map(String::from);
        let [entry, operation, kernel, profile] = named;
        Assembly { entry, operation, kernel, profile, off, on, columns, c, ..Assembly::default() }
    }

    fn of(format: Format) -> String {
        String::from_utf8(assembly(&sample(), format, &PLAIN).unwrap()).unwrap()
    }

    #[test]
    fn both_columns_what_differs_and_where_the_rest_is_stand_in_the_text() {
        let text = of(Format::Text);
        for said in [
            "differs      Linux alone has 1, the lab alone has 1, and 0 stand in another place",
            "left out     ibrs=on: this boot",
            "added        returns=thunk: this boot",
            "order        the lab has no path of syscall-x86_64 in Linux's order",
            "=  swapgs",
            "<  push %rax",
            "work",
            "in the kernel",
            "73",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(!text.contains('\u{1b}') && !of(Format::Markdown).contains('\u{1b}'));
    }

    #[test]
    fn csv_has_a_line_for_each_line_of_both() {
        let csv = of(Format::Csv);
        assert_eq!(csv.lines().count(), 5, "{csv}");
        assert!(csv.contains("\r\nlinux,,,endbr64,place\r\n"), "{csv}");
        assert!(assembly(&sample(), Format::Svg, &PLAIN).is_err());
    }
}
