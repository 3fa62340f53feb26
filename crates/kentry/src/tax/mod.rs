//! `kentry tax`: from arguments to the exit code.

pub mod args;
pub mod arms;
mod profile;

use crate::error::Error;
use crate::exit::INTERRUPTED;
use crate::messages::note;
use crate::options::output::Look;
use crate::os::interrupts;
use crate::this_machine::{drawn_seed, need_counter};
use args::TaxArgs;
use arms::Asked;
use layers::{Kind, LAYERS, Layer, Word};
use report::Style;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

/// Lists the layers, or measures them.
pub fn run(args: &TaxArgs) -> Result<ExitCode, Error> {
    if args.list {
        let write = |format, style: &Style| report::layers(&LAYERS, format, style);
        args.to.open(report::Kind::LIST)?.write(Look::whole(false), write)?;
        return Ok(ExitCode::SUCCESS);
    }
    args.time.one_kind("layers are measured on cores")?;
    let words = asked(args)?;
    let plan = args.plan(drawn_seed())?;
    need_counter()?;
    let outputs = args.to.open(report::Kind::TAX)?;
    let interrupt = interrupts::noted();
    let tax = arms::measure(&words, &plan, &interrupt, &mut note)?;
    let interrupted = interrupt.load(Ordering::Relaxed);
    if interrupted && !tax.has_figures() {
        return Err(Error::Interrupted);
    }
    outputs.write(Look::whole(args.verbose), |format, style| report::tax(&tax, format, style))?;
    Ok(if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// The layers that the command line names, or all of them, ready to be put on. A profile is read, and a filter made of it, before anything is
/// measured.
fn asked(args: &TaxArgs) -> Result<Asked, Error> {
    let is_asked = |layer: &&Layer| args.is_asked(layer);
    let mut asked = Asked::default();
    for layer in LAYERS.iter().filter(is_asked) {
        let filter = match layer.kind {
            Kind::Profile => {
                let (used, compiled) = profile::compiled(args.seccomp_profile.as_deref())?;
                asked.notes.extend(profile::unknown(&used));
                asked.profile = Some(used);
                Some((compiled.program, compiled.allows_speculation))
            }
            _ => None,
        };
        asked.words.push(Word { layer: *layer, filter });
    }
    Ok(asked)
}
