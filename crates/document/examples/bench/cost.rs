//! What kentry itself costs.

use crate::numbers::{held, median, sorted};
use crate::table;
use std::path::Path;

pub fn cost(folder: &Path) {
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
