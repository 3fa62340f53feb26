//! Computes bench/RESULTS.md from what bench/run.sh collected in a folder, and prints it.
//!
//!     bench FOLDER
//!
//! The folder holds `run-NUMBER-LOADED.json` (whole runs; LOADED is 1 where the other CPU was loaded), `peers.csv` (run,
//! loaded, value, name), `processes.csv` (CPU, process, cost, the other process's), `truth.csv` (document, row, loop before, loop after, bare loop; nanoseconds), `cost.csv` (limit,
//! value, name) and `head.md`. A value that is missing is `-` there, and `-` here.
#![allow(clippy::unwrap_used)] // a developer's tool: what fails, fails loudly

use document::{Document, Outcome, Row};
use statrs::distribution::{ContinuousCDF, Normal};
use std::collections::BTreeMap;
use std::path::Path;

/// A run is one of a quiet minute when more than this share of its canaries found the core alone.
const QUIET: f64 = 0.9;

/// A CPU that was quiet for this share of a run should be enough for estimates.
const ENOUGH: f64 = 0.2;

/// Rows whose figures must repeat: spread at most 0.5 %, none wrong by more than 1 %.
const STEADY: [(&str, &str); 8] = [
    ("syscall-x86_64", "none"),
    ("syscall-x86_64", "getppid"),
    ("sysenter-i386", "getppid"),
    ("int80-i386", "getppid"),
    ("vdso-x86_64", "clock_gettime-monotonic"),
    ("vdso-x86_64", "gettimeofday"),
    ("vdso-i386", "clock_gettime-monotonic"),
    ("call", "none"),
];

/// Always leaves a virtual machine.
const EXIT: (&str, &str) = ("cpuid", "none");

/// Rows whose cost is another constant in other processes and on other CPUs: interrupts and exceptions from 64-bit code,
/// and signals; and what leaves a virtual machine, because it costs as much as that does.
fn is_piecewise(runs: &[Run], row: (&str, &str)) -> bool {
    let (entry, operation) = row;
    let usual = |row| median(&sorted(runs.iter().filter_map(|run| run.figure(row))));
    let is_guest = runs.iter().any(|run| run.document.environment.hypervisor.present);
    let exits = is_guest && usual(row).zip(usual(EXIT)).is_some_and(|(cost, exit)| cost >= exit);
    exits || ["int80-x86_64", "vsyscall", "page-fault"].contains(&entry) || operation == "signal"
}

/// One whole run.
struct Run {
    loaded: bool,
    document: Document,
}

impl Run {
    fn quiet(&self) -> f64 {
        self.document.measurement.quiet_share.unwrap_or(0.0)
    }

    /// Whether some CPU was quiet for long enough.
    fn had_a_quiet_cpu(&self) -> bool {
        self.document.measurement.cpus.iter().any(|cpu| cpu.quiet_share >= ENOUGH)
    }

    fn row(&self, (entry, operation): (&str, &str)) -> Option<&Row> {
        let rows = &mut self.document.results.iter();
        rows.find(|row| row.entry == entry && row.operation == operation && row.outcome == Outcome::Ok)
    }

    fn figure(&self, row: (&str, &str)) -> Option<f64> {
        Some(self.row(row)?.core_cycles?.estimate.0)
    }
}

