//! What the lab kernel is to do: the text of `abi/lab.h`.

use record::abi;
use std::fmt::Write;

/// One line of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// What address layout and random bytes are drawn from.
    Seed(u64),
    /// CLOCK_REALTIME at boot, seconds.
    Time(u64),
    /// Frequency of the time stamp counter, hertz, where it is known from outside.
    Tsc(u64),
    /// Ticks after which a program is ended; 0: never.
    Limit(u64),
    /// Switches and their values; those that are not named stay as they are.
    Set(Vec<(String, String)>),
    /// A probe of the archive, with its arguments; exceptions serve as system calls.
    Run {
        /// Its name in the archive.
        file: String,
        /// After the program's name.
        arguments: Vec<String>,
    },
    /// Any program of the archive, as Linux would run it.
    Exec {
        /// Its name in the archive.
        file: Vec<u8>,
        /// After the program's name.
        arguments: Vec<Vec<u8>>,
    },
    /// One of the kernel's own checks.
    Check(String),
    /// Show the table on the console while measuring.
    Screen,
}

impl Step {
    /// Whether it has a number, by which the guest says how it went.
    fn is_numbered(&self) -> bool {
        matches!(self, Step::Run { .. } | Step::Exec { .. } | Step::Check(_))
    }

    fn line(&self) -> String {
        match self {
            Step::Seed(seed) => format!("seed {seed}"),
            Step::Time(seconds) => format!("time {seconds}"),
            Step::Tsc(hertz) => format!("tsc {hertz}"),
            Step::Limit(ticks) => format!("limit {ticks}"),
            Step::Set(switches) => switches.iter().fold("set".into(), |mut line, (switch, value)| {
                // Writing to a String cannot fail.
                let _ = write!(line, " {switch}={value}");
                line
            }),
            Step::Run { file, arguments } => words("run", file.as_bytes(), arguments),
            Step::Exec { file, arguments } => words("exec", file, arguments),
            Step::Check(name) => words::<&str>("check", name.as_bytes(), &[]),
            Step::Screen => "screen".into(),
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
    /// After the line with the version.
    pub steps: Vec<Step>,
}

impl Plan {
    /// How many programs and checks there are; they are numbered from 0.
    pub fn numbered(&self) -> usize {
        self.steps.iter().filter(|step| step.is_numbered()).count()
    }

    /// The plan's text.
    pub fn render(&self) -> String {
        let mut text = format!("lab {}\n", abi::LAB_VERSION);
        for step in &self.steps {
            text.push_str(&step.line());
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
            steps: vec![
                Step::Seed(7),
                Step::Time(1_700_000_000),
                Step::Tsc(1_000_000_000),
                Step::Limit(5),
                Step::Set(vec![("pti".into(), "on".into()), ("smap".into(), "off".into())]),
                Step::Run { file: "probe64".into(), arguments: vec!["1".into(), "2".into()] },
                Step::Exec {
                    file: b"a b".to_vec(),
                    arguments: vec![b"100%".to_vec(), b"".to_vec(), "\u{e9}\n\0~!".into()],
                },
                Step::Check("pti".into()),
                Step::Screen,
            ],
        };
        assert_eq!(
            plan.render(),
            "lab 1\nseed 7\ntime 1700000000\ntsc 1000000000\nlimit 5\nset pti=on smap=off\nrun probe64 1 2\n\
             exec a%20b 100%25  %c3%a9%0a%00~!\ncheck pti\nscreen\n"
        );
        assert_eq!(plan.numbered(), 3);
    }

    #[test]
    fn a_line_is_one_line_whatever_the_arguments() {
        let bytes: Vec<u8> = (0..=255).collect();
        let step = Step::Exec { file: bytes.clone(), arguments: vec![bytes] };
        let line = step.line();
        assert!(line.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()), "{line}");
        assert_eq!(line.split(' ').count(), 3);
    }
}
