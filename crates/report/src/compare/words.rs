//! What a comparison says, in sentences that every format shares. Not yet made harmless: whoever shows them does that.

use super::groups::{Kind, Names};
use super::interval::{self, WrittenChange};
use crate::figure::{ABSENT, number};
use crate::runs::short;
use compare::{
    Change, Comparison, Confounder, Row, RowSide, RunHead, Same, Severity, Side, Source, Unit, Verdict,
};
use document::Name;
use std::collections::BTreeSet;
use table::Kernel;

/// So many runs of a side are named, and so many rows of a gate.
pub(super) const NAMED: usize = 6;

/// The longest value of a confounder, in characters: a kernel's command line has 2,000.
const LONGEST: usize = 70;

/// One or several of something: `1 row`, `12 rows`.
pub(super) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A percentage with its sign, and without the sign `%`: two digits behind the point where less than ten percent matter.
pub(crate) fn percent(percent: f64) -> String {
    interval::text(percent, interval::digits_of_percent(percent))
}

/// A number as its user wrote it: without a needless point.
pub(super) fn plainly(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What counts as the same: `2 % or 5 cycles`, or `2 % or 5 instructions` where these were counted.
pub(crate) fn margin(compared: &Comparison) -> String {
    let units: BTreeSet<Unit> = compared.rows.iter().filter_map(|row| row.unit).collect();
    margin_in(&compared.settings.same, &units)
}

/// The same of rows that have these units. To nanoseconds a margin in cycles does not apply.
fn margin_in(same: &Same, units: &BTreeSet<Unit>) -> String {
    let in_unit = match [Unit::Cycles, Unit::Instructions, Unit::Ns].map(|unit| units.contains(&unit)) {
        [true, true, _] => Some("cycles or instructions"),
        [false, true, _] => Some("instructions"),
        [false, false, true] => None,
        [true, false, _] | [false, false, false] => Some("cycles"),
    };
    let in_unit = in_unit.filter(|_| same.cycles > 0.0);
    let percent = (same.percent > 0.0 || in_unit.is_none()).then(|| format!("{} %", plainly(same.percent)));
    let in_unit = in_unit.map(|unit| format!("{} {unit}", plainly(same.cycles)));
    percent.into_iter().chain(in_unit).collect::<Vec<_>>().join(" or ")
}

/// The margin of a row, by the one of both rules that gives the more.
fn margin_of(row: &Row, compared: &Comparison) -> String {
    let same = &compared.settings.same;
    let is_of_cycles = row.margin.is_some_and(|margin| (margin - same.cycles).abs() < 1e-9 * margin.abs());
    match (row.margin_percent, row.margin) {
        (Some(_), _) if !is_of_cycles && same.percent > 0.0 => format!("{} %", plainly(same.percent)),
        (_, Some(margin)) => format!("{} {}", plainly(margin), row.unit.unwrap_or(Unit::Cycles).name()),
        (_, None) => margin(compared),
    }
}

/// What a verdict is called in words; programs read [`Verdict::name`].
fn verdict_name(verdict: Verdict, compared: &Comparison) -> &'static str {
    match verdict {
        Verdict::Slower => of(compared).more,
        Verdict::Faster => of(compared).less,
        verdict => verdict.name(),
    }
}

/// A row's verdict: `slower`, `slower (within 2 %)`, `same within 5 cycles`.
pub(crate) fn verdict(row: &Row, compared: &Comparison) -> String {
    let name = verdict_name(row.verdict, compared);
    match row.verdict {
        Verdict::Same => format!("{name} within {}", margin_of(row, compared)),
        Verdict::Slower | Verdict::Faster if row.within_margin => {
            format!("{name} (within {})", margin_of(row, compared))
        }
        _ => name.to_owned(),
    }
}

/// What a group of rows is called.
pub(super) fn kind(kind: Kind, compared: &Comparison) -> String {
    match kind.verdict {
        Verdict::Slower | Verdict::Faster if kind.is_within => {
            format!("{} (within {})", verdict_name(kind.verdict, compared), margin(compared))
        }
        Verdict::Same => format!("same within {}", margin(compared)),
        verdict => verdict_name(verdict, compared).to_owned(),
    }
}

