//! Where probes run: on this Linux ([`host`]), in the lab kernel ([`lab`]) and in other Linux kernels ([`guest`]), the latter two in an
//! emulator or a virtual machine ([`emulator`]).

pub mod emulator;
pub mod guest;
pub mod host;
pub mod lab;
mod packed;
pub mod probes;
pub mod ring3;
