//! A path of Linux beside the lab's profile of that kernel.

use crate::anatomy::{Anatomy, Part, PartCount, functions};
use crate::bill::{Bill, Line, State};
use serde::{Deserialize, Serialize};

/// What the lab's profile has for the parts of a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// Name of the profile.
    pub profile: String,
    /// The lab's processor, as its emulator calls it.
    pub cpu: Option<String>,
    /// What the entry costs in the lab with every switch at its first value, in instructions; null where it was not counted.
    pub bare: Option<f64>,
    /// What it costs there with the profile.
    pub whole: Option<f64>,
    /// The profile's switches in its order, then those that Linux alone has.
    pub lines: Vec<BesideLine>,
}

/// A switch of the lab beside a part of Linux.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BesideLine {
    /// The switch.
    pub switch: String,
    /// Its steps in the profile: `pti=trampoline`, `pti=on`; none where the profile has none.
    pub steps: Vec<String>,
    /// What the steps add in the lab, each alone, together: 0 where they add no instruction to this entry, null where there is none, or
    /// not all were counted and the others add none.
    pub lab: Option<f64>,
    /// Instructions of the same parts in the first path.
    pub linux: usize,
    /// Those of them that do nothing, or jump over what is switched off.
    pub idle: usize,
}

/// Whether a profile has what a kernel has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Both have it, or neither.
    Agrees,
    /// Linux executes it, the profile does not have it.
    ProfileLacks,
    /// The profile has it, and Linux executes nothing of the kind.
    LinuxLacks,
    /// The profile has it and Linux executes it, but in the lab it adds no instruction to this entry.
    LabLacks,
    /// The profile has it and Linux executes it, but the lab has no count of it: its processor lacks what it needs. Documents from before
    /// this was told apart have no count where it adds no instruction, either.
    NotCounted,
    /// The profile has it, and in this boot it is switched off: nops and jumps stand in its place.
    OffInLinux,
}

/// Switches that no part stands for: where steps stand, and what several parts have of idle instructions.
const OF_NO_PART: [&str; 2] = table::EVERYWHERE;

impl Beside {
    /// The bill of a profile beside a path of the same entry.
    pub fn of(bill: &Bill, anatomy: &Anatomy) -> Beside {
        let mut lines: Vec<BesideLine> = Vec::new();
        let has_part = |line: &&Line| !OF_NO_PART.contains(&line.step.switch.as_str());
        for line in bill.lines.iter().filter(has_part) {
            let amount = counted(line);
            match lines.iter_mut().find(|known| known.switch == line.step.switch) {
                Some(known) => {
                    known.steps.push(line.step.name());
                    known.lab = sum(known.lab, amount);
                }
                None => lines.push(BesideLine {
                    switch: line.step.switch.clone(),
                    steps: vec![line.step.name()],
                    lab: amount,
                    linux: 0,
                    idle: 0,
                }),
            }
        }
        for line in bill.lines.iter().filter(|line| counted(line).is_none()) {
            let known = lines.iter_mut().find(|known| known.switch == line.step.switch);
            // What the others add is not all, and 0 would say that nothing is.
            known.into_iter().filter(|known| known.lab == Some(0.0)).for_each(|known| known.lab = None);
        }
        compared(anatomy).parts().into_iter().for_each(|part| add(&mut lines, part));
        let estimate = |figure: Option<crate::bill::Figure>| figure.map(|figure| figure.estimate);
        Beside {
            profile: bill.profile.clone(),
            cpu: bill.cpu.clone(),
            bare: estimate(bill.bare),
            whole: estimate(bill.whole),
            lines,
        }
    }
}

/// What of a path the lab's steps do, too. How a service is called is a step where a function of its own, or a thunk, calls it: through the
/// table the lab calls it without any. Thunks also stand in place of other calls.
fn compared(anatomy: &Anatomy) -> Anatomy {
    let all = &anatomy.instructions;
    let calls_service = |place: usize| {
        let next = all[place..].iter().find(|one| !matches!(one.part, Part::Retpoline | Part::Returns));
        next.is_some_and(|next| functions::serves(next.function_name()))
    };
    let by_thunk: Vec<bool> =
        (0..all.len()).map(|place| all[place].part == Part::Retpoline && calls_service(place)).collect();
    let is_step =
        by_thunk.contains(&true) || all.iter().any(|one| functions::dispatches(one.function_name()));
    let kept = all.iter().zip(by_thunk).filter(|(one, by_thunk)| match one.part {
        Part::Dispatch => is_step,
        Part::Retpoline => *by_thunk,
        _ => true,
    });
    Anatomy { instructions: kept.map(|(one, _)| one.clone()).collect(), ..anatomy.clone() }
}

/// What a step adds alone. Where it was counted and adds no instruction, the bill has no figure, because instructions are not all that it
/// may cost; beside a path's instructions that is 0.
fn counted(line: &Line) -> Option<f64> {
    let is_executed = matches!(line.state, State::Unseen | State::WithoutEffect(_));
    line.alone.map(|figure| figure.estimate).or(is_executed.then_some(0.0))
}

fn sum(first: Option<f64>, second: Option<f64>) -> Option<f64> {
    match (first, second) {
        (Some(first), Some(second)) => Some(first + second),
        (one, other) => one.or(other),
    }
}

/// Puts a part's instructions beside the first switch that does the same.
fn add(lines: &mut Vec<BesideLine>, part: PartCount) {
    let switches = part.part.switches();
    let Some(switch) = switches.first() else { return };
    let known = switches.iter().find_map(|switch| lines.iter().position(|line| line.switch == *switch));
    let place = known.unwrap_or_else(|| {
        let switch = (*switch).to_string();
        lines.push(BesideLine { switch, steps: Vec::new(), lab: None, linux: 0, idle: 0 });
        lines.len() - 1
    });
    lines[place].linux += part.count;
    lines[place].idle += part.idle;
}

impl BesideLine {
    /// Whether the two agree on having it; counts may differ all the same.
    pub fn verdict(&self) -> Verdict {
        let is_executed = self.linux > self.idle;
        match self.steps.is_empty() {
            true if is_executed => Verdict::ProfileLacks,
            false if self.linux == 0 && self.lab.is_some_and(|lab| lab != 0.0) => Verdict::LinuxLacks,
            false if !is_executed && self.linux > 0 => Verdict::OffInLinux,
            false if is_executed && self.lab == Some(0.0) => Verdict::LabLacks,
            false if is_executed && self.lab.is_none() => Verdict::NotCounted,
            _ => Verdict::Agrees,
        }
    }
}
