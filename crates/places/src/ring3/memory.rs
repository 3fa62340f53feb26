//! The lab kernel's memory as a program has it: its code and data, 1 GiB above address 0 instead of 2 GiB below the top. Both are
//! addresses that an instruction has in 32 bits, so that a path needs no other instruction here than there; and as all is moved by the
//! same distance, each variable lies in the same place of its page and of its cache line as in the kernel.

use super::Error;
use crate::lab::{self, Mode};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};
use table::SwitchValues;
use table::paths::File;

/// Where the kernel is linked (`lab/kernel.lds`).
pub(super) const KERNEL: u64 = 0xffff_ffff_8000_0000;

/// Where it is here.
const HERE: u64 = 0x4000_0000;

/// Beyond the kernel's image and the two pages of Zen 3 and 4 (`lab/entry/frame_layout.h`).
const ROOM: u64 = 0x2000_0000;

const UNTRAIN_PAGE: u64 = 0xffff_ffff_9000_0000;
const SAFE_RETURN_PAGE: u64 = 0xffff_ffff_9010_4000;

const PAGE: u64 = 4096;

/// As `lab/entry/layout.h` has it: of a thread's stack, and below it a page that is not mapped.
const STACK_BYTES: u64 = 4096 + 16384 + STACK_ROOM;
/// The same of an entry stack.
const ENTRY_STACK_BYTES: u64 = 4096 + 12288 + STACK_ROOM;
const STACK_ROOM: u64 = 4096;
const STACK_STEP: u64 = 64;

/// Both tables of calls end before this number.
const CALLS: usize = 512;

/// Linux's selector of programs' data (`__USER_DS`), which is what VERW is given: a segment that may be written, as the kernel's own is
/// for the kernel.
const USER_DATA: u16 = 0x2b;

/// `endbr64`.
const LANDING: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

const RET: u8 = 0xc3;
const JMP: u8 = 0xe9;

/// So many bytes each return has room for (`lab/entry/returns.h`).
const RETURN_BYTES: u64 = 5;

/// A part of a program's memory.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    /// Where the program has it.
    pub address: u64,
    /// Whether it may be executed; else it may be written.
    pub executable: bool,
    /// What it begins with.
    pub bytes: Vec<u8>,
    /// How long it is; zeros behind its bytes.
    pub length: u64,
}

/// Where a program has what the kernel has at an address; anything else stays.
pub(super) fn moved(address: u64) -> u64 {
    match address.checked_sub(KERNEL) {
        Some(offset) if offset < ROOM => HERE + offset,
        _ => address,
    }
}

/// The kernel's memory, with what it finds there when it serves a call.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    segments: Vec<Segment>,
}

impl Memory {
    /// As the kernel's file has it, with what the kernel does and finds before a program runs with these values; `service` is what every number
    /// is served by.
    pub fn new(file: &File, values: &SwitchValues, service: u64) -> Result<Memory, Error> {
        let mut memory = Memory { segments: segments(file)? };
        memory.prepare_returns(file, values)?;
        memory.prepare(file, values, service)?;
        Ok(memory)
    }

