//! What a profile means for 64-bit calls, in a container with the usual capabilities.

use super::json::{Action, Argument, Calls, Comparison, Conditions, Source};
use super::{CAPABILITIES, ProfileError};
use seccompiler::{SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};
use std::collections::{BTreeMap, BTreeSet};
use syscalls::x86_64::Sysno;

/// The architecture, as OCI and as Docker's rules call it.
const ARCHITECTURE: &str = "SCMP_ARCH_X86_64";
const ARCH: &str = "amd64";

/// What a forbidden call answers unless the profile says.
const EPERM: u32 = 1;

/// The most errors that the kernel returns (include/linux/err.h).
const MOST_ERRNO: u32 = 4095;

/// Arguments of a call.
const ARGUMENTS: u64 = 6;

/// Rules by action and number. Of a call that has a rule without conditions, no other counts: its list is empty.
pub(super) type Rules = Vec<(SeccompAction, BTreeMap<i64, Vec<SeccompRule>>)>;

/// A profile's rules for 64-bit calls.
pub(super) struct Ruled {
    pub rules: Rules,
    pub default: SeccompAction,
    pub calls: usize,
    pub unknown: Vec<String>,
}

pub(super) fn of(source: &Source, kernel: [u32; 2]) -> Result<Ruled, ProfileError> {
    need_architecture(source)?;
    let default = action("defaultAction", source.default_action, source.default_errno_ret)?;
    let mut rules: Rules = Vec::new();
    let (mut known, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    for (number, calls) in source.syscalls.iter().flatten().enumerate() {
        let place = format!("syscalls[{number}]");
        let action = action(&place, calls.action, calls.errno_ret)?;
        let conditions = conditions(&place, calls.args.as_deref().unwrap_or_default())?;
        let holds = holds(&place, calls, kernel)?;
        for name in calls.names.iter().flatten().chain(&calls.name) {
            match name.parse::<Sysno>() {
                Ok(_) if !holds => {}
                Ok(call) => {
                    known.insert(call.id());
                    // What happens anyway needs no rule.
                    if action != default {
                        add(&mut rules, &action, i64::from(call.id()), &conditions);
                    }
                }
                Err(_) if is_elsewhere(name) => {}
                Err(_) => _ = unknown.insert(name.clone()),
            }
        }
    }
    rules.sort_by_key(|(action, _)| rank(action));
    Ok(Ruled { rules, default, calls: known.len(), unknown: unknown.into_iter().collect() })
}

fn wrong(place: &str, why: String) -> ProfileError {
    ProfileError::Rule { place: place.into(), why }
}

/// One that says of which architectures it is must be of this one.
fn need_architecture(source: &Source) -> Result<(), ProfileError> {
    let of_docker = source.arch_map.iter().flatten().map(|map| &map.architecture);
    let mut all = source.architectures.iter().flatten().chain(of_docker).peekable();
    if all.peek().is_none() || all.any(|name| name == ARCHITECTURE) {
        return Ok(());
    }
    let place = if source.architectures.is_some() { "architectures" } else { "archMap" };
    Err(wrong(place, format!("{ARCHITECTURE} is missing: the profile is of other processors")))
}

/// Whether any other architecture that container runtimes know has a call of this name, or had. Those that are not asked (loongarch64, the 32
/// bits of PowerPC, the 64 of MIPS) have no names beyond these.
fn is_elsewhere(name: &str) -> bool {
    /// Libseccomp's names of calls that are parts of others, or that are private to an architecture.
    const ALSO: [&str; 8] =
        ["accept", "arm_fadvise64_64", "breakpoint", "cacheflush", "recv", "send", "set_tls", "usr26"];
    macro_rules! any {
        ($($arch:ident)*) => { $(name.parse::<syscalls::$arch::Sysno>().is_ok())||* };
    }
    ALSO.contains(&name) || any!(x86 aarch64 arm mips powerpc64 riscv64 s390x)
}

/// An action in seccompiler's words.
fn action(place: &str, action: Action, errno: Option<u32>) -> Result<SeccompAction, ProfileError> {
    Ok(match action {
        Action::Kill | Action::KillThread => SeccompAction::KillThread,
        Action::KillProcess => SeccompAction::KillProcess,
        Action::Trap => SeccompAction::Trap,
        Action::Trace => SeccompAction::Trace(errno.unwrap_or(EPERM) & 0xffff),
        Action::Log => SeccompAction::Log,
        Action::Allow => SeccompAction::Allow,
        Action::Errno => match errno.unwrap_or(EPERM) {
            errno @ 0..=MOST_ERRNO => SeccompAction::Errno(errno),
            errno => {
                return Err(wrong(
                    place,
                    format!("{errno} is no error that the kernel can return (at most {MOST_ERRNO})"),
                ));
            }
        },
        Action::Notify => {
            let why = "SCMP_ACT_NOTIFY needs a container runtime's agent, which is not here; the layer seccomp-notify shows what such calls cost";
            return Err(wrong(place, why.into()));
        }
    })
}

/// In a program, what ends a process comes before what answers an error, as the kernel ranks filters' answers
/// (include/uapi/linux/seccomp.h).
fn rank(action: &SeccompAction) -> u8 {
    match action {
        SeccompAction::KillProcess => 0,
        SeccompAction::KillThread => 1,
        SeccompAction::Trap => 2,
        SeccompAction::Errno(_) => 3,
        SeccompAction::Trace(_) => 4,
        SeccompAction::Log => 5,
        SeccompAction::Allow => 6,
    }
}

/// Whether rules hold here, by Docker's conditions: includes need all capabilities, excludes any of them.
fn holds(place: &str, calls: &Calls, kernel: [u32; 2]) -> Result<bool, ProfileError> {
    let none = Conditions::default();
    let (includes, excludes) =
        (calls.includes.as_ref().unwrap_or(&none), calls.excludes.as_ref().unwrap_or(&none));
    let has = |name: &String| CAPABILITIES.contains(&name.as_str());
    let is_new = |text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => version(text).map(|least| Some(kernel >= least)).ok_or_else(|| {
            wrong(place, format!("minKernel \"{}\" is no version such as 4.8", text.escape_debug()))
        }),
    };
    let is_here = |arches: &Vec<String>| arches.iter().any(|arch| arch == ARCH);
    let of_some = |arches: &Option<Vec<String>>| arches.clone().filter(|arches| !arches.is_empty());
    let is_included = includes.caps.iter().flatten().all(has)
        && of_some(&includes.arches).is_none_or(|arches| is_here(&arches))
        && is_new(&includes.min_kernel)?.unwrap_or(true);
    let is_excluded = excludes.caps.iter().flatten().any(has)
        || of_some(&excludes.arches).is_some_and(|arches| is_here(&arches))
        || is_new(&excludes.min_kernel)?.unwrap_or(false);
    Ok(is_included && !is_excluded)
}

