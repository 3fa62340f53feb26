//! Modules of made-up kernels, in folders and in packages.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

mod made;

use linux::{Kernel, modules};
use made::{bzimage, elf, pack, package, payload, sections};
use std::fs;
use std::path::{Path, PathBuf};

const RELEASE: &str = "6.1.0-1-made";

/// A module that needs others.
fn module(release: &str, needs: &str) -> Vec<u8> {
    let about = format!("license=GPL\0depends={needs}\0vermagic={release} SMP mod_unload \0");
    elf(&[(".modinfo", 0, about.into_bytes(), false)], false)
}

/// Files of a package: a kernel, and modules of which the first needs the second, and that the third.
fn files() -> Vec<(String, Vec<u8>)> {
    let module_path = |name: &str| format!("lib/modules/{RELEASE}/kernel/drivers/{name}");
    vec![
        (format!("boot/vmlinuz-{RELEASE}"), bzimage(&payload("gzip", &elf(&sections(), true)))),
        (module_path("virtio/virtio-net.ko.xz"), pack("xz", &module(RELEASE, "net_failover,virtio"))),
        (module_path("net/net_failover.ko.zst"), pack("zstd", &module(RELEASE, "virtio"))),
        (module_path("virtio.ko"), module(RELEASE, "")),
        (module_path("other.ko.gz"), pack("gzip", &module("6.1.0-2-made", ""))),
        (module_path("circle.ko"), module(RELEASE, "circle_too")),
        (module_path("circle-too.ko"), module(RELEASE, "circle")),
        (module_path("lost.ko"), module(RELEASE, "nowhere")),
        (module_path("odd.ko"), b"no module".to_vec()),
    ]
}

fn unpacked(folder: &Path) -> PathBuf {
    for (path, bytes) in files() {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder.join(format!("boot/vmlinuz-{RELEASE}"))
}

fn packed(folder: &Path) -> PathBuf {
    let file = folder.join("linux-image.deb");
    let files = files();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), &bytes[..])).collect();
    fs::write(&file, package(&files)).unwrap();
    file
}

#[test]
fn modules_come_behind_those_that_they_need() {
    let folder = tempfile::tempdir().unwrap();
    for file in [unpacked(folder.path()), packed(folder.path())] {
        let kernel = Kernel::read(&file).unwrap();
        let found = modules(&kernel, &["virtio_net", "virtio"]).unwrap();
        let names: Vec<&str> = found.iter().map(|module| module.name.as_str()).collect();
        assert_eq!(names, ["virtio", "net_failover", "virtio_net"]);
        assert_eq!(found[1].bytes, module(RELEASE, "virtio"));
        assert_eq!(modules(&kernel, &[]).unwrap(), []);
    }
}

#[test]
fn what_cannot_be_loaded_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("e1000", "no module e1000 for the kernel 6.1.0-1-made"),
        ("lost", "no module nowhere"),
        ("other", "is for the kernel 6.1.0-2-made"),
        ("circle", "need each other"),
        ("odd", "the module odd"),
    ];
    for file in [unpacked(folder.path()), packed(folder.path())] {
        let kernel = Kernel::read(&file).unwrap();
        for (name, words) in cases {
            let text = modules(&kernel, &[name]).unwrap_err().to_string();
            assert!(text.contains(words), "{text}");
        }
    }
    let alone = folder.path().join("vmlinuz");
    fs::copy(unpacked(folder.path()), &alone).unwrap();
    fs::rename(folder.path().join("lib"), folder.path().join("elsewhere")).unwrap();
    let text = modules(&Kernel::read(&alone).unwrap(), &["virtio"]).unwrap_err().to_string();
    assert!(text.contains("name its package instead"), "{text}");
}
