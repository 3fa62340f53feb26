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
    Entering "entering" [], "the instruction of the program that enters the kernel";
    Swapgs "swapgs" ["swapgs"], "swapgs, its fence, and the look at where an exception came from";
    Smap "smap" ["smap"], "stac and clac, which open and close the program's memory";
    Pti "pti" ["pti", "cr3-writes"], "page-table isolation: CR3 is read, changed and written; or the jump over that";
    Pcid "pcid" ["pcid", "asids"], "process-context identifiers: the bit that keeps translations, and the mask of those to flush";
    KernelStack "kernel-stack" [], "from the stack that the entry begins on to the thread's";
    Frame "stack" ["stack"], "the frame: registers pushed on the way in, popped on the way out";
    Flags "flags" [], "the program's flags: cld, and the test for such as must not be set in the kernel";
    ClearRegisters "clear-registers" ["clear-registers"], "registers become zero: on entry those by which a program could steer speculation, on exit those with what is the kernel's";
    CopyFrame "copy-frame" ["copy-frame"], "the frame, or what is left of it, goes from one stack to another";
    Ibrs "ibrs" ["ibrs"], "SPEC_CTRL is written, on entry and exit; or the jump over that";
    Returns "returns" ["returns"], "return thunks, and what untrains the return predictor";
    Bhb "bhb" ["bhb"], "the branch history is cleared";
    Rsb "rsb" ["rsb"], "the return stack buffer is filled";
    Ibpb "ibpb" ["ibpb"], "an indirect branch prediction barrier, or the test whether one is due";
    StackOffset "stack-offset" ["stack-offset"], "the random distance by which each call moves the stack";
    Handler "handler" [], "the C function of the entry: its call, its frame, its arguments, the answer put in its place";
    IndexMask "index-mask" ["index-mask"], "cmp, sbb, and: an index out of bounds is 0 in speculation, too";
    ExternalCheck "external-check" [], "whether a device has sent the interrupt of this number: its controller is read";
    Dispatch "dispatch" ["dispatch"], "from the number of the call to its function";
    Retpoline "retpoline" ["dispatch"], "thunks in place of indirect calls and jumps";
    Work "work" ["work"], "flags of the thread looked at on entry and exit, and what they ask for";
    Interrupts "interrupts" [], "sti, cli, and flags saved and loaded";
    Trace "trace" ["trace"], "events of system calls for tracers";
    Filter "filter" ["filter"], "seccomp: what it looks at, its list of calls that are always allowed, and filters where they are executed";
    Audit "audit" ["audit"], "records of the audit system";
    Canary "canary" ["canary"], "the stack protector's word: put, compared";
    Ibt "ibt" ["ibt"], "endbr64, which marks where indirect branches may lead; or the nop in its place";
    FunctionTrace "function-trace" [], "nops at the beginnings of functions, which a function tracer replaces";
    StaticKeys "static-keys" [], "nops of 2 or 5 bytes within functions, where the kernel has branches and calls that boot or a tracer can put there";
    Paravirt "paravirt" [], "nops in the place of what a guest of Xen would call";
    Service "service" [], "what was asked for: the function of the call, or of the exception, and all that it calls";
    Signal "signal" [], "a signal: found, its frame built for the program, its handler prepared";
    Schedule "schedule" [], "another task is chosen, and what that does before it is this one's turn again";
    Program "program" [], "instructions of the program before the entry's use is over: a signal's handler, what has faulted once more, or the functions of a vDSO, which are the program's too";
    ReturnChecks "return-checks" [], "whether the short way out (sysretq, sysretl) may be taken, and whether iretq needs a stack of its own";
    Verw "verw" ["verw"], "verw, which clears buffers; or the nop in its place";
    Divider "divider" [], "a division that clears what AMD's divider would leak";
    Leaving "leaving" [], "the instruction that goes back to the program, and jumps of the entry's own code on the way there";
    Other "other" [], "nothing that is known";
}

/// How an instruction's part is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The kernel's own table of alternatives says so.
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
