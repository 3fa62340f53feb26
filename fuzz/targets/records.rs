//! Any bytes as what a probe wrote.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|stream: &[u8]| {
    match record::parse(stream) {
        Ok(records) => fuzz::reduce(&[records]),
        Err(error) => assert!(error.offset <= stream.len(), "{error}"),
    }
});
