//! Measures several arms side by side: the same rows under commands, on CPUs or with probes that differ. The rounds of one row,
//! one of each arm, are taken back to back in random order (a *turn*), so that what drifts hits all arms alike. There is one
//! schedule, one request for all arms of a turn, and one judgement of quiet blocks.

use crate::Error;
use crate::around::{Around, Here};
use crate::conclude::{Facts, Measured, conclude_together};
use crate::course::{Course, MOST_ROUNDS, TimeSlice};
use crate::cpus::groups;
use crate::described::describe;
use crate::drive::{Measurer, Progress, RoundTaken, drive};
use crate::plan::HostPlan;
use crate::probes::Probes;
use crate::row::{Row, TableRow};
use crate::schedule::Wanted;
use crate::scout::Lookout;
use document::{Counter, Document, Export, Identity};
use environment::CoreType;
use places::host::Executor;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use record::{Request, abi};
use stats::Pair;
use std::collections::BTreeMap;
use table::Table;

/// A row needs this many good rounds in every arm. If that many pairs differ in one direction, chance explains it in 1 of 8,000 cases.
pub const NEEDED: usize = 14;

/// One of the things that are compared.
pub struct Arm<'a> {
    /// Runs its probes.
    pub executor: &'a mut dyn Executor,
    /// The CPU that it is measured on; none if that of the others, whichever is quiet.
    pub cpu: Option<usize>,
    /// The command that its probes run under; none if they run as they are.
    pub command: Option<String>,
    /// Its probes.
    pub probes: Probes,
}

/// What a measurement of arms needs besides its plan.
pub struct Setup<'a> {
    /// The arms.
    pub arms: Vec<Arm<'a>>,
    /// Runs probes as they are, to find out which CPU is quiet.
    pub scout: &'a mut dyn Executor,
    /// Where it is made.
    pub here: Here,
}

/// What was measured.
#[derive(Debug, Clone)]
pub struct Arms {
    /// Of each arm, in their order: a whole document, with all of its rounds.
    pub documents: Vec<Document>,
    /// Of each arm: what a reader must know of its rounds, in words.
    pub remarks: Vec<Vec<String>>,
    /// Which rounds were taken together: of each row, in the plan's order.
    pub turns: Vec<PairedRounds>,
}

/// The turns of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairedRounds {
    /// Which row: its entry and operation, alone.
    pub row: Identity,
    /// Of each turn, in order of time, and of each arm: the place of its round in the `rounds` of that arm's row; none if it has no
    /// round in this turn.
    pub places: Vec<Vec<Option<usize>>>,
}

impl Arms {
    /// What two arms cost in those turns of a row in which the rounds of both were kept, in core cycles and in order of time. Empty where core
    /// cycles are not known.
    pub fn pairs(&self, turns: &PairedRounds, base: usize, new: usize) -> Vec<Pair> {
        let both = self.costs(turns, base).into_iter().zip(self.costs(turns, new));
        both.filter_map(|(base, new)| Some(Pair { base: base?, new: new? })).collect()
    }

    /// What an arm cost in each turn of a row, in core cycles and in order of time; none in a turn of which its round was not kept, or where
    /// core cycles are not known.
    pub fn costs(&self, turns: &PairedRounds, arm: usize) -> Vec<Option<f64>> {
        let document = self.documents.get(arm).filter(|known| known.measurement.cycles_per_tick.is_some());
        let rounds =
            document.and_then(|document| document.row_alone(Table::get(), &turns.row)).map(|row| &row.rounds);
        let cost = |places: &Vec<Option<usize>>| {
            let (rounds, place) = (rounds?, (*places.get(arm)?)?);
            let is_kept = rounds.excluded.get(place)?.is_none();
            rounds.core_cycles(place).filter(|_| is_kept)
        };
        turns.places.iter().map(cost).collect()
    }
}

/// What an arm is called.
pub fn name(place: usize) -> char {
    char::from(b'A' + u8::try_from(place).unwrap_or(25).min(25))
}

