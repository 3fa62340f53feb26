//! What only several crates together show: the command as its users meet it, what it measures here and on simulated machines, and the
//! repository against its table. One program, because each would be linked with all of kentry.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

mod anatomy;
mod anatomy_truth;
mod arms;
mod asked;
mod beside_linux;
mod bill;
mod bill_show;
mod bill_stream;
mod bytes;
mod checkup;
mod cli;
mod compare;
mod contributing;
mod disassembly;
mod doctor_clocks;
mod executable;
mod fleets;
mod footprint;
mod guest;
mod impact;
mod lab_cli;
mod lab_stream;
mod layout;
mod linux;
mod live;
mod loops;
mod modules;
mod pipeline;
mod probe;
mod qemu;
mod reproduce;
mod runs;
mod settings;
mod simulated;
mod skipped;
mod tampered;
mod tapes;
mod tax;
mod whole;
