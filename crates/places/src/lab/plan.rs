//! What the lab kernel is to do: the text of `abi/lab.h`.

use crate::lab::Mode;
use record::abi;
use std::fmt::Write;
use table::SwitchValues;

/// In a set line, the value that a switch had at boot: its first where the processor lacks what the default needs. No switch has a value of
/// this name.
pub const DEFAULT: &str = "default";

/// One line of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Which of the lab's kernels it is for: another refuses it.
    Kernel(Mode),
    /// The seed of the address layout and of random bytes.
    Seed(u64),
    /// CLOCK_REALTIME at boot, seconds.
    Time(u64),
    /// Frequency of the time stamp counter, hertz, where it is known from outside.
    Tsc(u64),
    /// A program is ended after this many ticks; 0 means never.
    Limit(u64),
    /// Switches and their values; those that are not named stay as they are.
    Set(Vec<(String, String)>),
    /// A probe of the archive, with its arguments; exceptions are served as system calls.
    Run {
        /// Its name in the archive.
        file: String,
        /// Its arguments, without the program's name.
        arguments: Vec<String>,
    },
    /// A static program of the archive, as Linux would run it.
    Exec {
        /// Its name in the archive.
        file: Vec<u8>,
        /// Its arguments, without the program's name.
        arguments: Vec<Vec<u8>>,
    },
    /// The same, but exceptions are served as system calls, as for a probe.
    Serve {
        /// Its name in the archive.
        file: Vec<u8>,
        /// Its arguments, without the program's name.
        arguments: Vec<Vec<u8>>,
    },
    /// A program like that of `Run`, which runs together with that of the next `Run`, `Exec` or `Serve`.
    Beside {
        /// Its name in the archive.
        file: String,
        /// Its arguments, without the program's name.
        arguments: Vec<String>,
    },
    /// One of the kernel's own checks.
    Check(String),
    /// What the places of paths in their slots are drawn from; 0 means that they begin their slots.
    Layout(u64),
    /// The steps of the path of this name, as it is built.
    Listing(String),
    /// From here on, a step that has no effect without a feature is executed without it.
    Harmless,
    /// Show the table on the console while measuring.
    Screen,
}

impl Line {
    /// Whether the line has a number, by which the guest reports its result.
    fn is_numbered(&self) -> bool {
        matches!(
            self,
            Line::Run { .. } | Line::Exec { .. } | Line::Serve { .. } | Line::Check(_) | Line::Listing(_)
        )
    }

    fn text(&self) -> String {
        match self {
            Line::Kernel(mode) => format!("kernel {}", mode.name()),
            Line::Seed(seed) => format!("seed {seed}"),
            Line::Time(seconds) => format!("time {seconds}"),
            Line::Tsc(hertz) => format!("tsc {hertz}"),
            Line::Limit(ticks) => format!("limit {ticks}"),
            Line::Set(switches) => switches.iter().fold("set".into(), |mut line, (switch, value)| {
                // Writing to a String cannot fail.
                let _ = write!(line, " {switch}={value}");
                line
            }),
            Line::Run { file, arguments } => words("run", file.as_bytes(), arguments),
            Line::Exec { file, arguments } => words("exec", file, arguments),
            Line::Serve { file, arguments } => words("run", file, arguments),
            Line::Beside { file, arguments } => words("beside", file.as_bytes(), arguments),
            Line::Check(name) => words::<&str>("check", name.as_bytes(), &[]),
            Line::Layout(number) => format!("layout {number}"),
            Line::Listing(path) => words::<&str>("listing", path.as_bytes(), &[]),
            Line::Harmless => "harmless".into(),
            Line::Screen => "screen".into(),
        }
    }
}

fn words<A: AsRef<[u8]>>(verb: &str, file: &[u8], arguments: &[A]) -> String {
    let mut line = format!("{verb} {}", encoded(file));
    for argument in arguments {
        line.push(' ');
        line.push_str(&encoded(argument.as_ref()));
    }
    line
}

/// Percent-encoded: every byte outside of `!` to `~`, and the percent sign.
fn encoded(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_graphic() && *byte != b'%' {
            out.push(char::from(*byte));
        } else {
            let _ = write!(out, "%{byte:02x}");
        }
        out
    })
}

/// Everything that the lab kernel does in one boot, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The lines, without the first, which contains the version.
    pub lines: Vec<Line>,
}

impl Plan {
    /// How many programs and checks there are; they are numbered from 0.
    pub fn numbered(&self) -> usize {
        self.lines.iter().filter(|line| line.is_numbered()).count()
    }

