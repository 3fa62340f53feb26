//! Words that many runs have in common, each kept once.

use std::collections::HashMap;
use std::sync::Arc;

/// Stands for a word of one [`Words`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word(u32);

#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    by_text: HashMap<Arc<str>, Word>,
    texts: Vec<Arc<str>>,
}

impl Words {
    /// The word for a text.
    pub fn of(&mut self, text: &str) -> Word {
        if let Some(word) = self.by_text.get(text) {
            return *word;
        }
        let word = Word(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let text: Arc<str> = text.into();
        self.texts.push(text.clone());
        self.by_text.insert(text, word);
        word
    }

    /// The text of a word of these.
    pub fn text(&self, word: Word) -> &str {
        self.texts.get(word.0 as usize).map_or("", |text| text)
    }
}
