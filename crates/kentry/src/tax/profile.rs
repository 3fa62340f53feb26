//! `--seccomp-profile`: from a file to a filter.

use crate::error::{Error, words};
use crate::input;
use attribution::tax::ProfileUsed;
use layers::{Compiled, MOST_BYTES, Profile};
use std::io::Read;
use std::path::Path;

/// The longest list of unknown names that is told, in names.
const TOLD: usize = 5;

/// The longest reason that is told, in characters: it may repeat what stands in the file.
const LONGEST: usize = 300;

fn short(why: &str) -> String {
    if why.chars().count() <= LONGEST {
        why.to_owned()
    } else {
        why.chars().take(LONGEST).chain(['…']).collect()
    }
}

/// The filter of a profile, or of kentry's own; and which that is.
///
/// # Errors
/// [`Error::Input`] where the file cannot be read, or is no profile.
pub fn compiled(file: Option<&Path>) -> Result<(ProfileUsed, Compiled), Error> {
    let wrong = |why: String| match file {
        Some(file) => Error::Input {
            file: file.into(),
            why: format!("this is no seccomp profile: {}", short(&report::plain(&why))),
        },
        None => Error::Environment(format!("kentry's own seccomp profile: {why}")),
    };
    let profile = match file {
        Some(file) => Profile::parse(&read(file)?),
        None => Profile::own(),
    };
    let made = profile.and_then(|profile| {
        profile.compile(environment::this_kernel().map_or([0; 2], |(major, minor)| [major, minor]))
    });
    let compiled = made.map_err(|error| wrong(error.to_string()))?;
    let used = ProfileUsed {
        file: file.map(|file| report::plain_os(file.as_os_str())),
        calls: compiled.calls,
        instructions: compiled.program.len(),
        unknown: compiled.unknown.iter().map(|name| report::plain(name)).collect(),
    };
    Ok((used, compiled))
}

/// What is said of names that nobody has.
pub fn unknown(used: &ProfileUsed) -> Option<String> {
    let names = &used.unknown;
    let told = names.iter().take(TOLD).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if names.len() > TOLD { format!(" and {} more", names.len() - TOLD) } else { String::new() };
    (!names.is_empty()).then(|| {
        format!("the profile names what no architecture has as a system call, and the filter leaves that out: {told}{more}")
    })
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    let failed = |error| Error::Input { file: file.into(), why: words(&error) };
    let mut bytes = Vec::new();
    // One byte more shows that there is more.
    input::regular(file)
        .and_then(|open| open.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    Ok(bytes)
}