/// The first two numbers of a version.
fn version(text: &str) -> Option<[u32; 2]> {
    let (major, minor) = text.split_once('.')?;
    Some([major.parse().ok()?, minor.parse().ok()?])
}

/// Lists of conditions, one of which must be met; one empty list if there are none. As runc has it, all must be met together, unless two are of
/// one argument: then any of them will do.
fn conditions(place: &str, args: &[Argument]) -> Result<Vec<Vec<SeccompCondition>>, ProfileError> {
    let of = |(number, argument): (usize, &Argument)| condition(&format!("{place}.args[{number}]"), argument);
    let all = args.iter().enumerate().map(of).collect::<Result<Vec<_>, _>>()?;
    let different: BTreeSet<u64> = args.iter().map(|argument| argument.index).collect();
    Ok(if different.len() < args.len() { all.into_iter().map(|one| vec![one]).collect() } else { vec![all] })
}

fn condition(place: &str, argument: &Argument) -> Result<SeccompCondition, ProfileError> {
    let Argument { index, value, value_two, op } = argument;
    let index = u8::try_from(*index).ok().filter(|index| u64::from(*index) < ARGUMENTS);
    let index = index
        .ok_or_else(|| wrong(place, format!("index {} is no argument: they are 0 to 5", argument.index)))?;
    let (op, value) = match op {
        Comparison::Ne => (SeccompCmpOp::Ne, *value),
        Comparison::Lt => (SeccompCmpOp::Lt, *value),
        Comparison::Le => (SeccompCmpOp::Le, *value),
        Comparison::Eq => (SeccompCmpOp::Eq, *value),
        Comparison::Ge => (SeccompCmpOp::Ge, *value),
        Comparison::Gt => (SeccompCmpOp::Gt, *value),
        // The first value is the mask.
        Comparison::MaskedEq => (SeccompCmpOp::MaskedEq(*value), value_two.unwrap_or(0)),
    };
    SeccompCondition::new(index, SeccompCmpArgLen::Qword, op, value)
        .map_err(|error| wrong(place, error.to_string()))
}

fn add(rules: &mut Rules, action: &SeccompAction, call: i64, conditions: &[Vec<SeccompCondition>]) {
    let of_action = match rules.iter_mut().position(|(known, _)| known == action) {
        Some(place) => rules.get_mut(place),
        None => {
            rules.push((action.clone(), BTreeMap::new()));
            rules.last_mut()
        }
    };
    let Some((_, of_action)) = of_action else { return };
    let is_new = !of_action.contains_key(&call);
    let of_call = of_action.entry(call).or_default();
    // An empty list is a rule without conditions, which is met whatever others say.
    if !is_new && of_call.is_empty() {
        return;
    }
    let made: Option<Vec<SeccompRule>> =
        conditions.iter().map(|all| SeccompRule::new(all.clone()).ok()).collect();
    match made {
        Some(made) => of_call.extend(made),
        None => of_call.clear(),
    }
}
