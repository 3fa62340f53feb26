//! Follows uses of entries, one instruction after the other, through a debugger.
//!
//! Every count of a row comes from the same code between two stamps. A breakpoint stands behind the first of these, and from there on
//! the guest is stepped until it comes to the second: through the kernel, and for a signal through its handler and back. Between two
//! steps the guest does not run, so that what is executed is what is counted.

use crate::guest::debugger::{Debugger, Error, Registers};
use crate::guest::memory::Memory;
use crate::guest::rendezvous::{self, Rendezvous};
use crate::guest::symbols;
use crate::guest::timed::{self, SYSCALL, Timed};
use iced_x86::{Code, FlowControl, Instruction};
use record::abi;
use record::trace::{Event, Executed, MOST, Symbol, Trace};
use std::io::{Read, Write};
use table::{Entry, Kernel, Operation, Table};

/// Uses of an entry that pass before one is followed: those that a probe makes before it keeps a sample, and the first two that it keeps.
const PASSED: u64 = abi::CHECKS + abi::WARM_SAMPLES + 2;

/// So many interrupts by the timer are tried until one ends within [`MOST`], as all did that were seen without other tasks. The last may be longer.
const TICKS: usize = 4;

/// Code segments of programs (arch/x86/include/asm/segment.h): only 64-bit code has this one.
const USER_CS: u32 = 0x33;

/// What was followed.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    pub traces: Vec<Trace>,
    /// A row's ids, and why it was not followed.
    pub unfollowed: Vec<((u16, u16), String)>,
    /// What is followed besides the rows, or why it was not; none if it did not happen.
    pub event: Option<Result<Vec<Executed>, String>>,
    /// Those of the guest's kernel, by address.
    pub symbols: Vec<Symbol>,
}

/// A use of an entry that is waited for.
struct Awaited {
    what: What,
    /// The address where it begins, in code of so many bits.
    begin: u64,
    bits: u8,
    passed: u64,
}

/// What is followed then.
enum What {
    /// A row, by its ids, between its stamps.
    Row((u16, u16), Timed),
    /// A call that executes another program.
    Execve,
}

/// Follows a guest.
pub(crate) struct Follower<C> {
    debugger: Debugger<C>,
    memory: Memory,
    followed: Followed,
    awaited: Option<Awaited>,
    /// Whether the row that was awaited last was followed.
    has_followed: bool,
}

impl<C: Read + Write> Follower<C> {
    /// Over this connection to a guest that is stopped before its first instruction.
    pub fn new(connection: C) -> Follower<C> {
        let (debugger, memory) = (Debugger::new(connection), Memory::default());
        Follower { debugger, memory, followed: Followed::default(), awaited: None, has_followed: false }
    }

    /// From the guest's first instruction until it says that nothing more is to be followed. What was followed before an error is kept.
    pub fn run(mut self) -> (Followed, Option<Error>) {
        // Whoever has answered with nonsense may never answer again.
        let ended = self.follow().and_then(|()| self.debugger.detach());
        (self.followed, ended.err())
    }

    fn follow(&mut self) -> Result<(), Error> {
        self.debugger.insert(rendezvous::PAGE)?;
        self.debugger.begin()?;
        loop {
            let at = self.debugger.registers()?;
            match self.awaited.take() {
                Some(awaited) if at.rip == awaited.begin => self.pass(awaited, &at)?,
                awaited => {
                    self.give_up(awaited)?;
                    match Rendezvous::of(at.first_arguments()).filter(|_| at.rip == rendezvous::PAGE) {
                        Some(Rendezvous::Row(entry, operation)) => self.await_row((entry, operation))?,
                        Some(Rendezvous::Execve(entry, operation)) => {
                            self.await_execve((entry, operation))?
                        }
                        Some(Rendezvous::TooLong(entry, operation, count)) => {
                            self.followed.unfollowed.push(((entry, operation), too_long(count)));
                        }
                        // It may have stopped where it is to be met again.
                        Some(Rendezvous::Timer(address)) if !self.timer(address)? => continue,
                        Some(Rendezvous::Timer(_)) => {}
                        Some(Rendezvous::Count) => self.answer()?,
                        Some(Rendezvous::Symbols { address, length }) => {
                            self.followed.symbols = symbols::read(&mut self.debugger, address, length)?;
                        }
                        Some(Rendezvous::Over) => return self.debugger.remove(rendezvous::PAGE),
                        // A stop for nothing that is known here.
                        None => {}
                    }
                }
            }
            self.debugger.go()?;
        }
    }