/// Measures what the plan asks for, in each arm.
///
/// # Errors
/// [`Error::Environment`] when there is no CPU to measure on, or no arm.
pub fn measure<'a>(
    plan: &HostPlan<'a>,
    setup: Setup,
    progress: &mut dyn FnMut(Progress<'a>),
) -> Result<Arms, Error> {
    let Setup { mut arms, scout, mut here } = setup;
    let group = group(plan, &arms, &here.cpus);
    let first_cpu = group.keys().last().copied().ok_or_else(Error::no_cpu)?;
    let around = Around::begin(scout, first_cpu);
    let vdso = arms.iter_mut().map(|arm| {
        let cpu = arm.cpu.unwrap_or(first_cpu);
        describe(arm.executor, cpu, &mut here.environment)
    });
    let vdso: Vec<BTreeMap<String, Vec<Export>>> = vdso.collect();

    let row = |row: &TableRow<'a>| Row::new(*row, Counter::Time, BTreeMap::new());
    let mut rows: Vec<Row> = arms.iter().flat_map(|_| plan.rows.iter().map(row)).collect();
    let lookout = Lookout::new(&group, &here.environment, &here.earlier.alone, abi::REQUEST_ASK);
    let part = TimeSlice { number: 0, of: 1, begin: around.begin };
    let surveys = arms.iter().any(|arm| arm.cpu.is_none());
    let lookout = lookout.ok_or_else(Error::no_cpu)?;
    let course = Course::new(plan, lookout, here.interrupt.clone(), part, scout, surveys);
    let mut measurer = SideBySide::new(plan, arms, scout, course);
    drive(&mut measurer, &mut rows, progress);

    let SideBySide { arms, turns, strays, scout, .. } = measurer;
    let (facts, environment) = around.end(plan, scout, here);
    let of_arm =
        |arm: &Arm| Facts { command: arm.command.clone(), probes: arm.probes.clone(), ..facts.clone() };
    let of_arms = rows.chunks(plan.rows.len().max(1)).zip(&arms).zip(vdso);
    let measured = of_arms.map(|((rows, arm), vdso)| Measured { rows, facts: of_arm(arm), vdso });
    let mut documents = conclude_together(measured.collect(), &environment);
    for (place, document) in documents.iter_mut().enumerate() {
        document.measurement.arm = Some(name(place).into());
    }
    let turns = plan.rows.iter().zip(turns).map(|(row, begun)| places(&documents, *row, &begun)).collect();
    let remarks = strays.into_iter().map(|stray| stray.into_iter().collect()).collect();
    Ok(Arms { documents, remarks, turns })
}

/// The CPUs that arms are measured on, of one kind, unless arms name theirs.
fn group(plan: &HostPlan, arms: &[Arm], cpus: &BTreeMap<usize, CoreType>) -> BTreeMap<usize, CoreType> {
    let named: Option<Vec<usize>> = arms.iter().map(|arm| arm.cpu).collect();
    let kind = |cpu: &usize| cpus.get(cpu).copied().unwrap_or(CoreType::Uniform);
    match named {
        Some(named) => named.iter().map(|cpu| (*cpu, kind(cpu))).collect(),
        None => groups(plan.cpus, cpus).into_iter().next().unwrap_or_default(),
    }
}

/// When the round of each arm was begun, in seconds; none if it was not taken.
type Begun = Vec<Option<f64>>;

/// Finds the rounds of a row in the documents, by when they were begun.
fn places(documents: &[Document], row: TableRow, begun: &[Begun]) -> PairedRounds {
    let row = Identity::of(row);
    let at_ms = |document| Some(&*Document::row_alone(document, Table::get(), &row)?.rounds.at_ms);
    let lines: Vec<&[f64]> = documents.iter().map(|document| at_ms(document).unwrap_or_default()).collect();
    let place = |(at, lines): (&Option<f64>, &&[f64])| {
        let at_ms = at.as_ref()? * 1e3;
        lines.binary_search_by(|line| line.total_cmp(&at_ms)).ok()
    };
    let places = begun.iter().map(|begun| begun.iter().zip(&lines).map(place).collect()).collect();
    PairedRounds { row, places }
}

/// What a schedule knows of a row in all arms.
struct InAllArms {
    open: bool,
    good: usize,
    rounds: usize,
    shown_first: bool,
}

impl Wanted for InAllArms {
    fn is_open(&self) -> bool {
        self.open
    }

    fn good(&self) -> usize {
        self.good
    }

    fn rounds(&self) -> usize {
        self.rounds
    }

    fn is_shown_first(&self) -> bool {
        self.shown_first
    }

    fn needed(&self) -> usize {
        NEEDED
    }
}

/// One row, once in each arm.
struct Turn {
    row: usize,
    cpu: usize,
    request: Request,
    /// The arms that are still to come, the next last.
    arms: Vec<usize>,
}

/// The arms while they are measured. Rows are those of the first arm, then those of the second, and so on.
struct SideBySide<'a> {
    arms: Vec<Arm<'a>>,
    /// Its time is that of the course.
    scout: &'a mut dyn Executor,
    course: Course,
    generator: StdRng,
    /// Rows of the plan.
    count: usize,
    /// The most rounds that a row takes in an arm.
    most_rounds: usize,
    turn: Option<Turn>,
    turns: Vec<Vec<Begun>>,
    /// Of each arm, what is to be said of a CPU that it was not to run on.
    strays: Vec<Option<String>>,
}