fn main() {
    let folder = std::env::args().nth(1).expect("usage: bench FOLDER");
    let folder = Path::new(&folder);
    let runs = runs(folder);
    let peers = table(&folder.join("peers.csv"));
    println!("# Precision, truth and cost\n\n{}", read(&folder.join("head.md")));
    machine(&runs, &peers);
    steady(&runs);
    piecewise(&runs);
    all(&runs);
    durations(&runs);
    noise(&runs, &peers);
    processes(folder);
    truth(folder);
    cost(folder);
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Lines of values with commas between them; the last may hold commas.
fn table(path: &Path) -> Vec<Vec<String>> {
    let columns = if path.ends_with("truth.csv") {
        5
    } else if path.ends_with("cost.csv") {
        3
    } else {
        4
    };
    let line = |line: &str| line.splitn(columns, ',').map(str::to_string).collect();
    read(path).lines().map(line).collect()
}

fn load(path: &Path) -> Option<Document> {
    document::load(&read(path)).inspect_err(|error| eprintln!("{}: {error}", path.display())).ok()
}

fn runs(folder: &Path) -> Vec<Run> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    let of = |name: &String| {
        let loaded = name.strip_prefix("run-")?.strip_suffix(".json")?.ends_with("-1");
        Some(Run { loaded, document: load(&folder.join(name))? })
    };
    names.iter().filter_map(of).collect()
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn median(values: &[f64]) -> Option<f64> {
    stats::quantile_of(values.iter().copied(), 0.5)
}

/// (max − min) / median, in percent; none of a single value.
fn spread(values: &[f64]) -> Option<f64> {
    let (first, last) = (values.first()?, values.last()?);
    Some(100.0 * (last - first) / median(values)?).filter(|_| values.len() > 1)
}

/// The spread in percent that the counter's steps make in so many runs, if nothing else differs: a sample is the difference of two
/// intervals with a reading in common, so that its variance is half a square step; the estimate is a median of rounds.
fn spread_by_steps(runs: &[Run], row: (&str, &str)) -> Option<f64> {
    let errors = runs.iter().filter_map(|run| {
        let step = run.document.measurement.tsc_step? * run.document.measurement.cycles_per_tick?;
        let samples = run.row(row)?.counts.kept_samples as f64;
        Some(1.2533 * step * (0.5 / samples).sqrt() / run.figure(row)?)
    });
    let (count, usual) = (runs.len() as f64, median(&sorted(errors))?);
    // Blom's approximation of the greatest of so many normally distributed values.
    let greatest = Normal::standard().inverse_cdf((count - 0.375) / (count + 0.25));
    Some(100.0 * 2.0 * greatest * usual)
}

/// What differs most from `truth`, in percent.
fn worst(values: &[f64], truth: f64) -> Option<f64> {
    let off = values.iter().map(|value| 100.0 * (value / truth - 1.0));
    off.max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

fn show(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.digits$}"))
}

fn held(value: Option<f64>, limit: f64) -> &'static str {
    match value {
        None => "-",
        Some(value) if value.abs() <= limit => "yes",
        Some(_) => "**no**",
    }
}

fn percent(part: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| 100.0 * part as f64 / of as f64)
}

fn peer_values<'a>(peers: &'a [Vec<String>], name: &'a str, loaded: Option<bool>) -> Vec<f64> {
    let of = peers.iter().filter(move |line| {
        line.get(3).is_some_and(|found| found == name)
            && loaded.is_none_or(|loaded| line.get(1).is_some_and(|found| (found == "1") == loaded))
    });
    sorted(of.filter_map(|line| line.get(2)?.parse().ok()))
}

fn machine(runs: &[Run], peers: &[Vec<String>]) {
    let quiet = sorted(runs.iter().map(Run::quiet));
    let (low, high) = (quiet.first().copied(), quiet.last().copied());
    let share = |value: Option<f64>| show(value.map(|value| 100.0 * value), 0);
    println!(
        "{} whole runs. The core was alone in {} % of a run's checks in the median ({} to {} %); quiet runs \
         (more than {:.0} %): {}; runs in which a CPU was quiet for at least {:.0} % of its time: {}. {} of {} figures of peers are missing.\n",
        runs.len(),
        share(median(&quiet)),
        share(low),
        share(high),
        100.0 * QUIET,
        runs.iter().filter(|run| run.quiet() > QUIET).count(),
        100.0 * ENOUGH,
        runs.iter().filter(|run| run.had_a_quiet_cpu()).count(),
        peers.iter().filter(|line| line.get(2).is_none_or(|value| value.parse::<f64>().is_err())).count(),
        peers.len(),
    );
}

/// What a row's figures are compared with: the median of quiet minutes, or of all where there were too few of them.
fn reference(runs: &[Run], row: (&str, &str)) -> (Option<f64>, usize) {
    let of =
        |least: f64| sorted(runs.iter().filter(|run| run.quiet() > least).filter_map(|run| run.figure(row)));
    let quiet = of(QUIET);
    if quiet.len() >= 3 { (median(&quiet), quiet.len()) } else { (median(&of(-1.0)), 0) }
}

