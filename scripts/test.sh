#!/usr/bin/env bash
# The tests. Ends with one line for all of them.
#
#	scripts/test.sh			every test
#	scripts/test.sh quick		those of the inner loop: without the release build, emulators, fuzzing, long simulations
#
# A Rust test that lacks something here prints `skipped NAME: why` and returns; it counts as skipped, not as passed.
set -uo pipefail
cd "$(dirname "$0")/.."

passed=0 failed=0 skipped=0
declare -a bad=()

# step NAME COMMAND...: runs it, adds up the results that it reports, and goes on whatever happens.
step() {
	local name=$1 log status
	shift
	log=$(mktemp)
	echo "== $name"
	"$@" 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	count "$log" "$status" "$name"
	rm -f "$log"
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

case ${1-} in
quick)
	step "format" cargo fmt --all --check
	step "clippy" scripts/lint.sh clippy
	# The lab's tests boot emulators, and those of lab_cli do too where there are any.
	step "unit and integration tests" cargo test --locked --workspace --exclude lab --no-fail-fast
	step "the lab's library" cargo test --locked -p lab --lib
	finish
	;;
"") ;;
*)
	echo "usage: scripts/test.sh [quick]" >&2
	exit 2
	;;
esac

# Runs of each simulated case that holds the statistics; the inner loop takes 16.
export KENTRY_SIMULATED_RUNS=${KENTRY_SIMULATED_RUNS-2000}

# What needs them says so itself where they cannot be had.
scripts/kernels.sh >/dev/null || true

step "format and lint" scripts/lint.sh
step "unit and integration tests" cargo test --locked --workspace --no-fail-fast
step "release build" cargo build --release --locked
step "examples of every entry" tests/examples.sh
step "hostile surroundings" tests/hostile.sh
step "on a terminal" tests/terminal.sh
step "completion in shells" tests/completions.sh
step "pages in a browser" tests/page.sh
step "installation" tests/install.sh
step "other kernels, emulated" tests/guest.sh
step "guests under KVM" tests/kvm.sh
step "the emulators of other Debian suites" tests/suites.sh
step "the lab from an image" tests/image.sh
step "README examples" tests/readme.sh
step "the example workflow" tests/ci.sh
# So few prove nothing and can fail nothing; that the script works is shown.
step "soak, one comparison" env COMPARISONS=1 RUNS=1 BUDGET=0.2 LIVE=0 bench/soak.sh
step "fuzzing, bounded" fuzz/run.sh 10
step "distribution" tests/dist.sh

finish
