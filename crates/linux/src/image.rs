//! What is known of a kernel by its file.

use std::path::PathBuf;

/// A kernel that was read from a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Where it was found.
    pub file: PathBuf,
    /// `6.1.0-56-cloud-amd64`, as the file says; empty where it does not.
    pub release: String,
    /// The whole line of its version, compiler and date included; empty where the file does not say.
    pub banner: String,
    /// How it boots.
    pub load: Load,
    /// The bytes that are booted: an ELF file for [`Load::Direct`], the file as it is for [`Load::Compressed`].
    pub bytes: Vec<u8>,
    /// The lines of its configuration, `CONFIG_X=y`, where the file or one beside it has them; empty otherwise.
    pub config: Vec<String>,
    /// Its table of alternatives: code that boot replaces where the processor has a feature. Empty where it was not found.
    pub alternatives: Vec<Alternative>,
    /// Places that boot patches all alike.
    pub sites: Vec<Site>,
    /// The address that the file gives to `_stext`; symbols of a boot less this are the boot's offset (KASLR). None where the file
    /// has no section `.text`.
    pub text: Option<u64>,
}

/// How a kernel is loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Load {
    /// Its ELF file, entered through a PVH note: no decompression, and no randomized address.
    #[default]
    Direct,
    /// The compressed file, which unpacks itself and chooses its address.
    Compressed,
}

/// An alternative: code of so many bytes that boot replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    /// The address of the code, as linked.
    pub address: u64,
    /// Its bytes.
    pub length: usize,
    /// The feature, by number as in `arch/x86/include/asm/cpufeatures.h`: 32 × word + bit.
    pub feature: u16,
    /// Whether it is replaced where the processor lacks the feature.
    pub when_absent: bool,
    /// What replaces it, before nops fill it up.
    pub replacement: Vec<u8>,
}

/// A place that boot patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// Its address, as linked.
    pub address: u64,
    /// What stands there.
    pub kind: SiteKind,
}

/// What boot patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteKind {
    /// An indirect jump or call through a thunk (`.retpoline_sites`).
    Retpoline,
    /// A return (`.return_sites`).
    Return,
}
