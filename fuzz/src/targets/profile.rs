//! Any bytes as a seccomp profile.

use layers::{LAYERS, Profile, Word};

/// Instructions that a kernel takes at most.
const MOST: usize = 4096;

pub fn run(bytes: &[u8]) {
    let made = Profile::parse(bytes).and_then(|profile| profile.compile([6, 12]));
    let Ok(made) = made else { return };
    assert!((1..=MOST).contains(&made.program.len()), "a kernel takes it");
    let layer = LAYERS.iter().find(|layer| layer.kind == layers::Kind::Profile).copied();
    let word =
        layer.map(|layer| Word { layer, filter: Some((made.program.clone(), made.allows_speculation)) });
    let again = word.as_ref().map(|word| word.to_string().parse::<Word>());
    assert_eq!(again, word.map(Ok), "it can be handed on");
}
