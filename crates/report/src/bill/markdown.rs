//! A bill as GitHub's Markdown.

use super::table::{configurations, steps, there};
use super::words;
use crate::Style;
use crate::escape::escaped;
use attribution::bill::Bill;

pub(super) fn render(bill: &Bill, style: &Style) -> Vec<u8> {
    let mut out = format!("# kentry bill: {}\n\n", escaped(&words::title(bill)));
    for (label, text) in words::head(bill).into_iter().filter(|(label, _)| *label != "bill") {
        out.push_str(&format!("- {label}: {}\n", escaped(&text)));
    }
    out.push_str("\n## steps\n\n");
    out.push_str(&steps(bill).markdown());
    out.push_str(&format!("\n{}\n", escaped(&words::legend(bill))));
    if let Some(found) = &bill.ring3 {
        out.push_str("\n## ring 3\n\n");
        for (label, text) in super::ring3::facts(bill, found) {
            out.push_str(&format!("- {label}: {}\n", escaped(&text)));
        }
        if !found.left_out.is_empty() {
            out.push('\n');
            out.push_str(&super::ring3::left_out(found).markdown());
        }
        let published = super::ring3::published(bill, found);
        if !published.is_empty() {
            out.push('\n');
            out.push_str(&super::ring3::comparison(&published).markdown());
        }
    }
    if let Some(found) = &bill.there {
        out.push_str(&format!("\n## {}\n\n", escaped(&words::linux(found))));
        found.remarks.iter().for_each(|remark| out.push_str(&format!("- {}\n", escaped(remark))));
        out.push('\n');
        out.push_str(&there(bill, found).markdown());
        out.push_str(&format!("\n{}\n", escaped(&words::measured_and_explained(bill, found))));
    }
    if style.verbose {
        out.push_str("\n## configurations\n\n");
        out.push_str(&configurations(bill).markdown());
    }
    out.into_bytes()
}
