//! What each protection adds to an entry, by name, and a path that adds up. Pure: a profile and the table in, the
//! configurations to measure out; their rows in, a [`Bill`] out.

mod comparable;
mod document;
mod error;
mod figure;
mod load;
mod make;
mod measured;
mod parts;
mod plan;
mod price;
mod protection;
mod published;
mod ring3;
mod step;
mod there;

pub use document::{Bill, ExplainedKind, ExplainedPart, Line, MeasuredConfiguration, SCHEMA, State, There};
pub use error::Error;
pub use figure::{Figure, Unit};
pub use load::load;
pub use plan::{Configuration, Plan, Question};
pub use price::Price;
pub use protection::is_protection;
pub use published::{Published, all_published, published};
pub use ring3::{Arms as Ring3Arms, Costs, LeftOut, Program, Ring3, Ring3Line, Where};
pub use step::{Need, Processor, Step};
