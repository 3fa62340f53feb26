#!/usr/bin/env bash
# How often `kentry compare` is wrong on this machine, with another CPU loaded all the time:
#
#	- A/A: both sides are runs of the same machine, taken in turns. Every row that is said to differ is a false verdict.
#	- Padded: in the new side's runs one row is made dearer by PERCENT, round by round (crates/document/examples/pad.rs). The noise is this
#	  machine's, and the truth is known. It shows what a comparison finds, not that a probe of more instructions measures more;
#	  that is what bench/truth.c and the figures of bench/RESULTS.md show. Who looks for one percent measures the rows that matter to
#	  him, not all: so do these runs.
#
#	bench/soak.sh		COMPARISONS=50 RUNS=3 BUDGET=2 PERCENT=1 to take more or less time (about twenty minutes)
#
# Prints a table. Ends with 1 if there were 50 comparisons or more and more than 12 % of the A/A ones had a false verdict: fewer than
# 50 prove nothing, and fail nothing. The runs of a soak are kept in its own folder, empty at first, so that kept runs tell more and more of
# how rows vary, as with a user.
set -euo pipefail
cd "$(dirname "$0")/.."

comparisons=${COMPARISONS:-50} runs=${RUNS:-3} budget=${BUDGET:-2} percent=${PERCENT:-1}
kentry=${KENTRY:-$PWD/target/x86_64-unknown-linux-gnu/release/kentry}
padded_rows=(syscall-x86_64/none syscall-x86_64/getppid vdso-x86_64/clock_gettime-monotonic libc/getrandom)
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

# measure FILE OPTION...: one run. A row that lacks a figure is no failure.
measure() {
	local file=$1
	shift
	"$kentry" --budget "$budget" --strict-budget --output "$file" "$@" 2>>"$work/log"
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


# measure_sides PREFIX OPTION...: both sides in turns, so that the machine's drift is in both.
measure_sides() {
	local i prefix=$1
	shift
	for ((i = 1; i <= runs; i++)); do
		measure "$work/$prefix-base-$i.json" "$@"
		measure "$work/$prefix-new-$i.json" "$@"
	done
}

# The options that name the entries and operations of the padded rows.
only_padded() {
	local row
	for row in "${padded_rows[@]}"; do printf '%s\n' --entry "${row%/*}" --operation "${row#*/}"; done
}

aa() {
	local options
	mapfile -t options < <(sides "$work"/whole-base-*.json -- "$work"/whole-new-*.json)
	"$kentry" compare "${options[@]}" --all --format json >"$work/aa.json" 2>>"$work/log"
	echo "$(differing "$work/aa.json") $(sed -n 's/^ *"compared": \([0-9]*\),*$/\1/p' "$work/aa.json")"
}

# padded ROW: the verdict on it. All rows that were measured are compared, as an ordinary comparison does.
padded() {
	local options row=$1
	rm -rf "$work/padded" && mkdir "$work/padded"
	"$pad" "$percent" "$row" "$work/padded" "$work"/few-new-*.json
	mapfile -t options < <(sides "$work"/few-base-*.json -- "$work"/padded/*.json)
	"$kentry" compare "${options[@]}" --all --format json 2>>"$work/log" >"$work/padded.json"
	awk -v entry="\"${row%/*}\"," -v operation="\"${row#*/}\"," '
		$1 == "\"entry\":" { found = $2 == entry }
		$1 == "\"operation\":" { found = found && $2 == operation }
		$1 == "\"verdict\":" && found { gsub(/[",]/, "", $2); print $2; exit }' "$work/padded.json"
}

soak() {
	local i row differ few
	mapfile -t few < <(only_padded)
	for ((i = 1; i <= comparisons; i++)); do
		measure_sides whole
		measure_sides few "${few[@]}"
		differ=$(aa)
		echo "A/A $differ" >>"$work/results"
		for row in "${padded_rows[@]}"; do echo "$row $(padded "$row")" >>"$work/results"; done
		say "comparison $i of $comparisons: ${differ% *} of ${differ#* } compared rows are said to differ"
	done
}

report() {
	local row false_ones state=loaded
	[ -n "$load" ] || state=idle
	comparisons=$(grep -c '^A/A ' "$work/results") || true
	false_ones=$(awk '$1 == "A/A" && $2 > 0' "$work/results" | wc -l)
	echo "comparisons: $comparisons; runs a side: $runs; seconds a run: $budget; $("$kentry" --version); another CPU $state"
	# Where rows have no figures, there is nothing to be wrong about.
	awk -v wrong="$false_ones" '
		$1 == "A/A" { all++; rows += $3 }
		END { printf "A/A: %d of %d had a false verdict, of %.0f compared rows on average\n", wrong, all, all ? rows / all : 0 }' "$work/results"
	for row in "${padded_rows[@]}"; do
		awk -v row="$row" -v percent="$percent" '
			$1 == row { all++; if ($2 == "slower") found++; if ($2 == "faster") wrong++; if ($2 == "no-figure") lacking++ }
			END { printf "%s, padded by %s %%: found in %d of %d; called faster in %d; no figure in %d\n", row, percent, found, all, wrong, lacking }' "$work/results"
	done
	[ "$comparisons" -lt "$enough" ] || [ $((false_ones * 100)) -le $((comparisons * most_percent)) ]
}

[ -x "$kentry" ] || { say "there is no $kentry yet: build it first, with 'make build'" && exit 2; }
say "building what pads rows"
cargo build --quiet --release --locked -p document --example pad
pad=$PWD/target/x86_64-unknown-linux-gnu/release/examples/pad
start_load
touch "$work/results"
# Who has seen enough gets what there is.
trap 'report; exit 130' INT TERM
soak
report
