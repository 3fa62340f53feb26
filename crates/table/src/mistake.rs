//! What can be wrong with settings: one sentence for each mistake, whichever command was given it.

use crate::{Kernel, Setting};

/// What is wrong with settings, or with a profile of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    /// There is no name, or nothing at all.
    #[error("\"{0}\" is no setting; write NAME=VALUE,NAME=VALUE")]
    NoSetting(String),
    /// No kernel that was meant has such a name.
    #[error("there is no {} \"{name}\"{hint} (there are {names}){}", called(kernels), otherwise(kernels))]
    NoName {
        /// The kernels.
        kernels: Vec<Kernel>,
        /// What was asked for.
        name: String,
        /// The nearest, in words.
        hint: String,
        /// What there is.
        names: String,
    },
    /// Another kernel has this name.
    #[error("only {} has the {} {name} (`kentry {} --set {name}=…`)", who(*owner, *asked), what(*owner), command_of(*owner, *asked))]
    Elsewhere {
        /// The kernel that was asked for it.
        asked: Kernel,
        /// The kernel that has it.
        owner: Kernel,
        /// The name.
        name: String,
    },
    /// A name without a value.
    #[error("{name} has no value here; it can be {choices}")]
    NoValue {
        /// The name.
        name: String,
        /// Its values.
        choices: String,
    },
    /// A name does not have such a value.
    #[error("\"{value}\" is no value of {name}, which can be {choices}{hint}")]
    NoSuchValue {
        /// The name.
        name: String,
        /// What was asked for.
        value: String,
        /// Its values.
        choices: String,
        /// The nearest, in words.
        hint: String,
    },
    /// One configuration is given two values of a name.
    #[error(
        "a configuration has one value of {}; `kentry {} --set {} --set {}` measures two configurations",
        settings[0].name, command(*kernel), settings[0], settings[1]
    )]
    TwoValues {
        /// The kernel that is configured.
        kernel: Kernel,
        /// Both.
        settings: [Setting; 2],
    },
    /// The same setting stands there twice.
    #[error("{0} is set twice; leave one out")]
    Twice(Setting),
    /// What a value requires, and others contradict.
    #[error("{setting} requires {}", unmet_in_words(.needs))]
    Unmet {
        /// What requires it.
        setting: Setting,
        /// What is required, and not met; at least one.
        needs: Vec<Need>,
    },
    /// A step of a profile requires one that is left out.
    #[error("--without {without}: {step} requires it; leave these out: --without {both}")]
    Needed {
        /// What was asked to be left out.
        without: String,
        /// The step that requires it.
        step: Setting,
        /// What to leave out as well, in the words of the option.
        both: String,
    },
    /// Two `--set` are the same configuration; the other.
    #[error("this is the same configuration as --set {0}; leave one of them out")]
    SameAgain(String),
    /// A step of a profile comes behind one that it does not raise.
    #[error(
        "{before} and {step} contradict each other: a later step of a switch has all that the one before it has, and more"
    )]
    NotRaised {
        /// What stands before it.
        before: Setting,
        /// The step.
        step: Setting,
    },
    /// The values of this switch are no steps.
    #[error("{0} is no step of a bill: it decides what an entry is, and a bill is of one entry as it is")]
    NoStep(String),
    /// A profile does not have such a step.
    #[error("the profile {profile} has no step \"{step}\"{hint} (there are {steps})")]
    NotInProfile {
        /// The profile.
        profile: String,
        /// What was asked for.
        step: String,
        /// The nearest, in words.
        hint: String,
        /// Its steps, and their switches.
        steps: String,
    },
    /// There is no such profile.
    #[error("there is no profile \"{name}\"{hint} (there are {names})")]
    NoProfile {
        /// What was asked for.
        name: String,
        /// The nearest, in words.
        hint: String,
        /// What there is.
        names: String,
    },
}

impl Mistake {
    /// Whether no kernel that was meant has the name that was asked for.
    pub fn is_of_a_name(&self) -> bool {
        matches!(self, Mistake::NoName { .. } | Mistake::Elsewhere { .. })
    }
}

/// The kernel that has something, to one who has asked another.
fn who(kernel: Kernel, asked: Kernel) -> &'static str {
    match kernel {
        Kernel::Lab if asked.is_lab() => "the lab's kernel for long mode",
        Kernel::LabI386 if asked.is_lab() => "the lab's kernel for protected mode",
        Kernel::Lab | Kernel::LabI386 => "the lab",
        Kernel::Linux => "a Linux",
    }
}

/// The command that asks it.
fn command_of(kernel: Kernel, asked: Kernel) -> &'static str {
    match kernel {
        Kernel::Lab if asked.is_lab() => "lab --lab-kernel x86_64",
        Kernel::LabI386 => "lab --lab-kernel i386",
        other => command(other),
    }
}

/// What a kernel's names are.
fn what(kernel: Kernel) -> &'static str {
    match kernel {
        Kernel::Lab | Kernel::LabI386 => "switch",
        Kernel::Linux => "parameter",
    }
}

fn command(kernel: Kernel) -> &'static str {
    match kernel {
        Kernel::Lab | Kernel::LabI386 => "lab",
        Kernel::Linux => "linux",
    }
}

fn called(kernels: &[Kernel]) -> String {
    let mut all: Vec<&str> = kernels.iter().map(|kernel| what(*kernel)).collect();
    all.dedup();
    all.join(" or ")
}

/// How a parameter without a name of its own is given.
fn otherwise(kernels: &[Kernel]) -> &'static str {
    if kernels == [Kernel::Linux] { "; --append gives the kernel any other, as it is written" } else { "" }
}
/// A switch of which a value is required, and has another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The switch.
    pub name: String,
    /// The values that would do.
    pub allowed: Vec<String>,
    /// The one that it has.
    pub value: String,
}

/// One with what it is; of several what to add to the `--set`.
fn unmet_in_words(needs: &[Need]) -> String {
    if let [Need { name, allowed, value }] = needs {
        return format!("{name}={}, and {name} is {value}", allowed.join(" or "));
    }
    let each: Vec<String> =
        needs.iter().map(|need| format!("{}={}", need.name, need.allowed.join("|"))).collect();
    format!("more: add {}", each.join(","))
}
