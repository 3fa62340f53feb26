#!/usr/bin/env bash
# kentry under a KVM that runs ring 0 as hardware does, on any machine: QEMU emulates AMD's SVM, Debian's kernel in it offers /dev/kvm,
# and kentry boots its guests there. Their times are the emulator's and mean nothing; that they boot, are measured, put together and
# labelled is tested.
set -uo pipefail
. "$(dirname "$0")/check.sh"

for tool in qemu-system-x86_64 python3 cpio; do
	command -v $tool >/dev/null || { skip "guests under KVM" "no $tool"; finish; }
done
[ -x /bin/busybox ] || { skip "guests under KVM" "no /bin/busybox"; finish; }
outer=$("$root/scripts/kernels.sh" kvm 2>"$err") || { skip "guests under KVM" "$(tail -n 1 "$err")"; finish; }
inner=$("$root/scripts/kernels.sh" cloud 2>"$err") || { skip "guests under KVM" "$(tail -n 1 "$err")"; finish; }
modules=$(dirname "$outer")/kvm-${outer##*/vmlinuz-}

# The machine: QEMU with its libraries and firmware at their own paths, the modules, kentry, and a kernel for its guests.
machine=$work/machine
mkdir -p "$machine"/{bin,dev,kernel,proc,sys,tmp}
qemu=$(command -v qemu-system-x86_64)
cp --parents -L "$qemu" $(ldd "$qemu" | grep -o '/[^ )]*') "$machine"
# Which of its folders a file is in is another on Debian 13. The lab's machine, without ACPI, starts by qboot.
for file in pvh.bin multiboot_dma.bin linuxboot_dma.bin kvmvapic.bin bios-microvm.bin qboot.rom; do
	find $("$qemu" -L help) -maxdepth 1 -name $file -exec cp --parents -L {} "$machine" \; -quit 2>/dev/null
done
cp /bin/busybox "$kentry" "$machine/bin"
cp "$inner" "$machine/kernel/vmlinuz"
cp "$modules"/*.ko "$machine/kernel"
# Programs for the lab, which say hello by its entries.
examples="syscall-x86_64 call-gate-x86_64 int80-i386"
for entry in $examples; do
	case $entry in *x86_64) bits=64 ;; *) bits=32 ;; esac
	gcc -m$bits -nostdlib -static -o "$machine/bin/$entry" "$root/docs/examples/$entry.S" || fail "the example of $entry"
done

# One for its kernel of protected mode.
protected=call-gate-i386
gcc -m32 -nostdlib -static -o "$machine/bin/$protected" "$root/docs/examples/$protected.S" || fail "the example of $protected"

# What it does. The document leaves by the second serial line, complaints by the first. The lab measures nothing here: a round takes half a minute.
cat >"$machine/init" <<'END'
#!/bin/busybox sh
. /entries
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin HOME=/tmp
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t devtmpfs dev /dev
for module in irqbypass kvm ccp kvm-amd; do insmod /kernel/$module.ko; done
stty -F /dev/ttyS1 raw
kentry linux --accel kvm --kernel /kernel/vmlinuz -e syscall -e vdso-x86_64 -o getppid -o gettimeofday \
	--set clocksource=kvm-clock --set clocksource=tsc,pti=on --boots 2 --timeout 300 --no-save --format json >/tmp/out
status=$?
cat /tmp/out >/dev/ttyS1
echo "kentry ended with $status"
for entry in $examples; do
	kentry lab --accel kvm --timeout 120 --exec /bin/$entry </dev/null
	echo "the lab ended with $? for $entry"
done
# QEMU sets a bit of a page directory pointer that KVM then refuses (docs/lab.md): the kernel of protected mode ends.
kentry lab --lab-kernel i386 --accel kvm --timeout 120 --exec /bin/$protected </dev/null
rmmod kvm-amd && insmod /kernel/kvm-amd.ko npt=0
kentry lab --lab-kernel i386 --accel kvm --timeout 120 --exec /bin/$protected </dev/null
echo "the lab ended with $? for $protected"
poweroff -f
END
echo "examples='$examples' protected=$protected" >"$machine/entries"
chmod +x "$machine/init"
(cd "$machine" && find . | cpio -o -H newc --quiet >"$work/archive")

# With -icount, which would make it exact, QEMU 7.2 delivers an interrupt of vector 0 to the guests in there.
timeout 1800 "$qemu" -M q35 -m 2048 -cpu EPYC,+svm,+npt -accel tcg,thread=single -display none -no-reboot -monitor none \
	-serial "file:$err" -serial "file:$out" -kernel "$outer" -initrd "$work/archive" -append "console=ttyS0 quiet panic=-1 cryptomgr.notests" \
	2>"$work/qemu" </dev/null

current="guests under KVM"
cat "$work/qemu" >>"$err"
expect 'kentry ended with 0'
# With nested paging it does not run; if it does one day, this fails.
expect 'kentry lab: panic: an exception in the kernel: vector 13, error code 0'
# From 10.0 on, what QEMU emulates runs no kernel of the lab without nested paging either, not even the one that runs with it. The same holds.
if [ "$("$qemu" --version | sed -n 's/.* version \([0-9]*\).*/\1/p')" -ge 10 ]; then
	skip "protected mode under KVM" "this QEMU's SVM runs it neither with nested paging nor without (docs/lab.md)"
	expect 'kentry lab: KVM does not run the kernel here: qemu-system-x86_64 ended early'
	refuse "^hello through $protected"
	protected=
fi
for entry in $examples $protected; do
	expect "^hello through $entry"
	expect "the lab ended with 0 for $entry"
done
expect '"machine": "qemu-kvm"'
refuse '"outcome": "(error|timeout|mismatch|unsupported)"'
cp "$out" "$work/run.json"
check "configurations, and the clock of each" 0 python3 -c '
import json, sys

document = json.load(open(sys.argv[1]))
kernels = document["environment"]["guest"]["kernels"]
assert [kernel["settings"]["clocksource"] for kernel in kernels] == ["kvm-clock", "tsc"], kernels
assert [kernel["settings"]["pti"] for kernel in kernels] == ["default", "on"], kernels
assert all(len(kernel["boots"]) == 2 for kernel in kernels), kernels
# A probe that finds out that an emulator is below KVM has no times, and is right. None has a count that would stand for a time.
assert all(row.get("instructions") is None for row in document["results"]), document["results"]
clocks = [row for row in document["results"] if row["entry"] == "vdso-x86_64"]
assert len(clocks) == 2 and all(row["path"] == "user" for row in clocks), clocks' "$work/run.json"
finish
