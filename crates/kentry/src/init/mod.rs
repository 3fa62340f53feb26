//! kentry as the first program of a guest: the kernel has started it, and nothing else is there. It does the work that its archive
//! says, tells through a port of the machine what came out, and ends the machine. It never ends itself, which would be a panic of the
//! kernel.

mod events;
mod exec;
mod facts;
mod filter;
mod follow;
mod measure;
mod mount;
mod port;
mod random;
mod symbols;

use places::guest::{Frame, Hello, WORK, Work};
use std::path::Path;
use std::time::Duration;

/// What the kernel itself gives to its first program: `argv_init` and `envp_init` in init/main.c.
const ENVIRONMENT: [&str; 2] = ["HOME", "TERM"];

/// A probe that runs longer is considered hung. Where instructions are counted, that is 500 million of them, or
/// 2000 million where each takes a nanosecond by the guest's clock.
const ROUND_TIME: Duration = Duration::from_secs(2);

/// The process id that getppid answers to a probe: this program's.
const PARENT: u64 = 1;

/// Whether this process is a guest's first program.
pub fn is_meant() -> bool {
    std::process::id() == 1 && Path::new(WORK).exists()
}

/// Does the guest's work, and ends the machine.
pub fn run() -> ! {
    std::panic::set_hook(Box::new(|panic| {
        port::send(&Frame::Failed(format!("kentry failed: {panic}")));
        port::end();
    }));
    if let Err(why) = work() {
        port::send(&why);
    }
    port::end()
}

/// The frame that says why it was not done, if it was not.
fn work() -> Result<(), Frame> {
    mount::all().map_err(Frame::Failed)?;
    port::send(&Frame::Hello(Hello { unknown: unknown(), tick: facts::tick() }));
    let work = read().map_err(|why| Frame::Failed(format!("{WORK}: {why}")))?;
    random::seed(work.seed);
    if work.trace {
        events::switch_on().map_err(Frame::Unsupported)?;
    }
    if let Some(filter) = work.filter {
        filter::install(filter).map_err(Frame::Unsupported)?;
    }
    let done = match &work.exec {
        Some(exec) => exec::run(exec).map(|exit| port::send(&Frame::Exit(exit))),
        None => measure::run(&work),
    };
    done.map_err(Frame::Failed)
}

fn read() -> std::io::Result<Work> {
    Ok(serde_json::from_slice(&std::fs::read(WORK)?)?)
}

/// Parameters that the kernel did not know: those with a value are variables of the first program, the others its arguments.
fn unknown() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_string_lossy().into_owned();
        (!ENVIRONMENT.contains(&name.as_str())).then(|| format!("{name}={}", value.to_string_lossy()))
    });
    words.chain(variables).collect()
}
