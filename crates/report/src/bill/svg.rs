//! A picture of the path: on top the whole as one bar, with a Linux beside it, and below a row for each step, which begins where the
//! one before ends. Every piece is named where it is drawn, so that nothing hangs on telling colors apart.
//!
//! Texts go through [`xml`](crate::plain::xml) and are escaped by the template; there is no script, and nothing is loaded.

use super::path::{Kind, Path, Piece, Span, added};
use super::words;
use crate::Error;
use crate::figure::ABSENT;
use crate::picture::{self, Axis, LINE, Px, Swatch, TOP, Text, Tick, shortened};
use crate::plain::xml;
use askama::Template;
use attribution::bill::{Bill, Figure};

/// Heights, in the picture's units.
const ROW: f64 = 22.0;
const BAR: f64 = 28.0;

/// Room for the axis' labels above the bars.
const LABELS: f64 = 26.0;

/// The most characters that there is room for: the title, names, what stands in place of a bar, and a line of text.
const TITLE: usize = 88;
const NAME: usize = 28;
const SAID: usize = 80;
const TEXT: usize = 140;

/// A letter fits into a piece of this width.
const LETTER: f64 = 10.0;

pub(super) fn render(bill: &Bill) -> Result<Vec<u8>, Error> {
    let mut text = Picture::of(bill).render()?;
    text.push('\n');
    Ok(text.into_bytes())
}

/// What the template is filled with.
#[derive(Template)]
#[template(path = "bill.svg")]
struct Picture {
    height: Px,
    title: String,
    /// For who does not see it.
    description: String,
    lines: Vec<Text>,
    ticks: Vec<Tick>,
    /// Where the lines of the axis begin and end.
    axis: (Px, Px),
    bars: Vec<Bar>,
    rows: Vec<Row>,
    legend: Vec<Swatch>,
}

/// A path as one bar.
struct Bar {
    text_y: Px,
    name: &'static str,
    figure: String,
    pieces: Vec<Drawn>,
}

/// A rectangle.
struct Drawn {
    class: &'static str,
    x: Px,
    y: Px,
    width: Px,
    height: Px,
    /// In words.
    title: String,
    /// Its letter and where it stands, if it has room for one.
    letter: Option<(char, Px, Px)>,
}

/// A piece on a line of its own.
struct Row {
    text_y: Px,
    /// Whether it is a sum.
    is_sum: bool,
    key: String,
    name: String,
    /// The whole name, and what is said of it.
    title: String,
    piece: Option<Drawn>,
    /// The interval: where it begins and ends, and at which height.
    interval: Option<(Px, Px, Px)>,
    /// In place of a piece.
    said: String,
    figure: String,
    share: String,
}

impl Picture {
    fn of(bill: &Bill) -> Picture {
        let (here, there) = (Path::here(bill), Path::there(bill));
        let axis = Axis::of(&costs(bill, here.as_ref(), there.as_ref()));
        let lines = lines(bill);
        let begin = TOP + LINE * lines.len() as f64 + LABELS;
        let mut at = begin;
        let bars = [("lab", &here), ("Linux", &there)].into_iter().filter_map(|(name, path)| {
            let bar = bar(bill, name, path.as_ref()?, &axis, at);
            at += BAR + LINE;
            Some(bar)
        });
        let bars: Vec<Bar> = bars.collect();
        let rows = rows(bill, here.as_ref(), there.as_ref(), &axis, &mut at);
        let end = at;
        let legend = legend(here.as_ref(), there.as_ref(), end + LINE);
        Picture {
            height: Px(end + 2.0 * LINE + ROW),
            title: shortened(&xml(&format!("kentry bill: {}", words::title(bill))), TITLE),
            description: xml(&description(bill)),
            lines,
            ticks: axis.ticks(),
            axis: (Px(begin - 8.0), Px(end)),
            bars,
            rows,
            legend,
        }
    }
}

/// Everything that the axis must reach.
fn costs(bill: &Bill, here: Option<&Path>, there: Option<&Path>) -> Vec<f64> {
    let paths = || here.into_iter().chain(there);
    let pieces = paths().flat_map(|path| &path.pieces).flat_map(|piece| [piece.from, piece.to]);
    let whole = bill.whole.into_iter().flat_map(|whole| [Some(whole.estimate), whole.high]).flatten();
    pieces.chain(paths().map(Path::reach)).chain(whole).collect()
}

/// The facts above the picture, in lines.
fn lines(bill: &Bill) -> Vec<Text> {
    let own = words::head(bill).into_iter().chain(words::of_lab(bill)).filter(|(label, _)| *label != "bill");
    let linux = bill.there.iter().flat_map(|there| words::of_linux(bill, there));
    let facts = own.chain(linux.filter(|(label, _)| !label.is_empty()));
    picture::lines(facts.map(|(label, text)| format!("{label}: {text}")), TEXT)
}

