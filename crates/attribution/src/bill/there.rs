//! What a Linux costs that was measured, and what of that the lab explains.

use crate::bill::comparable::{cost, in_words, one_processor};
use crate::bill::document::{ExplainedKind, ExplainedPart, Line, There};
use crate::bill::measured::Measured;
use crate::bill::parts::{explained, path};
use crate::bill::plan::Plan;
use crate::bill::{Figure, Unit};
use document::Document;
use findings::LIKE_HERE;

/// Explains the row of the plan's entry and operation.
pub(crate) fn there(
    plan: &Plan,
    measured: &Measured,
    lines: &[Line],
    lab: &Document,
    linux: &Document,
) -> There {
    let found = cost(&plan.question, measured.unit, lab, linux);
    let path = path(plan, measured, lines);
    let explained = explained(&path, measured);
    let parts = path.into_iter().map(|share| share.part(measured)).chain(exits(linux)).collect();
    let rest = found.as_ref().ok().zip(explained).map(|(there, here)| difference(there, &here));
    let share = |rest: &Figure| Some(rest.estimate / found.as_ref().ok()?.estimate);
    There {
        what: what(linux),
        run: linux.id.clone(),
        rest_share: rest.as_ref().and_then(share).filter(|share| share.is_finite()),
        measured: found.as_ref().ok().copied(),
        why: found.err(),
        parts,
        protections: None,
        unprotected: None,
        unprotected_by: None,
        explained,
        rest,
        remarks: remarks(plan, measured.unit, lab, linux),
    }
}

/// Kernel and processor.
fn what(linux: &Document) -> String {
    let environment = &linux.environment;
    let kernel = environment.kernel.release.as_deref().unwrap_or("of an unknown version");
    let on = environment.cpu.brand.as_deref().map(|model| format!(" on {model}")).unwrap_or_default();
    format!("Linux {kernel}{on}")
}

/// The first less the second, which know nothing of each other.
fn difference(first: &Figure, second: &Figure) -> Figure {
    let estimate = first.estimate - second.estimate;
    // Of a count there is no more to know.
    let reach = |of: &Figure, end: Option<f64>| end.map_or(0.0, |end| (end - of.estimate).abs());
    let is_known = first.low.is_some() || second.low.is_some();
    let low = reach(first, first.low).hypot(reach(second, second.high));
    let high = reach(first, first.high).hypot(reach(second, second.low));
    Figure {
        estimate,
        low: is_known.then_some(estimate - low),
        high: is_known.then_some(estimate + high),
        p: None,
        rounds: 0,
    }
}

/// What a hypervisor may do there.
fn exits(linux: &Document) -> Option<ExplainedPart> {
    let below = &linux.environment.hypervisor;
    let name = below.name().unwrap_or("a hypervisor");
    below.present.then(|| ExplainedPart {
        kind: ExplainedKind::Exits,
        what: "exits of the virtual machine".into(),
        figure: None,
        note: Some(format!("{name} is below this Linux; whether the entry leaves the guest is not known, and in the rest if so")),
        protects: false,
    })
}

/// What the reader should know of the comparison.
fn remarks(plan: &Plan, unit: Option<Unit>, lab: &Document, linux: &Document) -> Vec<String> {
    let guessed = plan.steps.all.iter().filter(|step| step.guess.is_some()).count();
    let guessed = (guessed > 0).then(|| format!("{guessed} of the profile's settings are guesses"));
    let left_out: Vec<String> = (plan.steps.all.iter().zip(0..))
        .filter(|(_, place)| plan.left_out(*place).is_some())
        .map(|(step, _)| step.name())
        .collect();
    let left_out =
        (!left_out.is_empty()).then(|| format!("not explained, because left out: {}", left_out.join(", ")));
    let partial = linux.measurement.partial.then(|| "that measurement was cut short".to_string());
    let differs = [other_kernel(plan, linux), other_processor(unit, lab, linux)];
    differs.into_iter().chain([guessed, left_out, partial]).flatten().collect()
}

/// Said of a profile that is not made from that kernel's own words.
fn other_kernel(plan: &Plan, linux: &Document) -> Option<String> {
    let profile = &plan.question.profile.name;
    let release = linux.environment.kernel.release.as_deref().unwrap_or("of an unknown version");
    (profile != LIKE_HERE && linux.is_of_linux()).then(|| {
        format!("the profile is {profile}, and the kernel there is Linux {release}: what they do differently is in the rest")
    })
}

/// Said of counts; times of another processor are not compared at all.
fn other_processor(unit: Option<Unit>, lab: &Document, linux: &Document) -> Option<String> {
    let (here, there) = (&lab.environment, &linux.environment);
    let differ = unit == Some(Unit::Instructions) && one_processor(here, there).is_err();
    differ.then(|| {
        format!(
            "instructions were counted on another processor, or on one that is not known: there {}, here {}",
            in_words(there),
            in_words(here)
        )
    })
}
