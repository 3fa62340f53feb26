//! A path as `lab/entry/path.c` builds it out of its template in a configuration, without a kernel that runs. Tests hold it to what
//! the kernel lists (`tests/lab/ring3.rs`). Instructions may be left out or stand for others meanwhile, which path.c cannot do: what
//! is behind them moves up, and branches over them are corrected.

use crate::paths::{Path, Paths, Step};
use crate::{SwitchValues, Table};
use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind};

/// What stands in a path where its template has an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instead {
    /// The instruction itself.
    Itself,
    /// Nothing: it is left out.
    Nothing,
    /// This code, which does not depend on where it runs.
    Code(Vec<u8>),
}

/// What is asked of a path.
pub struct Layout<'a> {
    /// The values of all switches.
    pub values: &'a SwitchValues,
    /// Where it will run.
    pub at: u64,
    /// What stands for an instruction.
    pub instead: &'a dyn Fn(&Instruction) -> Instead,
    /// Where a branch goes that leaves the path for a function at this address.
    pub function: &'a dyn Fn(u64) -> u64,
}

/// A step of a path that was laid out.
#[derive(Debug, Clone)]
pub struct LaidStep {
    /// What it does.
    pub name: String,
    /// Where it runs.
    pub address: u64,
    /// Its code there.
    pub code: Vec<u8>,
    /// What is not in it, or not as the template has it, at the template's addresses.
    pub replaced: Vec<Instruction>,
}

/// Why a path cannot be laid out. The build refuses such templates, so that none is in a kernel of this command.
#[derive(Debug, thiserror::Error)]
pub enum NotLaid {
    /// A branch cannot reach so far.
    #[error("a branch of step \"{0}\" cannot reach where it goes to")]
    TooFar(String),
    /// A parameter's switch has no number.
    #[error("step \"{0}\" takes the number of a switch that has none")]
    NoNumber(String),
}

/// A template's instructions with what is made of each.
struct Draft<'a> {
    step: &'a Step,
    at: u64,
    /// Of each instruction: where it begins in what is laid out, from the step's beginning, and its code.
    parts: Vec<(Instruction, u64, Vec<u8>, bool)>,
    length: u64,
}

impl<'a> Draft<'a> {
    fn new(step: &'a Step, at: u64, instead: &dyn Fn(&Instruction) -> Instead) -> Draft<'a> {
        let (mut parts, mut length) = (Vec::new(), 0);
        for instruction in step.instructions() {
            let from = (instruction.ip() - step.start) as usize;
            let own = step.code.get(from..from + instruction.len()).unwrap_or_default().to_vec();
            let (code, is_own) = match instead(&instruction) {
                Instead::Itself => (own, true),
                Instead::Nothing => (Vec::new(), false),
                Instead::Code(code) => (code, false),
            };
            let bytes = code.len() as u64;
            parts.push((instruction, length, code, is_own));
            length += bytes;
        }
        Draft { step, at, parts, length }
    }

    /// Where an address of the template is, if it is the step's own; its end counts as well.
    fn moved(&self, address: u64) -> Option<u64> {
        if address == self.step.end() {
            return Some(self.at + self.length);
        }
        let part = self.parts.iter().find(|(instruction, ..)| instruction.ip() == address);
        part.map(|(_, offset, ..)| self.at + offset)
    }

    fn end(&self) -> u64 {
        self.at + self.length
    }
}

impl Paths {
    /// Lays a path out. Steps without code are left out.
    ///
    /// # Errors
    /// [`NotLaid`]
    pub fn lay_out(&self, path: &Path, layout: &Layout) -> Result<Vec<LaidStep>, NotLaid> {
        let pairs: Vec<(&str, &str)> =
            layout.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let steps: Vec<Step> = self.steps(path).into_iter().filter(|step| step.is_on(&pairs)).collect();
        let mut drafts: Vec<Draft> = Vec::new();
        for step in &steps {
            let at = drafts.last().map_or(layout.at, Draft::end);
            drafts.push(Draft::new(step, at, layout.instead));
        }
        let laid = drafts.iter().filter(|draft| !draft.step.code.is_empty());
        laid.map(|draft| self.correct(path, &drafts, draft, layout)).collect()
    }

