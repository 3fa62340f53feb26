//! Bills of made-up sweeps whose truth is known.
#![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

mod common;
mod plan;
mod price;
mod ring3;
mod streams;
mod there;
mod truth;
