//! Linux in a guest: kernels, parameters and processors crossed, each booted, and what the boots wrote made into one document.
//!
//! What is measured inside the guest is measured there, by the same command as on a host; here is only the plan, and what becomes of
//! the answers. Those are hostile until they are read: a guest may be anything.

mod configuration;
mod evidence;
mod machine;
mod measure;
mod merge;
mod outcomes;
mod parameters;
mod plan;
mod turn;
mod words;

pub use configuration::{Configuration, Label};
pub use evidence::{in_versions, is_of};
pub use machine::{Kernel, Machine, Request};
pub use measure::{Setup, measure};
pub use parameters::Parameters;
pub use plan::{GuestPlan, Options};
