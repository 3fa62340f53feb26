//! What would go wrong when `path.c` copies a template, found when the kernel is built.

use crate::paths::template::{ENTERED_BY, NUMBERS};
use crate::paths::{Condition, Path, Paths, Step, Steps};
use crate::{Switch, Table};
use iced_x86::{FlowControl, Instruction, OpKind};

/// The placeholder that PARAMETER replaces (`lab/entry/layout.h`).
const PARAMETER_VALUE: u32 = 0x5a5a_5a5a;

/// Hooks by number, in the order in which a path has them.
const HOOKS: [&str; 6] = ["IN_EARLY", "IN_KERNEL", "IN_SAVED", "OUT_SAVED", "OUT_LATE", "AT_SWITCH"];

/// The first so many are those of an entry's path.
const OF_ENTRIES: usize = 5;

/// How many values `ENTERED_BY` has.
const KINDS: u32 = 7;

/// How many values `NUMBERS` has.
const ABIS: u32 = 3;

/// Bytes of a displacement.
const DISPLACEMENT: u64 = 4;

/// Everything that is wrong with a kernel's paths, in words; nothing if they can be built in every configuration.
pub fn check(paths: &Paths, table: &Table) -> Vec<String> {
    let check = Check { paths, table };
    let mut wrong = Vec::new();
    for (what, rows, words) in
        [("branches", &paths.branches, 1), ("faults", &paths.faults, 2), ("parameters", &paths.parameters, 2)]
    {
        if !rows.chunks(words).map(|row| row[0]).is_sorted() {
            wrong.push(format!(
                "the table of {what} is not in the order of addresses, which path.c relies on"
            ));
        }
    }
    for path in &paths.paths {
        let named = |what: String| format!("path {}: {what}", path.name);
        wrong.extend(check.steps(&path.own).chain(check.path(path)).map(named));
    }
    for (hook, steps) in &paths.attached {
        let hook = HOOKS.get((*hook as usize).wrapping_sub(1)).unwrap_or(&"an unknown hook");
        wrong.extend(check.steps(steps).map(|what| format!("attached to {hook}: {what}")));
    }
    let of_paths: usize = paths.paths.iter().map(|path| check.faults(&paths.steps(path))).sum();
    if of_paths as u64 > paths.limits.faults {
        wrong.push(format!("{of_paths} faults, and path.c has room for {}", paths.limits.faults));
    }
    wrong
}

struct Check<'a> {
    paths: &'a Paths,
    table: &'a Table,
}

