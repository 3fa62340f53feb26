//! The bytes of a path, timed in ring 3: which configurations are measured as arms, and what of their rounds a bill says. Two
//! configurations whose programs are the same, byte for byte, are one arm; a step that changes none has no figure here, and not 0.

use crate::bill::is_protection;
use crate::bill::measured::Measured;
use crate::bill::plan::{Combination, Plan, less, simplified};
use crate::bill::published::{Published, published};
use crate::bill::{Error, Figure, Processor, Question};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use table::{SwitchValues, Table};

/// What the path's own bytes cost in ring 3 of this Linux, without what ring 3 cannot execute. In core cycles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ring3 {
    /// Name of the path.
    pub path: String,
    /// The processor that executed it.
    pub cpu: Option<String>,
    /// Release of the Linux below it.
    pub kernel: Option<String>,
    /// How many turns there were, each in a layout of its own; in each, every arm had a round.
    pub turns: usize,
    /// Why there is no figure at all, in words; null where there are some.
    pub why: Option<String>,
    /// The path with every switch at its first value.
    pub bare: Option<Figure>,
    /// With all steps.
    pub whole: Option<Figure>,
    /// The whole less bare.
    pub added: Option<Figure>,
    /// Of each step of the bill, in its order.
    pub lines: Vec<Ring3Line>,
    /// What of the whole the protections are: the whole less the whole without them.
    pub protections: Option<Figure>,
    /// As [`Ring3Line::range`], of the protections.
    pub protections_range: Option<[f64; 2]>,
    /// The whole less itself: a second arm of the same bytes, which shows what noise alone makes of nothing.
    pub control: Option<Figure>,
    /// The fewest turns that a figure of these is of: others were disturbed.
    pub undisturbed: Option<usize>,
    /// What the entry and operation cost on this Linux, measured by the entry itself; null where that was not measured.
    pub here: Option<Figure>,
    /// What the path has that ring 3 does not execute, each instruction once.
    pub left_out: Vec<LeftOut>,
}

impl Ring3 {
    /// Why the path could not be timed at all, in words; none where it was, or where the machine was never quiet for long enough.
    pub fn failure(&self) -> Option<&str> {
        self.why.as_deref().filter(|why| *why != FEW)
    }
}

/// A step in ring 3.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ring3Line {
    /// As that of the bill, by the path's bytes.
    pub in_company: Option<Figure>,
    /// Of `in_company`, the 10th and the 90th percentile of the turns, each of which has a layout of its own: a kernel has one layout.
    pub range: Option<[f64; 2]>,
    /// The instructions of the step that are left out, by name.
    pub left_out: Vec<String>,
    /// Why there is no figure, in words; null where there is.
    pub why: Option<String>,
    /// What others have published of what the step executes, elsewhere.
    pub published: Vec<Published>,
}

/// An instruction that is in no figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its name.
    pub instruction: String,
    /// How often the path with all steps has it.
    pub count: usize,
    /// How many of these the protections bring.
    pub of_protections: usize,
    /// The path's steps that have it.
    pub steps: Vec<String>,
    /// What others have published of its cost.
    pub published: Vec<Published>,
}

/// What a program of a configuration is, as far as a bill asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Two with the same are the same byte for byte.
    pub identity: Vec<u8>,
    /// Instructions that are left out, with the path's step that has each.
    pub left_out: Instructions,
}

/// What an arm cost in each turn, in core cycles; or why nothing was measured.
pub type Costs = Result<Vec<Option<f64>>, String>;

/// Facts about where it was measured.
#[derive(Debug, Clone, Default)]
pub struct Where {
    /// Name of the path.
    pub path: String,
    /// The processor's.
    pub cpu: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// What the entry and operation cost on this Linux.
    pub here: Option<Figure>,
}

/// The arms of a bill in ring 3.
#[derive(Debug, Clone)]
pub struct Arms {
    plan: Plan,
    /// Of each configuration that is needed, its arm, and what is left out of it, with the path's step that has each instruction.
    of_configuration: BTreeMap<usize, (usize, Instructions)>,
    /// The same with all steps but the protections.
    unprotected: (usize, Instructions),
    /// The whole once more, as an arm of its own.
    control: usize,
    /// Of each arm, the values of its switches.
    pub values: Vec<SwitchValues>,
    identities: Vec<Vec<u8>>,
}

