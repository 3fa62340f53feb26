//! Figures beside plain loops of calls.

use crate::numbers::{held, median, show, sorted};
use crate::runs::load;
use crate::table;
use document::Document;
use std::path::Path;

/// One comparison with the loop.
struct Alternation {
    row: String,
    before: f64,
    after: f64,
    bare: f64,
    document: Document,
}

pub fn truth(folder: &Path) {
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