    /// How many instructions the use was that was followed last; a row that is followed again is followed anew.
    fn answer(&mut self) -> Result<(), Error> {
        let last = self.followed.traces.last().filter(|_| self.has_followed);
        let count = last.map_or(0, |trace| trace.steps.len().saturating_sub(trace.control));
        self.debugger.write(rendezvous::ANSWER, count as u64)
    }

    fn await_row(&mut self, row: (u16, u16)) -> Result<(), Error> {
        self.has_followed = false;
        self.followed.traces.retain(|trace| (trace.entry, trace.operation) != row);
        self.followed.unfollowed.retain(|(known, _)| *known != row);
        match timed(row) {
            Ok((entry, timed)) => self.wait_for(timed.begin, entry.bits(), What::Row(row, timed)),
            Err(why) => {
                self.followed.unfollowed.push((row, why));
                Ok(())
            }
        }
    }

    fn await_execve(&mut self, row: (u16, u16)) -> Result<(), Error> {
        match row_of(row).and_then(|(entry, _)| Ok((entry, timed::execve(entry)?))) {
            Ok((entry, begin)) => self.wait_for(begin, entry.bits(), What::Execve),
            Err(why) => {
                self.followed.event = Some(Err(why));
                Ok(())
            }
        }
    }

    fn wait_for(&mut self, begin: u64, bits: u8, what: What) -> Result<(), Error> {
        self.debugger.insert(begin)?;
        self.awaited = Some(Awaited { what, begin, bits, passed: 0 });
        Ok(())
    }

    /// A use whose probe ended before it was followed.
    fn give_up(&mut self, awaited: Option<Awaited>) -> Result<(), Error> {
        let Some(awaited) = awaited else { return Ok(()) };
        self.debugger.remove(awaited.begin)?;
        let why = format!("its probe ended after it had used the entry {} times", awaited.passed);
        match awaited.what {
            What::Row(row, _) => self.followed.unfollowed.push((row, why)),
            What::Execve => self.followed.event = Some(Err(why)),
        }
        Ok(())
    }

    /// One use passes, or is followed.
    fn pass(&mut self, mut awaited: Awaited, at: &Registers) -> Result<(), Error> {
        let is_there = at.ring() == 3 && is_long(at) == (awaited.bits == 64);
        if !is_there || awaited.passed < PASSED {
            awaited.passed += u64::from(is_there);
            self.awaited = Some(awaited);
            return Ok(());
        }
        self.debugger.remove(awaited.begin)?;
        self.memory.forget();
        match awaited.what {
            What::Row(row, timed) => self.use_of(row, &timed, at),
            What::Execve => self.execve(at),
        }
    }

    /// Follows a row's use from here to its second stamp.
    fn use_of(&mut self, row: (u16, u16), timed: &Timed, at: &Registers) -> Result<(), Error> {
        let is_wide = is_long(at);
        let is_end = |at: &Registers| at.rip == timed.end && at.ring() == 3 && is_long(at) == is_wide;
        match self.steps(at, MOST, is_end)? {
            Some(steps) => {
                self.followed.traces.push(trimmed(row, timed, steps));
                self.has_followed = true;
            }
            None => self.followed.unfollowed.push((row, endless("its use", MOST))),
        }
        Ok(())
    }

    /// Follows an execve, at whose instruction the program is, to the first instruction of the new one.
    fn execve(&mut self, at: &Registers) -> Result<(), Error> {
        let mut has_entered = false;
        let is_end = |at: &Registers| {
            has_entered |= at.ring() == 0;
            has_entered && at.ring() == 3
        };
        let steps = self.steps(at, Event::Execve.most(), is_end)?;
        let behind = at.rip.wrapping_add(SYSCALL.len() as u64);
        let now = self.debugger.registers()?;
        self.followed.event = Some(match steps {
            None => Err(endless(Event::Execve.name(), Event::Execve.most())),
            Some(_) if now.rip == behind => {
                Err(format!("the kernel did not execute the program (rax is {})", now.result()))
            }
            Some(steps) => Ok(steps),
        });
        Ok(())
    }