/// Instructions, each with the path's step that has it.
type Instructions = Vec<(String, String)>;

impl Arms {
    /// The arms that answer a question; `program` makes the program of a configuration.
    ///
    /// # Errors
    /// As of [`Plan::new`], and what `program` says.
    pub fn new<E: From<Error>>(
        table: &Table,
        question: &Question,
        program: &dyn Fn(&SwitchValues) -> Result<Program, E>,
    ) -> Result<Arms, E> {
        // What a processor lacks stops no instruction that ring 3 executes.
        let features = table.switches.iter().flat_map(|switch| &switch.requires);
        let features = features.filter_map(|requirement| requirement.feature.clone()).collect();
        let processor = Processor { features, counts: true, forgives: true };
        let plan = Plan::new(table, Question { orders: 0, ..question.clone() }, processor)?;
        let mut arms = Arms {
            of_configuration: BTreeMap::new(),
            unprotected: (0, Vec::new()),
            control: 0,
            values: Vec::new(),
            identities: Vec::new(),
            plan,
        };
        for place in arms.needed() {
            let values = arms.plan.configurations.get(place).map(|known| known.values.clone());
            let arm = arms.arm(values.unwrap_or_default(), program)?;
            arms.of_configuration.insert(place, arm);
        }
        arms.unprotected = arms.arm(arms.without_protections(table), program)?;
        let whole =
            arms.of_arms(&arms.plan.whole).first().and_then(|(arm, _)| arms.values.get(*arm).cloned());
        arms.control = arms.values.len();
        arms.values.extend(whole);
        Ok(arms)
    }

    /// The configurations that steps and sums are made of; the others tell the crossing, which is not executed here.
    fn needed(&self) -> BTreeSet<usize> {
        let plan = &self.plan;
        let sums = plan.in_company.iter().chain([&plan.bare, &plan.whole]);
        sums.flatten().map(|(place, _)| *place).collect()
    }

    /// All steps but those that protect, with what they require.
    fn without_protections(&self, table: &Table) -> SwitchValues {
        let steps = &self.plan.steps;
        let is_kept = |place: &usize| {
            let step = steps.all.get(*place);
            step.is_some_and(|step| !is_protection(table, &step.switch, &step.value))
        };
        let kept: BTreeSet<usize> = steps.kept().into_iter().filter(is_kept).collect();
        let required = kept.iter().flat_map(|place| steps.requires(*place)).collect();
        steps.values(&(&kept | &required))
    }

    fn arm<E>(
        &mut self,
        values: SwitchValues,
        program: &dyn Fn(&SwitchValues) -> Result<Program, E>,
    ) -> Result<(usize, Instructions), E> {
        let made = program(&values)?;
        let known = self.identities.iter().position(|known| *known == made.identity);
        let arm = known.unwrap_or_else(|| {
            self.identities.push(made.identity);
            self.values.push(values);
            self.values.len() - 1
        });
        Ok((arm, made.left_out))
    }

    /// The same sum of arms.
    fn of_arms(&self, sum: &[(usize, f64)]) -> Combination {
        let arm = |(place, factor): &(usize, f64)| Some((self.of_configuration.get(place)?.0, *factor));
        simplified(sum.iter().filter_map(arm).collect())
    }

    /// What the rounds of the arms say.
    pub fn ring3(&self, costs: Vec<Costs>, place: Where) -> Ring3 {
        let turns = costs.iter().flatten().map(Vec::len).max().unwrap_or(0);
        let failures: Vec<Option<String>> = costs.iter().map(|costs| costs.as_ref().err().cloned()).collect();
        let measured = Measured::of_turns(costs, turns);
        let plan = &self.plan;
        let sum_of = |of: &[(usize, f64)]| self.of_arms(of);
        let added = sum_of(&less(&plan.whole, &plan.bare));
        let whole = sum_of(&plan.whole);
        let protections = less(&whole, &[(self.unprotected.0, 1.0)]);
        let figure = |sum: &Combination| {
            (!sum.is_empty()).then(|| measured.figure(sum)).flatten().map(Figure::without_verdict)
        };
        let lines: Vec<Ring3Line> =
            (0..plan.steps.all.len()).map(|place| self.line(&measured, &failures, place)).collect();
        let of_steps = lines.iter().filter_map(|line| line.in_company);
        let undisturbed = of_steps.chain(figure(&whole)).map(|figure| figure.rounds).min();
        Ring3 {
            path: place.path,
            cpu: place.cpu,
            kernel: place.kernel,
            turns,
            why: figure(&whole).is_none().then(|| without(&whole, &failures)),
            bare: figure(&sum_of(&plan.bare)),
            whole: figure(&whole),
            added: figure(&added),
            lines,
            protections: figure(&protections),
            protections_range: measured.range(&protections),
            control: figure(&less(&[(self.control, 1.0)], &whole)),
            undisturbed,
            here: place.here,
            left_out: self.left_out(),
        }
    }

