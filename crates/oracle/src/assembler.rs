//! The assembler's code of the entries: the debug information has the file and line of each instruction, and the source has in that line
//! what the kernel's developers have written there, most often a macro whose name says what it is for.

use attribution::anatomy::Part;
use std::collections::HashMap;
use std::path::Path;

/// The files that hold the code of the entries.
const FILES: [&str; 2] = ["entry_64.S", "entry_64_compat.S"];

/// The file that has the exceptions' entries made by a macro of the first.
const EXCEPTIONS: &str = "arch/x86/include/asm/idtentry.h";

/// Macros, and instructions that are for one thing wherever they stand.
const MACROS: &[(&str, &[Part])] = &[
    ("SWITCH_TO_", &[Part::Pti, Part::Pcid]),
    ("SAVE_AND_SWITCH_TO_KERNEL_CR3", &[Part::Pti, Part::Pcid]),
    ("RESTORE_CR3", &[Part::Pti, Part::Pcid]),
    ("IBRS_E", &[Part::Ibrs]),
    ("UNTRAIN_RET", &[Part::Returns, Part::Ibpb]),
    ("CLEAR_BRANCH_HISTORY", &[Part::Bhb]),
    ("CLEAR_CPU_BUFFERS", &[Part::Verw]),
    ("VM_CLEAR_CPU_BUFFERS", &[Part::Verw]),
    ("FILL_RETURN_BUFFER", &[Part::Rsb]),
    ("FENCE_SWAPGS", &[Part::Swapgs]),
    ("POP_REGS", &[Part::Frame]),
    ("ENDBR", &[Part::Ibt]),
    ("ASM_CLAC", &[Part::Smap]),
    ("swapgs", &[Part::Swapgs]),
    ("SWAPGS", &[Part::Swapgs]),
    ("cld", &[Part::Flags]),
    ("sysret", &[Part::Leaving]),
    ("sysexit", &[Part::Leaving]),
    ("iretq", &[Part::Leaving]),
    ("INTERRUPT_RETURN", &[Part::Leaving]),
];

/// C functions of entries, by how their names begin.
const HANDLERS: &[&str] =
    &["do_", "int80_emulation", "exc_", "sysvec_", "\\cfunc", "__do_", "common_interrupt"];

/// Where the entries' code leaves to.
const EXITS: &[&str] = &[
    "swapgs_restore_regs_and_return_to_usermode",
    "restore_regs_and_return_to_kernel",
    ".Lnative_iret",
    "native_iret",
    "native_irq_return_iret",
    "sysret32_from_system_call",
    "error_return",
    "entry_SYSRETL_compat",
    "syscall_return_via_sysret",
];

/// How a function begins that C code calls, and not the processor.
const CALLED: [&str; 2] = ["SYM_FUNC_START", "SYM_TYPED_FUNC_START"];

