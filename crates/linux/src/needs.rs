//! What a program, or a library, says that it needs.

use crate::Why;
use object::LittleEndian as LE;
use object::elf::{
    DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_SONAME, DT_STRSZ, DT_STRTAB, DynamicTag, EM_386, EM_X86_64,
    FileHeader32, FileHeader64, Machine, PT_LOAD,
};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};

/// The processor's mode that code is for: the class of the file (1 for 32 bits, 2 for 64), and its machine. x32 is the machine
/// of 64-bit code in files of 32 bits.
pub(crate) type Mode = (u8, Machine);

/// What an ELF file needs to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Needs {
    pub mode: Mode,
    /// The program that loads it; none where the kernel alone does.
    pub interpreter: Option<Vec<u8>>,
    /// Libraries, by name or path.
    pub libraries: Vec<Vec<u8>>,
    /// What it is called by those that need it.
    pub own_name: Option<Vec<u8>>,
    /// Folders, with colons between them, in which its libraries and those of its libraries are.
    pub rpath: Option<Vec<u8>>,
    /// Folders, with colons between them, in which its own libraries are.
    pub runpath: Option<Vec<u8>>,
}

impl Needs {
    /// What the bytes of an ELF file say.
    pub fn parse(bytes: &[u8]) -> Result<Self, Why> {
        let mode = mode(bytes).ok_or(Why::Unsuitable("it is not a program for x86".into()))?;
        if mode.0 == 2 {
            Self::of::<FileHeader64<LE>>(bytes, mode)
        } else {
            Self::of::<FileHeader32<LE>>(bytes, mode)
        }
    }

    fn of<Elf: FileHeader<Endian = LE>>(bytes: &[u8], mode: Mode) -> Result<Self, Why> {
        let damaged = |error: object::Error| Why::Damaged(format!("its ELF file is not whole ({error})"));
        let header = Elf::parse(bytes).map_err(damaged)?;
        let segments = header.program_headers(LE, bytes).map_err(damaged)?;
        let mut interpreter = None;
        let mut dynamic: &[Elf::Dyn] = &[];
        for segment in segments {
            interpreter = interpreter.or(segment.interpreter(LE, bytes).map_err(damaged)?);
            dynamic = segment.dynamic(LE, bytes).map_err(damaged)?.unwrap_or(dynamic);
        }
        let value =
            |tag: DynamicTag| dynamic.iter().find(|entry| entry.tag(LE) == tag).map(|entry| entry.val(LE));
        let loaded = segments.iter().filter(|segment| segment.p_type(LE) == PT_LOAD);
        let strings = value(DT_STRTAB).zip(value(DT_STRSZ)).and_then(|(address, length)| {
            loaded.filter_map(|segment| segment.data_range(LE, bytes, address, length).ok().flatten()).next()
        });
        let string = |at: u64| {
            let rest = strings?.get(usize::try_from(at).ok()?..)?;
            Some(rest.split(|byte| *byte == 0).next()?.to_vec())
        };
        let cut = || Why::Damaged("names of libraries are missing".into());
        let needed = dynamic.iter().filter(|entry| entry.tag(LE) == DT_NEEDED);
        Ok(Self {
            mode,
            interpreter: interpreter.map(<[u8]>::to_vec),
            libraries: needed.map(|entry| string(entry.val(LE)).ok_or_else(cut)).collect::<Result<_, _>>()?,
            own_name: value(DT_SONAME).and_then(string),
            rpath: value(DT_RPATH).and_then(string),
            runpath: value(DT_RUNPATH).and_then(string),
        })
    }
}

/// The mode of an ELF file for x86; none where it is something else.
pub(crate) fn mode(bytes: &[u8]) -> Option<Mode> {
    let class = *bytes.strip_prefix(b"\x7fELF")?.first()?;
    let machine = Machine(u16::from_le_bytes(*bytes.get(18..)?.first_chunk()?));
    matches!((class, machine), (1, EM_386) | (1 | 2, EM_X86_64)).then_some((class, machine))
}
