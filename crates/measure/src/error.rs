//! What ends a measurement before it yields anything.

/// Why there is nothing to show.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for does not exist.
    #[error("{0}")]
    Usage(String),
    /// Measuring needs something that is missing, or that this process may not do.
    #[error("{0}")]
    Environment(String),
    /// The user interrupted it.
    #[error("interrupted before anything was measured")]
    Interrupted,
}

impl Error {
    /// There is nothing to measure on.
    pub(crate) fn no_cpu() -> Error {
        Error::Environment("there is no CPU to measure on".into())
    }
}

impl From<table::Mistake> for Error {
    fn from(mistake: table::Mistake) -> Error {
        Error::Usage(mistake.to_string())
    }
}

impl From<table::BadSet> for Error {
    fn from(bad: table::BadSet) -> Error {
        Error::Usage(bad.to_string())
    }
}

impl From<places::lab::Trouble> for Error {
    fn from(trouble: places::lab::Trouble) -> Error {
        match trouble {
            places::lab::Trouble::Machine(places::emulator::Trouble::Interrupted) => Error::Interrupted,
            other => Error::Environment(other.to_string()),
        }
    }
}
