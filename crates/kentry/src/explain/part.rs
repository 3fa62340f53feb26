//! A part of an anatomy, and the events that no entry of the table is, from docs/anatomy.md.

use super::section;
use attribution::anatomy::Part;
use record::trace::Event;

/// What paths through Linux consist of.
const ANATOMY: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/anatomy.md"));

/// What a part is, what of the lab does the same, and what docs/anatomy.md says of it.
pub fn explain(part: Part) -> String {
    let name = part.name();
    let mut text = format!("# {name}, a part of an anatomy\n\n{}.\n\n", super::capitalized(part.what()));
    text.push_str("- Counted by: `kentry anatomy ENTRY`\n");
    let switches: Vec<String> = part.switches().iter().map(|switch| format!("`{switch}`")).collect();
    let switches = if switches.is_empty() { "none".to_string() } else { switches.join(", ") };
    text.push_str(&format!("- The lab's switches that do the same: {switches}\n"));
    if let Some(more) = section::below(ANATOMY, &heading(name)) {
        text.push_str(&format!("\n{more}"));
    }
    text
}

/// What `kentry anatomy` follows besides entries.
pub fn explain_event(event: Event) -> String {
    let text = section::below(ANATOMY, &heading(event.name())).unwrap_or_default();
    format!("# {}\n\n{text}", event.name())
}

fn heading(name: &str) -> String {
    format!("### {name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Table;

    #[test]
    fn every_part_is_in_the_documentation_as_it_is_here() {
        for part in Part::ALL {
            let switches: Vec<String> = part.switches().iter().map(|switch| format!("`{switch}`")).collect();
            let switches = if switches.is_empty() { "-".to_string() } else { switches.join(", ") };
            let row = format!("| `{}` | {switches} | {} |", part.name(), part.what());
            assert!(ANATOMY.lines().any(|line| line == row), "{row}");
        }
    }

    #[test]
    fn what_the_lab_does_not_explain_has_a_section() {
        for part in Part::ALL {
            let is_switch = Table::get().switch(part.name()).is_some();
            let section = section::below(ANATOMY, &heading(part.name()));
            assert_eq!(section.is_none(), is_switch, "{}", part.name());
            assert!(explain(*part).lines().count() >= 5, "{}", part.name());
        }
        assert!(explain_event(Event::TimerInterrupt).contains("asm_sysvec_apic_timer_interrupt"));
        assert!(explain_event(Event::Execve).contains("first instruction of the new program"));
    }
}
