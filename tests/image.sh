#!/usr/bin/env bash
# The image that `kentry lab --iso` writes: boots from GRUB, measures, and shows its table on the serial port. In QEMU, once
# counting instructions and once with a clock that means nothing, which the kernel must notice by itself.
set -uo pipefail
. "$(dirname "$0")/check.sh"

for tool in qemu-system-x86_64 grub-mkrescue xorriso mformat; do
	command -v $tool >/dev/null || { skip "image" "no $tool"; finish; }
done

check "write an image" 0 "$kentry" lab --iso "$work/lab.iso" --operation none --operation time --set pti=off --set pti=on

# boot QEMU-ARGUMENTS...: the screen's text to $out, as soon as the kernel is done
boot() {
	qemu-system-x86_64 -M pc -m 256 -nodefaults -display none -vga std -serial "file:$work/serial" -boot d \
		-cdrom "$work/lab.iso" -accel tcg -cpu max,vendor=GenuineIntel "$@" 2>"$err" &
	local guest=$!
	for _ in $(seq 300); do
		grep -qs '^done' "$work/serial" && break
		sleep 0.2
	done
	kill $guest
	wait $guest 2>/dev/null
	tr -d '\r' <"$work/serial" >"$out"
	rm -f "$work/serial"
}

current="counting instructions"
boot -icount shift=0
expect '^done'
expect 'in ring 3: emulated, a tick is an instruction'
expect '^entry +operation +instructions +core cycles'
expect '^-- the defaults$'
expect '^-- pti=on, otherwise the defaults$'
expect '^syscall-x86_64 +none +[0-9]+ +-$'
expect '^vdso-i386 +time +[0-9]+ +-$'
expect '^trapgate-i386 +interrupts stay on in the kernel \(IF=1\)'
expect '^intgate-x86_64 +interrupts are off in the kernel \(IF=0\)'
refuse 'panic|mismatch|error|timeout'

current="a clock that means nothing"
boot
expect '^done'
expect 'emulated, no time means anything'
expect '^syscall-x86_64 +none +- +-$'
refuse '^[a-z].* [0-9]+ +[0-9]+$'

finish
