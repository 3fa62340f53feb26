//! What holds for every page. What a browser makes of one, `tests/page.sh` shows.

#![allow(clippy::unwrap_used, reason = "a test")]

#[allow(dead_code, reason = "what tests/compare.rs needs")]
mod compared;
mod sample;

use compare::{Comparison, Run, Settings, SideRuns, compare};
use document::{Document, Outcome};
use report::{Format, MOST_RUNS, PageRun, Selection, Style, answer, comparison, page, refusal};
use table::Table;

fn run(name: &str, document: Document) -> PageRun {
    PageRun { name: name.to_owned(), document, compared: None }
}

/// Two runs, compared.
fn pair(base: Document, new: Document) -> [PageRun; 2] {
    let given = |document: &Document| SideRuns {
        label: "label".into(),
        runs: vec![Run::of(Table::get(), document, Some("name"))],
    };
    let compared = compare(Table::get(), &given(&base), &given(&new), &[], &Settings::default());
    [run("before", base), PageRun { compared: Some(compared), ..run("after", new) }]
}

/// The row of an entry and operation, as the page has it.
fn row<'a>(page: &'a str, entry: &str, operation: &str) -> &'a str {
    let name = format!("class=\"entry\">{entry}</span> <span class=\"operation\">{operation}</span>");
    let mut rows = page.split("<tr role=\"row\" id=\"row-").map(|row| row.split("</tr>").next().unwrap());
    rows.find(|row| row.contains(&name)).unwrap()
}

fn made(runs: &[PageRun]) -> String {
    String::from_utf8(page(runs, Table::get(), None).unwrap()).unwrap()
}

fn of(document: Document) -> String {
    made(&[run("run.json", document)])
}

/// As a template writes a text.
fn escaped(text: &str) -> String {
    let pairs = [('&', "&#38;"), ('<', "&#60;"), ('>', "&#62;"), ('"', "&#34;"), ('\'', "&#39;")];
    pairs.iter().fold(text.to_owned(), |text, (c, escape)| text.replace(*c, escape))
}

/// The page without what is the same in every one.
fn own(page: &str) -> &str {
    let body = page.split_once("<body>").unwrap().1;
    body.split_once("<script>").map_or(body, |(own, _)| own)
}

#[test]
fn every_row_that_works_is_there_and_every_closed_one_has_its_cause() {
    let document = sample::with_rounds(sample::ordinary());
    let text = of(document.clone());
    let works = document.results.iter().filter(|row| row.outcome == Outcome::Ok).count();
    assert_eq!(text.matches("class=\"row\"").count(), works);
    let estimate = document.results[0].core_cycles.unwrap().estimate.0;
    assert!(text.contains(&format!("<b>{estimate:.1}</b>")));
    for closed in document.results.iter().filter(|row| row.outcome != Outcome::Ok) {
        assert!(text.contains(&escaped(closed.reason.as_deref().unwrap())), "{}", closed.in_words());
    }
    for finding in &document.findings {
        assert!(text.contains(&escaped(&finding.verdict)), "{}", finding.verdict);
    }
}

/// Text that became markup would add a `<` somewhere.
#[test]
fn no_text_becomes_markup() {
    let counts = |text: &str| {
        let page = made(&[run(text, sample::filled(text)), run(text, sample::filled(text))]);
        let own = own(&page);
        assert!(own.len() > 10_000);
        (own.matches('<').count(), own.matches('>').count(), page.matches("</script").count())
    };
    assert_eq!(counts(sample::HOSTILE), counts("harmless"));
    let page =
        page(&[run("x", sample::filled(sample::HOSTILE))], Table::get(), Some(sample::HOSTILE)).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("<title>&#60;/script&#62;&#60;img src=x onerror=&#34;"));
    assert!(!page.contains("onerror=\""), "no attribute");
    let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
    let hides =
        |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert!(!own(&page).contains(|c| steers(c) || hides(c)));
}

#[test]
fn a_page_names_its_policy_and_asks_for_nothing() {
    let page = of(sample::ordinary());
    let policy = page.split_once("http-equiv=\"Content-Security-Policy\" content=\"").unwrap().1;
    let policy = policy.split_once('"').unwrap().0.replace("&#39;", "'");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    let body = own(&page);
    for word in [" src=", " style=", "url(", "http://", "https://", "@import"] {
        assert!(!body.contains(word), "{word}");
    }
    assert!(page.ends_with("</html>\n"));
    assert!(page.contains("The MIT License") && page.contains("Leon Sorokin"), "the chart library's licence");
}