fn steady(runs: &[Run]) {
    println!("## Run-to-run spread\n");
    println!(
        "In core cycles. `spread`: (max − min) / median of the figures that were printed. `worst`: the figure that is \
         farthest from the median of quiet runs (of all runs, where fewer than three were quiet: `of` says of how many). \
         `by steps`: the spread that the steps of the counter alone make; where that is more than 0.5, a longer \
         measurement is needed. `none`: runs without an estimate, of those in which a CPU was quiet for at least a fifth of its time, and of \
         the others.\n"
    );
    println!(
        "| row | printed | median | spread % | at most 0.5 | by steps % | worst % | at most 1 | of | none % | at most 1 | none otherwise % |"
    );
    println!("|---|---:|---:|---:|---|---:|---:|---|---:|---:|---|---:|");
    for row in STEADY.into_iter().filter(|row| !is_piecewise(runs, *row)) {
        let figures = sorted(runs.iter().filter_map(|run| run.figure(row)));
        let (truth, of) = reference(runs, row);
        let (spread, worst) = (spread(&figures), truth.and_then(|truth| worst(&figures, truth)));
        let none = without(runs, row, true);
        println!(
            "| `{} {}` | {} of {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.0,
            row.1,
            figures.len(),
            runs.len(),
            show(median(&figures), 2),
            show(spread, 2),
            held(spread, 0.5),
            show(spread_by_steps(runs, row), 2),
            show(worst, 2),
            held(worst, 1.0),
            if of == 0 { "all".into() } else { of.to_string() },
            show(none, 1),
            held(none, 1.0),
            show(without(runs, row, false), 1),
        );
    }
    println!();
}

/// The share of runs that have no estimate of a row which works, percent.
fn without(runs: &[Run], row: (&str, &str), quiet_cpu: bool) -> Option<f64> {
    let of = runs.iter().filter(|run| run.had_a_quiet_cpu() == quiet_cpu && run.row(row).is_some());
    let (none, all) =
        of.fold((0, 0), |(none, all), run| (none + usize::from(run.figure(row).is_none()), all + 1));
    percent(none, all)
}

