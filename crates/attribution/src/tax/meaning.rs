//! What figures of a group of layers mean, in a sentence that rests on them; and what a reader must be warned of.

use super::{Added, LayerCost, TOLD, Tax};
use environment::{Version, version};
use layers::{Group, Kind, LAYERS, Layer, Looks};
use stats::Cycles;

/// The operation whose figures are quoted: its service is the least, so a difference shows best.
const QUOTED: &str = "getppid";

impl Tax {
    /// The same with what its figures mean.
    pub fn with_meaning(mut self) -> Tax {
        let meaning = |group: Group| Some((group.title(), of(&self, group)?));
        self.meaning = Group::ALL.into_iter().filter_map(meaning).collect();
        let more = warnings(&self);
        self.warnings.extend(more);
        self
    }
}

/// A group's sentence; none where nothing of it was measured or asked for.
fn of(tax: &Tax, group: Group) -> Option<String> {
    tax.layers.iter().find(|layer| layer.group == group)?;
    match group {
        Group::Filters => filters(tax),
        Group::Speculation => speculation(tax),
        Group::Supervisors => supervisors(tax),
        Group::Hooks => hooks(tax),
        Group::Access => access(tax),
    }
}

/// No sentence rests on a figure of few turns.
fn quoted<'t>(tax: &'t Tax, layer: &str) -> Option<&'t Added> {
    tax.added(layer, QUOTED).filter(|added| added.turns >= TOLD)
}

/// An interval that is wider than this part of its figure is told with it.
const NARROW: f64 = 0.1;

/// A cost in words: `12 cycles`, `12 cycles (9 to 16)`, `nothing that is seen (at most 3)`.
fn words(added: &Added) -> String {
    let (Cycles(low), Cycles(high)) = (added.low, added.high);
    match added.seen() {
        Some(Cycles(cycles)) if high - low > NARROW * cycles => {
            format!("{cycles:.0} cycles ({low:.0} to {high:.0})")
        }
        Some(Cycles(cycles)) => format!("{cycles:.0} cycles"),
        None => format!("nothing that is seen (at most {:.0})", added.at_most().0.ceil()),
    }
}

/// The filters that look at the same, with their rules and costs, the shortest first.
fn of_rules(tax: &Tax, wanted: Looks) -> Vec<(u16, &Added)> {
    let rules = |layer: &Layer| match layer.kind {
        Kind::Filter { rules, looks, allows_speculation: false } if looks == wanted => Some(rules),
        _ => None,
    };
    LAYERS.iter().filter_map(|layer| Some((rules(layer)?, quoted(tax, layer.name)?))).collect()
}

/// `81 cycles (1 rule) and 250 cycles (300 rules)`: of the shortest filter and of the longest.
fn range(all: &[(u16, &Added)]) -> Option<String> {
    let rules = |rules: &u16| if *rules == 1 { "1 rule".to_string() } else { format!("{rules} rules") };
    match all {
        [] => None,
        [(number, only)] => Some(format!("{} ({})", words(only), rules(number))),
        [(first, least), .., (last, most)] => {
            Some(format!("{} ({}) and {} ({})", words(least), rules(first), words(most), rules(last)))
        }
    }
}

/// Since when the kernel keeps a map of the numbers that a filter always allows.
const BITMAP_SINCE: Version = (5, 11);

/// Whether the kernel is known to be older than this version.
fn is_before(tax: &Tax, since: Version) -> bool {
    tax.kernel.as_deref().and_then(version).is_some_and(|kernel| kernel < since)
}

