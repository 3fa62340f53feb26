//! `kentry under LAYER -- PROGRAM ARGUMENTS…`: puts a layer on this process, or on a child of it, which then is the program. Nothing but
//! kentry itself calls it so, and before anything else is done in a process.

use crate::bpf::Program;
use crate::install::{gain_nothing, install};
use crate::layer::Kind;
use crate::supervised::{Stops, dispatch, notify, trace};
use crate::word::Word;
use crate::{NotHere, child, landlock, raw_tracepoint, speculation, tracepoint};
use nix::errno::Errno;
use std::ffi::{CString, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStringExt;

/// The subcommand.
pub const UNDER: &str = "under";

/// The exit code where the layer cannot be had; the reason is then on the standard error.
pub const NOT_HERE: i32 = 77;

/// As a shell has them: the program cannot be executed, and there is none.
const NOT_EXECUTED: i32 = 126;
const NOT_FOUND: i32 = 127;

/// The exit code for anything that is no such command line.
const USAGE: i32 = 2;

/// Stands between the layer and the program.
const REST: &str = "--";

/// Whether this process was started so.
pub fn is_meant() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == UNDER)
}

/// The words that a command begins with to run a program under a layer; `kentry` is this program's file.
pub fn words(kentry: &str, word: &Word) -> Vec<String> {
    vec![kentry.into(), UNDER.into(), word.to_string(), REST.into()]
}

/// Becomes the program, or stands for it until its end.
pub fn run() -> ! {
    let all: Vec<OsString> = std::env::args_os().skip(2).collect();
    let (word, program) = match all.as_slice() {
        [word, rest, program @ ..] if rest == REST && !program.is_empty() => (word, program),
        _ => fail(USAGE, "under is what kentry calls itself by: kentry under LAYER -- PROGRAM ARGUMENTS…"),
    };
    let word = word.to_string_lossy().parse::<Word>();
    let word = word.unwrap_or_else(|why| fail(USAGE, &format!("under: {why}")));
    let texts: Result<Vec<CString>, _> =
        program.iter().map(|text| CString::new(text.clone().into_vec())).collect();
    let texts = texts.unwrap_or_else(|_| fail(USAGE, "under: an argument has a NUL in it"));
    match put_on(&word, &|| execute(&texts)) {
        Ok(code) => child::leave(code),
        Err(NotHere(why)) => fail(NOT_HERE, &why),
    }
}

/// A filter may forbid even that.
fn say(why: &str) {
    let _ = writeln!(std::io::stderr(), "{why}");
}

fn fail(code: i32, why: &str) -> ! {
    say(why);
    child::leave(code)
}

/// Puts the layer on, and executes the program; answers only where that fails, or where the program is over.
fn put_on(word: &Word, program: &dyn Fn() -> i32) -> Result<i32, NotHere> {
    // Filters and landlock need it, and so it is what every program here is like.
    gain_nothing()?;
    match word.layer.kind {
        Kind::Nothing => {}
        Kind::Filter { rules, looks, allows_speculation } => {
            install(&Program::of_rules(rules, looks), allows_speculation)?;
        }
        Kind::Profile => {
            let (program, allows_speculation) =
                word.filter.as_ref().ok_or(NotHere("the profile has no filter".into()))?;
            install(program, *allows_speculation)?;
        }
        Kind::Ssbd => speculation::forbid_store_bypass()?,
        Kind::Notify => return notify(program),
        Kind::Ptrace => return trace(Stops::Every, program),
        Kind::PtraceFilter => return trace(Stops::Others, program),
        Kind::Dispatch => return dispatch(program),
        Kind::Tracepoint => tracepoint::count()?,
        Kind::Bpf => raw_tracepoint::attach()?,
        Kind::Landlock => landlock::restrict()?,
    }
    Ok(program())
}

/// Answers an exit code only if the program cannot be executed.
fn execute(texts: &[CString]) -> i32 {
    let Some(program) = texts.first() else { return NOT_FOUND };
    // Its environment is this process's.
    let Err(errno) = nix::unistd::execvp(program, texts);
    say(&format!("{}: {}", program.to_string_lossy().escape_debug(), errno.desc()));
    if errno == Errno::ENOENT { NOT_FOUND } else { NOT_EXECUTED }
}
