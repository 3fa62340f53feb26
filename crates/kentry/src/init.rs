//! kentry as the first program of a guest: the kernel has started it, and nothing else is there. It does the work that its archive
//! says, tells through a port of the machine what came out, and ends the machine. It never ends itself, which would be a panic of the
//! kernel.

mod exec;
mod follow;
mod measure;
mod mount;
mod port;
mod random;
mod symbols;

use guest::{Frame, Hello, WORK, Work};
use std::path::Path;

/// What the kernel itself gives to its first program: `argv_init` and `envp_init` in init/main.c.
const ENVIRONMENT: [&str; 2] = ["HOME", "TERM"];

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
        port::send(&Frame::Failed(why));
    }
    port::end()
}

fn work() -> Result<(), String> {
    mount::all()?;
    port::send(&Frame::Hello(Hello { unknown: unknown() }));
    let text = std::fs::read(WORK).map_err(|error| format!("{WORK}: {error}"))?;
    let work: Work = serde_json::from_slice(&text).map_err(|error| format!("{WORK}: {error}"))?;
    random::seed(work.seed);
    match &work.exec {
        Some(exec) => port::send(&Frame::Exit(exec::run(exec)?)),
        None => measure::run(&work)?,
    }
    Ok(())
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
