//! The ways in which the kernel of protected mode is booted besides QEMU's own: its image, by each firmware; and what is refused.

use crate::guest::limits;
use crate::image::{Firmware, Image, Machine, Medium, plan_of, see_all, told_of_file};
use crate::kernel::Kernel;
use places::lab::{Accelerator, Event, Line, Mode, Plan, Qemu};

#[test]
fn an_image_boots_by_bios_and_by_uefi_and_says_why_it_leaves_no_file() {
    let Some(image) = Image::make_in(Mode::Protected, &plan_of("int80-i386", 60)) else { return };
    let kernel = Kernel::in_mode(Mode::Protected);
    for firmware in [Firmware::Bios, Firmware::Uefi] {
        let Some(mut machine) = Machine::boot(&image, firmware, Medium::Usb) else { return };
        let lines = machine.lines();
        let (told, text) = told_of_file(&lines);
        let why =
            "no file was written: this takes UEFI and the lab's 64-bit kernel; the serial line has the text";
        assert_eq!(told, why);
        assert!(text.contains("\n-- ") && text.contains("\nint80-i386 "), "{text}");
        if firmware == Firmware::Uefi {
            assert_eq!(see_all(&lines, || machine.pixels(kernel.data("font", 95 * 16))), 2);
        } else {
            assert!(machine.letters().iter().any(|row| row.starts_with("int80-i386 ")));
        }
    }
}

#[test]
fn a_plan_for_another_kernel_is_refused_in_words() {
    let archive = |mode| {
        let plan = Plan { lines: vec![Line::Seed(1), Line::Kernel(mode), Line::Check("pti".into())] };
        places::lab::pack(&plan, &[]).unwrap()
    };
    for (mode, other, name) in
        [(Mode::Protected, Mode::Long, "lab-i386"), (Mode::Long, Mode::Protected, "lab")]
    {
        let qemu = Qemu::new(Accelerator::Tcg, None).in_mode(mode);
        let mut guest = match qemu.boot(&archive(other), 1, &limits()) {
            Err(trouble) if trouble.is_missing() => return crate::skipped::skipped(trouble),
            guest => guest.unwrap(),
        };
        let mut said = Vec::new();
        while let Ok(event) = places::lab::Events::next(&mut guest) {
            said.push(event);
        }
        let words = format!("panic: the plan is for another of the lab's kernels; this is {name}");
        assert_eq!(said, [Event::Log(words)]);
    }
}
