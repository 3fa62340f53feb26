//! How wide a core is: with that, kentry knows whether a canary was the only thing on its core.

use environment::{CoreType, Environment};
use stats::Vouch;

/// Integer execution ports that take `not r32`, by CPU family and model: the most that can execute in a cycle. The canary is a loop of
/// 84 nots in seven chains (`probe/canary.S`), so it executes seven in a cycle at most, less what its two other instructions take.
/// Source: uops.info and Agner Fog's instruction tables; measured as well were Golden Cove (4.45 of 5) and Zen 5 (5.06 of 6).
const INTEL: &[(&[u32], f64)] = &[
    // Haswell, Broadwell: p0156
    (&[0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56], 4.0),
    // Skylake to Comet Lake and Cascade Lake: p0156
    (&[0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, 0x66], 4.0),
    // Ice Lake, Tiger Lake, Rocket Lake: p0156
    (&[0x7d, 0x7e, 0x6a, 0x6c, 0x8c, 0x8d, 0xa7], 4.0),
    // Lakefield's large core, a Sunny Cove: p0156
    (&[0x8a], 4.0),
    // Nehalem, Westmere, Sandy Bridge, Ivy Bridge: p015
    (&[0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f, 0x2a, 0x2d, 0x3a, 0x3e], 3.0),
    // Alder Lake, Raptor Lake, Sapphire Rapids, Emerald Rapids, Meteor Lake, Granite Rapids: p0156 and p10
    (&[0x97, 0x9a, 0xb7, 0xba, 0xbf, 0x8f, 0xcf, 0xaa, 0xac, 0xad, 0xae], 5.0),
    // Arrow Lake, Lunar Lake: six
    (&[0xc5, 0xc6, 0xb5, 0xbd], 6.0),
];

/// The efficient cores beside them: Tremont has three, Gracemont and Crestmont have four; Skymont has eight, of which the canary's
/// chains can use seven.
const INTEL_EFFICIENT: &[(&[u32], f64)] = &[
    (&[0x8a], 3.0),
    (&[0x97, 0x9a, 0xb7, 0xba, 0xbf, 0xbe, 0xaa, 0xac, 0xaf, 0xb6], 4.0),
    (&[0xc5, 0xc6, 0xb5, 0xbd], 7.0),
];

/// What vouches for the fastest canaries on cores of this kind.
pub fn vouch(environment: &Environment, core: CoreType) -> Vouch {
    match known(environment, core) {
        Some(width) => Vouch::Width(width),
        None if has_no_sibling(environment) => Vouch::NoSibling,
        None => Vouch::Nothing,
    }
}

/// The width that the processor's documentation gives.
pub fn known(environment: &Environment, core: CoreType) -> Option<f64> {
    let cpu = &environment.cpu;
    let (family, model) = (cpu.family?, cpu.model?);
    let find = |table: &[(&[u32], f64)]| {
        table.iter().find(|(models, _)| models.contains(&model)).map(|(_, width)| *width)
    };
    match (cpu.vendor.as_deref()?, family, core) {
        ("GenuineIntel", 6, CoreType::Efficient) => find(INTEL_EFFICIENT),
        ("GenuineIntel", 6, CoreType::Performance | CoreType::Uniform) => find(INTEL),
        // Zen to Zen 4: four; Zen 5: six.
        ("AuthenticAMD" | "HygonGenuine", 0x17..=0x19, _) => Some(4.0),
        ("AuthenticAMD", 0x1a, _) => Some(6.0),
        _ => None,
    }
}

/// Whether a core has one hardware thread, and no hypervisor could hide another.
fn has_no_sibling(environment: &Environment) -> bool {
    let is_bare = !environment.hypervisor.present && environment.hypervisor.signature.is_none();
    is_bare && (environment.cpu.smt.threads_per_core == Some(1) || environment.cpu.smt.active == Some(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(vendor: &str, family: u32, model: u32) -> Environment {
        let mut environment = Environment::default();
        environment.cpu.vendor = Some(vendor.into());
        (environment.cpu.family, environment.cpu.model) = (Some(family), Some(model));
        environment
    }

    #[test]
    fn known_processors_have_their_width() {
        for (vendor, family, model, width) in [
            ("GenuineIntel", 6, 143, Some(5.0)),
            ("GenuineIntel", 6, 167, Some(4.0)),
            ("AuthenticAMD", 0x19, 0x21, Some(4.0)),
            ("AuthenticAMD", 0x1a, 0x44, Some(6.0)),
            ("GenuineIntel", 6, 0x1a, Some(3.0)),
            ("GenuineIntel", 6, 9999, None),
            ("CentaurHauls", 6, 143, None),
        ] {
            assert_eq!(
                known(&on(vendor, family, model), CoreType::Uniform),
                width,
                "{vendor} {family} {model}"
            );
        }
        assert_eq!(known(&on("GenuineIntel", 6, 0x97), CoreType::Efficient), Some(4.0));
    }

    #[test]
    fn an_unknown_core_is_vouched_for_by_having_no_sibling_that_could_hide() {
        let mut environment = on("GenuineIntel", 6, 9999);
        assert_eq!(vouch(&environment, CoreType::Uniform), Vouch::Nothing);
        environment.cpu.smt.threads_per_core = Some(1);
        assert_eq!(vouch(&environment, CoreType::Uniform), Vouch::NoSibling);
        environment.hypervisor.present = true;
        assert_eq!(vouch(&environment, CoreType::Uniform), Vouch::Nothing);
    }
}
