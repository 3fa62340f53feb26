//! How a result looks where it is written to.

use crate::options::output::{Color, OutputArgs, ShowArgs};
use crate::output::Target;
use report::{Selection, Style};

/// Width of a table that is not written to a terminal, in columns.
pub const WIDTH: usize = 100;

/// `all`: whether every row is to be shown in any case.
pub fn style(args: &ShowArgs, all: bool, target: &Target) -> Style {
    let selection = if all || args.all || args.verbose { Selection::All } else { Selection::FirstScreen };
    Style { selection, ..whole(&args.to, args.verbose, target) }
}

/// Of a result that is always shown whole.
pub fn whole(to: &OutputArgs, verbose: bool, target: &Target) -> Style {
    Style { color: is_colored(to.color, target), width: width(target), verbose, selection: Selection::All }
}

pub fn is_colored(when: Color, target: &Target) -> bool {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    match when {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => target.is_terminal() && !plain,
    }
}

pub fn width(target: &Target) -> usize {
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.filter(|_| target.is_terminal()).unwrap_or(WIDTH)
}
