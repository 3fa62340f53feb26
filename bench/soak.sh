#!/usr/bin/env bash
# How often `kentry compare` is wrong on this machine, with another CPU loaded all the time:
#
#	- A/A: both sides are runs of the same machine, taken in turns. Every row that is said to differ is a false verdict.
#	- Padded: another kentry is built, whose probe takes PERCENT longer for one row, and `kentry compare --live` compares the two. The pad is
#	  additions of 0 to the call's number, of one cycle each, before the kernel is entered. What it really costs here, the median of all
#	  comparisons says. The same comparison of the unpadded kentry with itself shows how often that is wrong.
#
#	bench/soak.sh		COMPARISONS=50 RUNS=3 BUDGET=2 LIVE=100 PERCENT=1 to take more or less time (about twenty minutes); LIVE=0: no padded probe
#
#	- Resampled: RESAMPLE=80 whole runs are made one after the other (or RUNS_OF=FOLDER holds their documents), and sides of 1, 2, 3 and 5
#	  runs are drawn from them again and again (crates/compare/examples/aa.rs). Stores are empty. RESAMPLE=0: none.
#
# Prints a table. Ends with 1 if there were 50 comparisons or more and more than 12 % of the A/A ones had a false verdict: fewer than
# 50 prove nothing, and fail nothing; and if more than 5 % of comparisons of drawn runs had one. The runs of a soak are kept in its own
# folder, which comparisons of several runs a side do not read.
set -euo pipefail
cd "$(dirname "$0")/.."

comparisons=${COMPARISONS:-50} runs=${RUNS:-3} budget=${BUDGET:-2} live=${LIVE:-100} percent=${PERCENT:-1}
resample=${RESAMPLE:-0} runs_of=${RUNS_OF:-} resampled=${RESAMPLED:-1000} pause=${PAUSE:-0}
kentry=${KENTRY:-$PWD/target/x86_64-unknown-linux-gnu/release/kentry}
padded_entry=syscall-x86_64 padded_operation=getppid
enough=50 most_percent=12

work=$(mktemp -d)
export XDG_DATA_HOME=$work/data
load=
trap '[ -z "$load" ] || kill "$load" 2>/dev/null || true; rm -rf "$work"' EXIT

say() { echo "soak: $*" >&2; }

# Keeps the first allowed CPU busy, unless it is the only one.
start_load() {
	local allowed
	allowed=$(taskset -cp $$ | sed 's/.*: //')
	case $allowed in
	*[,-]*) ;;
	*) say "there is one CPU only, and it is not loaded" && return ;;
	esac
	taskset -c "${allowed%%[,-]*}" sh -c 'while :; do :; done' &
	load=$!
}

# --- A/A ---

# measure FILE: one run. A row that lacks a figure is no failure.
measure() {
	"$kentry" --all --budget "$budget" --strict-budget --output "$1" 2>>"$work/log"
}

# Both sides in turns, so that the machine's drift is in both.
measure_sides() {
	local i
	for ((i = 1; i <= runs; i++)); do
		measure "$work/base-$i.json"
		measure "$work/new-$i.json"
	done
}

# sides BASE... -- NEW...: the options that name them
sides() {
	local side=--base word
	for word in "$@"; do
		if [ "$word" = -- ]; then side=--new; else printf '%s\n' "$side" "$word"; fi
	done
}

# differing JSON: the rows that are said to have changed
differing() {
	grep -cE '^ *"verdict": "(slower|faster|opened|closed|cause-changed)"' "$1" || true
}

aa() {
	local options
	mapfile -t options < <(sides "$work"/base-*.json -- "$work"/new-*.json)
	"$kentry" compare "${options[@]}" --all --format json >"$work/aa.json" 2>>"$work/log"
	echo "$(differing "$work/aa.json") $(sed -n 's/^ *"compared": \([0-9]*\),*$/\1/p' "$work/aa.json")"
}

compare_runs() {
	local i differ
	for ((i = 1; i <= comparisons; i++)); do
		measure_sides
		differ=$(aa)
		echo "A/A $differ" >>"$work/results"
		say "comparison $i of $comparisons: ${differ% *} of ${differ#* } compared rows are said to differ"
	done
}

# --- resampled ---

# Whole runs, PAUSE seconds between them, so that they spread over an hour where that is asked for.
record() {
	local i
	mkdir "$work/recorded"
	for ((i = 1; i <= resample; i++)); do
		measure "$work/recorded/run-$i.json"
		say "run $i of $resample for drawing"
		sleep "$pause"
	done
	runs_of=$work/recorded
}

