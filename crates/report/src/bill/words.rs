//! What a bill says in words that every format shares. Not yet made harmless: whoever shows them does that.

use crate::figure::{ABSENT, number};
use crate::head::PARTIAL;
use crate::runs::short;
use attribution::bill::{Bill, ExplainedKind, ExplainedPart, Figure, Line, State, There, Unit};

/// A verdict on a step is wrong in at most this part of bills.
const WRONG: f64 = 0.05;

/// What a count is, and is not.
pub(super) const COUNTED: &str = "instructions executed in an emulator, no times; a count ranks no cost (iretq and cpuid count one each, \
                                  as mov does), and what it cannot see, such as PCID, flushes and the footprint, is - and not 0";

/// Whether figures are counts.
pub(super) fn is_counted(bill: &Bill) -> bool {
    bill.unit == Some(Unit::Instructions)
}

/// Said of a step that adds no instruction.
const UNSEEN: &str = "no instruction here";

/// Said of a part of a Linux that is one.
const PROTECTION: &str = "a protection";

/// What is billed.
pub(super) fn title(bill: &Bill) -> String {
    format!("{} through {}, profile {}", bill.operation, bill.entry, bill.profile)
}

/// What stands above all: label and text.
pub(super) fn head(bill: &Bill) -> Vec<(&'static str, String)> {
    let mut facts = vec![("bill", title(bill))];
    facts.extend(no_times(bill).map(|why| ("no times", why)));
    facts
}

/// What stands above the steps.
pub(super) fn of_lab(bill: &Bill) -> Vec<(&'static str, String)> {
    let mut facts = vec![("lab", lab(bill)), ("figures", figures(bill).to_owned())];
    if bill.orders > 0 {
        facts.push((
            "orders",
            format!("of each step, the mean over {} random orders of all steps", bill.orders),
        ));
    }
    facts.push((if bill.there.is_some() { "lab's path" } else { "path" }, adds_up(bill)));
    if !bill.not_in_lab.is_empty() {
        facts.push(("not in lab", format!("what that kernel does as well: {}", bill.not_in_lab.join("; "))));
    }
    if bill.partial {
        facts.push(("partial", PARTIAL.to_owned()));
    }
    facts
}

/// That this bill has no times, why, and what measures some on such a machine; none where it has.
fn no_times(bill: &Bill) -> Option<String> {
    let why = bill.no_times.as_ref()?;
    Some(format!(
        "this bill counts instructions: {why}. Times of two commands can be measured all the same (`kentry compare --live COMMAND-A \
         COMMAND-B`), and of two kernels or settings, each booted and measured (`kentry compare BASE NEW`){}",
        if bill.ring3.is_some() { "; cycles of ring 3 stand in the column ring 3" } else { "" }
    ))
}

fn lab(bill: &Bill) -> String {
    let machine = crate::machine::place(&bill.place.machine);
    let run = bill.run.as_deref().map(|id| format!(", run {}", short(id))).unwrap_or_default();
    let cpu = bill.cpu.as_deref().unwrap_or(ABSENT);
    format!("kentry's own kernel {machine}, CPU {cpu}; {}, kentry {}{run}", bill.started, bill.kentry)
}

fn figures(bill: &Bill) -> &'static str {
    match bill.unit {
        Some(Unit::Instructions) => COUNTED,
        Some(Unit::Cycles) => "core cycles on a processor; ±: 95 % confidence",
        Some(Unit::Ticks) => {
            "ticks of the time stamp counter, since core cycles cannot be told; ±: 95 % confidence"
        }
        None => "nothing was measured",
    }
}

