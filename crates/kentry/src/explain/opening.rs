//! What the explanation of a switch or of one of its values opens with: what it is against, which processors need it, what the kernel
//! executes. It stands at the beginning of the sections of docs/bill.md, as a list; what the section of a value does not say of these is
//! as its switch has it.

/// The lines of an opening, in order, and the words that each may begin with: what is no protection has a purpose.
const LINES: [&[&str]; 3] = [&["Attack", "Fault", "Purpose"], &["Processors"], &["Remedy"]];

/// The lines of an opening, each an item of a list in Markdown; none where the section does not say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opening([Option<String>; LINES.len()]);

impl Opening {
    /// The opening of a section without its heading, and what stands below it.
    pub fn of(section: &str) -> (Opening, &str) {
        let mut opening = Opening::default();
        let mut rest = section;
        if section.starts_with("- **") {
            let (list, below) = section.split_once("\n\n").unwrap_or((section.trim_end(), ""));
            rest = below;
            for item in format!("\n{list}").split("\n- ").skip(1) {
                if let Some(line) = place(item).and_then(|place| opening.0.get_mut(place)) {
                    *line = Some(format!("- {item}\n"));
                }
            }
        }
        (opening, rest)
    }

    /// What it does not say is as another has it.
    pub fn or(self, other: &Opening) -> Opening {
        let mut lines = self.0;
        lines.iter_mut().zip(&other.0).for_each(|(line, other)| *line = line.take().or(other.clone()));
        Opening(lines)
    }

    /// The lines that it has.
    pub fn text(&self) -> String {
        self.0.iter().flatten().map(String::as_str).collect()
    }

    /// Whether it has all.
    #[cfg(test)]
    pub fn is_whole(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }
}

/// Which line an item is, by the word that it begins with.
fn place(item: &str) -> Option<usize> {
    let word = item.strip_prefix("**")?.split_once("**: ")?.0;
    LINES.iter().position(|words| words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_value_does_not_say_is_as_its_switch_has_it() {
        let (switch, below) = Opening::of(
            "- **Attack**: one\n  that goes on\n- **Processors**: all\n- **Remedy**: a mode\n\nProse.\n",
        );
        assert!(switch.is_whole());
        assert_eq!(below, "Prose.\n");
        let (value, below) = Opening::of("- **Remedy**: another\n");
        assert_eq!((value.text().as_str(), below), ("- **Remedy**: another\n", ""));
        assert_eq!(
            value.or(&switch).text(),
            "- **Attack**: one\n  that goes on\n- **Processors**: all\n- **Remedy**: another\n"
        );
        assert_eq!(Opening::of("- a list\n\nProse.\n"), (Opening::default(), "- a list\n\nProse.\n"));
    }
}