    fn correct(
        &self,
        path: &Path,
        drafts: &[Draft],
        draft: &Draft,
        layout: &Layout,
    ) -> Result<LaidStep, NotLaid> {
        let mut code = Vec::new();
        for (instruction, offset, bytes, is_own) in &draft.parts {
            let mut bytes = bytes.clone();
            if *is_own && is_near_branch(instruction) {
                let to = self.target(path, drafts, draft, instruction.near_branch_target(), layout);
                let next = draft.at + offset + bytes.len() as u64;
                let reached = write_displacement(instruction, &mut bytes, to.wrapping_sub(next) as i64);
                reached.ok_or_else(|| NotLaid::TooFar(draft.step.name.clone()))?;
            }
            if *is_own {
                self.fill_in(draft.step, instruction, &mut bytes, layout.values)?;
            }
            code.extend(bytes);
        }
        let replaced = draft.parts.iter().filter(|(.., is_own)| !is_own);
        Ok(LaidStep {
            name: draft.step.name.clone(),
            address: draft.at,
            code,
            replaced: replaced.map(|(instruction, ..)| *instruction).collect(),
        })
    }

    /// Where a branch of a step goes: in the step, to another of the same file, or to a function.
    fn target(&self, path: &Path, drafts: &[Draft], from: &Draft, address: u64, layout: &Layout) -> u64 {
        if let Some(own) = from.moved(address) {
            return own;
        }
        let mut files = std::iter::once(&path.own).chain(self.attached.iter().map(|(_, steps)| steps));
        let starts = |file: &crate::paths::Steps| file.steps.first().map_or(file.end, |step| step.start);
        let range = |file: &crate::paths::Steps| (starts(file), file.end);
        let Some((start, end)) = files
            .by_ref()
            .map(range)
            .find(|(start, end)| *start <= from.step.start && from.step.start < *end)
            .filter(|(start, end)| (*start..=*end).contains(&address))
        else {
            return (layout.function)(address);
        };
        // As `moved` of path.c: the first of the file's steps that are there, at or behind the address.
        let of_file = drafts.iter().filter(|draft| start <= draft.step.start && draft.step.end() <= end);
        let mut last = from.end();
        for draft in of_file {
            if address <= draft.step.start {
                return draft.at;
            }
            if let Some(inside) = draft.moved(address).filter(|_| address < draft.step.end()) {
                return inside;
            }
            last = draft.end();
        }
        last
    }

    /// Writes a switch's number where PARAMETER asks for it.
    fn fill_in(
        &self,
        step: &Step,
        instruction: &Instruction,
        bytes: &mut [u8],
        values: &SwitchValues,
    ) -> Result<(), NotLaid> {
        let is_here = |row: &&[u64]| {
            row.first().is_some_and(|at| instruction.ip() <= *at && *at < instruction.next_ip())
        };
        let Some([_, which]) = self.parameters.chunks_exact(2).find(is_here) else { return Ok(()) };
        let switch = Table::get().switches.iter().find(|switch| u64::from(switch.id) == *which);
        let number = switch.and_then(|switch| switch.value(values.get(&switch.name)?));
        let number = number.ok_or_else(|| NotLaid::NoNumber(step.name.clone()))?;
        let place = bytes.len().saturating_sub(4);
        if let Some(place) = bytes.get_mut(place..) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        Ok(())
    }
}

fn is_near_branch(instruction: &Instruction) -> bool {
    instruction.op_count() > 0
        && matches!(
            instruction.op0_kind(),
            OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
        )
}

/// Writes the displacement of a branch, as wide as the instruction has it; `None` where it is too far.
fn write_displacement(instruction: &Instruction, bytes: &mut [u8], displacement: i64) -> Option<()> {
    let mut decoder = Decoder::with_ip(64, bytes, instruction.ip(), DecoderOptions::NONE);
    let decoded = decoder.decode();
    let offsets = decoder.get_constant_offsets(&decoded);
    let place = bytes.get_mut(offsets.immediate_offset()..)?;
    match offsets.immediate_size() {
        1 => place.get_mut(..1)?.copy_from_slice(&i8::try_from(displacement).ok()?.to_le_bytes()),
        4 => place.get_mut(..4)?.copy_from_slice(&i32::try_from(displacement).ok()?.to_le_bytes()),
        _ => return None,
    }
    Some(())
}
