//! What several entries are about and none of them is called: its entries, by name.

use table::{Entry, Kernel, Table, is_same_name};

/// A subject of several entries.
#[derive(Debug)]
pub struct Topic {
    /// What it is called.
    pub names: &'static [&'static str],
    /// What it is, in a sentence or two.
    text: &'static str,
    /// The command that measures its entries.
    command: &'static str,
    /// Whether an entry is one of them.
    has: fn(&Entry) -> bool,
}

impl PartialEq for Topic {
    fn eq(&self, other: &Topic) -> bool {
        self.names == other.names
    }
}

/// What the lab's kernel for protected mode is there for.
pub const ALL: &[Topic] = &[
    Topic {
        names: &["virtual-8086 mode", "virtual 8086", "v86", "vm86", "VME"],
        text: "Virtual-8086 mode runs programs of the 8086 in ring 3 under a kernel of 32 bits. Their `int n` goes through a gate, to a monitor by \
               #GP, or, with virtual-8086 mode extensions (VME), to the 8086's own table without the kernel. Long mode does not have it.",
        command: "kentry lab --lab-kernel i386 --bochs --entry 'v86-*'",
        has: |entry| entry.name.starts_with("v86-"),
    },
    Topic {
        names: &["task gate", "task", "tasks", "task switch", "TSS"],
        text: "A task switch stores the registers, but for CR3, in one task state segment (TSS) and loads them from another. A gate, a call, a jump or an \
               exception leads to it. Long mode has a TSS, but no switch of tasks.",
        command: "kentry lab --lab-kernel i386 --entry 'task-*' --entry double-fault-task",
        has: |entry| entry.name.starts_with("task-") || entry.name == "double-fault-task",
    },
    Topic {
        names: &["protected mode", "i386", "lab-i386", "i386 lab"],
        text: "The lab's second kernel runs in protected mode of 32 bits, and has the ways into a kernel that long mode no longer has \
               (docs/lab-i386.md).",
        command: "kentry lab --lab-kernel i386",
        has: |entry| entry.kernels.contains(&Kernel::LabI386),
    },
];

/// The one of this name.
pub fn of(word: &str) -> Option<&'static Topic> {
    ALL.iter().find(|topic| topic.names.iter().any(|name| is_same_name(name, word)))
}

/// Its names, its text and its entries, in Markdown.
pub fn explain(table: &Table, topic: &Topic) -> String {
    let (first, others) = topic.names.split_first().unwrap_or((&"", &[]));
    let entries = table.entries.iter().filter(|entry| (topic.has)(entry));
    let entries: String = entries.map(|entry| format!("- `{}`: {}\n", entry.name, entry.title)).collect();
    format!(
        "# {first}\n\nAlso called: {}.\n\n{}\n\nIts entries, which `kentry explain ENTRY` explains and `{}` measures:\n\n{entries}",
        others.join(", "),
        topic.text,
        topic.command
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_of_several_entries_names_them() {
        let entries = |word: &str| -> Vec<String> {
            let text = explain(Table::get(), of(word).unwrap());
            let items = text.lines().filter_map(|line| line.strip_prefix("- `")?.split_once('`'));
            items.map(|(name, _)| name.to_owned()).collect()
        };
        for word in ["vm86", "vme", "virtual-8086-mode", "Virtual 8086"] {
            assert_eq!(entries(word), ["v86-int", "v86-int-redirected"], "{word}");
        }
        let tasks = entries("task gate");
        assert!(
            tasks.contains(&"task-16".into()) && tasks.contains(&"double-fault-task".into()),
            "{tasks:?}"
        );
        assert_eq!(tasks, entries("task-gate"));
        assert!(entries("i386").len() > 30 && entries("protected-mode") == entries("i386"));
        assert_eq!(of("call-gate"), None);
    }
}
