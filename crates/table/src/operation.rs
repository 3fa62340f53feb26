//! What an entry is asked for: one call, or several that are one use.

use crate::{Abi, Kernel, MACH, Whose, X32_BIT};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The traps of GNU Mach are below; `MACH_TRAPS` of the lab.
const MACH_TRAPS: u32 = 130;

/// What a message's bytes are made of, and the most that there are: `MOST_BYTES` of `probe/mach.c`. The server marks the first word and the
/// last.
const WORDS_OF: u32 = 4;
const MOST_BYTES: u32 = 4096;

/// `RING_ENTRIES` of `probe/x86_64/ring.c`.
const MOST_NOPS: u32 = 64;

/// Something that a program asks of the kernel through an entry.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Its id; it never changes.
    pub id: u16,
    /// As written on the command line.
    pub name: String,
    /// In a few words.
    pub what: String,
    /// Call number by ABI name (`x86_64`, `i386`).
    #[serde(default)]
    pub numbers: BTreeMap<String, u32>,
    /// The C function for it.
    pub function: Option<String>,
    /// Clock id for `clock_gettime`.
    pub clock: Option<u32>,
    /// Offset in the vsyscall page.
    pub page_offset: Option<u32>,
    /// The calls that it makes one behind the other; empty where it is a single one, which `numbers` and `function` name.
    #[serde(default)]
    pub calls: Vec<Call>,
    /// Whether it makes a process, by a function of the probe whose call is what is timed.
    #[serde(default)]
    pub process: bool,
    /// How many NOPs it submits to an io_uring by one call, which waits for all of them; by a function of the probe, as above.
    pub nops: Option<u32>,
    /// The value of the lab's switch `personality` that it always runs with; none for what is Linux's.
    pub personality: Option<String>,
    /// The number of a trap of GNU Mach, without its sign.
    pub trap: Option<u32>,
    /// Whether the trap is given a message, whose header is written before each use.
    #[serde(default)]
    pub message: bool,
    /// Whether another program answers the message, which is the probe once more.
    #[serde(default)]
    pub server: bool,
    /// Whether that is a thread of the same task instead, in the same address space.
    #[serde(default)]
    pub thread: bool,
    /// How many bytes of data the message has behind its header, there and back.
    pub bytes: Option<u32>,
    /// Whether it has a port right behind its header, which goes there and back.
    #[serde(default)]
    pub right: bool,
    /// Whether its cost repeats every few uses, as where every so many of them fill a buffer again. Then a sample holds one use: sixteen would
    /// keep step with it.
    #[serde(default)]
    pub repeats: bool,
    /// Whether it is a turn of a loop of UnixBench, which counts turns in a second.
    pub loops: Option<Loops>,
}

/// One of several calls of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The C function for it.
    pub function: String,
    /// Call number by ABI name (`x86_64`, `i386`).
    pub numbers: BTreeMap<String, u32>,
}

/// What UnixBench makes of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loops {
    /// Turns in a second of the machine whose index is [`Loops::BASELINE_INDEX`]; none where UnixBench has no index for it.
    pub baseline: Option<f64>,
}

impl Loops {
    /// The index of UnixBench's baseline.
    pub const BASELINE_INDEX: f64 = 10.0;

    /// The index of so many turns in a second.
    pub fn index(self, per_second: f64) -> Option<f64> {
        self.baseline.map(|baseline| per_second / baseline * Loops::BASELINE_INDEX)
    }
}

impl Operation {
    /// Whether the probe has a function for it, which makes its calls itself, and whose call is what is timed.
    pub fn is_by_function(&self) -> bool {
        self.process || self.nops.is_some()
    }

    /// How many calls one use of it makes.
    pub fn length(&self) -> usize {
        self.calls.len().max(1)
    }

    /// Whether it is GNU Mach's.
    pub fn is_machs(&self) -> bool {
        self.personality.as_deref() == Some(MACH)
    }

    /// Whose rows it is among, on a kernel.
    pub fn whose(&self, kernel: Kernel) -> Whose {
        Whose::machs(kernel).filter(|_| self.is_machs()).unwrap_or(kernel.into())
    }

    /// The call numbers that an ABI has for it, one for each call; empty where it lacks one.
    pub fn numbers_in(&self, abi: Abi) -> Vec<u32> {
        if let Some(trap) = self.trap {
            return vec![trap.wrapping_neg()];
        }
        let of = |numbers: &BTreeMap<String, u32>| match abi {
            Abi::X86_64 => numbers.get("x86_64").copied(),
            Abi::I386 => numbers.get("i386").copied(),
            Abi::X32 => numbers.get("x86_64").map(|number| number | X32_BIT),
        };
        let single = self.calls.is_empty().then_some(&self.numbers);
        let all = single.into_iter().chain(self.calls.iter().map(|call| &call.numbers));
        all.map(of).collect::<Option<Vec<u32>>>().unwrap_or_default()
    }

