//! Records of a ring buffer of perf events (include/uapi/linux/perf_event.h), parsed. They are hostile until parsed: a ring that was
//! overwritten, or a kernel that writes other fields, must not be taken for calls.

/// What a record tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A call was made.
    Call {
        /// The process and the thread.
        pid: u32,
        /// The thread.
        tid: u32,
        /// The number, as the kernel got it.
        number: u32,
        /// The first argument.
        first: u64,
        /// What the program's registers tell of its way into the kernel; none where the kernel had none.
        registers: Option<Registers>,
    },
    /// So many records found no room.
    Lost(u64),
    /// A process has a new name; `executed` where that comes from a new program.
    Named {
        /// The process.
        pid: u32,
        /// The thread.
        tid: u32,
        /// Its name.
        name: String,
        /// Whether it executes a new program.
        executed: bool,
    },
    /// A process made another, or a thread.
    Forked {
        /// The new one.
        pid: u32,
        /// The process that made it.
        parent: u32,
    },
    /// Where a process has the vDSO: from the first address, so many bytes.
    Vdso {
        /// The process.
        pid: u32,
        /// The first address.
        first: u64,
        /// How long it is.
        length: u64,
    },
    /// Something that was not asked for, or is too short to be read.
    Other,
}

/// Of a program that makes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// Whether it executes 64-bit code.
    pub is_64: bool,
    /// rcx, or ecx.
    pub counter: u64,
    /// Where it will go on.
    pub instruction: u64,
}

const RECORD_MMAP: u32 = 1;
const RECORD_LOST: u32 = 2;
const RECORD_COMM: u32 = 3;
const RECORD_FORK: u32 = 7;
const RECORD_SAMPLE: u32 = 9;

/// Of a name: it comes from execve (PERF_RECORD_MISC_COMM_EXEC).
const MISC_EXEC: u16 = 1 << 13;

/// PERF_SAMPLE_REGS_ABI_32 and _64.
const CODE_32: u64 = 1;
const CODE_64: u64 = 2;

/// What is asked for of a sample: PERF_SAMPLE_TID, _RAW, _REGS_USER; and which registers, in the order of their bits: cx, ip.
pub(crate) const SAMPLE_TYPE: u64 = 1 << 1 | 1 << 10 | 1 << 12;
pub(crate) const SAMPLE_REGISTERS: u64 = 1 << 2 | 1 << 8;

/// Where the tracepoint's number and its arguments begin: behind the eight bytes that all tracepoints have.
const NUMBER_AT: usize = 8;
const FIRST_AT: usize = 16;

/// The records in these bytes, each by its header's length; what follows a length that cannot be is left out.
pub fn records(bytes: &[u8]) -> impl Iterator<Item = Record> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let header = Fields(rest.get(..8)?);
        let (kind, misc, length) = header.parts()?;
        let (one, others) = rest.split_at_checked(usize::from(length)).filter(|_| length >= 8)?;
        rest = others;
        Some(record(kind, misc, one.get(8..)?).unwrap_or(Record::Other))
    })
}

fn record(kind: u32, misc: u16, body: &[u8]) -> Option<Record> {
    let mut fields = Fields(body);
    match kind {
        RECORD_SAMPLE => sample(&mut fields),
        RECORD_LOST => {
            fields.u64()?;
            fields.u64().map(Record::Lost)
        }
        RECORD_COMM => {
            let (pid, tid) = (fields.u32()?, fields.u32()?);
            let name = fields.0.split(|byte| *byte == 0).next().unwrap_or_default();
            let name = String::from_utf8_lossy(name).into_owned();
            Some(Record::Named { pid, tid, name, executed: misc & MISC_EXEC != 0 })
        }
        RECORD_MMAP => {
            let (pid, _) = (fields.u32()?, fields.u32()?);
            let (first, length, _) = (fields.u64()?, fields.u64()?, fields.u64()?);
            let is_vdso = fields.0.split(|byte| *byte == 0).next() == Some(b"[vdso]");
            is_vdso.then_some(Record::Vdso { pid, first, length })
        }
        RECORD_FORK => {
            let (pid, parent) = (fields.u32()?, fields.u32()?);
            Some(Record::Forked { pid, parent })
        }
        _ => None,
    }
}

