//! Where the time of a path goes: what each protection adds to it ([`bill`]), what its instructions belong to ([`anatomy`]), how its
//! assembly compares with the lab's ([`assembly`]), what lies before it ([`tax`]), and what share of a workload's time goes into such
//! paths ([`impact`]). Pure.

#![forbid(unsafe_code)]

pub mod anatomy;
pub mod assembly;
pub mod bill;
pub mod impact;
pub mod tax;
