//! From measured rows to the bill.

use crate::bill::document::{Bill, Line, MeasuredConfiguration, SCHEMA, State};
use crate::bill::measured::Measured;
use crate::bill::parts::FEW;
use crate::bill::plan::{Combination, Plan, less};
use crate::bill::there::there;
use crate::bill::{Figure, Step};
use document::Document;

impl Plan {
    /// The bill of a document of the lab whose rows are this plan's configurations; and how it explains what `linux`, a document of a
    /// Linux, says of the same entry and operation.
    pub fn bill(&self, document: &Document, linux: Option<&Document>) -> Bill {
        let question = &self.question;
        let measured = Measured::new(document, &question.entry, &self.configurations);
        let added = less(&self.whole, &self.bare);
        let whole = measured.total(&[(&self.bare, 1.0), (&added, 1.0)]).map(Figure::without_verdict);
        let of_whole = measured.figure(&added).map(Figure::without_verdict);
        let mut lines = self.lines(&measured);
        add_up(&mut lines, of_whole);
        correct(&mut lines);
        lines.iter_mut().for_each(|line| line.share = self.share(line, whole));
        Bill {
            schema: SCHEMA.into(),
            kentry: document.measurement.kentry.clone(),
            started: document.measurement.started.clone(),
            place: document.measurement.place.clone(),
            cpu: cpu(document),
            partial: document.measurement.partial,
            run: document.id.clone(),
            entry: question.entry.clone(),
            operation: question.operation.clone(),
            profile: question.profile.name.clone(),
            not_in_lab: question.profile.not_in_lab.clone(),
            unit: measured.unit,
            no_times: None,
            features: self.processor.features.clone(),
            bare: measured.figure(&self.bare).map(Figure::without_verdict),
            whole,
            sum: measured.total(&self.steps_alone(1.0)).map(Figure::without_verdict),
            interactions: measured.total(&self.interactions(&added)),
            added: of_whole,
            there: linux.map(|linux| there(self, &measured, &lines, document, linux)),
            lines,
            ring3: None,
            orders: question.orders,
            configurations: self.configured(&measured),
        }
    }

    fn lines(&self, measured: &Measured) -> Vec<Line> {
        self.steps.all.iter().enumerate().map(|(place, step)| self.line(measured, place, step)).collect()
    }

    fn share(&self, line: &Line, whole: Option<Figure>) -> Option<f64> {
        let part = if self.question.orders > 0 { line.in_orders } else { line.alone };
        Some(part?.estimate / whole?.estimate).filter(|share| share.is_finite())
    }

    fn line(&self, measured: &Measured, place: usize, step: &Step) -> Line {
        let of = |combinations: &[Combination]| {
            combinations.get(place).filter(|combination| !combination.is_empty()).cloned()
        };
        let figure = |combination: Option<Combination>| measured.figure(&combination?);
        let line = Line {
            step: step.clone(),
            state: State::Measured,
            alone: figure(of(&self.alone)),
            in_company: figure(of(&self.in_company)),
            in_orders: self.in_orders(measured, place),
            share: None,
        };
        let state = self.state(measured, place, &line);
        let figures = [line.alone, line.in_company, line.in_orders];
        let adds_nothing = figures.into_iter().flatten().all(|figure| figure.estimate == 0.0);
        // What costs without an instruction of its own, a count cannot see; that is not 0.
        let is_unseen = self.processor.counts && adds_nothing;
        let state = if is_unseen && state == State::Measured { State::Unseen } else { state };
        if is_unseen || matches!(state, State::LeftOut(_)) {
            return Line { state, alone: None, in_company: None, in_orders: None, ..line };
        }
        Line { state, ..line }
    }

    /// The mean over all orders.
    fn in_orders(&self, measured: &Measured, place: usize) -> Option<Figure> {
        let added = self.in_orders.get(place).filter(|added| !added.is_empty())?;
        let sum = measured.total(&added.iter().map(|one| (one, 1.0)).collect::<Vec<_>>());
        sum.map(|sum| sum.by(added.len() as f64))
    }

    fn steps_alone(&self, factor: f64) -> Vec<(&Combination, f64)> {
        self.alone.iter().map(|step| (step, factor)).collect()
    }

    /// What the whole adds, less the steps alone.
    fn interactions<'a>(&'a self, added: &'a Combination) -> Vec<(&'a Combination, f64)> {
        [vec![(added, 1.0)], self.steps_alone(-1.0)].concat()
    }

    fn state(&self, measured: &Measured, place: usize, line: &Line) -> State {
        if let Some(why) = self.left_out(place) {
            return State::LeftOut(why.into());
        }
        let used = || [&self.alone, &self.in_company].into_iter().filter_map(|of| of.get(place)).flatten();
        if let Some(why) = used().find_map(|(one, _)| measured.why(*one)) {
            return State::Failed(why.into());
        }
        let figures = [line.alone, line.in_company];
        if figures.contains(&None) {
            return State::Failed(FEW.into());
        }
        let lacks = line.step.lacks();
        if !lacks.is_empty() {
            return State::WithoutEffect(format!("the lab's CPU has no {lacks}"));
        }
        State::Measured
    }

    fn configured(&self, measured: &Measured) -> Vec<MeasuredConfiguration> {
        let all = self.configurations.iter().enumerate();
        let configured = all.map(|(place, configuration)| MeasuredConfiguration {
            operation: configuration.operation.clone(),
            steps: configuration.steps.iter().copied().collect(),
            values: self.steps.changes(&configuration.values),
            figure: measured.figure(&[(place, 1.0)]).map(Figure::without_verdict),
            why: measured.why(place).map(str::to_string),
        });
        configured.collect()
    }
}

/// The processor, as the emulator or its CPUID names it.
fn cpu(document: &Document) -> Option<String> {
    let environment = &document.environment;
    let emulated = environment.guest.as_ref().map(|guest| guest.cpu_model.clone());
    environment.cpu.brand.clone().or(emulated)
}

/// Makes the steps in orders add up to what the whole adds. Their estimates are of different configurations, and where time is measured
/// a little is left, of which each step gets the same part.
fn add_up(lines: &mut [Line], added: Option<Figure>) {
    let is_complete = |line: &Line| line.in_orders.is_some() || matches!(line.state, State::LeftOut(_));
    if !lines.iter().all(is_complete) {
        return;
    }
    let mut parts: Vec<&mut Figure> = lines.iter_mut().filter_map(|line| line.in_orders.as_mut()).collect();
    let sum: f64 = parts.iter().map(|part| part.estimate).sum();
    let Some(added) = added.filter(|added| added.low.is_some()) else { return };
    let more = (added.estimate - sum) / parts.len() as f64;
    parts.iter_mut().for_each(|part| **part = part.moved(more));
}

/// Corrects how likely the steps' figures are by chance for how many there are (Holm, A simple sequentially rejective multiple test
/// procedure, 1979): a verdict on any of them is then wrong in no more than the part that is asked for, all together.
fn correct(lines: &mut [Line]) {
    let figures = lines
        .iter_mut()
        .flat_map(|line| [&mut line.alone, &mut line.in_company, &mut line.in_orders].into_iter().flatten());
    let mut found: Vec<&mut f64> = figures.filter_map(|figure| figure.p.as_mut()).collect();
    found.sort_by(|a, b| a.total_cmp(b));
    let (count, mut least) = (found.len(), 0.0_f64);
    for (place, p) in found.into_iter().enumerate() {
        least = least.max((*p * (count - place) as f64).min(1.0));
        *p = least;
    }
}
