//! What `/proc` and a cgroup's files tell of processes: pure parsers, and the reads that they are for.

use std::fs;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::Path;

/// Of a file of `/proc`, at most so much: maps of a large process are megabytes.
const MOST: u64 = 8 << 20;

/// `PF_KTHREAD` of a process's flags (include/linux/sched.h).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// What `/proc/PID/stat` tells. proc_pid_stat(5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// R, S, Z, …
    pub state: char,
    /// Whether it is a thread of the kernel.
    pub is_kernels: bool,
    /// In user space and in the kernel, in ticks of the clock.
    pub ticks: [u64; 2],
    /// When it began, in ticks after the machine did.
    pub start: u64,
}

/// Parses `/proc/PID/stat`. The name in parentheses may have blanks and parentheses itself.
pub fn stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
    let state = fields.first()?.chars().next()?;
    // Fields are counted from 1, and the state is the third.
    let [flags, user, system, start] = [9, 14, 15, 22].map(|field: usize| number(field - 3));
    Some(Stat { state, is_kernels: flags? & KERNEL_THREAD != 0, ticks: [user?, system?], start: start? })
}

/// How often a thread was switched, whether it wanted that or not. Parses `/proc/PID/task/TID/status`.
pub fn switches(text: &str) -> Option<u64> {
    let field = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse::<u64>().ok())
    };
    field("voluntary_ctxt_switches")?.checked_add(field("nonvoluntary_ctxt_switches")?)
}

/// CPU time of a cgroup in microseconds: all of it, in user space, in the kernel. Parses `cpu.stat` (cgroup v2).
pub fn cpu_stat(text: &str) -> Option<[u64; 3]> {
    let field = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
    };
    Some([field("usage_usec")?, field("user_usec")?, field("system_usec")?])
}

/// Ticks of all CPUs in user space and in the kernel, interrupts included. Parses `/proc/stat`.
pub fn system_stat(text: &str) -> Option<[u64; 2]> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<u64> = line.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq; what guests use is in user, and what was stolen is nobody's.
    let of =
        |places: &[usize]| places.iter().try_fold(0u64, |sum, place| fields.get(*place)?.checked_add(sum));
    Some([of(&[0, 1])?, of(&[2, 5, 6])?])
}

/// Where the vDSO is in a process's memory. Parses `/proc/PID/maps`.
pub fn vdso_in(text: &str) -> Option<RangeInclusive<u64>> {
    let line = text.lines().find(|line| line.ends_with("[vdso]"))?;
    let (first, behind) = line.split_ascii_whitespace().next()?.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    let range = address(first)?..=address(behind)?.checked_sub(1)?;
    (!range.is_empty()).then_some(range)
}

/// The text of a file, as far as it is not endless.
pub(crate) fn read(path: impl AsRef<Path>) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The threads of a process; none of one that is not there.
pub(crate) fn threads(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let number = |entry: std::io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    entries.map(|entries| entries.filter_map(number).collect()).unwrap_or_default()
}

/// Whether the program that a process executes is a 64-bit one; none where that cannot be read.
pub(crate) fn is_64(pid: u32) -> Option<bool> {
    let mut begin = [0; 5];
    fs::File::open(format!("/proc/{pid}/exe")).ok()?.read_exact(&mut begin).ok()?;
    match begin {
        [0x7f, b'E', b'L', b'F', 1] => Some(false),
        [0x7f, b'E', b'L', b'F', 2] => Some(true),
        _ => None,
    }
}

/// The name of the program that a process executes; what is no UTF-8 of it is replaced.
pub fn name(pid: u32) -> Option<String> {
    read(format!("/proc/{pid}/comm")).ok().map(|name| name.trim_end_matches('\n').to_owned())
}

pub(crate) fn vdso(pid: u32) -> Option<RangeInclusive<u64>> {
    read(format!("/proc/{pid}/maps")).ok().and_then(|text| vdso_in(&text))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    const STAT: &str = "42 (a) (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 17 4 0 0 20 0 1 0 9 1 1 1\n";
    const STATUS: &str = "Name:\tx\nvoluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n";
    const SYSTEM: &str = "cpu  10 1 20 400 5 2 3 9 0 0\ncpu0 10 1 20 400 5 2 3 9 0 0\n";
    const CGROUP: &str = "usage_usec 30\nuser_usec 10\nsystem_usec 20\nnr_periods 0\n";
    const MAPS: &str =
        "08048000-08049000 r-xp 0 00:00 0 /x\nf7fc5000-f7fc7000 r-xp 00000000 00:00 0    [vdso]\n";

    #[test]
    fn files_tell() {
        assert_eq!(stat(STAT), Some(Stat { state: 'S', is_kernels: false, ticks: [17, 4], start: 9 }));
        let kernels = STAT.replace("4194560", "2129984");
        assert!(stat(&kernels).unwrap().is_kernels);
        assert_eq!((switches(STATUS), switches("voluntary_ctxt_switches:\t40\n")), (Some(42), None));
        assert_eq!(system_stat(SYSTEM), Some([11, 25]));
        assert_eq!(cpu_stat(CGROUP), Some([30, 10, 20]));
        assert_eq!(vdso_in(MAPS), Some(0xf7fc_5000..=0xf7fc_6fff));
    }

    /// A deterministic sequence of changes: cuts, repeated pieces, other bytes.
    fn broken(text: &str, count: usize) -> impl Iterator<Item = String> + '_ {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below.max(1) as u64).unwrap()
        };
        (0..count).map(move |_| {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=next(4) {
                let at = next(bytes.len());
                match next(4) {
                    0 => bytes.truncate(at),
                    1 => bytes.extend_from_within(at..),
                    2 if at < bytes.len() => bytes[at] = u8::try_from(next(256)).unwrap(),
                    _ => bytes.splice(at..at, *b"99999999999999999999").for_each(drop),
                }
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }

    #[test]
    fn hostile_files_tell_nothing_or_something_but_end() {
        for text in [STAT, STATUS, SYSTEM, CGROUP, MAPS] {
            for broken in broken(text, 2000) {
                let _ = (
                    stat(&broken),
                    system_stat(&broken),
                    cpu_stat(&broken),
                    vdso_in(&broken),
                    switches(&broken),
                );
            }
        }
        assert_eq!(system_stat("cpu  18446744073709551615 1 0 0 0 0 0"), None);
        for none in ["5-0 r-xp 0 00:00 0 [vdso]", "9-5 r-xp 0 00:00 0 [vdso]", "5-5 [vdso]"] {
            assert_eq!(vdso_in(none), None, "{none}");
        }
    }
}