/// How the path adds up, in a sentence.
fn adds_up(bill: &Bill) -> String {
    let amount = |figure: &Figure| amount(bill, figure.estimate);
    let Some((bare, whole)) = bill.bare.as_ref().zip(bill.whole.as_ref()) else {
        return "bare or the whole has no figure, so that nothing adds up".to_owned();
    };
    let billed = bill.lines.iter().filter(|line| super::path::added(bill, line).is_some()).count();
    let unit = bill.unit.map_or("", Unit::name);
    let steps = if billed == 1 { "1 step".to_owned() } else { format!("{billed} steps") };
    let whole = amount(whole);
    if bill.orders > 0 {
        let added = bill.added.as_ref().map_or(ABSENT.to_owned(), amount);
        return format!("{} bare + {added} by {steps} = {whole} {unit}", amount(bare));
    }
    let sum = bill.sum.as_ref().map_or(ABSENT.to_owned(), amount);
    let together = bill.interactions.map_or(format!("+ {ABSENT}"), |figure| {
        let sign = if figure.estimate < 0.0 { "-" } else { "+" };
        format!("{sign} {}", self::amount(bill, figure.estimate.abs()))
    });
    format!(
        "{} bare + {sum} by {steps}, each alone, {together} by interactions = {whole} {unit}",
        amount(bare)
    )
}

/// A number in the bill's unit: what was counted is whole, unless it is a mean.
pub(super) fn amount(bill: &Bill, value: f64) -> String {
    if is_counted(bill) && value.fract() == 0.0 && value.abs() < 1e7 {
        // Adding zero takes the sign from a negative zero.
        return format!("{:.0}", value + 0.0);
    }
    number(value)
}

/// `±0.4`: the distance to the farther end of the interval; empty where there is none.
pub(super) fn error(figure: &Figure) -> String {
    let ends = figure.low.zip(figure.high);
    let half = ends.map(|(low, high)| f64::max(figure.estimate - low, high - figure.estimate));
    half.map(|half| format!("±{}", number(half))).unwrap_or_default()
}

/// `16.6 %`
pub(super) fn share(share: Option<f64>) -> String {
    let percent = share.map(|share| 100.0 * share).filter(|percent| percent.is_finite());
    percent.map_or_else(|| ABSENT.to_owned(), |percent| format!("{} %", number(percent)))
}

/// A step's name; with its value without the step, where another step has brought that.
pub(super) fn name(bill: &Bill, line: &Line) -> String {
    let step = &line.step;
    let raises = bill.lines.iter().any(|other| {
        other.step.switch == step.switch && other.step.value == step.base && other.step != *step
    });
    if raises { format!("{}, was {}", step.name(), step.base) } else { step.name() }
}

/// The features that a step needs the processor for.
pub(super) fn needs(line: &Line) -> String {
    let needs = line.step.needs.iter().map(|need| need.feature.as_str());
    let needs = needs.collect::<Vec<_>>().join(" ").to_uppercase();
    if needs.is_empty() { ABSENT.to_owned() } else { needs }
}

/// What else is to be known of a step.
pub(super) fn remark(line: &Line) -> String {
    let state = match &line.state {
        State::Measured => None,
        State::WithoutEffect(why) => Some(format!("without effect: {why}")),
        State::Unseen => Some(UNSEEN.to_owned()),
        State::LeftOut(why) => Some(format!("left out: {why}")),
        State::Failed(why) => Some(format!("not measured: {why}")),
    };
    let untold = is_told(line) == Some(false);
    let untold = untold.then(|| "alone: no different from 0".to_owned());
    let guess = line.step.guess.as_ref().map(|from| format!("guessed: {from}"));
    [state, untold, guess].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Whether what a step adds alone can be told from nothing; none where no verdict is drawn.
pub(super) fn is_told(line: &Line) -> Option<bool> {
    line.alone.and_then(|figure| figure.p).map(|p| p <= WRONG)
}

/// What the columns mean.
pub(super) fn legend(bill: &Bill) -> String {
    let orders = if bill.orders > 0 {
        " in orders: the mean of what it adds in random orders; these add up to the whole without interactions."
    } else {
        ""
    };
    let is_unseen = |line: &Line| line.state == State::Unseen;
    let unseen = if bill.lines.iter().any(is_unseen) {
        format!(" {UNSEEN}: a count cannot see what else the step costs.")
    } else {
        String::new()
    };
    format!(
        "alone: what the step adds to bare with what it requires. in company: what the whole loses without the step; what \
         requires the step is left out of both.{orders} share: of the whole. interactions: the whole less bare and the sum of the steps, each alone; \
         negative where steps share work. needs: what the CPU must have.{unseen}"
    )
}

/// What stands above the parts of a Linux.
pub(super) fn of_linux(bill: &Bill, there: &There) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Linux", linux(there))];
    facts.extend(there.remarks.iter().map(|remark| ("", remark.clone())));
    if is_followed(there) {
        facts.push(("its path", parts_add_up(bill, there)));
        facts.extend(protections(bill, there).map(|sentence| ("protections", sentence)));
        facts.extend(saved(bill, there).map(|sentence| ("saved", sentence)));
    }
    facts
}