fn sample(fields: &mut Fields) -> Option<Record> {
    let (pid, tid) = (fields.u32()?, fields.u32()?);
    let length = fields.u32()? as usize;
    let raw = fields.bytes(length)?;
    let number = Fields(raw.get(NUMBER_AT..)?).u64()? as u32;
    let first = Fields(raw.get(FIRST_AT..)?).u64()?;
    let registers = match fields.u64()? {
        abi @ (CODE_32 | CODE_64) => {
            let (counter, instruction) = (fields.u64()?, fields.u64()?);
            Some(Registers { is_64: abi == CODE_64, counter, instruction })
        }
        _ => None,
    };
    Some(Record::Call { pid, tid, number, first, registers })
}

/// Little-endian numbers, one behind the other.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        self.bytes(2)?.try_into().ok().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.bytes(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.bytes(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// Of a header: kind, flags, length.
    fn parts(mut self) -> Option<(u32, u16, u16)> {
        Some((self.u32()?, self.u16()?, self.u16()?))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    fn of(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let length = u16::try_from(8 + body.len()).unwrap();
        [&kind.to_le_bytes()[..], &misc.to_le_bytes(), &length.to_le_bytes(), body].concat()
    }

    fn call(number: u64, abi: u64) -> Vec<u8> {
        let raw = [&[0; 8][..], &number.to_le_bytes(), &7u64.to_le_bytes(), &[0; 44]].concat();
        let registers = [abi, 0x1000, 0x1000].map(u64::to_le_bytes).concat();
        let registers = if abi == 0 { &registers[..8] } else { &registers[..] };
        let ids = [11u32, 12, u32::try_from(raw.len()).unwrap()].map(u32::to_le_bytes).concat();
        of(RECORD_SAMPLE, 0, &[&ids[..], &raw, registers].concat())
    }

    fn map(name: &[u8]) -> Vec<u8> {
        [
            &[11u32, 12].map(u32::to_le_bytes).concat()[..],
            &[0x7000u64, 0x2000, 0].map(u64::to_le_bytes).concat(),
            name,
        ]
        .concat()
    }

    fn all() -> Vec<u8> {
        let lost = [0u64, 5].map(u64::to_le_bytes).concat();
        let ids = [11u32, 12].map(u32::to_le_bytes).concat();
        let name = [&ids[..], b"redis-server\0\0\0\0"].concat();
        let fork = [20u32, 11, 20, 12].map(u32::to_le_bytes).concat();
        [
            call(110, CODE_64),
            call(64, CODE_32),
            call(1, 0),
            of(RECORD_LOST, 0, &lost),
            of(RECORD_COMM, MISC_EXEC, &name),
            of(RECORD_FORK, 0, &fork),
            of(RECORD_MMAP, 0, &map(b"[vdso]\0\0")),
            of(RECORD_MMAP, 0, &map(b"/bin/true\0")),
            of(RECORD_COMM + 100, 0, &[]),
        ]
        .concat()
    }

    #[test]
    fn records_tell_what_they_are() {
        let registers = |is_64| Some(Registers { is_64, counter: 0x1000, instruction: 0x1000 });
        let call = |number, registers| Record::Call { pid: 11, tid: 12, number, first: 7, registers };
        let named = Record::Named { pid: 11, tid: 12, name: "redis-server".into(), executed: true };
        let wanted = [
            call(110, registers(true)),
            call(64, registers(false)),
            call(1, None),
            Record::Lost(5),
            named,
            Record::Forked { pid: 20, parent: 11 },
            Record::Vdso { pid: 11, first: 0x7000, length: 0x2000 },
            Record::Other,
            Record::Other,
        ];
        assert_eq!(records(&all()).collect::<Vec<_>>(), wanted);
    }

    /// Every cut and every changed byte: fewer records or other ones, but an end, and no panic.
    #[test]
    fn a_broken_ring_is_no_calls_without_end() {
        let whole = all();
        for length in 0..whole.len() {
            assert!(records(&whole[..length]).count() < 9);
        }
        for at in 0..whole.len() {
            for value in [0, 1, 7, 8, 0x7f, 0x80, 0xff] {
                let mut broken = whole.clone();
                broken[at] = value;
                assert!(records(&broken).count() <= whole.len() / 8);
            }
        }
    }

    #[test]
    fn a_sample_too_short_for_its_data_is_no_call() {
        let ids = [1u32, 1, u32::MAX].map(u32::to_le_bytes).concat();
        let too_long = of(RECORD_SAMPLE, 0, &[&ids[..], &[0; 64]].concat());
        assert_eq!(records(&too_long).collect::<Vec<_>>(), [Record::Other]);
    }
}
