//! A bill as GitHub's Markdown.

use super::table::{configurations, steps, there};
use super::words;
use crate::Style;
use crate::escape::escaped;
use attribution::bill::{Bill, Ring3, There};

/// In the order of the text.
pub(super) fn render(bill: &Bill, style: &Style) -> Vec<u8> {
    let mut out = format!("# kentry bill: {}\n\n", escaped(&words::title(bill)));
    let head: Vec<_> = words::head(bill).into_iter().filter(|(label, _)| *label != "bill").collect();
    out.push_str(&items(&head));
    let there = bill.there.as_ref();
    let is_first = there.is_some_and(words::is_followed);
    if let Some(found) = there.filter(|_| is_first) {
        out.push_str(&linux(bill, found));
        out.push_str("\n## lab\n\n");
    }
    out.push_str(&items(&words::of_lab(bill)));
    out.push_str("\n## steps\n\n");
    out.push_str(&steps(bill).markdown());
    out.push_str(&format!("\n{}\n", escaped(&words::legend(bill))));
    out.extend(bill.ring3.iter().map(|found| ring3(bill, found)));
    out.extend(there.filter(|_| !is_first).map(|found| linux(bill, found)));
    if style.verbose {
        out.push_str("\n## configurations\n\n");
        out.push_str(&configurations(bill).markdown());
    }
    out.into_bytes()
}

/// A list; what has no label is an item of its own.
fn items(facts: &[(&'static str, String)]) -> String {
    let item = |(label, text): &(&str, String)| match *label {
        "" => format!("- {}\n", escaped(text)),
        label => format!("- {label}: {}\n", escaped(text)),
    };
    facts.iter().map(item).collect()
}

fn linux(bill: &Bill, found: &There) -> String {
    let mut facts = words::of_linux(bill, found);
    facts.retain(|(label, _)| *label != "Linux");
    format!(
        "\n## {}\n\n{}\n{}\n{}\n",
        escaped(&words::linux(found)),
        items(&facts),
        there(bill, found).markdown(),
        escaped(&words::measured_and_explained(bill, found))
    )
}

fn ring3(bill: &Bill, found: &Ring3) -> String {
    let mut out = format!("\n## ring 3\n\n{}", items(&super::ring3::facts(bill, found)));
    if !found.left_out.is_empty() {
        out.push('\n');
        out.push_str(&super::ring3::left_out(found).markdown());
    }
    let published = super::ring3::published(bill, found);
    if !published.is_empty() {
        out.push('\n');
        out.push_str(&super::ring3::comparison(&published).markdown());
    }
    out
}
