//! The lab kernel's entry paths, as its file has them: the templates that `lab/entry/path.inc` writes, what is attached to
//! their hooks, and everything that `lab/entry/path.c` does not check when it builds them.

mod check;
mod file;
mod laid;
mod listing;
mod template;

pub use check::check;
pub use file::{Error, File};
pub use laid::{Instead, LaidStep, Layout, NotLaid};
pub use listing::{Line, disassemble, gnu_formatter};
pub use template::{Beside, Condition, Executed, More, Path, Paths, Step, Steps};
