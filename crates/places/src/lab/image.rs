//! A bootable image: GRUB for BIOS and UEFI, the kernel by its multiboot2 header, and the archive.

use crate::emulator::{Command, Trouble as OfProgram};
use crate::lab::{Limits, Mode, Trouble, kernel};
use std::ffi::OsString;
use std::io;
use std::path::Path;

const PACKAGES: &str = "grub-common grub-pc-bin grub-efi-amd64-bin xorriso mtools";

/// Where distributions keep GRUB's modules.
const FOLDERS: [&str; 3] = ["/usr/lib/grub", "/usr/share/grub", "/usr/lib/grub2"];

/// The firmware that the image boots from, by GRUB's name for it, and by its own.
const FIRMWARE: [(&str, &str); 2] = [("i386-pc", "BIOS"), ("x86_64-efi", "UEFI")];

/// No menu: there is only one thing to boot. A BIOS has a text screen, which `multiboot2` would give up; UEFI has none, and
/// the kernel draws on the screen's pixels.
///
/// Without the word `emulator` behind the kernel's name, what goes wrong before the plan has been read is text for a person, and no port
/// of an emulator is touched.
const CONFIGURATION: &str = "\
if [ $grub_platform = efi ]; then insmod efi_gop; fi
multiboot2 /boot/kernel
module2 /boot/archive
if [ $grub_platform = pc ]; then set gfxpayload=text; fi
boot
";

/// Only what is used: loading modules takes most of the boot time. grub-mkrescue wants names that both
/// platforms have, and `all_video` brings `efi_gop` along. Its own configuration loads every kind of partition table.
const MODULES: &str = "multiboot2 iso9660 normal boot test all_video part_acorn part_amiga part_apple part_bsd part_dfly \
                       part_dvh part_gpt part_msdos part_plan part_sun part_sunpc";

/// An image that machines boot by BIOS or UEFI from a disk, a stick or a CD, with the kernel for a mode.
///
/// # Errors
/// When GRUB's programs are missing, or fail.
pub fn image(mode: Mode, archive: &[u8], limits: &Limits) -> Result<Vec<u8>, Trouble> {
    for (platform, firmware) in FIRMWARE {
        if !FOLDERS.iter().any(|folder| Path::new(folder).join(platform).is_dir()) {
            let program = format!("GRUB for {firmware} ({platform})");
            return Err(OfProgram::Missing { program, packages: PACKAGES }.into());
        }
    }
    let folder = tempfile::tempdir()?;
    let image = folder.path().join("image");
    lay_out(folder.path(), kernel(mode), archive)?;
    let root = folder.path().join("root");
    let slim = format!("--install-modules={MODULES}");
    let mut arguments: Vec<OsString> =
        [&slim, "--fonts=", "--locales=", "--themes="].map(OsString::from).into();
    arguments.extend(["-o".into(), image.clone().into(), root.into()]);
    let program = "grub-mkrescue".into();
    let command =
        Command { program, packages: PACKAGES, arguments, files: Vec::new(), records: None, cpu: None };
    let ended = command.run(limits)?;
    match std::fs::read(image) {
        Ok(bytes) if ended.status.success() => Ok(bytes),
        _ => {
            let said = format!("{} (Debian: apt install {PACKAGES})", ended.messages);
            Err(OfProgram::Ended { program: "grub-mkrescue".into(), status: ended.status, said }.into())
        }
    }
}

fn lay_out(folder: &Path, kernel: &[u8], archive: &[u8]) -> io::Result<()> {
    let boot = folder.join("root/boot");
    std::fs::create_dir_all(boot.join("grub"))?;
    std::fs::write(boot.join("grub/grub.cfg"), CONFIGURATION)?;
    std::fs::write(boot.join("kernel"), kernel)?;
    std::fs::write(boot.join("archive"), archive)
}
