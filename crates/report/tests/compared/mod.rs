//! Comparisons that the tests of their reports render. Made by hand: what reports show must not change with the statistics.

use compare::{
    Change, Comparison, Confounder, GateAnswer, GateInterval, GateResult, Row, RowGate, RowSide, RunHead,
    SCHEMA, Settings, Severity, Side, Source, Summary, Unit, Variation, Verdict,
};
use document::{Machine, Outcome, Place};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use table::{Kernel, Table};

/// The table that the samples are rows of.
static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("../sample/entries.toml")).unwrap());

/// Three runs a side after a kernel update: something of everything, and a gate that fails.
pub fn update() -> Comparison {
    let mut rows = vec![
        closed("vdso-x86_64 getrandom", Outcome::Unsupported, "this kernel's 64-bit vDSO does not export it"),
        opened("syscall-x32 none"),
        Row {
            verdict: Verdict::CauseChanged,
            base: Some(not_ok(Outcome::Fault, "SIGSEGV (#GP, error code 0x4): selector 7 is no gate")),
            new: Some(not_ok(Outcome::Unsupported, "the kernel runs no 32-bit programs (ENOEXEC)")),
            ..unmeasured("lcall7-i386 none")
        },
        changed("int80-i386 getppid", 1435.2, 66.9, 12.1, Verdict::Slower),
        changed("page-fault minor-fault", 1807.2, 122.4, 61.0, Verdict::Slower),
        changed("call none", 4.8, 5.9, 0.2, Verdict::Slower),
        changed("libc clock_gettime-thread-cputime", 918.3, -41.2, 9.9, Verdict::Faster),
        Row { within_margin: true, ..changed("syscall-x86_64 getppid", 303.5, 2.1, 0.9, Verdict::Slower) },
    ];
    let usual = TABLE.rows(Kernel::Linux).filter(|(entry, _)| entry.name != "lcall7-i386");
    for (place, (entry, operation)) in usual.enumerate() {
        let name = format!("{} {}", entry.name, operation.name);
        rows.push(match place % 9 {
            _ if rows.iter().any(|row| row.in_words() == name) => continue,
            0 => Row { more_runs: Some(place as u64 % 5 + 2), ..unknown(&name, 300.0 + place as f64) },
            1 => still_closed(&name),
            2 if place < 40 => no_figure(&name),
            _ => changed(&name, 100.0 * place as f64 + 17.0, 0.7, 1.9, Verdict::Same),
        });
    }
    let mut compared = comparison(3, rows);
    compared.confounders = confounders();
    compared.settings.gate.above = vec!["3%".parse().unwrap(), "page-fault=10%".parse().unwrap()];
    compared.settings.gate.on = vec!["closed".parse().unwrap()];
    for row in &mut compared.rows {
        row.gate = gate(row);
    }
    let regressed = |row: &&Row| row.gate.as_ref().is_some_and(|gate| gate.answer == GateAnswer::Regression);
    let decided_by = compared.rows.iter().filter(regressed).map(Row::in_words).collect();
    compared.gate = Some(GateResult { answer: GateAnswer::Regression, decided_by, missing: [0, 0] });
    compared
}

/// The same machine twice, a run a side, few rows: everything fits.
pub fn calm() -> Comparison {
    let rows = ["call none", "syscall-x86_64 none", "vdso-x86_64 clock_gettime-monotonic"];
    comparison(1, rows.iter().map(|name| changed(name, 265.0, -0.3, 1.2, Verdict::Same)).collect())
}

/// Nothing can be told: a run a side of a noisy machine.
pub fn noisy() -> Comparison {
    let rows = TABLE.rows(Kernel::Linux).take(30);
    comparison(
        1,
        rows.map(|(entry, operation)| unknown(&format!("{} {}", entry.name, operation.name), 4000.0))
            .collect(),
    )
}

/// Arms that were measured in turns, and are not kept.
pub fn live() -> Comparison {
    let in_turns = |mut row: Row| {
        for side in [&mut row.base, &mut row.new].into_iter().flatten() {
            (side.low, side.high, side.of_runs, side.runs, side.figures) =
                (None, None, vec![side.estimate], 1, 1);
        }
        row.variation = Some(Variation {
            deviation: None,
            percent: None,
            source: Source::Pairs,
            of_runs: 0.0,
            of_history: 0.0,
            of_prior: 0.0,
            prior: None,
            kept_runs: 0,
            pairs: 24,
        });
        row
    };
    let rows = [
        changed("syscall-x86_64 getppid", 265.0, 110.3, 2.2, Verdict::Slower),
        changed("syscall-x86_64 none", 265.0, 4.1, 4.4, Verdict::Inconclusive),
        changed("call none", 4.8, -0.1, 0.2, Verdict::Same),
    ];
    let mut compared = comparison(1, rows.into_iter().map(in_turns).collect());
    for (side, label) in [(&mut compared.base, "A: no command"), (&mut compared.new, "B: strace -f")] {
        side.label = label.into();
        side.runs.iter_mut().for_each(|run| (run.id, run.name) = (None, None));
    }
    compared
}

