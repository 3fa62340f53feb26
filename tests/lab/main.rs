//! The lab kernel, booted in every emulator that is here: each entry's outcome and answer, the instructions of each step,
//! isolation, faults, hostile arguments, registers, and programs that someone else compiled.

#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

mod build;
mod exec;
mod faults;
mod faults32;
mod guest;
mod isolation;
mod kernel;
mod malformed;
mod matrix;
mod nmi;
mod pointers;
mod processor;
mod questions;
mod registers;
mod ring;
mod runaway;
mod slots;
mod steps;
mod trial;
