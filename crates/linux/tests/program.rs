//! Programs of this machine, packed with what they need.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

#[path = "../../../tests/skipped.rs"]
mod skipped;

use linux::Archive;
use skipped::skipped;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Compiles a program or library.
fn compile(folder: &Path, name: &str, text: &str, options: &[&str]) -> PathBuf {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let source = folder.join("source.c");
    fs::write(&source, text).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let status =
        Command::new(compiler).current_dir(folder).arg(&source).args(options).arg("-o").arg(&file).status();
    assert!(status.unwrap().success());
    file
}

/// A program in `bin` that needs a library in `lib`, which needs another one there, each by its own list of folders.
fn chain(folder: &Path, list: &str) -> PathBuf {
    let inner = ["-shared", "-fPIC", "-Wl,-soname,libinner.so.1"];
    compile(folder, "lib/libinner.so.1", "int inner(void) { return 7; }", &inner);
    let outer = ["-shared", "-fPIC", "-Wl,-rpath,$ORIGIN", list, "lib/libinner.so.1"];
    compile(folder, "lib/libouter.so", "int inner(void); int outer(void) { return inner() + 1; }", &outer);
    let text = "int outer(void); int main(void) { return outer(); }";
    compile(folder, "bin/program", text, &["-Wl,-rpath,$ORIGIN/../lib", list, "-Llib", "-louter"])
}

fn packed(program: &Path) -> Archive {
    let mut archive = Archive::default();
    archive.add_program(program).unwrap();
    archive
}

fn has(archive: &Archive, path: &Path) -> bool {
    archive.paths().any(|there| Path::new("/").join(there) == path)
}

/// What a program does where there is nothing but the archive; none where that cannot be tried, with the reason in words.
fn run(archive: Archive, arguments: &[&Path]) -> Result<Output, &'static str> {
    let root = tempfile::tempdir().unwrap();
    let child = Command::new("cpio")
        .args(["-i", "-d", "--quiet"])
        .current_dir(root.path())
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else { return Err("no cpio here (Debian's package cpio)") };
    child.stdin.take().unwrap().write_all(&archive.finish()).unwrap();
    assert!(child.wait().unwrap().success());
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "chroot"]).arg(root.path());
    let works = Command::new("unshare").args(["--map-root-user", "chroot", "/", "/bin/true"]).status();
    if !works.is_ok_and(|status| status.success()) {
        return Err("no other root for an ordinary user here");
    }
    // What $ORIGIN stands for, which the loader learns from /proc otherwise.
    let folder = arguments[0].parent().unwrap();
    Ok(command.args(arguments).env("LD_ORIGIN_PATH", folder).output().unwrap())
}

#[test]
fn libraries_are_found_as_the_loader_finds_them() {
    for list in ["-Wl,--enable-new-dtags", "-Wl,--disable-new-dtags"] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let program = chain(&folder, list);
        // A link to it leads to the same, and has the same libraries.
        let link = folder.join("link");
        symlink("bin/program", &link).unwrap();
        let archive = packed(&link);
        for path in [&link, &program, &folder.join("lib/libouter.so"), &folder.join("lib/libinner.so.1")] {
            assert!(has(&archive, path), "{list}: {} is missing", path.display());
        }
        match run(archive, &[&program]) {
            Ok(output) => assert_eq!(output.status.code(), Some(8), "{output:?}"),
            Err(why) => return skipped(why),
        }
    }
}

#[test]
fn a_library_that_is_missing_is_named_with_who_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    let program = chain(folder.path(), "-Wl,--enable-new-dtags");
    fs::remove_file(folder.path().join("lib/libinner.so.1")).unwrap();
    let error = Archive::default().add_program(&program).unwrap_err();
    assert_eq!(error.file, program);
    let text = error.to_string();
    assert!(text.contains("libouter.so needs libinner.so.1"), "{text}");
}

#[test]
fn a_library_for_another_mode_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let program = chain(folder.path(), "-Wl,--enable-new-dtags");
    let mut other = fs::read(folder.path().join("lib/libinner.so.1")).unwrap();
    other[4] = 1;
    other[18] = 3;
    fs::write(folder.path().join("lib/libinner.so.1"), other).unwrap();
    let text = Archive::default().add_program(&program).unwrap_err().to_string();
    assert!(text.contains("needs libinner.so.1"), "{text}");
}

#[test]
fn a_static_program_needs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "program", "void _start(void) {}", &["-static", "-nostdlib"]);
    let files = packed(&program).paths().filter(|path| Path::new("/").join(path).is_file()).count();
    assert_eq!(files, 1);
}

