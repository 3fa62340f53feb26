//! Which configurations a bill is made of.

use crate::bill::step::Steps;
use crate::bill::{Error, Processor, Step};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};
use table::special::{BARE_SYSCALL, GETPPID};
use table::{Entry, Kernel, Operation, PERSONALITY, Profile, Table};

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Name of the entry.
    pub entry: String,
    /// Name of the operation.
    pub operation: String,
    /// The profile whose steps are billed.
    pub profile: Profile,
    /// How many random orders of its steps are measured, too.
    pub orders: usize,
    /// What the orders are drawn from.
    pub seed: u64,
}

/// One configuration that has to be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// Name of the operation.
    pub operation: String,
    /// The steps that are in it, by their place.
    pub steps: BTreeSet<usize>,
    /// The values of all switches.
    pub values: BTreeMap<String, String>,
}

/// A sum of configurations, each with a factor.
pub(crate) type Combination = Vec<(usize, f64)>;

/// The configurations of a bill, each of them once, and what is made of them.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What was asked.
    pub question: Question,
    /// What it is measured on.
    pub processor: Processor,
    /// What has to be measured: bare first.
    pub configurations: Vec<Configuration>,
    pub(crate) steps: Steps,
    pub(crate) bare: Combination,
    pub(crate) whole: Combination,
    /// Of each step; empty of one that is left out.
    pub(crate) alone: Vec<Combination>,
    pub(crate) in_company: Vec<Combination>,
    /// Of each step, what it adds in each order; empty without orders.
    pub(crate) in_orders: Vec<Vec<Combination>>,
    /// Bare with a call number that no kernel has; empty where the entry does not take one.
    pub(crate) crossing: Combination,
    /// Bare with a call whose service is empty; empty where the entry does not take a number, or not that one.
    pub(crate) empty_service: Combination,
}

impl Plan {
    /// The configurations that answer a question on a processor.
    ///
    /// # Errors
    /// When the profile has no such switches or values, or contradicts itself; when time is to be measured and the processor lacks what
    /// a step needs; when the lab's entry does not serve the operation.
    pub fn new(table: &Table, question: Question, processor: Processor) -> Result<Plan, Error> {
        let entry = row(table, &question)?;
        let steps = Steps::new(table, entry, &question.profile, Some(&processor))?;
        let serves = |operation: &str| entry.all_on(Kernel::Lab).any(|name| name == operation);
        let mut wanted = Wanted { table, operation: &question.operation, steps: &steps, all: Vec::new() };
        let every = steps.kept();
        let bare = wanted.cost(&BTreeSet::new());
        let whole = wanted.cost(&every);
        let places = 0..steps.all.len();
        let alone: Vec<Combination> = places.clone().map(|place| wanted.alone(&every, place)).collect();
        let in_company: Vec<Combination> = places.map(|place| wanted.in_company(&every, place)).collect();
        let orders = orders(&steps, question.orders, question.seed);
        let in_orders = wanted.in_orders(&orders);
        let mut bare_of = |operation: &str| match serves(operation) {
            true => wanted.cost_of(operation, &BTreeSet::new()),
            false => Combination::new(),
        };
        let unknown =
            table.operation(BARE_SYSCALL.operation).filter(|unknown| !entry.numbers(unknown).is_empty());
        // They are calls of Linux, by which a path with another personality is not told apart.
        let unknown =
            unknown.filter(|_| !table.operation(&question.operation).is_some_and(Operation::is_machs));
        let crossing = unknown.map_or_else(Combination::new, |unknown| bare_of(&unknown.name));
        let empty_service = if crossing.is_empty() { Combination::new() } else { bare_of(GETPPID.operation) };
        let configurations = wanted.all;
        Ok(Plan {
            question,
            processor,
            configurations,
            steps,
            bare,
            whole,
            alone,
            in_company,
            in_orders,
            crossing,
            empty_service,
        })
    }

    /// Checks a question without knowing the processor.
    ///
    /// # Errors
    /// As of [`Plan::new`], but for what the processor lacks.
    pub fn check(table: &Table, question: &Question) -> Result<(), Error> {
        let entry = row(table, question)?;
        Steps::new(table, entry, &question.profile, None).map(drop)
    }

    /// The steps, in the profile's order.
    pub fn steps(&self) -> &[Step] {
        &self.steps.all
    }

