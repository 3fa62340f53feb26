//! What pages of HTML have in common: their head, their styles and scripts, and the policy that lets a browser run these alone.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

/// Styles of every page.
pub(crate) const STYLE: &str = include_str!("../assets/page.css");

/// What every page's scripts need: the theme, and elements with text in them.
pub(crate) const COMMON: &str = include_str!("../assets/common.js");

/// The head of a page, and its scripts.
pub(crate) struct Frame {
    pub policy: String,
    pub version: &'static str,
    /// Plain, and not escaped yet.
    pub title: String,
    /// To the byte: the policy names their hashes.
    pub styles: Vec<&'static str>,
    pub scripts: Vec<&'static str>,
}

impl Frame {
    /// Styles and scripts in the order in which they count.
    pub fn new(title: String, styles: &[&'static str], scripts: &[&'static str]) -> Frame {
        Frame {
            policy: policy(styles, scripts),
            version: env!("CARGO_PKG_VERSION"),
            title,
            styles: styles.to_vec(),
            scripts: scripts.to_vec(),
        }
    }
}

/// A page's Content-Security-Policy: nothing is loaded, nothing is sent, no other script or style counts, and
/// no text can become markup once the page is there. The empty icon is the page's own, so that a browser asks for none.
fn policy(styles: &[&str], scripts: &[&str]) -> String {
    let hashes = |texts: &[&str]| texts.iter().map(|text| hash(text)).collect::<Vec<_>>().join(" ");
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hashes(scripts),
        hashes(styles),
    )
}

fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// Whether a parser of HTML leaves a style or a script as it is: it ends an element at its end tag, whatever the language inside, and turns
/// some characters into others, so that the hash would no longer fit.
#[cfg(test)]
pub(crate) fn stays(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    !lower.contains("</s") && !lower.contains("<!--") && !text.contains(['\r', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_written_as_browsers_expect_it() {
        assert_eq!(hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }

    #[test]
    fn no_asset_ends_its_own_element() {
        assert!([STYLE, COMMON].into_iter().all(stays));
        assert!(!stays("let x = '</Script>'") && !stays("\r"));
    }
}
