//! A reproduction as GitHub's Markdown.

use super::table::{are_shares, change_words, changes, elsewhere, figures};
use super::{head, missing, remarks};
use crate::escape::escaped;
use compare::published::{Figure, Reproduction};

pub(crate) fn render(reproduction: &Reproduction) -> Vec<u8> {
    let title = format!("{}: {}", reproduction.name, reproduction.title);
    let mut out = format!("# {}\n\n{}\n\n", escaped(&title), escaped(&reproduction.about));
    for (label, text) in head(reproduction) {
        out.push_str(&format!("- {label}: {}\n", escaped(&text)));
    }
    for column in reproduction.columns() {
        out.push_str(&format!("\n## {}\n\n", escaped(column)));
        let of_column: Vec<&Figure> =
            reproduction.figures.iter().filter(|figure| figure.column == column).collect();
        out.push_str(&figures(reproduction, &of_column, 0, true).markdown());
    }
    for (kernel, words, table) in elsewhere(reproduction) {
        let name = if kernel.is_lab() { "lab" } else { "guests" };
        out.push_str(&format!("\n## {name}\n\n{}\n\n{}", escaped(&words), table.markdown()));
    }
    if !reproduction.ratios.is_empty() {
        let words = escaped(&change_words(reproduction));
        let heading = if are_shares(reproduction) { "parts" } else { "changes" };
        out.push_str(&format!("\n## {heading}\n\n{words}\n\n{}", changes(reproduction).markdown()));
    }
    for (heading, notes) in [("not measured", missing(reproduction)), ("notes", remarks(reproduction))] {
        if notes.is_empty() {
            continue;
        }
        out.push_str(&format!("\n## {heading}\n\n"));
        notes.iter().for_each(|(what, text)| {
            out.push_str(&format!("- **{}**: {}\n", escaped(what), escaped(text)));
        });
    }
    out.into_bytes()
}