#[test]
fn a_program_of_this_machine_has_all_that_ldd_lists() {
    let shell = Path::new("/bin/bash");
    let Ok(output) = Command::new("ldd").arg(shell).output() else {
        return skipped("no ldd here");
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let listed: BTreeSet<&str> = text.split_whitespace().filter(|word| word.starts_with('/')).collect();
    if !shell.exists() || listed.is_empty() {
        return skipped("no dynamic /bin/bash here");
    }
    let archive = packed(shell);
    for file in listed {
        let real = Path::new(file).canonicalize().unwrap();
        assert!(has(&archive, &real), "{file}, which is {}", real.display());
    }
}

#[test]
fn a_script_has_its_interpreter() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().canonicalize().unwrap().join("script");
    for first in ["#!/bin/sh", "#! /usr/bin/env sh", "#!/usr/bin/env -S A=1 sh -e"] {
        fs::write(&script, format!("{first}\necho hello; exit 3\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        match run(packed(&script), &[&script]) {
            Ok(output) => {
                assert_eq!(output.status.code(), Some(3), "{first}: {output:?}");
                assert_eq!(output.stdout, b"hello\n");
            }
            Err(why) => return skipped(why),
        }
    }
}

#[test]
fn what_cannot_be_executed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8], mode: u32| {
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file
    };
    let own = folder.path().join("circle");
    symlink("circle", &own).unwrap();
    let circle = format!("#!{}\n", folder.path().join("loop").display());
    let cases = [
        (write("text", b"hello", 0o755), "neither an ELF file nor a script"),
        (write("nameless", b"#! \t\n/bin/sh\n", 0o755), "it is a script that names no interpreter"),
        (write("closed", b"#!/bin/sh", 0o644), "chmod +x"),
        (
            write("foreign", b"#!/no/such/interpreter", 0o755),
            "needs /no/such/interpreter: there is no such file",
        ),
        (write("lost", b"#!/usr/bin/env no-such-program", 0o755), "needs no-such-program"),
        (write("loop", circle.as_bytes(), 0o755), "interpreter is a script"),
        (write("short", b"\x7fELF\x02", 0o755), "not a program for x86"),
        (own, "too many symbolic links"),
        (folder.path().join("none"), "no such file"),
        (folder.path().to_path_buf(), "not a file"),
    ];
    for (file, words) in cases {
        let text = Archive::default().add_program(&file).unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn the_path_of_a_script_without_its_interpreter_was_said_twice() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let script = folder.join("script");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let link = folder.join("link");
    symlink("script", &link).unwrap();
    for path in [script, link] {
        let text = Archive::default().add_program(&path).unwrap_err().to_string();
        let expected =
            format!("{}: it needs /no/such/interpreter: there is no such file or folder", path.display());
        assert_eq!(text, expected);
    }
}

#[test]
fn no_changed_byte_of_a_program_makes_it_panic() {
    let folder = tempfile::tempdir().unwrap();
    compile(folder.path(), "lib/libx.so", "int x(void) { return 7; }", &["-shared", "-fPIC", "-nostdlib"]);
    let options = ["-nostdlib", "-Wl,-rpath,$ORIGIN/../lib", "-Llib", "-lx"];
    let program = compile(folder.path(), "bin/program", "int x(void); void _start(void) { x(); }", &options);
    let whole = fs::read(&program).unwrap();
    let words = |bytes: &[u8]| {
        fs::write(&program, bytes).unwrap();
        Archive::default().add_program(&program).map_err(|error| error.to_string())
    };
    for at in (0..64).chain((64..1024).step_by(5)).chain((1024..whole.len()).step_by(127)) {
        let mut changed = whole.clone();
        changed[at] ^= 0xff;
        if let Err(text) = words(&changed) {
            assert!(text.contains(": ") && !text.contains(char::is_control), "{text:?}");
        }
    }
    for length in (0..whole.len()).step_by(997) {
        let _any = words(&whole[..length]);
    }
}

#[test]
fn a_folder_is_shared_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("a/b")).unwrap();
    fs::write(folder.path().join("a/b/file"), "text").unwrap();
    symlink("../nowhere", folder.path().join("a/link")).unwrap();
    nix::unistd::mkfifo(&folder.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut archive = Archive::default();
    let left_out = archive.add_share(folder.path(), Path::new("/share")).unwrap();
    assert_eq!(left_out, [folder.path().join("pipe")]);
    let expected = ["share", "share/a", "share/a/b", "share/a/b/file", "share/a/link"];
    assert_eq!(archive.paths().collect::<Vec<_>>(), expected.map(Path::new));

    let large = fs::File::create(folder.path().join("large")).unwrap();
    large.set_len((512 << 20) + 1).unwrap();
    let error = Archive::default().add_share(folder.path(), Path::new("/share")).unwrap_err();
    assert!(error.to_string().contains("512 MiB"), "{error}");
    assert_eq!(error.file, folder.path());
    let error = Archive::default().add_share(&folder.path().join("none"), Path::new("/share")).unwrap_err();
    assert!(error.to_string().contains("no such file"), "{error}");
}
