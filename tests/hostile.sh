#!/usr/bin/env bash
# Bad input and hostile surroundings: every one ends in a clear message, a documented status, and nothing lost.
set -uo pipefail
. "$(dirname "$0")/check.sh"

one=(--entry syscall-x86_64 --operation getppid "${quick[@]}")
surround=$work/surround
"${CC:-cc}" -O1 -Wall -Werror -o "$surround" "$root/tests/surround.c" || exit 1
mkdir "$work/disk"
as_root=false
[ "$(id -u)" = 0 ] && as_root=true

# can_mount OPTIONS-OF-UNSHARE...
can_mount() {
	unshare "$@" mount -t tmpfs none "$work/disk" 2>/dev/null
}

# --- the command line ---
check "unknown entry" 2 "$kentry" --entry sysentre-i386
expect 'there is no entry "sysentre-i386"; did you mean sysenter-i386'
check "unknown operation" 2 "$kentry" --operation getppd
expect 'did you mean getppid'
check "a pair that does not exist" 2 "$kentry" --entry ud --operation getppid
expect 'ud serves signal'
check "impossible CPU" 2 "$kentry" "${one[@]}" --cpu 4095
expect 'CPU 4095 cannot be used; this process may run on'
for budget in 0 -1 nan inf 1e99 four; do
	check "budget $budget" 2 "$kentry" "--budget=$budget"
	expect 'budget'
done
check "seed beyond 2^53" 2 "$kentry" --seed 99999999999999999999
check "unknown format" 2 "$kentry" --format xml
check "unknown entry to explain" 2 "$kentry" explain teleport
check "not a run document" 2 "$kentry" explain call --run "$root/Cargo.toml"
expect 'Cargo.toml: it is not JSON from line 1, column'
refuse 'expected'
check "a document that breaks off" 2 bash -c 'echo "{\"schema\":" | "$@"' - "$kentry" explain call --run /dev/stdin
expect 'it breaks off at line'
mkfifo "$work/silent"
check "a named pipe that nobody writes to" 2 "$kentry" explain call --run "$work/silent"
expect 'silent: a named pipe that nobody writes to'
check "no such document" 2 "$kentry" explain call --run "$work/none"
check "a plan as csv" 2 "$kentry" --dry-run --format csv

# --- where the result goes ---
check "output in a folder that is not there" 1 "$kentry" "${one[@]}" --output "$work/none/run.json"
expect 'none/run.json cannot be written: there is no such file or folder'
mkdir "$work/runs.folder"
check "output onto a folder" 1 "$kentry" "${one[@]}" --output "$work/runs.folder"
check "full device" 1 bash -c '"$@" >/dev/full' - "$kentry" "${one[@]}"
expect 'standard output cannot be written: no space is left'
check "full device as a file" 1 "$kentry" "${one[@]}" --output /dev/full
check "closed pipe" 0 bash -c 'set -o pipefail; { sleep 0.3; "$@"; } | true' - "$kentry" list
refuse 'Broken pipe'
check "closed pipe after a measurement" 0 bash -c 'set -o pipefail; "$@" | true' - "$kentry" "${one[@]}" --format json
refuse 'Broken pipe'
mkfifo "$work/fifo"
check "a named pipe that nobody reads" 1 "$kentry" "${one[@]}" --output "$work/fifo"
expect 'fifo cannot be written: it is a pipe that nobody reads'
# Before main, Rust's runtime opens /dev/null in the place of a standard stream that is closed.
check "closed standard output" 1 bash -c '"$@" >&-' - "$kentry" "${one[@]}" --format json
expect 'standard output'
echo precious >"$work/kept"
if can_mount -rm; then
	check "full disk keeps the old file" 1 unshare -rm bash -c '
		mount -t tmpfs -o size=8k none "$1/disk" && echo precious >"$1/disk/kept" &&
		{ "${@:2}" --format json --output "$1/disk/kept"; status=$?; cat "$1/disk/kept"; ls "$1/disk"; exit $status; }' \
		- "$work" "$kentry" "${one[@]}"
	expect '^precious'
	refuse '\.kentry-'
	check "a disk full of runs shows the run and keeps the others" 1 unshare -rm bash -c '
		mount -t tmpfs -o size=64k none "$1/disk" && export XDG_DATA_HOME=$1/disk && cd "$1" &&
		for i in $(seq 100); do "${@:2}" --format json >full.json || { status=$?; break; }; done
		grep -c "\"outcome\": \"ok\"" full.json; "$2" runs verify || exit 9; ls -A disk/kentry/runs; exit $status' \
		- "$work" "$kentry" "${one[@]}"
	expect 'runs/[0-9a-f]{32}\.json\.gz: no space is left'
	expect 'files are whole runs'
	refuse '\.kentry-'
else
	skip "full disk keeps the old file" "no namespaces allowed here (a container, or a chroot)"
