//! The path as bars of a terminal. Each step is drawn by its letter, which stands before it in the table: whoever sees no colors, or a
//! locale without bars, reads the same.

use super::path::{Kind, Path, Span};
use super::words::amount;
use crate::line::{Line, look, wrapped};
use anstyle::{AnsiColor, Color, Style};
use attribution::bill::Bill;
use unicode_width::UnicodeWidthStr;

/// Columns for what a bar is of.
const LABEL: usize = 7;

/// Blanks between a bar and its figure.
const GAP: usize = 1;

/// Steps beside each other have different looks.
const STEPS: [Style; 2] = [on(AnsiColor::Cyan), on(AnsiColor::Yellow)];

const fn on(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(AnsiColor::Black))).bg_color(Some(Color::Ansi(color)))
}

/// Drawn for a step for which there is no letter.
const NO_LETTER: char = '+';

/// The bars, with a legend below; nothing where bare has no figure.
pub(super) fn bars(bill: &Bill, width: usize) -> Vec<Line> {
    let Some(here) = Path::here(bill) else { return Vec::new() };
    let there = Path::there(bill);
    let all = || std::iter::once(&here).chain(&there);
    let scale = all().map(|path| path.reach().max(path.end())).fold(0.0, f64::max);
    let figures = all().map(|path| amount(bill, path.end()));
    let room = GAP + figures.map(|figure| figure.width()).max().unwrap_or(0);
    let columns = width.saturating_sub(LABEL + room);
    if scale.is_nan() || scale <= 0.0 || columns == 0 {
        return Vec::new();
    }
    let ruler = Ruler { per_column: scale / columns as f64 };
    let mut lines = of_path(bill, "lab", &here, &ruler);
    lines.extend(there.iter().flat_map(|there| of_path(bill, "Linux", there, &ruler)));
    lines.extend(wrapped(Line::default(), look::FAINT, &legend(&here, there.as_ref(), &ruler), width, 0));
    lines
}

/// From costs to columns.
struct Ruler {
    per_column: f64,
}

impl Ruler {
    /// Ends are rounded, not lengths: so what stands one behind the other adds up.
    fn columns(&self, span: &Span) -> (usize, usize) {
        let at = |cost: f64| (cost / self.per_column).round().max(0.0) as usize;
        (at(span.from), at(span.to))
    }

    fn is_seen(&self, span: &Span) -> bool {
        let (from, to) = self.columns(span);
        from < to
    }
}

fn of_path(bill: &Bill, label: &str, path: &Path, ruler: &Ruler) -> Vec<Line> {
    let mut lines = vec![drawn(label, &path.longer(), ruler)];
    let shorter = path.shorter();
    if shorter.iter().any(|span| ruler.is_seen(span)) {
        let from_the_left: Vec<Span> = shorter.into_iter().rev().collect();
        lines.push(drawn("less", &from_the_left, ruler));
    }
    if let Some(last) = lines.last_mut() {
        last.blank(GAP);
        last.push(look::NAME, &amount(bill, path.end()));
    }
    lines
}

fn drawn(label: &str, spans: &[Span], ruler: &Ruler) -> Line {
    let mut line = Line::new(look::FAINT, label);
    line.blank_to(LABEL);
    let mut steps = 0;
    for span in spans {
        let (from, to) = ruler.columns(span);
        line.blank_to(LABEL + from);
        let look = match span.piece.kind {
            Kind::Bare | Kind::Explained => look::FAINT,
            Kind::Step => STEPS[steps % STEPS.len()],
            Kind::Together | Kind::Open | Kind::C | Kind::Rest => look::PLAIN,
        };
        if to > from {
            line.push(look, &glyph(span).to_string().repeat(to - from));
            steps += usize::from(span.piece.kind == Kind::Step);
        }
    }
    line
}

/// What a piece is drawn with: in ASCII too, each kind has its own.
fn glyph(span: &Span) -> char {
    match span.piece.kind {
        Kind::Bare | Kind::Explained => '█',
        Kind::Step => span.piece.key.unwrap_or(NO_LETTER),
        Kind::Together => '~',
        Kind::Open => '?',
        Kind::C => '=',
        Kind::Rest => '·',
    }
}

/// What the bars are drawn with, and what is too short to be seen.
fn legend(here: &Path, there: Option<&Path>, ruler: &Ruler) -> String {
    let pieces = || here.pieces.iter().chain(there.iter().flat_map(|path| &path.pieces));
    let has = |kind: Kind| pieces().any(|piece| piece.kind == kind);
    let mut items = vec!["█ bare"];
    items.extend(has(Kind::Step).then_some("a letter: the step of that letter"));
    let is_nameless = pieces().any(|piece| piece.kind == Kind::Step && piece.key.is_none());
    items.extend(is_nameless.then_some("+ steps for which there is no letter"));
    items.extend(has(Kind::Together).then_some("~ interactions"));
    items.extend(has(Kind::Open).then_some("? not told apart"));
    items.extend(has(Kind::Explained).then_some("of Linux █ explained here"));
    items.extend(has(Kind::C).then_some("= its C code"));
    items.extend(has(Kind::Rest).then_some("· rest"));
    let is_less = |path: &Path| path.shorter().iter().any(|span| ruler.is_seen(span));
    let less = is_less(here) || there.is_some_and(is_less);
    items.extend(less.then_some("less: what makes the path shorter, back from its end"));
    let hidden = |span: &Span| (!ruler.is_seen(span)).then_some(span.piece.key).flatten();
    let (longer, shorter) = (here.longer(), here.shorter());
    let mut hidden: Vec<char> = longer.iter().chain(&shorter).filter_map(hidden).collect();
    hidden.sort_unstable_by_key(|key| (key.is_ascii_uppercase(), *key));
    let hidden: Vec<String> = hidden.iter().map(char::to_string).collect();
    let hidden = (!hidden.is_empty()).then(|| format!("; too short to be seen: {}", hidden.join(" ")));
    format!("{}{}.", items.join("; "), hidden.unwrap_or_default())
}
