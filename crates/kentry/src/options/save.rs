//! Whether and how a run is kept.

use clap::{Args, ValueHint};
use runs::Tag;

/// Whether and how a run is kept.
#[derive(Debug, Clone, Default, Args)]
pub struct SaveArgs {
    /// Do not keep this run; otherwise `kentry runs` lists it
    #[arg(long, conflicts_with_all = ["name", "tag"])]
    pub no_save: bool,
    /// Keep this run under a name, for `kentry show NAME`
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other)]
    pub name: Option<String>,
    /// Keep this run with a remark, such as commit=1a2b3c; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_hint = ValueHint::Other, hide_short_help = true)]
    pub tag: Vec<Tag>,
}