#[test]
fn noisy_rows_say_so_and_have_no_figure() {
    let document = sample::with_rounds(sample::noisy());
    let text = of(document.clone());
    let noisy = document.results.iter().filter(|row| row.noise.is_some()).count();
    assert_eq!(text.matches("class=\"instead\"").count(), noisy);
    assert!(text.contains("<strong>noisy</strong>") && text.contains("class=\"shared\""));
}

#[test]
fn emulated_figures_are_called_so_and_are_no_times() {
    let text = of(sample::lab());
    assert!(text.contains("instructions, emulated") && text.contains("no time"));
    assert!(!text.contains("core cycles ±") && !text.contains("id=\"noise\""), "{}", own(&text));
    // Beside times, each says it for itself, and no difference is made of the two.
    let odd = of(sample::odd());
    assert!(odd.contains("<span class=\"unit\">instructions, emulated</span>"));
}

#[test]
fn several_runs_stand_side_by_side_without_a_verdict() {
    let first = sample::with_rounds(sample::ordinary());
    let text = made(&[run("before", first.clone()), run("after", sample::later(first.clone()))]);
    let works = first.results.iter().filter(|row| row.outcome == Outcome::Ok).count();
    assert_eq!(text.matches("class=\"row\"").count(), works, "each row once");
    assert!(text.contains("+12.0 %") && text.contains("This page gives none"));
    assert!(text.contains("class=\"differs\"") && text.contains("6.19.0-cloud-amd64"));
    for verdict in [">slower<", ">faster<", "regression"] {
        assert!(!text.contains(verdict), "{verdict}");
    }
    let many: Vec<PageRun> = (0..MOST_RUNS).map(|number| run(&number.to_string(), first.clone())).collect();
    assert!(made(&many).contains("class=\"run run-7\""));
}

#[test]
fn what_one_runs_probes_ran_under_stands_beside_its_name() {
    let mut filtered = sample::ordinary();
    filtered.environment.limits.seccomp = Some("filter".into());
    filtered.environment.limits.seccomp_filters = Some(2);
    let under = r#"<span class="under">seccomp filter, filters: 2</span>"#;
    let named = |page: &str| page.matches(under).count();
    let both = made(&[run("plain", sample::ordinary()), run("filtered", filtered.clone())]);
    assert_eq!(named(&both), 1, "beside the one name alone");
    assert!(both.contains(&format!("filtered {under}</h2>")), "{both}");
    let mut compared = pair(sample::ordinary(), filtered.clone());
    compared[1].document.measurement.command = Some("sandbox".into());
    let page = made(&compared);
    assert!(page.contains("sandbox (the probes ran under it)</span>"));
    assert_eq!(named(&page), 2, "and where their comparison begins");
    let fact = "<dt>process</dt><dd>seccomp filter, filters: 2</dd>";
    let alike = made(&[run("one", filtered.clone()), run("other", filtered.clone())]);
    assert_eq!((named(&alike), alike.matches(fact).count()), (0, 1), "a fact of both");
    assert_eq!(of(filtered).matches(fact).count(), 2, "at its head, and among all facts");
    assert!(!of(sample::ordinary()).contains("<dt>process</dt>"));
}

