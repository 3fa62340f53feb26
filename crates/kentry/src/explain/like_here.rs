//! The profile that is like this machine's kernel, or like the one of a run.

use environment::Environment;
use findings::{LIKE_HERE, like_here};

/// Whether a word asks for it.
pub fn is_meant(word: &str) -> bool {
    word == LIKE_HERE
}

/// Its steps, what says so of each, and what is guessed.
pub fn explain(environment: &Environment) -> String {
    let like = like_here(environment);
    let mut text =
        format!("# {LIKE_HERE}\n\n{}. A profile: `kentry bill --profile {LIKE_HERE}`.\n", like.what);
    if let Some(cpu) = &like.cpu {
        text.push_str(&format!("\nIts processor: {}.\n", report::plain(cpu)));
    }
    text.push_str("\n## Steps, in Linux's order\n\n");
    for step in &like.steps {
        text.push_str(&format!("- `{}`: {}\n", step.setting, report::plain(&step.says)));
        if let Some(why) = &step.guessed {
            text.push_str(&format!("  guessed: {why}\n"));
        }
    }
    if !like.left_out.is_empty() {
        text.push_str("\n## Not in the profile\n\n");
    }
    like.left_out.iter().for_each(|what| text.push_str(&format!("- {}\n", report::plain(what))));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_guessed_is_marked_and_odd_words_are_made_harmless() {
        let mut machine = Environment::default();
        machine.kernel.release = Some("6.1.0".into());
        machine.mitigations.insert("mds".into(), "Mitigation: Clear CPU buffers; \u{1b}[2J".into());
        let text = explain(&machine);
        assert!(text.contains("- `index-mask=on`: Linux 6.1.0\n  guessed: built in since 4.16\n"), "{text}");
        assert!(text.contains("- `verw=on`: mds: ") && !text.contains('\u{1b}'), "{text}");
    }
}