/// The table in sentences.
fn description(bill: &Bill) -> String {
    let mut sentences = vec![format!("What each step of the profile {} adds.", bill.profile)];
    for (label, text) in
        words::of_lab(bill).into_iter().filter(|(label, _)| ["figures", "path", "lab's path"].contains(label))
    {
        sentences.push(format!("{label}: {text}."));
    }
    for line in &bill.lines {
        let figure =
            added(bill, line).map_or_else(|| ABSENT.to_owned(), |one| words::amount(bill, one.estimate));
        let remark = words::remark(line);
        let remark = if remark.is_empty() { remark } else { format!(" ({remark})") };
        sentences.push(format!("{}: {figure}{remark}.", words::name(bill, line)));
    }
    if let Some(there) = &bill.there {
        let amount = |figure: Option<Figure>| {
            figure.map_or_else(|| ABSENT.to_owned(), |one| words::amount(bill, one.estimate))
        };
        sentences.push(format!(
            "{}: measured there {}, explained here {}, rest {}.",
            words::linux(there),
            amount(there.measured),
            amount(there.explained),
            amount(there.rest),
        ));
    }
    sentences.join(" ")
}

/// How a piece is filled. Steps beside each other differ, and one that makes the path shorter is hollow.
fn class(piece: &Piece, number: usize) -> &'static str {
    match piece.kind {
        Kind::Bare => "bare",
        Kind::Step if piece.cost() < 0.0 => "less",
        Kind::Step if number.is_multiple_of(2) => "step-0",
        Kind::Step => "step-1",
        Kind::Together => "together",
        Kind::Open => "open",
        Kind::Explained => "explained",
        Kind::C => "c-code",
        Kind::Rest => "rest",
    }
}

/// A piece in words: `pti=on: 12 instructions`.
fn in_words(bill: &Bill, piece: &Piece) -> String {
    let unit = bill.unit.map_or("", attribution::bill::Unit::name);
    xml(&format!("{}: {} {unit}", piece.name, words::amount(bill, piece.cost())))
}

/// A path as one bar; what makes it shorter stands below, thinner, back from its end.
fn bar(bill: &Bill, name: &'static str, path: &Path, axis: &Axis, y: f64) -> Bar {
    let drawn = |spans: &[Span], y: f64, height: f64| -> Vec<Drawn> {
        let numbered = spans.iter().enumerate();
        numbered
            .map(|(number, span)| drawn(bill, span, class(span.piece, number), axis, (y, height)))
            .collect()
    };
    let mut pieces = drawn(&path.longer(), y, BAR);
    pieces.extend(drawn(&path.shorter(), y + BAR + 2.0, LINE - 8.0));
    let figure = words::amount(bill, path.end());
    Bar { text_y: Px(y + BAR / 2.0 + 4.0), name, figure, pieces }
}

fn drawn(bill: &Bill, span: &Span, class: &'static str, axis: &Axis, (y, height): (f64, f64)) -> Drawn {
    let (x, width) = axis.between(span.from, span.to);
    let letter = span.piece.key.filter(|_| width >= LETTER && height > LETTER);
    Drawn {
        class,
        x: Px(x),
        y: Px(y),
        width: Px(width),
        height: Px(height),
        title: in_words(bill, span.piece),
        letter: letter.map(|letter| (letter, Px(x + width / 2.0), Px(y + height / 2.0 + 4.0))),
    }
}

/// A row for each piece, and one for all steps that have none.
fn rows(bill: &Bill, here: Option<&Path>, there: Option<&Path>, axis: &Axis, at: &mut f64) -> Vec<Row> {
    let mut rows = Rows { bill, axis, at, whole: bill.whole, number: 0, rows: Vec::new() };
    let mut pieces = here.map(|path| path.pieces.as_slice()).unwrap_or_default();
    if let Some((bare, others)) = pieces.split_first() {
        rows.piece(bare, bill.bare, "");
        pieces = others;
    }
    let mut without = Vec::new();
    for line in &bill.lines {
        let (name, remark) = (words::name(bill, line), words::remark(line));
        match (added(bill, line), pieces.split_first()) {
            (Some(figure), Some((piece, others))) => {
                let row = rows.with(piece, &name, Some(figure), &remark);
                rows.push(row);
                pieces = others;
            }
            _ => without.push((name, remark)),
        }
    }
    rows.folded(&without);
    for piece in pieces {
        rows.piece(piece, bill.interactions.filter(|_| piece.kind == Kind::Together), "");
    }
    rows.sum("whole", bill.whole);
    if let Some(found) = &bill.there {
        rows.whole = found.measured;
        rows.sum("Linux, measured", found.measured);
        let note = found.why.as_deref().unwrap_or_default();
        for piece in there.map(|path| path.pieces.as_slice()).unwrap_or_default() {
            // What of it has an interval: a count of C code has none.
            let figure = match piece.kind {
                Kind::Rest => found.rest,
                Kind::C => None,
                _ => found.explained,
            };
            rows.piece(piece, figure, note);
        }
        if there.is_none() {
            rows.without("explained here, rest", note);
        }
    }
    rows.rows
}

