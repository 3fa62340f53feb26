//! Anatomies of paths that were followed in real kernels.
#![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

mod common;
mod document;
mod instructions;
mod layouts;
mod parts;