fi
echo secret >"$work/private" && chmod 600 "$work/private" && ln -s private "$work/link"
check "output through a link" 0 "$kentry" "${one[@]}" --format csv --output "$work/link"
check "the link is still one" 0 test -L "$work/link"
check "what it names was written, and is as private as before" 0 bash -c \
	'grep -q getppid "$1" && [ "$(stat -c %a "$1")" = 600 ]' - "$work/private"
check "a new file is whole" 0 "$kentry" "${one[@]}" --format json --output "$work/run.json"
check "and can be read back" 0 "$kentry" explain syscall-x86_64 --run "$work/run.json"
expect '^- getppid: ' # core cycles, or ticks where the machine was too busy to tell them

# --- who runs it ---
if $as_root; then
	install -m 755 "$kentry" "$work/kentry" && chmod 755 "$work"
	check "ordinary user" 0 setpriv --reuid 65534 --regid 65534 --clear-groups "$work/kentry" --all "${quick[@]}" --format json
	expect_outcome syscall-x86_64 getppid ok
	expect_outcome vdso-i386 gettimeofday ok
	check "real-time priority for an ordinary user" 0 \
		setpriv --reuid 65534 --regid 65534 --clear-groups "$work/kentry" "${one[@]}" --realtime
	expect 'kernel refused real-time priority'
	check "real-time priority" 0 "$kentry" "${one[@]}" --realtime --format json
	if grep -q '"realtime": true' "$out"; then
		pass
	else
		expect '"id": "no-realtime"'
	fi
fi
check "children ignored by whoever started us" 0 bash -c 'trap "" CHLD; exec "$@"' - "$kentry" "${one[@]}" --format json
expect_outcome syscall-x86_64 getppid ok
check "niced" 0 nice -n 19 "$kentry" "${one[@]}" --format json
expect_outcome syscall-x86_64 getppid ok
check "a cpuset of one CPU" 0 taskset -c 0 "$kentry" "${one[@]}" --format json
expect '"cpu": 0,'
check "a CPU outside of the cpuset" 2 taskset -c 0 "$kentry" "${one[@]}" --cpu 1
check "no environment" 0 env -i "$kentry" "${one[@]}"

# --- what is missing ---
if $as_root; then
	mkdir -p "$work/empty" && install -m 755 "$kentry" "$work/empty/kentry"
	check "no /proc, no /sys, no /tmp, nothing" 0 chroot "$work/empty" /kentry --all --no-save "${quick[@]}" --format json
	expect_outcome syscall-x86_64 getppid ok
	expect_outcome libc gettimeofday unsupported
	expect '"what": "/proc/cmdline"'
	if can_mount -m; then
		check "read-only file system" 0 unshare -m bash -c '
			mount --make-rprivate / && mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$1" &&
			chroot "$1" "${@:2}"' - "$work/empty" /kentry --no-save "${one[@]}" --format json
		expect_outcome syscall-x86_64 getppid ok
	else
		skip "read-only file system" "no namespaces allowed here (a container, or a chroot)"
	fi
	noexec='echo 2 >/proc/sys/vm/memfd_noexec 2>/dev/null || exit 88; exec "$@"'
	if unshare -fp --mount-proc bash -c "$noexec" - true 2>/dev/null; then
		check "vm.memfd_noexec = 2" 0 unshare -fp --mount-proc bash -c "$noexec" - "$kentry" "${one[@]}" --format json
		expect_outcome syscall-x86_64 getppid ok
		check "vm.memfd_noexec = 2 and nowhere to write" 3 unshare -fp --mount-proc bash -c \
			'echo 2 >/proc/sys/vm/memfd_noexec; chroot "$@"' - "$work/empty" /kentry --no-save "${one[@]}"
		expect 'cannot be executed from anywhere: memory: .*; /dev/shm: '
	else
		skip "vm.memfd_noexec" "this kernel has no such setting, or no namespaces are allowed here"
	fi
fi
check "no time stamp counter" 3 "$surround" no-tsc "$kentry" "${one[@]}"
expect 'time stamp counter \(prctl PR_SET_TSC\)'
check "no time stamp counter for live arms" 3 "$surround" no-tsc "$kentry" compare --live '' '' --no-save -e call --budget 0.1
expect 'time stamp counter \(prctl PR_SET_TSC\)'

