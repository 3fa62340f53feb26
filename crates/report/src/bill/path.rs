//! The path of an entry, piece by piece: bare, then each step, then what steps make together. What bars and pictures draw.

use attribution::bill::{Bill, ExplainedKind, Figure, Line};

/// What a piece of a bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The path with every switch at its first value.
    Bare,
    /// A step.
    Step,
    /// What steps cost together beyond their sum.
    Together,
    /// What is in the whole and in no piece, because a step has no figure.
    Open,
    /// Of a Linux: what the lab explains.
    Explained,
    /// Of a Linux that was followed: its C code.
    C,
    /// Of a Linux: what is left.
    Rest,
}

/// A piece of a path. One that makes the path shorter ends before it begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub kind: Kind,
    /// The letter that stands for a step, in bar and table.
    pub key: Option<char>,
    pub name: String,
    /// Where it begins and ends, in the bill's unit.
    pub from: f64,
    pub to: f64,
}

impl Piece {
    pub fn cost(&self) -> f64 {
        self.to - self.from
    }
}

/// Pieces, each of which begins where the one before ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Path {
    pub pieces: Vec<Piece>,
}

/// A piece as part of a bar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span<'a> {
    pub piece: &'a Piece,
    pub from: f64,
    pub to: f64,
}

/// Costs that differ by less are the same: sums of figures have rounding errors.
const NOTHING: f64 = 1e-6;

/// What a step adds to the path: alone, or the mean over orders where these were measured.
pub(super) fn added(bill: &Bill, line: &Line) -> Option<Figure> {
    if bill.orders > 0 { line.in_orders } else { line.alone }
}

/// The letters of the steps, by their place: those that have a figure have one, as long as there are letters.
pub(super) fn keys(bill: &Bill) -> Vec<Option<char>> {
    let mut letters = ('a'..='z').chain('A'..='Z');
    bill.lines.iter().map(|line| added(bill, line).and_then(|_| letters.next())).collect()
}

impl Path {
    /// From bare to the whole; none where bare has no figure.
    pub fn here(bill: &Bill) -> Option<Path> {
        let mut path = Path { pieces: Vec::new() };
        path.push(Kind::Bare, None, "bare", bill.bare?.estimate);
        for (line, key) in bill.lines.iter().zip(keys(bill)) {
            if let Some(figure) = added(bill, line) {
                path.push(Kind::Step, key, &line.step.name(), figure.estimate);
            }
        }
        let together = bill.interactions.filter(|_| bill.orders == 0).map_or(0.0, |figure| figure.estimate);
        path.push_unless_nothing(Kind::Together, "interactions", together);
        let missing = bill.whole.map_or(0.0, |whole| whole.estimate - path.end());
        path.push_unless_nothing(Kind::Open, "not told apart", missing);
        Some(path)
    }

    /// A Linux: what is explained here, and the rest; none where it has no figure.
    pub fn there(bill: &Bill) -> Option<Path> {
        let there = bill.there.as_ref()?;
        let (measured, explained) = (there.measured?.estimate, there.explained?.estimate);
        let of_c = there.parts.iter().filter(|part| part.kind == ExplainedKind::C);
        let c: f64 = of_c.filter_map(|part| part.figure).map(|figure| figure.estimate).sum();
        let mut path = Path { pieces: Vec::new() };
        path.push(Kind::Explained, None, "explained here", explained - c);
        path.push_unless_nothing(Kind::C, "Linux's C code", c);
        path.push_unless_nothing(Kind::Rest, "rest", measured - explained);
        Some(path)
    }

    fn push(&mut self, kind: Kind, key: Option<char>, name: &str, cost: f64) {
        let from = self.end();
        self.pieces.push(Piece { kind, key, name: name.to_owned(), from, to: from + cost });
    }

    fn push_unless_nothing(&mut self, kind: Kind, name: &str, cost: f64) {
        if cost.abs() > NOTHING {
            self.push(kind, None, name, cost);
        }
    }

    /// Where it ends.
    pub fn end(&self) -> f64 {
        self.pieces.last().map_or(0.0, |piece| piece.to)
    }

    /// The pieces that make it longer, one behind the other.
    pub fn longer(&self) -> Vec<Span<'_>> {
        let mut at = 0.0;
        let longer = self.pieces.iter().filter(|piece| piece.cost() > 0.0);
        longer.map(|piece| Span { piece, from: at, to: advance(&mut at, piece.cost()) }).collect()
    }

    /// The pieces that make it shorter, from the end of the others back.
    pub fn shorter(&self) -> Vec<Span<'_>> {
        let mut at = self.reach();
        let shorter = self.pieces.iter().filter(|piece| piece.cost() < 0.0);
        shorter.map(|piece| Span { piece, to: at, from: advance(&mut at, piece.cost()) }).collect()
    }

    /// Where the pieces that make it longer end.
    pub fn reach(&self) -> f64 {
        self.longer().last().map_or(0.0, |span| span.to)
    }
}

fn advance(at: &mut f64, cost: f64) -> f64 {
    *at += cost;
    *at
}
