//! A path that is laid out by the command, to be timed in ring 3, is what the kernel builds.

use crate::guest::{Emulator, Script};
use crate::kernel::templates;
use places::lab::Mode;
use table::paths::{Instead, Layout};
use table::{SwitchValues, Table};

/// Set one after the other, so that each has what those before it have, unless it says otherwise: every kind of step, branch and number is
/// in one of them.
const CONFIGURATIONS: [&str; 5] = [
    "stack=minimum",
    "stack=frame pti=on copy-frame=on swapgs=on clear-registers=on stack-offset=on canary=on work=on index-mask=on verw=on",
    "stack=frame stack-offset=prandom trace=on audit=on filter=12 work=on dispatch=direct exit=iret",
    "stack=frame returns=thunk dispatch=retpoline bhb=loop cr3-writes=3 pti=on ibrs=on entry-ibpb=on",
    "stack=minimum returns=untrain dispatch=lfence exit=iret pti=trampoline espfix=on rsb=7 swapgs=fence",
];

/// The values of all switches with each of them.
fn values() -> Vec<SwitchValues> {
    let switches = Table::get().switches.iter();
    let mut values: SwitchValues =
        switches.map(|switch| (switch.name.clone(), switch.default.clone())).collect();
    let after = |settings: &&str| {
        let set = settings.split(' ').filter_map(|setting| setting.split_once('='));
        values.extend(set.map(|(name, value)| (name.to_owned(), value.to_owned())));
        values.clone()
    };
    CONFIGURATIONS.iter().map(after).collect()
}

#[test]
fn a_path_is_laid_out_as_the_kernel_builds_it() {
    let (kernel, paths) = templates(Mode::Long);
    let mut script = Script::new();
    script.harmless();
    script.layout(0);
    let mut asked = Vec::new();
    for (settings, values) in CONFIGURATIONS.iter().zip(values()) {
        script.set(settings);
        for path in &paths.paths {
            asked.push((settings, values.clone(), path, script.list(&path.name)));
        }
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let [plain, zen2] = ["return_thunk", "return_thunk_zen2"].map(|name| kernel.symbol(name).unwrap());
    let mut compared = 0;
    for (settings, values, path, number) in asked {
        let built = &session.ran[number].steps;
        let thunk = if values["returns"] == "untrain" { zen2 } else { plain };
        let Some(at) = built.first().map(|step| step.address) else { continue };
        let layout = Layout {
            values: &values,
            at,
            instead: &|_| Instead::Itself,
            function: &|address| if address == plain { thunk } else { address },
        };
        let laid = paths.lay_out(path, &layout).unwrap();
        let words = format!("{} with {settings}", path.name);
        assert_eq!(laid.len(), built.len(), "{words}");
        for (laid, built) in laid.iter().zip(built) {
            assert_eq!((&laid.name, laid.address), (&built.name, built.address), "{words}");
            assert_eq!(laid.code, built.code, "{words}: {}", laid.name);
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
}
