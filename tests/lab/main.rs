//! The lab kernel, booted in every emulator that is here: each entry's outcome and answer, the instructions of each step,
//! isolation, faults, hostile arguments, registers, and programs that someone else compiled.

#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

mod boot_information;
mod build;
mod counts;
mod every_instruction;
mod exact;
mod exec;
#[path = "../executable.rs"]
mod executable;
mod executed;
mod faults;
mod faults32;
mod frequency;
mod guest;
mod ibt;
mod image;
mod isolation;
mod kernel;
mod listed;
mod logged;
mod mach;
mod mach_answers;
mod mach_changes;
mod mach_costs;
mod mach_entry;
mod mach_model;
mod mach_rows;
mod mach_stub;
mod mach_watched;
mod machines;
mod malformed;
mod matrix;
mod moments;
mod monitor;
mod nmi;
mod pages;
mod pcid;
mod pointers;
mod prevention;
mod processor;
mod protected;
mod questions;
mod reading;
mod registers;
mod remaps;
mod returns;
mod ring;
mod ring3;
mod rings;
mod runaway;
mod shadow_stack;
mod silicon;
mod sizes;
#[path = "../skipped.rs"]
mod skipped;
mod slots;
mod spec_ctrl;
mod speculation;
mod spread_nmis;
mod stack_offset;
mod steps;
mod supervisor;
mod timed;
mod tlb;
mod together;
mod trial;
mod verdict;
#[path = "../whole.rs"]
mod whole;
