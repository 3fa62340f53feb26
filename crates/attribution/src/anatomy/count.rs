//! Counts of a path: by part, and by function in the calls that it made.

use crate::anatomy::{Anatomy, Confidence, Instruction, Part};
use std::collections::{BTreeMap, HashMap};

/// Calls are not told apart below this depth: no kernel goes there, but a document may say so.
const DEEPEST: usize = 100;

/// How many instructions belong to a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartCount {
    /// The part.
    pub part: Part,
    /// All of them.
    pub count: usize,
    /// So many for each way to know it, in the order of [`Confidence::ALL`].
    pub by_confidence: [usize; Confidence::ALL.len()],
    /// Those that do nothing, or jump over what is switched off: what boot has left in the place of a protection.
    pub idle: usize,
}

impl PartCount {
    /// Whether nothing of it does anything here.
    pub fn is_off(&self) -> bool {
        self.count > 0 && self.idle == self.count
    }
}

/// What executed instructions are in: a function, or the program, and below it what that called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// How often it was called from where it stands.
    pub calls: usize,
    /// Instructions of its own.
    pub own: usize,
    /// Of these, how many belong to which part.
    pub parts: BTreeMap<Part, usize>,
    /// With those of what it called.
    pub total: usize,
    /// What it called, in the order of the first calls.
    pub called: Vec<Function>,
}

impl Anatomy {
    /// By part, in the order of [`Part::ALL`]; parts without an instruction are left out.
    pub fn parts(&self) -> Vec<PartCount> {
        let mut counts: BTreeMap<Part, PartCount> = BTreeMap::new();
        for instruction in &self.instructions {
            let part = instruction.part;
            let none = PartCount { part, count: 0, by_confidence: [0; Confidence::ALL.len()], idle: 0 };
            let count = counts.entry(part).or_insert(none);
            count.count += 1;
            count.idle += usize::from(instruction.idle);
            let place = Confidence::ALL.iter().position(|one| *one == instruction.confidence);
            place.into_iter().for_each(|place| count.by_confidence[place] += 1);
        }
        counts.into_values().collect()
    }

    /// How many instructions a ring executed.
    pub fn in_ring(&self, ring: u8) -> usize {
        self.instructions.iter().filter(|instruction| instruction.ring == ring).count()
    }

    /// The functions that were called, as a tree whose root has no name and no instructions of its own.
    pub fn functions(&self) -> Function {
        let mut tree = Tree {
            functions: vec![Function::default()],
            parents: vec![0],
            known: HashMap::new(),
            stack: vec![(0, 0)],
        };
        let mut last: Option<&Instruction> = None;
        for instruction in &self.instructions {
            tree.go(last, instruction);
            last = Some(instruction);
        }
        tree.into_root()
    }

    /// For flame graphs: each stack of functions, `entry_SYSCALL_64;do_syscall_64`, with the instructions of the last one itself, in the
    /// order of the path. A `;` in a name, which no kernel has but a document may, is a comma there.
    pub fn folded(&self) -> Vec<(String, usize)> {
        fn add(function: &Function, above: &str, all: &mut Vec<(String, usize)>) {
            let name = function.name.replace(';', ",");
            let stack = if above.is_empty() { name } else { format!("{above};{name}") };
            if function.own > 0 {
                all.push((stack.clone(), function.own));
            }
            function.called.iter().for_each(|called| add(called, &stack, all));
        }
        let mut all = Vec::new();
        self.functions().called.iter().for_each(|function| add(function, "", &mut all));
        all
    }
}

/// A tree that grows with the path.
struct Tree {
    functions: Vec<Function>,
    /// Of each function, which one called it; that is always an earlier one.
    parents: Vec<usize>,
    /// Which function has this name below another.
    known: HashMap<(usize, String), usize>,
    /// The calls that have not returned, each with its depth.
    stack: Vec<(usize, usize)>,
}

impl Tree {
    fn go(&mut self, last: Option<&Instruction>, instruction: &Instruction) {
        let name = instruction.function_name();
        // The root is above everything.
        let depth = (instruction.depth as usize).min(DEEPEST) + 1;
        let is_here = |tree: &Tree, place: usize| tree.functions[place].name == name;
        while self.stack.last().is_some_and(|(_, known)| *known > depth) {
            self.stack.pop();
        }
        let same = |tree: &Tree| {
            tree.stack.iter().rposition(|(place, known)| *known == depth && is_here(tree, *place))
        };
        if let Some(found) = same(self) {
            self.stack.truncate(found + 1);
        } else {
            // What a function jumps to in place of a call and a return is below it; labels of an entry's code are beside each other.
            let jumps = last.is_some_and(|last| last.text.starts_with('j'));
            let is_start = instruction.function.as_ref().is_some_and(|place| place.offset == 0);
            let is_tail = depth > 1 && jumps && is_start && self.stack.len() < 2 * DEEPEST;
            while !is_tail && self.stack.last().is_some_and(|(_, known)| *known == depth) {
                self.stack.pop();
            }
            let above = self.stack.last().map_or(0, |(place, _)| *place);
            let place = self.below(above, name);
            self.functions[place].calls += 1;
            self.stack.push((place, depth));
        }
        let here = self.stack.last().map_or(0, |(place, _)| *place);
        self.functions[here].own += 1;
        *self.functions[here].parts.entry(instruction.part).or_default() += 1;
    }

    /// The place of what is called by this name below another.
    fn below(&mut self, above: usize, name: &str) -> usize {
        *self.known.entry((above, name.to_string())).or_insert_with(|| {
            self.functions.push(Function { name: name.to_string(), ..Function::default() });
            self.parents.push(above);
            self.functions.len() - 1
        })
    }

    fn into_root(mut self) -> Function {
        self.functions.iter_mut().for_each(|function| function.total = function.own);
        // Those that were called stand behind their callers.
        while self.functions.len() > 1 {
            let (Some(mut function), Some(parent)) = (self.functions.pop(), self.parents.pop()) else {
                break;
            };
            function.called.reverse();
            self.functions[parent].total += function.total;
            self.functions[parent].called.push(function);
        }
        let mut root = self.functions.pop().unwrap_or_default();
        root.called.reverse();
        root
    }
}
