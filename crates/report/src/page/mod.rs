//! A report as one page of HTML that holds everything it needs: figures, findings and environment stand in the page itself;
//! its script filters and orders rows, and draws the charts of single rows.
//!
//! Every text of a document goes through [`plain`](crate::plain::plain) and is escaped by the template. The page's policy names
//! the hashes of its own scripts and styles, so that a browser would run and load nothing else even so.

mod assets;
mod axis;
mod closed;
mod comparison;
mod costs;
mod detail;
mod environment;
mod findings;
mod histogram;
mod lines;
mod marks;
mod reading;
mod rounds;
mod row;
mod timeline;

use crate::configuration::Compared;
use crate::frame::Frame;
use crate::plain::plain;
use crate::{Error, Selection, Style, head, machine};
use ::compare::Comparison;
use askama::Template;
use document::{Document, Level};
use table::Table;

/// The most runs that one page shows side by side.
pub const MOST_RUNS: usize = 8;

/// A run as a page shows it.
#[derive(Debug, Clone)]
pub struct PageRun {
    /// What it is called.
    pub name: String,
    /// What was measured.
    pub document: Document,
    /// The comparison of the page's first run, the base, with this one; none of the first, and where nobody compared them: then the
    /// page shows differences and judges none.
    pub compared: Option<Comparison>,
}

/// A page shows every fact.
const WHOLE: Style =
    Style { color: false, width: crate::MIN_WIDTH, verbose: true, selection: Selection::All };

/// Those that stand at its head.
const BRIEF: Style = Style { verbose: false, selection: Selection::FirstScreen, ..WHOLE };

/// A page about one run, or about several side by side ([`MOST_RUNS`]; more are left out), of which the first is what the others
/// are compared with. Without a title it says what was measured.
///
/// # Errors
/// [`Error::Page`] when the template refuses, which it has no reason to.
pub fn page(runs: &[PageRun], table: &Table, title: Option<&str>) -> Result<Vec<u8>, Error> {
    let runs = runs.get(..MOST_RUNS).unwrap_or(runs);
    let rows = runs.iter().flat_map(|run| &run.document.results);
    let compared = Compared::of_rows(rows);
    let lines = lines::all(runs, table, &compared);
    let verdicts = comparison::Verdicts::of(runs, &lines);
    let data = detail::data(runs, table, &compared, &lines, &verdicts);
    let comparison = comparison::Head::of(runs);
    let timelines = timeline::all(runs);
    let mut shown: Vec<Shown> = runs.iter().zip('A'..).map(|(run, letter)| Shown::of(run, letter)).collect();
    let scripts = if data.rows.is_empty() { &assets::SCRIPTS[1..] } else { &assets::SCRIPTS };
    let page = Page {
        common: common(&mut shown),
        frame: Frame::new(title.map_or_else(|| default_title(runs), plain), &assets::STYLES, scripts),
        chart_license: assets::CHART_LICENSE,
        partial: head::PARTIAL,
        runs: shown,
        costs: costs::costs(runs, table, &compared, &lines, &verdicts),
        closed: closed::closed(&lines),
        environment: environment::facts(runs),
        reading: reading::terms(runs, &comparison),
        comparison,
        has_charts: !data.rows.is_empty(),
        timelines,
        data,
    };
    let mut text = page.render()?;
    text.push('\n');
    Ok(text.into_bytes())
}

/// What the template is filled with.
#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    frame: Frame,
    chart_license: &'static str,
    /// What is said of a run that was cut short.
    partial: &'static str,
    /// What the heads of several runs have in common.
    common: Vec<Text>,
    runs: Vec<Shown>,
    comparison: comparison::Head,
    costs: costs::Costs,
    closed: Vec<closed::Closed>,
    timelines: Vec<timeline::Timeline>,
    environment: Vec<environment::Compared>,
    reading: Vec<Text>,
    has_charts: bool,
    data: detail::Data<'a>,
}

/// A label and a text.
#[derive(PartialEq)]
struct Text {
    label: &'static str,
    text: String,
}

/// What stands at the head of a run.
struct Shown {
    letter: char,
    name: String,
    /// What its probes ran under and others' did not, such as a seccomp filter: it is shown beside the name.
    under: Vec<String>,
    is_partial: bool,
    summary: Vec<Text>,
    findings: Vec<findings::Said>,
}

impl Shown {
    fn of(run: &PageRun, letter: char) -> Shown {
        Shown {
            letter,
            name: plain(&run.name),
            under: Vec::new(),
            is_partial: run.document.measurement.partial,
            summary: summary(&run.document),
            findings: findings::said(&run.document),
        }
    }

    fn has_warning(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == Level::Warning.name())
    }

    /// `1 × warning, 2 × note`
    fn levels(&self) -> String {
        let count = |name: &str| self.findings.iter().filter(|finding| finding.level == name).count();
        let names = [Level::Critical, Level::Warning, Level::Note, Level::Ok].map(Level::name).into_iter();
        let each = names.map(|name| (count(name), name)).filter(|(count, _)| *count > 0);
        let each: Vec<String> = each.map(|(count, name)| format!("{count} × {name}")).collect();
        if each.is_empty() { "none".to_owned() } else { each.join(", ") }
    }
}

/// The facts at the head of a run.
fn summary(document: &Document) -> Vec<Text> {
    let id = document.id.as_deref().map(|id| format!("{id}, ")).unwrap_or_default();
    let own = Text { label: "run", text: plain(&format!("{id}{}", head::measured(document))) };
    // The run's own line says when it was measured.
    let facts = head::facts(document, &BRIEF).into_iter().filter(|fact| fact.label != head::MEASURED);
    // A first screen leaves the process out.
    let taxes = machine::taxes(&document.environment).filter(|_| document.is_of_linux());
    let taxes = taxes.map(|text| Text { label: head::PROCESS, text: plain(&text) });
    let facts = facts.filter(|fact| fact.label != head::PROCESS);
    facts.map(|fact| Text { label: fact.label, text: plain(&fact.text) }).chain(taxes).chain([own]).collect()
}

/// Takes out of several runs the facts that all of them have in common, and puts beside the names of the others what their probes
/// ran under.
fn common(runs: &mut [Shown]) -> Vec<Text> {
    let Some((first, others)) = runs.split_first_mut().filter(|(_, others)| !others.is_empty()) else {
        return Vec::new();
    };
    let is_common = |fact: &mut Text| others.iter().all(|run| run.summary.contains(fact));
    let common: Vec<Text> = first.summary.extract_if(.., is_common).collect();
    for run in others {
        run.summary.retain(|fact| !common.contains(fact));
    }
    let is_under = |fact: &mut Text| [head::PROCESS, head::COMMAND].contains(&fact.label);
    for run in runs {
        run.under = run.summary.extract_if(.., is_under).map(|fact| fact.text).collect();
    }
    common
}

/// The kernel and the processor of one run; of several how many they are.
fn default_title(runs: &[PageRun]) -> String {
    let [run] = runs else { return format!("Ways into the kernel: {} runs side by side", runs.len()) };
    let environment = &run.document.environment;
    let kernel = &environment.kernel;
    let named = [&kernel.sysname, &kernel.release].into_iter().flatten().map(String::as_str);
    let processor = match &environment.guest {
        Some(guest) => guest.emulator.clone(),
        None => machine::text(&environment.cpu.brand),
    };
    plain(&format!("Ways into the kernel: {} on {processor}", named.collect::<Vec<_>>().join(" ")))
}
