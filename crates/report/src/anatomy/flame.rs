//! Stacks of functions: folded for other tools, and as a flame graph. The picture is static: no script, and nothing is loaded.
//!
//! Colors tell parts. A function whose own instructions are of one part has that part's filling; one in which several stand side by side
//! has none, and below it, behind what it called, is a box for each.

mod filling;

use super::names::names;
use super::{several, words};
use crate::Error;
use crate::plain::{plain, xml};
use askama::Template;
use attribution::anatomy::{Document, Followed, Function, Part, PartCount};
use filling::{Filling, Swatch};

/// Where the picture's boxes begin and how wide they are together, in its units.
const LEFT: f64 = 20.0;
const WIDTH: f64 = 920.0;
/// A row of boxes.
const ROW: f64 = 18.0;
/// Above the legend: the title.
const TOP: f64 = 52.0;
/// A path's line of text.
const LINE: f64 = 24.0;
/// A character of a box's name.
const CHARACTER: f64 = 6.6;
/// No box is deeper; kernels call some thirty functions deep.
const DEEPEST: usize = 100;

/// Stacks with their instructions: `entry_SYSCALL_64;do_syscall_64 16`. With several paths, what sets each apart is its lowest frame.
pub(super) fn folded(document: &Document) -> Vec<u8> {
    let is_one = document.paths.len() < 2;
    let mut out = String::new();
    for (path, name) in document.paths.iter().zip(names(document)) {
        let name = if is_one { String::new() } else { format!("{};", name.replace(';', ",")) };
        for (stack, count) in path.anatomy.folded() {
            out.push_str(&plain(&format!("{name}{stack} {count}")));
            out.push('\n');
        }
    }
    out.into_bytes()
}

/// What the template is filled with.
#[derive(Template)]
#[template(path = "anatomy.svg")]
struct Picture {
    height: String,
    title: String,
    description: String,
    /// Of the parts that there are.
    fillings: Vec<Filling>,
    legend: Vec<Swatch>,
    graphs: Vec<Graph>,
}

struct Graph {
    text_y: String,
    text: String,
    boxes: Vec<Box>,
}

/// A function, or instructions of one part in it.
struct Box {
    /// The part that all of it belongs to; none of a function with several.
    part: Option<&'static str>,
    x: String,
    y: String,
    width: String,
    /// In words: all instructions, its own, and its share.
    title: String,
    /// Its name as far as there is room for it, and where that stands.
    name: String,
    text_x: String,
    text_y: String,
}

pub(super) fn svg(document: &Document) -> Result<Vec<u8>, Error> {
    let trees: Vec<Function> = document.paths.iter().map(|path| path.anatomy.functions()).collect();
    let laid: Vec<Vec<Laid>> = match several::are(document) {
        false => trees.iter().map(laid).collect(),
        true => document.paths.iter().map(|path| by_part(&path.anatomy.parts())).collect(),
    };
    let mut at = TOP;
    let legend = filling::legend(
        document,
        |part| laid.iter().flatten().any(|one| one.what.part() == Some(part)),
        &mut at,
    );
    // One scale for all paths, so that the longer one is longer.
    let longest = document.paths.iter().map(|path| path.anatomy.instructions.len()).max().unwrap_or(0);
    let scale = WIDTH / longest.max(1) as f64;
    let graphs =
        document.paths.iter().zip(&laid).map(|(path, laid)| graph(path, laid, scale, &mut at)).collect();
    let title = format!("kentry anatomy: {}", words::title(document));
    let facts = words::head(document).into_iter().map(|(label, text)| format!("{label}: {text}."));
    let picture = Picture {
        height: px(at + LINE),
        title: xml(&title),
        description: xml(&facts.collect::<Vec<_>>().join(" ")),
        fillings: legend.iter().map(|swatch| Filling::of(swatch.part)).collect(),
        legend,
        graphs,
    };
    let mut text = picture.render()?;
    text.push('\n');
    Ok(text.into_bytes())
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

/// What is drawn: where it begins, in instructions, and how deep it is.
#[derive(Clone, Copy)]
struct Laid<'a> {
    what: What<'a>,
    from: usize,
    depth: usize,
}

#[derive(Clone, Copy)]
enum What<'a> {
    Function(&'a Function),
    /// A function's own instructions of a part.
    Part(Part, usize),
}

impl What<'_> {
    fn count(self) -> usize {
        match self {
            What::Function(function) => function.total,
            What::Part(_, count) => count,
        }
    }

    fn part(self) -> Option<Part> {
        match self {
            What::Function(function) => only_part(function),
            What::Part(part, _) => Some(part),
        }
    }
}

/// The part of all of a function's own instructions.
fn only_part(function: &Function) -> Option<Part> {
    let mut parts = function.parts.keys();
    parts.next().copied().filter(|_| parts.next().is_none())
}

