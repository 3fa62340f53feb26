//! Prints a comparison of the first half of some documents with the second; used by hand.
use compare::*;
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let t = table::Table::get();
    let n = a.len() / 2;
    let side = |p: &[String]| Given {
        label: "x".into(),
        runs: p
            .iter()
            .map(|p| Run::of(t, &document::load(&std::fs::read_to_string(p).unwrap()).unwrap(), None))
            .collect(),
    };
    let c = compare(t, &side(&a[..n]), &side(&a[n..]), &[], &Settings::default());
    for x in &c.confounders {
        println!("{:?} {} {:?} {:?} {}", x.severity, x.what, x.base, x.new, x.meaning);
    }
    for r in &c.rows {
        if let (Some(ch), Some(v)) = (&r.change, &r.variation) {
            println!(
                "{:50} {:8.1} {:+8.2} [{:+.2} {:+.2}] {:+.2}% [{:+.2} {:+.2}] {:.4} p={:.3} {} m={:.1} dev={:.2}% {:?} r{:.1} h{:.1} p{:.1} more={:?}",
                r.in_words(),
                r.base.as_ref().unwrap().estimate.unwrap(),
                ch.estimate,
                ch.low,
                ch.high,
                ch.percent.unwrap_or(f64::NAN),
                ch.percent_low.unwrap_or(f64::NAN),
                ch.percent_high.unwrap_or(f64::NAN),
                ch.confidence,
                ch.p,
                r.verdict,
                r.margin.unwrap(),
                v.percent.unwrap_or(0.0),
                v.source,
                v.of_runs,
                v.of_history,
                v.of_prior,
                r.more_runs
            );
        } else {
            println!("{:50} {}", r.in_words(), r.verdict);
        }
    }
    println!("{:?}", c.summary);
}
