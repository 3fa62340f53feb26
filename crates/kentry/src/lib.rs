//! The command: arguments, plan, measurement, document, report. Nothing here prints but through [`output`].

pub mod arguments;
pub mod cli;
pub mod completions;
mod conclude;
pub mod error;
pub mod explain;
pub mod input;
pub mod lab;
pub mod locale;
pub mod manual;
pub mod measure;
pub mod output;
pub mod pager;
pub mod plan;
pub mod progress;
pub mod select;
mod state;
mod whole_file;
