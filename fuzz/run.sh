#!/usr/bin/env bash
# Fuzzes what parses input from outside, guided by coverage, on a stable toolchain.
#
#	fuzz/run.sh SECONDS [TARGET]
#
# SECONDS are divided over the targets (fuzz/src/targets/*.rs), or given to one; building comes on top. Nothing but
# target/ and fuzz/crashes/ is written to. Ends with 'N passed, N failed', and status 1 when a target failed.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
triple=x86_64-unknown-linux-gnu
build=${CARGO_TARGET_DIR:-$root/target}/fuzz

# What cargo-fuzz passes, less what needs a nightly compiler (the address sanitizer). The pass puts a counter on
# every edge, its place in a table, and a call before every comparison, so that libFuzzer learns what was compared.
flags=(
	-Cpasses=sancov-module
	-Cllvm-args=-sanitizer-coverage-level=4
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters
	-Cllvm-args=-sanitizer-coverage-pc-table
	-Cllvm-args=-sanitizer-coverage-trace-compares
	--cfg=fuzzing
	-Ctarget-feature=-crt-static # .cargo/config.toml wants a static command; libFuzzer's C++ does not
)

# With fewer counters than this, the parsers cannot be among what is covered.
min_counters=1000

main() {
	local seconds=${1:-} targets=() target share left passed=0 failed=0
	if ! [[ $seconds =~ ^[0-9]+$ ]] || [ $# -gt 2 ]; then
		echo "usage: fuzz/run.sh SECONDS [TARGET]" >&2
		exit 2
	fi
	mapfile -t targets < <(ls "$root/fuzz/corpus")
	if [ $# = 2 ]; then
		if [ ! -e "$root/fuzz/corpus/$2" ]; then
			echo "run.sh: no target $2; there are: ${targets[*]}" >&2
			exit 2
		fi
		targets=("$2")
	fi
	left=${#targets[@]}
	if ! have_compiler; then
		echo "run.sh: no C++ compiler here, which libFuzzer needs (Debian's package g++); skipped" >&2
		echo "0 passed, 0 failed, $left skipped"
		exit 0
	fi
	if ! compile; then
		echo "run.sh: the fuzzers do not build" >&2
		echo "0 passed, $left failed"
		exit 1
	fi

	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	for target in "${targets[@]}"; do
		# What the division leaves over goes to the last ones. Zero would mean for ever.
		share=$((seconds / left))
		seconds=$((seconds - share)) left=$((left - 1))
		if fuzz "$target" $((share > 0 ? share : 1)); then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
		fi
	done
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ]
}

# The one that the cc crate will use.
have_compiler() {
	CXX=${CXX:-$(command -v g++ || command -v c++)} || return 1
	export CXX
	command -v "${CXX%% *}" >/dev/null
}

# The target is named, so that build scripts and procedural macros are built without the flags.
compile() {
	local started=$SECONDS
	env -u CARGO_ENCODED_RUSTFLAGS RUSTFLAGS="${flags[*]}" CARGO_TARGET_DIR="$build" \
		cargo build --manifest-path "$root/fuzz/Cargo.toml" --profile fuzz --features engine --locked --quiet --target "$triple" --bin fuzz || return
	echo "built in $((SECONDS - started)) s"
}

# fuzz TARGET SECONDS
fuzz() {
	local target=$1 seconds=$2 program=$build/$triple/fuzz/fuzz log=$scratch/$1.log corpus=$scratch/$1
	local crashes=$root/fuzz/crashes dictionary=$root/fuzz/$1.dict options=() status
	mkdir -p "$crashes" "$corpus"
	cp "$root/fuzz/corpus/$target"/* "$corpus"
	[ ! -e "$dictionary" ] || options+=("-dict=$dictionary")
	FUZZ_TARGET=$target "$program" "$corpus" "${options[@]}" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-print_final_stats=1 -artifact_prefix="$crashes/$target-" >"$log" 2>&1
	status=$?
	report "$target" "$log"
	if [ "$status" != 0 ]; then
		# libFuzzer says more, and a message may hold all of the input.
		grep -A 3 -E 'panicked at|ERROR: ' "$log" | cut -c -300 | grep . || tail -n 5 "$log"
		failure "$target" "$program" "$log"
		return 1
	fi
	guided "$target" "$log"
}

# One line on what was done. Coverage is counted in edges.
report() {
	awk -v target="$1" '
		/\tINITED cov: / { first = after("cov:") }
		/ cov: / { last = after("cov:") }
		/^stat::number_of_executed_units:/ { runs = $2 }
		/^Done [0-9]+ runs in / { time = $5 }
		function after(word, i) { for (i = 1; i < NF; i++) if ($i == word) return $(i + 1) }
		END { printf "%s: %d runs, coverage %d (%d with the seeds), %s\n", target, runs, last, first,
			time == "" ? "not finished" : time " s" }' "$2"
}

# How to see a failure again.
failure() {
	local target=$1 program=$2 input
	input=$(sed -n 's/.*Test unit written to //p' "$3" | tail -n 1)
	echo "FAILED: $target; see it again: FUZZ_TARGET=$target ${program#"$PWD"/} ${input:-fuzz/corpus/$target/*}"
}

# Without counters the fuzzer would be a mere generator of noise, and still pass.
guided() {
	local counters
	counters=$(sed -n 's/.*Loaded [0-9]* modules *(\([0-9]*\) inline 8-bit counters).*/\1/p' "$2")
	if [ "${counters:-0}" -lt "$min_counters" ]; then
		echo "FAILED: $1 has ${counters:-no} counters: it was built without coverage"
		return 1
	fi
}

main "$@"