/// Which Linux it is.
pub(super) fn linux(there: &There) -> String {
    let run = there.run.as_deref().map(|id| format!(", run {}", short(id))).unwrap_or_default();
    format!("{}{run}", there.what)
}

/// Whether each of its instructions was followed: then it comes first, for its parts are not the lab's steps.
pub(super) fn is_followed(there: &There) -> bool {
    there.parts.iter().any(|part| matches!(part.kind, ExplainedKind::Brought | ExplainedKind::C))
}

/// How the instructions of a Linux add up, in a sentence.
fn parts_add_up(bill: &Bill, there: &There) -> String {
    let of = |kind: ExplainedKind| {
        let parts = there.parts.iter().filter(|part| part.kind == kind);
        amount(bill, parts.filter_map(|part| part.figure).map(|figure| figure.estimate).sum())
    };
    let [program, assembly, c] = [ExplainedKind::Program, ExplainedKind::Brought, ExplainedKind::C].map(of);
    let figure =
        |figure: Option<Figure>| figure.map_or(ABSENT.into(), |figure| amount(bill, figure.estimate));
    format!(
        "{program} in the program + {assembly} of the assembler's part + {c} of C code + {} rest = {} instructions",
        figure(there.rest),
        figure(there.measured)
    )
}

/// How many of them are protections, in a sentence; none where that is not known.
fn protections(bill: &Bill, there: &There) -> Option<String> {
    let (found, measured) = there.protections.zip(there.measured)?;
    Some(format!(
        "{} of these {} instructions ({}), without idle ones",
        amount(bill, found.estimate),
        amount(bill, measured.estimate),
        share(Some(found.estimate / measured.estimate)),
    ))
}

/// What another boot without protections tells, in a sentence; none where there was none.
fn saved(bill: &Bill, there: &There) -> Option<String> {
    let (without, measured) = (there.unprotected?.estimate, there.measured?.estimate);
    let saved = measured - without;
    let rest = there.protections.is_some_and(|all| all.estimate > saved);
    Some(format!(
        "{} ({}) by {}: so booted, this kernel executes {}{}",
        amount(bill, saved),
        share(Some(saved / measured)),
        there.unprotected_by.as_deref().unwrap_or(ABSENT),
        amount(bill, without),
        if rest { "; the other protections have no parameter" } else { "" },
    ))
}

/// What is said of a part of a Linux.
pub(super) fn of_part(part: &ExplainedPart) -> Option<String> {
    let protection = part.protects.then(|| PROTECTION.to_owned());
    let said: Vec<String> = protection.into_iter().chain(part.note.clone()).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// What the three figures of a Linux are; where instructions of a run were counted, what takes the rest apart.
pub(super) fn measured_and_explained(bill: &Bill, there: &There) -> String {
    let said = "Measured there, explained here, rest: no part is fitted to the rest.";
    if is_followed(there) {
        let is_same = there.rest.is_some_and(|rest| rest.estimate == 0.0);
        let lab = if is_same {
            "The lab's path, below, has the same assembler's part, and where Linux has C code a dispatch and a service of its own, which are shorter."
        } else {
            "The lab's path, below, differs from Linux's assembler's part by the rest, and has a dispatch and a service of its own in place of C code."
        };
        return format!(
            "{lab} A step's figure there may differ from its part here, because bare already does some of that work with other instructions. idle: \
             nops and jumps in the place of what this boot has switched off. {said} `kentry anatomy {} --against PARAMETERS` compares two boots, \
             instruction by instruction.",
            bill.entry
        );
    }
    match is_counted(bill) {
        true => format!("{said} `kentry bill --follow KERNEL` takes it apart, for a Linux that QEMU boots."),
        false => said.to_owned(),
    }
}
