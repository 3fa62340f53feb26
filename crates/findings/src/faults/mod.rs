//! Faults of processors, and what Linux does about each.

mod said;
mod state;
mod table;

pub(crate) use said::{buffers_on_exits, said};
pub use state::Stands;
pub(crate) use state::State;
pub(crate) use table::SRSO;
pub use table::{Doing, Lies, PROTECTED_FAULTS, ProtectedFault, When};
