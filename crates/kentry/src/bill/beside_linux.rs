//! `kentry bill --beside-linux` and `--follow`: the lab's path of an entry beside that of a Linux that is booted now, and what of that the
//! lab explains.

use crate::anatomy;
use crate::bill::Runs;
use crate::bill::args::BillArgs;
use crate::bill::listing;
use crate::counted::{BILL_SECONDS, lab_plan, processor};
use crate::error::Error;
use crate::exit::UNFINISHED;
use crate::lab;
use crate::lab::listing as path_listing;
use crate::messages::{note, note_no_times};
use crate::options::output::Look;
use crate::os::interrupts;
use crate::saving::Saving;
use attribution::anatomy::Followed;
use attribution::assembly::{
    Assembly, Brought, Columns, Order, besides, c_parts, explained, has_order, of_lab, of_linux,
    steps_of_column, switched_off, to_the_handler,
};
use attribution::bill::{Bill, Plan, Step};
use measure::guest::is_of;
use measure::lab::{Accel, Emulator, Listed, Options, choose};
use places::host::Interrupt;
use places::lab::Limits;
use report::Kind;
use std::process::ExitCode;
use table::special::SIGNAL;
use table::{Kernel, Profile, Setting, Table};

/// What switches protections of a Linux off.
const UNPROTECTED: [[&str; 2]; 2] = [["mitigations", "off"], ["kstack-offset", "off"]];

/// Follows, lists, and shows both. It ends with 0 whether they differ or not.
pub fn run(args: &BillArgs, kernel: &str) -> Result<ExitCode, Error> {
    let outputs = args.to.open(Kind::ASSEMBLY)?;
    let signal = signal(args)?;
    let Some(WithAndWithout { followed, .. }) = follow(args, kernel, None, signal)? else {
        return Ok(ExitCode::from(UNFINISHED));
    };
    let interrupt = interrupts::noted();
    let both = Both::of(args, &followed, signal, &interrupt)?;
    outputs.write(Look::WHOLE, |format, style| report::assembly(&both.assembly, format, style))?;
    Ok(ExitCode::SUCCESS)
}

/// Follows, lists and counts, and shows the bill with what it explains of this Linux.
pub fn explain(args: &BillArgs, kernel: &str) -> Result<ExitCode, Error> {
    if let Some(signal) = signal(args)? {
        let why = format!(
            "--follow: Linux answers {} with {signal}, and its handler comes back by a system call; the lab serves a call. --beside-linux compares \
             what leads to the handler",
            args.row(Table::get())?.0.name
        );
        return Err(Error::Usage(why));
    }
    let outputs = args.to.open(Kind::BILL)?;
    let saving = Saving::prepare(&args.save, &mut note)?;
    let against = |release: &str| unprotected(Table::get(), release);
    let Some(WithAndWithout { followed, unprotected, left_out }) = follow(args, kernel, Some(against), None)?
    else {
        return Ok(ExitCode::from(UNFINISHED));
    };
    let interrupt = interrupts::noted();
    let Both { plan, assembly, brought, emulator, limits } = Both::of(args, &followed, None, &interrupt)?;
    let plan_of_lab = lab_plan(Table::get(), &plan, limits.time);
    let document = lab::on(emulator, plan_of_lab, limits, args.guest.seed, &interrupt)?;
    let mut there = explained(Table::get(), &assembly, &brought, &followed, unprotected.as_ref());
    let unknown = |why: &String| format!("what parameters would save is not known: {why}");
    there.remarks.extend(left_out.iter().map(unknown));
    let no_times = Some("--follow counts what a Linux executes in QEMU's emulation".to_owned());
    let bill = Bill { there: Some(there), no_times, ..plan.bill(&document, None) };
    super::show(args, bill, Runs { lab: &document, linux: None }, outputs, saving, &interrupt)
}

/// The parameters that switch off what a kernel of this release does against attacks, and lets a boot decide; none of one that has none.
fn unprotected(table: &Table, release: &str) -> Option<String> {
    let known = UNPROTECTED.iter().filter_map(|[name, value]| table.parameter(name)?.value(value));
    let words: Vec<&str> =
        known.filter(|value| is_of(value, release)).map(|value| value.append.as_str()).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The signal by which Linux answers what is asked of the lab.
fn signal(args: &BillArgs) -> Result<Option<&'static str>, Error> {
    let (entry, operation) = args.row(Table::get())?;
    Ok(entry.signal_in_place_of(&operation.name))
}

/// The kernel's path as it boots by itself, and with what switches its protections off.
struct WithAndWithout {
    followed: Followed,
    unprotected: Option<Followed>,
    /// Why the second was not followed.
    left_out: Vec<String>,
}