/// The lines of the entries' sources, by file; none where they are not there.
#[derive(Debug, Default)]
pub struct Sources(HashMap<&'static str, Vec<String>>);

impl Sources {
    /// Those in a folder.
    pub fn read(folder: &Path) -> Sources {
        let lines = |text: String| text.lines().map(|line| line.trim().to_string()).collect();
        let read = |name| Some((name, lines(std::fs::read_to_string(folder.join(name)).ok()?)));
        Sources(FILES.into_iter().filter_map(read).collect())
    }

    /// Whether there are any.
    pub fn are_here(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether the processor enters what has this line, and no C code calls it; not if that is not known.
    pub fn are_entered(&self, file: &str, line: u32) -> bool {
        if file.ends_with(EXCEPTIONS) {
            return self.are_here();
        }
        let lines = file.rsplit('/').next().and_then(|name| self.0.get(name));
        let function = lines.and_then(|lines| function(lines, line as usize));
        function.is_some_and(|function| !CALLED.iter().any(|start| function.starts_with(start)))
    }

    /// What an instruction of this text may belong to that stands in a line of a file; none where that does not tell.
    pub fn parts(&self, file: &str, line: u32, text: &str) -> Option<Vec<Part>> {
        // An exception's entry is a macro of that file, which idtentry.h uses.
        if file.ends_with(EXCEPTIONS) {
            return of_exception(text);
        }
        let lines = self.0.get(file.rsplit('/').next()?).filter(|_| file.contains("arch/x86/entry/"))?;
        let at = (line as usize).checked_sub(1)?;
        let source = without_label(lines.get(at)?);
        let function = function(lines, at)?;
        if function.contains("(error_entry)")
            && let Some(parts) = of_kernels_exception(source)
        {
            return Some(vec![parts]);
        }
        let near = |far: isize| lines.get(at.checked_add_signed(far)?).map(|line| without_label(line));
        of_line(source, text, &near)
    }
}

/// How the function begins that has this line.
fn function(lines: &[String], at: usize) -> Option<&str> {
    let before = lines.get(..at)?.iter().rev();
    before
        .map(String::as_str)
        .find(|line| line.starts_with("SYM_CODE_START") || CALLED.iter().any(|start| line.starts_with(start)))
}

/// Without the number before a line, and the comment behind it.
fn without_label(line: &str) -> &str {
    let line = line.split("/*").next().unwrap_or_default().trim();
    let (label, rest) = line.split_once(':').unwrap_or(("", line));
    if label.chars().all(|digit| digit.is_ascii_digit()) { rest.trim() } else { line }
}

/// Behind `.Lerror_kernelspace` it is found out whether GS is the kernel's, and the frame stays where it is.
fn of_kernels_exception(source: &str) -> Option<Part> {
    let starts = |all: &[&str]| all.iter().any(|start| source.starts_with(start));
    match source {
        _ if source.ends_with("%rax") && source.starts_with("leaq") => Some(Part::Frame),
        _ if source.contains("native_irq_return_iret")
            || starts(&["cmp", "movl\t%ecx, %eax", "je", "jne"]) =>
        {
            Some(Part::Swapgs)
        }
        _ => None,
    }
}

/// The body of `idtentry` and of the macros in it.
fn of_exception(text: &str) -> Option<Vec<Part>> {
    let is_nop = text.starts_with("nop") || text.starts_with("xchg %ax, %ax");
    Some(match text {
        _ if is_nop => return None,
        "mov %rsp, %rdi" => vec![Part::Handler],
        "call error_entry" | "call paranoid_entry" => vec![Part::Frame],
        "cld" => vec![Part::Flags],
        _ if text.starts_with("push") => vec![Part::Frame],
        // The error code is an argument, and marked as no system call's number.
        _ if text.starts_with("mov 0x78(%rsp), %rsi") || text.starts_with("movq $-1, 0x78(%rsp)") => {
            vec![Part::Handler]
        }
        _ if text.starts_with("call ") => vec![Part::Handler],
        _ if text.starts_with("jmp ") => vec![Part::Leaving],
        _ => return None,
    })
}

/// What a line of an entry's own code is for, if need be by those near it.
fn of_line<'a>(source: &str, text: &str, near: &dyn Fn(isize) -> Option<&'a str>) -> Option<Vec<Part>> {
    let starts = |all: &[&str]| all.iter().any(|start| source.starts_with(start));
    let behind = |what: &str| (1..=4).filter_map(near).any(|line| line.contains(what));
    let before = |what: &str| (-8..0).filter_map(near).any(|line| line.contains(what));
    let target = source.split_whitespace().nth(1).unwrap_or_default();
    let leads_to = |all: &[&str]| all.iter().any(|start| target.starts_with(start));
    // A line has no other instruction but its own; the bytes of some have no line, and are told to be of the one before.
    if source.starts_with(|first: char| first.is_lowercase()) && source.chars().next() != text.chars().next()
    {
        return None;
    }
    if let Some((_, parts)) = MACROS.iter().find(|(name, _)| source.starts_with(name)) {
        return Some(parts.to_vec());
    }
    // A register cleared in one macro with those that push, or by itself.
    if starts(&["PUSH_AND_CLEAR_REGS", "PUSH_REGS", "CLEAR_REGS", "xorl", "xorq"]) {
        return Some(vec![if text.starts_with("xor") { Part::ClearRegisters } else { Part::Frame }]);
    }
    Some(match source {
        _ if source.starts_with("UNWIND_HINT") || source.starts_with("ANNOTATE") => vec![Part::Returns],
        // A scratch register around the switch of page tables.
        _ if source.starts_with("push") && near(1)?.starts_with("SWITCH_TO_") => vec![Part::Pti],
        _ if source.starts_with("pop") && source.ends_with("%rax") && near(-1)?.starts_with("SWITCH_TO_") => {
            vec![Part::Pti]
        }
        _ if source.starts_with("jmp") && before("SWITCH_TO_USER_CR3") => vec![Part::Pti, Part::Leaving],
        _ if source.contains("TSS_sp0") && source.ends_with("%rsp") => {
            vec![Part::CopyFrame, Part::KernelStack]
        }
        _ if source.starts_with("push") && source.ends_with("(%rdi)") => vec![Part::CopyFrame],
        _ if starts(&["push", "pop"]) => match before("SWITCH_TO_USER_CR3") {
            true => vec![Part::CopyFrame, Part::Frame],
            false => vec![Part::Frame],
        },
        _ if source.contains("PER_CPU_VAR") && source.contains("%rsp") => vec![Part::KernelStack],
        _ if starts(&["call", "jmp"]) && leads_to(&["sync_regs", "fixup_bad_iret"]) => {
            vec![Part::CopyFrame]
        }
        _ if source.starts_with("leaq") && behind("sync_regs") => vec![Part::CopyFrame],
        _ if starts(&["call", "jmp"]) && leads_to(HANDLERS) => vec![Part::Handler],
        _ if source.starts_with("call") => vec![Part::Frame],
        _ if source.starts_with("jmp") && leads_to(EXITS) => vec![Part::Leaving],
        _ if source.contains("X86_EFLAGS_NT") || target.starts_with(".Lsysenter_fix_flags") => {
            vec![Part::Flags]
        }
        _ if source.starts_with("testb\t$3, CS") || source.starts_with("testb $3, CS") => vec![Part::Swapgs],
        _ if source.starts_with("jz") && near(-1)?.contains("$3, CS") => vec![Part::Swapgs],
        _ if source.starts_with("movq") && source.contains("%rsp, %rdi") => match () {
            () if behind("TSS_sp0") => vec![Part::CopyFrame],
            () if behind("PER_CPU_VAR") => vec![Part::KernelStack, Part::CopyFrame],
            () if behind("call") => vec![Part::Handler],
            () => return None,
        },
        _ if starts(&["movslq", "movl\t%eax, %eax"]) => vec![Part::Handler],
        _ if starts(&["cmp", "test", "j", "sar", "shl"]) => vec![Part::ReturnChecks],
        _ if source.starts_with("ALTERNATIVE") && before("movq") => vec![Part::ReturnChecks],
        _ if source.starts_with("ALTERNATIVE") && source.contains("jz swapgs") => vec![Part::ReturnChecks],
        // Loaded to be compared, or to be given back.
        _ if source.starts_with("movq") && source.contains("(%rsp), %r") => {
            vec![if behind("cmp") || behind("test") { Part::ReturnChecks } else { Part::Frame }]
        }
        _ if starts(&["add", "sub", "RET", "ret"]) => vec![Part::Frame],
        _ => return None,
    })
}
