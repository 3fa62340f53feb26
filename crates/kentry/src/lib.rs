//! The command: arguments in, a call, bytes out. Measuring, judging and rendering are other crates' subjects.

pub mod anatomy_args;
pub mod anatomy_paths;
pub mod arguments;
pub mod arm;
pub mod bill_args;
pub mod bill_listing;
pub mod cli;
pub mod compare_anatomies;
pub mod compare_args;
pub mod compare_sides;
pub mod completions;
pub mod dry_run;
pub mod error;
pub mod exec;
pub mod explain;
pub mod footprint_args;
pub mod gate_rules;
pub mod guest_args;
pub mod help;
pub mod history;
pub mod init;
pub mod input;
pub mod interrupts;
pub mod linux_args;
pub mod linux_exec;
pub mod linux_machine;
pub mod listing;
pub mod live_command;
pub mod locale;
pub mod manual;
pub mod memory;
pub mod output;
pub mod pager;
pub mod probe_files;
pub mod profiles;
pub mod progress;
pub mod room;
pub mod row_args;
pub mod saving;
pub mod stack;
pub mod standard;
pub mod this_machine;
pub mod time_args;
pub mod too_noisy;

#[cfg(test)]
#[path = "../../../tests/skipped.rs"]
mod skipped;