#[test]
fn a_page_says_what_the_comparison_of_its_runs_says() {
    let first = sample::with_rounds(sample::ordinary());
    let runs = pair(first.clone(), sample::later(first));
    let compared = runs[1].compared.as_ref().unwrap();
    let text = made(&runs);
    assert!(text.contains(&format!("<p class=\"answer\">{}</p>", escaped(&answer(compared)))));
    assert!(!text.contains("This page gives none") && !text.contains("class=\"differs\""));
    // What differs stands there once, with what it means.
    assert!(!compared.confounders.is_empty());
    for confounder in &compared.confounders {
        let fact = format!("<th role=\"rowheader\" scope=\"row\">{}</th>", escaped(&confounder.what));
        assert!(text.contains(&fact) && text.contains(&escaped(&confounder.meaning)), "{fact}");
    }
    // The figures of a row are those of the comparison, whatever the runs' own intervals say.
    let style = Style { color: false, width: 100, verbose: false, selection: Selection::All };
    let markdown = comparison(compared, Format::Markdown, &style).unwrap();
    let markdown = String::from_utf8(markdown).unwrap();
    assert_eq!(text.matches(" <span class=\"verdict ").count(), works(&runs), "each row that works");
    for judged in compared.rows.iter().filter(|row| row.change.is_some()) {
        let name = format!("| `{}` | `{}` |", judged.entry, judged.operation);
        let line = markdown.lines().find(|line| line.contains(&name)).unwrap();
        let cell = row(&text, &judged.entry, &judged.operation).split("against A\">").nth(1).unwrap();
        let (percent, rest) = cell.split_once(" % <span class=\"error\">").unwrap();
        let shown = format!("{percent} % {}", rest.split_once("</span>").unwrap().0).replace('−', "-");
        assert!(line.contains(&shown), "{shown}: {line}");
    }
}

/// How many rows work in some run.
fn works(runs: &[PageRun]) -> usize {
    runs[0].document.results.iter().filter(|row| row.outcome == Outcome::Ok).count()
}

#[test]
fn verdicts_are_tags_of_their_rows() {
    let first = sample::with_rounds(sample::ordinary());
    let text = made(&pair(first.clone(), sample::later(first)));
    let row = row(&text, "syscall-x86_64", "getppid");
    assert!(row.contains("<span class=\"verdict slower\">slower</span>"), "{row}");
    let tags = row.split("data-is=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(tags.split(' ').any(|tag| tag == "slower"), "{tags}");
    assert!(text.contains("<option value=\"slower\">verdict: slower</option>"));
    assert!(!text.contains("verdict: faster"), "what no row is cannot be chosen");
}

#[test]
fn runs_that_are_not_comparable_have_the_cause_and_no_differences() {
    let runs = pair(sample::with_rounds(sample::ordinary()), sample::lab());
    let why = refusal(runs[1].compared.as_ref().unwrap()).unwrap();
    let text = made(&runs);
    assert!(text.contains(&format!("<p class=\"alarm\">Not compared: {}.</p>", escaped(&why))));
    assert!(!text.contains("class=\"verdict slower") && !text.contains("class=\"answer\""));
    assert!(!text.contains("class=\"mark forest"), "no difference is drawn");
    let section = text.split("id=\"comparison\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert_eq!(
        section.matches("Time on a processor and instructions").count(),
        1,
        "the cause stands there once"
    );
}

#[test]
fn what_several_comparisons_name_stands_once() {
    let first = sample::with_rounds(sample::ordinary());
    let [before, after] = pair(first.clone(), sample::later(first));
    let text = made(&[before, after.clone(), after]);
    let section = text.split("id=\"comparison\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert_eq!(section.matches("<p class=\"answer\">").count(), 2);
    let kernel = "<th role=\"rowheader\" scope=\"row\">kernel</th>";
    assert_eq!(section.matches(kernel).count(), 1);
    let cells = section.split(kernel).nth(1).unwrap().split("</tr>").next().unwrap();
    assert_eq!(cells.matches("6.19.0-cloud-amd64").count(), 2, "of each run: {cells}");
}

