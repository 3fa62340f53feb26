//! An impact as GitHub's Markdown.

use super::table::{calls, parts, processes, remedies};
use super::words;
use crate::Style;
use crate::escape::escaped;
use attribution::impact::Impact;

pub(super) fn render(impact: &Impact, style: &Style) -> Vec<u8> {
    let mut out = format!(
        "# kentry impact: {}\n\n{}\n\n",
        escaped(&words::subject(impact)),
        escaped(&words::answer(impact))
    );
    let mut fact = |label: &str, text: &str| out.push_str(&format!("- {label}: {}\n", escaped(text)));
    fact("CPU time", &words::cpu(impact));
    words::crossings(impact).iter().for_each(|crossing| fact("crossing", crossing));
    fact("counting", &words::observing(impact));
    impact.remarks.iter().for_each(|remark| fact("note", remark));
    let tables = [
        ("calls", calls(impact, style.verbose).0),
        ("processes", processes(impact, style.verbose).0),
        ("layers and protections", parts(impact)),
        ("remedies", remedies(impact)),
    ];
    for (heading, grid) in tables.iter().filter(|(_, grid)| !grid.is_empty()) {
        out.push_str(&format!("\n## {heading}\n\n{}", grid.markdown()));
    }
    out.push_str(&format!("\n{}\n", escaped(words::LEGEND)));
    out.into_bytes()
}
