//! What is said of a judgement.

use super::section::{Kind::*, Section};
use super::words::{
    NAMED, chance, change, count, difference, differs, fact, hosts, or_absent, row, unit, values,
};
use crate::figure::{ABSENT, number};
use ::fleet::{
    Closed, Cohort, CohortRow, Difference, FindingCount, Judgement, Mitigation, MitigationValue, OddHost,
    Remark, Split,
};

/// So many odd hosts are told; with more of them the fleet, and not the host, is what to look at. Whoever asks for more gets all.
const MOST: usize = 30;

/// What stands of an odd host for each of its rows, where a reader asks for more.
struct OddRow<'a>(&'a OddHost, &'a Difference);

/// A row of a cohort.
struct InCohort<'a>(&'a Cohort, &'a CohortRow);

/// All parts, what matters most first.
pub(super) fn sections(judgement: &Judgement, verbose: bool) -> Vec<Section> {
    parts(judgement, verbose, verbose)
}

/// The same for a page, which tells rows of hosts and of cohorts where its reader asks for them.
pub(super) fn whole(judgement: &Judgement) -> Vec<Section> {
    parts(judgement, true, false)
}

fn parts(judgement: &Judgement, verbose: bool, has_rows: bool) -> Vec<Section> {
    let all = [
        Some(head(judgement)),
        odd(judgement, if verbose { usize::MAX } else { MOST }),
        odd_rows(judgement).filter(|_| has_rows),
        splits(judgement),
        cohorts(judgement),
        cohort_rows(judgement).filter(|_| has_rows),
        closed(judgement, verbose),
        findings(judgement, verbose),
        mitigations(judgement, verbose),
        remarks(&judgement.remarks),
    ];
    all.into_iter().flatten().collect()
}

/// Names the section of odd hosts.
pub(super) const ODD: &str = "odd";

fn head(judgement: &Judgement) -> Section {
    let odd = match judgement.odd.len() {
        0 => "none is odd".to_owned(),
        1 => "1 is odd".to_owned(),
        many => format!("{many} are odd"),
    };
    let begins = format!(
        "{} in {}, by {}; {} could be judged, and {odd}.",
        count(judgement.hosts, "host"),
        count(judgement.cohorts.len(), "cohort"),
        count(judgement.runs, "run"),
        judgement.judged,
    );
    let false_odd = format!(
        "Of the hosts that are named odd, at most {:.0} % are not, in the mean over fleets.",
        100.0 * judgement.false_odd
    );
    let by = format!("Cohorts are split by {} too.", judgement.by.join(", "));
    let mut head = Section { id: "fleet", ..Section::default() }.with(begins);
    if !judgement.odd.is_empty() {
        head = head.with(false_odd);
    }
    if judgement.by.is_empty() { head } else { head.with(by) }
}

/// A line for each odd host: its clearest row, and the fact that separates it best.
fn odd(judgement: &Judgement, most: usize) -> Option<Section> {
    let shown = &judgement.odd[..judgement.odd.len().min(most)];
    let section = Section::of(
        ODD,
        "Odd hosts, the clearest first",
        shown,
        &[
            ("host", Text, |odd| odd.host.clone()),
            ("cohort", SpareWord(2), |odd| odd.cohort.clone()),
            ("clearest row, against the others", Text, |odd| {
                odd.rows.first().map_or_else(
                    || ABSENT.to_owned(),
                    |first| format!("{} {}", row(&first.name), difference(first)),
                )
            }),
            ("rows", SpareNumber(3), |odd| odd.rows.iter().filter(|row| row.is_clear).count().to_string()),
            ("what differs there", Text, what_differs),
        ],
    )?;
    let left = judgement.odd.len() - shown.len();
    Some(if left > 0 {
        section
            .with(format!("{} more are in the other formats, and here with --verbose.", count(left, "host")))
    } else {
        section
    })
}

