//! Anatomies against what the kernel's debug information says of each instruction.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

mod debug;
mod replay;
mod truth;