impl<'a> SideBySide<'a> {
    fn new(
        plan: &HostPlan,
        arms: Vec<Arm<'a>>,
        scout: &'a mut dyn Executor,
        course: Course,
    ) -> SideBySide<'a> {
        let (count, number) = (plan.rows.len(), arms.len());
        SideBySide {
            scout,
            course,
            generator: StdRng::seed_from_u64(plan.seed),
            count,
            most_rounds: MOST_ROUNDS / (count * number).max(1),
            turn: None,
            turns: vec![Vec::new(); count],
            strays: vec![None; number],
            arms,
        }
    }

    /// The rows of all arms that are this row of the plan.
    fn of_row<'r, 't>(&self, rows: &'r [Row<'t>], row: usize) -> impl Iterator<Item = &'r Row<'t>> {
        rows.iter().skip(row).step_by(self.count.max(1))
    }

    /// A row is wanted as long as it works in one arm; where it does not, that arm takes no part. A row that has as many rounds as
    /// are kept is done: leaving out some, as other measurements do, would part those that were taken together.
    fn wanted(&self, rows: &[Row], row: usize) -> InAllArms {
        let open = || self.of_row(rows, row).filter(|row| row.is_open());
        let rounds = open().map(|row| row.rounds.len()).max();
        InAllArms {
            open: rounds.is_some_and(|rounds| rounds < self.most_rounds),
            good: open().map(|row| row.good).min().unwrap_or(0),
            rounds: rounds.unwrap_or(0),
            shown_first: self.of_row(rows, row).any(Row::is_shown_first),
        }
    }

    fn begin_turn(&mut self, rows: &[Row], row: usize) -> Option<()> {
        let cpu = self.course.lookout.cpus.now();
        let request = self.request(rows, row, cpu)?;
        let mut arms: Vec<usize> =
            self.of_row(rows, row).enumerate().filter(|(_, row)| row.is_open()).map(|(arm, _)| arm).collect();
        arms.shuffle(&mut self.generator);
        self.turns.get_mut(row)?.push(vec![None; self.arms.len()]);
        self.turn = Some(Turn { row, cpu, request, arms });
        Some(())
    }

    /// The same request for all arms. Blocks have as many samples as suit the arm in which the row is dearest.
    fn request(&self, rows: &[Row], row: usize, cpu: usize) -> Option<Request> {
        let longer = |arm: &Arm| self.course.lookout.cpus.longer(arm.cpu.unwrap_or(cpu));
        Some(Request {
            // A command may start the probe by way of other processes, and on another CPU: the probe finds out which.
            path: self.of_row(rows, row).any(|row| row.is_open() && row.rounds.is_empty()),
            samples: self.of_row(rows, row).map(|row| self.course.samples(row)).min()?,
            // Where it enters the kernel in one arm, each sample has one use in all of them.
            uses: self.of_row(rows, row).map(Row::uses).min()?,
            ..HostPlan::request(rows.get(row)?.row, self.arms.iter().map(longer).max()?)
        })
    }

    /// The round of one arm in a turn.
    fn take(&mut self, rows: &[Row], turn: &Turn, arm: usize) -> Option<RoundTaken> {
        let row = rows.get(turn.row)?.row;
        let at = self.course.at(self.scout);
        let of = self.arms.get_mut(arm)?;
        let answer = self.course.take(of.executor, row, of.cpu.unwrap_or(turn.cpu), &turn.request)?;
        if let Some(begun) = self.turns.get_mut(turn.row).and_then(|turns| turns.last_mut()?.get_mut(arm)) {
            *begun = Some(at);
        }
        Some(RoundTaken { row: arm * self.count + turn.row, at, answer })
    }

    /// Remembers an arm whose command chose another CPU.
    fn note_stray(&mut self, arm: usize, [asked, found]: [usize; 2]) {
        let Some(stray) = self.strays.get_mut(arm) else { return };
        if found != asked && stray.is_none() {
            *stray = Some(format!(
                "its probes ran on CPU {found} when they were to run on CPU {asked}: the command chooses the CPU"
            ));
        }
    }
}

impl Measurer for SideBySide<'_> {
    fn next(&mut self, rows: &[Row]) -> Option<RoundTaken> {
        loop {
            if self.course.is_interrupted() {
                return None;
            }
            if let Some(mut turn) = self.turn.take() {
                let Some(arm) = turn.arms.pop() else { continue };
                let taken = self.take(rows, &turn, arm);
                self.turn = Some(turn);
                return taken;
            }
            let wanted: Vec<InAllArms> = (0..self.count).map(|row| self.wanted(rows, row)).collect();
            let row = self.course.next_row(self.scout, &wanted)?;
            self.begin_turn(rows, row)?;
        }
    }

    fn look(&mut self, rows: &mut [Row], index: usize) {
        let Some(cpus) = rows.get_mut(index).and_then(|row| self.course.look(row)) else { return };
        self.note_stray(index / self.count.max(1), cpus);
        self.course.review(rows);
    }

    fn progress<'r>(&self, row: TableRow<'r>) -> Option<Progress<'r>> {
        Some(self.course.progress(self.scout, row))
    }
}