/// The runs of a side.
pub(super) fn side(side: &Side) -> String {
    let id = |id: &Option<String>| id.as_deref().map(|id| short(id).to_owned());
    match &side.runs[..] {
        [] => "no run".to_owned(),
        [run] => {
            let id = id(&run.id).map(|id| format!("run {id}"));
            let is_id = run.id.as_ref().is_some_and(|id| id.starts_with(&side.label));
            let label = (!is_id && !side.label.is_empty()).then(|| side.label.clone());
            let named: Vec<String> = run.name.clone().or(label).into_iter().chain(id).collect();
            format!("{} of {}", named.join(", "), run.started)
        }
        runs => {
            let of = format!("{} of {}", count(runs.len(), "run"), count(side.boots, "boot"));
            format!("{of}: {}", named(runs))
        }
    }
}

/// The first of some runs by name and id, and how many more there are.
fn named(runs: &[RunHead]) -> String {
    let id = |run: &RunHead| run.id.as_deref().map(|id| short(id).to_owned());
    let each = runs.iter().take(NAMED).map(|run| match (&run.name, id(run)) {
        (Some(name), Some(id)) => format!("{name} ({id})"),
        (Some(name), None) => name.clone(),
        (None, id) => id.unwrap_or_else(|| run.started.clone()),
    });
    let rest = runs.len().saturating_sub(NAMED);
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{rest}", each.collect::<Vec<String>>().join(", "))
}

/// The kept runs that tell how much rows vary, besides those of the sides; none where there are none.
pub(super) fn history(compared: &Comparison) -> Option<String> {
    let kept = &compared.history;
    (!kept.is_empty())
        .then(|| format!("{} tell how much rows vary: {}", count(kept.len(), "kept run"), named(kept)))
}

/// The kernel and the processor, where they are the same for all runs; what differs is told as such.
pub(super) fn common(compared: &Comparison) -> Option<String> {
    let runs = || compared.base.runs.iter().chain(&compared.new.runs);
    let of = |fact: fn(&RunHead) -> Option<String>| {
        let first = fact(runs().next()?)?;
        runs().all(|run| fact(run).as_ref() == Some(&first)).then_some(first)
    };
    let facts: Vec<String> = of(kernel).into_iter().chain(of(|run| run.cpu.clone())).collect();
    (!facts.is_empty()).then(|| facts.join(", "))
}

/// The name and the release of a run's kernel: that of the lab is kentry's own, whatever its release looks like.
fn kernel(run: &RunHead) -> Option<String> {
    let release = run.kernel.as_ref()?;
    Some(match &run.place.kernel {
        Name::Known(Kernel::Linux) => format!("Linux {release}"),
        Name::Known(Kernel::Lab) => format!("kentry lab {release}"),
        Name::Known(Kernel::LabI386) => format!("kentry lab {release}, for protected mode"),
        Name::Other(name) => format!("{name} {release}"),
    })
}

/// What is said where nothing is known to differ.
pub(super) const ALIKE: &str = "nothing else, as far as the runs record it";

/// How serious a confounder is, in a word.
pub(crate) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Refuses => "refuses",
        Severity::Caution => "caution",
        Severity::Note => "note",
    }
}

/// What is not the same on both sides: `kernel: 6.1.0 → 6.12.1`. Of long values, what they have in common is left out, unless the
/// whole is wanted.
pub(super) fn values(confounder: &Confounder, is_whole: bool) -> String {
    format!("{}: {}", confounder.what, contrasted(confounder, is_whole))
}

/// The same without saying what it is.
pub(crate) fn contrasted(confounder: &Confounder, is_whole: bool) -> String {
    let of = |values: &[String]| match values {
        [] => ABSENT.to_owned(),
        values => values.iter().map(|value| shortened(value, is_whole)).collect::<Vec<_>>().join(", "),
    };
    match (&confounder.base[..], &confounder.new[..]) {
        (base, new) if base == new => of(base),
        ([base], [new]) if !is_whole && base.len().max(new.len()) > LONGEST => {
            let (base, new) = contrast(base, new);
            format!("{} → {}", shortened(&base, false), shortened(&new, false))
        }
        (base, new) => format!("{} → {}", of(base), of(new)),
    }
}

