#!/usr/bin/env bash
# The tests. Ends with one line for all of them.
#
#	scripts/test.sh			every test
#	scripts/test.sh STAGE...	these alone: unit, lab, guests, slow; whole: the lab, the distribution and Linux beside the lab, with all that
#					they leave out otherwise, and a Linux in Bochs
#	scripts/test.sh quick		those of the inner loop: without the lab, guests, scripts, long simulations
#
# A Rust test that lacks something here prints `skipped NAME: why` and returns; it counts as skipped, not as passed.
set -uo pipefail
cd "$(dirname "$0")/.."

passed=0 failed=0 skipped=0
declare -a bad=()
logs=$(mktemp -d)
trap 'end_running; rm -rf "$logs"' EXIT
# Whoever ends the tests because they take too long wants to know which of them do.
trap 'tell_running; exit 143' TERM

# Seconds that a step may take, and all of them together, where somebody else would end them unheard. What takes longer is ended, and the
# others still tell how they went.
limit=${KENTRY_STEP_SECONDS-1800}
together=${KENTRY_TEST_SECONDS-}

# step NAME COMMAND...: runs it, adds up the results that it reports, and goes on whatever happens.
step() {
	local name=$1 log=$logs/step status
	shift
	echo "== $name"
	ends=--foreground timed "$log" "$@" 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	count "$log" "$status" "$name"
	echo "== $name took $(cat "$log.time")"
}

# timed LOG COMMAND...: runs it within the limit, and writes how long it took to LOG.time. With all that it has started, or, where $ends says
# so, in the foreground, where the terminal's interrupt reaches it.
timed() {
	local log=$1 most=$limit TIMEFORMAT='%0R s, and %0U + %0S s of CPU'
	shift
	if [ -n "$together" ] && [ $((together - SECONDS)) -lt "$most" ]; then most=$((together - SECONDS)); fi
	[ "$most" -ge 1 ] || most=1
	{ time timeout ${ends-} --kill-after=10 "$most" "$@" 2>&3; } 3>&2 2>"$log.time"
}

# One step more than there are CPUs runs beside others: most boot an emulator, or wait.
lanes=$(($(nproc) + 1))
declare -A running=()