/// Instructions in two configurations of the lab.
pub fn counted() -> Comparison {
    let counted = |name: &str, pti: &str, base: f64, change: f64| {
        let verdict = if change > 0.0 { Verdict::Slower } else { Verdict::Same };
        let mut row = changed(name, base, change, 0.0, verdict);
        row.configuration = BTreeMap::from([("pti".into(), pti.into()), ("smap".into(), "on".into())]);
        row.unit = Some(Unit::Instructions);
        row.variation =
            row.variation.map(|known| Variation { source: Source::Counted, deviation: Some(0.0), ..known });
        row
    };
    let rows = vec![
        counted("syscall-x86_64 gettimeofday", "on", 155.0, 7.0),
        counted("syscall-x86_64 gettimeofday", "off", 151.0, 0.0),
        counted("int80-i386 none", "off", 71.0, 0.0),
    ];
    let mut compared = comparison(1, rows);
    for side in [&mut compared.base, &mut compared.new] {
        for run in &mut side.runs {
            (run.place, run.kernel) = (Place::new(Machine::QemuTcg, Kernel::Lab), Some(run.kentry.clone()));
        }
    }
    compared
}

/// Sides that make no sense together.
pub fn refused() -> Comparison {
    let mut compared = comparison(1, Vec::new());
    compared.refused = true;
    compared.confounders.push(Confounder {
        id: "figures".into(),
        what: "what is counted".into(),
        base: vec!["time".into()],
        new: vec!["instructions".into()],
        severity: Severity::Refuses,
        meaning: "Time on a processor and instructions in an emulator have no unit in common.".into(),
    });
    compared
}

/// The update with `text` wherever a document's text stands.
pub fn hostile(text: &str) -> Comparison {
    let mut compared = update();
    for side in [&mut compared.base, &mut compared.new] {
        side.label = text.into();
        for run in &mut side.runs {
            (run.id, run.name, run.started) = (Some(text.into()), Some(text.into()), text.into());
            (run.cpu, run.kernel, run.kentry) = (Some(text.into()), Some(text.into()), text.into());
        }
    }
    for confounder in &mut compared.confounders {
        (confounder.base, confounder.new) = (vec![text.into(); 2], vec![text.into()]);
        (confounder.what, confounder.meaning) = (text.into(), text.into());
    }
    for row in &mut compared.rows {
        (row.entry, row.operation) = (text.into(), text.into());
        row.remarks = vec![text.into()];
        for side in [&mut row.base, &mut row.new].into_iter().flatten() {
            side.reason = side.reason.as_ref().map(|_| text.into());
        }
        if let Some(gate) = &mut row.gate {
            gate.why = text.into();
        }
    }
    if let Some(gate) = &mut compared.gate {
        gate.decided_by = vec![text.into(); 9];
    }
    compared
}

fn comparison(runs: usize, rows: Vec<Row>) -> Comparison {
    let count = |verdict: Verdict| rows.iter().filter(|row| row.verdict == verdict).count() as u64;
    let summary = Summary {
        rows: rows.len() as u64,
        compared: rows.iter().filter(|row| row.change.is_some()).count() as u64,
        verdicts: Verdict::ALL.into_iter().map(|verdict| (verdict, count(verdict))).collect(),
        within_margin: 0,
    };
    Comparison {
        schema: SCHEMA.into(),
        base: side("before", runs),
        new: side("after", runs),
        settings: Settings::default(),
        history: Vec::new(),
        confounders: Vec::new(),
        refused: false,
        rows,
        summary,
        gate: None,
    }
}

fn side(name: &str, runs: usize) -> Side {
    let run = |number: usize| RunHead {
        id: Some(format!("{number}{}{}", name.len(), "5cf91bd6".repeat(4))[..32].to_owned()),
        name: (number == 0).then(|| name.to_owned()),
        started: format!("2026-11-22T10:00:{number:02}.125Z"),
        place: Place::new(Machine::Host, Kernel::Linux),
        cpu: Some("AMD EPYC 9R14".into()),
        machine: Some("0123456789abcdef".repeat(2)),
        kernel: Some("6.18.44".into()),
        boot: None,
        kentry: "0.1.0".into(),
        quiet_share: Some(0.9),
        partial: false,
        budget_seconds: Some(5.0),
        options: Some(" --all".into()),
        command: None,
        arm: None,
    };
    Side { label: name.into(), runs: (0..runs).map(run).collect(), boots: runs.div_ceil(2) }
}

fn confounders() -> Vec<Confounder> {
    let one = |id: &str, what: &str, values: [&str; 2], severity, meaning: &str| Confounder {
        id: id.into(),
        what: what.into(),
        base: vec![values[0].into()],
        new: vec![values[1].into()],
        severity,
        meaning: meaning.into(),
    };
    let (caution, note) = (Severity::Caution, Severity::Note);
    let line = "BOOT_IMAGE=/vmlinuz root=/dev/vda1 ro console=ttyS0 quiet";
    vec![
        one(
            "kernel",
            "kernel",
            ["Linux 6.12.1", "Linux 6.18.44"],
            caution,
            "The kernel may be the cause of every difference.",
        ),
        one(
            "command-line",
            "kernel's command line",
            [line, &format!("{line} mitigations=off nokaslr")],
            caution,
            "What the kernel was started with may be the cause.",
        ),
        one(
            "noise",
            "the core was alone in",
            ["more than 90 % of checks", "50 to 90 % of checks"],
            note,
            "With company, fewer rounds are kept.",
        ),
    ]
}