    /// Writes at an address of the kernel.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let outside = || Error::Outside(address);
        let to = moved(address);
        let is_there = |segment: &&mut Segment| {
            to.checked_sub(segment.address).is_some_and(|offset| offset < segment.length)
        };
        let segment = self.segments.iter_mut().find(is_there).ok_or_else(outside)?;
        let page = to - to % PAGE;
        if page > segment.address + segment.bytes.len() as u64 {
            // Far behind its bytes: a segment of its own, so that a program's file has no more than what is not zero.
            let rest = segment.length - (page - segment.address);
            segment.length -= rest;
            self.segments.push(Segment { address: page, executable: false, bytes: Vec::new(), length: rest });
        }
        let segment = self.segments.iter_mut().find(is_there).ok_or_else(outside)?;
        let start = usize::try_from(to - segment.address).map_err(|_| outside())?;
        let end = start.checked_add(bytes.len()).filter(|end| *end as u64 <= segment.length);
        let end = end.ok_or_else(outside)?;
        if segment.bytes.len() < end {
            segment.bytes.resize(end, 0);
        }
        segment.bytes.get_mut(start..end).ok_or_else(outside)?.copy_from_slice(bytes);
        Ok(())
    }

    fn write_word(&mut self, file: &File, symbol: &str, value: u64) -> Result<(), Error> {
        self.write(file.symbol(symbol)?, &value.to_le_bytes())
    }

    /// Where the kernel's stacks begin: moved by a layout, as the lab's plan moves them.
    pub fn place_stacks(&mut self, file: &File, layout: u64) -> Result<(), Error> {
        let distance = layout % (STACK_ROOM / STACK_STEP) * STACK_STEP;
        for (variable, stacks, bytes) in [
            ("kernel_stack", "kernel_stacks", STACK_BYTES),
            ("entry_stack", "entry_stacks", ENTRY_STACK_BYTES),
        ] {
            self.write_word(file, variable, moved(file.symbol(stacks)? + bytes - distance))?;
        }
        Ok(())
    }

    /// What the kernel has drawn or made: the current thread, the canary, the table of calls, the filter.
    fn prepare(&mut self, file: &File, values: &SwitchValues, service: u64) -> Result<(), Error> {
        self.write_word(file, "current", moved(file.symbol("threads")?))?;
        self.write_word(file, "canary", 0x5a01_5a01_5a01_5a00)?;
        self.write(file.symbol("verw_selector")?, &USER_DATA.to_le_bytes())?;
        let service = moved(self.entrance(values, service)?);
        let table = service.to_le_bytes().repeat(CALLS);
        self.write(file.symbol("calls_x86_64")?, &table)?;
        let filter = values.get("filter").and_then(|number| number.parse().ok()).unwrap_or(0);
        self.write(file.symbol("filter_x86_64")?, &super::filter::program(filter))
    }

    /// Where the table of calls points for a service (`lab/user/calls.c`): with `ibt=on`, to a landing in front of it.
    fn entrance(&mut self, values: &SwitchValues, service: u64) -> Result<u64, Error> {
        if values.get("ibt").is_none_or(|value| value != "on") {
            return Ok(service);
        }
        let landing = service - LANDING.len() as u64;
        self.write(landing, &LANDING)?;
        Ok(landing)
    }

    /// Writes all returns as the switch `returns` has them (`lab/entry/returns.c`).
    fn prepare_returns(&mut self, file: &File, values: &SwitchValues) -> Result<(), Error> {
        let thunk = thunk(file, values)?;
        if values.get("returns").is_some_and(|value| value == "untrain") {
            let name = if is_zen_3_or_4() { "untrain_zen4" } else { "untrain_zen2" };
            self.write_return(file.symbol("untrain_returns")?, Some(file.symbol(name)?))?;
        }
        for site in file.table("return_sites")? {
            self.write_return(site, thunk)?;
        }
        Ok(())
    }

    fn write_return(&mut self, site: u64, to: Option<u64>) -> Result<(), Error> {
        let Some(to) = to else { return self.write(site, &[RET]) };
        let displacement = to.wrapping_sub(site + RETURN_BYTES) as u32;
        self.write(site, &[&[JMP], displacement.to_le_bytes().as_slice()].concat())
    }

    /// All of it.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }
}

/// What the kernel's file has, and the page of returns of Zen 3 and 4, which is there three times.
fn segments(file: &File) -> Result<Vec<Segment>, Error> {
    let image = lab::kernel(Mode::Long);
    let header = elf::FileHeader64::<Endianness>::parse(image).map_err(table::paths::Error::Elf)?;
    let endian = header.endian().map_err(table::paths::Error::Elf)?;
    let parts = header.program_headers(endian, image).map_err(table::paths::Error::Elf)?;
    let is_kernels = |part: &&elf::ProgramHeader64<Endianness>| {
        part.p_type(endian) == elf::PT_LOAD && part.p_vaddr(endian) >= KERNEL
    };
    // What can only be read is templates and texts.
    let is_used =
        |part: &&elf::ProgramHeader64<Endianness>| part.p_flags(endian).0 & (elf::PF_X.0 | elf::PF_W.0) != 0;
    let segment = |part: &elf::ProgramHeader64<Endianness>| Segment {
        address: moved(part.p_vaddr(endian)),
        executable: part.p_flags(endian).0 & elf::PF_X.0 != 0,
        bytes: part.data(endian, image).unwrap_or_default().to_vec(),
        length: part.p_memsz(endian),
    };
    let mut all: Vec<Segment> = parts.iter().filter(is_kernels).filter(is_used).map(segment).collect();
    let bytes = file.bytes(file.symbol("returns_page")?, PAGE)?;
    all.extend([UNTRAIN_PAGE, SAFE_RETURN_PAGE].map(|address| Segment {
        address: moved(address),
        executable: true,
        bytes: bytes.to_vec(),
        length: PAGE,
    }));
    Ok(all)
}

/// Where returns jump to with these values; none if they return.
pub(super) fn thunk(file: &File, values: &SwitchValues) -> Result<Option<u64>, Error> {
    let name = match values.get("returns").map(String::as_str) {
        Some("thunk") => "return_thunk",
        Some("untrain") if is_zen_3_or_4() => "return_thunk_zen4",
        Some("untrain") => "return_thunk_zen2",
        _ => return Ok(None),
    };
    Ok(Some(file.symbol(name)?))
}

/// Whether this processor is one of AMD's family 19h, as `lab/entry/returns.c` asks.
fn is_zen_3_or_4() -> bool {
    let cpuid = raw_cpuid::CpuId::new();
    let is_amd = cpuid.get_vendor_info().is_some_and(|vendor| vendor.as_str() == "AuthenticAMD");
    is_amd && cpuid.get_feature_info().is_some_and(|found| found.family_id() == 0x19)
}
