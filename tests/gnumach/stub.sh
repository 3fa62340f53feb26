#!/usr/bin/env bash
# Links tests/lab/mach_linked.c with a variant of libmachstub (mach/stub), runs it on a kernel of GNU Mach's in QEMU, and prints what it says.
#
#	stub.sh KERNEL BITS VARIANT
set -euo pipefail

kernel=$1 bits=$2 variant=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'kill "${qemu-}" 2>/dev/null || true; rm -rf "$work"' EXIT

make -s -C "$root/mach/stub" OUT="$work" >"$work/make"
# Where count.py has its program, too: below it is what the boot loader uses.
gcc "-m$bits" -std=c11 -O2 -ffreestanding -fno-builtin -fno-stack-protector -fcf-protection=none -mgeneral-regs-only -fno-pic -no-pie \
	-static -nostdlib -Wno-unused-function -Wl,-Ttext-segment=0x10000000,--build-id=none \
	"$root/tests/lab/mach_linked.c" "$root/tests/lab/mach_start$bits.S" "$work/$bits/$variant/libmachstub.a" -o "$work/program"
# QEMU's loader takes no ELF of 64 bits (count.py).
objcopy --strip-all -O elf32-i386 "$kernel" "$work/kernel"

qemu-system-x86_64 -M pc -m 256 -nodefaults -no-user-config -no-reboot -display none -rtc base=2026-01-01T00:00:00,clock=vm \
	-cpu max,vendor=GenuineIntel,-rdrand,-rdseed -accel tcg -icount shift=8,sleep=off -serial "file:$work/console" \
	-kernel "$work/kernel" -append console=com0 \
	-initrd "$work/program \${host-port} \${device-port} \$(task-create) \$(task-resume)" 2>"$work/errors" &
qemu=$!

# When the program ends, the kernel goes on with nothing to do.
while kill -0 $qemu 2>/dev/null && ! grep -Eq 'task_terminate [0-9a-f]{8}' "$work/console" 2>/dev/null; do sleep 0.2; done
tr -d '\r' <"$work/console" | sed -n '/^start /,$ { s/^start [^:]*: //; p }'