/// Two texts without the words that both begin and end with.
fn contrast(base: &str, new: &str) -> (String, String) {
    let words = [base, new].map(|text| text.split_whitespace().collect::<Vec<&str>>());
    let [base, new] = &words;
    let most = base.len().min(new.len());
    let before = base.iter().zip(new).take_while(|(base, new)| base == new).count();
    let behind = base.iter().rev().zip(new.iter().rev()).take_while(|(base, new)| base == new).count();
    let behind = behind.min(most - before);
    let middle = |words: &[&str]| {
        let of = &words[before..words.len() - behind];
        let dots = |is_cut: usize| (is_cut > 0).then_some("…");
        let of = if of.is_empty() { "(nothing)".to_owned() } else { of.join(" ") };
        dots(before).into_iter().chain([of.as_str()]).chain(dots(behind)).collect::<Vec<_>>().join(" ")
    };
    (middle(base), middle(new))
}

fn shortened(value: &str, is_whole: bool) -> String {
    match value.char_indices().nth(LONGEST) {
        Some((end, _)) if !is_whole => format!("{}…", &value[..end]),
        _ => value.to_owned(),
    }
}

/// Why two sides are not compared; none where they are.
pub fn refusal(compared: &Comparison) -> Option<String> {
    let refuses = |confounder: &&Confounder| confounder.severity == Severity::Refuses;
    let whys = compared.confounders.iter().filter(refuses);
    let whys: Vec<String> =
        whys.map(|why| format!("{}. {}", values(why, false), why.meaning.trim_end_matches('.'))).collect();
    compared.refused.then(|| format!("the two sides are not comparable: {}", whys.join("; ")))
}

/// Words for what moved: time that a call takes, or instructions that it executes, which rank no cost.
pub(super) struct Words {
    /// The heading.
    pub question: &'static str,
    /// The same as a title.
    pub title: &'static str,
    /// What a row did whose figure grew.
    grew: &'static str,
    /// What it is then, and what it is if the figure shrank.
    more: &'static str,
    less: &'static str,
    /// Behind the answer.
    remark: &'static str,
}

const TIME: Words = Words {
    question: "slower?",
    title: "did it get slower?",
    grew: "got slower",
    more: "slower",
    less: "faster",
    remark: "",
};

const COUNTS: Words = Words {
    question: "longer?",
    title: "did it get longer?",
    grew: "got longer",
    more: "longer",
    less: "shorter",
    remark: " Instructions are counted, which rank no cost: whether a row got slower, only time says.",
};

/// Those of a comparison.
pub(super) fn of(compared: &Comparison) -> &'static Words {
    let is_counted = |row: &Row| row.unit == Some(Unit::Instructions);
    let mut with_change = compared.rows.iter().filter(|row| row.change.is_some()).peekable();
    let is_any = with_change.peek().is_some();
    if is_any && with_change.all(is_counted) { &COUNTS } else { &TIME }
}

/// Did it get slower? One sentence that answers, and one that counts the rest.
pub fn answer(compared: &Comparison) -> String {
    if compared.refused {
        return "Not compared: the sides are not comparable. --force compares them all the same.".to_owned();
    }
    let counted = Counted::of(compared);
    let rest = counted.rest(compared);
    let rest = if rest.is_empty() { rest } else { format!("; {rest}") };
    format!("{}{rest}.{}", counted.first(compared), of(compared).remark)
}

/// How many rows have which verdict.
struct Counted {
    rows: usize,
    slower: usize,
    slower_within: usize,
    faster: usize,
    inconclusive: usize,
}

impl Counted {
    fn of(compared: &Comparison) -> Counted {
        let of = |verdict: Verdict, is_within: bool| {
            let is = |row: &&Row| row.verdict == verdict && row.within_margin == is_within;
            compared.rows.iter().filter(is).count()
        };
        let any = |verdict: Verdict| compared.rows.iter().filter(|row| row.verdict == verdict).count();
        Counted {
            rows: compared.rows.iter().filter(|row| row.change.is_some()).count(),
            slower: of(Verdict::Slower, false),
            slower_within: of(Verdict::Slower, true),
            faster: any(Verdict::Faster),
            inconclusive: any(Verdict::Inconclusive),
        }
    }

