//! Words of a kernel's command line.

use std::fmt;

/// Words, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(Vec<String>);

impl Words {
    /// Those of a text, as the kernel reads it: quotation marks keep blanks in a word.
    pub fn of(text: &str) -> Words {
        Words(environment::command_line_words(text).into_iter().map(str::to_string).collect())
    }

    /// These, and behind them others.
    pub fn and(mut self, more: Words) -> Words {
        self.0.extend(more.0);
        self
    }

    /// Each.
    pub fn each(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl<'a> FromIterator<&'a str> for Words {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Words {
        texts.into_iter().map(Words::of).fold(Words::default(), Words::and)
    }
}

impl fmt::Display for Words {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.0.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_part_words_unless_they_are_quoted() {
        let words = Words::of("  quiet dyndbg=\"file a +p\"\tpti=on ");
        assert_eq!(words.each().collect::<Vec<_>>(), ["quiet", "dyndbg=\"file a +p\"", "pti=on"]);
        assert_eq!(words.to_string(), "quiet dyndbg=\"file a +p\" pti=on");
        assert_eq!(Words::of(" ").to_string(), "");
    }
}
