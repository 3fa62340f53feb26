//! Links of BPF programs to tracepoints of system calls, by bpf(2): only those who may administer BPF can list them. Structures are those of
//! include/uapi/linux/bpf.h, of which only the first bytes are handed over.

use super::KernelProgram;
use crate::apart::Answer;
use crate::proc::name;
use nix::errno::Errno;
use nix::libc;

const GET_INFO_BY_FD: libc::c_int = 15;
const PROG_GET_FD_BY_ID: libc::c_int = 13;
const LINK_GET_FD_BY_ID: libc::c_int = 30;
const LINK_GET_NEXT_ID: libc::c_int = 31;

/// Kinds of links, and of what a link to an event is.
const RAW_TRACEPOINT: u32 = 1;
const PERF_EVENT: u32 = 7;
const EVENT_IS_TRACEPOINT: u32 = 5;

/// The most links that are looked at.
const LINKS: usize = 512;
/// Room for a tracepoint's name, and for a program's.
const TRACEPOINT: usize = 64;
const NAME: usize = 16;
/// What is said of one: the program's number, its tracepoint, its name.
const RECORD: usize = 8 + TRACEPOINT + NAME;

/// `struct bpf_link_info`, of the two kinds that matter.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct LinkInfo {
    kind: u32,
    id: u32,
    program: u32,
    _pad: u32,
    /// A raw tracepoint's: where its name shall be written, and how long that may be. An event's: what it is, and where.
    words: [u64; 6],
}

/// `struct bpf_prog_info`, up to its name.
#[repr(C)]
#[derive(Clone, Copy)]
struct ProgramInfo {
    before: [u64; 8],
    name: [u8; NAME],
}

/// Calls bpf(2) with the first words of its attributes.
fn bpf(command: libc::c_int, words: &mut [u64; 3]) -> Result<libc::c_long, Errno> {
    // SAFETY: the kernel reads and writes as many bytes as it is told, which are there. Pointers in them are to what lives as long.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, words.as_mut_ptr(), size_of_val(words)) };
    if answer < 0 { Err(Errno::last()) } else { Ok(answer) }
}

/// Two halves of a word.
fn halves(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Says an errno, which ends the list: ENOENT where it is complete. Then what it found.
pub(super) fn list(answer: &mut Answer) {
    let mut last = 0;
    let mut found = [[0u8; RECORD]; 32];
    let mut count = 0;
    let mut ended = Errno::E2BIG;
    for _ in 0..LINKS {
        let mut words = [halves(last, 0), 0, 0];
        if let Err(errno) = bpf(LINK_GET_NEXT_ID, &mut words) {
            ended = errno;
            break;
        }
        last = (words[0] >> 32) as u32;
        if let (Some(record), Some(place)) = (record(last), found.get_mut(count)) {
            *place = record;
            count += 1;
        }
    }
    answer.number(ended as i64);
    found.iter().take(count).all(|record| answer.push(record));
}

/// What a link is to, if that is a tracepoint of system calls.
fn record(link: u32) -> Option<[u8; RECORD]> {
    let file = bpf(LINK_GET_FD_BY_ID, &mut [u64::from(link), 0, 0]).ok()?;
    let found = described(file as u32);
    // SAFETY: it was opened above, and nobody else knows it.
    unsafe { libc::close(file as libc::c_int) };
    let (program, tracepoint) = found?;
    tracepoint.starts_with(b"sys_e").then_some(())?;
    let mut record = [0; RECORD];
    record[..8].copy_from_slice(&i64::from(program).to_ne_bytes());
    record[8..8 + TRACEPOINT].copy_from_slice(&tracepoint);
    record[8 + TRACEPOINT..].copy_from_slice(&program_name(program));
    Some(record)
}

/// The program of a link, and its tracepoint's name.
fn described(file: u32) -> Option<(u32, [u8; TRACEPOINT])> {
    let mut tracepoint = [0u8; TRACEPOINT];
    let mut info = LinkInfo::default();
    information(file, (&raw mut info).cast(), size_of::<LinkInfo>()).ok()?;
    let room = [(&raw mut tracepoint) as u64, TRACEPOINT as u64];
    let kind = info.kind;
    info = LinkInfo::default();
    match kind {
        RAW_TRACEPOINT => [info.words[0], info.words[1]] = room,
        PERF_EVENT => [info.words[1], info.words[2]] = room,
        _ => return None,
    }
    information(file, (&raw mut info).cast(), size_of::<LinkInfo>()).ok()?;
    let is_tracepoint = kind == RAW_TRACEPOINT || info.words[0] as u32 == EVENT_IS_TRACEPOINT;
    is_tracepoint.then_some((info.program, tracepoint))
}

/// The name that a program was loaded by; empty where that cannot be read.
fn program_name(id: u32) -> [u8; NAME] {
    let Ok(file) = bpf(PROG_GET_FD_BY_ID, &mut [u64::from(id), 0, 0]) else { return [0; NAME] };
    let mut info = ProgramInfo { before: [0; 8], name: [0; NAME] };
    let found = information(file as u32, (&raw mut info).cast(), size_of::<ProgramInfo>());
    // SAFETY: it was opened above, and nobody else knows it.
    unsafe { libc::close(file as libc::c_int) };
    if found.is_ok() { info.name } else { [0; NAME] }
}

/// Has the kernel describe a program or a link.
fn information(file: u32, info: *mut libc::c_void, size: usize) -> Result<(), Errno> {
    bpf(GET_INFO_BY_FD, &mut [halves(file, size as u32), info as u64, 0]).map(drop)
}

/// What [`list`] has said.
///
/// # Errors
/// In words, where the list is not complete.
pub(super) fn heard(answer: &[u8]) -> Result<Vec<KernelProgram>, String> {
    let (first, rest) = answer.split_first_chunk::<8>().ok_or("the process that asked had no answer")?;
    match Errno::from_raw(i32::try_from(i64::from_ne_bytes(*first)).unwrap_or(0)) {
        Errno::ENOENT => {}
        Errno::EPERM | Errno::EACCES => {
            return Err("only those who may administer BPF can list them (CAP_SYS_ADMIN)".into());
        }
        Errno::EINVAL | Errno::ENOSYS => return Err("this kernel lists no links (since Linux 5.8)".into()),
        Errno::E2BIG => return Err(format!("there are more than {LINKS} links")),
        errno => return Err(format!("they cannot be listed: {}", errno.desc())),
    }
    let text = |bytes: &[u8]| {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        name(&String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()))
    };
    let program = |record: &[u8; RECORD]| {
        let (id, words) = record.split_first_chunk::<8>()?;
        let (tracepoint, own) = words.split_at_checked(TRACEPOINT)?;
        let own = text(own);
        Some(KernelProgram {
            tracepoint: text(tracepoint),
            name: (!own.is_empty()).then_some(own),
            id: u32::try_from(i64::from_ne_bytes(*id)).ok(),
        })
    };
    Ok(rest.as_chunks::<RECORD>().0.iter().filter_map(program).collect())
}
