//! How much memory a new process can still have.

use crate::container::ancestors;
use crate::reader::Reader;
use crate::roots::Roots;
use crate::text;

/// The most that is read of `/proc/self/cgroup` and of a `memory.stat`, in bytes.
const LIMIT: u64 = 64 << 10;

/// Groups that are looked at, from this process's own up.
const DEPTH_LIMIT: usize = 64;

/// Memory that is free, or can be freed without swapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeMemory {
    /// In bytes.
    pub bytes: u64,
    /// Where not the machine but a control group leaves no more: what that may have, in bytes.
    pub limit: Option<u64>,
}

/// What this machine and every control group above this process leave; none where the kernel does not tell.
pub fn free_memory(roots: &Roots) -> Option<FreeMemory> {
    let reader = Reader::new(roots);
    let text = text::clean(&reader.candidate("/proc/meminfo", LIMIT)?);
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let machine = FreeMemory { bytes: kib.saturating_mul(1024), limit: None };
    let groups = reader.candidate("/proc/self/cgroup", LIMIT).unwrap_or_default();
    let groups = text::clean(&groups);
    let all = groups.lines().filter_map(hierarchy).flat_map(|(folders, files, path)| {
        let left = |group| folders.iter().find_map(|folder| files.left(&reader, &format!("{folder}{group}")));
        ancestors(path).take(DEPTH_LIMIT).filter_map(left).collect::<Vec<_>>()
    });
    all.chain([machine]).min_by_key(|free| free.bytes)
}

/// A line of `/proc/self/cgroup` (cgroups(7)) that is about memory: where its groups may be mounted, the names of their files, and the
/// process's own. In a container, the path may be the host's: then only what stands above it is there.
fn hierarchy(line: &str) -> Option<(Vec<String>, Files, &str)> {
    let (number, rest) = line.split_once(':')?;
    let (names, path) = rest.split_once(':')?;
    let path = if path.starts_with('/') && path.split('/').all(|part| part != "..") { path } else { "/" };
    if number == "0" && names.is_empty() {
        return Some((["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(str::to_string).into(), V2, path));
    }
    let is_memory = names.split(',').any(|name| name == "memory") && !names.contains('/');
    is_memory.then(|| (vec![format!("/sys/fs/cgroup/{names}"), "/sys/fs/cgroup/memory".into()], V1, path))
}

/// A group's files: what it may have, what it has, and what of that are files that nobody uses, which the kernel takes back first.
struct Files {
    limit: &'static str,
    used: &'static str,
    unused_files: &'static str,
}

const V2: Files = Files { limit: "memory.max", used: "memory.current", unused_files: "inactive_file" };
const V1: Files = Files {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    unused_files: "total_inactive_file",
};

impl Files {
    /// What a group leaves; none where it has no limit.
    fn left(&self, reader: &Reader, folder: &str) -> Option<FreeMemory> {
        let number =
            |name: &str| reader.candidate_line(&format!("{folder}/{name}"))?.trim().parse::<u64>().ok();
        let (limit, used) = (number(self.limit)?, number(self.used)?);
        let stat = reader.candidate(&format!("{folder}/memory.stat"), LIMIT).unwrap_or_default();
        let unused = text::clean(&stat).lines().find_map(|line| {
            line.strip_prefix(self.unused_files)?.strip_prefix(' ')?.trim().parse::<u64>().ok()
        });
        let used = used.saturating_sub(unused.unwrap_or(0));
        Some(FreeMemory { bytes: limit.saturating_sub(used), limit: Some(limit) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    const MIB: u64 = 1 << 20;

    fn machine(name: &str, groups: &str) -> Scratch {
        let scratch = Scratch::new(name);
        scratch.write("/proc/meminfo", b"MemTotal: 9 kB\nMemAvailable:    2097152 kB\n");
        scratch.write("/proc/self/cgroup", groups.as_bytes());
        scratch
    }

    fn free(scratch: &Scratch) -> Option<(u64, Option<u64>)> {
        free_memory(&scratch.roots()).map(|free| (free.bytes / MIB, free.limit.map(|limit| limit / MIB)))
    }

    #[test]
    fn a_group_above_leaves_less_than_the_machine() {
        let scratch = machine("memory-v2", "0::/a/b\n");
        assert_eq!(free(&scratch), Some((2048, None)));
        let write =
            |file: &str, text: String| scratch.write(&format!("/sys/fs/cgroup/{file}"), text.as_bytes());
        write("a/b/memory.max", "max\n".into());
        write("a/b/memory.current", format!("{}\n", 50 * MIB));
        write("a/memory.max", format!("{}\n", 256 * MIB));
        write("a/memory.current", format!("{}\n", 200 * MIB));
        assert_eq!(free(&scratch), Some((56, Some(256))));
        write("a/memory.stat", format!("anon 5\ninactive_file {}\n", 80 * MIB));
        assert_eq!(free(&scratch), Some((136, Some(256))));
        write("a/memory.current", format!("{}\n", 300 * MIB));
        write("a/memory.stat", "inactive_file x\n".into());
        assert_eq!(free(&scratch), Some((0, Some(256))));
    }

    #[test]
    fn a_container_that_sees_its_own_group_as_the_root_has_its_limit() {
        let scratch = machine("memory-v1", "0::/\n4:memory:/docker/0123\n1:cpu:/x\n");
        let write =
            |file: &str, text: String| scratch.write(&format!("/sys/fs/cgroup/{file}"), text.as_bytes());
        write("memory/memory.limit_in_bytes", format!("{}\n", 256 * MIB));
        write("memory/memory.usage_in_bytes", format!("{}\n", 56 * MIB));
        assert_eq!(free(&scratch), Some((200, Some(256))));
        // No limit is a number here.
        write("memory/memory.limit_in_bytes", "9223372036854771712\n".into());
        assert_eq!(free(&scratch), Some((2048, None)));
    }

    #[test]
    fn what_makes_no_sense_limits_nothing() {
        for groups in ["", "0::/../..\n", "x", "1:memory", "7:memory,../../etc:/\n", "0:::\n"] {
            assert_eq!(free(&machine("memory-odd", groups)), Some((2048, None)), "{groups}");
        }
        for text in ["", "MemAvailable:", "MemAvailable: x kB", "MemAvailable: 5", "MemAvailable: -5 kB"] {
            let scratch = machine("memory-none", "0::/\n");
            scratch.write("/proc/meminfo", text.as_bytes());
            assert_eq!(free(&scratch), None, "{text}");
        }
    }
}