fn filters(tax: &Tax) -> Option<String> {
    let bitmap = if is_before(tax, BITMAP_SINCE) {
        "this kernel is older than 5.11, and runs it at each call"
    } else {
        "since Linux 5.11 the kernel knows the numbers that it always allows, and does not run it for them"
    };
    let numbers = range(&of_rules(tax, Looks::AtNumber))
        .map(|range| format!("A filter that looks at a call's number alone costs {range}: {bitmap}."));
    let arguments = range(&of_rules(tax, Looks::AtArguments)).map(|range| {
        format!("One that looks at an argument of the call runs each time: {range}. Its rules are compared one after the other.")
    });
    let profile = quoted(tax, "seccomp-profile").map(|added| {
        format!(
            "The profile's filter costs {}; it looks at no argument of the calls that are measured.",
            words(added)
        )
    });
    let path = of_slow_path(tax);
    // A profile of somebody's own may look at arguments, or forbid; then only its cost is known.
    let profile = match tax.profile.as_ref().is_some_and(|profile| profile.file.is_some()) {
        true => quoted(tax, "seccomp-profile")
            .map(|added| format!("The profile's filter costs {}.", words(added))),
        false => profile,
    };
    joined([numbers, path, arguments, profile])
}

/// What remains of a filter that does not run: the way past the kernel's fast path, which dispatch alone takes as well.
fn of_slow_path(tax: &Tax) -> Option<String> {
    if is_before(tax, BITMAP_SINCE) {
        return None;
    }
    let filter = quoted(tax, "seccomp-1")?.seen()?;
    let dispatch = quoted(tax, "user-dispatch")?;
    (dispatch.seen()?.0 > filter.0 / 2.0).then(|| {
        format!(
            "Most of what remains is the kernel's slow way in, which it takes for any layer: user dispatch alone, which compares two numbers \
             there, costs {}.",
            words(dispatch)
        )
    })
}

fn speculation(tax: &Tax) -> Option<String> {
    let ssbd = tax.layers.iter().find(|layer| layer.name == "ssbd");
    let alone = match ssbd {
        Some(LayerCost { missing: Some(_), .. }) => Some(
            "SSBD cannot be switched here, so no filter can force it on a process, and what a filter costs is its own.".to_string(),
        ),
        Some(_) => quoted(tax, "ssbd").map(|added| {
            format!(
                "SSBD without a filter adds {} to a call; most of its cost is between calls, where loads wait for older stores, and is not in \
                 this figure. Before Linux 5.16 every filter forces it on its process, unless it is installed with SPEC_ALLOW.",
                words(added)
            )
        }),
        None => None,
    };
    let pairs = [("seccomp-10", "spec-allow"), ("seccomp-10-arguments", "spec-allow-arguments")];
    let both = pairs.into_iter().find_map(|(plain, allowed)| {
        let (plain, allowed) = (quoted(tax, plain)?, quoted(tax, allowed)?);
        let is_alike = plain.low.0 <= allowed.high.0 && allowed.low.0 <= plain.high.0;
        Some(if is_alike {
            "No difference is seen between a filter with SPEC_ALLOW and one without.".to_string()
        } else {
            format!("The same filter costs {} with SPEC_ALLOW, and {} without.", words(allowed), words(plain))
        })
    });
    joined([alone, both])
}

fn supervisors(tax: &Tax) -> Option<String> {
    let notify = quoted(tax, "seccomp-notify").map(|added| {
        format!("A supervisor that answers every call costs {}: two switches of processes and two calls of its own.", words(added))
    });
    let ptrace = quoted(tax, "ptrace").map(|added| {
        let times = tax
            .base
            .iter()
            .find(|base| base.operation == QUOTED)
            .and_then(|base| base.cycles)
            .filter(|base| base.0 > 0.0)
            .zip(added.seen())
            .map(|(base, cycles)| format!(", {:.0} times the call itself", cycles.0 / base.0));
        format!("A tracer that stops every call costs {}{}.", words(added), times.unwrap_or_default())
    });
    let filter = quoted(tax, "ptrace-seccomp")
        .map(|added| format!("One whose filter reports other calls alone costs {}.", words(added)));
    joined([notify, ptrace, filter])
}

