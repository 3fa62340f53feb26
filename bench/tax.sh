#!/usr/bin/env bash
# Whether two runs of `kentry tax` agree: each difference of the one must be one that the other's interval allows, as far as both intervals overlap.
#
#	bench/tax.sh [OPTION...]	options of `kentry tax`, as --layer and --budget; KENTRY= another kentry, PAIRS=3 more pairs of runs
#
# Prints those that do not, and how many do. Ends with 1 if more than one of twenty does not, or none could be compared.
set -euo pipefail
cd "$(dirname "$0")/.."

kentry=${KENTRY:-$PWD/target/x86_64-unknown-linux-gnu/release/kentry}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for pair in $(seq "${PAIRS:-1}"); do
	for run in 1 2; do
		"$kentry" tax "$@" --format csv >"$folder/$pair.$run"
	done
done

# Columns: layer, group, entry, operation, cycles, cycles_low, cycles_high, turns, verdict, why_none.
for pair in $(seq "${PAIRS:-1}"); do
	paste -d, <(cut -d, -f1,4-7 "$folder/$pair.1") <(cut -d, -f1,4-7 "$folder/$pair.2") | tail -n +2
done | awk -F, '
	$3 == "" || $8 == "" { missing++; next }
	{ both++ }
	$4 > $10 || $9 > $5 {
		apart++
		printf "%s %s: %.1f (%.1f to %.1f) and %.1f (%.1f to %.1f)\n", $1, $2, $3, $4, $5, $8, $9, $10
	}
	END {
		printf "%d of %d differences agree within their intervals; %d are missing in a run\n", both - apart, both, missing
		exit !both || apart > both / 20
	}'