/// All rows together may move with the clock; what differs is told as far as it separates odd hosts from others.
fn what_differs(odd: &OddHost) -> String {
    let together = odd.common_percent.filter(|_| odd.moves_together);
    let together =
        together.map(|percent| format!("all rows move together, by {}", change(Some(percent), None, None)));
    let facts = odd.differs.iter().take(if together.is_some() { 1 } else { 2 }).map(differs);
    let all: Vec<String> = together.into_iter().chain(facts).collect();
    if all.is_empty() { "nothing that runs tell".to_owned() } else { all.join(". ") }
}

fn odd_rows(judgement: &Judgement) -> Option<Section> {
    let rows = judgement.odd.iter().flat_map(|odd| odd.rows.iter().map(move |row| OddRow(odd, row)));
    let rows: Vec<OddRow> = rows.collect();
    Section::of(
        "odd-rows",
        "Rows of odd hosts",
        &rows,
        &[
            ("host", Text, |OddRow(odd, _)| odd.host.clone()),
            ("row", Text, |OddRow(_, difference)| row(&difference.name)),
            ("there", SpareNumber(1), |OddRow(_, difference)| number(difference.estimate)),
            ("elsewhere", SpareNumber(1), |OddRow(_, difference)| number(difference.median)),
            ("unit", SpareWord(1), |OddRow(_, difference)| unit(difference.unit).to_owned()),
            ("difference", Word, |OddRow(_, row)| difference(row)),
            ("p", SpareNumber(2), |OddRow(_, difference)| chance(difference.p)),
            ("clear", SpareWord(2), |OddRow(_, difference)| {
                if difference.is_clear { "yes" } else { "no" }.to_owned()
            }),
        ],
    )
}

fn splits(judgement: &Judgement) -> Option<Section> {
    let section = Section::of::<Split>(
        "splits",
        "What explains modes of hosts",
        &judgement.splits,
        &[
            ("fact", Text, |split| fact(&split.fact)),
            ("hosts with", SpareNumber(1), |split| split.hosts_with.to_string()),
            ("without", SpareNumber(1), |split| split.hosts_without.to_string()),
            ("clearest row", SpareText(1), |split| {
                split.rows.first().map_or_else(|| ABSENT.to_owned(), |first| row(&first.name))
            }),
            ("there", Word, |split| split.rows.first().map_or_else(|| ABSENT.to_owned(), difference)),
            ("as well by", Text, |split| {
                let alike: Vec<String> = split.alike.iter().map(fact).collect();
                if alike.is_empty() { ABSENT.to_owned() } else { alike.join("; ") }
            }),
        ],
    )?;
    Some(
        section.with(
            "These hosts are cohorts of their own. What separates them as well may be the cause as much.",
        ),
    )
}

fn cohorts(judgement: &Judgement) -> Option<Section> {
    let section = Section::of::<Cohort>(
        "cohorts",
        "Cohorts",
        &judgement.cohorts,
        &[
            ("cohort", Word, |cohort| cohort.id.clone()),
            ("hosts", Number, |cohort| cohort.hosts.len().to_string()),
            (
                "odd",
                Number,
                |cohort| if cohort.has_verdict { cohort.odd.to_string() } else { ABSENT.to_owned() },
            ),
            ("could be told", Number, could_be_told),
            ("what they have in common", Text, common),
        ],
    )?;
    Some(section.with(
        "\"Could be told\" is how far off a host had to be in the middle one of the rows to be named by that alone. Hosts that differ by less \
         are not named, so that silence does not say that all are the same.",
    ))
}

/// How far off a host had to be by one row, in the middle of the rows.
fn could_be_told(cohort: &Cohort) -> String {
    let mut known: Vec<f64> = cohort.rows.iter().filter_map(|row| row.detectable_percent).collect();
    known.sort_by(f64::total_cmp);
    let middle = known.get(known.len() / 2);
    middle.map_or_else(|| ABSENT.to_owned(), |percent| format!("{percent:.1} %"))
}

fn common(cohort: &Cohort) -> String {
    let side =
        |side: &::fleet::SplitSide| format!("{}{}", if side.has_it { "" } else { "not " }, fact(&side.fact));
    let sides = cohort.split_by.iter().map(side);
    let verdict = (!cohort.has_verdict).then(|| "too few hosts for a verdict".to_owned());
    std::iter::once(values(&cohort.facts)).chain(sides).chain(verdict).collect::<Vec<_>>().join("; ")
}

