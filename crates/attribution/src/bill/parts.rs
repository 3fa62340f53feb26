//! What the lab's cost is made of: parts that add up to all of it.
//!
//! Their configurations telescope: what is taken from one part is added by another, and bare and what the whole adds to it remain. A
//! part that has no figure would leave a gap; it is taken together with its neighbours, and named.

use crate::bill::Figure;
use crate::bill::document::{ExplainedKind, ExplainedPart, Line, State};
use crate::bill::measured::Measured;
use crate::bill::plan::{Combination, Plan, less};

/// A part of the path, and the figures that it is the total of.
pub(crate) struct Share {
    kind: ExplainedKind,
    what: String,
    /// With a factor each; empty where the part has no figure.
    figures: Vec<(Combination, f64)>,
    note: Option<String>,
}

impl Share {
    fn new(kind: ExplainedKind, what: &str, figure: Combination, note: Option<&str>) -> Share {
        Share { kind, what: what.into(), figures: vec![(figure, 1.0)], note: note.map(str::to_string) }
    }

    fn without_figure(kind: ExplainedKind, what: &str, note: Option<String>) -> Share {
        Share { kind, what: what.into(), figures: Vec::new(), note }
    }

    fn has_figure(&self, measured: &Measured) -> bool {
        self.figures.is_empty() || total([self], measured).is_some()
    }

    pub fn part(self, measured: &Measured) -> ExplainedPart {
        let figure = if self.figures.is_empty() { None } else { total([&self], measured) };
        ExplainedPart { kind: self.kind, what: self.what, figure, note: self.note, protects: false }
    }
}

/// What parts are together, as a total of the figures of each; `None` where one was not measured.
fn total<'a>(shares: impl IntoIterator<Item = &'a Share>, measured: &Measured) -> Option<Figure> {
    sum(shares.into_iter().flat_map(|share| &share.figures), measured)
}

fn sum<'a>(figures: impl IntoIterator<Item = &'a (Combination, f64)>, measured: &Measured) -> Option<Figure> {
    let all: Vec<_> = figures.into_iter().map(|(figure, factor)| (figure, *factor)).collect();
    measured.total(&all).map(Figure::without_verdict)
}

/// The sum of all parts, which is what is printed of each.
pub(crate) fn explained(path: &[Share], measured: &Measured) -> Option<Figure> {
    total(path, measured)
}

/// The parts of the path, in its order.
pub(crate) fn path(plan: &Plan, measured: &Measured, lines: &[Line]) -> Vec<Share> {
    let (way_in, service) = of_bare(plan, measured);
    way_in.into_iter().chain(of_steps(plan, measured, lines)).chain(service).collect()
}

/// Bare, in two parts of the path: before the steps and behind them.
fn of_bare(plan: &Plan, measured: &Measured) -> (Option<Share>, Vec<Share>) {
    const NUMBER: &str = "bare, with a call number that no kernel has";
    const ONE: &str = "the entry takes no call number, so that none tells the crossing from the service";
    let (crossing, bare) = (&plan.crossing, &plan.bare);
    let together = |why: &str| {
        let what = "entry and service (not told apart)";
        (Some(Share::new(ExplainedKind::NotToldApart, what, bare.clone(), Some(why))), Vec::new())
    };
    if crossing.is_empty() {
        return together(ONE);
    }
    let way_in =
        Share::new(ExplainedKind::Crossing, "crossing by the hardware", crossing.clone(), Some(NUMBER));
    let service = dispatch_and_service(plan);
    if std::iter::once(&way_in).chain(&service).all(|share| share.has_figure(measured)) {
        return (Some(way_in), service);
    }
    let used = [crossing, &plan.empty_service, bare].into_iter().flatten();
    together(why(used.map(|(place, _)| *place), measured))
}

/// Why one of these configurations, or a difference of them, has no figure.
fn why(mut configurations: impl Iterator<Item = usize>, measured: &Measured) -> &str {
    configurations.find_map(|place| measured.why(place)).unwrap_or(FEW)
}

