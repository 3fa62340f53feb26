use super::*;
use document::{Confidence, Document, Figure, Finding, Unit};

fn finding(id: &str, level: Level, verdict: &str) -> Finding {
    Finding {
        id: id.into(),
        level,
        verdict: verdict.into(),
        evidence: Some("tsc | 560 ns".into()),
        cause: Some("The clocksource is hpet.".into()),
        costs: Some("Each read costs 560 ns instead of 24.".into()),
        remedy: Some("echo tsc > current_clocksource".into()),
        next: Some("kentry explain clock-slow".into()),
        confidence: Confidence::Likely,
        figures: Vec::new(),
    }
}

fn figure(name: &str, unit: Unit, value: f64) -> Figure {
    let labels = [("clock".to_owned(), "mono=\"'|x\n".to_owned())].into();
    Figure { name: name.into(), labels, unit, value }
}

/// With a finding of each of these levels.
fn made(levels: &[Level]) -> Checkup {
    let mut checkup = Checkup::of(Document::empty());
    for (number, level) in levels.iter().enumerate() {
        let mut finding = finding(&format!("id-{number}"), *level, "A read | of the clock\nis a call.");
        finding.figures.push(figure("clock_read", Unit::Seconds, 5.6e-7));
        finding.figures.push(figure("clock_odd", Unit::Ratio, f64::NAN));
        checkup.diagnoses.push(Diagnosis { check: "clocks".into(), finding });
    }
    checkup
}

const STYLE: Style = Style { color: false, width: 80, verbose: false, selection: crate::Selection::All };

fn text(checkup_made: &Checkup, fail_on: Option<Level>, format: Format) -> String {
    String::from_utf8(checkup(checkup_made, fail_on, format, &STYLE).unwrap()).unwrap()
}

#[test]
fn a_warning_says_what_it_costs_and_what_to_do() {
    let all = text(&made(&[Level::Warning, Level::Ok]), None, Format::Text);
    assert!(
        all.starts_with("checkup      Something costs more here than it need: 1 warning, 1 ok.\n"),
        "{all}"
    );
    assert!(all.contains("warning      clocks: A read | of the clock is a call. (likely)\n"), "{all}");
    assert!(all.contains("  costs      Each read costs 560 ns instead of 24.\n"), "{all}");
    assert!(all.contains("  remedy     echo tsc > current_clocksource\n"), "{all}");
    assert!(!all.contains("  seen"), "the cause says why: {all}");
    let of_ok = all.split("\nok ").nth(1).unwrap();
    assert!(!of_ok.contains("costs") && !of_ok.contains("remedy"), "{of_ok}");
    let verbose =
        checkup(&made(&[Level::Ok]), None, Format::Text, &Style { verbose: true, ..STYLE }).unwrap();
    assert!(String::from_utf8(verbose).unwrap().contains("  seen       tsc | 560 ns"));
}

#[test]
fn nagios_is_told_the_worst_at_the_level_that_was_asked_for() {
    let state = |levels: &[Level], fail_on| {
        let all = text(&made(levels), fail_on, Format::Nrpe);
        all.split(':').next().unwrap().to_owned()
    };
    let (warning, note) = (Some(Level::Warning), Some(Level::Note));
    assert_eq!(state(&[], warning), "OK");
    assert_eq!(state(&[Level::Note, Level::Ok], warning), "OK");
    assert_eq!(state(&[Level::Note], note), "WARNING");
    assert_eq!(state(&[Level::Warning, Level::Note], warning), "WARNING");
    assert_eq!(state(&[Level::Critical, Level::Warning], warning), "CRITICAL");
    assert_eq!(state(&[Level::Critical], Some(Level::Critical)), "CRITICAL");
    assert_eq!(state(&[Level::Warning], Some(Level::Critical)), "OK");
    assert_eq!(state(&[Level::Critical], None), "OK");
}

#[test]
fn perfdata_begins_at_the_bars_that_are_meant() {
    let all = text(&made(&[Level::Warning, Level::Warning]), Some(Level::Warning), Format::Nrpe);
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(
        lines[0],
        "WARNING: 2 warnings: A read / of the clock is a call. | critical=0;;;0 warnings=2;;;0 notes=0;;;0 ok=0;;;0"
    );
    assert_eq!(all.matches('|').count(), 2, "{all}");
    let (label, value) = all.trim_end().rsplit_once("| ").unwrap().1.rsplit_once("'=").unwrap();
    assert_eq!((label, value), ("'clock_read mono_\"__x ", "0.00000056s"), "once, and no NaN");
    assert_eq!(String::from_utf8(unknown_status("no | clock\n")).unwrap(), "UNKNOWN: no / clock \n");
}

#[test]
fn metrics_have_one_help_each_and_no_sample_twice() {
    let all = text(&made(&[Level::Warning, Level::Ok]), None, Format::Prometheus);
    let mut names: Vec<&str> = all.lines().filter_map(|line| line.strip_prefix("# HELP ")).collect();
    names.iter_mut().for_each(|name| *name = name.split(' ').next().unwrap());
    assert!(names.is_sorted() && names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
    assert!(names.contains(&"kentry_clock_read_seconds") && !all.contains("NaN") && !all.contains("# EOF"));
    let samples: Vec<&str> = all.lines().filter(|line| !line.starts_with('#')).collect();
    let mut keys: Vec<&str> = samples.iter().map(|line| line.rsplit_once(' ').unwrap().0).collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|two| two[0] != two[1]), "{keys:?}");
    let read = samples.iter().find(|line| line.starts_with("kentry_clock_read_seconds")).unwrap();
    assert_eq!(*read, r#"kentry_clock_read_seconds{clock="mono=\"'|x\n"} 0.00000056"#);
    assert!(all.contains("kentry_finding_level{check=\"clocks\",id=\"id-0\"} 2\n"), "{all}");
}

#[test]
fn markdown_has_all_and_nothing_becomes_markup() {
    let all = text(&made(&[Level::Note]), None, Format::Markdown);
    assert!(all.contains("- **note** `clocks`: A read \\| of the clock is a call."), "{all}");
    assert!(
        all.contains("  - seen: tsc \\| 560 ns\n") && all.contains("  - more: `kentry explain clock-slow`\n")
    );
}
