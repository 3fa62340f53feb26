//! A client of the protocol that debuggers speak with what runs a program (GDB's manual, appendix E), as far as following needs it.
//! Whoever answers is not trusted: a packet has a bound, and one that makes no sense ends the conversation.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

/// The longest packet: QEMU's are shorter than 4 KiB.
const LONGEST: usize = 64 << 10;

/// The most bytes of memory that are asked for at once; hexadecimal they fit into one of QEMU's packets.
pub const MOST_MEMORY: usize = 1024;

/// Why a conversation is over.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The other side has closed it, or cannot be reached.
    #[error("QEMU's debugging interface: {0}")]
    Connection(#[from] io::Error),
    /// What came is no packet, or none that answers what was asked.
    #[error("QEMU's debugging interface answered {asked} with {answer:?}")]
    Nonsense {
        /// What was asked.
        asked: String,
        /// The beginning of the answer.
        answer: String,
    },
    /// What the guest says of its kernel's symbols.
    #[error("the guest's list of its kernel's symbols makes no sense")]
    Symbols,
}

/// The registers that tell where a processor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8 to r15.
    pub general: [u64; 16],
    /// The next instruction's address.
    pub rip: u64,
    /// The code segment's selector; its lowest two bits are the ring.
    pub cs: u32,
}

impl Registers {
    const RAX: usize = 0;
    const RDX: usize = 3;
    const RSI: usize = 4;
    const RDI: usize = 5;
    const RSP: usize = 7;

    /// Arguments of a call (System V ABI, 3.2.3).
    pub fn first_arguments(&self) -> [u64; 3] {
        [Registers::RDI, Registers::RSI, Registers::RDX].map(|register| self.general[register])
    }

    /// What a system call has returned.
    pub fn result(&self) -> i64 {
        self.general[Registers::RAX].cast_signed()
    }

    /// The stack pointer.
    pub fn rsp(&self) -> u64 {
        self.general[Registers::RSP]
    }

    /// The ring.
    pub fn ring(&self) -> u8 {
        (self.cs & 3) as u8
    }

    /// By QEMU's answer to `g`: sixteen registers and rip of eight bytes, eflags and cs of four, and others behind them.
    fn parse(answer: &[u8]) -> Option<Registers> {
        let bytes = unhex(answer)?;
        let mut quads =
            bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
        let mut general = [0; 16];
        for register in &mut general {
            *register = quads.next()?;
        }
        let rip = quads.next()?;
        let cs = bytes.get(17 * 8 + 4..17 * 8 + 8)?;
        Some(Registers { general, rip, cs: u32::from_le_bytes(cs.try_into().ok()?) })
    }
}

/// Why a guest has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It has executed one instruction, or is at one to stop at.
    There,
    /// It has read something of what is watched from this address on.
    Read(u64),
}

/// A conversation with QEMU about a guest that is stopped.
pub struct Debugger<C = UnixStream> {
    connection: C,
    received: Vec<u8>,
}

impl<C: Read + Write> Debugger<C> {
    /// Over this connection.
    pub fn new(connection: C) -> Debugger<C> {
        Debugger { connection, received: Vec::new() }
    }

    /// Stops whatever executes the instruction at this virtual address, in whichever address space.
    pub fn insert(&mut self, address: u64) -> Result<(), Error> {
        self.done(&format!("Z1,{address:x},1"))
    }

    /// No longer.
    pub fn remove(&mut self, address: u64) -> Result<(), Error> {
        self.done(&format!("z1,{address:x},1"))
    }

    /// Stops whatever reads any of so many bytes at this virtual address, in whichever ring and address space, behind the instruction that
    /// has read it; of one that repeats, behind each time.
    pub fn watch(&mut self, address: u64, length: usize) -> Result<(), Error> {
        self.done(&format!("Z3,{address:x},{length:x}"))
    }

    /// Executes one instruction. Meanwhile QEMU lets no interrupt and no timer in (its `sstep` mask is 7 unless it is changed): what is
    /// followed is the instruction's own path, and the virtual clock has not moved when the guest goes on.
    pub fn step(&mut self) -> Result<Stop, Error> {
        self.stopped("s")
    }

    /// Lets the guest run until it stops. The instruction that it is at may itself be one to stop at, and is stepped over.
    pub fn go(&mut self) -> Result<Stop, Error> {
        self.step()?;
        self.stopped("c")
    }

    /// Lets a guest run until it stops that has not begun, or has read what is watched.
    pub fn begin(&mut self) -> Result<Stop, Error> {
        self.stopped("c")
    }

