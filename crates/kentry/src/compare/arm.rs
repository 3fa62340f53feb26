//! What a word of `compare --live` asks for: one of the things that are compared. It is split into words as a shell would, but no shell
//! runs it, unless it is `sh -c`.

use crate::error::Error;
use places::host::Wrapper;
use std::path::{Path, PathBuf};

/// Words that a shell would act on.
const OPERATORS: [&str; 10] = ["|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1"];

/// One of the things that are compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArmCommand {
    /// As it was typed.
    pub text: String,
    /// The CPU to measure on; none if any will do.
    pub cpu: Option<usize>,
    /// Another kentry whose probes are run; none for those of this one.
    pub kentry: Option<PathBuf>,
    /// The command that the probes run under.
    pub wrapper: Wrapper,
}

impl ArmCommand {
    /// `[NAME=VALUE]... [kentry | PATH/kentry...] [--cpu NUMBER] [COMMAND...]`. A first program whose file name begins with `kentry` is a
    /// kentry, not a command: without a slash this one, otherwise the one at that path.
    ///
    /// # Errors
    /// [`Error::Usage`], in words.
    pub fn parse(text: &str) -> Result<ArmCommand, Error> {
        let wrong = |why: String| Error::Usage(format!("--live {}: {why}", report::plain(&shown(text))));
        let words = shlex::split(text)
            .ok_or_else(|| wrong("a quotation mark or a backslash lacks its other half".into()))?;
        if let Some(operator) = words.iter().find(|word| OPERATORS.contains(&word.as_str())) {
            return Err(wrong(format!(
                "no shell runs the command, and {operator} is a shell's: write sh -c '...'"
            )));
        }
        let assigned = words.iter().take_while(|word| is_assignment(word)).count();
        let mut arm = ArmCommand { text: text.trim().to_string(), ..ArmCommand::default() };
        arm.wrapper.environment = words.iter().take(assigned).cloned().collect();
        let mut rest = words.iter().skip(assigned).peekable();
        if let Some(program) = rest.next_if(|word| is_kentry(word)) {
            arm.kentry = program.contains('/').then(|| program.into());
        }
        while let Some(option) = rest.next_if(|word| word.starts_with('-')) {
            let value = match option.split_once('=') {
                Some(("--cpu", value)) => Some(value.to_string()),
                _ if option == "--cpu" => rest.next().cloned(),
                _ => {
                    return Err(wrong(format!(
                        "{option}: --cpu is the only option that an arm can have; the others are those of the comparison"
                    )));
                }
            };
            let cpu = value.as_ref().and_then(|value| value.parse().ok());
            arm.cpu = Some(cpu.ok_or_else(|| wrong("--cpu needs the number of a CPU".into()))?);
        }
        arm.wrapper.words = rest.cloned().collect();
        Ok(arm)
    }

    /// What it is called beside the other.
    pub fn shown(&self) -> String {
        shown(&self.text)
    }

    /// What its documents say that the probes ran under; none if they run as they are. The CPU and the probes are no part of it: the
    /// documents tell both elsewhere, and a run on a CPU of one's choice is one like any other.
    pub fn command(&self) -> Option<String> {
        let words = self.wrapper.environment.iter().chain(&self.wrapper.words);
        let text = words.map(|word| quoted(word)).collect::<Vec<String>>().join(" ");
        (!text.is_empty()).then_some(text)
    }
}

/// A word as it is typed, in quotation marks only where it needs them: `{}` does not.
fn quoted(word: &str) -> String {
    let is_special = |letter: char| letter.is_whitespace() || "'\"\\#".contains(letter);
    let needs = word.is_empty() || word.contains(is_special);
    if needs { format!("'{}'", word.replace('\'', r"'\''")) } else { word.to_string() }
}

fn shown(text: &str) -> String {
    format!("\"{text}\"")
}

/// As a shell has it: a name, and what it is to be.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let is_part = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
        name.chars().all(is_part) && name.chars().next().is_some_and(|first| !first.is_ascii_digit())
    })
}

fn is_kentry(word: &str) -> bool {
    let name = Path::new(word).file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("kentry"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Environment, kentry, CPU and words.
    fn parsed(text: &str) -> (Vec<String>, Option<PathBuf>, Option<usize>, Vec<String>) {
        let arm = ArmCommand::parse(text).unwrap();
        (arm.wrapper.environment, arm.kentry, arm.cpu, arm.wrapper.words)
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    #[test]
    fn a_command_is_split_as_a_shell_would() {
        assert_eq!(parsed(""), (words(&[]), None, None, words(&[])));
        assert_eq!(parsed("strace -f -o /dev/null").3, words(&["strace", "-f", "-o", "/dev/null"]));
        assert_eq!(parsed("sh -c 'a b \"{}\" | c'").3, words(&["sh", "-c", "a b \"{}\" | c"]));
        let preloaded = parsed("LD_PRELOAD='./a b.so' A= nice {}");
        assert_eq!(
            (preloaded.0, preloaded.3),
            (words(&["LD_PRELOAD=./a b.so", "A="]), words(&["nice", "{}"]))
        );
    }

    #[test]
    fn a_kentry_is_no_command() {
        assert_eq!(parsed("--cpu 1"), (words(&[]), None, Some(1), words(&[])));
        assert_eq!(parsed("kentry --cpu=3"), (words(&[]), None, Some(3), words(&[])));
        let other = parsed("/old/kentry-0.1 --cpu 1 nice -n 5");
        assert_eq!(other, (words(&[]), Some("/old/kentry-0.1".into()), Some(1), words(&["nice", "-n", "5"])));
    }

    #[test]
    fn the_command_is_what_the_probes_run_under_and_no_more() {
        let command = |text: &str| ArmCommand::parse(text).unwrap().command();
        for text in ["", "kentry", "--cpu 1", "kentry --cpu=3", "/old/kentry-0.1 --cpu 1"] {
            assert_eq!(command(text), None, "{text}");
        }
        assert_eq!(command("--cpu 1 strace -f {}").as_deref(), Some("strace -f {}"));
        let odd = r#"A='b c' /old/kentry --cpu 2 sh -c "it's \\ #1; {}" '' {file}"#;
        let arm = ArmCommand::parse(odd).unwrap();
        let again = ArmCommand::parse(&arm.command().unwrap()).unwrap();
        assert_eq!(again.wrapper, arm.wrapper);
    }

    #[test]
    fn what_it_cannot_be_is_said() {
        let error = |text: &str| ArmCommand::parse(text).unwrap_err().to_string();
        assert_eq!(
            error("sh -c 'a"),
            "--live \"sh -c 'a\": a quotation mark or a backslash lacks its other half"
        );
        assert!(error("a | b").contains("no shell runs the command, and | is a shell's: write sh -c"));
        assert!(
            error("--cpu x").contains("--cpu needs the number of a CPU") && error("--cpu").contains("needs")
        );
        assert!(
            error("kentry --budget 3").contains("--budget: --cpu is the only option"),
            "{}",
            error("kentry --budget 3")
        );
    }
}
