//! The templates of paths, and the steps that are attached to their hooks.

use crate::Table;
use crate::paths::{Error, File};
use iced_x86::{Decoder, DecoderOptions, Instruction};

/// The words of a step's record, as STEP_RECORD of path.inc writes it.
const STEP_WORDS: u64 = 4;

/// A path's record: where its address goes, its slot, its steps, its name, how it is entered.
const PATH_WORDS: usize = 5;

/// A number from here on has this bit of a condition.
const LAST_BIT: u32 = 31;

/// In place of a switch's id: how the path is entered (`lab/entry/layout.h`).
pub(crate) const ENTERED_BY: u32 = 0;

/// Likewise: whose system calls it serves.
pub(crate) const NUMBERS: u32 = 0xffff;

/// Of a path's record: how it is entered; above it, whose system calls it serves.
const KIND_BITS: u32 = 8;

/// What a step's presence depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// The id of a switch; `ENTERED_BY` or `NUMBERS` for what the path is.
    pub which: u32,
    /// A bit for each value.
    pub values: u32,
}

impl Condition {
    /// Whether it holds for a value.
    pub fn allows(&self, value: u32) -> bool {
        self.values >> value.min(LAST_BIT) & 1 == 1
    }
}

/// How many instructions one call executes of a step, where that is not each of them once (EXECUTES of path.inc).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Executed {
    /// Always.
    pub count: u64,
    /// And for each of a switch's number.
    pub each: u64,
    /// The id of that switch; 0 if there is none.
    pub switch: u32,
}

/// How many more instructions one call executes of what a step calls, where a condition holds (EXECUTES_MORE of path.inc).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct More {
    /// So many.
    pub count: u64,
    /// Where this holds.
    pub condition: Condition,
}

/// A step of a template; or a hook, which has no code.
#[derive(Debug, Clone)]
pub struct Step {
    /// What it does.
    pub name: String,
    /// All must hold.
    pub conditions: Vec<Condition>,
    /// Where its code is in the template.
    pub start: u64,
    /// Its code.
    pub code: Vec<u8>,
    /// If it is a hook: its number.
    pub hook: Option<u64>,
    /// How many bits its code has.
    pub bits: u32,
    /// What is executed of it, if that is not each instruction once.
    pub executed: Option<Executed>,
    /// What is executed besides, with some values of switches.
    pub more: Vec<More>,
}

impl Step {
    /// Its instructions, at the template's addresses.
    pub fn instructions(&self) -> Vec<Instruction> {
        Decoder::with_ip(self.bits, &self.code, self.start, DecoderOptions::NONE).into_iter().collect()
    }

    /// Where the next step begins.
    pub fn end(&self) -> u64 {
        self.start + self.code.len() as u64
    }

    /// Whether it is there with these values of switches; those that are not named have their defaults.
    pub fn is_on(&self, configuration: &[(&str, &str)]) -> bool {
        self.conditions.iter().all(|condition| {
            let switch = Table::get().switches.iter().find(|switch| u32::from(switch.id) == condition.which);
            let Some(switch) = switch else { return false };
            let asked = configuration.iter().find(|(name, _)| *name == switch.name);
            let value = asked.map_or(switch.default.as_str(), |(_, value)| value);
            switch.value(value).is_some_and(|value| condition.allows(value))
        })
    }
}

/// Steps that stand in one file: a path's own, or attached ones.
#[derive(Debug, Clone)]
pub struct Steps {
    /// In their order.
    pub steps: Vec<Step>,
    /// Where the last ends.
    pub end: u64,
}

/// A path's template.
#[derive(Debug, Clone)]
pub struct Path {
    /// Its name: `path_<name>` holds its address.
    pub name: String,
    /// How it is entered: `BY_*` of `lab/entry/layout.h`.
    pub kind: u32,
    /// Whose system calls it serves: `NUMBERS_*`.
    pub numbers: u32,
    /// Where it is built to run.
    pub slot: u64,
    /// Its own steps and hooks.
    pub own: Steps,
    /// What a call through it executes besides.
    pub beside: Vec<Beside>,
}

/// Code in no path, each instruction of which is executed once: by each call through a path (BESIDE of path.inc), for a task begins where its TSS says; or by
/// an entry in ring 3, in a page that the kernel has for programs (conforming.S).
#[derive(Debug, Clone)]
pub struct Beside {
    /// What it is.
    pub name: String,
    /// Where it is.
    pub start: u64,
    /// Its code.
    pub code: Vec<u8>,
    /// How many bits that has.
    pub bits: u32,
}

impl Beside {
    /// Those of the path whose address is kept there.
    fn of(file: &File, table: &[u64], path: u64) -> Result<Vec<Beside>, Error> {
        let rows = table.chunks_exact(Self::WORDS).filter(|row| row[0] == path);
        rows.map(|row| Beside::read(file, row)).collect()
    }

    const WORDS: usize = 5;

    /// A row of a table, behind whose it is.
    fn read(file: &File, row: &[u64]) -> Result<Beside, Error> {
        let [start, end, name, bits] = [row[1], row[2], row[3], row[4]];
        let code = file.bytes(start, end.saturating_sub(start))?.to_vec();
        Ok(Beside { name: file.text(name)?, start, code, bits: bits as u32 })
    }
}

/// The table of what steps execute, by address.
struct Declared(Vec<u64>);

impl Declared {
    const WORDS: usize = 5;

    /// The rows of the step whose code is there: what they count, for each of which number, and with which values.
    fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (Executed, u32)> {
        let rows =
            self.0.chunks_exact(Self::WORDS).filter_map(|row| <[u64; Self::WORDS]>::try_from(row).ok());
        rows.filter(move |row| (start..end).contains(&row[0])).map(|[_, count, each, switch, values]| {
            (Executed { count, each, switch: switch as u32 }, values as u32)
        })
    }
}

