//! Metrics in the text format of Prometheus, version 0.0.4, as node_exporter's textfile collector reads it: base units, no timestamps, one
//! HELP and TYPE for a name. All are gauges. What is not known has no sample.

use crate::plain::plain;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A metric: what it says, and its samples, each by its labels.
struct Metric {
    help: String,
    samples: BTreeMap<String, f64>,
}

/// Metrics, by name.
#[derive(Default)]
pub(crate) struct Metrics(BTreeMap<String, Metric>);

impl Metrics {
    /// Adds a sample. Of two with the same name and labels the last stays; the first says what help there is.
    pub fn add(&mut self, name: impl Into<String>, help: impl Into<String>, labels: String, value: f64) {
        let metric = self.0.entry(name.into());
        let metric = metric.or_insert_with(|| Metric { help: help.into(), samples: BTreeMap::new() });
        metric.samples.insert(labels, value);
    }

    /// The file.
    pub fn written(&self) -> Vec<u8> {
        let mut out = String::new();
        for (name, metric) in &self.0 {
            let help = metric.help.replace('\\', "\\\\").replace('\n', "\\n");
            // Writing to a String cannot fail.
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge");
            for (labels, value) in &metric.samples {
                let _ = writeln!(out, "{name}{labels} {value}");
            }
        }
        out.into_bytes()
    }
}

/// `{check="clocks",id="clock-served"}`; nothing where there are none.
pub(crate) fn labels<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let one = |(label, value): (&str, &str)| {
        let value = value
            .split('\n')
            .map(plain)
            .collect::<Vec<_>>()
            .join("\n")
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        format!("{}=\"{value}\"", label.replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
    };
    let all: Vec<String> = all.into_iter().map(one).collect();
    if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) }
}
