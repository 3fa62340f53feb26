//! What is fuzzed: a file for each target, which says what it takes and what must hold of it, and a line of [`TARGETS`].

mod anatomy;
mod calls;
pub mod document;
mod frames;
mod guest;
pub mod kernel;
mod lab_stream;
mod profile;
mod record_stream;
mod records;
mod table;

use arbitrary::{Arbitrary, Unstructured};

/// Something that takes input from outside.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// As `fuzz/run.sh` takes it, and the folder of `fuzz/corpus` with its seeds.
    pub name: &'static str,
    /// Panics where what must hold does not.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: [Target; 11] = [
    Target { name: "records", run: records::run },
    Target { name: "record_stream", run: |bytes| made(bytes, record_stream::run) },
    Target { name: "lab_stream", run: lab_stream::run },
    Target { name: "guest", run: |bytes| made(bytes, guest::run) },
    Target { name: "frames", run: frames::run },
    Target { name: "document", run: |bytes| made(bytes, document::run) },
    Target { name: "anatomy", run: anatomy::run },
    Target { name: "calls", run: calls::run },
    Target { name: "kernel", run: kernel::run },
    Target { name: "profile", run: profile::run },
    Target { name: "table", run: |bytes| made(bytes, table::run) },
];

/// Runs a target on the value that bytes stand for; on nothing where they are too few for one.
fn made<'a, T: Arbitrary<'a>>(bytes: &'a [u8], run: impl Fn(T)) {
    if bytes.len() < T::size_hint(0).0 {
        return;
    }
    if let Ok(value) = T::arbitrary_take_rest(Unstructured::new(bytes)) {
        run(value);
    }
}
