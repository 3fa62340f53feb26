//! A bill as GitHub's Markdown.

use super::table::{Row, Table, Weight, configurations, steps, there};
use super::words;
use crate::Style;
use crate::markdown::{code, escaped, line};
use attribution::bill::Bill;

pub(super) fn render(bill: &Bill, style: &Style) -> Vec<u8> {
    let mut out = format!("# kentry bill: {}\n\n", escaped(&words::title(bill)));
    for (label, text) in words::head(bill).into_iter().filter(|(label, _)| *label != "bill") {
        out.push_str(&format!("- {label}: {}\n", escaped(&text)));
    }
    out.push_str("\n## steps\n\n");
    table(&mut out, &steps(bill), true);
    out.push_str(&format!("\n{}\n", escaped(&words::legend(bill))));
    if let Some(found) = &bill.there {
        out.push_str(&format!("\n## {}\n\n", escaped(&words::linux(found))));
        found.remarks.iter().for_each(|remark| out.push_str(&format!("- {}\n", escaped(remark))));
        out.push('\n');
        table(&mut out, &there(bill, found), false);
        out.push_str(&format!("\n{}\n", escaped(words::THERE)));
    }
    if style.verbose {
        out.push_str("\n## configurations\n\n");
        table(&mut out, &configurations(bill), true);
    }
    out.into_bytes()
}

/// `is_code`: whether names are those of switches or operations, and not words.
fn table(out: &mut String, table: &Table, is_code: bool) {
    let needs = table.has_needs.then_some("needs");
    let names = std::iter::once(table.first).chain(table.headings.iter().copied()).chain(needs);
    out.push_str(&line(names.chain([table.last])));
    let numbers = std::iter::repeat_n("---:", table.headings.len());
    out.push_str(&line(std::iter::once("---").chain(numbers).chain(needs.map(|_| "---")).chain(["---"])));
    for row in &table.rows {
        let cells = cells(row, table.has_needs, is_code);
        out.push_str(&line(cells.iter().map(String::as_str)));
    }
}

fn cells(row: &Row, has_needs: bool, is_code: bool) -> Vec<String> {
    let name = match row.weight {
        Weight::Sum => format!("**{}**", escaped(&row.name)),
        Weight::ExplainedPart | Weight::Without if is_code => code(&row.name),
        Weight::ExplainedPart | Weight::Without => escaped(&row.name),
    };
    let numbers = row.numbers.iter().map(|number| escaped(number));
    let needs = has_needs.then(|| escaped(&row.needs));
    std::iter::once(name).chain(numbers).chain(needs).chain([escaped(&row.remark)]).collect()
}
