//! A layer as one word of a command line: its name, and for a profile the filter that was made of it.

use crate::bpf::Program;
use crate::layer::{Kind, Layer, NOTHING};
use std::str::FromStr;

/// Before the filter's digits: `+` leaves speculation alone, `!` may force SSBD.
const ALLOWS: char = '+';
const FORCES: char = '!';

/// A layer, ready to be put on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Which.
    pub layer: Layer,
    /// The filter of a profile, and whether it leaves speculation alone; none for all other layers.
    pub filter: Option<(Program, bool)>,
}

impl From<Layer> for Word {
    /// Of a layer that needs no filter from elsewhere.
    fn from(layer: Layer) -> Word {
        Word { layer, filter: None }
    }
}

impl std::fmt::Display for Word {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        match &self.filter {
            None => out.write_str(self.layer.name),
            Some((program, allows)) => {
                let mark = if *allows { ALLOWS } else { FORCES };
                write!(out, "{}{mark}{}", self.layer.name, program.to_hex())
            }
        }
    }
}

impl FromStr for Word {
    type Err = String;

    fn from_str(text: &str) -> Result<Word, String> {
        let (name, filter) = match text.split_once([ALLOWS, FORCES]) {
            None => (text, None),
            Some((name, digits)) => {
                let program = Program::from_hex(digits).ok_or("its filter is damaged")?;
                (name, Some((program, text.contains(ALLOWS))))
            }
        };
        let layer = if name == NOTHING.name { Some(&NOTHING) } else { Layer::named(name) };
        let layer = *layer.ok_or("there is no such layer")?;
        if filter.is_some() != (layer.kind == Kind::Profile) {
            return Err("a profile needs its filter, and no other layer has one".into());
        }
        Ok(Word { layer, filter })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::Looks;
    use crate::layer::LAYERS;

    #[test]
    fn every_layer_comes_back_from_its_word() {
        for layer in LAYERS.into_iter().chain([NOTHING]) {
            let program = || Program::of_rules(3, Looks::AtNumber);
            for allows in [true, false] {
                let filter = (layer.kind == Kind::Profile).then(|| (program(), allows));
                let word = Word { layer, filter };
                assert_eq!(word.to_string().parse(), Ok(word));
            }
        }
    }

    #[test]
    fn what_is_no_word_is_refused() {
        for text in
            ["", "nothing", "ssbd+06000000", "seccomp-profile", "seccomp-profile+", "seccomp-profile+0"]
        {
            assert!(text.parse::<Word>().is_err(), "{text}");
        }
    }
}