    /// Follows the timer's interrupt, whose entry is at this address of the kernel, while the guest's program loops in ring 3: the first that
    /// ends, of a few. Behind one that does not, the kernel had other tasks run before it went on. Whether one was there; otherwise the guest
    /// has stopped at another address.
    fn timer(&mut self, address: u64) -> Result<bool, Error> {
        for tick in 1..=TICKS {
            let most = if tick == TICKS { Event::TimerInterrupt.most() } else { MOST };
            if !self.tick(address, most)? {
                return Ok(false);
            }
            if matches!(self.followed.event, Some(Ok(_))) {
                break;
            }
        }
        Ok(true)
    }

    /// Follows the next interrupt by the timer that does not interrupt the kernel. Whether one came.
    fn tick(&mut self, address: u64, most: usize) -> Result<bool, Error> {
        self.debugger.insert(address)?;
        let at = loop {
            self.debugger.go()?;
            let at = self.debugger.registers()?;
            if at.rip != address || self.comes_from_ring_3(&at)? {
                break at;
            }
        };
        self.debugger.remove(address)?;
        self.memory.forget();
        let is_here = at.rip == address;
        if is_here {
            let steps = self.steps(&at, most, |at| at.ring() == 3)?;
            self.followed.event = Some(steps.ok_or_else(|| endless("the timer's interrupt", most)));
        }
        Ok(is_here)
    }

    /// The processor has pushed where it was: the stack segment, the stack pointer, the flags, the code segment, the address.
    fn comes_from_ring_3(&mut self, at: &Registers) -> Result<bool, Error> {
        const CODE_SEGMENT: u64 = 8;
        let pushed = self.debugger.memory(at.rsp().wrapping_add(CODE_SEGMENT), 1)?;
        Ok(pushed.and_then(|bytes| bytes.first().copied()).is_some_and(|selector| selector & 3 == 3))
    }

    /// Steps from here on until the end; none if that does not come within so many steps.
    fn steps(
        &mut self,
        begin: &Registers,
        most: usize,
        mut is_end: impl FnMut(&Registers) -> bool,
    ) -> Result<Option<Vec<Executed>>, Error> {
        let (mut at, mut steps) = (*begin, Vec::new());
        while !is_end(&at) {
            if steps.len() == most {
                return Ok(None);
            }
            let (ring, long) = (at.ring(), is_long(&at));
            let bytes = self.memory.instruction(&mut self.debugger, at.rip, ring, long)?;
            steps.push(Executed { address: at.rip, ring, long, bytes });
            self.debugger.step()?;
            at = self.debugger.registers()?;
        }
        Ok(Some(steps))
    }
}

/// All of the kernel is 64-bit code, and programs where their segment says so.
fn is_long(at: &Registers) -> bool {
    at.ring() == 0 || at.cs == USER_CS
}

fn endless(what: &str, most: usize) -> String {
    format!("{what} did not end within {most} instructions")
}

fn too_long(count: u32) -> String {
    format!("a use of it executes {count} instructions, and at most {MOST} are followed")
}

fn row_of((entry, operation): (u16, u16)) -> Result<(&'static Entry, &'static Operation), String> {
    let row = Table::get().rows(Kernel::Linux).find(|(known, of)| (known.id, of.id) == (entry, operation));
    row.ok_or_else(|| "the guest spoke of a row that is none".into())
}

fn timed(row: (u16, u16)) -> Result<(&'static Entry, Timed), String> {
    let (entry, operation) = row_of(row)?;
    Timed::of(entry, operation).map(|timed| (entry, timed))
}

/// What is the entry's own. An instruction that faults is begun but not executed, and QEMU does not count it; one whose purpose is the
/// exception is.
fn trimmed((entry, operation): (u16, u16), timed: &Timed, mut steps: Vec<Executed>) -> Trace {
    let executed: Vec<Instruction> = steps.iter().map(Executed::decode).collect();
    let (own, control) = timed.own(&executed);
    let of_own = executed.get(own.clone()).unwrap_or_default();
    steps.truncate(own.end);
    steps.drain(..own.start);
    let enters = |pair: &&[Executed]| pair[0].ring == 3 && pair[1].ring == 0;
    let faults = steps.windows(2).zip(of_own).filter(|(pair, begun)| enters(pair) && faulted(begun)).count();
    Trace { entry, operation, steps, control: control + faults }
}