    /// The registers.
    pub fn registers(&mut self) -> Result<Registers, Error> {
        let answer = self.ask("g")?;
        Registers::parse(&answer).ok_or_else(|| nonsense("g", &answer))
    }

    /// Gives the general registers and rip these values.
    pub fn set_registers(&mut self, registers: &Registers) -> Result<(), Error> {
        let answer = self.ask("g")?;
        let values: String = registers.general.into_iter().chain([registers.rip]).map(hex).collect();
        let rest = answer.get(values.len()..).and_then(|rest| std::str::from_utf8(rest).ok());
        let rest = rest.ok_or_else(|| nonsense("g", &answer))?;
        self.done(&format!("G{values}{rest}"))
    }

    /// So many bytes of memory, at most [`MOST_MEMORY`]; none where there is no memory.
    pub fn memory(&mut self, address: u64, length: usize) -> Result<Option<Vec<u8>>, Error> {
        let asked = format!("m{address:x},{:x}", length.min(MOST_MEMORY));
        let answer = self.ask(&asked)?;
        if answer.first() == Some(&b'E') {
            return Ok(None);
        }
        let bytes = unhex(&answer).filter(|bytes| bytes.len() == length.min(MOST_MEMORY));
        bytes.map(Some).ok_or_else(|| nonsense(&asked, &answer))
    }

    /// Writes eight bytes to memory that is there.
    pub fn write(&mut self, address: u64, value: u64) -> Result<(), Error> {
        self.done(&format!("M{address:x},8:{}", hex(value)))
    }

    /// Lets the guest run, and ends the conversation.
    pub fn detach(&mut self) -> Result<(), Error> {
        self.done("D")
    }

    fn done(&mut self, asked: &str) -> Result<(), Error> {
        let answer = self.ask(asked)?;
        if answer == b"OK" { Ok(()) } else { Err(nonsense(asked, &answer)) }
    }

    /// Signal 5 is SIGTRAP: a step is done, a breakpoint was reached, or something was read (`T05thread:01;rwatch:401000;`).
    fn stopped(&mut self, asked: &str) -> Result<Stop, Error> {
        let answer = self.ask(asked)?;
        let text = answer.strip_prefix(b"T05").and_then(|pairs| std::str::from_utf8(pairs).ok());
        let text = text.ok_or_else(|| nonsense(asked, &answer))?;
        match text.split(';').find_map(|pair| pair.strip_prefix("rwatch:")) {
            None => Ok(Stop::There),
            Some(address) => {
                let address = u64::from_str_radix(address, 16);
                address.map(Stop::Read).map_err(|_| nonsense(asked, &answer))
            }
        }
    }

