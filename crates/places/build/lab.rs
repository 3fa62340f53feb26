//! The lab kernel, and before it the images that it maps into programs.

use crate::compile::{self, run, sources};
use std::path::{Path, PathBuf};
use std::process::Command;
use table::freestanding::{FREESTANDING, KERNEL_HEADERS};
use table::{Table, header};

/// At a fixed address. No tables of jumps, which would be indirect branches (`lab/entry/steps/ibt.c`).
const KERNEL: &[&str] = &["-fno-pic", "-fno-pie", "-fno-jump-tables", "-static", "-no-pie", "-Wl,-n"];

/// A kernel of the lab.
struct Kernel {
    /// The name of its file, as `src/lab/mod.rs` embeds it.
    file: &'static str,
    /// What it is compiled for.
    flags: &'static [&'static str],
    /// A folder of `lab/` whose files stand instead of those with the same path in `lab/`, or beside them.
    own: Option<&'static str>,
    /// Files of `lab/` that it has not.
    lacks: &'static [&'static str],
}

const KERNELS: [Kernel; 2] = [
    // Linked 2 GiB below the top (`lab/kernel.lds`), and entered by exceptions at any time: no red zone.
    Kernel { file: "kernel", flags: &["-m64", "-mcmodel=kernel", "-mno-red-zone"], own: None, lacks: &[] },
    // No vectors are saved by the compiler's code, so that stacks need no more than words.
    Kernel {
        file: "kernel-i386",
        flags: &["-m32", "-march=i686", "-mpreferred-stack-boundary=2"],
        own: Some("i386"),
        lacks: &[
            "boot/efi.S",
            "boot/efi_file.c",
            "entry/page-fault.S",
            "entry/steps/clear-registers.S",
            "entry/steps/shadow-stack.c",
            "entry/steps/swapgs.S",
            "entry/steps/swapgs.c",
            "entry/syscall-x86_64.S",
            "entry/sysenter-x86_64.S",
            "mm/pcid.c",
        ],
    },
];

/// A shared object that nothing relocates.
const VDSO: &[&str] = &[
    "-fPIC",
    "-shared",
    "-Wl,--hash-style=both",
    "-Wl,-Bsymbolic",
    "-Wl,--no-undefined",
    "-Wl,-z,text",
    "-Wl,-s",
];

/// With a table by which an unwinder finds what it has of a function.
const UNWOUND: Option<&str> = Some("-Wl,--eh-frame-hdr");

/// The pages of the device `entry`, by width and variant (`lab/vdso/entry`).
const ENTRY_PAGES: [(u8, &[&str]); 2] =
    [(64, &["syscall", "sysenter", "int80"]), (32, &["gate", "int80", "sysenter", "syscall"])];

/// Bytes for a fixed address.
const PAGE: &[&str] = &["-m64", "-fno-pic", "-no-pie", "-static", "-Wl,--oformat=binary"];

/// The boot sector of a disk, where a BIOS puts it.
const SECTOR: &[&str] = &[
    "-m32",
    "-fno-pic",
    "-no-pie",
    "-static",
    "-Wl,--oformat=binary",
    "-Wl,-Ttext=0x7c00",
    "-Wl,--build-id=none",
];

/// Folders of `lab/` that are the kernels', besides `lab/` itself.
const FOLDERS: &[&str] =
    &["", "boot", "cpu", "entry", "entry/steps", "mach", "mm", "plan", "serial", "time", "user", "vdso"];

pub fn build(root: &Path, out: &Path) {
    let build = Build { lab: root.join("lab"), abi: root.join("abi"), out: out.to_path_buf() };
    build.headers();
    build.images();
    build.sector();
    KERNELS.iter().for_each(|kernel| build.kernel(kernel));
}

struct Build {
    lab: PathBuf,
    abi: PathBuf,
    out: PathBuf,
}

impl Build {
    fn headers(&self) {
        let include = self.out.join("include");
        std::fs::create_dir_all(&include).expect("OUT_DIR is writable");
        let write = |name, text| std::fs::write(include.join(name), text).expect("OUT_DIR is writable");
        write("switches.h", header::render_switches(Table::get()));
        write("names.h", header::render_names(Table::get()));
        write("call_names.h", self.call_names());
        write("direct_calls.h", self.direct_calls());
    }