/// Text of a comparison that became markup would add a `<` somewhere.
#[test]
fn no_text_of_a_comparison_becomes_markup() {
    let counts = |text: &str| {
        let mut refused: Comparison = compared::hostile(text);
        refused.refused = true;
        refused.confounders[0].severity = compare::Severity::Refuses;
        let document = || sample::filled(text);
        let own_names = pair(document(), document());
        let judged = |compared| PageRun { compared: Some(compared), ..run(text, document()) };
        let [first, second] = own_names;
        let page = made(&[first, second, judged(compared::hostile(text)), judged(refused)]);
        let own = own(&page);
        assert!(own.contains("class=\"answer\"") && own.contains("class=\"verdict "));
        assert!(!own.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
        (own.matches('<').count(), own.matches('>').count(), page.matches("</script").count())
    };
    assert_eq!(counts(sample::HOSTILE), counts("harmless"));
}

#[test]
fn a_row_that_one_run_lacks_has_no_figure_there() {
    let (first, mut second) = (sample::ordinary(), sample::ordinary());
    second.results.retain(|row| row.entry != "rdtsc");
    let closed = second.results.iter_mut().find(|row| row.entry == "call").unwrap();
    (closed.outcome, closed.reason) = (Outcome::Refused, Some("somebody forbids calls".into()));
    closed.core_cycles = None;
    let text = made(&[run("a", first.clone()), run("b", second.clone())]);
    assert!(text.contains("data-label=\"B\"><b>-</b>"), "absent");
    assert!(text.contains("<abbr title=\"somebody forbids calls\">refused</abbr>"));
    let turned = made(&[run("b", second), run("a", first)]);
    let place = |text: &str, word: &str| text.find(&format!(">{word}</span>")).unwrap();
    assert_eq!(
        place(&turned, "rdtsc") < place(&turned, "rdtscp"),
        place(&text, "rdtsc") < place(&text, "rdtscp")
    );
}

/// The line of folded rows, and what is in it.
fn folded(page: &str) -> Option<(&str, &str)> {
    let folded = page.split("<details class=\"folded\">\n<summary>").nth(1)?.split("</details>").next()?;
    folded.split_once("</summary>")
}

#[test]
fn rows_without_a_figure_are_one_line_that_names_them() {
    let first = sample::with_rounds(sample::ordinary());
    let all = works(&[run("one", first.clone())]);
    assert_eq!(folded(&of(first.clone())), None, "all have figures");
    let noisy = sample::with_rounds(sample::noisy());
    let is_noisy = |row: &&document::Row| row.outcome == Outcome::Ok && row.noise.is_some();
    let without: Vec<String> = noisy.results.iter().filter(is_noisy).map(document::Row::in_words).collect();
    let mut seldom = noisy.clone();
    for row in seldom.results.iter_mut().filter(|row| row.noise.is_some()).skip(2) {
        (row.noise, row.core_cycles) = (None, first.results[0].core_cycles);
    }
    let text = of(seldom.clone());
    let (line, rows) = folded(&text).unwrap();
    assert!(
        line.starts_with("2 rows without a figure: ") && without[..2].iter().all(|name| line.contains(name)),
        "{line}"
    );
    assert_eq!((rows.matches("class=\"row\"").count(), rows.matches("class=\"instead\"").count()), (2, 2));
    // Of two runs, a row without a figure in one has no difference.
    let text = made(&pair(first, seldom));
    let (line, rows) = folded(&text).unwrap();
    assert!(line.starts_with("2 rows without a figure: ") && rows.contains("no figure"), "{line}");
    assert!(!rows.contains("class=\"mark forest"), "nothing is drawn of them");
    assert_eq!(text.matches("class=\"row\"").count(), all, "and each stands there once");
    // Where they are most rows, they are in sight.
    assert!(of(noisy).contains("<details class=\"folded\" open>"));
}

/// The compared pair, with another interval for a row's change.
fn with_interval(interval: [f64; 2]) -> [PageRun; 2] {
    let first = sample::with_rounds(sample::ordinary());
    let mut runs = pair(first.clone(), first);
    let judged = runs[1].compared.as_mut().unwrap();
    let row =
        judged.rows.iter_mut().find(|row| row.entry == "syscall-x86_64" && row.operation == "time").unwrap();
    let base = row.base.as_ref().and_then(|side| side.estimate).unwrap();
    row.verdict = compare::Verdict::Inconclusive;
    let change = row.change.as_mut().unwrap();
    [change.low, change.high] = interval.map(|percent| percent / 100.0 * base);
    [change.percent_low, change.percent_high] = interval.map(Some);
    runs
}

/// One row's interval of thousands of percent made the axis so long that all others were dots.
#[test]
fn a_change_less_known_than_its_cost_is_no_figure_and_on_no_axis() {
    let ends =
        |page: &str| page.split("<text class=\"last\"").nth(1).unwrap().split('<').next().unwrap().to_owned();
    let (narrow, wide) = (made(&with_interval([-9.0, 9.0])), made(&with_interval([-4000.0, 9000.0])));
    assert_eq!(ends(&narrow), ends(&wide));
    let (line, rows) = folded(&wide).unwrap();
    assert_eq!((line, folded(&narrow)), ("1 row without a figure: syscall-x86_64 time", None));
    assert!(rows.contains("uncertain <span class=\"error\">(−4000.0 to +9000.0 %)</span>"), "{rows}");
    assert!(rows.contains("inconclusive"), "the verdict stays");
}

/// The text had an estimate of which the page said that there is none.
#[test]
fn a_change_that_is_no_figure_on_the_page_is_none_in_text_and_markdown() {
    let [_, run] = with_interval([-4000.0, 9000.0]);
    let judged = run.compared.unwrap();
    for format in [Format::Text, Format::Markdown] {
        let style = Style { color: false, width: 100, verbose: false, selection: Selection::All };
        let text = String::from_utf8(comparison(&judged, format, &style).unwrap()).unwrap();
        let is_time = |line: &str| line.contains(" time") || line.contains("`time`");
        let is_row = |line: &&str| line.contains("syscall-x86_64") && is_time(line);
        let row = text.lines().find(is_row).unwrap();
        assert!(row.contains("uncertain") && row.contains(" to +") && !row.contains(" ±"), "{row}");
    }
}

#[test]
fn what_goes_on_beyond_the_axis_says_so_at_its_end() {
    let text = made(&with_interval([-40.0, 50.0]));
    let drawn = row(&text, "syscall-x86_64", "time");
    let places = |page: &str| -> Vec<f64> {
        let marks = page.split("class=\"mark forest").skip(1).flat_map(|mark| mark.split("</svg>").next());
        let words = marks.flat_map(|mark| mark.split('"')).filter_map(|word| word.strip_suffix('%'));
        words.map(|word| word.parse().unwrap()).collect()
    };
    assert!(places(&text).len() > 500 && places(&text).iter().all(|place| (0.0..=100.0).contains(place)));
    let label =
        text.split("<text class=\"last\" x=\"96.00%\" y=\"11\">+").nth(1).unwrap().split(' ').next().unwrap();
    let reach: f64 = label.parse().unwrap();
    assert_eq!(drawn.contains('◂'), reach < 40.0, "±{reach}: {drawn}");
    assert_eq!(drawn.contains('▸'), reach < 50.0, "±{reach}: {drawn}");
    assert_eq!(text.contains("goes on beyond the axis"), text.contains("class=\"off\""));
}

#[test]
fn a_run_that_was_cut_short_says_so() {
    let mut cut = sample::ordinary();
    cut.measurement.partial = true;
    let alarms = |runs: &[PageRun]| made(runs).matches("class=\"alarm\">PARTIAL").count();
    assert_eq!(alarms(&[run("whole", sample::ordinary()), run("cut", cut)]), 1);
    assert_eq!(alarms(&[run("whole", sample::ordinary())]), 0);
}

#[test]
fn an_empty_document_has_a_page() {
    let mut empty = sample::ordinary();
    empty.results.clear();
    assert!(of(empty).contains("No row works here."));
}

#[test]
fn what_a_document_lies_about_its_rounds_and_samples_does_no_harm() {
    let mut document = sample::with_rounds(sample::ordinary());
    let row = &mut document.results[0];
    row.rounds.cost.truncate(3);
    row.rounds.at_ms = vec![1e300; 48];
    row.rounds.canary.clear();
    document.results[1].distribution_cycles =
        serde_json::from_str(r#"{"below": null, "above": "no histogram"}"#).unwrap();
    document.measurement.tsc_step = Some(-1e300);
    document.measurement.cycles_per_tick = Some(1e300);
    assert!(of(document).contains("class=\"row\""));
}

#[test]
fn a_usual_page_is_small() {
    let usual = sample::with_rounds(sample::ordinary());
    assert!(of(usual.clone()).len() < 1 << 20);
    let mut long = usual;
    for row in &mut long.results {
        let rounds = &mut row.rounds;
        for column in [&mut rounds.at_ms, &mut rounds.cost, &mut rounds.cycles_per_tick, &mut rounds.canary] {
            *column = column.repeat(20);
        }
        (rounds.cpu, rounds.excluded) = (rounds.cpu.repeat(20), rounds.excluded.repeat(20));
    }
    let page = of(long);
    assert!(page.len() < 2 << 20, "{} bytes", page.len());
    // How many depends on how many rows the table has.
    let every =
        page.split("\"every\":").nth(1).and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    let every: u32 = every.unwrap().parse().unwrap();
    assert!((5..20).contains(&every), "it says that it leaves rounds out: {every}");
}
