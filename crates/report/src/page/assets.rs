//! What every page carries: styles, scripts, and the policy that lets a browser run these alone.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

/// The texts of a page that are the same in every one.
pub(super) struct Assets {
    pub style: &'static str,
    pub script: &'static str,
    /// uPlot, as its makers publish it.
    pub chart_style: &'static str,
    pub chart_script: &'static str,
    pub chart_license: &'static str,
}

pub(super) const ASSETS: Assets = Assets {
    style: include_str!("../../assets/page.css"),
    script: include_str!("../../assets/page.js"),
    chart_style: include_str!("../../assets/uplot/uPlot.min.css"),
    chart_script: include_str!("../../assets/uplot/uPlot.iife.min.js"),
    chart_license: include_str!("../../assets/uplot/LICENSE-uPlot"),
};

/// The page's Content-Security-Policy: nothing is loaded, nothing is sent, no other script or style counts, and
/// no text can become markup once the page is there. The empty icon is the page's own, so that a browser asks for none.
pub(super) fn policy() -> String {
    format!(
        "default-src 'none'; script-src {} {}; style-src {} {}; img-src data:; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(ASSETS.chart_script),
        hash(ASSETS.script),
        hash(ASSETS.chart_style),
        hash(ASSETS.style),
    )
}

fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_written_as_browsers_expect_it() {
        assert_eq!(hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }

    /// A parser of HTML ends an element at its end tag, whatever the language inside.
    #[test]
    fn no_asset_ends_its_own_element() {
        for text in [ASSETS.style, ASSETS.chart_style, ASSETS.script, ASSETS.chart_script] {
            let lower = text.to_ascii_lowercase();
            assert!(!lower.contains("</s") && !lower.contains("<!--"));
            // A parser turns these into line feeds, and the hash would no longer fit.
            assert!(!text.contains(['\r', '\0']));
        }
    }
}