fn hooks(tax: &Tax) -> Option<String> {
    let of = |name: &str, before: &str| quoted(tax, name).map(|added| format!("{before} {}.", words(added)));
    let all = [
        of("user-dispatch", "Dispatch with all addresses let through costs"),
        of("tracepoint", "Counting both tracepoints costs"),
        of("bpf", "A BPF program that does nothing at each of both costs"),
    ];
    let measured = all.iter().flatten().count();
    let why = (measured > 1).then(|| {
        "Each of these takes calls off the kernel's fast path, on the way in and on the way out; a part of the cost is there once, however \
         many there are."
            .to_string()
    });
    let [dispatch, tracepoint, bpf] = all;
    joined([dispatch, tracepoint, bpf, why])
}

fn access(tax: &Tax) -> Option<String> {
    let added = quoted(tax, "landlock")?;
    Some(format!(
        "Landlock adds {}: it is asked when a file is opened, moved or executed, and none of these calls does that.",
        words(added)
    ))
}

/// One sentence behind the other.
fn joined<const N: usize>(sentences: [Option<String>; N]) -> Option<String> {
    let all: Vec<String> = sentences.into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// What no layer explains.
fn warnings(tax: &Tax) -> Vec<String> {
    let mut out = Vec::new();
    let stray = |cost: &&super::OperationCost| {
        cost.added.is_some_and(|added| added.is_below() || added.seen().is_some())
    };
    let again: Vec<&str> = tax.again.iter().filter(stray).map(|cost| cost.operation.as_str()).collect();
    if !again.is_empty() {
        out.push(format!(
            "the base differs from itself, measured once more ({}): something beside the layers changes costs here, and differences of that \
             size mean nothing",
            again.join(", ")
        ));
    }
    let below = tax.layers.iter().flat_map(|layer| layer.costs.iter().map(move |cost| (layer.name, cost)));
    let below: Vec<String> = below
        .filter(|(_, cost)| cost.added.is_some_and(|added| added.is_below()))
        .map(|(name, cost)| format!("{name} {}", cost.operation))
        .collect();
    if !below.is_empty() {
        out.push(format!(
            "{} came out cheaper than without the layer: no layer makes a call cheaper, so something else differs as well, and differences \
             of that size mean nothing",
            below.join(", ")
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Base, OperationCost, SCHEMA, Verdict};
    use super::*;

    fn added(low: f64, high: f64) -> Added {
        let verdict = if low > 0.0 { Verdict::Costs } else { Verdict::NoDifferenceSeen };
        let [cycles, low, high] = [f64::midpoint(low, high), low, high].map(Cycles);
        Added { cycles, low, high, turns: 14, verdict }
    }

    fn tax(layers: &[(&str, Option<[f64; 2]>)]) -> Tax {
        let cost = |[low, high]: [f64; 2]| {
            vec![OperationCost { operation: QUOTED.into(), added: Some(added(low, high)), why: None }]
        };
        let layer = |(name, ends): &(&str, Option<[f64; 2]>)| {
            let layer = Layer::named(name).unwrap();
            match ends {
                Some(ends) => LayerCost::of(layer, cost(*ends)),
                None => LayerCost::missing(layer, "it is not here".into()),
            }
        };
        let base =
            Base { operation: QUOTED.into(), cycles: Some(Cycles(400.0)), low: None, high: None, why: None };
        Tax {
            schema: SCHEMA,
            kentry: "0".into(),
            started: "then".into(),
            seconds: 1.0,
            kernel: None,
            cpu: None,
            cpus: Vec::new(),
            quiet_share: None,
            partial: false,
            seed: 1,
            core_hz: None,
            entry: "syscall-x86_64".into(),
            confidence: 0.95,
            profile: None,
            base: vec![base],
            again: Vec::new(),
            layers: layers.iter().map(layer).collect(),
            meaning: Default::default(),
            warnings: Vec::new(),
        }
        .with_meaning()
    }

    #[test]
    fn a_group_of_which_nothing_was_measured_says_nothing() {
        assert_eq!(tax(&[]).meaning.len(), 0);
        let only = tax(&[("landlock", Some([-2.0, 3.5]))]);
        assert_eq!(only.meaning.keys().collect::<Vec<_>>(), [&"access control"]);
        assert!(only.meaning["access control"].starts_with("Landlock adds nothing that is seen (at most 4)"));
        assert_eq!(tax(&[("landlock", None)]).meaning.len(), 0);
    }

    #[test]
    fn ssbd_is_kept_apart_from_the_filters() {
        let speculation = |layers: &[(&str, Option<[f64; 2]>)]| tax(layers).meaning["speculation"].clone();
        let none = speculation(&[
            ("ssbd", None),
            ("seccomp-10", Some([60.0, 70.0])),
            ("spec-allow", Some([65.0, 75.0])),
        ]);
        assert_eq!(
            none,
            "SSBD cannot be switched here, so no filter can force it on a process, and what a filter costs is its own. No \
             difference is seen between a filter with SPEC_ALLOW and one without."
        );
        let some = speculation(&[
            ("ssbd", Some([200.0, 220.0])),
            ("seccomp-10", Some([260.0, 280.0])),
            ("spec-allow", Some([60.0, 70.0])),
        ]);
        assert!(some.contains("SSBD without a filter adds 210 cycles"), "{some}");
        assert!(
            some.ends_with(
                "The same filter costs 65 cycles (60 to 70) with SPEC_ALLOW, and 270 cycles without."
            ),
            "{some}"
        );
    }

    #[test]
    fn an_old_kernel_has_no_map_of_numbers() {
        let of = |release: &str| {
            let mut tax = tax(&[("seccomp-1", Some([60.0, 70.0]))]);
            tax.kernel = Some(release.into());
            tax.with_meaning().meaning["seccomp filters"].clone()
        };
        assert!(of("5.10.0-30-amd64").contains("older than 5.11") && of("4.19").contains("older than 5.11"));
        assert!(
            of("5.11.0").contains("does not run it")
                && of("6.1").contains("does not run it")
                && of("x").contains("does not")
        );
    }

    #[test]
    fn what_is_slow_is_told_as_a_multiple_of_the_call() {
        let text = tax(&[("ptrace", Some([19_900.0, 20_100.0]))]).meaning["supervisors"].clone();
        assert_eq!(text, "A tracer that stops every call costs 20000 cycles, 50 times the call itself.");
    }

    #[test]
    fn no_sentence_rests_on_fewer_turns_than_make_a_steady_figure() {
        let mut few = tax(&[("landlock", Some([-2.0, 143.0])), ("bpf", Some([3.0, 9.0]))]);
        assert_eq!(few.meaning.len(), 2);
        few.layers
            .iter_mut()
            .flat_map(|layer| &mut layer.costs)
            .filter_map(|cost| cost.added.as_mut())
            .for_each(|added| {
                added.turns = TOLD - 1;
            });
        assert!(few.with_meaning().meaning.is_empty());
    }

    #[test]
    fn a_wide_interval_is_told_beside_its_figure() {
        let of = |ends| tax(&[("bpf", Some(ends))]).meaning["hooks of the kernel"].clone();
        assert!(of([30.0, 119.0]).contains("costs 74 cycles (30 to 119)."), "{}", of([30.0, 119.0]));
        assert!(of([120.0, 130.0]).contains("costs 125 cycles."));
    }

    #[test]
    fn a_layer_that_came_out_cheaper_is_a_warning_and_no_gain() {
        let found = tax(&[("landlock", Some([-9.0, -3.0])), ("bpf", Some([3.0, 9.0]))]);
        let [warning] = found.warnings.as_slice() else { panic!("{:?}", found.warnings) };
        assert!(warning.starts_with("landlock getppid came out cheaper"), "{warning}");
        assert!(found.meaning["access control"].contains("nothing that is seen (at most 0)"));
    }
}