/// One use of the entry in this kernel, of one that is answered by a signal until its handler begins, and another in a boot with what `against`
/// has for its release; none if it could not be followed. Why one could not is said then.
fn follow(
    args: &BillArgs,
    kernel: &str,
    against: Option<fn(&str) -> Option<String>>,
    signal: Option<&str>,
) -> Result<Option<WithAndWithout>, Error> {
    let table = Table::get();
    let (entry, operation) = args.row(table)?;
    // The kernel's release may tell which profile it is; what is wrong with all of them is refused before anything boots.
    args.check_of_releases(table)?;
    let option = if args.follow.is_some() { "--follow" } else { "--beside-linux" };
    if args.guest.options(BILL_SECONDS).accel == Accel::Kvm {
        let why = format!("{option}: only QEMU's emulation can be followed; leave --accel kvm out");
        return Err(Error::Usage(why));
    }
    let asked = if signal.is_some() { SIGNAL } else { &operation.name };
    let document = match anatomy::of_kernel(option, kernel, against, [&entry.name, asked], &args.guest)? {
        Ok(document) => document,
        Err(why) => {
            note(&why);
            return Ok(None);
        }
    };
    let left_out: Vec<String> = document.left_out.into_iter().map(|left| left.why).collect();
    left_out.iter().for_each(|why| note(why));
    let mut paths = document.paths.into_iter();
    let mut followed = paths.next().ok_or_else(|| Error::Environment("nothing was followed".into()))?;
    if signal.is_some() {
        followed.anatomy = to_the_handler(&followed.anatomy);
    }
    Ok(Some(WithAndWithout { followed, unprotected: paths.next(), left_out }))
}

/// The lab's path beside that of a Linux.
struct Both {
    plan: Plan,
    assembly: Assembly,
    brought: Brought,
    /// What the lab was listed by, for what else is asked of it.
    emulator: Emulator,
    limits: Limits,
}

impl Both {
    /// The profile is that of the kernel's release, and the lab has what this boot of Linux has: steps that are switched off there are left
    /// out.
    fn of(
        args: &BillArgs,
        followed: &Followed,
        signal: Option<&str>,
        interrupt: &Interrupt,
    ) -> Result<Both, Error> {
        let table = Table::get();
        let mut question =
            args.question_of(table, args.profile_of(table, &followed.configuration.release)?)?;
        let entry = path_listing::entry(table, Kernel::Lab, &question.entry)?;
        let off = leave_out(&mut question.profile, followed);
        let on = add(&mut question.profile, followed);
        let options = Options { accel: Accel::Tcg, ..args.guest.options(BILL_SECONDS) };
        let limits = lab::limits(&options, interrupt);
        let emulator = choose(&options, &limits, &mut note_no_times)?;
        let plan = Plan::new(table, question, processor(&emulator, &limits)?)?;
        let listing = listing::built(table, entry, &plan, &emulator, &limits)?;
        let (_, templates) = listing::templates()?;
        let lacking = plan
            .steps()
            .iter()
            .enumerate()
            .filter_map(|(place, step)| Some(format!("{}: {}", step.name(), plan.left_out(place)?)));
        let assembly = Assembly {
            entry: plan.question.entry.clone(),
            operation: plan.question.operation.clone(),
            signal: signal.map(str::to_owned),
            kernel: followed.configuration.release.clone(),
            profile: plan.question.profile.name.clone(),
            off,
            on,
            lacking: lacking.collect(),
            is_ordered: has_order(table, listing.template(&templates)?),
            columns: Columns { lab: of_lab(&listing.built.steps), linux: of_linux(&followed.anatomy) },
            c: c_parts(&followed.anatomy),
        };
        let places = listing.places(&Order::new(table, plan.steps()), &templates)?;
        let brought = brought(&plan, &places, &listing.built);
        Ok(Both { plan, assembly, brought, emulator, limits })
    }
}

/// Which setting brings each instruction of the lab's column.
fn brought(plan: &Plan, of_steps: &[Option<usize>], built: &Listed) -> Brought {
    let by = steps_of_column(&built.steps).into_iter().map(|step| of_steps.get(step).copied().flatten());
    Brought { settings: plan.steps().iter().map(Step::setting).collect(), by: by.collect() }
}

/// What this boot has switched off; the profile is without it then.
fn leave_out(profile: &mut Profile, followed: &Followed) -> Vec<String> {
    let off = switched_off(&followed.anatomy, &profile.steps);
    profile.steps.retain(|step| !off.contains(step));
    off.iter().map(Setting::to_string).collect()
}

/// What this boot has besides: thunks stand in the place of returns where a processor's fault was found after that version, and are untrained
/// on a processor that needs it; the branch history is cleared in a virtual machine.
fn add(profile: &mut Profile, followed: &Followed) -> Vec<String> {
    let mut added = besides(&followed.anatomy);
    added.retain(|new| !profile.steps.contains(new));
    // What was executed takes the place of what the profile has.
    profile.steps.retain(|step| added.iter().all(|new| step.name != new.name));
    profile.steps.extend(added.clone());
    added.iter().map(Setting::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_told_to_switch_off_what_it_knows() {
        let of = |release| unprotected(Table::get(), release);
        assert_eq!(
            of("6.1.0-56-cloud-amd64").as_deref(),
            Some("mitigations=off randomize_kstack_offset=off")
        );
        assert_eq!(of("5.10.0-32-cloud-amd64").as_deref(), Some("mitigations=off"));
        assert_eq!(of("4.19.0-27-amd64"), None);
    }
}
