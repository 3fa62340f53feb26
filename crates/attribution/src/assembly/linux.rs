//! What of a followed path is the assembler's, and what is C.

use crate::anatomy::functions::{self, Region};
use crate::anatomy::{Anatomy, Instruction, Part, PartCount};
use crate::assembly::One;
use crate::assembly::kind::kind;
use iced_x86::{Decoder, DecoderOptions};
use table::Setting;

/// The assembly through which int80 reaches C; the anatomy counts it as the handler.
const BEFORE_C: &str = "int80_emulation";

/// Of a path that leads to a signal's handler and back, what leads there.
pub fn to_the_handler(anatomy: &Anatomy) -> Anatomy {
    let mut has_entered = false;
    let is_before = |one: &&Instruction| {
        has_entered |= one.ring != 3;
        !has_entered || one.ring != 3
    };
    let instructions = anatomy.instructions.iter().take_while(is_before).cloned().collect();
    Anatomy { entry: anatomy.entry.clone(), operation: anatomy.operation.clone(), instructions }
}

/// The entry's own code, in the order of execution. Thunks, `sync_regs` and what clears the branch history are functions that it calls, and
/// so is C: the call alone is here.
pub fn of_linux(anatomy: &Anatomy) -> Vec<One> {
    let assembly = anatomy.instructions.iter().filter(|one| is_assembly(one));
    let one = |one: &Instruction| One {
        text: one.text.clone(),
        place: one.function_name().to_owned(),
        kind: decoded(one).map_or_else(|| one.text.clone(), |code| kind(&code)),
    };
    assembly.map(one).collect()
}

/// Linux's C code, and what both call, by part.
pub fn c_parts(anatomy: &Anatomy) -> Vec<PartCount> {
    let is_c = |one: &&Instruction| one.ring != 3 && !is_assembly(one);
    let instructions = anatomy.instructions.iter().filter(is_c).cloned().collect();
    Anatomy { instructions, ..anatomy.clone() }.parts()
}

/// Those of these settings that this boot has switched off: in the entry's own code, only nops and jumps stand in their place.
pub fn switched_off(anatomy: &Anatomy, settings: &[Setting]) -> Vec<Setting> {
    let instructions = anatomy.instructions.iter().filter(|one| is_assembly(one)).cloned().collect();
    let parts = Anatomy { instructions, ..anatomy.clone() }.parts();
    let off: Vec<Part> = parts.into_iter().filter(PartCount::is_off).map(|count| count.part).collect();
    let is_off = |setting: &&Setting| off.iter().any(|part| shows_off(*part, setting));
    settings.iter().filter(is_off).cloned().collect()
}

/// Whether the idle place of a part says that a setting is off. The trampoline's stack is there without isolation, too; and the barrier between
/// programs has no place in an entry.
fn shows_off(part: Part, setting: &Setting) -> bool {
    match (part, setting.name.as_str(), setting.value.as_str()) {
        (Part::Pti, "pti", "trampoline") | (Part::Ibpb, "ibpb", _) => false,
        (part, name, _) => part.switches().contains(&name),
    }
}

/// What functions of this boot do that a profile may not have: how it returns, if not plainly, by thunks alone or with returns untrained on
/// the way in; the loop that clears the branch history; and in kernels with CONFIG_X86_ESPFIX64 the look for a stack of 16 bits before an iretq.
pub fn besides(anatomy: &Anatomy) -> Vec<Setting> {
    let executes = |ending: &str| {
        anatomy.instructions.iter().any(|one| !one.idle && one.function_name().ends_with(ending))
    };
    let returns = [("untrain_ret", "untrain"), ("return_thunk", "thunk")];
    let returns = returns.into_iter().find(|(ending, _)| executes(ending));
    let returns = returns.map(|(_, value)| Setting::new("returns", value));
    let clears = executes("clear_bhb_loop") || executes("clear_bhb_loop_nofence");
    let bhb = clears.then(|| Setting::new("bhb", "loop"));
    let looks = anatomy.instructions.iter().any(|one| one.text.ends_with(" native_irq_return_ldt"));
    let espfix = looks.then(|| Setting::new("espfix", "on"));
    returns.into_iter().chain(bhb).chain(espfix).collect()
}

fn is_assembly(one: &Instruction) -> bool {
    let name = one.function_name();
    let is_entry = || name == BEFORE_C || functions::region(name, None) == Some(Region::Entry);
    one.ring != 3 && functions::own(name).is_none() && is_entry()
}

