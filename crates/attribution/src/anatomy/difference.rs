//! What one path executes that another does not.

use crate::anatomy::functions::base;
use crate::anatomy::{Anatomy, Followed, Instruction, Part};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;
use std::ops::Range;

/// Two paths beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// From the first instruction to the last.
    pub pieces: Vec<Piece>,
}

/// A piece of both paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it is in the first path.
    pub first: Range<usize>,
    /// Where it is in the second.
    pub second: Range<usize>,
    /// Whether both execute the same.
    pub same: bool,
}

/// Instructions of two paths, or of a part or a function in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changed {
    /// In the first path.
    pub first: usize,
    /// In the second.
    pub second: usize,
    /// Those of the first that the second does not execute.
    pub less: usize,
    /// Those of the second that the first does not execute.
    pub more: usize,
}

impl Changed {
    /// Whether both paths have the same.
    pub fn is_none(&self) -> bool {
        self.less + self.more == 0 && self.first == self.second
    }
}

impl Difference {
    /// Aligns two paths: of one kernel as [`Difference::of`], of two as [`Difference::across`].
    pub fn between(first: &Followed, second: &Followed) -> Difference {
        let is_one = first.configuration.has_kernel_of(&second.configuration);
        let align = if is_one { Difference::of } else { Difference::across };
        align(&first.anatomy, &second.anatomy)
    }

    /// Aligns two paths through one kernel by part, function and text. Addresses do not count, nor do distances of jumps.
    pub fn of(first: &Anatomy, second: &Anatomy) -> Difference {
        Difference { pieces: pieces(&keys(first, exact), &keys(second, exact)) }
    }

    /// Aligns the paths through two kernels by part, function and text; and what is left between, by part and text, because functions are
    /// renamed, and become part of their callers. Besides addresses, offsets in memory do not count: where a structure or a CPU's own data
    /// has a field is another matter in each kernel.
    pub fn across(first: &Anatomy, second: &Anatomy) -> Difference {
        let known = pieces(&keys(first, anywhere), &keys(second, anywhere));
        let (first, second) = (keys(first, nameless), keys(second, nameless));
        let split = |piece: Piece| {
            if piece.same {
                return vec![piece];
            }
            let inner = pieces(&first[piece.first.clone()], &second[piece.second.clone()]);
            let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
            let placed = inner.into_iter().map(|one| Piece {
                first: moved(one.first, piece.first.start),
                second: moved(one.second, piece.second.start),
                same: one.same,
            });
            placed.collect()
        };
        Difference { pieces: joined(known.into_iter().flat_map(split)) }
    }

    /// Whether both execute the same.
    pub fn is_none(&self) -> bool {
        self.pieces.iter().all(|piece| piece.same)
    }

    /// Both paths, whole.
    pub fn total(&self, first: &Anatomy, second: &Anatomy) -> Changed {
        let all = self.by(first, second, |_| ());
        all.into_iter().next().map(|(_, changed)| changed).unwrap_or_default()
    }

    /// What differs, by part, in the order of [`Part::ALL`].
    pub fn parts(&self, first: &Anatomy, second: &Anatomy) -> Vec<(Part, Changed)> {
        let mut parts = self.by(first, second, |one| one.part);
        parts.retain(|(_, changed)| !changed.is_none());
        parts.sort_by_key(|(part, _)| *part);
        parts
    }

    /// What differs, by the name of the function that executes it, in the order of execution.
    pub fn functions(&self, first: &Anatomy, second: &Anatomy) -> Vec<(String, Changed)> {
        let mut functions = self.by(first, second, |one| one.function_name().to_string());
        functions.retain(|(_, changed)| !changed.is_none());
        functions
    }

    /// Counts by what instructions have in common, in the order in which that is first executed.
    fn by<T: Clone + Eq + std::hash::Hash>(
        &self,
        first: &Anatomy,
        second: &Anatomy,
        common: impl Fn(&Instruction) -> T,
    ) -> Vec<(T, Changed)> {
        let mut all: Vec<(T, Changed)> = Vec::new();
        let mut known: HashMap<T, usize> = HashMap::new();
        let mut add = |one: &Instruction, count: &dyn Fn(&mut Changed)| {
            let key = common(one);
            let place = *known.entry(key.clone()).or_insert_with(|| {
                all.push((key, Changed::default()));
                all.len() - 1
            });
            count(&mut all[place].1);
        };
        for piece in &self.pieces {
            let other = usize::from(!piece.same);
            for one in within(first, &piece.first) {
                add(one, &|changed| {
                    changed.first += 1;
                    changed.less += other;
                });
            }
            for one in within(second, &piece.second) {
                add(one, &|changed| {
                    changed.second += 1;
                    changed.more += other;
                });
            }
        }
        all
    }
}

fn within<'a>(anatomy: &'a Anatomy, range: &Range<usize>) -> &'a [Instruction] {
    anatomy.instructions.get(range.clone()).unwrap_or_default()
}