/// Why a difference has no figure although its configurations do.
pub(crate) const FEW: &str = "too few of its rounds were undisturbed in the same sweeps";

/// What bare costs beyond the crossing.
fn dispatch_and_service(plan: &Plan) -> Vec<Share> {
    const EMPTY: &str = "registers saved, the call through the table, and a service that returns a constant";
    const WITHIN: &str =
        "the lab answers with a constant, which is within dispatch; what Linux does for it is in the rest";
    const SERVICE: &str = "the service itself";
    let (crossing, empty, bare) = (&plan.crossing, &plan.empty_service, &plan.bare);
    if crossing == bare {
        // An unknown call number: there is neither.
        return Vec::new();
    }
    if empty.is_empty() {
        return vec![Share::new(
            ExplainedKind::Service,
            SERVICE,
            less(bare, crossing),
            Some("with dispatch"),
        )];
    }
    let dispatch = Share::new(ExplainedKind::Dispatch, "dispatch", less(empty, crossing), Some(EMPTY));
    let service = if empty == bare {
        Share::without_figure(ExplainedKind::Service, SERVICE, Some(WITHIN.into()))
    } else {
        Share::new(ExplainedKind::Service, SERVICE, less(bare, empty), None)
    };
    vec![dispatch, service]
}

/// The steps, each alone, and what remains of what the whole adds.
fn of_steps(plan: &Plan, measured: &Measured, lines: &[Line]) -> Vec<Share> {
    let added = less(&plan.whole, &plan.bare);
    let missing =
        measured.figure(&added).is_none().then(|| why(added.iter().map(|(place, _)| *place), measured));
    let (mut shares, mut lost, mut rest) = (Vec::new(), Vec::new(), vec![(added, 1.0)]);
    // What is left out is in no figure here, and named in a remark.
    for (alone, line) in
        plan.alone.iter().zip(lines).filter(|(_, line)| !matches!(line.state, State::LeftOut(_)))
    {
        rest.push((alone.clone(), -1.0));
        let is_told = match missing {
            Some(_) => measured.figure(alone).is_some(),
            None => sum(&rest, measured).is_some(),
        };
        shares.push(step(alone, line, is_told));
        if !is_told {
            rest.pop();
            lost.push(line.step.name());
        }
    }
    if !shares.is_empty() {
        shares.push(remainder(rest, missing, &lost));
    }
    shares
}

/// What the whole adds less the steps that are told apart; `missing` says why the whole has no figure.
fn remainder(figures: Vec<(Combination, f64)>, missing: Option<&str>, lost: &[String]) -> Share {
    const OPEN: &str = "steps (not told apart)";
    let (kind, what, note) = match (missing, lost) {
        (Some(why), _) => (ExplainedKind::NotToldApart, OPEN, format!("the whole has no figure: {why}")),
        (None, []) => {
            (ExplainedKind::Interactions, "steps together", "the whole less the sum of the steps".into())
        }
        (None, lost) => {
            let note = format!(
                "what {} adds, which cannot be told apart, and the interactions of all steps",
                lost.join(", ")
            );
            (ExplainedKind::NotToldApart, OPEN, note)
        }
    };
    Share { kind, what: what.into(), figures, note: Some(note) }
}

/// A step; of one without a figure, why. One that is not told apart is within the remainder.
fn step(alone: &Combination, line: &Line, is_told: bool) -> Share {
    let name = line.step.name();
    let why = match (&line.state, line.alone) {
        (State::Unseen, _) => "adds no instruction".to_string(),
        (State::WithoutEffect(why), None) => format!("adds no instruction, without effect: {why}"),
        (State::Failed(why), None) => why.clone(),
        _ if !is_told => FEW.into(),
        _ => return Share::new(ExplainedKind::Step, &name, alone.clone(), None),
    };
    Share::without_figure(ExplainedKind::Step, &name, Some(why))
}