fn decoded(one: &Instruction) -> Option<iced_x86::Instruction> {
    let code = Decoder::with_ip(64, &one.code()?, one.address, DecoderOptions::NONE).decode();
    (!code.is_invalid()).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anatomy::{Confidence, Location};
    use table::Table;

    fn one(ring: u8, function: &str, text: &str, part: Part) -> Instruction {
        let (bytes, function) = ("90".into(), Some(Location { name: function.into(), offset: 0 }));
        let (address, depth, idle) = (0x1000, 0, false);
        Instruction {
            address,
            ring,
            bytes,
            text: text.into(),
            function,
            depth,
            part,
            confidence: Confidence::ALL[0],
            idle,
        }
    }

    #[test]
    fn a_path_to_a_handler_ends_where_that_begins() {
        let path = [(3, "ud2"), (0, "clac"), (0, "iretq"), (3, "syscall"), (0, "swapgs"), (0, "sysretq")];
        let instructions = path.map(|(ring, text)| one(ring, "asm_exc_invalid_op", text, Part::Frame)).into();
        let anatomy = Anatomy { entry: "ud".into(), operation: "signal".into(), instructions };
        let texts: Vec<String> =
            to_the_handler(&anatomy).instructions.into_iter().map(|one| one.text).collect();
        assert_eq!(texts, ["ud2", "clac", "iretq"]);
        let none = Anatomy { instructions: Vec::new(), ..anatomy };
        assert!(to_the_handler(&none).instructions.is_empty());
    }

    #[test]
    fn what_int80_comes_to_c_by_is_the_assemblers() {
        let is = |function: &str| is_assembly(&one(0, function, "jmp", Part::Handler));
        assert!(is("int80_emulation") && is("asm_int80_emulation"));
        assert!(!is("do_int80_emulation") && !is("sync_regs"));
    }

    /// A path of these instructions.
    fn path(instructions: Vec<Instruction>) -> Anatomy {
        Anatomy { entry: "syscall-x86_64".into(), operation: "getppid".into(), instructions }
    }

    #[test]
    fn an_instruction_of_the_kernel_is_the_assemblers_or_c_and_one_of_the_program_is_neither() {
        let anatomy = path(vec![
            one(3, "program", "syscall", Part::Entering),
            one(0, "entry_SYSCALL_64", "swapgs", Part::Swapgs),
            one(0, "do_syscall_64", "push %rbx", Part::Handler),
            one(0, "__x64_sys_getppid", "mov %rax, %rdi", Part::Service),
            one(0, "clear_bhb_loop", "jmp", Part::Bhb),
            one(0, "entry_SYSCALL_64", "sysretq", Part::Leaving),
        ]);
        let texts: Vec<String> = of_linux(&anatomy).into_iter().map(|one| one.text).collect();
        assert_eq!(texts, ["swapgs", "sysretq"]);
        let c: Vec<_> = c_parts(&anatomy).into_iter().map(|count| (count.part, count.count)).collect();
        assert_eq!(c, [(Part::Bhb, 1), (Part::Handler, 1), (Part::Service, 1)]);
    }

    #[test]
    fn a_boot_that_untrains_returns_by_thunks_too_and_what_is_idle_says_nothing() {
        let idle = |function: &str| Instruction { idle: true, ..one(0, function, "nop", Part::Returns) };
        let busy = |function: &str| one(0, function, "ret", Part::Returns);
        let of = |instructions: Vec<Instruction>| {
            let found = besides(&path(instructions)).iter().map(Setting::to_string).collect::<Vec<_>>();
            found.join(" ")
        };
        assert_eq!(of(vec![busy("__x86_return_thunk")]), "returns=thunk");
        let both = vec![busy("retbleed_untrain_ret"), busy("retbleed_return_thunk")];
        assert_eq!(of(both), "returns=untrain");
        assert_eq!(of(vec![busy("clear_bhb_loop"), busy("its_return_thunk")]), "returns=thunk bhb=loop");
        assert_eq!(of(vec![idle("entry_untrain_ret"), idle("clear_bhb_loop"), busy("do_syscall_64")]), "");
        let looks = one(0, "early_xen_iret_patch", "jne native_irq_return_ldt", Part::Leaving);
        assert_eq!(of(vec![looks]), "espfix=on");
    }

    #[test]
    fn what_is_left_of_a_profile_can_be_built() {
        let table = Table::get();
        let idle =
            [Part::Smap, Part::Pti, Part::Pcid, Part::Ibrs, Part::Returns, Part::Bhb, Part::Ibpb, Part::Verw];
        for profile in &table.profiles {
            for off in idle.iter().map(std::slice::from_ref).chain([&idle[..]]) {
                let mut left = profile.clone();
                left.steps.retain(|step| !off.iter().any(|part| shows_off(*part, step)));
                assert_eq!(table.accepts(&left), Ok(()), "{} without {off:?}", profile.name);
            }
        }
        let of = |part, text: &str| {
            let (name, value) = text.split_once('=').unwrap();
            shows_off(part, &Setting::new(name, value))
        };
        assert!(of(Part::Pti, "pti=on") && !of(Part::Pti, "pti=trampoline") && !of(Part::Pti, "verw=on"));
        assert!(of(Part::Ibpb, "entry-ibpb=on") && !of(Part::Ibpb, "ibpb=on"));
    }
}