/// Aligns two lists of keys with the fewest changes. No path is longer than [`record::trace::MOST`], so this takes seconds at most.
fn pieces(first: &[Key], second: &[Key]) -> Vec<Piece> {
    let found = capture_diff_slices(Algorithm::Myers, first, second);
    let piece = |found: DiffOp| Piece {
        first: found.old_range(),
        second: found.new_range(),
        same: matches!(found, DiffOp::Equal { .. }),
    };
    found.into_iter().map(piece).collect()
}

/// Neighbours of the same kind as one piece.
fn joined(pieces: impl Iterator<Item = Piece>) -> Vec<Piece> {
    let mut all: Vec<Piece> = Vec::new();
    for piece in pieces {
        match all.last_mut().filter(|last| last.same == piece.same) {
            Some(last) => (last.first.end, last.second.end) = (piece.first.end, piece.second.end),
            None => all.push(piece),
        }
    }
    all
}

/// What makes two instructions the same: part, function, and text.
type Key<'a> = (Part, &'a str, String);

fn keys<'a>(anatomy: &'a Anatomy, key: fn(&'a Instruction) -> Key<'a>) -> Vec<Key<'a>> {
    anatomy.instructions.iter().map(key).collect()
}

/// In one kernel: text without addresses, and distances behind names.
fn exact(instruction: &Instruction) -> Key<'_> {
    (instruction.part, instruction.function_name(), without_addresses(&instruction.text))
}

/// In any kernel: names of functions without what the compiler has added, and text without offsets.
fn anywhere(instruction: &Instruction) -> Key<'_> {
    let text = without_offsets(&without_addresses(&instruction.text));
    let text = match text.rsplit_once(' ') {
        // A jump or a call ends with a name.
        Some((before, name)) if !name.contains(['%', '$', '(']) => format!("{before} {}", base(name)),
        _ => text,
    };
    (instruction.part, base(instruction.function_name()), text)
}

/// The same in whichever function it is: a jump that stays in its function says no name then.
fn nameless(instruction: &Instruction) -> Key<'_> {
    let (part, function, text) = anywhere(instruction);
    let text = match text.strip_suffix(function).filter(|before| before.starts_with('j')) {
        Some(before) => before.to_string(),
        None => text,
    };
    (part, "", text)
}

/// `jmp entry_SYSCALL_64` of `jmp entry_SYSCALL_64+0x20`, and `verw` of `verw 0xffffffff81c00040`.
fn without_addresses(text: &str) -> String {
    let without = |text: &str, mark: &str| {
        let mut pieces = text.split(mark);
        let first = pieces.next().unwrap_or_default().to_string();
        let is_digit = |digit: char| digit.is_ascii_hexdigit();
        pieces.fold(first, |short, piece| short + piece.trim_start_matches(is_digit))
    };
    without(&without(text, "+0x"), " 0xffffffff")
}

/// `mov %gs:, %rsp` of `mov %gs:0x1fb50, %rsp`, and `mov (%rax), %eax` of `mov 0x1478(%rax), %eax`. Numbers that are operands stay.
fn without_offsets(text: &str) -> String {
    let mut short = String::new();
    let is_offset = |c: char| c.is_ascii_alphanumeric() || c == '-';
    for (place, operand) in text.split_inclusive([' ', ',']).enumerate() {
        // The mnemonic, and what follows a segment, a register's or an immediate's sign.
        let colon = operand.find(':').map_or(0, |colon| colon + 1);
        let (segment, rest) = operand.split_at(colon);
        let behind = rest.trim_start_matches(is_offset);
        let is_memory =
            behind.starts_with('(') || (colon > 0 && rest.starts_with(|c: char| c.is_ascii_digit()));
        short.push_str(segment);
        short.push_str(if place > 0 && is_memory { behind } else { rest });
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_in_memory_are_no_part_of_what_an_instruction_is_and_operands_are() {
        for (text, short) in [
            ("mov %gs:0x1fb50, %rsp", "mov %gs:, %rsp"),
            ("cmp %eax, %gs:0x3500c", "cmp %eax, %gs:"),
            ("mov 0x68(%rax,%rbx), %rbx", "mov (%rax,%rbx), %rbx"),
            ("mov -8(%rbp), %rbx", "mov (%rbp), %rbx"),
            ("cmpq $0x33, 0x88(%rsp)", "cmpq $0x33, (%rsp)"),
            ("nopl (%rax,%rax)", "nopl (%rax,%rax)"),
            ("and $-0x1801, %rsp", "and $-0x1801, %rsp"),
            ("call __rcu_read_lock", "call __rcu_read_lock"),
            ("sysretq", "sysretq"),
            ("", ""),
        ] {
            assert_eq!(without_offsets(text), short);
        }
        assert_eq!(without_addresses("jne f+0x1c2"), "jne f");
        assert_eq!(without_addresses("verw 0xffffffff81c00040"), "verw");
        assert_eq!(without_addresses("mov $0xffffffff81c00040, %rax"), "mov $0xffffffff81c00040, %rax");
    }
}
