//! A finding, from docs/findings.md.

use super::section;
use findings::Id;

/// When each finding appears, what it means, and what to do.
const FINDINGS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/findings.md"));

/// The finding of this name.
pub fn of(word: &str) -> Option<Id> {
    Id::ALL.iter().copied().find(|id| id.name() == word)
}

/// Its section.
pub fn explain(id: Id) -> String {
    let name = id.name();
    let text = section::below(FINDINGS, &format!("## `{name}`")).unwrap_or_default();
    format!("# {name}, a finding\n\n{text}")
}

#[cfg(test)]
mod tests {
    use super::super::subject::{Subject, meaning};
    use super::*;
    use table::Table;

    #[test]
    fn every_finding_is_explained_by_its_name() {
        for id in Id::ALL {
            let meaning = meaning(Table::get(), id.name()).unwrap();
            assert!(meaning.subjects.contains(&Subject::Finding(*id)), "{}", id.name());
            let text = explain(*id);
            assert!(text.contains("**When.**") && text.contains("**What to do.**"), "{text}");
        }
    }
}
