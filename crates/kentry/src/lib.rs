//! The command: arguments, plan, measurement, document, report. Nothing here prints but through [`output`].

pub mod cli;
mod conclude;
pub mod error;
pub mod explain;
pub mod input;
pub mod lab;
pub mod measure;
pub mod output;
pub mod plan;
pub mod progress;
pub mod select;
mod state;
