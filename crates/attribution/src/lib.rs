//! Where the time of a path goes: what each protection adds to it ([`bill`]), and what its instructions belong to ([`anatomy`]); and what share of a
//! workload's time goes into such paths ([`impact`]). Pure.

#![forbid(unsafe_code)]

pub mod anatomy;
pub mod bill;
pub mod impact;
