//! A program that sends messages (mach_changes.c), stopped by QEMU's debugging interface behind each read of the message's memory. There
//! the message can be changed, as no program could: there is one processor, and the kernel is not preempted.

use crate::build::Program;
use crate::guest::Script;
use crate::kernel::Kernel;
use crate::mach::{program, run};
use crate::monitor::{Monitor, connected, is_missing, wrapped};
use object::{Object, ObjectSymbol};
use places::guest::debugger::{Debugger, MOST_MEMORY, Registers, Stop};
use places::lab::{End, Interrupt, Limits, Qemu};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Where the kernel has all memory once more (lab/mm/mm.h).
const DIRECT_MAP: u64 = 0xffff_8880_0000_0000;

/// The numbers of registers in `Registers::general`.
const RDX: usize = 3;
const RSI: usize = 4;
const RDI: usize = 5;
const RSP: usize = 7;

/// rep movsq
const COPY: [u8; 3] = [0xf3, 0x48, 0xa5];
/// What it copies at a time.
pub const WORD: usize = 8;

/// As mach_changes.c numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scene {
    End,
    Header,
    Right,
    Full,
    Request,
    Both,
    Twice,
}

impl Scene {
    /// How much is sent.
    fn bytes(self, bits: u8) -> usize {
        let header = if bits == 64 { 32 } else { 24 };
        header + if matches!(self, Scene::Header | Scene::Both) { 0 } else { usize::from(bits) / 4 }
    }
}

/// What is done in a round.
#[derive(Debug, Default, Clone)]
pub struct Disturbance {
    /// What the program sends, in place of its own message.
    pub before: Option<Vec<u8>>,
    /// What it becomes behind so many reads of the kernel's; 0: before the first.
    pub during: Option<(usize, Vec<u8>)>,
    /// The kernel is made to read all of it again, from this address, when it has checked what it has read.
    pub again: Option<u64>,
}

/// What came of a round.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub message: Vec<u8>,
    /// How often the kernel has read each byte.
    pub reads: Vec<usize>,
    /// How often the program has read something.
    pub looks: usize,
    /// Instructions of the kernel that have read in another way than by copying, or by another address.
    pub odd: Vec<u64>,
    /// The message's memory behind the trap.
    pub left: Vec<u8>,
    /// What the program has noted; first, how much is wrong of what it does besides.
    pub notes: Vec<u32>,
}

/// A guest whose program is about to send.
pub struct Outside {
    debugger: Debugger,
    monitor: Monitor,
    pub bits: u8,
    symbols: BTreeMap<String, u64>,
    copy_user: u64,
    message_read: u64,
    message_send: u64,
    /// What the program is about to send.
    pub scene: Scene,
    /// Whether the kernel's instruction before an address, or the one at it, is that of a copy.
    copies: HashMap<u64, bool>,
}

impl Outside {
    /// Lets the guest run until the program is about to send for the first time; room for ports and messages, as it has found it.
    fn begin(folder: &Path, bits: u8, program: &Program) -> (Outside, Vec<u32>) {
        let file = object::File::parse(program.bytes.as_slice()).unwrap();
        let symbols = file.symbols().map(|symbol| (symbol.name().unwrap().to_string(), symbol.address()));
        let kernel = Kernel::read();
        let mut outside = Outside {
            debugger: Debugger::new(connected(&folder.join("debugger"), Duration::from_secs(60))),
            monitor: Monitor::open(&folder.join("monitor")),
            bits,
            symbols: symbols.collect(),
            copy_user: kernel.symbol("path_copy_user"),
            message_read: kernel.symbol("message_read"),
            message_send: kernel.symbol("message_send"),
            scene: Scene::Header,
            copies: HashMap::new(),
        };
        for name in ["is_ready", "is_sent"] {
            outside.debugger.watch(outside.symbols[name], 4).unwrap();
        }
        outside.go_to("is_ready");
        for at in [outside.own(), outside.alias()] {
            outside.debugger.watch(at, Scene::Right.bytes(bits)).unwrap();
        }
        let room = outside.notes();
        (outside, room)
    }

