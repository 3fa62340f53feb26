//! Records with right checksums and any content: what the checksum keeps `records` from.

use crate::Said;

pub fn run(runs: Vec<Said>) {
    for said in &runs {
        let (stream, has_garbage) = said.stream();
        match record::parse(&stream) {
            Ok(records) if !has_garbage => assert_eq!(records, said.records()),
            Ok(records) => crate::reduce(&[records]),
            Err(error) => assert!(has_garbage, "{error}"),
        }
    }
    let rounds = runs.iter().flat_map(|said| std::iter::repeat_n(said.records(), said.times()));
    crate::reduce(&rounds.collect::<Vec<_>>());
}
