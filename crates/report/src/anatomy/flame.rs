//! Stacks of functions: folded for other tools, and as a flame graph. The picture is static: no script, and nothing is loaded.

use super::names::names;
use super::words;
use crate::Error;
use crate::plain::{plain, xml};
use askama::Template;
use attribution::anatomy::{Document, Followed, Function};

/// Where the picture's boxes begin and how wide they are together, in its units.
const LEFT: f64 = 20.0;
const WIDTH: f64 = 920.0;
/// A row of boxes.
const ROW: f64 = 18.0;
/// Above the first path: the title.
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
    graphs: Vec<Graph>,
}

struct Graph {
    text_y: String,
    text: String,
    boxes: Vec<Box>,
}

/// A function.
struct Box {
    class: &'static str,
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
    let mut at = TOP;
    let graphs: Vec<Graph> = document.paths.iter().map(|path| graph(path, &mut at)).collect();
    let title = format!("kentry anatomy: {}", words::title(document));
    let facts = words::head(document).into_iter().map(|(label, text)| format!("{label}: {text}."));
    let picture = Picture {
        height: px(at + LINE),
        title: xml(&title),
        description: xml(&facts.collect::<Vec<_>>().join(" ")),
        graphs,
    };
    let mut text = picture.render()?;
    text.push('\n');
    Ok(text.into_bytes())
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

fn graph(path: &Followed, at: &mut f64) -> Graph {
    let all = path.anatomy.instructions.len();
    let text = format!(
        "Linux {}, {}: {}",
        path.configuration.release,
        path.configuration.name(),
        words::instructions(all)
    );
    let text_y = px(*at + 14.0);
    *at += LINE;
    let tree = path.anatomy.functions();
    let (mut boxes, mut deepest) = (Vec::new(), 0);
    // Each with where it begins, in instructions, and how deep it is.
    let mut open: Vec<(&Function, usize, usize)> = Vec::new();
    put(&mut open, &tree, 0, 0);
    while let Some((function, from, depth)) = open.pop() {
        deepest = deepest.max(depth + 1);
        boxes.push(drawn(function, from, depth, all, *at));
        if depth + 1 < DEEPEST {
            put(&mut open, function, from, depth + 1);
        }
    }
    *at += ROW * deepest as f64 + LINE;
    Graph { text_y, text: xml(&text), boxes }
}

/// What a function called, side by side from its beginning; its own instructions are the room that is left.
fn put<'a>(open: &mut Vec<(&'a Function, usize, usize)>, function: &'a Function, from: usize, depth: usize) {
    let mut at = from;
    for called in &function.called {
        open.push((called, at, depth));
        at += called.total;
    }
}

fn drawn(function: &Function, from: usize, depth: usize, all: usize, top: f64) -> Box {
    let scale = WIDTH / all.max(1) as f64;
    let (x, width) = (LEFT + from as f64 * scale, function.total as f64 * scale);
    let y = top + ROW * depth as f64;
    let room = ((width - 6.0) / CHARACTER).max(0.0) as usize;
    let name = xml(&function.name);
    let shown = match name.char_indices().nth(room) {
        _ if room < 3 => String::new(),
        Some((end, _)) => format!("{}…", name.get(..end.saturating_sub(1)).unwrap_or_default()),
        None => name.clone(),
    };
    let share = words::share(function.total, all);
    let times = if function.calls > 1 { format!(", {} times", function.calls) } else { String::new() };
    Box {
        class: class(&function.name),
        x: px(x),
        y: px(y),
        width: px(width),
        title: format!(
            "{name}{times}: {} ({share}), {} of its own",
            words::instructions(function.total),
            function.own
        ),
        name: shown,
        text_x: px(x + 3.0),
        text_y: px(y + 12.5),
    }
}

/// One of four fillings, by the name: a function looks the same wherever it stands.
fn class(name: &str) -> &'static str {
    const CLASSES: [&str; 4] = ["a", "b", "c", "d"];
    let sum = name.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    CLASSES.get(sum as usize % CLASSES.len()).copied().unwrap_or("a")
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
            let document = Document { schema: SCHEMA.to_owned(), kentry, started, paths, beside: None };
            String::from_utf8(folded(&document)).unwrap_or_default()
        };
        assert_eq!(of(vec![path("a;b\nc 7\u{1b}")]), "a,b c 7\\u{1b} 1\n");
        let mut second = path("b");
        second.configuration.parameters = "quiet;\n".to_owned();
        assert_eq!(of(vec![path("a"), second]), "as it boots;a 1\nquiet,;b 1\n");
    }
}