    fn line(&self, measured: &Measured, failures: &[Option<String>], place: usize) -> Ring3Line {
        let in_company = self.plan.in_company.get(place).map(|sum| self.of_arms(sum)).unwrap_or_default();
        let figure = |sum: &Combination| {
            (!sum.is_empty()).then(|| measured.figure(sum)).flatten().map(Figure::without_verdict)
        };
        let why = match (self.plan.left_out(place), in_company.is_empty()) {
            (Some(why), _) => Some(why.to_owned()),
            (None, true) => Some(UNSEEN.to_owned()),
            (None, false) if figure(&in_company).is_none() => Some(without(&in_company, failures)),
            _ => None,
        };
        let step = self.plan.steps.all.get(place);
        Ring3Line {
            in_company: figure(&in_company),
            range: measured.range(&in_company),
            left_out: self.left_out_of_step(place),
            why,
            published: step.map(|step| published(&step.name())).unwrap_or_default(),
        }
    }

    /// What a step brings of what is left out.
    fn left_out_of_step(&self, place: usize) -> Vec<String> {
        let Some(sum) = self.plan.in_company.get(place) else { return Vec::new() };
        let names = |sign: f64| {
            let configuration = sum.iter().find(|(_, factor)| *factor == sign);
            let found = configuration.and_then(|(place, _)| self.of_configuration.get(place));
            found.map(|(_, left_out)| counted(left_out)).unwrap_or_default()
        };
        let (with, without) = (names(1.0), names(-1.0));
        let more = with.iter().flat_map(|(name, count)| {
            let before = without.get(name).copied().unwrap_or(0);
            std::iter::repeat_n((*name).to_owned(), count.saturating_sub(before))
        });
        more.collect()
    }

    fn left_out(&self) -> Vec<LeftOut> {
        let whole = self.plan.whole.first().and_then(|(place, _)| self.of_configuration.get(place));
        let whole = whole.map(|(_, left_out)| left_out.as_slice()).unwrap_or_default();
        let without = counted(&self.unprotected.1);
        let mut found: Vec<LeftOut> = Vec::new();
        for (instruction, step) in whole {
            match found.iter_mut().find(|known| known.instruction == *instruction) {
                Some(known) => {
                    known.count += 1;
                    known.steps.push(step.clone());
                }
                None => found.push(LeftOut {
                    instruction: instruction.clone(),
                    count: 1,
                    of_protections: 0,
                    steps: vec![step.clone()],
                    published: published(instruction),
                }),
            }
        }
        for left in &mut found {
            let others = without.get(left.instruction.as_str()).copied().unwrap_or(0);
            left.of_protections = left.count.saturating_sub(others);
            left.steps.dedup();
        }
        found
    }
}

/// Why a sum has no figure: one of its arms failed, or there were too few rounds.
fn without(sum: &Combination, failures: &[Option<String>]) -> String {
    let failed = sum.iter().find_map(|(arm, _)| failures.get(*arm)?.clone());
    failed.unwrap_or_else(|| FEW.to_owned())
}

fn counted(left_out: &[(String, String)]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for (instruction, _) in left_out {
        *counts.entry(instruction.as_str()).or_default() += 1;
    }
    counts
}

/// Said of a step that changes no byte of what ring 3 executes.
const UNSEEN: &str = "nothing of it is executed in ring 3";

const FEW: &str = "too few rounds were undisturbed in the same turns";
