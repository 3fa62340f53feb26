//! Any bytes as what a probe wrote.

pub fn run(stream: &[u8]) {
    match record::parse(stream) {
        Ok(records) => crate::reduce(&[records]),
        Err(error) => assert!(error.offset <= stream.len(), "{error}"),
    }
}
