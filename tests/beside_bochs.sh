#!/usr/bin/env bash
# What no processor of QEMU's has, PCID and IBRS: the lab's path beside that of a Linux that has booted in Bochs, and is followed there by Bochs's
# debugger in the place of QEMU's (tests/bochs/). Each boot takes minutes of CPU time, so that only `make test STAGES=whole` does it.
set -uo pipefail
. "$(dirname "$0")/check.sh"
export XDG_DATA_HOME=$work/data TMPDIR=$work

# beside KERNEL MODEL WORDS WANTED...: no instruction differs, and these are among those of both
beside() {
	local kernel=$1 words=$3 wanted
	export LINUX_FILE=$kernel LINUX_APPEND=$words BOCHS_MODEL=$2
	shift 3
	limit=3600 check "$(basename "$kernel") on $BOCHS_MODEL" 0 "$kentry" bill --bochs --cpu-model "$BOCHS_MODEL" --beside-linux "$kernel" \
		--timeout 3500 --format csv
	current="no instruction differs from $(basename "$kernel") on $BOCHS_MODEL"
	if [ "$(grep -c '^both,' "$out")" -gt 80 ] && ! sed 1d "$out" | grep -v '^both,' >"$err"; then pass; else fail "$(head -n 5 "$err")"; fi
	for wanted; do expect "$wanted"; done
}

for needed in bochs qemu-system-x86_64 grub-mkrescue xorriso mformat python3; do
	command -v "$needed" >/dev/null || { skip "a Linux in Bochs" "no $needed"; finish; }
done
PATH=$root/tests/bochs:$PATH
for series in 6.1 6.12; do
	kernels=("$root"/target/guest/vmlinuz-"$series".*)
	[ -e "${kernels[-1]}" ] || { skip "Linux $series in Bochs" "no such kernel here (scripts/kernels.sh fetches it)"; continue; }
	# Linux writes CR3 with bit 63 on the way in, and looks on the way out whether a flush is due. The model has no verw that clears.
	beside "${kernels[-1]}" corei7_skylake_x "pti=on mds=off tsx_async_abort=off mmio_stale_data=off" 'bts.*0x3f' '\bbt '
	# Bochs has no MISC_ENABLE, by which Linux trusts fast strings: it keeps FSRM without ERMS, and memmove of 6.1 then runs over everything.
	beside "${kernels[-1]}" tigerlake "pti=on spectre_v2=ibrs clearcpuid=fsrm" 'bts.*0x3f' wrmsr 'and \$-2, %edx'
done
finish
