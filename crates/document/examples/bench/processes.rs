//! Whether processes differ, or time does.

use crate::numbers::{median, show, sorted};
use crate::read;
use std::collections::BTreeMap;
use std::path::Path;

/// How much processes that are alive at once differ: as measured, and beside one that is always the same.
pub fn processes(folder: &Path) {
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
