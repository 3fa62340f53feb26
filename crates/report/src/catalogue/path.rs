//! What the files of a catalogue are called. Texts of runs are hostile, and file systems and servers differ in what they take: names have
//! nothing but small letters, digits, dots and hyphens.

use sha2::{Digest, Sha256};
use summary::Summary;
use table::Table;

/// So much of a text is in a name.
const LONGEST: usize = 48;

/// Bytes of the digest in a name: four, of which a catalogue of a thousand runs has two alike with a chance of one in ten thousand; then
/// [`super::machine`] tells them apart.
const DIGEST: usize = 4;

/// What the files of a run are called, but for their endings: `linux-6.1.0-56-cloud-amd64-1a2b3c4d`.
pub(super) fn slug(summary: &Summary) -> String {
    let run = &summary.run;
    let kernel = match (run.kernel.as_str(), &run.cohort.kernel_release) {
        ("linux", Some(release)) => format!("linux-{release}"),
        (kernel, _) => kernel.to_owned(),
    };
    format!("{}-{}", letters(&kernel), digest(&summary::write(summary)))
}

/// The page of a run.
pub(super) fn of_page(slug: &str) -> String {
    format!("runs/{slug}.html")
}

/// The summary of a run.
pub(super) fn of_data(slug: &str) -> String {
    format!("data/{slug}.ndjson")
}

/// The page of an entry. One that the table lacks could be called like another but for its letters.
pub(super) fn of_entry(table: &Table, entry: &str) -> String {
    match table.entry(entry) {
        Some(known) => format!("entries/{}.html", letters(&known.name)),
        None => format!("entries/{}-{}.html", letters(entry), digest(entry.as_bytes())),
    }
}

fn letters(text: &str) -> String {
    let letter = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() || c == '.' || c == '_' => c,
        _ => '-',
    };
    let name: String = text.chars().map(letter).take(LONGEST).collect();
    // No name begins with a dot, or looks as if it led out of its folder.
    let name = name.replace("..", "-");
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() { "unknown".to_owned() } else { name.to_owned() }
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(DIGEST).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_folder() {
        let of = |entry: &str| of_entry(Table::get(), entry);
        assert_eq!(of("syscall-x86_64"), "entries/syscall-x86_64.html");
        assert!(of("../a/../passwd").starts_with("entries/a---passwd-"), "{}", of("../a/../passwd"));
        assert!(of("..").starts_with("entries/unknown-"), "{}", of(".."));
        assert_ne!(of("a b"), of("a-b"), "they differ by their digests");
        assert!(of(&"x".repeat(1000)).len() < 80);
        assert_eq!(letters("6.12.117+deb13-Cloud"), "6.12.117-deb13-cloud");
    }
}
