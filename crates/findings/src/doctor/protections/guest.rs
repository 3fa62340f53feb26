//! What a hypervisor does not show of its processor, and what a guest's kernel does for want of it.

use crate::facts::list;
use crate::id::Id;
use document::{Confidence, Finding, Level};
use environment::{Cpu, Environment};

const INTEL: &str = "GenuineIntel";
const AMD: &str = "AuthenticAMD";

/// The first family of AMD's that has PCID and INVPCID: Zen 3.
const ZEN_3: u32 = 0x19;

/// Models of Intel's family 6 that isolate branches themselves (enhanced IBRS), and are spared by Retbleed: Ice Lake's servers, and of
/// those from Alder Lake and Sapphire Rapids on these: newer ones are not listed, and kentry says nothing of them. arch/x86/include/asm/intel-family.h, and `cpu_vuln_blacklist` of arch/x86/kernel/cpu/common.c.
const SPARED_BY_RETBLEED: [u32; 12] =
    [0x6a, 0x6c, 0x8f, 0xcf, 0xad, 0xae, 0x97, 0x9a, 0xb7, 0xba, 0xbf, 0xbe];
/// Those of them that can keep branch histories apart (BHI_DIS_S).
const HAVE_BHI_CONTROL: [u32; 9] = [0x8f, 0xcf, 0xad, 0xae, 0x97, 0x9a, 0xb7, 0xba, 0xbf];

pub(super) fn findings(environment: &Environment) -> Vec<Finding> {
    if !environment.hypervisor.present {
        return Vec::new();
    }
    address_spaces(environment).into_iter().chain(branches(environment)).collect()
}

fn has(cpu: &Cpu, flag: &str) -> bool {
    let named = |flags: &[String]| flags.iter().any(|known| known == flag);
    named(&cpu.flags) || cpu.kernel_flags.as_deref().is_some_and(named)
}

/// Whether the true processor has PCID and INVPCID: those of Intel that have SMAP and ADX (Broadwell), and AMD's since Zen 3. SMAP alone
/// proves nothing: Atoms of the server (Denverton) have it, and no INVPCID.
fn is_without_by_choice(cpu: &Cpu) -> bool {
    match cpu.vendor.as_deref() {
        Some(INTEL) => cpu.family == Some(6) && has(cpu, "smap") && has(cpu, "adx"),
        Some(AMD) => cpu.family.is_some_and(|family| family >= ZEN_3),
        _ => false,
    }
}

/// PCID and INVPCID. With page-table isolation, a kernel without PCID forgets all translations at each entry and each return.
fn address_spaces(environment: &Environment) -> Option<Finding> {
    let cpu = &environment.cpu;
    // Where CPUID could not be read at all, nothing is missing.
    let is_known = has(cpu, "pge") || has(cpu, "syscall");
    let missing: Vec<String> =
        ["pcid", "invpcid"].iter().filter(|flag| !has(cpu, flag)).map(|flag| flag.to_uppercase()).collect();
    if missing.is_empty() || !is_known || !is_without_by_choice(cpu) {
        return None;
    }
    let isolates = environment.kernel.pti == Some(true) && !has(cpu, "pcid");
    let (level, consequence) = match isolates {
        true => {
            (Level::Warning, "page-table isolation is on, and each entry and each return empties the TLB")
        }
        false => (Level::Note, "switches between programs empty the TLB, or do it in a slower way"),
    };
    let verdict = format!("The hypervisor does not show {} of its processor: {consequence}.", list(&missing));
    let shown: Vec<String> = missing.iter().map(|flag| format!("+{}", flag.to_lowercase())).collect();
    let own = isolates.then(|| "kentry bill --profile linux-4.14-pti".to_owned());
    Some(Finding {
        cause: Some("This processor has it; the guest's model of it has not.".into()),
        remedy: Some(format!(
            "Ask for a model that has it: -cpu host, or -cpu MODEL,{} in QEMU. Moves to hosts without it are given up.",
            shown.join(",")
        )),
        next: own.or_else(|| Some("kentry explain pcid".into())),
        confidence: Confidence::Inferred,
        ..Id::GuestProcessor.finding(level, verdict)
    })
}

/// RSBA and BHI: what the kernel does in software, which the processor would do.
fn branches(environment: &Environment) -> Vec<Finding> {
    let cpu = &environment.cpu;
    let is = |models: &[u32]| {
        let model = cpu.model.filter(|_| cpu.vendor.as_deref() == Some(INTEL) && cpu.family == Some(6));
        model.is_some_and(|model| models.contains(&model))
    };
    let has_bug = |bug: &str| cpu.bugs.as_ref().is_some_and(|bugs| bugs.iter().any(|known| known == bug));
    let state = |fault: &str| environment.mitigations.get(fault).map(String::as_str).unwrap_or_default();
    let rsba = (is(&SPARED_BY_RETBLEED) && has_bug("retbleed")).then(|| {
        let verdict = "The hypervisor says of its processor that returns may be predicted from elsewhere (RSBA), and this kernel takes it \
                       for one that Retbleed concerns; this model is spared.";
        Finding {
            evidence: Some(format!("retbleed: {}", state("retbleed"))),
            cause: Some("Hypervisors set RSBA where a guest may be moved to an older processor.".into()),
            remedy: Some("Ask for guests that are not moved to older processors, as -cpu host. Such moves are given up.".into()),
            confidence: Confidence::Inferred,
            ..Id::GuestProcessor.finding(Level::Note, verdict)
        }
    });
    let clauses = crate::faults::State::of(state("spectre_v2"));
    let looped = clauses
        .clauses
        .iter()
        .any(|clause| clause.starts_with("BHI: SW loop") || *clause == "BHI: Vulnerable");
    let bhi = (looped && is(&HAVE_BHI_CONTROL) && !has(cpu, "bhi_ctrl")).then(|| {
        let verdict = "The hypervisor does not show that its processor keeps branch histories apart (BHI_CTRL), so that this kernel \
                       does it by a loop on every entry, or leaves it.";
        Finding {
            evidence: Some(format!("spectre_v2: {}", state("spectre_v2"))),
            remedy: Some("Ask for a model that has it: -cpu MODEL,+bhi-ctrl in QEMU 9.2 or newer. Moves to hosts without it are given up.".into()),
            next: Some("kentry explain bhb".into()),
            confidence: Confidence::Inferred,
            ..Id::GuestProcessor.finding(Level::Note, verdict)
        }
    });
    rsba.into_iter().chain(bhi).collect()
}