/// Whether an instruction that the kernel was entered by has faulted. Where there are no bytes, it could not even be fetched.
fn faulted(begun: &Instruction) -> bool {
    let is_made_to = begun.flow_control() != FlowControl::Next || begun.code() == Code::INVALID;
    begun.len() == 0 || !is_made_to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(ring: u8, bytes: &[u8]) -> Executed {
        Executed { address: 0x1000, ring, long: true, bytes: bytes.to_vec() }
    }

    /// How many of these instructions the count has, each of which enters the kernel.
    fn counted(bytes: &[u8]) -> usize {
        let timed = Timed { begin: 0, end: 0, control: Vec::new() };
        let trace = trimmed((1, 2), &timed, vec![step(3, bytes), step(0, &[0x90])]);
        assert_eq!((trace.entry, trace.operation, trace.steps.len()), (1, 2, 2));
        trace.steps.len() - trace.control
    }

    const ENTRY: u64 = 0xffff_ffff_8100_0000;

    /// A guest's debugger: each tick executes so many instructions of the kernel, all at its entry, before the program goes on.
    struct Ticks<'a> {
        each: &'a [usize],
        came: &'a mut usize,
        left: usize,
        answer: Vec<u8>,
    }

    impl Write for Ticks<'_> {
        fn write(&mut self, packet: &[u8]) -> std::io::Result<usize> {
            let text = std::str::from_utf8(packet).unwrap();
            let (asked, _) = text.split_once('$').unwrap().1.split_once('#').unwrap();
            let answer = match &asked[..1] {
                "s" | "c" => {
                    self.left = self.left.saturating_sub(1);
                    if asked == "c" {
                        self.left = self.each[*self.came];
                        *self.came += 1;
                    }
                    "T05".into()
                }
                "g" => {
                    let (rip, cs) = if self.left > 0 { (ENTRY, 0x10_u32) } else { (0x40_1000, USER_CS) };
                    let quads: String =
                        (0..16).chain([rip]).map(|quad: u64| format!("{:016x}", quad.swap_bytes())).collect();
                    format!("{quads}{:08x}{:08x}", 0, cs.swap_bytes())
                }
                // Each of the words that the processor has pushed is a selector of programs; as code, it is an instruction of two bytes.
                "m" => "33".repeat(usize::from_str_radix(asked.split_once(',').unwrap().1, 16).unwrap()),
                _ => "OK".into(),
            };
            let sum = answer.bytes().fold(0u8, u8::wrapping_add);
            self.answer = format!("+${answer}#{sum:02x}").into();
            Ok(packet.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Read for Ticks<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = self.answer.len().min(buffer.len());
            buffer[..length].copy_from_slice(&self.answer[..length]);
            self.answer.drain(..length);
            Ok(length)
        }
    }

    /// What is followed of a guest whose ticks execute so many instructions each, and how many came.
    fn tick_followed(each: &[usize]) -> (Result<usize, String>, usize) {
        let mut came = 0;
        let mut follower = Follower::new(Ticks { each, came: &mut came, left: 0, answer: Vec::new() });
        assert!(follower.timer(ENTRY).unwrap());
        let event = follower.followed.event.take().unwrap();
        drop(follower);
        (event.map(|steps| steps.len()), came)
    }

    #[test]
    fn a_tick_without_other_tasks_is_preferred_and_the_last_may_be_long() {
        assert_eq!(tick_followed(&[8000]), (Ok(8000), 1));
        assert_eq!(tick_followed(&[25_000, 8000, 9000]), (Ok(8000), 2));
        assert_eq!(tick_followed(&[25_000; TICKS]), (Ok(25_000), TICKS));
        let (endless, came) = tick_followed(&[60_000; TICKS]);
        assert!(endless.unwrap_err().ends_with("did not end within 50000 instructions") && came == TICKS);
    }

    #[test]
    fn an_instruction_that_faults_is_not_counted() {
        let (load, divide, nothing) = ([0x8a, 0x07], [0xf7, 0xf1], []);
        assert_eq!([counted(&load), counted(&divide), counted(&nothing)], [1, 1, 1]);
        let (syscall, int80, ud2, int3, lock_nop) =
            ([0x0f, 5], [0xcd, 0x80], [0x0f, 0x0b], [0xcc], [0xf0, 0x90]);
        for bytes in [&syscall[..], &int80, &ud2, &int3, &lock_nop] {
            assert_eq!(counted(bytes), 2, "{bytes:x?}");
        }
    }
}
