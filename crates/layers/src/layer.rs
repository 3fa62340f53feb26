//! The layers, each named once.

use crate::bpf::Looks;

/// What a layer is, as far as putting it on is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The program alone, started as under every other layer.
    Nothing,
    /// A seccomp filter of so many rules, none of which is about a call that is measured.
    Filter {
        /// Its rules.
        rules: u16,
        /// What it looks at.
        looks: Looks,
        /// Whether it leaves the process's speculation alone (SECCOMP_FILTER_FLAG_SPEC_ALLOW).
        allows_speculation: bool,
    },
    /// A filter of a profile as container runtimes have it.
    Profile,
    /// Speculative store bypass is off for the process.
    Ssbd,
    /// A supervisor answers every call.
    Notify,
    /// A tracer stops each call twice.
    Ptrace,
    /// A tracer stops other calls alone.
    PtraceFilter,
    /// Calls from outside of a range of addresses are sent back as signals, and all addresses are within it.
    Dispatch,
    /// Events count the tracepoints sys_enter and sys_exit.
    Tracepoint,
    /// A BPF program runs at both.
    Bpf,
    /// Files are restricted to what is below `/`, which is everything.
    Landlock,
}

/// What layers have in common; a report says one thing of each group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Filters that the kernel runs at each call.
    Filters,
    /// What the processor may guess.
    Speculation,
    /// Other processes that are asked at each call.
    Supervisors,
    /// What else the kernel does at each call.
    Hooks,
    /// What the kernel asks when something is opened.
    Access,
}

impl Group {
    /// In the order in which they are shown.
    pub const ALL: [Group; 5] =
        [Group::Filters, Group::Speculation, Group::Supervisors, Group::Hooks, Group::Access];

    /// As a heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Filters => "seccomp filters",
            Group::Speculation => "speculation",
            Group::Supervisors => "supervisors",
            Group::Hooks => "hooks of the kernel",
            Group::Access => "access control",
        }
    }
}

/// A layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer {
    /// As written on the command line; it never becomes something else, because documents have it.
    pub name: &'static str,
    /// In a few words.
    pub what: &'static str,
    /// What it stands beside.
    pub group: Group,
    /// How it is put on.
    pub kind: Kind,
}

impl Layer {
    /// The layer of a name.
    pub fn named(name: &str) -> Option<&'static Layer> {
        LAYERS.iter().find(|layer| layer.name == name)
    }

    /// Whether another process runs at each call that is measured: it then costs a hundred times as much as other layers do.
    pub fn is_slow(&self) -> bool {
        matches!(self.kind, Kind::Notify | Kind::Ptrace)
    }

    /// Whether most of what it costs is that calls leave the kernel's fast path, which something else may have them do already.
    pub fn is_slow_way(&self) -> bool {
        match self.kind {
            Kind::Filter { .. } | Kind::Profile | Kind::PtraceFilter => true,
            Kind::Dispatch | Kind::Tracepoint | Kind::Bpf => true,
            Kind::Nothing | Kind::Ssbd | Kind::Notify | Kind::Ptrace | Kind::Landlock => false,
        }
    }
}

/// No layer at all: what the others are compared with.
pub const NOTHING: Layer =
    Layer { name: "none", what: "the program alone", group: Group::Access, kind: Kind::Nothing };

const fn filter(name: &'static str, what: &'static str, rules: u16, looks: Looks) -> Layer {
    Layer {
        name,
        what,
        group: Group::Filters,
        kind: Kind::Filter { rules, looks, allows_speculation: false },
    }
}

const fn other(name: &'static str, what: &'static str, group: Group, kind: Kind) -> Layer {
    Layer { name, what, group, kind }
}

/// The rules of the filter that is installed both with and without leave to speculate.
const RULES_OF_BOTH: u16 = 10;

/// All of them, in the order in which they are shown.
pub const LAYERS: [Layer; 19] = [
    filter("seccomp-1", "1 rule, by number", 1, Looks::AtNumber),
    filter("seccomp-10", "10 rules, by number", 10, Looks::AtNumber),
    filter("seccomp-50", "50 rules, by number", 50, Looks::AtNumber),
    filter("seccomp-300", "300 rules, by number", 300, Looks::AtNumber),
    filter("seccomp-1-arguments", "1 rule, by number and argument", 1, Looks::AtArguments),
    filter("seccomp-10-arguments", "10 rules, by number and argument", 10, Looks::AtArguments),
    filter("seccomp-50-arguments", "50 rules, by number and argument", 50, Looks::AtArguments),
    filter("seccomp-300-arguments", "300 rules, by number and argument", 300, Looks::AtArguments),
    other("seccomp-profile", "the filter of a container's profile", Group::Filters, Kind::Profile),
    other("ssbd", "no load passes an older store (SSBD), without a filter", Group::Speculation, Kind::Ssbd),
    other(
        "spec-allow",
        "10 rules, by number; may not force SSBD",
        Group::Speculation,
        Kind::Filter { rules: RULES_OF_BOTH, looks: Looks::AtNumber, allows_speculation: true },
    ),
    other(
        "spec-allow-arguments",
        "10 rules, by number and argument; may not force SSBD",
        Group::Speculation,
        Kind::Filter { rules: RULES_OF_BOTH, looks: Looks::AtArguments, allows_speculation: true },
    ),
    other("seccomp-notify", "a supervisor lets every call go on", Group::Supervisors, Kind::Notify),
    other("ptrace", "a tracer stops every call twice, as strace does", Group::Supervisors, Kind::Ptrace),
    other(
        "ptrace-seccomp",
        "a tracer stops other calls alone, as strace --seccomp-bpf does",
        Group::Supervisors,
        Kind::PtraceFilter,
    ),
    other(
        "user-dispatch",
        "syscall user dispatch, with all addresses let through",
        Group::Hooks,
        Kind::Dispatch,
    ),
    other("tracepoint", "raw_syscalls sys_enter and sys_exit are counted", Group::Hooks, Kind::Tracepoint),
    other("bpf", "a BPF program of two instructions at each of both", Group::Hooks, Kind::Bpf),
    other("landlock", "landlock, with all files allowed", Group::Access, Kind::Landlock),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_words_and_no_two_are_alike() {
        let names: BTreeSet<&str> = LAYERS.iter().map(|layer| layer.name).chain([NOTHING.name]).collect();
        assert_eq!(names.len(), LAYERS.len() + 1);
        let is_word =
            |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        assert!(names.iter().all(is_word), "{names:?}");
        assert_eq!(Layer::named("ssbd").map(|layer| layer.kind), Some(Kind::Ssbd));
        assert_eq!(Layer::named("none"), None, "it is no layer");
    }

    #[test]
    fn layers_of_a_group_stand_together_and_groups_in_their_order() {
        assert!(LAYERS.is_sorted_by_key(|layer| layer.group));
        assert!(Group::ALL.iter().all(|group| LAYERS.iter().any(|layer| layer.group == *group)));
    }
}
