//! A bootable image: GRUB, the kernel by its multiboot2 header, and the archive.

use crate::program::Command;
use crate::{KERNEL, Limits, Trouble};
use std::ffi::OsString;
use std::io;
use std::path::Path;

const PACKAGES: &str = "grub-common grub-pc-bin xorriso mtools";

/// Where distributions keep GRUB's modules for machines that boot by BIOS.
const MODULES: [&str; 3] = ["/usr/lib/grub/i386-pc", "/usr/share/grub/i386-pc", "/usr/lib/grub2/i386-pc"];

/// No menu: there is only one thing to boot.
const CONFIGURATION: &str = "multiboot2 /boot/kernel\nmodule2 /boot/archive\nboot\n";

/// An image that machines with a BIOS boot from a disk, a stick or a CD.
///
/// # Errors
/// When GRUB's programs are missing, or fail.
pub fn image(archive: &[u8], limits: &Limits) -> Result<Vec<u8>, Trouble> {
    let modules = MODULES.into_iter().find(|folder| Path::new(folder).is_dir());
    let program = "GRUB for BIOS (i386-pc)".to_string();
    let modules = modules.ok_or(Trouble::Missing { program, packages: PACKAGES })?;
    let folder = tempfile::tempdir()?;
    let image = folder.path().join("image");
    lay_out(folder.path(), archive)?;
    let root = folder.path().join("root");
    let mut arguments: Vec<OsString> = vec!["-d".into(), modules.into()];
    // Only the modules that the configuration uses: loading them takes most of the boot time in an emulator.
    let slim =
        ["--install-modules=multiboot2 iso9660 biosdisk normal boot", "--fonts=", "--locales=", "--themes="];
    arguments.extend(slim.map(OsString::from));
    arguments.extend(["-o".into(), image.clone().into(), root.into()]);
    let program = "grub-mkrescue".into();
    let command =
        Command { program, packages: PACKAGES, arguments, files: Vec::new(), records: None, cpu: None };
    let ended = command.run(limits)?;
    match std::fs::read(image) {
        Ok(bytes) if ended.status.success() => Ok(bytes),
        _ => {
            let said = format!("{} (Debian: apt install {PACKAGES})", ended.messages);
            Err(Trouble::Ended { program: "grub-mkrescue".into(), status: ended.status, said })
        }
    }
}

fn lay_out(folder: &Path, archive: &[u8]) -> io::Result<()> {
    let boot = folder.join("root/boot");
    std::fs::create_dir_all(boot.join("grub"))?;
    std::fs::write(boot.join("grub/grub.cfg"), CONFIGURATION)?;
    std::fs::write(boot.join("kernel"), KERNEL)?;
    std::fs::write(boot.join("archive"), archive)
}