# Fails where too many comparisons are wrong.
resample_runs() {
	[ -n "$runs_of" ] || [ "$resample" -gt 0 ] || return 0
	[ -n "$runs_of" ] || record
	cargo run --quiet --release --locked -p compare --example aa -- --comparisons "$resampled" \
		--pad "$padded_entry $padded_operation=5%" "$runs_of" >"$work/drawn" 2>>"$work/log"
}

# --- the padded probe ---

# So many cycles are PERCENT of what the row costs here; at least one.
cycles_of_pad() {
	"$kentry" --entry "$padded_entry" --operation "$padded_operation" --budget "$budget" --no-save --format csv 2>>"$work/log" |
		awk -F, -v percent="$percent" '
			NR == 1 { for (i = 1; i <= NF; i++) if ($i == "core_cycles_estimate") column = i }
			NR == 2 { cycles = int($column * percent / 100 + 0.5) }
			END { print (cycles > 1 ? cycles : 1) }'
}

# build_padded CYCLES: a copy of the sources with a longer sample, and the kentry of it
build_padded() {
	local copy=$work/source
	mkdir "$copy"
	git ls-files -z | xargs -0 cp --parents -t "$copy"
	# The first ENTER of the file is that of the samples.
	sed -i "0,/^\tENTER\$/s//\t.rept $1\n\tadd \$0, %eax\n\t.endr\n\tENTER/" "$copy/probe/timed.inc"
	! cmp -s probe/timed.inc "$copy/probe/timed.inc"
	cargo build --quiet --release --locked --manifest-path "$copy/Cargo.toml" --target-dir target/padded
	padded=$PWD/target/padded/x86_64-unknown-linux-gnu/release/kentry
}

# live NAME KENTRY: compares it with this kentry, and notes the verdict and the difference in cycles
live() {
	"$kentry" compare --live kentry "$2" --entry "$padded_entry" --operation "$padded_operation" --budget "$budget" --no-save --all \
		--format json >"$work/live.json" 2>>"$work/log" || true
	awk -v name="$1" '
		$1 == "\"verdict\":" && !verdict { verdict = $2 }
		$1 == "\"change\":" { in_change = 1 }
		$1 == "\"estimate\":" && in_change && !change { change = $2 }
		END { gsub(/[",]/, "", verdict); gsub(/,/, "", change); print name, verdict, change }' "$work/live.json" >>"$work/results"
}

compare_live() {
	local i cycles
	[ "$live" -gt 0 ] || return 0
	cycles=$(cycles_of_pad)
	say "building a kentry whose probe takes $cycles cycles longer"
	build_padded "$cycles"
	for ((i = 1; i <= live; i++)); do
		live padded "$padded"
		live unpadded "$kentry"
		say "live comparison $i of $live"
	done
	echo "pad $cycles" >>"$work/results"
}

# --- the table ---

report() {
	local false_ones state=loaded name
	[ -n "$load" ] || state=idle
	comparisons=$(grep -c '^A/A ' "$work/results") || true
	false_ones=$(awk '$1 == "A/A" && $2 > 0' "$work/results" | wc -l)
	echo "comparisons: $comparisons; runs a side: $runs; seconds a run: $budget; $("$kentry" --version); another CPU $state"
	# Where rows have no figures, there is nothing to be wrong about.
	awk -v wrong="$false_ones" '
		$1 == "A/A" { all++; rows += $3 }
		END { printf "A/A: %d of %d had a false verdict, of %.0f compared rows on average\n", wrong, all, all ? rows / all : 0 }' "$work/results"
	for name in padded unpadded; do
		{ grep "^$name " "$work/results" || true; } | sort -k 3 -g | awk -v name="$name" -v row="$padded_entry $padded_operation" '
			{ all++; change[all] = $3; seen[$2]++ }
			END { if (!all) exit
				printf "%s, live, %s: slower in %d of %d, faster in %d; median change %s cycles\n",
					row, name, seen["slower"], all, seen["faster"], change[int((all + 1) / 2)] }'
	done
	[ ! -s "$work/drawn" ] || { echo && cat "$work/drawn"; }
	[ "$comparisons" -lt "$enough" ] || [ $((false_ones * 100)) -le $((comparisons * most_percent)) ]
}

[ -x "$kentry" ] || { say "there is no $kentry yet: build it first, with 'make build'" && exit 2; }
touch "$work/results"
# Who has seen enough gets what there is.
trap 'report; exit 130' INT TERM
start_load
compare_runs
compare_live
drawn=0
resample_runs || drawn=$?
report
exit "$drawn"