    fn first(&self, compared: &Comparison) -> String {
        let (rows, grew) = (count(self.rows, "row"), of(compared).grew);
        let (inconclusive, decided) = (self.inconclusive, self.rows - self.inconclusive);
        if self.rows == 0 {
            "It cannot be told: no row has a figure on both sides".to_owned()
        } else if self.slower > 0 {
            format!("Yes: {} of {rows} {grew}{}", self.slower, worst(compared))
        } else if decided == 0 {
            match inconclusive {
                1 => "It cannot be told: the one row is inconclusive".to_owned(),
                _ => format!("It cannot be told: all {rows} are inconclusive"),
            }
        } else if self.slower_within > 0 {
            let margin = margin(compared);
            format!("Hardly: {} of {rows} {grew}, by less than {margin}", self.slower_within)
        } else if inconclusive == 0 {
            format!("No: none of {rows} {grew}")
        } else if decided >= inconclusive {
            let decided = count(decided, "row");
            format!(
                "No, as far as can be told: none of {decided} {grew}, and {inconclusive} more {} inconclusive",
                are(inconclusive)
            )
        } else {
            format!(
                "It can hardly be told: {inconclusive} of {rows} {} inconclusive; of the other {decided} none {grew}",
                are(inconclusive)
            )
        }
    }

    /// What the first sentence does not say.
    fn rest(&self, compared: &Comparison) -> String {
        let (number, words) = (|verdict: Verdict| compared.summary.count(verdict) as usize, of(compared));
        let same = format!("same within {}", margin(compared));
        let within = format!("{} within the margin", words.more);
        let is_said = self.slower == 0 && self.slower_within == 0;
        let parts = [
            (if self.slower > 0 { self.slower_within } else { 0 }, within.as_str()),
            (self.faster, words.less),
            (number(Verdict::Same), same.as_str()),
            (if is_said { 0 } else { self.inconclusive }, "inconclusive"),
            (number(Verdict::Closed), "closed now"),
            (number(Verdict::Opened), "open now"),
            (number(Verdict::CauseChanged), "closed for another cause"),
        ];
        let parts = parts.iter().filter(|(number, _)| *number > 0);
        parts.map(|(number, what)| format!("{number} {what}")).collect::<Vec<_>>().join(", ")
    }
}