    /// Why a step is in no configuration, in words; `None` if it is in some.
    pub fn left_out(&self, step: usize) -> Option<&str> {
        self.steps.left_out.get(step)?.as_deref()
    }
}

/// The entry, if it serves the operation in the lab.
fn row<'a>(table: &'a Table, question: &Question) -> Result<&'a Entry, Error> {
    let Question { entry: name, operation, .. } = question;
    let entry = table.entry(name).filter(|entry| entry.kernels.contains(&Kernel::Lab));
    let entry = entry.ok_or_else(|| Error::NoRow(format!("the lab has no entry \"{name}\"")))?;
    if entry.all_on(Kernel::Lab).any(|known| known == operation) {
        return Ok(entry);
    }
    let all: Vec<&str> = entry.all_on(Kernel::Lab).map(String::as_str).collect();
    Err(Error::NoRow(format!("{name} serves no {operation} in the lab; it serves {}", all.join(", "))))
}

/// The configurations that were asked for so far.
struct Wanted<'a> {
    table: &'a Table,
    operation: &'a str,
    steps: &'a Steps,
    all: Vec<Configuration>,
}

impl Wanted<'_> {
    fn cost(&mut self, steps: &BTreeSet<usize>) -> Combination {
        self.cost_of(self.operation, steps)
    }

    fn cost_of(&mut self, operation: &str, steps: &BTreeSet<usize>) -> Combination {
        let is_it = |known: &Configuration| known.operation == operation && known.steps == *steps;
        let place = self.all.iter().position(is_it).unwrap_or_else(|| {
            let mut values = self.steps.values(steps);
            let personality = self.table.operation(operation).and_then(|known| known.personality.clone());
            values.extend(personality.map(|value| (PERSONALITY.to_string(), value)));
            self.all.push(Configuration { operation: operation.into(), steps: steps.clone(), values });
            self.all.len() - 1
        });
        vec![(place, 1.0)]
    }

    /// What a step adds to others.
    fn added(&mut self, others: &BTreeSet<usize>, place: usize) -> Combination {
        let with = others.iter().copied().chain([place]).collect();
        let (with, without) = (self.cost(&with), self.cost(others));
        less(&with, &without)
    }

    fn alone(&mut self, every: &BTreeSet<usize>, place: usize) -> Combination {
        if !every.contains(&place) {
            return Combination::new();
        }
        self.added(&self.steps.requires(place), place)
    }

    fn in_company(&mut self, every: &BTreeSet<usize>, place: usize) -> Combination {
        if !every.contains(&place) {
            return Combination::new();
        }
        let mut others = every - &self.steps.dependents(place);
        others.remove(&place);
        self.added(&others, place)
    }

    /// What each step adds in each of these orders.
    fn in_orders(&mut self, orders: &[Vec<usize>]) -> Vec<Vec<Combination>> {
        let mut of_steps = vec![Vec::new(); self.steps.all.len()];
        for order in orders {
            let mut before = BTreeSet::new();
            for place in order {
                let added = self.added(&before, *place);
                if let Some(of_step) = of_steps.get_mut(*place) {
                    of_step.push(added);
                }
                before.insert(*place);
            }
        }
        of_steps
    }
}

/// The first less the second.
pub(crate) fn less(first: &[(usize, f64)], second: &[(usize, f64)]) -> Combination {
    let second = second.iter().map(|(place, factor)| (*place, -factor));
    simplified(first.iter().copied().chain(second).collect())
}

/// Each configuration once, and none that cancels out.
pub(crate) fn simplified(combination: Combination) -> Combination {
    let mut factors = BTreeMap::<usize, f64>::new();
    for (place, factor) in combination {
        *factors.entry(place).or_default() += factor;
    }
    factors.into_iter().filter(|(_, factor)| *factor != 0.0).collect()
}

/// Random orders of the steps in configurations, in which each comes after what it requires: the next is drawn from those whose
/// requirements are there.
fn orders(steps: &Steps, count: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut order = || {
        let (mut left, mut order) = (steps.kept(), Vec::new());
        loop {
            let is_next = |place: &usize| steps.requires(*place).is_disjoint(&left);
            let next: Vec<usize> = left.iter().copied().filter(is_next).collect();
            if next.is_empty() {
                return order;
            }
            let drawn = random.random_range(0..next.len());
            order.extend(next.get(drawn));
            left.retain(|place| next.get(drawn) != Some(place));
        }
    };
    (0..count).map(|_| order()).collect()
}
