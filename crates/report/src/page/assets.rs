//! Styles and scripts of a page about runs.

use crate::frame::{COMMON, STYLE};

const SCRIPT: &str = include_str!("../../assets/page.js");

/// uPlot, as its makers publish it.
const CHART_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");
const CHART_SCRIPT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");

pub(super) const CHART_LICENSE: &str = include_str!("../../assets/uplot/LICENSE-uPlot");

pub(super) const STYLES: [&str; 2] = [CHART_STYLE, STYLE];

/// Of a page that has charts; others do without the first.
pub(super) const SCRIPTS: [&str; 3] = [CHART_SCRIPT, COMMON, SCRIPT];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::stays;

    #[test]
    fn no_asset_ends_its_own_element() {
        assert!(STYLES.into_iter().chain(SCRIPTS).all(stays));
    }
}