    /// The C functions that it calls; empty where there are none.
    pub fn functions(&self) -> Vec<&str> {
        let several = self.calls.iter().map(|call| call.function.as_str());
        self.function.as_deref().into_iter().chain(several).collect()
    }

    /// What is wrong with its keys, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.calls.len() == 1 {
            return Err("calls: a single call is written by the keys \"numbers\" and \"function\"".into());
        }
        let has_call = !self.calls.is_empty() || self.function.is_some() || !self.numbers.is_empty();
        if self.process && has_call {
            return Err("process stands instead of the keys \"numbers\", \"function\" and \"calls\"".into());
        }
        if self.nops.is_some() && (has_call || self.process) {
            return Err("nops stand instead of every key of a call".into());
        }
        if self.nops.is_some_and(|nops| nops == 0 || nops > MOST_NOPS) {
            return Err(format!("nops: at least 1, at most {MOST_NOPS}"));
        }
        if self.trap.is_some() && (has_call || self.process) {
            return Err("trap stands instead of every other key of a call".into());
        }
        if self.trap.is_some_and(|trap| trap == 0 || trap >= MACH_TRAPS) {
            return Err(format!("trap: the traps of GNU Mach are 1 to {}", MACH_TRAPS - 1));
        }
        for (is_there, what, needs, of) in [
            (self.trap.is_some(), "trap", self.personality.is_some(), "personality"),
            (self.message, "message", self.trap.is_some(), "trap"),
            (self.server, "server", self.message, "message"),
            (self.thread, "thread", self.server, "server"),
            (self.bytes.is_some(), "bytes", self.server, "server"),
            (self.right, "right", self.server, "server"),
        ] {
            if is_there && !needs {
                return Err(format!("key \"{what}\" goes with a key \"{of}\""));
            }
        }
        if self.bytes.is_some() && self.right {
            return Err("a message has the key \"bytes\" or the key \"right\"".into());
        }
        if self
            .bytes
            .is_some_and(|bytes| bytes % WORDS_OF != 0 || !(2 * WORDS_OF..=MOST_BYTES).contains(&bytes))
        {
            return Err(format!(
                "bytes: whole words of {WORDS_OF} bytes, two at least, {MOST_BYTES} bytes at most"
            ));
        }
        if !self.calls.is_empty() && (self.function.is_some() || !self.numbers.is_empty()) {
            return Err("calls stand instead of the keys \"numbers\" and \"function\"".into());
        }
        match self.loops.and_then(|loops| loops.baseline) {
            Some(baseline) if !(baseline.is_finite() && baseline > 0.0) => {
                Err(format!("loops: {baseline} turns in a second are no baseline"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn a_trap_has_its_number_without_its_sign_by_every_entry() {
        let print = operation("mach_print");
        for abi in [Abi::X86_64, Abi::I386] {
            assert_eq!(print.numbers_in(abi), [-30_i32 as u32]);
        }
        assert!(print.is_machs() && !operation("getppid").is_machs());
        let refused = |from: &str, to: &str| {
            let text = crate::SOURCE.replacen(from, to, 1);
            assert_ne!(text, crate::SOURCE, "{from}");
            Table::parse(&text).unwrap_err().to_string()
        };
        let of = |operation: &str, why: &str| format!("entries.toml: operation {operation}: {why}");
        for (from, to, name, why) in [
            ("trap = 30", "trap = 130", "mach_print", "trap: the traps of GNU Mach are 1 to 129"),
            (
                "trap = 30",
                "trap = 30\nfunction = \"f\"",
                "mach_print",
                "trap stands instead of every other key of a call",
            ),
            ("trap = 30", "message = true", "mach_print", "key \"message\" goes with a key \"trap\""),
            (
                "trap = 30",
                "trap = 30\nserver = true",
                "mach_print",
                "key \"server\" goes with a key \"message\"",
            ),
            (
                "personality = \"mach\"\ntrap = 30",
                "trap = 30",
                "mach_print",
                "key \"trap\" goes with a key \"personality\"",
            ),
            (
                "personality = \"mach\"\ntrap = 30",
                "personality = \"linux\"\ntrap = 30",
                "mach_print",
                "linux is no personality that operations have",
            ),
            ("bytes = 128", "bytes = 126", "mach_msg-rpc-128", SIZES),
            ("bytes = 4096", "bytes = 4100", "mach_msg-rpc-4096", SIZES),
            ("bytes = 128", "bytes = 4", "mach_msg-rpc-128", SIZES),
            (
                "bytes = 128",
                "bytes = 128\nright = true",
                "mach_msg-rpc-128",
                "a message has the key \"bytes\" or the key \"right\"",
            ),
            (
                "server = true\nbytes = 128",
                "bytes = 128",
                "mach_msg-rpc-128",
                "key \"bytes\" goes with a key \"server\"",
            ),
            (
                "server = true\nthread = true",
                "thread = true",
                "mach_msg-rpc-thread",
                "key \"thread\" goes with a key \"server\"",
            ),
            (
                "server = true\nright = true",
                "right = true",
                "mach_msg-rpc-right",
                "key \"right\" goes with a key \"server\"",
            ),
        ] {
            assert_eq!(refused(from, to), of(name, why));
        }
    }

    const SIZES: &str = "bytes: whole words of 4 bytes, two at least, 4096 bytes at most";

    #[test]
    fn what_is_gnu_machs_is_none_of_the_usual_rows() {
        let table = Table::get();
        let entry = |name: &str| table.entry(name).unwrap();
        let gate = entry("lcall7-i386");
        assert!(!gate.operations_on(crate::Kernel::Lab).iter().any(|name| operation(name).is_machs()));
        assert_eq!(gate.operations_of(Whose::Mach).len(), 9);
        assert!(
            gate.has_traps() && !entry("int80-i386").has_traps() && !entry("mapped-time-mach").has_traps()
        );
        for kernel in crate::Kernel::ALL {
            assert!(table.rows(kernel).all(|(_, operation)| !operation.is_machs()));
        }
        for whose in [Whose::Mach, Whose::MachI386] {
            assert!(table.rows(whose).all(|(_, operation)| operation.is_machs()));
        }
        // What the one kernel has for 32-bit programs, the other has.
        let narrow = table.rows(Whose::Mach).filter(|(entry, _)| entry.bits() == 32);
        assert!(
            narrow.eq(table.rows(Whose::MachI386))
                && entry("stub-gate-i386").operations_of(Whose::LabI386).is_empty()
        );
        let trap = entry("trapgate-i386");
        let needs = |name: &str| trap.needs_for(operation(name)).into_iter().collect::<Vec<_>>();
        assert_eq!(needs("mach_print"), [("gate", "trap"), ("personality", "mach")]);
        assert_eq!(needs("getppid"), [("gate", "trap")]);
        let on_linux =
            crate::SOURCE.replacen("[\"calls-32bit\", \"unixbench\"]", "[\"calls-32bit\", \"mach\"]", 1);
        let refused = Table::parse(&on_linux).unwrap_err().to_string();
        assert!(
            refused.ends_with("operation mach_print has a personality, which is the lab's alone"),
            "{refused}"
        );
    }

    fn operation(name: &str) -> &'static Operation {
        Table::get().operation(name).unwrap()
    }

    #[test]
    fn several_calls_have_a_number_each_and_a_single_one_its_own() {
        let mix = operation("unixbench-syscall");
        assert_eq!(mix.length(), 5);
        assert_eq!(mix.numbers_in(Abi::X86_64), [32, 3, 39, 102, 95]);
        assert_eq!(mix.numbers_in(Abi::X32), [32, 3, 39, 102, 95].map(|number: u32| number | X32_BIT));
        assert_eq!(mix.numbers_in(Abi::I386), [41, 6, 20, 199, 60]);
        assert_eq!(mix.functions(), ["dup", "close", "getpid", "getuid", "umask"]);
        let none = operation("none");
        assert_eq!((none.length(), none.functions().len()), (1, 0));
        assert_eq!(operation("clock_gettime64-monotonic").numbers_in(Abi::X86_64), [0u32; 0]);
    }

    #[test]
    fn the_baseline_has_an_index_of_ten() {
        let index = |name: &str, turns| operation(name).loops.unwrap().index(turns);
        assert_eq!(index("unixbench-syscall", 15000.0), Some(10.0));
        assert_eq!(index("unixbench-syscall", 1_033_500.0), Some(689.0));
        assert_eq!(index("unixbench-close", 15000.0), None, "UnixBench has an index for its mix alone");
        assert!(operation("getppid").loops.is_none());
    }

    #[test]
    fn contradictions_are_named() {
        for (from, to, why) in [
            (
                "loops = { baseline = 15000 }",
                "loops = { baseline = 0 }",
                "0 turns in a second are no baseline",
            ),
            ("loops = { baseline = 15000 }", "function = \"dup\"", "calls stand instead of the keys"),
            ("process = true", "process = true\nfunction = \"fork\"", "process stands instead of the keys"),
            ("nops = 64", "nops = 65", "nops: at least 1, at most 64"),
            ("nops = 64", "nops = 64\nfunction = \"f\"", "nops stand instead of every key of a call"),
            ("i386 = 199 } },", "} },", "has no call number in its ABI"),
        ] {
            let text = crate::SOURCE.replacen(from, to, 1);
            let found = Table::parse(&text).unwrap_err().to_string();
            assert!(found.contains(why), "{to}: {found}");
        }
    }
}
