//! What the process makes of the system around it.

pub mod interrupts;
pub mod locale;
pub mod memory;
pub mod pager;
pub mod room;
pub mod stack;
pub mod standard;