# beside NAME COMMAND...: a step that begins when a lane is free, and whose output comes when it has ended.
beside() {
	local name=$1
	shift
	while [ ${#running[@]} -ge "$lanes" ]; do reap; done
	begin "$name" "$@" &
	running[$!]=$name
}

begin() {
	local log=$logs/$BASHPID
	shift
	timed "$log" "$@" >"$log" 2>&1 </dev/null
}

# Waits for one of the steps that run beside each other.
reap() {
	local pid status=0
	wait -n -p pid "${!running[@]}" || status=$?
	echo "== ${running[$pid]}"
	cat "$logs/$pid"
	count "$logs/$pid" "$status" "${running[$pid]}"
	echo "== ${running[$pid]} took $(cat "$logs/$pid.time")"
	unset "running[$pid]"
}

# Each step that runs, its last line, and its tests that have not ended.
tell_running() {
	local pid
	for pid in "${!running[@]}"; do
		echo "== ${running[$pid]} has not ended; its last line: $(tail -n 1 "$logs/$pid")"
		not_ended "$logs/$pid"
	done
}

end_running() {
	local pid
	for pid in "${!running[@]}"; do
		pkill -TERM -P "$pid"
	done
}

# The tests of a log of cargo's test runner that took more than a minute and have no result.
not_ended() {
	awk '
		/^test .* has been running for over/ { long[$2] }
		/^test .* \.\.\. / { delete long[$2] }
		END { for (name in long) print "not ended: " name }' "$1"
}

reap_all() {
	while [ ${#running[@]} -gt 0 ]; do reap; done
}

# Sums up lines of cargo's test runner, and the plain 'N passed, N failed, N skipped'. A step that reports no test
# counts as one. A test that said that it was skipped has passed by the runner's account.
count() {
	local log=$1 status=$2 name=$3 p f s
	if [ "$status" = 124 ] || [ "$status" = 137 ]; then
		echo "$name was ended: a step may take $limit s (KENTRY_STEP_SECONDS)${together:+, and all together $together s (KENTRY_TEST_SECONDS)}"
		not_ended "$log"
	fi
	read -r p f s < <(awk '
		/^test result:/ { p += $4; f += $6; s += $8 }
		# It may stand behind what the runner had begun to write.
		match($0, /skipped [a-z0-9_:]+: /) && !seen[substr($0, RSTART, RLENGTH)]++ { said++ }
		/^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; s += $5; plain = 1 }
		END { if (!plain) { p -= said; s += said } print p + 0, f + 0, s + 0 }' "$log")
	if [ "$status" != 0 ]; then
		[ "$f" -gt 0 ] || f=1
		bad+=("$name")
	elif [ $((p + f + s)) = 0 ]; then
		p=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

finish() {
	[ ${#bad[@]} = 0 ] || printf 'FAILED: %s\n' "${bad[@]}"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ ${#bad[@]} = 0 ] && [ "$failed" = 0 ]
	exit
}

# What each stage tests beside linters and Rust's tests, the longest first.
guests() {
	beside "other kernels, emulated" tests/guest.sh
	beside "the emulators of other Debian suites" tests/suites.sh
	beside "GNU Mach, emulated" tests/gnumach.sh
	beside "guests under KVM" tests/kvm.sh
	beside "the lab from an image" tests/image.sh
}

distribution() {
	beside "distribution" tests/dist.sh
}

# What is too long for every run: minutes of CPU time for each boot, or many boots.
long() {
	beside "the lab beside each Linux" "${rust[@]}" --test across -- beside_linux::
	beside "the lab beside a Linux in Bochs" tests/beside_bochs.sh
}

slow() {
	distribution
	beside "hostile surroundings" tests/hostile.sh
	beside "checkups, and monitoring" tests/doctor.sh
	beside "completion in shells" tests/completions.sh
	beside "pages in a browser" tests/page.sh
	beside "examples of every entry" tests/examples.sh
	beside "on a terminal" tests/terminal.sh
	beside "installation" tests/install.sh
	beside "impact of a workload" tests/impact.sh
	beside "tables in databases" tests/parquet.sh
	beside "README examples" tests/readme.sh
	beside "the example workflow" tests/ci.sh
	beside "examples for fleets" tests/fleet.sh
	# So few prove nothing and can fail nothing; that the script works is shown.
	beside "soak, one comparison" env COMPARISONS=1 RUNS=1 BUDGET=0.2 LIVE=0 bench/soak.sh
}

# The integration tests that crates have for themselves.
of_crates() {
	local test
	for test in crates/*/tests/*.rs crates/*/tests/*/main.rs fuzz/tests/*.rs; do
		basename -s .rs "${test%/main.rs}"
	done | sort -u
}

# Runs Rust's tests. The workspace is always named: for a part of it, cargo would compile dependencies again, with fewer features.
rust=(cargo test --locked --workspace --no-fail-fast)

unit() {
	local tests
	mapfile -t tests < <(of_crates)
	beside "tests across crates" "${rust[@]}" --test across
	beside "tests of each crate" "${rust[@]}" --lib --bins "${tests[@]/#/--test=}"
	beside "examples in documentation" "${rust[@]}" --doc
}

# Twice as many at once as there are CPUs: emulators wait for a part of their time.
lab() {
	beside "the lab" "${rust[@]}" --test lab -- --test-threads $(($(nproc) * 2))
}

# What the inner loop leaves out beside the lab, scripts and documentation: the tests of crates that simulate for long, and those across
# crates that boot a Linux or kill a thousand processes.
simulate=(levels truth turns)
boot=(anatomy:: guest:: linux:: runs::a_process_that_is_killed_loses_no_run)

quick() {
	local tests
	mapfile -t tests < <(of_crates | grep -vxF "${simulate[@]/#/-e}")
	tests=(--lib --bins "${tests[@]/#/--test=}")
	step "format" cargo fmt --all --check
	step "clippy" scripts/lint.sh clippy
	step "tests, compiled" "${rust[@]}" --no-run --test across "${tests[@]}"
	beside "tests across crates" "${rust[@]}" --test across -- "${boot[@]/#/--skip=}"
	beside "tests of each crate" "${rust[@]}" "${tests[@]}"
	reap_all
}

if [ "$*" = quick ]; then
	quick
	finish
fi

stages=("$@")
[ $# -gt 0 ] || stages=(unit lab guests slow)
for stage in "${stages[@]}"; do
	case $stage in
	unit | lab | guests | slow) ;;
	whole)
		export KENTRY_WHOLE=1
		limit=${KENTRY_STEP_SECONDS-7200}
		stages+=(lab)
		;;
	*)
		echo "usage: scripts/test.sh [quick | STAGE...], a STAGE is one of unit, lab, guests, slow, whole" >&2
		exit 2
		;;
	esac
done
has() { [[ " ${stages[*]} " == *" $1 "* ]]; }

# Runs of each simulated case that holds the statistics, where the inner loop takes fewer (simulator::runs). Their bounds are those of 2000,
# which whoever changes a rule runs (CONTRIBUTING.md).
export KENTRY_SIMULATED_RUNS=${KENTRY_SIMULATED_RUNS-200}

# The command that the scripts run is the one that `make dist` packs: guests unpack it, and a debug build takes them twice as long.
export KENTRY=${KENTRY-$PWD/target/x86_64-unknown-linux-gnu/dist/kentry}
command="the command, compiled"

# While others compile. What needs them says so itself where they cannot be had, or not in time.
fetch() {
	timeout --kill-after=10 "$((limit / 2))" "$@" >/dev/null &
	fetching+=($!)
}
declare -a fetching=()
fetch scripts/kernels.sh
if has unit; then fetch scripts/kernel-symbols.sh stable; fi

if has unit; then step "format and lint" scripts/lint.sh; fi
if has unit || has lab; then step "tests, compiled" cargo test --locked --workspace --no-run; fi
if has guests || has slow || has whole; then beside "$command" scripts/cargo-dist.sh build; fi
wait "${fetching[@]}"
if has lab; then lab; fi
if has unit; then unit; fi
while [[ " ${running[*]} " == *" $command "* ]]; do reap; done
if has guests; then guests; fi
if has slow; then slow; elif has whole; then distribution; fi
if has whole; then
	reap_all
	long
fi
reap_all
# It switches a setting of the machine, so nothing may run beside it.
if has slow; then step "checkups of a switched machine" tests/switched.sh; fi
finish
