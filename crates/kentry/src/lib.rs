//! The command: arguments in, a call, bytes out. Measuring, judging and rendering are other crates' subjects.
//!
//! A subcommand is a file or a folder of its name, with its arguments and what it does. [`cli`] knows all of them, and none of them knows
//! it; what several have in common is in `options` and in the other files here.

pub mod anatomy;
pub mod arguments;
pub mod bill;
pub mod catalogue;
pub mod cli;
pub mod compare;
pub mod completions;
pub mod counted;
pub mod doctor;
mod dry_run;
pub mod error;
mod exec;
mod exit;
pub mod explain;
pub mod export;
pub mod fleet;
mod help;
mod history;
pub mod impact;
pub mod init;
mod input;
pub mod lab;
pub mod linux;
pub mod list;
pub mod manual;
pub mod measure;
pub mod messages;
pub mod options;
pub mod os;
pub mod output;
pub mod prices;
pub mod probes;
mod profiles;
mod progress;
pub mod report;
pub mod reproduce;
pub mod runs;
mod saving;
pub mod show;
mod summaries;
pub mod tax;
mod this_machine;

#[cfg(test)]
#[path = "../../../tests/skipped.rs"]
mod skipped;
