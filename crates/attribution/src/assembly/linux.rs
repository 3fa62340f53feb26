//! What of a followed path is the assembler's, and what is C.

use crate::anatomy::functions::{self, Region};
use crate::anatomy::{Anatomy, Instruction, Part, PartCount};
use crate::assembly::One;
use crate::assembly::kind::kind;
use iced_x86::{Decoder, DecoderOptions};

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

/// The parts that this boot has switched off: in the entry's own code, only nops and jumps stand in their place.
pub fn switched_off(anatomy: &Anatomy) -> Vec<Part> {
    let instructions = anatomy.instructions.iter().filter(|one| is_assembly(one)).cloned().collect();
    let parts = Anatomy { instructions, ..anatomy.clone() }.parts();
    parts.into_iter().filter(PartCount::is_off).map(|count| count.part).collect()
}

/// Whether this boot returns by thunks.
pub fn returns_by_thunk(anatomy: &Anatomy) -> bool {
    anatomy.instructions.iter().any(|one| !one.idle && one.function_name().ends_with("return_thunk"))
}

fn is_assembly(one: &Instruction) -> bool {
    let name = one.function_name();
    one.ring != 3 && functions::own(name).is_none() && functions::region(name, None) == Some(Region::Entry)
}

fn decoded(one: &Instruction) -> Option<iced_x86::Instruction> {
    let digits = one.bytes.as_bytes().chunks_exact(2);
    let bytes = digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    let code = Decoder::with_ip(64, &bytes, one.address, DecoderOptions::NONE).decode();
    (!code.is_invalid()).then_some(code)
}
