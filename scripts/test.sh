#!/usr/bin/env bash
# The tests. Ends with what each failed step said, and one line for all of them.
#
#	scripts/test.sh			every test
#	scripts/test.sh STAGE...	these alone: unit, lab, guests, slow; whole: the lab, the distribution and the lab beside each Linux, with all
#					that they leave out otherwise, and the lab beside a Linux in Bochs
#	scripts/test.sh quick		those of the inner loop: without the lab, guests, scripts, long simulations
#
# A Rust test that lacks something here prints `skipped NAME: why` and returns; it counts as skipped, not as passed.
set -uo pipefail
cd "$(dirname "$0")/.."

passed=0 failed=0 skipped=0
declare -a bad=()

# seconds NAME USUAL: the limit of this name, which is a whole number
seconds() {
	local value=${!1-$2}
	[[ $value =~ ^[1-9][0-9]{0,5}$ ]] || { echo "scripts/test.sh: $1=$value: it is a whole number of seconds, 1 to 999999" >&2; exit 2; }
	echo "$value"
}

# A step may take so long, and all of them together so long. A step that takes longer is ended and has failed; the others go on.
limit=$(seconds KENTRY_STEP_SECONDS 1800) || exit
together=$(seconds KENTRY_TEST_SECONDS 999999) || exit

logs=$(mktemp -d)
trap end_all EXIT
# Whoever ends the tests because they take too long is told what was still running.
trap 'tell_running; exit 129' HUP
trap 'tell_running; exit 130' INT
trap 'tell_running; exit 143' TERM

# Steps that run, by the process that waits for each: their names and logs. What `may_lack` holds fails nothing.
declare -A running=() log_of=() may_lack=()
begun=0

# begin NAME COMMAND...: a step that runs from now on; its process is $!. False, and it has failed, if no time is left for it.
begin() {
	local most=$limit log=$logs/$((++begun))
	if [ $((together - SECONDS)) -lt "$most" ]; then most=$((together - SECONDS)); fi
	if [ "$most" -lt 1 ]; then
		echo "== $1 was not begun: all steps together may take $together s (KENTRY_TEST_SECONDS)"
		failed=$((failed + 1)) bad+=("$1")
		return 1
	fi
	: >"$log"
	run "$log" "$most" "${@:2}" &
	running[$!]=$1 log_of[$!]=$log
}

# run LOG SECONDS COMMAND...: in a session of its own, which is ended after so many seconds. How long it took is in LOG.time.
run() {
	local log=$1 most=$2 watching status TIMEFORMAT='%0R s, and %0U + %0S s of CPU'
	shift 2
	# A terminal's signals reach this process, too; the tests then end the session themselves.
	trap '' HUP INT
	watch "$log" "$most" $BASHPID &
	watching=$!
	{ time setsid --wait env --default-signal=HUP,INT bash -c 'echo $$ >"$0.session"; exec "$@"' "$log" "$@" >"$log" 2>&1 </dev/null; } 2>"$log.time"
	status=$?
	end_session "$log"
	[ -e "$log.late" ] || kill "$watching" 2>/dev/null
	return "$status"
}

# watch LOG SECONDS PROCESS: ends the session of LOG unless this process, which waits for it, has ended before.
watch() {
	timeout "$2" tail -f /dev/null --pid="$3"
	[ $? = 124 ] && [ ! -s "$1.time" ] || return 0
	echo "$2" >"$1.late"
	end_session "$1"
}

# Ends all that a session has started; first in a way in which it can put back what it has changed.
end_session() {
	local session
	session=$(cat "$1.session" 2>/dev/null) || return 0
	pkill -TERM -s "$session" || return 0
	for _ in {1..60}; do
		pgrep -s "$session" >/dev/null || return 0
		sleep 0.5
	done
	pkill -KILL -s "$session"
}

# Ends all steps that run, at once.
end_all() {
	local pid
	for pid in "${!running[@]}"; do end_session "${log_of[$pid]}" & done
	wait
	rm -rf "$logs"
}

# step NAME COMMAND...: a step whose output is shown as it comes.
step() {
	local pid status=0
	begin "$@" || return
	pid=$!
	echo "== $1"
	tail -n +1 -f --pid=$pid "${log_of[$pid]}" &
	wait $pid || status=$?
	wait $!
	ended $pid "$status"
}

# One step more than there are CPUs runs beside others: most boot an emulator, or wait.
lanes=$(($(nproc) + 1))