/// What no path may exceed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub slot: u64,
    pub room: u64,
    pub pieces: u64,
    pub faults: u64,
    pub name: u64,
}

/// All templates of a kernel.
#[derive(Debug, Clone)]
pub struct Paths {
    /// In the order of their slots.
    pub paths: Vec<Path>,
    /// The steps that are attached to hooks, by the hook's number, in their order.
    pub attached: Vec<(u64, Steps)>,
    /// What entries without a path execute of the kernel's pages for programs, by the entry's name.
    pub for_programs: Vec<(String, Beside)>,
    /// Displacements that are corrected; faults and where they go on; parameters and their switches: as the tables have them.
    pub(crate) branches: Vec<u64>,
    pub(crate) faults: Vec<u64>,
    pub(crate) parameters: Vec<u64>,
    pub(crate) limits: Limits,
}

impl Paths {
    /// Reads a kernel's templates.
    ///
    /// # Errors
    /// [`Error`] when the file has no paths, or its tables point to nowhere.
    pub fn read(file: &File) -> Result<Paths, Error> {
        let paths = file.table("path_list")?;
        let executed = Declared(file.table("path_executed")?);
        let beside = file.table("path_beside")?;
        let path = |words: &[u64]| match words {
            [address, slot, steps, name, kind] => Ok(Path {
                slot: *slot,
                name: file.text(*name)?,
                kind: *kind as u32 & ((1 << KIND_BITS) - 1),
                numbers: *kind as u32 >> KIND_BITS,
                own: steps_at(file, *steps, &executed)?,
                beside: Beside::of(file, &beside, *address)?,
            }),
            _ => Err(Error::NoSymbol("path_list_end behind the last path".into())),
        };
        let attached = file.table("path_attached")?;
        let attached =
            attached.chunks_exact(2).map(|pair| Ok((pair[1], steps_at(file, pair[0], &executed)?)));
        let for_programs = file.table("code_for_programs")?;
        let for_programs = for_programs
            .chunks_exact(Beside::WORDS)
            .map(|row| Ok((file.text(row[0])?, Beside::read(file, row)?)));
        let limits = file.symbol("path_limits")?;
        let limit = |index: u64| file.word(limits + file.word_bytes() * index);
        Ok(Paths {
            paths: paths.chunks(PATH_WORDS).map(path).collect::<Result<_, _>>()?,
            attached: attached.collect::<Result<_, Error>>()?,
            for_programs: for_programs.collect::<Result<_, Error>>()?,
            branches: file.table("path_branches")?,
            faults: file.table("path_faults")?,
            parameters: file.table("path_parameters")?,
            limits: Limits {
                slot: limit(0)?,
                room: limit(1)?,
                pieces: limit(2)?,
                faults: limit(3)?,
                name: limit(4)?,
            },
        })
    }

    /// The path of that name.
    pub fn path(&self, name: &str) -> Option<&Path> {
        self.paths.iter().find(|path| path.name == name)
    }

    /// The steps of a path with those that are attached to its hooks, which depend on switches alone.
    pub fn steps(&self, path: &Path) -> Vec<Step> {
        let of_path = |step: &Step| {
            let is_of_path = |condition: &&Condition| [ENTERED_BY, NUMBERS].contains(&condition.which);
            let (own, switches): (Vec<Condition>, Vec<Condition>) =
                step.conditions.iter().partition(is_of_path);
            let is_meant = own.iter().all(|condition| {
                condition.allows(if condition.which == NUMBERS { path.numbers } else { path.kind })
            });
            is_meant.then(|| Step { conditions: switches, ..step.clone() })
        };
        let mut steps = Vec::new();
        for step in path.own.steps.iter().filter_map(of_path) {
            let attached = self.attached.iter().filter(|(hook, _)| Some(*hook) == step.hook);
            let attached = attached.flat_map(|(_, attached)| &attached.steps).filter_map(of_path);
            let attached: Vec<Step> = attached
                .map(|mut attached| {
                    attached.conditions.extend(&step.conditions);
                    attached
                })
                .collect();
            steps.push(step);
            steps.extend(attached);
        }
        steps
    }
}

fn steps_at(file: &File, mut at: u64, executed: &Declared) -> Result<Steps, Error> {
    let mut steps = Vec::new();
    loop {
        let [start, name, conditions, hook] =
            [0, 1, 2, 3].map(|word| file.word(at + word * file.word_bytes()));
        let (start, name, hook) = (start?, name?, hook?);
        if name == 0 {
            return Ok(Steps { steps, end: start });
        }
        let next = at + STEP_WORDS * file.word_bytes();
        let (end, last) = (file.word(next)?, file.word(next + 2 * file.word_bytes())?);
        let condition = |at: u64| Ok(Condition { which: file.long(at)?, values: file.long(at + 4)? });
        steps.push(Step {
            name: file.text(name)?,
            conditions: (conditions?..last).step_by(8).map(condition).collect::<Result<_, Error>>()?,
            start,
            code: file.bytes(start, end.saturating_sub(start))?.to_vec(),
            hook: (hook != 0).then_some(hook),
            bits: file.bits(),
            executed: executed
                .within(start, end)
                .find(|(_, values)| *values == 0)
                .map(|(executed, _)| executed),
            more: executed
                .within(start, end)
                .filter(|(_, values)| *values != 0)
                .map(|(Executed { count, switch, .. }, values)| More {
                    count,
                    condition: Condition { which: switch, values },
                })
                .collect(),
        });
        at += STEP_WORDS * file.word_bytes();
    }
}