/// Rows so far.
struct Rows<'a> {
    bill: &'a Bill,
    axis: &'a Axis,
    at: &'a mut f64,
    /// What shares are parts of.
    whole: Option<Figure>,
    number: usize,
    rows: Vec<Row>,
}

impl Rows<'_> {
    fn push(&mut self, row: Row) {
        self.rows.push(row);
        *self.at += ROW;
    }

    /// A row without a piece.
    fn empty(&self, name: &str, remark: &str) -> Row {
        let title = if remark.is_empty() { name.to_owned() } else { format!("{name}: {remark}") };
        Row {
            text_y: Px(*self.at + ROW / 2.0 + 4.0),
            is_sum: false,
            key: String::new(),
            name: shortened(&xml(name), NAME),
            title: xml(&title),
            piece: None,
            interval: None,
            said: String::new(),
            figure: ABSENT.to_owned(),
            share: String::new(),
        }
    }

    fn without(&mut self, name: &str, remark: &str) {
        let said = shortened(&xml(remark), SAID);
        self.push(Row { said, share: ABSENT.to_owned(), ..self.empty(name, remark) });
    }

    /// The steps without a figure: one with what is said of it, several by their names; the title of the row says why of each.
    fn folded(&mut self, steps: &[(String, String)]) {
        let names: Vec<&str> = steps.iter().map(|(name, _)| name.as_str()).collect();
        match steps {
            [] => {}
            [(name, remark)] => self.without(name, remark),
            several => {
                let why = |(name, remark): &(String, String)| format!("{name}: {remark}");
                let whole: Vec<String> = several.iter().map(why).collect();
                self.without(&format!("{} steps without a figure", several.len()), &names.join("; "));
                if let Some(row) = self.rows.last_mut() {
                    row.title = xml(&whole.join(". "));
                }
            }
        }
    }

    fn with(&mut self, piece: &Piece, name: &str, figure: Option<Figure>, remark: &str) -> Row {
        let (from, to) = (piece.from.min(piece.to), piece.from.max(piece.to));
        let span = Span { piece, from, to };
        let class = class(piece, self.number);
        self.number += 1;
        let (y, height) = (*self.at + 4.0, ROW - 8.0);
        let piece_drawn = Drawn { letter: None, ..drawn(self.bill, &span, class, self.axis, (y, height)) };
        let ends = figure.and_then(|figure| figure.low.zip(figure.high));
        let interval = ends.map(|(low, high)| {
            let (x, width) = self.axis.between(piece.from + low, piece.from + high);
            (Px(x), Px(x + width), Px(y + height / 2.0))
        });
        Row {
            key: piece.key.map(String::from).unwrap_or_default(),
            share: self.share(piece.cost()),
            figure: self.figure(figure, piece.cost()),
            piece: Some(piece_drawn),
            interval,
            ..self.empty(name, remark)
        }
    }

    fn figure(&self, figure: Option<Figure>, cost: f64) -> String {
        let error = figure.as_ref().map(words::error).filter(|error| !error.is_empty());
        let error = error.map(|error| format!(" {error}")).unwrap_or_default();
        format!("{}{error}", words::amount(self.bill, cost))
    }

    fn piece(&mut self, piece: &Piece, figure: Option<Figure>, remark: &str) {
        let row = self.with(piece, &piece.name, figure, remark);
        self.push(row);
    }

    fn share(&self, cost: f64) -> String {
        let whole = self.whole.map(|whole| whole.estimate).filter(|whole| *whole > 0.0);
        words::share(whole.map(|whole| cost / whole))
    }

    /// From nothing to a figure.
    fn sum(&mut self, name: &str, figure: Option<Figure>) {
        let Some(found) = figure else { return self.without(name, "") };
        let (kind, to) = (Kind::Explained, found.estimate);
        let piece = Piece { kind, key: None, name: name.to_owned(), from: 0.0, to };
        let row = self.with(&piece, name, figure, "");
        self.push(Row { is_sum: true, ..row });
    }
}

/// What the fillings mean, those that there are.
fn legend(here: Option<&Path>, there: Option<&Path>, y: f64) -> Vec<Swatch> {
    let all = [
        ("bare", "bare"),
        ("step-0", "a step, with its letter"),
        ("less", "a step that makes it shorter"),
        ("together", "interactions"),
        ("open", "not told apart"),
        ("explained", "explained here"),
        ("c-code", "Linux's C code"),
        ("rest", "rest"),
    ];
    let pieces = || here.into_iter().chain(there).flat_map(|path| &path.pieces);
    let shown = all.into_iter().filter(|(wanted, _)| pieces().any(|piece| class(piece, 0) == *wanted));
    picture::swatches(shown, y, 38.0)
}
