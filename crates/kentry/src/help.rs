//! The help of the whole command: its subcommands in groups, which clap does not make itself.

use crate::cli::Cli;
use clap::builder::styling::{Style, Styles};
use clap::{Command, CommandFactory};
use textwrap::Options;

/// Subcommands by what they are about, in the order in which a new user meets them.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "This machine",
        &["measure", "doctor", "impact", "tax", "compare", "show", "report", "runs", "list", "explain"],
    ),
    ("Many machines", &["fleet", "export", "catalogue"]),
    ("Laboratory", &["lab", "linux", "bill", "anatomy", "reproduce"]),
    ("Shell", &["completions", "man"]),
];

/// Lines are no longer than this, however wide the terminal is; clap's own limit where it knows no width.
const WIDEST: usize = 100;

/// The command, whose help names its subcommands group by group.
pub fn command() -> Command {
    let command = Cli::command();
    let styles = command.get_styles().clone();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{}\n{{options}}{{after-help}}",
        groups(&command, &styles, width()),
        styled(styles.get_header(), "Options of measure:")
    );
    command.help_template(template)
}

fn width() -> usize {
    let of_terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let of_environment = || std::env::var("COLUMNS").ok()?.parse().ok();
    of_terminal.or_else(of_environment).unwrap_or(WIDEST).min(WIDEST)
}

fn groups(command: &Command, styles: &Styles, width: usize) -> String {
    let widest = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (heading, names) in GROUPS {
        out.push_str(&styled(styles.get_header(), &format!("{heading}:")));
        out.push('\n');
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            out.push_str(&line(styles, name, &about.unwrap_or_default(), widest, width));
        }
        out.push('\n');
    }
    out
}

/// A name and what it does, which is wrapped behind it.
fn line(styles: &Styles, name: &str, about: &str, widest: usize, width: usize) -> String {
    let indent = " ".repeat(widest + 4);
    let options =
        Options::new(width.max(indent.len() + 20)).initial_indent(&indent).subsequent_indent(&indent);
    let wrapped = textwrap::fill(about, options);
    let blank = " ".repeat(widest - name.len() + 2);
    format!("  {}{blank}{}\n", styled(styles.get_literal(), name), wrapped.trim_start())
}

fn styled(style: &Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_that_is_shown_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
        shown.sort_unstable();
        assert_eq!(grouped, shown);
    }

    #[test]
    fn lines_are_wrapped_behind_the_name() {
        for width in [60, 80, 100] {
            let text = groups(&Cli::command(), &Styles::plain(), width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            assert!(text.lines().any(|line| line.starts_with("  measure ")), "{text}");
        }
    }
}
