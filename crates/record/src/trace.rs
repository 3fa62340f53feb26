//! A path that was followed, instruction by instruction.

use iced_x86::{Decoder, DecoderOptions, Instruction};
use serde::{Deserialize, Serialize};

/// The most instructions that are followed: a signal has some thousand. Each takes a tenth of a millisecond.
pub const MOST: usize = 20_000;

/// What is followed besides the rows of the table: nothing that a program asks for, or a piece of what a row does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// An interrupt by the timer, from its entry until the interrupted program goes on.
    TimerInterrupt,
    /// An execve, from the program's `syscall` to the first instruction of the new program.
    Execve,
}

impl Event {
    /// All of them.
    pub const ALL: [Event; 2] = [Event::TimerInterrupt, Event::Execve];

    /// What it is called where entries have their names.
    pub fn name(self) -> &'static str {
        match self {
            Event::TimerInterrupt => "timer-interrupt",
            Event::Execve => "execve",
        }
    }

    /// What it is, in words.
    pub fn what(self) -> &'static str {
        match self {
            Event::TimerInterrupt => "an interrupt of the timer",
            Event::Execve => "a system call that succeeds in executing another program",
        }
    }

    /// The most instructions that are followed of it. An interrupt by the timer has six to twenty thousand where no other task runs. An execve
    /// has some two hundred thousand, and a kernel that does more than twice as much is not followed for minutes on end.
    pub fn most(self) -> usize {
        match self {
            Event::TimerInterrupt => 50_000,
            Event::Execve => 500_000,
        }
    }

    /// The event of this name.
    pub fn named(name: &str) -> Option<Event> {
        Event::ALL.into_iter().find(|event| event.name() == name)
    }
}

/// One use of an entry, followed from its first instruction to its last one before the second stamp.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The entry's id in the table.
    pub entry: u16,
    /// The operation's id.
    pub operation: u16,
    /// What was executed: from the first instruction that the entry has and its control has not, to the last one.
    pub steps: Vec<Executed>,
    /// How many more steps there are than the row counts: as many as the control has in their place, and an instruction that faulted,
    /// which began but did not complete. The row's count is the steps less these.
    pub control: usize,
}

/// An executed instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// Its address.
    pub address: u64,
    /// The ring that executed it: 0 or 3.
    pub ring: u8,
    /// Whether it is executed in 64-bit mode.
    pub long: bool,
    /// Its bytes, as they were in memory: none where they could not be fetched, which is a fault.
    pub bytes: Vec<u8>,
}

impl Executed {
    /// The instruction; an invalid one where its bytes are none, and of length 0 where there are no bytes.
    pub fn decode(&self) -> Instruction {
        let bits = if self.long { 64 } else { 32 };
        Decoder::with_ip(bits, &self.bytes, self.address, DecoderOptions::NONE).decode()
    }
}

/// A function of the running kernel, or data that it has a name for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Its address in this boot; of what each CPU has of its own its offset, in kernels before 6.15.
    pub address: u64,
    /// Its name, as `/proc/kallsyms` has it.
    pub name: String,
}
