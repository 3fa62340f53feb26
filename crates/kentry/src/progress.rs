//! Progress on standard error, when that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use measure::Progress;

const STEPS: u64 = 1000;

/// A bar that is erased when it is dropped, so that it does not mix with the result.
pub struct Bar(ProgressBar);

impl Default for Bar {
    fn default() -> Self {
        Self::new()
    }
}

impl Bar {
    /// A bar; nothing is drawn unless standard error is a terminal.
    pub fn new() -> Bar {
        let bar = ProgressBar::new(STEPS);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {wide_msg}") {
            bar.set_style(style);
        }
        Bar(bar)
    }

    /// Shows the share of the time that is used up, what is being measured, and how quiet the machine is.
    pub fn show(&self, progress: Progress) {
        let (entry, operation) = progress.row;
        let quiet = progress.quiet.map(|share| format!("quiet {:.0} % of the time; ", share * 100.0));
        self.0.set_message(format!("{}{} {}", quiet.unwrap_or_default(), entry.name, operation.name));
        self.0.set_position(((progress.share * STEPS as f64) as u64).min(STEPS));
    }

    /// Shows a share of the whole, and in words what that is about.
    pub fn say(&self, share: f64, what: &str) {
        self.0.set_message(what.to_string());
        self.0.set_position(((share * STEPS as f64) as u64).min(STEPS));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