fn are(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// The row that got slower by most: `, most of all int80-i386 getppid (+12.3 %)`.
fn worst(compared: &Comparison) -> String {
    let slower = |row: &&Row| row.verdict == Verdict::Slower && !row.within_margin;
    let by = |row: &Row| row.change.as_ref().and_then(|change| change.percent);
    let rows = compared.rows.iter().filter(slower).filter_map(|row| Some((row, by(row)?)));
    // A call that programs make comes before one that none does, however much that changed.
    let key = |(row, by): &(&Row, f64)| (!is_of_no_call(row), *by);
    let worst = rows.max_by(|one, other| {
        let (one, other) = (key(one), key(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let names = Names::of(compared);
    let most = |(row, by): (&Row, f64)| {
        let remark = if is_of_no_call(row) { NO_CALL } else { "" };
        format!(", most of all {} ({} %{remark})", names.whole(row), percent(by))
    };
    worst.map(most).unwrap_or_default()
}

/// What is said of a row whose call number no kernel has.
const NO_CALL: &str = "; a call number that no kernel has, which filters may treat otherwise than real calls";

/// Whether a row is of a call number that no kernel has.
fn is_of_no_call(row: &Row) -> bool {
    let entry = table::Table::get().entry(&row.entry);
    row.operation == "none" && entry.is_some_and(|entry| entry.kind == table::Kind::Number)
}

/// What is said of a measurement that was cut short; none where all were whole.
pub(super) fn partial(compared: &Comparison) -> Option<String> {
    let is_cut = |side: &Side| side.runs.iter().any(|run| run.partial);
    let sides = match (is_cut(&compared.base), is_cut(&compared.new)) {
        (false, false) => return None,
        (true, false) => "the base",
        (false, true) => "the new side",
        (true, true) => "both sides",
    };
    Some(format!("PARTIAL: the measurement of {sides} was cut short; rows may lack a figure."))
}

/// The side of a row that has no figure.
pub(super) fn without_figure(row: &Row) -> &'static str {
    let has = |side: &Option<RowSide>| side.as_ref().is_some_and(|side| side.figures > 0);
    match (has(&row.base), has(&row.new)) {
        (false, true) => "the base's side",
        (true, false) => "the new side",
        _ => "either side",
    }
}

/// How sure intervals are, and what is known of how much rows vary.
pub(crate) fn confidence(compared: &Comparison) -> String {
    let rows = count(compared.summary.compared as usize, "row");
    let variation = variation(compared).map(|known| format!("; {known}")).unwrap_or_default();
    let require = if compared.summary.compared == 1 { "requires" } else { "require" };
    format!("at least 95 % confidence, as {rows} {require}{variation}")
}

/// What is said of rows whose rounds were paired.
const IN_TURNS: &str = "rounds were taken in turns: what varies from run to run is in both arms";

/// What is said of rows in turns whose change is not the difference of both columns: a row with two costs may have more rounds of
/// either one in an arm. None where no row is such.
pub(super) fn two_costs<'r>(mut rows: impl Iterator<Item = &'r Row>) -> Option<&'static str> {
    let estimate = |side: &Option<RowSide>| side.as_ref().and_then(|side| side.estimate);
    let is_apart = |row: &Row| {
        let in_turns = row.variation.as_ref().is_some_and(|known| known.source == Source::Pairs);
        let (Some(change), Some((base, new))) = (&row.change, estimate(&row.base).zip(estimate(&row.new)))
        else {
            return false;
        };
        let reach = (change.estimate - change.low).max(change.high - change.estimate);
        // What rounding hides needs no explanation.
        in_turns && (new - base - change.estimate).abs() > reach.max(0.15)
    };
    rows.any(is_apart).then_some(
        "base and new are what the rounds of each arm typically cost, and change is the typical difference of two rounds in turn: \
         where a row has two costs, new - base may be another number.",
    )
}

/// What is known of how much rows vary from run to run, and by what.
fn variation(compared: &Comparison) -> Option<String> {
    let kept_runs = || {
        let known = compared.rows.iter().filter_map(|row| row.variation.as_ref());
        let rows = known.filter(|known| known.kept_runs > 0).map(|known| known.kept_runs as usize);
        let (least, most) = (rows.clone().min().unwrap_or(0), rows.max().unwrap_or(0));
        let all = compared.history.len().max(most);
        let of_these = match () {
            () if least == all => String::new(),
            () if least == most => format!(", of which {most} have the rows"),
            () => format!(", of which {least} to {most} have a row"),
        };
        format!("{} of this machine{of_these}", count(all, "kept run"))
    };
    let of = |source: Source| {
        let rows = compared.rows.iter().filter_map(|row| row.variation.as_ref());
        let rows: Vec<_> = rows.filter(|variation| variation.source == source).collect();
        let what = match source {
            Source::Runs => "the runs of both sides".to_owned(),
            Source::History => kept_runs(),
            Source::Prior => "kentry's prior, for lack of runs".to_owned(),
            Source::Pairs => IN_TURNS.to_owned(),
            Source::Counted => return None,
        };
        (!rows.is_empty()).then_some((rows.len(), what))
    };
    let in_turns = of(Source::Pairs);
    let known: Vec<(usize, String)> =
        [Source::Runs, Source::History, Source::Prior].into_iter().filter_map(of).collect();
    let text = match &known[..] {
        [] => return in_turns.map(|(_, what)| what),
        [(_, what)] => what.clone(),
        several => {
            let each = several.iter().map(|(rows, what)| format!("{what} ({})", count(*rows, "row")));
            each.collect::<Vec<_>>().join(", ")
        }
    };
    let text = format!("variation from run to run known by {text}");
    Some(match in_turns {
        Some((rows, what)) => format!("{what} ({}); of the others, {text}", count(rows, "row")),
        None => text,
    })
}

/// The figures of a row with their intervals: `1435.2 → 1502.1 cycles: +66.9 (+54.8 to +79.0), +4.66 % (+3.82 to +5.50)`.
pub(crate) fn figures(row: &Row) -> Option<String> {
    let change = row.change.as_ref()?;
    let estimate = |side: &Option<RowSide>| {
        let estimate = side.as_ref().and_then(|side| side.estimate);
        estimate.map_or_else(|| ABSENT.to_owned(), number)
    };
    let unit = row.unit.map_or("", Unit::name);
    let WrittenChange { change: by, low, high, .. } =
        interval::of_row(row, change, interval::in_unit(change));
    let by = format!("{by} ({low} to {high})");
    let percent = in_percent(row, change).map(|percent| format!(", {percent}")).unwrap_or_default();
    Some(format!("{} → {} {unit}: {by}{percent}", estimate(&row.base), estimate(&row.new)))
}

/// `+4.66 % (+3.82 to +5.50)`
pub(super) fn in_percent(row: &Row, change: &Change) -> Option<String> {
    let WrittenChange { change: by, low, high, .. } =
        interval::of_row(row, change, interval::in_percent(change)?);
    let unit = if by == interval::UNCERTAIN { "" } else { " %" };
    Some(format!("{by}{unit} ({low} to {high})"))
}

/// What became of a row that does not work on both sides, or has no figure: `ok → refused: ENOSYS`.
pub(crate) fn outcomes(row: &Row) -> String {
    let of = |side: &Option<RowSide>| match side {
        None => "not there".to_owned(),
        Some(side) => {
            let no_figure =
                side.reason.is_none() && side.figures == 0 && side.outcome == document::Outcome::Ok;
            let reason = side.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let noisy = if no_figure { ", without a figure" } else { "" };
            format!("{}{reason}{noisy}", side.outcome.name())
        }
    };
    let (base, new) = (of(&row.base), of(&row.new));
    if base == new { base } else { format!("{base} → {new}") }
}

/// What a row's change rests on, for those who want to know: runs, variation, confidence.
pub(super) fn evidence(row: &Row) -> Option<String> {
    let of = |side: &Option<RowSide>| {
        let figures = side.iter().flat_map(|side| &side.of_runs);
        let figures: Vec<String> =
            figures.map(|figure| figure.map_or_else(|| ABSENT.to_owned(), number)).collect();
        figures.join(" ")
    };
    Some(format!("runs {} → {}; {}", of(&row.base), of(&row.new), sureness(row)?))
}

/// How sure a row's change is, and why: confidence and variation.
pub(crate) fn sureness(row: &Row) -> Option<String> {
    let (change, variation) = (row.change.as_ref()?, row.variation.as_ref());
    let variation = variation.map(|known| match known.deviation {
        Some(deviation) => {
            let percent =
                known.percent.map(|percent| format!(" ({} %)", number(percent))).unwrap_or_default();
            format!("; from run to run ±{}{percent}, by {}", number(deviation), source(known.source))
        }
        None => format!("; by {} of rounds in turns", count(known.pairs as usize, "pair")),
    });
    let confidence = plainly(100.0 * change.confidence);
    Some(format!("{confidence} % confidence, p {:.2e}{}", change.p, variation.unwrap_or_default()))
}

/// What tells how much a row varies, in words.
fn source(source: Source) -> &'static str {
    match source {
        Source::Runs => "these runs",
        Source::History => "kept runs of this machine",
        Source::Prior => "kentry's prior",
        Source::Pairs => "rounds in turns",
        Source::Counted => "counting",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_sign_and_nothing_has_none() {
        assert_eq!(
            [percent(4.663), percent(-0.001), percent(12.34), percent(-250.0), percent(f64::NAN)],
            ["+4.66", "0.00", "+12.3", "-250.0", "-"]
        );
    }

    #[test]
    fn of_two_long_lines_only_what_differs_is_shown() {
        let contrast = |base, new| contrast(base, new);
        let of = |base: &str, new: &str| (base.to_owned(), new.to_owned());
        assert_eq!(contrast("a b c", "a x c"), of("… b …", "… x …"));
        assert_eq!(contrast("a b", "a b c"), of("… (nothing)", "… c"));
        assert_eq!(contrast("a a", "a a a"), of("… (nothing)", "… a"));
        assert_eq!(contrast("a", "b"), of("a", "b"));
        assert_eq!(contrast("", "b"), of("(nothing)", "b"));
    }

    #[test]
    fn a_margin_says_what_was_asked_for() {
        let margin = |percent, cycles, units: &[Unit]| {
            margin_in(&Same { percent, cycles }, &units.iter().copied().collect())
        };
        let in_cycles = |percent, cycles| margin(percent, cycles, &[Unit::Cycles]);
        assert_eq!(in_cycles(2.0, 5.0), "2 % or 5 cycles");
        assert_eq!(in_cycles(0.5, 0.0), "0.5 %");
        assert_eq!(in_cycles(0.0, 12.0), "12 cycles");
        assert_eq!(in_cycles(0.0, 0.0), "0 %");
        // Counts of instructions were once the same within so many cycles.
        assert_eq!(margin(2.0, 5.0, &[Unit::Instructions]), "2 % or 5 instructions");
        assert_eq!(margin(2.0, 5.0, &[Unit::Instructions, Unit::Cycles]), "2 % or 5 cycles or instructions");
        assert_eq!(margin(2.0, 5.0, &[Unit::Ns]), "2 %");
        assert_eq!(margin(0.0, 5.0, &[Unit::Ns]), "0 %");
        assert_eq!(margin(2.0, 5.0, &[]), "2 % or 5 cycles");
    }
}
