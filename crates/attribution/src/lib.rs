//! Where the time of a path goes: what each protection adds to it ([`bill`]), and what its instructions belong to ([`anatomy`]). Pure.

#![forbid(unsafe_code)]

pub mod anatomy;
pub mod bill;
