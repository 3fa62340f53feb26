#!/usr/bin/env bash
# The command in a Linux that differs from this one: Debian's kernel in QEMU's emulator, on an Intel and on an AMD
# model, with and without vsyscall, vDSO and x32. Outcomes only: emulated times mean nothing, and the command says so.
set -uo pipefail
. "$(dirname "$0")/check.sh"

build_image() {
	"${CC:-cc}" -O1 -static -Wall -Werror "$root/tests/guest-init.c" -o "$work/init" || return 1
	cp "$kentry" "$work/kentry"
	(cd "$work" && printf 'init\nkentry\n' | cpio -o -H newc 2>/dev/null | gzip -1) >"$work/image.gz"
}

# boot CPU PARAMETERS: one sweep over all rows, as JSON
boot() {
	timeout 240 qemu-system-x86_64 -M pc -m 512 -nodefaults -no-user-config -display none -serial stdio -no-reboot \
		-accel tcg -cpu "$1" -kernel "$kernel" -initrd "$work/image.gz" \
		-append "console=ttyS0 quiet panic=-1 rdinit=/init $2 -- --budget 0.1 --strict-budget --format json" </dev/null |
		tr -d '\r' | sed -n '/^{/,/^}/p; /^kentry ended/p'
}

for tool in qemu-system-x86_64 cpio dpkg-deb; do
	command -v $tool >/dev/null || { skip "guests" "no $tool"; finish; }
done
kernel=$("$root/scripts/kernels.sh" generic 2>"$err") || { skip "guests" "$(tail -n 1 "$err")"; finish; }
build_image || exit 1

run_guest() {
	current="$1"
	boot "$2" "$3" >"$out" 2>"$err"
	if grep -q '^kentry ended with 0' "$out"; then pass; else fail "the command did not end well"; fi
	refuse '"outcome": "(error|timeout|mismatch)"'
	refuse '"timing": "hardware"'
	expect '"id": "emulated"'
}

run_guest "an Intel model, vsyscall emulated, x32" max,vendor=GenuineIntel "vsyscall=emulate syscall.x32=y"
expect '"vsyscall": "emulate"'
expect_outcome vsyscall gettimeofday ok
expect_outcome syscall-x32 getppid ok
expect_outcome syscall-x32 gettimeofday ok
expect_outcome sysenter-i386 none ok
expect_outcome syscall-i386 none unsupported
expect_outcome mapped-time-vvar clock_gettime-monotonic ok
expect_outcome mapped-time-vvar clock_gettime-monotonic-raw ok
expect_outcome mapped-time-perf perf-clock ok
expect_outcome mapped-time-devmem time refused
expect_outcome page-fault minor-fault ok
expect 'CONFIG_STRICT_DEVMEM'

run_guest "an AMD model, vsyscall execute-only, page-table isolation" EPYC "vsyscall=xonly pti=on"
expect '"vsyscall": "xonly"'
expect_outcome vsyscall time ok
expect_outcome syscall-i386 none ok
expect_outcome syscall-i386 gettimeofday ok
# (sysenter is open there, as on no real AMD processor in long mode: the emulator lets it in)
expect_outcome gateway-i386 getppid ok
expect_outcome syscall-x32 getppid refused

run_guest "no vsyscall, no vDSO" max,vendor=GenuineIntel "vsyscall=none vdso=0 vdso32=0"
expect '"vsyscall": "none"'
expect_outcome vsyscall time unsupported
expect_outcome vdso-x86_64 time unsupported
expect_outcome vdso-i386 time unsupported
expect_outcome gateway-i386 none unsupported
expect_outcome sysenter-i386 none unsupported
expect_outcome mapped-time-vvar time unsupported
expect_outcome int80-i386 getppid ok
expect 'vdso32=0'

finish