    /// The set lines: how many programs and checks are before each, and what it sets.
    pub(crate) fn sets(&self) -> Vec<(u64, &[(String, String)])> {
        let mut programs = 0;
        let mut sets = Vec::new();
        for line in &self.lines {
            programs += u64::from(line.is_numbered());
            if let Line::Set(values) = line {
                sets.push((programs, values.as_slice()));
            }
        }
        sets
    }

    /// What is set before the program or check of this number: of each switch that set lines before it name, the last value; none of a
    /// switch that is at its default again.
    pub fn set_before(&self, number: u64) -> SwitchValues {
        let before = self.sets().into_iter().take_while(|(programs, _)| *programs <= number);
        let mut last: SwitchValues = before.flat_map(|(_, values)| values).cloned().collect();
        last.retain(|_, value| value != DEFAULT);
        last
    }

    /// The same for a machine that ignores registers which it does not know, as QEMU's emulation does: what steps need of the
    /// processor counts as met where they have no effect without it. Any other machine raises an exception at their first entry.
    pub fn harmlessly(mut self) -> Plan {
        let is_head = |line: &Line| {
            matches!(line, Line::Kernel(_) | Line::Seed(_) | Line::Time(_) | Line::Tsc(_) | Line::Screen)
        };
        let head = self.lines.iter().take_while(|line| is_head(line)).count();
        self.lines.insert(head, Line::Harmless);
        self
    }

    /// The plan's text.
    pub fn render(&self) -> String {
        let mut text = format!("lab {}\n", abi::LAB_VERSION);
        for line in &self.lines {
            text.push_str(&line.text());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_of_every_step() {
        let plan = Plan {
            lines: vec![
                Line::Kernel(Mode::Protected),
                Line::Seed(7),
                Line::Time(1_700_000_000),
                Line::Tsc(1_000_000_000),
                Line::Limit(5),
                Line::Set(vec![("pti".into(), "on".into()), ("smap".into(), "off".into())]),
                Line::Beside { file: "other".into(), arguments: vec!["3".into()] },
                Line::Run { file: "probe64".into(), arguments: vec!["1".into(), "2".into()] },
                Line::Exec {
                    file: b"a b".to_vec(),
                    arguments: vec![b"100%".to_vec(), b"".to_vec(), "\u{e9}\n\0~!".into()],
                },
                Line::Check("pti".into()),
                Line::Layout(9),
                Line::Listing("int80".into()),
                Line::Harmless,
                Line::Screen,
            ],
        };
        assert_eq!(
            plan.render(),
            "lab 4\nkernel lab-i386\nseed 7\ntime 1700000000\ntsc 1000000000\nlimit 5\nset pti=on smap=off\nbeside other 3\n\
             run probe64 1 2\n\
             exec a%20b 100%25  %c3%a9%0a%00~!\ncheck pti\nlayout 9\nlisting int80\nharmless\nscreen\n"
        );
        assert_eq!(plan.numbered(), 4);
    }

    #[test]
    fn what_is_set_before_a_program_is_the_last_value_of_each_switch() {
        let set = |name: &str, value: &str| Line::Set(vec![(name.into(), value.into())]);
        let check = || Line::Check("pti".into());
        let lines = vec![
            set("pti", "on"),
            check(),
            set("pti", "off"),
            set("smap", "off"),
            check(),
            set("pti", DEFAULT),
            check(),
        ];
        let plan = Plan { lines };
        let before =
            |number: u64| plan.set_before(number).into_iter().map(|(name, value)| format!("{name}={value}"));
        assert_eq!(before(0).collect::<Vec<_>>(), ["pti=on"]);
        assert_eq!(before(1).collect::<Vec<_>>(), ["pti=off", "smap=off"]);
        assert_eq!(before(2).collect::<Vec<_>>(), ["smap=off"]);
    }

    #[test]
    fn no_switch_has_a_value_called_default() {
        let values = table::Table::get().switches.iter().flat_map(|switch| &switch.values);
        assert!(values.into_iter().all(|value| value != DEFAULT));
    }

    #[test]
    fn what_is_harmless_is_said_behind_the_head() {
        let plan = Plan { lines: vec![Line::Time(1), Line::Seed(2), Line::Limit(3), Line::Screen] };
        assert_eq!(plan.harmlessly().render(), "lab 4\ntime 1\nseed 2\nharmless\nlimit 3\nscreen\n");
        assert_eq!(Plan::default().harmlessly().render(), "lab 4\nharmless\n");
    }

    #[test]
    fn a_line_is_one_line_whatever_the_arguments() {
        let bytes: Vec<u8> = (0..=255).collect();
        let line = Line::Exec { file: bytes.clone(), arguments: vec![bytes] };
        let line = line.text();
        assert!(line.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()), "{line}");
        assert_eq!(line.split(' ').count(), 3);
    }
}