impl Check<'_> {
    /// What is wrong with a path as a whole.
    fn path(&self, path: &Path) -> std::vec::IntoIter<String> {
        let (limits, steps, mut wrong) = (self.paths.limits, self.paths.steps(path), Vec::new());
        let bytes = self.most(&steps, |step| step.code.len());
        if bytes as u64 > limits.slot - limits.room {
            wrong.push(format!(
                "with every step it has {bytes} bytes, and its slot leaves it {}: see PATH_SLOT",
                limits.slot - limits.room
            ));
        }
        // Each block has a piece for its beginning and one for its end.
        let blocks_of = |hook: u64| self.paths.attached.iter().filter(|(on, _)| *on == hook).count();
        let pieces = 2 + self.most(&steps, |step| 1 + 2 * step.hook.map_or(0, blocks_of));
        if pieces as u64 > limits.pieces {
            wrong.push(format!(
                "it may have {pieces} pieces, and path.c has room for {}: see MAX_PIECES",
                limits.pieces
            ));
        }
        if path.kind != 0 {
            let hooks: Vec<&Step> = steps.iter().filter(|step| step.hook.is_some()).collect();
            for (hook, name) in (1..).zip(HOOKS).take(OF_ENTRIES) {
                let all: Vec<&&Step> = hooks.iter().filter(|step| step.hook == Some(hook)).collect();
                // A path may have several bodies, of which each configuration has one.
                let is_twice = pairs(&all).any(|(one, other)| self.are_together(one, other));
                if all.is_empty() || (is_twice && name != "OUT_LATE") {
                    wrong.push(format!("it has the hook {name} {} times", all.len()));
                }
            }
            let is_misplaced =
                |(one, other): (&&Step, &&Step)| one.hook > other.hook && self.are_together(one, other);
            if pairs(&hooks).any(|(one, other)| is_misplaced((one, other))) {
                wrong.push("its hooks are not in their order".into());
            }
        }
        wrong.into_iter()
    }

    /// A bound of what the steps of a configuration have together: no value of any one switch allows more.
    fn most(&self, steps: &[Step], of: impl Fn(&Step) -> usize) -> usize {
        let with = |which: u32, value: u32| -> usize {
            let excludes = |one: &Condition| one.which == which && one.values >> value & 1 == 0;
            let allowed = steps.iter().filter(|step| !step.conditions.iter().any(excludes));
            allowed.map(&of).sum()
        };
        let of_switch = |switch: &Switch| {
            let which = u32::from(switch.id);
            let values = self.values(which).unwrap_or(0);
            (0..u32::BITS).filter(|value| values >> value & 1 == 1).map(|value| with(which, value)).max()
        };
        self.table.switches.iter().filter_map(of_switch).min().unwrap_or(0)
    }

    /// What is wrong with steps that stand in one file.
    fn steps(&self, steps: &Steps) -> std::vec::IntoIter<String> {
        let mut wrong = Vec::new();
        for step in &steps.steps {
            let named = |what: String| format!("step \"{}\": {what}", step.name);
            wrong.extend(self.step(step).into_iter().chain(self.code(steps, step)).map(named));
        }
        wrong.into_iter()
    }

    /// What is wrong with a step's record.
    fn step(&self, step: &Step) -> Vec<String> {
        let mut wrong = Vec::new();
        if step.name.len() as u64 > self.paths.limits.name {
            wrong.push(format!("its name is longer than {} bytes", self.paths.limits.name));
        }
        if step.hook.is_some() && !step.code.is_empty() {
            wrong.push("a hook has code; write STEP behind it".into());
        }
        for condition in &step.conditions {
            match self.values(condition.which) {
                None => {
                    wrong.push(format!("it depends on {}, which is the id of no switch", condition.which))
                }
                Some(all) if all & condition.values == 0 => {
                    wrong.push(format!("no value of switch {} makes it be there", condition.which));
                }
                Some(_) => {}
            }
        }
        wrong
    }

    /// What is wrong with a step's instructions.
    fn code(&self, steps: &Steps, step: &Step) -> Vec<String> {
        let (instructions, mut wrong) = (step.instructions(), Vec::new());
        let at = |address: u64| format!("at + {}", address - step.start);
        for instruction in &instructions {
            let place = at(instruction.ip());
            if instruction.is_invalid() || instruction.next_ip() > step.end() {
                wrong.push(format!("{place} there is no instruction that ends in the step"));
            } else if instruction.is_ip_rel_memory_operand() {
                wrong.push(format!(
                    "{place} an operand is relative to rip, and would be another after the copy"
                ));
            } else if let Some(target) = branch_target(instruction) {
                wrong.extend(
                    self.branch(steps, step, instruction, target).map(|why| format!("{place} {why}")),
                );
            } else if numbers(instruction).any(|number| self.is_in_template(number)) {
                wrong.push(format!(
                    "{place} an operand is the address of a template, which never runs; a copy would keep it"
                ));
            }
        }
        let begins = |address: u64| instructions.iter().any(|instruction| instruction.ip() == address);
        for fault in self.paths.faults.chunks_exact(2).filter(|row| contains(step, row[0])) {
            if !begins(fault[0]) {
                wrong.push(format!("{} a FAULT is not at an instruction", at(fault[0])));
            }
            if fault[1] != 0 && !contains(step, fault[1]) {
                wrong.extend(
                    self.target(steps, step, fault[1]).map(|why| format!("{} a FAULT {why}", at(fault[0]))),
                );
            }
        }
        for row in self.paths.parameters.chunks_exact(2).filter(|row| contains(step, row[0])) {
            let offset = (row[0] - step.start) as usize;
            let is_last =
                instructions.iter().any(|instruction| instruction.next_ip() == row[0] + DISPLACEMENT);
            if step.code.get(offset..offset + 4) != Some(&PARAMETER_VALUE.to_le_bytes()) || !is_last {
                wrong.push(format!(
                    "{} PARAMETER does not follow an instruction that ends with PARAMETER_VALUE",
                    at(row[0])
                ));
            }
            if !self.is_number(row[1]) {
                wrong.push(format!("{} PARAMETER names switch {}, which is no number", at(row[0]), row[1]));
            }
        }
        let multiplied =
            step.executed.map(|executed| u64::from(executed.switch)).filter(|switch| *switch != 0);
        if let Some(switch) = multiplied.filter(|switch| !self.is_number(*switch)) {
            wrong.push(format!("{} EXECUTES names switch {switch}, which is no number", at(step.start)));
        }
        wrong
    }

    fn is_number(&self, switch: u64) -> bool {
        let named = self.table.switches.iter().find(|known| u64::from(known.id) == switch);
        named.is_some_and(|known| known.range.is_some())
    }

    /// What is wrong with a branch, if anything is.
    fn branch(&self, steps: &Steps, step: &Step, branch: &Instruction, target: u64) -> Option<String> {
        // To the step's end is to whatever comes next.
        if (step.start..=step.end()).contains(&target) {
            return None;
        }
        let displacement = branch.next_ip() - DISPLACEMENT;
        if self.paths.branches.binary_search(&displacement).is_err() {
            return Some("a branch leaves the step; write BRANCH, JUMP or CALL_C".into());
        }
        self.target(steps, step, target).map(|why| format!("a branch {why}"))
    }

    /// What is wrong with a way from a step to an address, if anything is.
    fn target(&self, steps: &Steps, from: &Step, target: u64) -> Option<String> {
        let start = steps.steps.first().map_or(steps.end, |step| step.start);
        if target < start || target > steps.end {
            let why = "goes to the template of other steps, which never runs";
            return self.is_in_template(target).then(|| why.into());
        }
        let there = steps.steps.iter().filter(|step| step.start == target || contains(step, target));
        let mut there = there.peekable();
        let first = there.peek().map(|step| step.name.clone())?;
        if there.any(|to| self.implies(from, to)) {
            return None;
        }
        Some(format!(
            "goes to step \"{first}\", which may be off; put the label into an empty step of its own"
        ))
    }

    /// Whether an address is in the template of a path, or of what is attached.
    fn is_in_template(&self, address: u64) -> bool {
        let blocks = self.paths.paths.iter().map(|path| &path.own);
        let mut blocks = blocks.chain(self.paths.attached.iter().map(|(_, steps)| steps));
        blocks.any(|block| {
            block.steps.first().is_some_and(|first| first.start <= address && address < block.end)
        })
    }

    /// Whether a step is there whenever another is.
    fn implies(&self, from: &Step, to: &Step) -> bool {
        let allowed = |which: u32| self.allowed(&from.conditions, which);
        to.conditions.iter().all(|condition| allowed(condition.which) & !condition.values == 0)
    }

    /// Whether some configuration has both, as far as one switch tells.
    fn are_together(&self, one: &Step, other: &Step) -> bool {
        let both: Vec<Condition> = one.conditions.iter().chain(&other.conditions).copied().collect();
        both.iter().all(|condition| self.allowed(&both, condition.which) != 0)
    }

    /// The values of a switch with which all of these hold, as a mask.
    fn allowed(&self, conditions: &[Condition], which: u32) -> u32 {
        let of_switch = conditions.iter().filter(|condition| condition.which == which);
        of_switch.fold(self.values(which).unwrap_or(0), |all, condition| all & condition.values)
    }

    /// All values of a switch, of ENTERED_BY or of NUMBERS, as a mask.
    fn values(&self, which: u32) -> Option<u32> {
        let below = |count: u32| u32::MAX >> (32 - count.clamp(1, 32));
        match which {
            ENTERED_BY => return Some(below(KINDS)),
            NUMBERS => return Some(below(ABIS)),
            _ => {}
        }
        let switch = self.table.switches.iter().find(|switch| u32::from(switch.id) == which)?;
        Some(match switch.range {
            Some((least, most)) => below(most.saturating_add(1)) & !below(least) | u32::from(least == 0),
            None => below(u32::try_from(switch.values.len()).unwrap_or(32)),
        })
    }

    fn faults(&self, steps: &[Step]) -> usize {
        let in_step =
            |step: &Step| self.paths.faults.chunks_exact(2).filter(|row| contains(step, row[0])).count();
        steps.iter().map(in_step).sum()
    }
}

