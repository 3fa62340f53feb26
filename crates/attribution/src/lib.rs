//! Where the time of a path goes: what each protection adds to it ([`bill`]), what its instructions belong to ([`anatomy`]), and what lies
//! before it ([`tax`]). Pure.

#![forbid(unsafe_code)]

pub mod anatomy;
pub mod bill;
pub mod tax;