/// All boxes of a path.
fn laid(tree: &Function) -> Vec<Laid<'_>> {
    let (mut all, mut open) = (Vec::new(), Vec::new());
    put(&mut open, tree, 0, 0);
    while let Some(one) = open.pop() {
        all.push(one);
        if let What::Function(function) = one.what
            && one.depth + 1 < DEEPEST
        {
            put(&mut open, function, one.from, one.depth + 1);
        }
    }
    all
}

/// Of many paths, each is one row: its parts behind each other, in the order in which a call comes to them.
fn by_part(parts: &[PartCount]) -> Vec<Laid<'static>> {
    let mut from = 0;
    let laid = |part: &PartCount| {
        let one = Laid { what: What::Part(part.part, part.count), from, depth: 0 };
        from += part.count;
        one
    };
    parts.iter().map(laid).collect()
}

fn graph(path: &Followed, laid: &[Laid], scale: f64, at: &mut f64) -> Graph {
    let all = path.anatomy.instructions.len();
    let text = format!(
        "Linux {}, {}: {}",
        path.configuration.release,
        path.configuration.name(),
        words::instructions(all)
    );
    let text_y = px(*at + 14.0);
    *at += LINE;
    let boxes = laid.iter().map(|one| drawn(one, all, scale, *at)).collect();
    let deepest = laid.iter().map(|one| one.depth + 1).max().unwrap_or(0);
    *at += ROW * deepest as f64 + LINE;
    Graph { text_y, text: xml(&text), boxes }
}

/// What a function called, side by side from its beginning, and behind that its own instructions by part, where these are of several.
fn put<'a>(open: &mut Vec<Laid<'a>>, function: &'a Function, from: usize, depth: usize) {
    let mut at = from;
    let parts = function.parts.iter().filter(|_| only_part(function).is_none());
    let parts = parts.map(|(part, count)| What::Part(*part, *count));
    for what in function.called.iter().map(What::Function).chain(parts) {
        open.push(Laid { what, from: at, depth });
        at += what.count();
    }
}

fn drawn(one: &Laid, all: usize, scale: f64, top: f64) -> Box {
    let count = one.what.count();
    let (x, width) = (LEFT + one.from as f64 * scale, count as f64 * scale);
    let y = top + ROW * one.depth as f64;
    let (name, title) = match one.what {
        What::Function(function) => (xml(&function.name), title(function, all)),
        What::Part(part, count) => (part.name().to_owned(), of_part(part, count, all)),
    };
    Box {
        part: one.what.part().map(Part::name),
        x: px(x),
        y: px(y),
        width: px(width),
        title,
        name: shortened(&name, width),
        text_x: px(x + 3.0),
        text_y: px(y + 12.5),
    }
}

/// As much of a name as there is room for.
fn shortened(name: &str, width: f64) -> String {
    let room = ((width - 6.0) / CHARACTER).max(0.0) as usize;
    match name.char_indices().nth(room) {
        _ if room < 3 => String::new(),
        Some((end, _)) => format!("{}…", name.get(..end.saturating_sub(1)).unwrap_or_default()),
        None => name.to_owned(),
    }
}

fn title(function: &Function, all: usize) -> String {
    let share = words::share(function.total, all);
    let times = if function.calls > 1 { format!(", {} times", function.calls) } else { String::new() };
    let part = only_part(function).map(|part| format!(" ({})", part.name())).unwrap_or_default();
    format!(
        "{}{times}: {} ({share}), {} of its own{part}",
        xml(&function.name),
        words::instructions(function.total),
        function.own
    )
}

fn of_part(part: Part, count: usize, all: usize) -> String {
    format!("{}: {} ({})", part.name(), words::instructions(count), words::share(count, all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use attribution::anatomy::{
        Anatomy, BootedConfiguration, Confidence, Instruction, Location, Part, SCHEMA,
    };

    fn path(function: &str) -> Followed {
        let instruction = Instruction {
            address: 0,
            ring: 0,
            bytes: String::new(),
            text: String::new(),
            function: Some(Location { name: function.to_owned(), offset: 0 }),
            depth: 0,
            part: Part::Other,
            confidence: Confidence::None,
            idle: false,
        };
        let anatomy = Anatomy { entry: "e".into(), operation: "o".into(), instructions: vec![instruction] };
        Followed::new(BootedConfiguration::default(), None, 0, anatomy)
    }

    #[test]
    fn a_name_split_a_stack_or_a_line() {
        let of = |paths: Vec<Followed>| {
            let (kentry, started) = (String::new(), String::new());
            let document = Document {
                schema: SCHEMA.to_owned(),
                kentry,
                started,
                paths,
                beside: None,
                is_history: false,
                left_out: Vec::new(),
                timed: None,
            };
            String::from_utf8(folded(&document)).unwrap_or_default()
        };
        assert_eq!(of(vec![path("a;b\nc 7\u{1b}")]), "a,b c 7\\u{1b} 1\n");
        let mut second = path("b");
        second.configuration.parameters = "quiet;\n".to_owned();
        assert_eq!(of(vec![path("a"), second]), "as it boots;a 1\nquiet,;b 1\n");
    }
}
