#!/usr/bin/env bash
# Precision, truth and cost of kentry on this machine as it is, beside its peers, all interleaved: whole runs with budgets of 2, 5 and 12 s
# in turns, one CPU loaded in every second one, for an hour. Writes bench/RESULTS.md.
#
#	bench/run.sh			MINUTES=60 ALTERNATIONS=20 COMPARISONS=1000 to take more or less time (an hour and a half)
#	bench/run.sh report FOLDER	writes the results anew from what an earlier run collected
#
# NOTE="..." is added to the description of the machine: what else ran on it meanwhile.
#
# This script only collects, documents and CSV; crates/document/examples/bench computes the tables, and
# crates/compare/examples/aa.rs compares runs of the machine with each other.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${MINUTES:-60} alternations=${ALTERNATIONS:-20} comparisons=${COMPARISONS:-1000}
budgets=(2 5 12)
kentry=${KENTRY:-$PWD/target/x86_64-unknown-linux-gnu/release/kentry}
results=bench/RESULTS.md
cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')         # the last allowed
other=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/') # the first: this one is loaded
load=

say() { echo "bench: $*" >&2; }

# The runs of a benchmark are kept in its own folder.
export XDG_DATA_HOME=$PWD/target/data

stop_load() {
	[ -z "$load" ] || { kill "$load" && wait "$load"; } 2>/dev/null || true
	load=
}

start_load() {
	stress-ng --cpu 1 --taskset "$other" --timeout 10m >/dev/null 2>&1 &
	load=$!
}

# --- one run of each, to be interleaved ---

# Nanoseconds of a getppid: it prints "0.079499 usecs/op".
run_perf() {
	taskset -c "$1" perf bench syscall basic -l 5000000 2>/dev/null | awk '$2 == "usecs/op" {print $1 * 1000}'
}

# Nanoseconds of a gettimeofday system call: it prints "117.43 nanosecs per call".
run_stress() {
	taskset -c "$1" stress-ng --x86syscall 1 --x86syscall-func gettimeofday -t 1 --metrics 2>&1 |
		sed -n 's/.* \([0-9.]*\) nanosecs per call.*/\1/p'
}

# truth CPU BITS CASE FENCE: nanoseconds of a call, the median of many short pairs of loops
truth() {
	taskset -c "$1" "$work/truth$2" "$3" "$4" 100 201 | sort -g | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)] / 100}'
}

# peer RUN LOADED NAME COMMAND...: a line of peers.csv; a figure that is missing is '-', and counted
peer() {
	local run=$1 loaded=$2 name=$3 value
	shift 3
	value=$("$@") || value=
	echo "$run,$loaded,${value:--},$name" >>"$work/peers.csv"
}

# quieter DOCUMENT: the CPU that was alone in most of the run's checks
quieter() {
	awk -v usual="$cpu" '
		/^ *"cpus": \[/ { inside = 1 }
		inside && /"cpu":/ { cpu = $2 + 0 }
		inside && /"quiet_share":/ && $2 + 0 > most { most = $2 + 0; best = cpu "" }
		inside && /^ *\],?$/ { exit }
		END { print best == "" ? usual : best }' "$1"
}

