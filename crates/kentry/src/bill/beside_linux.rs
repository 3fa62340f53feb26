//! `kentry bill --beside-linux`: the lab's path of an entry beside that of a Linux that is booted now.

use crate::anatomy;
use crate::bill::args::BillArgs;
use crate::bill::listing;
use crate::counted::{BILL_SECONDS, processor};
use crate::error::Error;
use crate::exit::UNFINISHED;
use crate::lab;
use crate::lab::listing as path_listing;
use crate::messages::{note, note_no_times};
use crate::options::output::Look;
use crate::os::interrupts;
use attribution::anatomy::Followed;
use attribution::assembly::{Assembly, Columns, c_parts, of_lab, of_linux, returns_by_thunk, switched_off};
use attribution::bill::{Plan, Question};
use measure::lab::{Accel, Options, choose};
use report::Kind;
use std::process::ExitCode;
use table::{Kernel, Profile, Setting, Table};

/// Follows, lists, and shows both. It ends with 0 whether they differ or not.
pub fn run(args: &BillArgs, kernel: &str) -> Result<ExitCode, Error> {
    let outputs = args.to.open(Kind::ASSEMBLY)?;
    let table = Table::get();
    let (entry, operation) = args.row(table)?;
    let followed = match anatomy::of_kernel(kernel, [&entry.name, &operation.name], &args.guest)? {
        Ok(document) => document.paths.into_iter().next(),
        Err(why) => {
            note(&why);
            return Ok(ExitCode::from(UNFINISHED));
        }
    };
    let followed = followed.ok_or_else(|| Error::Environment("nothing was followed".into()))?;
    // The release says which profile it is.
    let question = args.question_of(table, args.profile_of(table, &followed.configuration.release)?)?;
    let assembly = beside(args, question, &followed)?;
    outputs.write(Look::WHOLE, |format, style| report::assembly(&assembly, format, style))?;
    Ok(ExitCode::SUCCESS)
}

/// The lab has what this boot of Linux has: steps that are switched off there are left out.
fn beside(args: &BillArgs, mut question: Question, followed: &Followed) -> Result<Assembly, Error> {
    let table = Table::get();
    let entry = path_listing::entry(table, Kernel::Lab, &question.entry)?;
    let off = leave_out(&mut question.profile, followed);
    let on = add(&mut question.profile, followed);
    let options = Options { accel: Accel::Tcg, ..args.guest.options(BILL_SECONDS) };
    let limits = lab::limits(&options, &interrupts::noted());
    let emulator = choose(&options, &limits, &mut note_no_times)?;
    let plan = Plan::new(table, question, processor(&emulator, &limits)?)?;
    let whole = listing::whole(table, &plan);
    let built_for =
        whole.all.first().ok_or_else(|| Error::Environment("there is no configuration".into()))?;
    let path = path_listing::path_in(places::lab::Mode::Long, entry, built_for)?;
    let listed = measure::lab::listing(entry, &path, &whole, &emulator, &limits)?;
    let built = listed.first().map(|listed| listed.steps.as_slice()).unwrap_or_default();
    let lacking = (0..plan.steps().len()).filter(|place| plan.left_out(*place).is_some());
    let lacking = lacking.filter_map(|place| plan.steps().get(place)).map(attribution::bill::Step::name);
    Ok(Assembly {
        entry: plan.question.entry.clone(),
        operation: plan.question.operation.clone(),
        kernel: followed.configuration.release.clone(),
        profile: plan.question.profile.name.clone(),
        off,
        on,
        lacking: lacking.collect(),
        columns: Columns { lab: of_lab(built), linux: of_linux(&followed.anatomy) },
        c: c_parts(&followed.anatomy),
    })
}

/// What this boot has switched off; the profile is without it then.
fn leave_out(profile: &mut Profile, followed: &Followed) -> Vec<String> {
    let parts = switched_off(&followed.anatomy);
    let switches: Vec<&str> = parts.iter().flat_map(|part| part.switches()).copied().collect();
    let is_off = |step: &Setting| switches.contains(&step.name.as_str());
    let off = profile.steps.iter().filter(|step| is_off(step)).map(Setting::to_string).collect();
    profile.steps.retain(|step| !is_off(step));
    off
}

/// What this boot has besides: thunks stand in the place of returns where a processor's fault was found after that version.
fn add(profile: &mut Profile, followed: &Followed) -> Vec<String> {
    let thunks = Setting::new("returns", "thunk");
    let is_known = profile.steps.iter().any(|step| step.name == thunks.name);
    if is_known || !returns_by_thunk(&followed.anatomy) {
        return Vec::new();
    }
    profile.steps.push(thunks.clone());
    vec![thunks.to_string()]
}