/// The rows of any run that work.
fn names(runs: &[Run]) -> Vec<(&str, &str)> {
    let mut names = Vec::new();
    for row in runs.iter().flat_map(|run| &run.document.results).filter(|row| row.outcome == Outcome::Ok) {
        let name = (row.entry.as_str(), row.operation.as_str());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn piecewise(runs: &[Run]) {
    println!("## Rows that are constant only within a CPU and a process\n");
    println!(
        "An interrupt or exception from 64-bit code costs one constant here and another there, and what costs more than \
         `cpuid` in a virtual machine leaves it. Judged within a CPU. \
         `covers`: runs whose interval, or one of whose modes within 1 %, holds the median of the CPU's runs.\n"
    );
    println!("| row | CPU | figures | median | spread % | worst % | covers |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for name in names(runs).into_iter().filter(|name| is_piecewise(runs, *name)) {
        let mut by_cpu = BTreeMap::<usize, Vec<&Row>>::new();
        for row in runs.iter().filter_map(|run| run.row(name)) {
            if let (Some(cpu), Some(_)) = (row.cpu, row.core_cycles) {
                by_cpu.entry(cpu).or_default().push(row);
            }
        }
        for (cpu, rows) in by_cpu {
            let figures = sorted(rows.iter().filter_map(|row| Some(row.core_cycles?.estimate.0)));
            let Some(usual) = median(&figures) else { continue };
            let covers = rows.iter().filter(|row| covers(row, usual)).count();
            println!(
                "| `{} {}` | {cpu} | {} | {usual:.1} | {} | {} | {covers} of {} |",
                name.0,
                name.1,
                rows.len(),
                show(spread(&figures), 2),
                show(worst(&figures, usual), 2),
                rows.len()
            );
        }
    }
    println!();
}

fn covers(row: &Row, value: f64) -> bool {
    let interval = row.core_cycles.and_then(|cost| Some((cost.ci_low?.0, cost.ci_high?.0)));
    interval.is_some_and(|(low, high)| (low..=high).contains(&value))
        || row.modes.iter().any(|mode| (mode.cost / value - 1.0).abs() <= 0.01)
}

fn all(runs: &[Run]) {
    let names = names(runs);
    let mut off: Vec<(f64, &str, &str)> = Vec::new();
    let (mut printed, mut wrong, mut covered, mut tried) = (0, 0, 0, 0);
    let (mut none, mut none_of, mut otherwise, mut otherwise_of) = (0, 0, 0, 0);
    for name in names.iter().copied() {
        let (truth, _) = reference(runs, name);
        for run in runs.iter().filter(|run| run.row(name).is_some()) {
            let missing = usize::from(run.figure(name).is_none());
            let (count, of) = if run.had_a_quiet_cpu() {
                (&mut none, &mut none_of)
            } else {
                (&mut otherwise, &mut otherwise_of)
            };
            *count += missing;
            *of += 1;
        }
        let figures = sorted(runs.iter().filter_map(|run| run.figure(name)));
        let Some(truth) = truth.filter(|_| !is_piecewise(runs, name)) else { continue };
        // A cycle of 5 is 20 %, and says nothing.
        let is_off = |value: f64| (value - truth).abs() > (0.01 * truth).max(0.5);
        let rows = runs.iter().filter_map(|run| run.row(name)).filter(|row| row.core_cycles.is_some());
        covered += rows.filter(|row| covers(row, truth)).count();
        tried += figures.len();
        printed += figures.len();
        wrong += figures.iter().filter(|value| is_off(**value)).count();
        off.extend(worst(&figures, truth).filter(|_| truth >= 10.0).map(|worst| (worst, name.0, name.1)));
    }
    println!("## All rows\n");
    println!(
        "{} rows work here. Rows that are constant only within a CPU are left out of the first three lines.\n",
        names.len()
    );
    println!("| what | runs of rows | of | % | at most | held |\n|---|---:|---:|---:|---:|---|");
    let line = |what: &str, part: usize, of: usize, limit: Option<f64>| {
        let share = percent(part, of);
        let limit_text = show(limit, 0);
        println!(
            "| {what} | {part} | {of} | {} | {limit_text} | {} |",
            show(share, 2),
            limit.map_or("-", |limit| held(share, limit))
        );
    };
    line("figure off the median of quiet runs by more than 1 % (and half a cycle)", wrong, printed, None);
    line("interval that does not hold that median", tried - covered, tried, Some(5.0));
    line("no estimate, though a CPU was quiet for a fifth of its time", none, none_of, Some(1.0));
    line("no estimate, and no CPU was", otherwise, otherwise_of, None);
    off.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    println!("\nFarthest off in any run, of rows that cost ten cycles or more:");
    for (worst, entry, operation) in off.iter().take(12) {
        println!("- `{entry} {operation}`: {worst:+.1} %");
    }
    println!();
}

fn durations(runs: &[Run]) {
    println!("## How long a run takes\n");
    println!(
        "| the core was alone in | runs | median s | longest s | at most | held |\n|---|---:|---:|---:|---:|---|"
    );
    for (low, high, limit) in
        [(QUIET, 1.01, 5.0), (0.5, QUIET, 12.0), (ENOUGH, 0.5, 12.0), (-1.0, ENOUGH, 12.0)]
    {
        let of = runs.iter().filter(|run| run.quiet() > low && run.quiet() <= high);
        let seconds = sorted(of.map(|run| run.document.measurement.seconds));
        let longest = seconds.last().copied();
        println!(
            "| {:.0} to {:.0} % | {} | {} | {} | {limit} | {} |",
            100.0 * low.max(0.0),
            100.0 * high.min(1.0),
            seconds.len(),
            show(median(&seconds), 1),
            show(longest, 1),
            held(longest.map(|seconds| (seconds * 10.0).round() / 10.0), limit)
        );
    }
    println!();
}

fn noise(runs: &[Run], peers: &[Vec<String>]) {
    println!("## Beside the peers\n");
    println!(
        "The same runs, in nanoseconds for the peers, in core cycles and nanoseconds for kentry. Peers say nothing of \
         noise; kentry's share of checks that did not find the core alone stands in the last column.\n"
    );
    println!(
        "| what | other CPU | figures | median | spread % | worst off median % | noise % |\n|---|---|---:|---:|---:|---:|---:|"
    );
    let line = |what: &str, loaded: bool, values: Vec<f64>, noise: Option<f64>| {
        let usual = median(&values);
        println!(
            "| {what} | {} | {} | {} | {} | {} | {} |",
            if loaded { "loaded" } else { "idle" },
            values.len(),
            show(usual, 2),
            show(spread(&values), 1),
            show(usual.and_then(|usual| worst(&values, usual)), 1),
            show(noise, 0)
        );
    };
    for loaded in [false, true] {
        let of = || runs.iter().filter(move |run| run.loaded == loaded);
        let noise = median(&sorted(of().map(|run| 100.0 * (1.0 - run.quiet()))));
        let getppid = ("syscall-x86_64", "getppid");
        line(
            "kentry `syscall-x86_64 getppid`, core cycles",
            loaded,
            sorted(of().filter_map(|run| run.figure(getppid))),
            noise,
        );
        let nanos = of().filter_map(|run| Some(run.row(getppid)?.ns?.estimate.0));
        line("kentry `syscall-x86_64 getppid`, ns", loaded, sorted(nanos), noise);
        let mut names: Vec<&String> = peers.iter().filter_map(|line| line.get(3)).collect();
        names.sort();
        names.dedup();
        for name in names {
            line(&format!("{name}, ns"), loaded, peer_values(peers, name, Some(loaded)), None);
        }
    }
    println!();
}

/// One comparison with the loop.
struct Alternation {
    row: String,
    before: f64,
    after: f64,
    bare: f64,
    document: Document,
}

/// How much processes that are alive at once differ: as measured, and beside one that is always the same.
fn processes(folder: &Path) {
    println!("## Do processes differ?\n");
    println!(
        "`bench/levels.c processes`: processes that are alive at once are asked in turns what a getppid costs, each between two questions to \
         one that is always the same. `moments`: the standard deviation of single answers. `between`: that of the processes' means; `beside`: the \
         same, of each answer less what the other one said; `by chance`: what `beside` would be if processes did not differ. `together`: the \
         correlation of a process's answer with the other's. Where it is high, the figures move with time, and not with the process.\n"
    );
    println!(
        "| CPU | processes | answers | median, core cycles | moments % | between % | beside % | by chance % | together |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    let text = read(&folder.join("processes.csv"));
    let answer = |line: &str| -> Option<Answer> {
        let mut parts = line.split(',');
        let (cpu, process) = (parts.next()?.to_string(), parts.next()?.to_string());
        Some(Answer { cpu, process, cost: parts.next()?.parse().ok()?, other: parts.next()?.parse().ok()? })
    };
    let answers: Vec<Answer> = text.lines().filter_map(answer).collect();
    for of_cpu in answers.chunk_by(|a, b| a.cpu == b.cpu) {
        let mut of_process = BTreeMap::<&str, Vec<&Answer>>::new();
        of_cpu.iter().for_each(|answer| of_process.entry(&answer.process).or_default().push(answer));
        let usual = median(&sorted(of_cpu.iter().map(|answer| answer.cost)));
        let percent = |value: f64| usual.map(|usual| 100.0 * value / usual);
        let between = |value: fn(&Answer) -> f64| {
            deviation(
                &of_process
                    .values()
                    .map(|all| mean(all.iter().map(|answer| value(answer))))
                    .collect::<Vec<_>>(),
            )
        };
        let all = |value: fn(&Answer) -> f64| of_cpu.iter().map(value).collect::<Vec<f64>>();
        let each = of_cpu.len() as f64 / of_process.len() as f64;
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            of_cpu[0].cpu,
            of_process.len(),
            of_cpu.len(),
            show(usual, 1),
            show(percent(deviation(&all(|answer| answer.cost))), 2),
            show(percent(between(|answer| answer.cost)), 2),
            show(percent(between(|answer| answer.cost - answer.other)), 2),
            show(percent(deviation(&all(|answer| answer.cost - answer.other)) / each.sqrt()), 2),
            show(Some(correlation(&all(|answer| answer.cost), &all(|answer| answer.other))), 2)
        );
    }
    println!();
}

/// What a process said, and the one that is always the same around that moment.
struct Answer {
    cpu: String,
    process: String,
    cost: f64,
    other: f64,
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The standard deviation.
fn deviation(values: &[f64]) -> f64 {
    let middle = mean(values.iter().copied());
    mean(values.iter().map(|value| (value - middle).powi(2))).sqrt()
}

fn correlation(left: &[f64], right: &[f64]) -> f64 {
    let (a, b) = (mean(left.iter().copied()), mean(right.iter().copied()));
    mean(left.iter().zip(right).map(|(x, y)| (x - a) * (y - b))) / (deviation(left) * deviation(right))
}

fn truth(folder: &Path) {
    println!("## Is the estimate true?\n");
    println!(
        "Against `bench/truth.c`: a loop of calls with the same fences around each, less the same loop of controls, timed \
         with CLOCK_MONOTONIC_RAW, before and after kentry on the same CPU. `off`: median of the differences within an \
         alternation, over those in which kentry found the core alone in more than half of its checks and both loops \
         agree within 2 %; the others (`left out`) compare two kinds of noise. `bare`: with an lfence alone on either side \
         instead of all that a stamp does. A loop also pays for what comes after a call, which a sample does not contain; that, the \
         gateway and rows that are off by 1 to 3 % are the subject of [OUTLIERS.md](OUTLIERS.md).\n"
    );
    println!(
        "| row | compared | left out | kentry ns | loop ns | off % | at most | held | bare loop ns |\n|---|---:|---:|---:|---:|---:|---:|---|---:|"
    );
    let alternations: Vec<Alternation> =
        table(&folder.join("truth.csv")).iter().filter_map(|line| alternation(folder, line)).collect();
    let mut rows: Vec<&String> = alternations.iter().map(|alternation| &alternation.row).collect();
    rows.sort();
    rows.dedup();
    for row in rows {
        let of: Vec<&Alternation> =
            alternations.iter().filter(|alternation| alternation.row == *row).collect();
        let compared: Vec<(&Alternation, f64)> =
            of.iter().filter_map(|alternation| Some((*alternation, comparable(alternation)?))).collect();
        let loops = |(alternation, _): &(&Alternation, f64)| (alternation.before + alternation.after) / 2.0;
        let of_values =
            |value: &dyn Fn(&(&Alternation, f64)) -> f64| median(&sorted(compared.iter().map(value)));
        let off = of_values(&|pair| 100.0 * (pair.1 / loops(pair) - 1.0));
        let limit = if row.starts_with("vdso") { 3.0 } else { 1.0 };
        println!(
            "| `{}` | {} | {} | {} | {} | {} | {limit} | {} | {} |",
            row.replace('/', " "),
            compared.len(),
            of.len() - compared.len(),
            show(of_values(&|pair| pair.1), 2),
            show(of_values(&loops), 2),
            show(off, 2),
            held(off, limit),
            show(of_values(&|pair| pair.0.bare), 2)
        );
    }
    println!();
}

fn alternation(folder: &Path, line: &[String]) -> Option<Alternation> {
    let number = |index: usize| line.get(index)?.parse::<f64>().ok();
    let document = load(&folder.join(line.first()?))?;
    Some(Alternation {
        row: line.get(1)?.clone(),
        before: number(2)?,
        after: number(3)?,
        bare: number(4)?,
        document,
    })
}

/// What kentry printed, where the loops are comparable with it.
fn comparable(alternation: &Alternation) -> Option<f64> {
    let quiet = alternation.document.measurement.quiet_share.unwrap_or(0.0);
    let agree = (alternation.before / alternation.after - 1.0).abs() <= 0.02;
    let figure = alternation.document.results.first()?.ns?.estimate.0;
    (quiet > 0.5 && agree).then_some(figure)
}

fn cost(folder: &Path) {
    println!("## Cost\n\n| what | median | at most | held |\n|---|---:|---:|---|");
    let lines = table(&folder.join("cost.csv"));
    let mut seen: Vec<&String> = Vec::new();
    for name in lines.iter().filter_map(|line| line.get(2)) {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let of = || lines.iter().filter(|line| line.get(2) == Some(name));
        let limit = of().next().and_then(|line| line.first()?.parse::<f64>().ok());
        let value = median(&sorted(of().filter_map(|line| line.get(1)?.parse().ok())));
        println!(
            "| {name} | {} | {} | {} |",
            value.map_or("-".into(), |value| value.to_string()),
            limit.map_or("-".into(), |limit| limit.to_string()),
            limit.map_or("-", |limit| held(value, limit))
        );
    }
}