# The peers run where it is quiet: beside a loaded CPU on the other one, or else on the one that kentry found quieter.
collect_runs() {
	local i loaded budget document where end=$((SECONDS + 60 * minutes))
	for ((i = 1; SECONDS < end; i++)); do
		loaded=$((i % 2)) budget=${budgets[i % ${#budgets[@]}]}
		document=$work/run-$(printf %04d "$i")-$budget-$loaded.json
		say "run $i, of $budget s; $(((end - SECONDS) / 60)) minutes left"
		[ $loaded = 0 ] || start_load
		"$kentry" --all --budget "$budget" --no-save --output "$document" || say "run $i has no document"
		if [ $loaded = 1 ] || [ ! -e "$document" ]; then where=$cpu; else where=$(quieter "$document"); fi
		peer "$i" $loaded "perf bench syscall basic (getppid)" run_perf "$where"
		peer "$i" $loaded "stress-ng --x86syscall (gettimeofday)" run_stress "$where"
		peer "$i" $loaded "bench/truth.c (getppid)" truth "$where" 64 syscall-x86_64/getppid stamp
		stop_load
	done
}

# How often these runs, compared with each other, are said to differ. It ends with 1 where that is too often, which the table says, too.
compare_runs() {
	local budget
	echo '## Are comparisons of this machine with itself right?'
	echo
	echo "Sides of 1, 2, 3 and 5 of these runs, taken from those of one budget in three ways, $comparisons comparisons each; no other run is known."
	echo "\`found\`: how often 5 % more for \`syscall-x86_64 getppid\`, on the new side alone, is told."
	for budget in "${budgets[@]}"; do
		printf '\nBudget of %s s: ' "$budget"
		cargo run --quiet --release --locked -p compare --example aa -- --comparisons "$comparisons" \
			--pad 'syscall-x86_64 getppid=5%' "$work"/run-*-"$budget"-?.json || true
	done
}

cases=(64:syscall-x86_64/getppid 64:syscall-x86_64/gettimeofday 64:int80-x86_64/gettimeofday 64:vsyscall/gettimeofday
	64:vdso-x86_64/gettimeofday 32:int80-i386/gettimeofday 32:gateway-i386/gettimeofday)

build_tools() {
	local bits
	for bits in 64 32; do
		"${CC:-cc}" -m$bits -O2 -Wall -ffreestanding -nostdlib -static -no-pie -fno-pic -fno-stack-protector \
			bench/truth.c -o "$work/truth$bits"
	done
	"${CC:-cc}" -O1 -Wall -o "$work/rss" bench/rss.c
	"${CC:-cc}" -O2 -Wall -mno-red-zone -o "$work/levels" bench/levels.c -lm
}

# The loop, kentry on the same CPU, the loop: what is compared lies within an alternation, because the core's clock
# wanders from one to the next.
alternate() {
	local number=$1 bits=$2 case=$3 name=${3//\//.} before after bare
	bare=$(truth "$cpu" "$bits" "$case" lfence)
	before=$(truth "$cpu" "$bits" "$case" stamp)
	"$kentry" --entry "${case%/*}" --operation "${case#*/}" --cpu "$cpu" --budget 0.1 --strict-budget \
		--output "$work/truth-$number-$name.json" || return 0
	after=$(truth "$cpu" "$bits" "$case" stamp)
	echo "truth-$number-$name.json,$case,$before,$after,$bare" >>"$work/truth.csv"
}

collect_truth() {
	local i case
	for ((i = 1; i <= alternations; i++)); do
		say "truth: alternation $i of $alternations"
		for case in "${cases[@]}"; do alternate "$i" "${case%%:*}" "${case#*:}"; done
	done
}

# A line for each moment of a process, with the CPU first.
collect_processes() {
	local one
	say "processes"
	for one in "$other" "$cpu"; do
		"$work/levels" processes "$one" 10 40 | sed "1d;s/^/$one,/" >>"$work/processes.csv"
		[ "$other" != "$cpu" ] || break
	done
}

# cost NAME LIMIT COMMAND...: the wall time of a command, seconds
cost() {
	local name=$1 limit=$2 TIMEFORMAT=%R seconds
	shift 2
	seconds=$({ time "$@" >/dev/null 2>&1; } 2>&1 | tail -n 1)
	echo "$limit,$seconds,$name" >>"$work/cost.csv"
}

collect_cost() {
	local i boot
	say "cost"
	for ((i = 0; i < 5; i++)); do
		cost '`kentry list`, s' 0.05 "$kentry" list
		cost '`kentry show` of a whole run, s' 0.2 "$kentry" show "$work"/run-0001-*.json
		cost 'the lab by default (TCG), s' 1 "$kentry" lab --accel tcg
		cost 'the lab in protected mode by default (TCG), s' 2 "$kentry" lab --accel tcg --lab-kernel i386
		cost 'the lab, every row in four configurations (TCG), s' 10 \
			"$kentry" lab --accel tcg --set pti=off --set pti=on --set exit=iret --set stack=minimum
		boot=$("$kentry" lab --accel tcg --entry call --format json |
			sed -n 's/.*"boot_to_first_record_ms": \([0-9.]*\).*/\1/p')
		echo "150,${boot:--},the lab, from starting QEMU to its first record (TCG), ms" >>"$work/cost.csv"
	done
	echo "32768,$("$work/rss" "$kentry"),resident memory of the default run, KiB" >>"$work/cost.csv"
	scripts/cargo-dist.sh build --quiet
	echo "12582912,$(stat -c %s target/x86_64-unknown-linux-gnu/dist/kentry),the packaged command, bytes" >>"$work/cost.csv"
}

describe() {
	echo "Made by \`make bench\` ($(date -u +%Y-%m-%d), kentry $("$kentry" --version | cut -d' ' -f2)); peers:" \
		"$(perf --version 2>/dev/null || echo no perf), $(stress-ng --version 2>/dev/null | head -n 1 || echo no stress-ng)."
	echo "Whole runs with budgets of ${budgets[*]} s in turns, for $minutes minutes, $(nproc) CPUs; in every other run" \
		"\`stress-ng --cpu 1 --taskset $other\` loaded CPU $other; the peers ran on the CPU that was quieter."
	[ -z "${NOTE:-}" ] || printf '\n%s\n' "$NOTE"
	echo
	echo '```'
	"$kentry" show "$work"/run-0001-*.json --color never | sed '/^noise/,$d'
	echo '```'
}

main() {
	if [ "${1:-}" = report ]; then
		work=${2:?usage: bench/run.sh report FOLDER}
	else
		work=$PWD/target/bench/$(date -u +%Y%m%dT%H%M%S)
		mkdir -p "$work"
		trap stop_load EXIT
		build_tools
		collect_runs
		collect_processes
		collect_truth
		collect_cost
		describe >"$work/head.md"
	fi
	compare_runs >"$work/compared.md"
	cargo run --quiet --release --locked -p document --example bench -- "$work" >"$work/results.md"
	cp "$work/results.md" "$results"
	cat "$results"
}

main "$@"