# beside NAME COMMAND...: a step that begins when a lane is free, and whose output comes when it has ended.
beside() {
	while [ ${#running[@]} -ge "$lanes" ]; do reap; done
	begin "$@"
}

# fetch NAME COMMAND...: a step that runs while others compile, for a quarter of an hour at most. Where it fails, what needs it is skipped.
fetch() {
	local limit=$((limit < 900 ? limit : 900))
	begin "$@" && may_lack[$!]=yes
}
fetched="fetched"

# Waits for one of the steps that run beside each other.
reap() {
	local pid status=0
	wait -n -p pid "${!running[@]}" || status=$?
	echo "== ${running[$pid]}"
	cat "${log_of[$pid]}"
	ended "$pid" "$status"
}

# reap_until_no WORDS: until none runs whose name has them.
reap_until_no() {
	while [[ ${running[*]} == *"$1"* ]]; do reap; done
}

reap_all() {
	while [ ${#running[@]} -gt 0 ]; do reap; done
}

# ended PROCESS STATUS: adds up the results of a step.
ended() {
	local pid=$1 status=$2 name=${running[$1]} log=${log_of[$1]}
	if [ -e "$log.late" ]; then
		echo "$name was ended after $(cat "$log.late") s (KENTRY_STEP_SECONDS, KENTRY_TEST_SECONDS)"
		not_ended "$log"
	fi
	if [ "$status" != 0 ] && [ -n "${may_lack[$pid]-}" ]; then
		skipped=$((skipped + 1))
	else
		count "$log" "$status" "$name"
		[ "$status" = 0 ] || why "$name" "$log" >>"$logs/why"
	fi
	# The shell's own messages may stand before it.
	echo "== $name took $(tail -n 1 "$log.time")"
	unset "running[$pid]" "may_lack[$pid]"
}

# why NAME LOG: what tests that failed said by cargo's test runner, which is between lines "failures:"; of another step, its last lines.
why() {
	local said
	said=$(awk '/^failures:$/ { on = !on; next } on' "$2" | head -n 100)
	printf '== why %s failed\n%s\n' "$1" "${said:-$(tail -n 20 "$2")}"
}

# Each step that runs, its last line, and its tests that have not ended.
tell_running() {
	local pid
	for pid in "${!running[@]}"; do
		echo "== ${running[$pid]} has not ended; its last line: $(tail -n 1 "${log_of[$pid]}")"
		not_ended "${log_of[$pid]}"
	done
}

# The tests of a log of cargo's test runner that took more than a minute and have no result.
not_ended() {
	awk '
		/^test .* has been running for over/ { long[$2] }
		/^test .* \.\.\. / { delete long[$2] }
		END { for (name in long) print "not ended: " name }' "$1"
}

# Sums up lines of cargo's test runner, and the plain 'N passed, N failed, N skipped'. A step that reports no test
# counts as one. A test that said that it was skipped has passed by the runner's account.
count() {
	local log=$1 status=$2 name=$3 p f s
	read -r p f s < <(awk '
		/^test result:/ { p += $4; f += $6; s += $8 }
		# It may stand behind what the runner had begun to write.
		match($0, /skipped [a-z0-9_:]+: /) && !seen[substr($0, RSTART, RLENGTH)]++ { said++ }
		/^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; s += $5; plain = 1 }
		END { if (!plain) { p -= said; s += said } print p + 0, f + 0, s + 0 }' "$log")
	if [ "$status" != 0 ]; then
		[ "$f" -gt 0 ] || f=1
		bad+=("$name")
	elif [ $((p + f + s)) = 0 ] && grep -q '^test result:' "$log"; then
		echo "$name runs no test"
		f=1
		bad+=("$name")
	elif [ $((p + f + s)) = 0 ]; then
		p=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

finish() {
	[ ! -e "$logs/why" ] || cat "$logs/why"
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

# Three times as many at once as there are CPUs: emulators wait for a part of their time.
lab() {
	beside "the lab" "${rust[@]}" --test lab -- --test-threads $(($(nproc) * 3))
}

# What the inner loop leaves out beside the lab, scripts and documentation: the tests of crates that simulate for long (simulated::, too), and those across
# crates that boot a Linux or kill a thousand processes.
simulate=(clocks levels truth turns)
boot=(anatomy:: anatomy_truth:: beside_linux:: guest:: linux:: runs::a_process_that_is_killed_loses_no_run)

quick() {
	local tests
	mapfile -t tests < <(of_crates | grep -vxF "${simulate[@]/#/-e}")
	tests=(--lib --bins "${tests[@]/#/--test=}")
	step "format" cargo fmt --all --check
	step "clippy" scripts/lint.sh clippy
	step "tests, compiled" "${rust[@]}" --no-run --test across "${tests[@]}"
	beside "tests across crates" "${rust[@]}" --test across -- "${boot[@]/#/--skip=}"
	beside "tests of each crate" "${rust[@]}" "${tests[@]}" -- --skip=simulated::
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

fetch "kernels for guests, $fetched" scripts/kernels.sh
if has unit; then fetch "the symbols of a kernel, $fetched" scripts/kernel-symbols.sh stable; fi

if has unit; then step "format and lint" scripts/lint.sh; fi
if has unit || has lab; then step "tests, compiled" cargo test --locked --workspace --no-run; fi
if has guests || has slow || has whole; then beside "$command" scripts/cargo-dist.sh build; fi
reap_until_no "$fetched"
if has lab; then lab; fi
if has unit; then unit; fi
reap_until_no "$command"
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
