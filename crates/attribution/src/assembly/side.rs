//! Two columns, side by side.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::BTreeMap;

/// An instruction of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct One {
    /// In the assembler's words.
    pub text: String,
    /// The lab's step, or Linux's function.
    pub place: String,
    /// Its kind: what is the same where two of them do the same.
    pub kind: String,
}

/// A line of both columns: the places in them; the same instruction in kind where both are there.
pub type Pair = (Option<usize>, Option<usize>);

/// Instructions of a kind that only one column has in its place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Of the lab's.
    pub lab: usize,
    /// Of Linux's.
    pub linux: usize,
}

/// What differs in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// The lab executes these, and Linux does not.
    pub only_lab: usize,
    /// Linux executes these, and the lab does not.
    pub only_linux: usize,
    /// Both execute these, in another order.
    pub elsewhere: usize,
}

impl Counted {
    /// Whether the two columns are the same in kind.
    pub fn is_none(self) -> bool {
        self == Counted::default()
    }
}

/// Both columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// The lab's.
    pub lab: Vec<One>,
    /// Linux's.
    pub linux: Vec<One>,
}

impl Columns {
    /// With the fewest lines that differ. Neither column is long: a path of the lab fits a page, and entry code has no loops.
    pub fn pairs(&self) -> Vec<Pair> {
        let kinds = |column: &[One]| column.iter().map(|one| one.kind.clone()).collect::<Vec<_>>();
        let found = capture_diff_slices(Algorithm::Myers, &kinds(&self.lab), &kinds(&self.linux));
        let lines = |found: DiffOp| {
            let (lab, linux) = (found.old_range(), found.new_range());
            match found {
                DiffOp::Equal { .. } => lab.zip(linux).map(|(lab, linux)| (Some(lab), Some(linux))).collect(),
                _ => {
                    let of_linux = linux.map(|place| (None, Some(place)));
                    lab.map(|place| (Some(place), None)).chain(of_linux).collect::<Vec<_>>()
                }
            }
        };
        found.into_iter().flat_map(lines).collect()
    }

    /// What differs, by kind.
    pub fn kinds(&self) -> BTreeMap<&str, Count> {
        let mut kinds = BTreeMap::<&str, Count>::new();
        for pair in self.pairs() {
            match pair {
                (Some(place), None) => {
                    let one = self.lab.get(place);
                    one.into_iter().for_each(|one| kinds.entry(&one.kind).or_default().lab += 1);
                }
                (None, Some(place)) => {
                    let one = self.linux.get(place);
                    one.into_iter().for_each(|one| kinds.entry(&one.kind).or_default().linux += 1);
                }
                _ => {}
            }
        }
        kinds
    }

    /// What differs in all.
    pub fn counted(&self) -> Counted {
        self.kinds().into_values().fold(Counted::default(), |all, kind| {
            let elsewhere = kind.lab.min(kind.linux);
            Counted {
                only_lab: all.only_lab + kind.lab - elsewhere,
                only_linux: all.only_linux + kind.linux - elsewhere,
                elsewhere: all.elsewhere + elsewhere,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kinds: &str) -> Vec<One> {
        let one = |kind: &str| One { text: kind.into(), place: "place".into(), kind: kind.into() };
        kinds.split(' ').filter(|kind| !kind.is_empty()).map(one).collect()
    }

    fn counted(lab: &str, linux: &str) -> (usize, usize, usize) {
        let Counted { only_lab, only_linux, elsewhere } =
            Columns { lab: column(lab), linux: column(linux) }.counted();
        (only_lab, only_linux, elsewhere)
    }

    #[test]
    fn what_one_column_lacks_and_what_it_has_elsewhere_are_told_apart() {
        assert_eq!(counted("a b c", "a b c"), (0, 0, 0));
        assert_eq!(counted("a b b c", "a b c d"), (1, 1, 0));
        assert_eq!(counted("a b c", "b c a"), (0, 0, 1));
        assert_eq!(counted("", "a a"), (0, 2, 0));
        assert_eq!(counted("x a", ""), (2, 0, 0));
    }

    #[test]
    fn every_instruction_is_in_one_line() {
        let both = Columns { lab: column("a b x c"), linux: column("b y c c") };
        let pairs = both.pairs();
        let [lab, linux]: [Vec<usize>; 2] = [
            pairs.iter().filter_map(|(lab, _)| *lab).collect(),
            pairs.iter().filter_map(|(_, linux)| *linux).collect(),
        ];
        assert_eq!((lab, linux), (vec![0, 1, 2, 3], vec![0, 1, 2, 3]));
    }
}
