//! The command: arguments in, a call, bytes out. Measuring, judging and rendering are other crates' subjects.

pub mod arguments;
pub mod arm;
pub mod cli;
pub mod compare_args;
pub mod compare_sides;
pub mod completions;
pub mod dry_run;
pub mod error;
pub mod exec;
pub mod explain;
pub mod gate_rules;
pub mod history;
pub mod input;
pub mod listing;
pub mod live_command;
pub mod locale;
pub mod manual;
pub mod output;
pub mod pager;
pub mod probe_files;
pub mod progress;
pub mod saving;
pub mod stack;
pub mod this_machine;
pub mod time_args;