    /// Until the program has read a variable; nothing else that is watched is read before.
    fn go_to(&mut self, name: &str) {
        let stop = self.debugger.begin().unwrap();
        assert_eq!(stop, Stop::Read(self.symbols[name]), "{name}: {:x?}", self.debugger.registers());
    }

    fn read(&mut self, address: u64, bytes: usize) -> Vec<u8> {
        let pieces = (0..bytes).step_by(MOST_MEMORY).map(|at| {
            let piece = self.debugger.memory(address + at as u64, MOST_MEMORY.min(bytes - at)).unwrap();
            piece.unwrap_or_else(|| panic!("no memory at {address:#x}"))
        });
        pieces.collect::<Vec<_>>().concat()
    }

    fn write(&mut self, address: u64, bytes: &[u8]) {
        for (at, word) in bytes.chunks_exact(WORD).enumerate() {
            let value = u64::from_le_bytes(word.try_into().unwrap());
            self.debugger.write(address + (at * WORD) as u64, value).unwrap();
        }
    }

    fn message(&mut self) -> Vec<u8> {
        self.read(self.own(), self.scene.bytes(self.bits))
    }

    pub fn words(&mut self, name: &str, count: usize) -> Vec<u32> {
        let bytes = self.read(self.symbols[name], count * 4);
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    fn notes(&mut self) -> Vec<u32> {
        let count = self.words("note_count", 1)[0] as usize;
        assert!(count < 1000, "the program has more to note than there is room for");
        self.words("notes", count)
    }

    /// Where the program has the message.
    pub fn own(&self) -> u64 {
        self.symbols["message"]
    }

    /// Where the kernel has its memory besides.
    pub fn alias(&mut self) -> u64 {
        let answer = self.monitor.ask(&format!("gva2gpa {:#x}", self.own()));
        let digits = answer.split("gpa: 0x").nth(1).and_then(|rest| rest.split_whitespace().next());
        DIRECT_MAP + u64::from_str_radix(digits.unwrap_or_else(|| panic!("{answer}")), 16).unwrap()
    }

    /// Sends what the program is about to send; then it is about to send another message.
    pub fn next(&mut self, scene: Scene) -> Outcome {
        self.debugger.write(self.symbols["scene"], scene as u64).unwrap();
        let outcome = self.round(&Disturbance::default());
        self.scene = scene;
        outcome
    }

    /// What comes of the message that the program is about to send; then it is about to send the same once more.
    pub fn round(&mut self, disturbance: &Disturbance) -> Outcome {
        let message = self.own();
        disturbance.before.iter().for_each(|before| self.write(message, before));
        let sent = self.message();
        let mut outcome = Outcome { reads: vec![0; sent.len()], message: sent, ..Outcome::default() };
        // Before the first read, the kernel stops where it is about to read a message.
        if matches!(disturbance.during, Some((0, _))) {
            self.debugger.insert(self.message_read).unwrap();
        }
        if disturbance.again.is_some() {
            self.debugger.insert(self.message_send).unwrap();
        }
        self.send(disturbance, &mut outcome);
        outcome.left = self.message();
        self.go_to("is_ready");
        outcome.notes = self.notes();
        outcome
    }

    /// Until the trap is over.
    fn send(&mut self, disturbance: &Disturbance, outcome: &mut Outcome) {
        let (mut stop, mut words) = (self.debugger.begin().unwrap(), 0);
        let (mut copy, mut before) = (None, None);
        while stop != Stop::Read(self.symbols["is_sent"]) {
            let at = self.debugger.registers().unwrap();
            match stop {
                Stop::Read(watched) => {
                    self.tell_read(watched, &at, outcome);
                    copy.get_or_insert(at.general[RDI].wrapping_sub(WORD as u64));
                    words += 1;
                    self.change(disturbance, words);
                }
                Stop::There if at.rip == self.message_read => {
                    assert_eq!((at.general[RDI], words), (self.own(), 0));
                    self.change(disturbance, 0);
                    self.debugger.remove(self.message_read).unwrap();
                }
                Stop::There => {
                    assert_eq!(at.rip, self.message_send);
                    if let Some(before) = before.take() {
                        self.debugger.set_registers(&before).unwrap();
                        self.debugger.remove(self.message_send).unwrap();
                    } else {
                        let bytes = outcome.message.len() as u64;
                        self.call_copy(at, [copy.unwrap(), disturbance.again.unwrap(), bytes]);
                        before = Some(at);
                    }
                }
            }
            stop = self.debugger.begin().unwrap();
        }
    }

    fn change(&mut self, disturbance: &Disturbance, words: usize) {
        if let Some((_, new)) = disturbance.during.iter().find(|(at, _)| *at == words) {
            self.write(self.own(), new);
        }
    }

    /// Behind an instruction that has read some of the message.
    fn tell_read(&mut self, watched: u64, at: &Registers, outcome: &mut Outcome) {
        if at.ring() == 3 {
            outcome.looks += 1;
            return;
        }
        let is_copy = self.is_copy(at.rip);
        let message = self.own();
        let read = at.general[RSI].wrapping_sub(message).wrapping_sub(WORD as u64) as usize;
        match outcome.reads.get_mut(read..read.wrapping_add(WORD)) {
            Some(reads) if is_copy && watched == message => reads.iter_mut().for_each(|read| *read += 1),
            _ => outcome.odd.push(at.rip),
        }
    }

    /// Whether the instruction at an address is that of a copy, which goes on; or the one before, which is at its end.
    fn is_copy(&mut self, rip: u64) -> bool {
        if let Some(is_copy) = self.copies.get(&rip) {
            return *is_copy;
        }
        let length = COPY.len();
        let code = self.read(rip - length as u64, 2 * length);
        let is_copy = code[length..] == COPY || code[..length] == COPY;
        self.copies.insert(rip, is_copy);
        is_copy
    }

    /// The kernel is about to copy, and to come back to where it is.
    fn call_copy(&mut self, mut registers: Registers, [to, from, bytes]: [u64; 3]) {
        registers.general[RSP] -= WORD as u64;
        self.debugger.write(registers.rsp(), registers.rip).unwrap();
        (registers.general[RDI], registers.general[RSI], registers.general[RDX]) = (to, from, bytes);
        // It keeps where it has built the path.
        let path = self.read(self.copy_user, WORD);
        registers.rip = u64::from_le_bytes(path.try_into().unwrap());
        self.debugger.set_registers(&registers).unwrap();
    }

    /// Lets the program send once more, and end; room for ports and messages then.
    pub fn end(mut self) -> Vec<u32> {
        let notes = self.next(Scene::End).notes;
        self.debugger.detach().unwrap();
        notes
    }
}

/// Nobody lets a guest go on whose test has failed.
struct Stopping(Interrupt);

impl Drop for Stopping {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Boots the program, talks with the guest, and hears it out: it must end well.
pub fn with_guest(bits: u8, talk: impl FnOnce(Outside, Vec<u32>) + Send) {
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let socket = |name: &str| {
        format!("-chardev socket,id={name},path={}/{name},server=on,wait=off", folder.path().display())
    };
    let options =
        format!("{} -gdb chardev:debugger {} -mon monitor -S", socket("debugger"), socket("monitor"));
    let qemu = wrapped(folder.path(), &format!("exec qemu-system-x86_64 \"$@\" {options}"));
    let program = program(bits, "mach_changes.c");
    let mut script = Script::new();
    script.limit(0);
    script.set("personality=mach");
    run(&mut script, &program, 0, &[]);
    let interrupt = Interrupt::default();
    let boots = |archive: &[u8], programs, limits: &Limits| {
        qemu.boot(archive, programs, &Limits { interrupt: interrupt.clone(), ..limits.clone() })
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _stopping = Stopping(interrupt.clone());
            let (outside, room) = Outside::begin(folder.path(), bits, &program);
            talk(outside, room);
        });
        let session = script.boot_in(&boots, Qemu::TCG_HERTZ).unwrap();
        let ran = &session.ran[0];
        assert_eq!((ran.end, &ran.log), (End::Exited(0), &Vec::new()), "{}", ran.label);
    });
}