    fn ask(&mut self, asked: &str) -> Result<Vec<u8>, Error> {
        let sum = asked.bytes().fold(0u8, u8::wrapping_add);
        // With the acknowledgement of what came before.
        self.connection.write_all(format!("+${asked}#{sum:02x}").as_bytes())?;
        let mut buffer = [0; 4096];
        loop {
            if let Some(packet) = packet(&mut self.received).map_err(|bytes| nonsense(asked, &bytes))? {
                return Ok(packet);
            }
            match self.connection.read(&mut buffer) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(count) => self.received.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Takes the first whole packet, `$content#checksum`, without the acknowledgements before it; none until there is one.
///
/// # Errors
/// What came, if it is no packet.
fn packet(received: &mut Vec<u8>) -> Result<Option<Vec<u8>>, Vec<u8>> {
    let acknowledged = received.iter().take_while(|byte| **byte == b'+').count();
    received.drain(..acknowledged);
    let is_wrong = received.first().is_some_and(|byte| *byte != b'$') || received.len() > LONGEST;
    if is_wrong {
        return Err(std::mem::take(received));
    }
    let Some(end) = received.iter().position(|byte| *byte == b'#') else { return Ok(None) };
    let Some(digits) = received.get(end + 1..end + 3) else { return Ok(None) };
    let content = received.get(1..end).unwrap_or_default().to_vec();
    let sum = content.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    if unhex(digits) != Some(vec![sum]) {
        return Err(std::mem::take(received));
    }
    received.drain(..end + 3);
    Ok(Some(content))
}

/// The lowest byte first.
fn hex(value: u64) -> String {
    value.to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let byte = |pair: &[u8]| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?);
    digits.chunks(2).map(byte).collect()
}

fn nonsense(asked: &str, answer: &[u8]) -> Error {
    let answer = String::from_utf8_lossy(answer).chars().take(80).collect();
    Error::Nonsense { asked: asked.into(), answer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Answers what it is told to, whatever is asked.
    struct Saying {
        answers: VecDeque<Vec<u8>>,
        asked: Vec<u8>,
    }

    impl Read for Saying {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(answer) = self.answers.pop_front() else { return Ok(0) };
            buffer[..answer.len()].copy_from_slice(&answer);
            Ok(answer.len())
        }
    }

    impl Write for Saying {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.asked.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn saying(answers: &[&[u8]]) -> Debugger<Saying> {
        let answers = answers.iter().map(|answer| answer.to_vec()).collect();
        Debugger::new(Saying { answers, asked: Vec::new() })
    }

    fn framed(content: &str) -> Vec<u8> {
        let sum = content.bytes().fold(0u8, u8::wrapping_add);
        format!("${content}#{sum:02x}").into_bytes()
    }

    #[test]
    fn packets_are_taken_whatever_the_pieces() {
        let whole = framed("OK");
        for piece in [1, 2, 100] {
            let pieces: Vec<&[u8]> = [b"+".as_slice()].into_iter().chain(whole.chunks(piece)).collect();
            let mut debugger = saying(&pieces);
            debugger.insert(0xffff_8000).unwrap();
            assert_eq!(debugger.connection.asked, b"+$Z1,ffff8000,1#74");
        }
    }

    #[test]
    fn registers_stand_where_qemu_has_them() {
        let mut bytes: Vec<u8> = (1..=17u64).flat_map(u64::to_le_bytes).collect();
        bytes.extend(0x246u32.to_le_bytes());
        bytes.extend(0x33u32.to_le_bytes());
        bytes.extend([0; 100]);
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let registers = saying(&[&framed(&text)]).registers().unwrap();
        assert_eq!((registers.rip, registers.cs, registers.ring()), (17, 0x33, 3));
        assert_eq!((registers.first_arguments(), registers.rsp()), ([6, 5, 4], 8));
    }

    #[test]
    fn whatever_is_no_answer_ends_the_conversation() {
        let long = vec![b'a'; 4096];
        let mut endless = vec![b"$".as_slice()];
        endless.extend(std::iter::repeat_n(long.as_slice(), 20));
        for answers in [
            vec![],
            vec![b"OK".as_slice()],
            vec![b"$OK#00"],
            vec![b"$OK#zz"],
            vec![b"$E01#a6"],
            vec![b"$#00"],
            endless,
        ] {
            assert!(saying(&answers).insert(1).is_err(), "{answers:?}");
        }
        assert!(saying(&[&framed("T0b")]).step().is_err(), "another signal");
        assert!(saying(&[&framed("W00")]).begin().is_err(), "QEMU ended");
        assert!(saying(&[&framed("0011223")]).registers().is_err());
        assert!(saying(&[&framed("00zz")]).memory(0, 2).is_err());
        assert!(saying(&[&framed("0011")]).memory(0, 3).is_err(), "too short");
    }

    #[test]
    fn what_is_written_has_its_lowest_byte_first() {
        let mut debugger = saying(&[&framed("OK")]);
        debugger.write(0x1000, 0x0102).unwrap();
        assert!(debugger.connection.asked.starts_with(b"+$M1000,8:0201000000000000#"));
    }

    #[test]
    fn registers_that_are_not_set_keep_their_values() {
        let (old, rest) = ("0".repeat(16 * 17), "12345678");
        let registers = Registers { general: [1; 16], rip: 2, cs: 0 };
        let mut debugger = saying(&[&framed(&format!("{old}{rest}")), &framed("OK")]);
        debugger.set_registers(&registers).unwrap();
        let new = format!("G{}0200000000000000{rest}#", "0100000000000000".repeat(16));
        assert!(String::from_utf8_lossy(&debugger.connection.asked).contains(&new));
        assert!(saying(&[&framed("0011")]).set_registers(&registers).is_err());
    }

    #[test]
    fn what_was_read_is_told_from_where_the_guest_is() {
        let stop = |answer: &str| saying(&[&framed(answer)]).begin();
        assert_eq!(stop("T05thread:01;").unwrap(), Stop::There);
        assert_eq!(stop("T05thread:01;rwatch:401000;").unwrap(), Stop::Read(0x40_1000));
        assert!(stop("T05thread:01;rwatch:x;").is_err());
    }

    #[test]
    fn memory_that_is_not_there_is_none() {
        assert_eq!(saying(&[&framed("E14")]).memory(0, 2).unwrap(), None);
        assert_eq!(saying(&[&framed("00fF")]).memory(0, 2).unwrap(), Some(vec![0, 255]));
    }
}
