//! `capture` on recorded machines, on this one, and on nothing.

#![allow(clippy::unwrap_used, reason = "clippy.toml allows it in tests, but not in what helps them")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use environment::{ClockOffset, Environment, Load, Roots, capture};

fn fixture(name: &str) -> Roots {
    Roots { root: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name) }
}

/// A fresh directory; git keeps no empty ones among the fixtures.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::remove_dir_all(&path).ok();
    std::fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn the_recorded_virtual_machine() {
    let environment = capture(&fixture("firecracker"), 1);
    assert_eq!(environment.host, "linux");
    assert_eq!(environment.cpu.number, 1);
    assert_eq!(environment.cpu.microcode.as_deref(), Some("0x1"));
    assert!(environment.cpu.kernel_flags.unwrap().contains(&"constant_tsc".to_owned()));
    assert_eq!(environment.cpu.smt.active, Some(false));
    assert_eq!(environment.kernel.randomize_kstack_offset, Some(true));
    assert_eq!(environment.kernel.pti, Some(false));
    assert_eq!(environment.kernel.config.unwrap()["IA32_EMULATION"], "y");
    assert_eq!(environment.clock.current_clocksource.as_deref(), Some("tsc"));
    assert_eq!(environment.clock.time_namespace.map(|clocks| clocks.len()), Some(0));
    assert_eq!(environment.vsyscall_page.as_deref(), Some("--xp"));
    assert_eq!(environment.container.hints[0], "/.dockerenv");
    assert_eq!(environment.container.cgroup.version.as_deref(), Some("hybrid"));
    assert_eq!(environment.limits.scheduling_policy.as_deref(), Some("other"));
}

#[test]
fn the_bare_hardware() {
    let environment = capture(&fixture("bare-hardware"), 0);
    assert_eq!(environment.kernel.pti, Some(true));
    assert_eq!(environment.kernel.randomize_kstack_offset, Some(true));
    assert_eq!(environment.hypervisor.product_name.as_deref(), Some("20L5CTO1WW"));
    assert_eq!(
        environment.clock.time_namespace.unwrap()["boottime"],
        ClockOffset { seconds: 86400, nanoseconds: 0 }
    );
    assert_eq!(environment.container.cgroup.cpu_quota, Some(1.5));
    assert_eq!(environment.limits.seccomp_filters, Some(2));
    assert_eq!(environment.limits.scheduling_policy.as_deref(), Some("batch"));
    assert_eq!(environment.limits.nice, Some(5));
    assert_eq!(environment.cpus.nohz_full.as_deref(), Some("3"));
    assert_eq!(environment.libc.unwrap().version.as_deref(), Some("1.2.4"));
    assert_eq!(environment.frequency.turbo, Some(true));
    assert_eq!(environment.cpu.smt.siblings.as_deref(), Some("0,2"));
}

#[test]
fn an_empty_root_gives_what_the_processor_and_system_calls_tell() {
    let roots = Roots { root: scratch("empty") };
    let environment = capture(&roots, 0);
    assert!(environment.cpu.vendor.is_some() && environment.kernel.release.is_some());
    assert_eq!(environment.kernel.pti, None);
    assert_eq!(environment.clock.current_clocksource, None);
    for missing in ["/proc/cmdline", "/proc/cpuinfo", "/proc/self/status", "the C library"] {
        assert!(environment.unseen.iter().any(|unseen| unseen.what == missing), "{missing}");
    }
    let roots = Roots { root: PathBuf::from("/nonexistent/\u{fffd}") };
    assert_eq!(capture(&roots, usize::MAX).kernel.command_line, None);
}

#[test]
fn files_full_of_noise_are_survived() {
    for (name, noise) in [("ones", [0xff; 5000].to_vec()), ("zeros", vec![0; 5000]), ("empty", Vec::new())] {
        let root = scratch(&format!("noise-{name}"));
        fill_like(&fixture("firecracker").root, &root, &noise);
        fill_like(&fixture("bare-hardware").root, &root, &noise);
        let environment = capture(&Roots { root: root.clone() }, 0);
        assert_eq!(environment.frequency.max_khz, None);
        Load::now(&Roots { root }, 0);
    }
}

/// Recorded files, cut off anywhere.
#[test]
fn truncated_files_are_survived() {
    for machine in ["firecracker", "bare-hardware"] {
        for keep in [1, 2, 3, 7, 20, 100, 999] {
            let root = scratch(&format!("truncated-{machine}-{keep}"));
            copy_start(&fixture(machine).root, &root, keep);
            capture(&Roots { root: root.clone() }, 0);
            Load::now(&Roots { root }, 0);
        }
    }
}

fn fill_like(from: &Path, to: &Path, content: &[u8]) {
    for_each_file(from, to, &|_| content.to_vec());
}

fn copy_start(from: &Path, to: &Path, keep: usize) {
    for_each_file(from, to, &|content| content[..keep.min(content.len())].to_vec());
}

fn for_each_file(from: &Path, to: &Path, make: &dyn Fn(Vec<u8>) -> Vec<u8>) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (source, target) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if source.is_dir() {
            for_each_file(&source, &target, make);
        } else {
            std::fs::write(target, make(std::fs::read(source).unwrap())).unwrap();
        }
    }
}

#[test]
fn documents_survive_and_those_of_other_versions_load() {
    let environment = capture(&Roots::default(), 0);
    let document = serde_json::to_string(&environment).unwrap();
    assert_eq!(serde_json::from_str::<Environment>(&document).unwrap(), environment);

    let newer =
        r#"{"host":"lab","added_later":1,"cpu":{"vendor":"x","added_later":[]},"load":{"steal_ms":1.5}}"#;
    let newer: Environment = serde_json::from_str(newer).unwrap();
    assert_eq!(newer.host, "lab");
    assert_eq!(newer.load.unwrap().steal_ms, Some(1.5));
    assert_eq!(serde_json::from_str::<Environment>("{}").unwrap(), Environment::default());
}

#[test]
fn what_is_absent_is_null() {
    let document = serde_json::to_value(Environment::default()).unwrap();
    assert!(document["libc"].is_null() && document["tsc"]["frequency_hz"].is_null());
    assert!(document["kernel"]["pti"].is_null() && document["frequency"]["max_khz"].is_null());
}

#[test]
fn the_callers_affinity_stays() {
    let before = capture(&Roots::default(), 0).cpus.allowed;
    assert_eq!(capture(&Roots::default(), 0).cpus.allowed, before);
}

/// An order of magnitude only: the speed proper is in the crate's example.
#[test]
fn capture_takes_no_human_time() {
    let start = Instant::now();
    capture(&Roots::default(), 0);
    assert!(start.elapsed() < Duration::from_secs(2));
}
