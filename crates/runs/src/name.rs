//! How runs are called.

use document::{Machine, Place};
use std::fmt;
use std::str::FromStr;
use table::Kernel;

/// A name or tag that cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidName(String);

/// The longest name, key or value, in characters.
const LONGEST: usize = 100;

/// The fewest digits of an id that name a run.
const LEAST_OF_AN_ID: usize = 4;

/// The word that means the newest run.
const LATEST: &str = "latest";

/// Whose runs `latest` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Those of this Linux: the one that kentry ran on.
    Host,
    /// `latest:linux`: those of a Linux in a virtual machine.
    Linux,
    /// `latest:lab`: those of kentry's own kernel.
    Lab,
}

impl Of {
    const ALL: [Of; 3] = [Of::Host, Of::Linux, Of::Lab];

    /// What stands behind `latest`.
    const fn suffix(self) -> &'static str {
        match self {
            Of::Host => "",
            Of::Linux => ":linux",
            Of::Lab => ":lab",
        }
    }

    /// Whether a run of this place is one of them.
    pub fn is(self, place: &Place) -> bool {
        let is_host = place.machine.known() == Some(Machine::Host);
        match place.kernel.known() {
            Some(Kernel::Linux) => self == if is_host { Of::Host } else { Of::Linux },
            Some(Kernel::Lab | Kernel::LabI386) => self == Of::Lab,
            None => false,
        }
    }
}

/// What a command line may mean by a word: a run that is kept, if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// The newest run of these but so many.
    Latest(Of, usize),
    /// A run with this name, or whose id begins like this.
    Word(String),
}

impl FromStr for Name {
    type Err = ();

    /// Fails for what can only be a file.
    fn from_str(word: &str) -> Result<Name, ()> {
        let latest = |of: Of| Some((of, word.strip_prefix(LATEST)?.strip_prefix(of.suffix())?));
        for (of, rest) in Of::ALL.into_iter().filter_map(latest) {
            match rest.strip_prefix('~') {
                None if rest.is_empty() => return Ok(Name::Latest(of, 0)),
                None => {}
                Some("") => return Ok(Name::Latest(of, 1)),
                Some(back) if back.bytes().all(|byte| byte.is_ascii_digit()) => {
                    return back.parse().map(|back| Name::Latest(of, back)).map_err(drop);
                }
                Some(_) => return Err(()),
            }
        }
        let begins = word.starts_with(|first: char| first.is_ascii_alphanumeric());
        let is_word = begins && word.chars().all(is_letter) && word.len() <= LONGEST;
        if is_word { Ok(Name::Word(word.to_string())) } else { Err(()) }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Name::Latest(of, 0) => write!(formatter, "{LATEST}{}", of.suffix()),
            Name::Latest(of, back) => write!(formatter, "{LATEST}{}~{back}", of.suffix()),
            Name::Word(word) => formatter.write_str(word),
        }
    }
}

impl Name {
    /// How many runs there are of those that it means: `only 2 runs of this host are`.
    pub(crate) fn so_many(&self, kept: Option<usize>) -> String {
        let of = match self {
            Name::Latest(Of::Host, _) => " of this host",
            Name::Latest(Of::Linux, _) => " of a Linux in a guest",
            Name::Latest(Of::Lab, _) => " of the lab",
            Name::Word(_) => "",
        };
        match kept {
            None => format!("no run{of} is"),
            Some(1) => format!("only 1 run{of} is"),
            Some(kept) => format!("only {kept} runs{of} are"),
        }
    }
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '+' | ':')
}

/// Whether a word may be the beginning of an id.
pub(crate) fn may_be_id(word: &str) -> bool {
    word.len() >= LEAST_OF_AN_ID
        && word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Checks a name that is to be given to a run.
///
/// # Errors
/// [`InvalidName`] for what could be taken for a file, an id, an option or `latest`.
pub fn is_name(word: &str) -> Result<(), InvalidName> {
    let wrong = |why: &str| Err(InvalidName(format!("{why}; a name is, for example, before-update")));
    match word.parse() {
        Err(()) => {
            wrong("a run's name begins with a letter or a digit and has at most 100 of these and of - _ + :")
        }
        Ok(Name::Latest(..)) => wrong("\"latest\" always means the newest run"),
        Ok(Name::Word(_)) if may_be_id(word) => wrong("this could be taken for the id of a run"),
        Ok(Name::Word(_)) => Ok(()),
    }
}

/// A tag: what somebody wants to remember of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// What it is about.
    pub key: String,
    /// What it says; empty to remove it.
    pub value: String,
}

impl FromStr for Tag {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Tag, InvalidName> {
        let wrong = |why: &str| Err(InvalidName(format!("{why}; a tag is, for example, commit=1a2b3c")));
        let Some((key, value)) = text.split_once('=') else {
            return wrong("this is not KEY=VALUE");
        };
        if key.is_empty() || key.len() > LONGEST || !key.chars().all(is_letter) || key.starts_with('-') {
            return wrong("a tag's key has at most 100 letters, digits, and - _ + :");
        }
        if value.chars().count() > LONGEST || value.chars().any(char::is_control) {
            return wrong("a tag's value is a line of at most 100 characters");
        }
        Ok(Tag { key: key.to_string(), value: value.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_runs_and_paths_do_not() {
        let name = |word: &str| word.parse::<Name>();
        assert_eq!(name("latest"), Ok(Name::Latest(Of::Host, 0)));
        assert_eq!(name("latest~"), Ok(Name::Latest(Of::Host, 1)));
        assert_eq!(name("latest~12"), Ok(Name::Latest(Of::Host, 12)));
        assert_eq!(name("latest:lab"), Ok(Name::Latest(Of::Lab, 0)));
        assert_eq!(name("latest:linux~2"), Ok(Name::Latest(Of::Linux, 2)));
        assert_eq!(name("latest:linux-6"), Ok(Name::Word("latest:linux-6".into())));
        assert_eq!(name("latest-good"), Ok(Name::Word("latest-good".into())));
        assert_eq!(name("5cf91bd6"), Ok(Name::Word("5cf91bd6".into())));
        for path in [
            "",
            "-",
            "-x",
            "-x/y",
            "./latest",
            "run.json",
            "a b",
            "latest~x",
            "latest~99999999999999999999",
            "ä",
        ] {
            assert_eq!(name(path), Err(()), "{path}");
        }
        for word in ["latest", "latest~3", "latest:lab", "latest:linux~1", "before"] {
            assert_eq!(name(word).unwrap().to_string(), word);
        }
    }

    #[test]
    fn a_name_is_taken_for_nothing_else() {
        assert_eq!(is_name("before-update"), Ok(()));
        assert_eq!(is_name("abc"), Ok(()), "too short for an id");
        for (word, why) in [
            ("latest", "newest"),
            ("latest~1", "newest"),
            ("abcd", "id"),
            ("run.json", "begins with a letter"),
            ("", "begins with a letter"),
            ("-x", "begins with a letter"),
        ] {
            let said = is_name(word).unwrap_err().to_string();
            assert!(said.contains(why), "{word}: {said}");
        }
    }

    #[test]
    fn a_tag_is_a_key_and_a_line() {
        let tag = |text: &str| text.parse::<Tag>();
        assert_eq!(tag("commit=1a=2b").unwrap(), Tag { key: "commit".into(), value: "1a=2b".into() });
        assert_eq!(tag("commit=").unwrap().value, "");
        for wrong in ["commit", "=x", "a b=c", "-k=v", "k=a\nb", &format!("k={}", "x".repeat(101))] {
            assert!(tag(wrong).is_err(), "{wrong}");
        }
    }
}