/// Every two, in their order.
fn pairs<T>(all: &[T]) -> impl Iterator<Item = (&T, &T)> {
    (1..).zip(all).flat_map(move |(behind, one)| {
        all.get(behind..).unwrap_or_default().iter().map(move |other| (one, other))
    })
}

fn contains(step: &Step, address: u64) -> bool {
    address >= step.start && address < step.end()
}

/// The numbers in an instruction's operands, as 64-bit code sees them: immediates, and where in memory operands are.
fn numbers(instruction: &Instruction) -> impl Iterator<Item = u64> + '_ {
    (0..instruction.op_count()).filter_map(|operand| match instruction.op_kind(operand) {
        OpKind::Memory => Some(instruction.memory_displacement64()),
        OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate8to64 | OpKind::Immediate32to64 => {
            Some(instruction.immediate(operand))
        }
        _ => None,
    })
}

/// Where a branch with a fixed target goes.
fn branch_target(instruction: &Instruction) -> Option<u64> {
    let is_branch = matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch
            | FlowControl::ConditionalBranch
            | FlowControl::Call
            | FlowControl::XbeginXabortXend
    );
    let is_near = instruction.op_count() > 0
        && matches!(
            instruction.op0_kind(),
            OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
        );
    (is_branch && is_near).then(|| instruction.near_branch_target())
}
