//! What an instruction of a path belongs to.

use serde::{Deserialize, Serialize};

/// Makes the enumeration, with what each part is called, is, and has in the lab.
macro_rules! parts {
    ($($part:ident $name:literal $switches:expr, $what:literal;)*) => {
        /// What an instruction belongs to. Parts that the lab has as a switch have its name in `entries.toml`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Part {
            $(#[doc = $what] #[serde(rename = $name)] $part,)*
        }

        impl Part {
            /// Every part, in about the order in which a system call comes to them.
            pub const ALL: &[Part] = &[$(Part::$part,)*];

            /// The part of this name.
            pub fn named(name: &str) -> Option<Part> {
                Part::ALL.iter().copied().find(|part| part.name() == name)
            }

            /// Its name: `clear-registers`.
            pub fn name(self) -> &'static str {
                match self { $(Part::$part => $name,)* }
            }

            /// What it is, in words.
            pub fn what(self) -> &'static str {
                match self { $(Part::$part => $what,)* }
            }

            /// The lab's switches whose steps do the same; none where the lab has no such step.
            pub fn switches(self) -> &'static [&'static str] {
                match self { $(Part::$part => &$switches,)* }
            }
        }
    };
}

parts! {
    Entering "entering" [], "the program's instruction that enters the kernel";
    Swapgs "swapgs" ["swapgs"], "swapgs, its fence, and the test whether an exception came from the kernel";
    Smap "smap" ["smap"], "stac and clac, which open and close the program's memory to the kernel";
    Pti "pti" ["pti", "cr3-writes"], "page-table isolation: CR3 is read, changed and written; or the jump over that";
    Pcid "pcid" ["pcid", "asids"], "process-context identifiers: the bit that keeps translations, and the mask of identifiers to flush";
    KernelStack "kernel-stack" [], "the switch from the entry's first stack to the thread's stack, and to that of interrupts and back";
    Frame "stack" ["stack"], "the frame: registers pushed on the way in and popped on the way out";
    Flags "flags" [], "the program's flags: cld, and the test for flags that must not be set in the kernel";
    ClearRegisters "clear-registers" ["clear-registers"], "registers zeroed: on entry so that a program cannot steer speculation, on exit so that no kernel data leaks";
    CopyFrame "copy-frame" ["copy-frame"], "the frame, or the rest of it, copied from one stack to another";
    Ibrs "ibrs" ["ibrs"], "SPEC_CTRL written on entry and exit; or the jump over that";
    Returns "returns" ["returns"], "return thunks, and the code that untrains the return predictor";
    Bhb "bhb" ["bhb"], "the branch history cleared; or the nop in its place";
    Rsb "rsb" ["rsb"], "the return stack buffer filled; or the nop in its place";
    Ibpb "ibpb" ["ibpb", "entry-ibpb"], "an indirect branch prediction barrier, or the test whether one is due";
    StackOffset "stack-offset" ["stack-offset"], "the random offset that each call subtracts from the stack pointer";
    Handler "handler" [], "the entry's C function: its call, its frame, its arguments, its result stored";
    IndexMask "index-mask" ["index-mask"], "cmp, sbb, and: an index that is out of bounds becomes 0 during speculation, too";
    ExternalCheck "external-check" [], "the test whether a device sent this interrupt, which reads the interrupt controller";
    Dispatch "dispatch" ["dispatch"], "from the call's number to its function";
    Retpoline "retpoline" ["dispatch"], "thunks in place of indirect calls and jumps";
    Work "work" ["work"], "the thread's flags tested on entry and exit, and what they ask for";
    Interrupts "interrupts" [], "the entry's own sti and cli; those of the service are part of the service";
    Trace "trace" ["trace"], "events for tracers: those of system calls, and the branches to all others";
    Filter "filter" ["filter"], "seccomp: its checks, its list of calls that are always allowed, and the filters that run";
    Audit "audit" ["audit"], "records of the audit system";
    Canary "canary" ["canary"], "the stack protector's word stored and compared";
    Ibt "ibt" ["ibt"], "endbr64, which marks the targets of indirect branches; or the nop in its place";
    FunctionTrace "function-trace" [], "nops at the start of functions, which the function tracer replaces";
    StaticKeys "static-keys" [], "nops of 2 or 5 bytes in functions, which can become jumps or calls; what for, no name says";
    Paravirt "paravirt" [], "nops in place of the calls that a guest of Xen makes, and jumps over what only such a guest executes";
    Service "service" [], "what was asked for: the function of the call or the exception, and everything it calls";
    Signal "signal" [], "a signal: found, its frame built for the program, its handler prepared";
    Schedule "schedule" [], "another task chosen, and everything executed until this one runs again";
    Program "program" [], "the program's own instructions before the use is over: a signal's handler, the instruction retried after a fault, or functions of the vDSO";
    ReturnChecks "return-checks" ["return-checks"], "the tests whether sysretq or sysretl may return, whether iretq returns to a program, and whether it needs a stack of its own";
    Verw "verw" ["verw"], "verw, which clears buffers; or the nop in its place";
    Divider "divider" [], "a division that clears what AMD's divider would leak; or the nop in its place";
    Leaving "leaving" [], "the instruction that returns to the program, and the entry code's jumps on the way there";
    Other "other" [], "nothing known";
}

/// How an instruction's part is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The kernel's own tables say so: of alternatives, of static keys, of traced functions.
    Table,
    /// By the function that it is in, or that has called it.
    Symbol,
    /// By what the instructions are, and where they stand.
    Pattern,
    /// Nothing says so.
    None,
}

impl Confidence {
    /// All, in the order of the documentation.
    pub const ALL: [Confidence; 4] =
        [Confidence::Table, Confidence::Symbol, Confidence::Pattern, Confidence::None];

    /// As documents have it.
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Table => "table",
            Confidence::Symbol => "symbol",
            Confidence::Pattern => "pattern",
            Confidence::None => "none",
        }
    }
}