fn unmeasured(name: &str) -> Row {
    let (entry, operation) = name.split_once(' ').unwrap();
    Row {
        entry: entry.into(),
        operation: operation.into(),
        bits: 64,
        configuration: BTreeMap::new(),
        unit: None,
        base: None,
        new: None,
        verdict: Verdict::Absent,
        within_margin: false,
        margin: None,
        margin_percent: None,
        change: None,
        variation: None,
        more_runs: None,
        remarks: Vec::new(),
        gate: None,
    }
}

fn works(estimate: f64, half: f64) -> RowSide {
    RowSide {
        outcome: Outcome::Ok,
        reason: None,
        path: None,
        runs: 3,
        figures: 3,
        estimate: Some(estimate),
        low: Some(estimate - half),
        high: Some(estimate + half),
        of_runs: vec![Some(estimate - half / 2.0), Some(estimate), None],
    }
}

fn not_ok(outcome: Outcome, reason: &str) -> RowSide {
    RowSide {
        outcome,
        reason: Some(reason.into()),
        figures: 0,
        estimate: None,
        low: None,
        high: None,
        of_runs: vec![None],
        ..works(0.0, 0.0)
    }
}

fn closed(name: &str, outcome: Outcome, reason: &str) -> Row {
    let new = Some(not_ok(outcome, reason));
    Row { verdict: Verdict::Closed, base: Some(works(153.0, 1.0)), new, ..unmeasured(name) }
}

fn opened(name: &str) -> Row {
    let base = Some(not_ok(Outcome::Refused, "ENOSYS: a kernel without CONFIG_X86_X32_ABI"));
    Row { verdict: Verdict::Opened, base, new: Some(works(290.0, 2.0)), ..unmeasured(name) }
}

fn still_closed(name: &str) -> Row {
    let side = || Some(not_ok(Outcome::Unsupported, "it is not there"));
    Row { verdict: Verdict::StillClosed, base: side(), new: side(), ..unmeasured(name) }
}

fn no_figure(name: &str) -> Row {
    let noisy = RowSide { figures: 0, estimate: None, low: None, high: None, ..works(0.0, 0.0) };
    Row { verdict: Verdict::NoFigure, base: Some(works(300.0, 1.0)), new: Some(noisy), ..unmeasured(name) }
}

fn unknown(name: &str, base: f64) -> Row {
    changed(name, base, base * 0.012, base * 0.05, Verdict::Inconclusive)
}

/// A row that changed by so much, give or take.
fn changed(name: &str, base: f64, change: f64, half: f64, verdict: Verdict) -> Row {
    let percent = |change: f64| Some(100.0 * change / base);
    let margin = f64::max(0.02 * base, 5.0);
    Row {
        unit: Some(Unit::Cycles),
        base: Some(works(base, half / 2.0)),
        new: Some(works(base + change, half / 2.0)),
        verdict,
        within_margin: verdict == Verdict::Same,
        margin: Some(margin),
        margin_percent: percent(margin),
        change: Some(Change {
            estimate: change,
            low: change - half,
            high: change + half,
            percent: percent(change),
            percent_low: percent(change - half),
            percent_high: percent(change + half),
            confidence: 0.9987,
            p: 0.0003,
        }),
        variation: Some(Variation {
            deviation: Some(half / 4.0),
            percent: percent(half / 4.0),
            source: if base < 2000.0 { Source::Runs } else { Source::History },
            of_runs: 4.0,
            of_history: 11.0,
            of_prior: 3.0,
            prior: Some(base * 0.003),
            kept_runs: 12,
            pairs: 0,
        }),
        ..unmeasured(name)
    }
}

fn gate(row: &Row) -> Option<RowGate> {
    let (rule, answer, why) = match row.verdict {
        Verdict::Closed => ("closed", GateAnswer::Regression, "it closed"),
        Verdict::Slower if !row.within_margin => {
            ("3%", GateAnswer::Regression, "it costs at least 3.80 % more")
        }
        Verdict::Inconclusive => ("3%", GateAnswer::Inconclusive, "it costs between -3.80 % and 6.20 % more"),
        Verdict::Slower | Verdict::Faster | Verdict::Same => {
            ("3%", GateAnswer::Pass, "it costs at most 1.00 % more")
        }
        _ => return None,
    };
    let in_percent = row.change.as_ref().and_then(|change| change.percent_low.zip(change.percent_high));
    let interval = in_percent.map(|(low, high)| GateInterval { low, high, limit: 3.0, unit: None });
    Some(RowGate { rule: rule.into(), answer, why: why.into(), interval, more_runs: row.more_runs })
}