    /// Names of system calls by number, of both ABIs, as the kernel's headers have them: for the log alone.
    fn call_names(&self) -> String {
        let mut text = String::from("/* Made from asm/unistd_*.h. Do not edit. */\n#pragma once\n");
        for (header, abi) in [("asm/unistd_64.h", "X86_64"), ("asm/unistd_32.h", "I386")] {
            let mut command = self.compiler(&[], None);
            command.args(["-E", "-dM", "-x", "c", "-include"]);
            let output = command.arg(header).arg("/dev/null").output().expect("the compiler runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let mut names: Vec<_> =
                String::from_utf8_lossy(&output.stdout).lines().filter_map(call_name).collect();
            names.sort();
            text.push_str(&format!("\n#define CALL_NAMES_{abi}(ROW)"));
            names
                .iter()
                .for_each(|(number, name)| text.push_str(&format!(" \\\n\tROW({number}, \"{name}\")")));
            text.push('\n');
        }
        text
    }

    /// The services of both ABIs, and Mach's traps, as trees of comparisons (`lab/entry/dispatch.S`), from the tables that the kernel's
    /// are made of.
    fn direct_calls(&self) -> String {
        let mut out =
            String::from("/* Made from user/calls.def, mach/traps.def. Do not edit. */\n#pragma once\n");
        let calls = self.rows("user/calls.def", &["CALL(a,b,c,d)=a b c d"], 4);
        for (abi, column) in [("x86_64", 0), ("i386", 1)] {
            let row = |row: &Vec<String>| Some((row[column].parse().ok()?, row[column + 2].clone()));
            let mut calls: Vec<(u32, String)> = calls.iter().filter_map(row).collect();
            calls.sort();
            assert!(calls.len() > 50, "user/calls.def has {} calls for {abi}", calls.len());
            out.push_str(&format!("\n.macro DIRECT_{}\n", abi.to_uppercase()));
            tree(&mut out, &calls, abi, &format!("call_unknown_{abi}"));
            out.push_str(".endm\n");
            let compared = compared(&calls, "call_getppid");
            out.push_str(&format!("#define DIRECT_GETPPID_{} {compared}\n", abi.to_uppercase()));
        }
        let traps = self.rows("mach/traps.def", &["TRAP(a,b,c)=a c", "ALSO(a,c)=a c"], 2);
        let row = |row: &Vec<String>| Some((row[0].parse().ok()?, format!("trap_{}", row[1])));
        let mut traps: Vec<(u32, String)> = traps.iter().filter_map(row).collect();
        traps.sort();
        out.push_str("\n.macro DIRECT_TRAPS\n");
        tree(&mut out, &traps, "traps", "trap_kern_invalid");
        let compared = compared(&traps, "trap_mach_task_self");
        out.push_str(&format!(".endm\n#define DIRECT_MACH_TASK_SELF {compared}\n"));
        out
    }

    /// A table of lines like `CALL(1, 4, call_write, call_write)`: what the macros leave of each, so many words.
    fn rows(&self, file: &str, definitions: &[&str], words: usize) -> Vec<Vec<String>> {
        let mut command = self.compiler(&[], None);
        command.args(["-E", "-P", "-x", "c"]);
        definitions.iter().for_each(|definition| _ = command.args(["-D", definition]));
        let output = command.arg(self.lab.join(file)).output().expect("the compiler runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout);
        let all: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        all.chunks_exact(words).map(<[String]>::to_vec).collect()
    }

    fn images(&self) {
        let vdso = self.lab.join("vdso");
        for (machine, flag, script, name, file) in [
            ("x86_64", "-m64", "vdso64.lds", "linux-vdso.so.1", "vdso64.so"),
            ("i386", "-m32", "vdso32.lds", "linux-gate.so.1", "vdso32.so"),
        ] {
            let folder = vdso.join(machine);
            let mut command = self.compiler(&[flag], Some(machine));
            command.args(VDSO).args(UNWOUND.filter(|_| machine == "i386"));
            command.arg(format!("-Wl,-soname={name}")).arg(script_option(&folder.join(script)));
            run(command.args(c_sources(&vdso)).args(sources(&folder)).arg("-o").arg(self.out.join(file)));
        }
        let folder = vdso.join("entry");
        for (bits, variants) in ENTRY_PAGES {
            for variant in variants {
                let mut command = self.compiler(&[&format!("-m{bits}")], None);
                command.args(VDSO).args(UNWOUND).arg("-Wl,-soname=mach-entry.so.1");
                command.arg(format!("-DENTER=ENTER_{}", variant.to_uppercase()));
                command
                    .arg(script_option(&folder.join("entry.lds")))
                    .arg(folder.join(format!("entry{bits}.S")));
                run(command.arg("-o").arg(self.out.join(format!("entry{bits}-{variant}.so"))));
            }
        }
        let folder = vdso.join("vsyscall");
        for source in sources(&folder) {
            let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let mut command = self.compiler(PAGE, Some("x86_64"));
            command.arg(script_option(&folder.join("vsyscall.lds"))).arg(source);
            run(command.arg("-o").arg(self.out.join(format!("vsyscall-{name}.bin"))));
        }
    }

    fn sector(&self) {
        let mut command = self.compiler(SECTOR, None);
        run(command.arg(self.lab.join("sector/sector.S")).arg("-o").arg(self.out.join("sector.bin")));
    }

    fn kernel(&self, wanted: &Kernel) {
        let mut command = self.compiler(KERNEL, None);
        command.args(wanted.flags);
        let own = wanted.own.map(|own| self.lab.join(own));
        // In front of the folders that all have in common: its headers stand instead of those with the same name.
        if let Some(own) = &own {
            command.arg("-iquote").arg(own);
        }
        let script = own.as_ref().unwrap_or(&self.lab).join("kernel.lds");
        command.arg(script_option(&script)).args(self.sources_of(wanted, own.as_deref()));
        // The images are found as the headers are.
        let kernel = self.out.join(wanted.file);
        command.arg("-I").arg(&self.out);
        // In front of each file of C. It changes what the assembler makes of the compiler's words, and clang's own hears none.
        command.arg("-include").arg(self.lab.join("entry/returns.h"));
        if compile::is_clang() {
            command.arg("-fno-integrated-as");
        }
        self.note(&command, wanted.file);
        run(command.arg("-o").arg(&kernel));
        let wrong = check_paths(&kernel);
        assert!(wrong.is_empty(), "{}: paths (lab/entry/path.inc):\n{}", wanted.file, wrong.join("\n"));
        compile::pack(&kernel);
    }

    /// The files of a kernel: those of `lab/` that it has, and its own.
    fn sources_of(&self, kernel: &Kernel, own: Option<&Path>) -> Vec<PathBuf> {
        let mut all = Vec::new();
        for folder in FOLDERS {
            let is_code =
                |file: &PathBuf| *folder != "vdso" || file.extension().is_some_and(|kind| kind == "S");
            let is_had = |file: &PathBuf| {
                let path = file.strip_prefix(&self.lab).unwrap_or(file);
                let is_replaced = own.is_some_and(|own| own.join(path).exists());
                !is_replaced && !kernel.lacks.iter().any(|lacked| Path::new(lacked) == path)
            };
            all.extend(sources(&self.lab.join(folder)).into_iter().filter(is_code).filter(is_had));
            let own = own.map(|own| own.join(folder)).filter(|own| own.is_dir());
            all.extend(own.iter().flat_map(|own| sources(own)));
        }
        all
    }

    /// What a kernel is compiled with, a word in each line: tests compile it again, with a log (tests/lab/logged.rs).
    fn note(&self, command: &Command, kernel: &str) {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let lines: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        std::fs::write(self.out.join(format!("{kernel}.command")), lines.join("\n"))
            .expect("OUT_DIR is writable");
    }

    /// With what all code here has in common; `machine` is that of a vDSO.
    fn compiler(&self, flags: &[&str], machine: Option<&str>) -> Command {
        let mut command = compile::compiler();
        command.args(FREESTANDING).arg("-Wl,-z,max-page-size=4096").args(flags).args(KERNEL_HEADERS);
        let machine = machine.map(|machine| self.lab.join("vdso").join(machine));
        let include = self.out.join("include");
        for folder in
            [Some(&self.abi), Some(&self.lab), machine.as_ref(), Some(&include)].into_iter().flatten()
        {
            command.arg("-I").arg(folder);
        }
        command
    }
}

/// So many are compared one after the other.
const LEAF: usize = 3;

/// Goes to the function of the number in eax, which is one of these or that of no call.
fn tree(out: &mut String, calls: &[(u32, String)], kind: &str, unknown: &str) {
    if calls.len() <= LEAF {
        for (number, function) in calls {
            out.push_str(&format!("\tcmp\t${number}, %eax\n\tje\t{function}\n"));
        }
        out.push_str(&format!("\tjmp\t{unknown}\n"));
        return;
    }
    let (less, rest) = calls.split_at(calls.len() / 2);
    let (number, function) = &rest[0];
    let label = format!(".Labove_{number}_{kind}");
    out.push_str(&format!("\tcmp\t${number}, %eax\n\tje\t{function}\n\tja\t{label}\n"));
    tree(out, less, kind, unknown);
    out.push_str(&format!("{label}:\n"));
    tree(out, &rest[1..], kind, unknown);
}

/// How many instructions of the tree lead to a function, the jump to it included.
fn compared(calls: &[(u32, String)], wanted: &str) -> usize {
    let place = calls.iter().position(|(_, function)| function == wanted);
    let place = place.unwrap_or_else(|| panic!("user/calls.def has no {wanted}"));
    if calls.len() <= LEAF {
        return 2 * (place + 1);
    }
    let (less, rest) = calls.split_at(calls.len() / 2);
    match place.cmp(&less.len()) {
        std::cmp::Ordering::Less => 3 + compared(less, wanted),
        std::cmp::Ordering::Equal => 2,
        std::cmp::Ordering::Greater => 3 + compared(&rest[1..], wanted),
    }
}

/// `#define __NR_read 0`
fn call_name(line: &str) -> Option<(u32, String)> {
    let (name, number) = line.strip_prefix("#define __NR_")?.split_once(' ')?;
    Some((number.parse().ok()?, name.to_string()))
}

/// What is wrong with the entry paths of a kernel: when it runs, it only copies them.
fn check_paths(kernel: &Path) -> Vec<String> {
    let bytes = std::fs::read(kernel).expect("the linker has written it");
    let read = table::paths::File::read(&bytes).and_then(|file| table::paths::Paths::read(&file));
    match read {
        Ok(read) => table::paths::check(&read, Table::get()),
        Err(error) => vec![error.to_string()],
    }
}

fn script_option(script: &Path) -> String {
    format!("-Wl,-T,{}", script.display())
}

fn c_sources(folder: &Path) -> Vec<PathBuf> {
    sources(folder).into_iter().filter(|file| file.extension().is_some_and(|kind| kind == "c")).collect()
}
