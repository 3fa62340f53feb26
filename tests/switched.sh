#!/usr/bin/env bash
# `kentry doctor` where a setting of the whole machine is switched, and put back. Nothing else may run beside it.
set -uo pipefail
. "$(dirname "$0")/check.sh"

short=(--check entries --budget 0.3)

put_back() {
	[ -z "${vsyscall32-}" ] || echo "$vsyscall32" >/proc/sys/abi/vsyscall32
	rm -rf "$work"
}
trap put_back EXIT
trap 'exit 1' INT TERM HUP

# --- the 32-bit vDSO ---
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/abi/vsyscall32 2>/dev/null)" = 1 ] && echo 1 2>/dev/null >/proc/sys/abi/vsyscall32; then
	vsyscall32=1
	check "32-bit programs have their vDSO" 0 "$kentry" doctor "${short[@]}"
	refuse 'vdso-32-bit|find no vDSO'
	echo 0 >/proc/sys/abi/vsyscall32
	check "32-bit programs lost it" 1 "$kentry" doctor "${short[@]}"
	expect '^warning +entries: 32-bit programs find no vDSO'
	expect 'sysctl abi.vsyscall32=1'
	check "a warning is not critical" 0 "$kentry" doctor "${short[@]}" --fail-on critical
	check "nor bad for whoever does not ask" 0 "$kentry" doctor "${short[@]}" --fail-on never
	check "Nagios is warned" 1 "$kentry" doctor "${short[@]}" --format nrpe
	expect '^WARNING: 1 warning'
	echo 1 >/proc/sys/abi/vsyscall32
else
	skip "a lost 32-bit vDSO" "abi.vsyscall32 cannot be switched here"
fi

finish
