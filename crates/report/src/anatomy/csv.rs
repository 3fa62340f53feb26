//! Followed paths as CSV: a line for each instruction.

use super::words::place;
use crate::Error;
use crate::csv::records;
use attribution::anatomy::Document;

const NAMES: [&str; 15] = [
    "entry",
    "operation",
    "release",
    "configuration",
    "number",
    "ring",
    "address",
    "place",
    "depth",
    "bytes",
    "text",
    "part",
    "confidence",
    "idle",
    "cpu",
];

pub(super) fn render(document: &Document) -> Result<Vec<u8>, Error> {
    let header = NAMES.map(str::to_owned).to_vec();
    let lines = document.paths.iter().flat_map(|path| {
        let anatomy = &path.anatomy;
        anatomy.instructions.iter().enumerate().map(move |(number, one)| {
            let texts = [
                anatomy.entry.clone(),
                anatomy.operation.clone(),
                path.configuration.release.clone(),
                path.configuration.name(),
                number.to_string(),
                one.ring.to_string(),
                format!("{:#x}", one.address),
                place(one),
                one.depth.to_string(),
                one.bytes.clone(),
                one.text.clone(),
                one.part.name().to_owned(),
                one.confidence.name().to_owned(),
                one.idle.to_string(),
                path.configuration.cpu.clone(),
            ];
            texts.into()
        })
    });
    records(std::iter::once(header).chain(lines))
}
