//! Prints the environment as JSON, and on standard error what capturing it costs.

use std::time::Instant;

use environment::{Load, Roots, capture};

fn main() -> serde_json::Result<()> {
    let roots = Roots::default();
    let before = Load::now(&roots, 0);
    let mut environment = capture(&roots, 0);
    let mut captures = times(50, || drop(capture(&roots, 0)));
    let mut loads = times(50, || drop(Load::now(&roots, 0)));
    environment.load = Some(Load::between(&before, &Load::now(&roots, 0)));
    println!("{}", serde_json::to_string_pretty(&environment)?);
    eprintln!("capture: median {:.2} ms, worst {:.2} ms", median(&mut captures), captures[49]);
    eprintln!("load:    median {:.2} ms, worst {:.2} ms", median(&mut loads), loads[49]);
    Ok(())
}

/// Milliseconds of each call.
fn times(count: usize, call: impl Fn()) -> Vec<f64> {
    let time = |_| {
        let start = Instant::now();
        call();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..count).map(time).collect()
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
