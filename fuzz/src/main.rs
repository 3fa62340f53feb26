//! The targets under libFuzzer, whose coverage guides it. `FUZZ_TARGET` says which one. `fuzz/run.sh` builds and starts it.
#![no_main]

use fuzz::targets::{TARGETS, Target, document};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let known = || TARGETS.map(|target| target.name).join(", ");
    let found = TARGETS.into_iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("FUZZ_TARGET is {name:?}, which is none of {}", known()))
});

fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let number = (TARGET.name == "document" && seed.is_multiple_of(3))
        .then(|| document::with_other_number(&data[..size], seed as usize / 3))
        .flatten();
    match number {
        Some(text) if text.len() <= max_size => {
            data[..text.len()].copy_from_slice(&text);
            text.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
});
