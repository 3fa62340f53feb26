#!/usr/bin/env bash
# `kentry linux` on kernels that differ from this machine's: what cannot be had here is had there. Debian's kernels, and a small one
# of our own where somebody has built it (make small-kernel). Instructions are counted, so figures are compared, too. Linux's own tests
# of its entries are run in guests where somebody has built them (make selftests).
set -uo pipefail
. "$(dirname "$0")/check.sh"

for tool in qemu-system-x86_64 python3 cpio; do
	command -v $tool >/dev/null || { skip "guests" "no $tool"; finish; }
done
cloud=$("$root/scripts/kernels.sh" cloud 2>"$err") || { skip "guests" "$(tail -n 1 "$err")"; finish; }
generic=$("$root/scripts/kernels.sh" generic 2>"$err") || { skip "guests" "$(tail -n 1 "$err")"; finish; }
series=$(sed 's/.*vmlinuz-\([0-9]*\.[0-9]*\).*/\1/' <<<"$cloud")
# The suite's own kernels, and three 6.12, which may be its own, too. Where these cannot be had there is no history, and everything
# else is tested.
history=$("$root/scripts/kernels.sh" history 2>"$err") || why_no_history=$(tail -n 1 "$err")

# is_before SERIES SERIES: the first is older than the second
is_before() {
	[ "$1" != "$2" ] && [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

# linux NAME OPTION...: one run of `kentry linux`, as JSON
linux() {
	ends 0 "$@"
}

# lacking NAME OPTION...: the same of one configuration that the guest cannot have
lacking() {
	ends 3 "$@"
}

# ends STATUS NAME OPTION...
ends() {
	local status=$1 name=$2
	shift 2
	check "$name" "$status" "$kentry" linux --accel tcg --no-save --format json "$@"
	refuse '"outcome": "(error|timeout|mismatch)"'
	refuse '"timing": "hardware"'
}

# count ENTRY OPERATION CONFIGURATION: the instructions of a row, or - ; a configuration is `name=value`, or nothing
count() {
	python3 - "$out" "$@" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["results"]
wanted = dict([sys.argv[4].split("=", 1)]) if sys.argv[4:] and sys.argv[4] else {}
found = [row["instructions"] for row in rows if [row["entry"], row["operation"]] == sys.argv[2:4]
         and wanted.items() <= row["configuration"].items()]
print(int(found[0]["estimate"]) if found and found[0] else "-")
END
}

# more WHAT A B: A is more than B, and both are numbers
more() {
	if [ "$2" != - ] && [ "$3" != - ] && [ "$2" -gt "$3" ]; then pass; else fail "$1: $2 is not more than $3"; fi
}

# same WHAT A B: A is B, and both are numbers
same() {
	if is_number "$2" && [ "$2" = "$3" ]; then pass; else fail "$1: '$2' is not '$3'"; fi
}

# adds WHAT A B C BOUND: B is C more than A, give or take so many, and all are numbers
adds() {
	if is_number "$2" && is_number "$3" && is_number "$4" && [ $(($3 - $2 - $4)) -le "$5" ] && [ $(($2 + $4 - $3)) -le "$5" ]; then
		pass
	else
		fail "$1: '$3' is not '$4' more than '$2', give or take $5"
	fi
}

is_number() {
	[[ $1 =~ ^[0-9]+$ ]]
}

linux "an address at random, which the decompressor tells" --kernel "$cloud" -e syscall -o getppid --set kaslr=on,l1tf=off --set kaslr=off
expect '"l1tf=off"'
refuse '"kaslr=o'
same "getppid, wherever the kernel is" "$(count syscall-x86_64 getppid kaslr=on)" "$(count syscall-x86_64 getppid kaslr=off)"

linux "an Intel model, vsyscall emulated, x32" --kernel "$generic" --set vsyscall=emulate,x32=on
expect '"vsyscall": "emulate"'
for row in "vsyscall gettimeofday" "syscall-x32 getppid" "syscall-x32 gettimeofday" "sysenter-i386 none" \
	"mapped-time-vvar clock_gettime-monotonic" "mapped-time-perf perf-clock" "page-fault minor-fault"; do
	read -r entry operation <<<"$row"
	expect_outcome "$entry" "$operation" ok
done
expect_outcome syscall-i386 none unsupported
expect_outcome mapped-time-devmem time refused
expect 'CONFIG_STRICT_DEVMEM'

linux "an AMD model, vsyscall execute-only, page-table isolation" --kernel "$generic" --cpu-model EPYC --set vsyscall=xonly,pti=on
expect '"vsyscall": "xonly"'
expect_outcome vsyscall time ok
expect_outcome syscall-i386 gettimeofday ok
expect_outcome gateway-i386 getppid ok
expect_outcome syscall-x32 getppid refused

# It says nothing of a word that it does not know, if there is a dot in it.
lacking "a kernel that was built without x32" --kernel "$cloud" -e syscall-x32 -o getppid --set x32=on
expect_outcome syscall-x32 getppid unsupported
expect 'x32=on: the guest contradicts it: x32 is false'
linux "the same, which has none" --kernel "$cloud" -e syscall-x32 -o getppid --set x32=off
expect_outcome syscall-x32 getppid refused

linux "no vsyscall, no vDSO" --kernel "$generic" --set vsyscall=none,vdso=off,vdso32=off
expect_outcome vsyscall time unsupported
expect_outcome vdso-x86_64 time unsupported
expect_outcome vdso-i386 time unsupported
expect_outcome gateway-i386 none unsupported
expect_outcome sysenter-i386 none unsupported
expect_outcome mapped-time-vvar time unsupported
expect_outcome int80-i386 getppid ok

lacking "native vsyscall is gone since 5.2" --kernel "$cloud" -e vsyscall -o time --set vsyscall=native
expect_outcome vsyscall time unsupported

linux "isolation, and auditing" --kernel "$cloud" -e syscall -e int80-x86_64 -o getppid --set pti=on --set pti=off --set pti=off,audit=on
for entry in syscall-x86_64 int80-x86_64; do
	more "pti, $entry" "$(count $entry getppid pti=on)" "$(count $entry getppid pti=off)"
	more "audit, $entry" "$(count $entry getppid audit=on)" "$(count $entry getppid pti=off)"
done

linux "auditing, by the kernel's own answer" --kernel "$cloud" -e syscall -o getppid --set audit=on
expect '"audit": true'

linux "a filter of system calls" --kernel "$cloud" -e syscall-x86_64 -e int80-i386 -e vdso-x86_64 -o getppid -o gettimeofday \
	--set seccomp=off --set seccomp=on --set seccomp=arguments
for row in "syscall-x86_64 getppid" "int80-i386 getppid" "syscall-x86_64 gettimeofday"; do
	more "a filter, $row" "$(count $row seccomp=on)" "$(count $row seccomp=off)"
	more "a filter that is executed, $row" "$(count $row seccomp=arguments)" "$(count $row seccomp=on)"
done
same "the vDSO with a filter" "$(count vdso-x86_64 gettimeofday seccomp=arguments)" "$(count vdso-x86_64 gettimeofday seccomp=off)"
check "a program finds its open files by name" 0 "$kentry" linux --accel tcg --kernel "$cloud" --exec readlink /dev/fd /dev/stdin
expect "^/proc/self/fd$"
expect "^/proc/self/fd/0$"
check "a program sees the filter" 0 "$kentry" linux --accel tcg --kernel "$cloud" --set seccomp=on --exec grep '^Seccomp:' /proc/self/status
expect '^Seccomp:	2$'
check "an anatomy names the filter" 0 "$kentry" anatomy --kernel "$cloud" --beside none --set seccomp=arguments --format csv syscall
expect ',filter,symbol,'

# No processor of the emulator's has IBRS, and Linux takes retpolines.
check "a column of a protection that Linux did not take" 3 "$kentry" anatomy --kernel "$cloud" --beside none --against spectre_v2=ibrs syscall
expect 'spectre_v2=ibrs: the guest contradicts it'
check "a word that nothing confirms" 0 "$kentry" anatomy --kernel "$cloud" --beside none --append quiet syscall
expect '^kentry: quiet: nothing in the guest confirms it$'

check "a published table with guests" 0 "$kentry" reproduce pti-unixbench --guest "$cloud" --no-save --format csv "${quick[@]}"
expect '^pti-unixbench,guest,pti=on,"guest, no PCID",.*,instructions,[0-9]{4},'
expect '^pti-unixbench,guest,pti=off,"guest, no PCID",.*,instructions,[0-9]{4},'
expect '^pti-unixbench,guest,pti=on,"guest, PCID",.*,instructions,,.*no pcid'
check "a published table with a kernel that is none" 2 "$kentry" reproduce pti-unixbench --guest "$root/Makefile" --no-save
expect 'Makefile'

linux "other clocks than the counter make the vDSO enter the kernel" --kernel "$cloud" -e vdso-x86_64 -o clock_gettime-monotonic \
	--set clocksource=tsc --set clocksource=hpet --set clocksource=acpi_pm
for clock in hpet acpi_pm; do
	more "$clock" "$(count vdso-x86_64 clock_gettime-monotonic clocksource=$clock)" \
		"$(count vdso-x86_64 clock_gettime-monotonic clocksource=tsc)"
done

lacking "kvm-clock is KVM's alone" --kernel "$cloud" -e vdso-x86_64 -o gettimeofday --set clocksource=kvm-clock
expect_outcome vdso-x86_64 gettimeofday unsupported
expect 'current_clocksource is tsc'

# It came with 6.7.
knows=$cloud
if is_before "$series" 6.7; then
	knows=$(head -n 1 <<<"$history")
	lacking "an older kernel knows no such parameter" --kernel "$cloud" -e 'int80*' -o getppid --set ia32_emulation=off
	expect_outcome int80-x86_64 getppid unsupported
else
	skip "an older kernel knows no such parameter" "this suite has no kernel before 6.7, which brought ia32_emulation="
fi
if [ -n "$knows" ]; then
	linux "without 32-bit programs" --kernel "$knows" -e 'int80*' -o getppid --set ia32_emulation=off
	expect_outcome int80-x86_64 getppid unsupported
	expect_outcome int80-i386 getppid unsupported
	expect '"ia32_emulation": false'
else
	skip "without 32-bit programs" "$why_no_history"
fi

if [ -n "$history" ]; then
	check "a history" 0 "$kentry" linux --accel tcg --no-save -v -e syscall -o getppid \
		$(printf '%s\n' "$cloud" "$generic" "$history" | awk '!seen[$0]++ { print "--kernel", $0 }')
	expect "^changes +6\\.12.* against ${series//./\\.}\\."
	expect 'getppid [0-9]+ → [0-9]+$'
	check "a history, drawn" 0 "$kentry" linux --accel tcg --no-save -e syscall -o getppid --format svg \
		--history $(printf '%s\n' "$cloud" "$generic" "$history" | awk '!seen[$0]++')
	expect '^<svg '
	expect '>-[0-9]+</text>|>\+[0-9]+</text>'
else
	skip "a history" "$why_no_history"
fi

# Instructions of getppid's path in a kernel, as the anatomy counts them.
path_of() {
	"$kentry" anatomy syscall --kernel "$1" --beside none --format csv 2>/dev/null | grep -c '^syscall-x86_64,'
}

# Of three kernels or more, the two ends are good and bad: git finds the one that made the path longer, or shorter.
if [ -n "$history" ]; then
	mapfile -t kernels < <(printf '%s\n' "$cloud" "$history" | awk '!seen[$0]++')
	check "a path over kernels" 0 "$kentry" anatomy syscall --history "${kernels[@]}"
	expect '^kernel +instructions +change'
	expect "^paths +${#kernels[@]}; each as long as its row's count"
	same "a line for each kernel" "$(sed -n '/^kernel /,/^$/p' "$out" | grep -cE '^[0-9]+\.[0-9]+')" ${#kernels[@]}
	echo "no kernel" >"$work/none.deb"
	check "a path over kernels, of which one file is none" 4 "$kentry" anatomy syscall --history "${kernels[0]}" "$work/none.deb"
	expect '^left out +.*/none\.deb: '
	check "a path over kernels, drawn" 0 "$kentry" anatomy syscall --history "${kernels[@]}" --format svg
	expect '^<svg '
	check "a path that is longer than it may be" 1 "$kentry" anatomy syscall --kernel "$cloud" --beside none --fail-above 100
	expect 'instructions, and --fail-above allows 100$'
	check "a part that is not longer than it may be" 0 "$kentry" anatomy syscall --kernel "$cloud" --beside none --fail-above leaving=9

	tree=$work/tree
	git init -q "$tree"
	commit() {
		echo "$1" >"$tree/kernel"
		git -C "$tree" add kernel
		git -C "$tree" -c user.name=test -c user.email=test@localhost commit -q --allow-empty -m "$2"
	}
	short=${kernels[0]} long=${kernels[1]} most=$(path_of "${kernels[0]}")
	[ "$most" -lt "$(path_of "$long")" ] || { short=$long long=${kernels[0]} && most=$(path_of "$short"); }
	commit "$short" good
	commit "$work/none" "no kernel"
	commit "$short" "as good"
	commit "$long" "the first bad one"
	commit "$long" "as bad"
	export BUILD='cp "$(cat kernel)" built' KERNEL=built KENTRY=$kentry
	git -C "$tree" bisect start HEAD HEAD~4 >/dev/null 2>&1
	check "which commit made the path longer" 0 git -C "$tree" bisect run "$root/docs/bisect.sh" "$most"
	expect '^ +the first bad one$'
	git -C "$tree" checkout -q ":/no kernel"
	check "a kernel that cannot be built is skipped" 125 env -C "$tree" "$root/docs/bisect.sh" "$most"
	unset BUILD KERNEL KENTRY
else
	skip "a path over kernels" "$why_no_history"
fi

check "what each feature adds" 0 "$kentry" anatomy syscall --kernel "$cloud" --each
for feature in audit=on seccomp=on seccomp=arguments seccomp=runtime trace=on kstack-offset=on; do
	expect "^$feature +[0-9]+ +\\+[0-9]+ "
done
expect '^without +[0-9]+'
expect 'trace \+[0-9]+'

# What kentry counts, QEMU's log of instructions counts, too, in a boot of its own. No row is of a clock: how often Linux subtracts a
# second depends on when it is asked.
rows=(syscall-x86_64:none syscall-x86_64:getppid syscall-x86_64:getcpu int80-x86_64:none int80-x86_64:getppid
	int80-i386:none int80-i386:getppid sysenter-i386:none sysenter-i386:getppid ud:signal syscall-x86_64:unixbench-syscall)
linux "rows that the log counts, too" --kernel "$cloud" $(printf '%s\n' "${rows[@]}" | sed 's/:.*//; s/^/-e /' | sort -u) \
	$(printf '%s\n' "${rows[@]}" | sed 's/.*:/-o /' | sort -u)
cp "$out" "$work/run.json"
mkdir "$work/probes"
"$kentry" probes "$work/probes" >/dev/null
limit=300 check "rows agree with QEMU's log" 0 python3 "$root/tests/log_count.py" "$cloud" "$work/probes" "$work/run.json" "${rows[@]}"
same "rows that agree" "$(grep -c '^same' "$out")" ${#rows[@]}

# A row of several calls in the third way, too: by single steps.
check "the path of several calls" 0 "$kentry" anatomy syscall --operation unixbench-syscall --kernel "$cloud" --beside none --format json
steps=$(python3 -c 'import json, sys
path = json.load(open(sys.argv[1]))["paths"][0]
print(len(path["anatomy"]["instructions"]) - path["control"])' "$out")
same "steps of several calls" "$steps" "$(out=$work/run.json count syscall-x86_64 unixbench-syscall)"

small=$root/target/guest/small/vmlinux
if [ -s "$small" ]; then
	linux "time through /dev/mem" --kernel "$small" -e mapped-time-devmem -e mapped-time-vvar -e syscall-x32 \
		-o time -o gettimeofday -o clock_gettime-monotonic -o getppid --set x32=on
	for operation in time gettimeofday clock_gettime-monotonic; do
		expect_outcome mapped-time-devmem $operation ok
		same "$operation, by /dev/mem and by the time page" "$(count mapped-time-devmem $operation)" \
			"$(count mapped-time-vvar $operation)"
	done
	expect_outcome syscall-x32 getppid ok
	linux "a clock without the counter is in no page" --kernel "$small" -e mapped-time-devmem -o gettimeofday --append tsc=unstable
	expect_outcome mapped-time-devmem gettimeofday unsupported
	expect 'the clocksource is not the TSC'
else
	skip "time through /dev/mem" "there is no $small (make small-kernel builds it)"
fi

selftests=$root/target/guest/selftests

# selftest NAME OPTION... -- PROGRAM ARGUMENT...: one of Linux's own tests in a guest. Where it was not built, it is skipped.
selftest() {
	local name=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	if [ ! -x "$selftests/$1" ]; then
		skip "$name" "there is no $selftests/$1 (make selftests builds it)"
		return 1
	fi
	check "$name" 0 "$kentry" linux --accel tcg --kernel "$cloud" "${options[@]}" --exec "$selftests/$1" "${@:2}"
	refuse '^\[FAIL\]|^not ok'
}

if [ -d "$selftests" ]; then
	for mode in emulate xonly none; do
		selftest "Linux's test of vsyscall=$mode" --set vsyscall=$mode -- test_vsyscall_64
	done
	for program in syscall_nt_32 syscall_nt_64 sysret_rip_64 syscall_arg_fault_64 ptrace_syscall_32 ptrace_syscall_64 \
		single_step_syscall_64 syscall_numbering_64 entry_from_vm86_32 sigreturn_64; do
		selftest "Linux's $program" -- $program
	done
	# QEMU does not step over the sysenter of an Intel model as processors do, and the kernel panics.
	selftest "Linux's syscall_arg_fault_32, an AMD model" --cpu-model EPYC -- syscall_arg_fault_32
	selftest "Linux's tests of seccomp" -- seccomp_bpf
	# An instruction is a nanosecond, so its nanoseconds are what kentry counts.
	if selftest "Linux's benchmark of seccomp" -- seccomp_benchmark 5000; then
		theirs=$(sed -n 's/.*overhead for 1 bitmapped filter: \([0-9]*\) ns/\1/p' "$out")
		linux "the same by kentry" --kernel "$cloud" -e syscall-x86_64 -o unixbench-getpid --set seccomp=off --set seccomp=on
		adds "a filter by Linux's benchmark and by kentry" "$(count syscall-x86_64 unixbench-getpid seccomp=off)" \
			"$(count syscall-x86_64 unixbench-getpid seccomp=on)" "$theirs" 5
	fi
else
	skip "Linux's own tests" "there is no $selftests (make selftests builds them)"
fi

finish
