//! What of a followed path is the assembler's, and what is C.

use crate::anatomy::functions::{self, Region};
use crate::anatomy::{Anatomy, Instruction, Part, PartCount};
use crate::assembly::One;
use crate::assembly::kind::kind;
use iced_x86::{Decoder, DecoderOptions};
use table::Setting;

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

/// How this boot returns, if not plainly: by thunks alone, or with returns untrained on the way in.
pub fn returns(anatomy: &Anatomy) -> Option<Setting> {
    let executes = |ending: &str| {
        anatomy.instructions.iter().any(|one| !one.idle && one.function_name().ends_with(ending))
    };
    let values = [("untrain_ret", "untrain"), ("return_thunk", "thunk")];
    let found = values.into_iter().find(|(ending, _)| executes(ending));
    found.map(|(_, value)| Setting::new("returns", value))
}

fn is_assembly(one: &Instruction) -> bool {
    let name = one.function_name();
    one.ring != 3 && functions::own(name).is_none() && functions::region(name, None) == Some(Region::Entry)
}

fn decoded(one: &Instruction) -> Option<iced_x86::Instruction> {
    let code = Decoder::with_ip(64, &one.code()?, one.address, DecoderOptions::NONE).decode();
    (!code.is_invalid()).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Table;

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