fn cohort_rows(judgement: &Judgement) -> Option<Section> {
    let rows =
        judgement.cohorts.iter().flat_map(|cohort| cohort.rows.iter().map(move |row| InCohort(cohort, row)));
    let rows: Vec<InCohort> = rows.collect();
    Section::of(
        "rows",
        "Rows of cohorts",
        &rows,
        &[
            ("cohort", Word, |InCohort(cohort, _)| cohort.id.clone()),
            ("row", Text, |InCohort(_, of)| row(&of.name)),
            ("hosts", Number, |InCohort(_, of)| of.host.len().to_string()),
            ("median", Number, |InCohort(_, of)| number(of.median)),
            ("spread", SpareNumber(1), |InCohort(_, of)| number(of.spread)),
            ("unit", SpareWord(1), |InCohort(_, of)| unit(of.unit).to_owned()),
            ("could be told", SpareNumber(2), |InCohort(_, of)| {
                of.detectable_percent.map_or_else(|| ABSENT.to_owned(), |percent| format!("{percent:.1} %"))
            }),
            ("odd", Number, |InCohort(_, of)| of.odd.len().to_string()),
        ],
    )
}

/// What works nowhere is told of who asks for more.
fn closed(judgement: &Judgement, verbose: bool) -> Option<Section> {
    let all: Vec<&Closed> = judgement.closed.iter().filter(|closed| verbose || closed.works > 0).collect();
    Section::of(
        "closed",
        "Closed entries",
        &all,
        &[
            ("row", Text, |closed| row(&closed.name)),
            ("outcome", Word, |closed| closed.outcome.name().to_owned()),
            ("hosts", Number, |closed| closed.hosts.count.to_string()),
            ("works on", SpareNumber(2), |closed| closed.works.to_string()),
            ("why", Text, |closed| or_absent(closed.reason.as_deref())),
            ("where", SpareText(1), |closed| hosts(&closed.hosts, NAMED)),
        ],
    )
}

/// What is as it should be is told of who asks for more.
fn findings(judgement: &Judgement, verbose: bool) -> Option<Section> {
    let is_told = |finding: &&FindingCount| verbose || finding.level > document::Level::Note;
    let all: Vec<&FindingCount> = judgement.findings.iter().filter(is_told).collect();
    Section::of(
        "findings",
        "Findings",
        &all,
        &[
            ("finding", Text, |finding| finding.id.clone()),
            ("level", Word, |finding| finding.level.name().to_owned()),
            ("hosts", Number, |finding| finding.hosts.count.to_string()),
            ("of", Number, |finding| finding.of.to_string()),
            ("where", Text, |finding| hosts(&finding.hosts, NAMED)),
        ],
    )
}

/// One of them, with a value that it has.
struct Says<'a>(&'a Mitigation, &'a MitigationValue);

fn mitigations(judgement: &Judgement, verbose: bool) -> Option<Section> {
    let differ = judgement.mitigations.iter().filter(|one| verbose || one.values.len() > 1);
    let all: Vec<Says> =
        differ.flat_map(|one| one.values.iter().map(move |value| Says(one, value))).collect();
    let heading = if verbose { "Mitigations" } else { "Mitigations that differ" };
    Section::of(
        "mitigations",
        heading,
        &all,
        &[
            ("mitigation", Text, |Says(one, _)| one.name.clone()),
            ("what kernels say", Text, |Says(_, value)| or_absent(value.value.as_deref())),
            ("hosts", Number, |Says(_, value)| value.hosts.count.to_string()),
            ("where", Text, |Says(_, value)| hosts(&value.hosts, NAMED)),
        ],
    )
}

/// What a reader must know besides.
pub(super) fn remarks(remarks: &[Remark]) -> Option<Section> {
    Section::of::<Remark>(
        "remarks",
        "Remarks",
        remarks,
        &[
            ("remark", Text, |remark| remark.text.clone()),
            ("hosts", Number, |remark| remark.hosts.count.to_string()),
            ("which", Text, |remark| hosts(&remark.hosts, NAMED)),
        ],
    )
}