# --- seccomp ---
all=("$kentry" --operation gettimeofday --operation none --operation getrandom "${quick[@]}" --format json)
check "a filter that refuses gettimeofday" 0 "$surround" errno=1 x86_64 96 "${all[@]}"
expect_outcome syscall-x86_64 gettimeofday refused
expect_outcome syscall-x86_64 none ok
expect_outcome vdso-x86_64 gettimeofday ok
expect 'EPERM'
# Not getrandom: the C library's malloc asks for it, here and in every other program.
check "a filter that kills for time" 0 "$surround" kill x86_64 201 "${all[@]}" --operation time
expect_outcome syscall-x86_64 time refused
expect_outcome syscall-x86_64 none ok
expect 'killed by SIGSYS'
check "a filter that traps i386 gettimeofday" 0 "$surround" trap i386 78 "${all[@]}"
expect_outcome int80-i386 gettimeofday refused
expect_outcome int80-x86_64 gettimeofday refused
expect_outcome syscall-x86_64 gettimeofday ok
check "programs that may not be executed (ENOEXEC)" 0 "$surround" errno=8 x86_64 322 "${all[@]}"
# (the 64-bit rows are errors then, as their probe should run; a real kernel refuses the 32-bit program alone)
expect_outcome int80-i386 none unsupported
expect_outcome syscall-x86_64 none error
expect 'ia32_emulation=0'
check "forks refused" 3 "$surround" errno=11 x86_64 56 "${all[@]}"
expect_outcome syscall-x86_64 none error
expect 'nothing could be measured: the probe could not be started: making its process failed with EAGAIN'
expect 'this user, or this control group, may have no more processes'
check "pinning refused" 3 "$surround" errno=1 x86_64 203 "$kentry" "${one[@]}"
expect 'pinning it to the CPU failed with EPERM'
check "unmapping refused, so that no minor fault comes" 0 "$surround" errno=22 x86_64 28 "$kentry" \
	--entry page-fault "${quick[@]}" --format json
expect_outcome page-fault minor-fault error
expect_outcome page-fault signal ok
check "a vsyscall page that is there, time refused" 0 "$surround" trap x86_64 201 "$kentry" --entry vsyscall \
	"${quick[@]}" --format json
refuse '"vsyscall": "none"'
check "memory files refused" 0 "$surround" errno=1 x86_64 319 "${all[@]}"
expect_outcome syscall-x86_64 none ok

# --- limits ---
limited='ulimit $1 || exit 87; shift; exec "$@"'
check "little address space" 0 bash -c "$limited" - "-v 65536" "$kentry" "${one[@]}" --format json
expect_outcome syscall-x86_64 getppid ok
check "few open files" 0 bash -c "$limited" - "-n 16" "$kentry" "${one[@]}" --format json
expect_outcome syscall-x86_64 getppid ok
check "no file may grow" 3 bash -c '(ulimit -f 0; "$@") 2>&1 | cat; exit "${PIPESTATUS[0]}"' - "$kentry" "${one[@]}"
expect '(File too large|larger than is allowed)'
check "little stack" 0 bash -c "$limited" - "-s 64" "$kentry" "${one[@]}" --format json
expect_outcome syscall-x86_64 getppid ok
check "little stack, somebody else's table" 0 bash -c "$limited" - "-s 64" "$kentry" reproduce gettimeofday-4.14 --budget 0.05

# --- company ---
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	check "under strace" 0 strace -f -o /dev/null "$kentry" "${one[@]}" --format json
	expect_outcome syscall-x86_64 getppid ok
	expect 'Process [0-9]+ traces this one'
else
	skip "under strace" "no strace, or ptrace is not allowed"
fi
check "a hundred runs at once" 0 bash -c '
	for i in $(seq 100); do "$@" >"$0/run.$i" 2>&1 & pids+=($!); done
	for pid in "${pids[@]}"; do wait "$pid" || exit 1; done
	cat "$0"/run.*' "$work" "$kentry" "${one[@]}" --format csv
current="a hundred runs at once: all measured"
if [ "$(grep -cE "^syscall-x86_64,[0-9]+,getppid,[0-9]+,64,,hardware,ok" "$out")" = 100 ]; then pass; else fail "not all ok"; fi
# Runs of others at the same time, as in gVisor, have such folders, too; theirs go when they end.
check "nothing is left behind" 0 bash -c '
	for _ in $(seq 60); do
		found=$(find /dev/shm /tmp /var/tmp -maxdepth 1 -name "kentry-*" -newer "$0")
		[ -n "$found" ] || break
		sleep 0.5
	done
	echo "$found"' "$surround"
refuse kentry-

# --- interruption ---
check "interrupted" 130 bash -c '"$@" & pid=$!; sleep 1; kill -INT $pid; wait $pid' - \
	env --default-signal=INT "$kentry" --budget 60 --format json
expect '"partial": true'
expect '"outcome": "ok"'
check "terminated" 130 bash -c '"$@" & pid=$!; sleep 1; kill -TERM $pid; wait $pid' - "$kentry" --budget 60
expect 'PARTIAL'
mkdir "$work/hung"
# The shell that the terminal belonged to is gone: HUP, while the result is still to be written.
for how in HUP KILL; do
	status=130
	[ $how = KILL ] && status=137
	check "$how with --output" $status bash -c '"$@" & pid=$!; sleep 1; kill -'$how' $pid; wait $pid' - \
		"$kentry" --budget 60 --output "$work/hung/$how.json"
done
check "what was measured until HUP is there, and nothing else" 0 ls -A "$work/hung"
expect '^HUP\.json$'
refuse 'kentry-|KILL'
check "it is partial" 0 grep '"partial": true' "$work/hung/HUP.json"
check "nohup" 0 bash -c 'nohup "$@" & pid=$!; sleep 0.3; kill -HUP $pid; wait $pid' - "$kentry" --entry call --budget 1 --strict-budget
refuse 'PARTIAL'

finish
