//! Followed paths as GitHub's Markdown.

use super::names::names;
use super::parts::grid;
use super::{beside, difference, several, words};
use crate::escape::escaped;
use attribution::anatomy::Document;

pub(super) fn render(document: &Document) -> Vec<u8> {
    let mut out = format!("# kentry anatomy: {}\n\n", escaped(&words::title(document)));
    for (label, text) in words::head(document).into_iter().filter(|(label, _)| *label != "anatomy") {
        out.push_str(&format!("- {label}: {}\n", escaped(&text)));
    }
    if several::are(document) {
        out.push_str(&format!("\n## paths\n\n{}", several::grid(document).markdown()));
        out.push_str(&format!("\n{}\n", escaped(&several::legend(document))));
        out.push_str("\n## parts\n\n");
        several::by_part(document, usize::MAX).iter().for_each(|grid| out.push_str(&grid.markdown()));
        return out.into_bytes();
    }
    out.push_str("\n## parts\n\n");
    out.push_str(&grid(document).markdown());
    out.push_str(&format!("\n{}\n", escaped(&words::legend(document))));
    for shown in difference::all(document) {
        out.push_str(&format!("\n## {}\n\n", escaped(&shown.title)));
        if shown.is_across {
            out.push_str(&format!("{}\n\n", escaped(difference::ACROSS)));
        }
        if shown.lines.is_empty() {
            continue;
        }
        for grid in &shown.tables {
            out.push_str(&grid.markdown());
            out.push('\n');
        }
        out.push_str("```diff\n");
        for cells in shown.lines.iter().map(difference::cells) {
            let [sign, place, text, part] = cells.map(|cell| crate::plain::plain(&cell).replace('`', "'"));
            out.push_str(format!("{sign} {place:50} {text:40} {part}").trim_end());
            out.push('\n');
        }
        out.push_str("```\n");
    }
    if let Some(found) = &document.beside {
        out.push_str(&format!("\n## {}\n\n", escaped(&beside::title(found, &names(document)))));
        out.push_str(&beside::grid(found).markdown());
        out.push_str(&format!("\n{}\n\n", escaped(beside::LEGEND)));
        beside::findings(found).iter().for_each(|finding| out.push_str(&format!("- {}\n", escaped(finding))));
    }
    out.into_bytes()
}
