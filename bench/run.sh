#!/usr/bin/env bash
# Precision, truth and cost of kentry, beside its peers, all interleaved in one run. Writes bench/RESULTS.md.
#
#	bench/run.sh			RUNS=20 ALTERNATIONS=40 to take more or less time (about three minutes)
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${RUNS:-20} alternations=${ALTERNATIONS:-40}
kentry=$PWD/target/x86_64-unknown-linux-gnu/release/kentry
results=bench/RESULTS.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//') # the last allowed, as kentry chooses

say() { echo "bench: $*" >&2; }

# median, spread = (max - min) / median in percent, of numbers on standard input; "-" of nothing
median() { sort -g | awk '{v[NR]=$1} END {if (NR) printf "%.6g", (v[int((NR+1)/2)] + v[int(NR/2)+1]) / 2; else printf "-"}'; }
spread() { sort -g | awk '{v[NR]=$1} END {m = NR ? (v[int((NR+1)/2)] + v[int(NR/2)+1]) / 2 : 0
	if (m) printf "%.2f", (v[NR] - v[1]) / m * 100; else printf "-"}'; }
# the same without the one run that is farthest from the median
nearest() { sort -g | awk '{v[NR]=$1} END {m = NR ? (v[int((NR+1)/2)] + v[int(NR/2)+1]) / 2 : 0
	low = 1; high = NR
	if (v[NR] - m > m - v[1]) high--; else low++
	if (m && NR > 2) printf "%.2f", (v[high] - v[low]) / m * 100; else printf "-"}'; }
# at_most A B: is A at most B?
at_most() { awk -v a="$1" -v b="$2" 'BEGIN {print (a != "-" && a + 0 <= b + 0) ? "yes" : "**no**"}'; }

# column NAME of a CSV report on standard input, for the row ENTRY OPERATION
column() { awk -F, -v column="$1" -v entry="$2" -v operation="$3" '
	NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next}
	$1 == entry && $2 == operation {print $at[column]}'; }

# --- one run of each, to be interleaved ---

precise_rows=(syscall-x86_64/getppid int80-i386/gettimeofday sysenter-i386/gettimeofday vsyscall/gettimeofday
	vdso-x86_64/gettimeofday cpuid/none)
limits=(0.5 1 1 1 1 -)

run_kentry() {
	local report=$work/run.csv row
	"$kentry" --entry syscall-x86_64 --entry int80-i386 --entry sysenter-i386 --entry vsyscall --entry vdso-x86_64 \
		--entry cpuid --operation getppid --operation gettimeofday --operation none --budget 3 --format csv >"$report"
	for row in "${precise_rows[@]}"; do
		column core_cycles_estimate "${row%/*}" "${row#*/}" <"$report" >>"$work/${row//\//.}"
	done
	awk -v a="$(tail -n 1 "$work/int80-i386.gettimeofday")" -v b="$(tail -n 1 "$work/cpuid.none")" \
		'BEGIN {if (b) print a / b}' >>"$work/int80-per-exit"
}

# Nanoseconds of a getppid: it prints "0.079499 usecs/op".
run_perf() {
	taskset -c "$cpu" perf bench syscall basic -l 10000000 2>/dev/null |
		awk '$2 == "usecs/op" {printf "%.3f\n", $1 * 1000}' >>"$work/perf"
}

# Nanoseconds of a gettimeofday system call: it prints "117.43 nanosecs per call".
run_stress() {
	taskset -c "$cpu" stress-ng --x86syscall 1 --x86syscall-func gettimeofday -t 1 --metrics 2>&1 |
		sed -n 's/.* \([0-9.]*\) nanosecs per call.*/\1/p' >>"$work/stress"
}

measure_spread() {
	for ((i = 1; i <= runs; i++)); do
		say "spread: run $i of $runs"
		run_kentry
		run_perf || true
		run_stress || true
	done
}

cases64=(syscall-x86_64/getppid syscall-x86_64/gettimeofday int80-x86_64/gettimeofday vsyscall/gettimeofday
	vdso-x86_64/gettimeofday)
cases32=(int80-i386/gettimeofday gateway-i386/gettimeofday)

build_truth() {
	for bits in 64 32; do
		"${CC:-cc}" -m$bits -O2 -Wall -ffreestanding -nostdlib -static -no-pie -fno-pic -fno-stack-protector \
			bench/truth.c -o "$work/truth$bits"
	done
}

# truth BITS CASE FENCE: nanoseconds of a call, the median of many short pairs of loops
truth() {
	taskset -c "$cpu" "$work/truth$1" "$2" "$3" 100 201 | median | awk '{print $1 / 100}'
}

# One alternation of a case: the loop, kentry, the loop. Their ratio is taken within the alternation, because the core's
# clock wanders from one to the next.
alternate() {
	local bits=$1 case=$2 name=${2//\//.} before after ours
	truth "$bits" "$case" lfence >>"$work/bare.$name"
	before=$(truth "$bits" "$case" stamp)
	"$kentry" --entry "${case%/*}" --operation "${case#*/}" --budget 0.05 --format csv >"$work/one.csv"
	after=$(truth "$bits" "$case" stamp)
	ours=$(column ns_estimate "${case%/*}" "${case#*/}" <"$work/one.csv")
	[ -n "$ours" ] || return 0 # every round was disturbed
	echo "$ours" >>"$work/ours.$name"
	awk -v a="$before" -v b="$after" 'BEGIN {print (a + b) / 2}' >>"$work/truth.$name"
	awk -v a="$before" -v b="$after" -v c="$ours" 'BEGIN {print (c / ((a + b) / 2) - 1) * 100}' >>"$work/off.$name"
	column core_cycles_estimate "${case%/*}" "${case#*/}" <"$work/one.csv" >>"$work/cycles.$name"
	column throughput_estimate "${case%/*}" "${case#*/}" <"$work/one.csv" >>"$work/throughput.$name"
}

measure_truth() {
	build_truth
	for ((i = 1; i <= alternations; i++)); do
		say "truth: alternation $i of $alternations"
		for case in "${cases64[@]}"; do alternate 64 "$case"; done
		for case in "${cases32[@]}"; do alternate 32 "$case"; done
	done
}

# Wall time in seconds and resident memory in KiB of a command.
cost_of() { /usr/bin/env bash -c 'TIMEFORMAT=%R; time "$@" >/dev/null' - "$@" 2>&1 | tail -n 1; }

measure_cost() {
	say "cost"
	for _ in 1 2 3 4 5; do
		cost_of "$kentry" >>"$work/wall"
		cost_of "$kentry" list >>"$work/list"
		cost_of "$kentry" lab --accel tcg --set pti=off --set pti=on --set exit=iret --set stack=minimum >>"$work/lab"
		"$kentry" lab --accel tcg --entry call --format json |
			sed -n 's/.*"boot_to_first_record_ms": \([0-9.]*\).*/\1/p' >>"$work/boot"
	done
	"$work/rss" "$kentry" >"$work/memory"
	stat -c %s "$kentry" >"$work/size"
}

# --- the report ---

write_spread() {
	echo "## Run-to-run spread"
	echo
	echo "(max − min) / median over $runs whole runs, interleaved with the peers'. kentry in core cycles, \`--budget 3\`"
	echo "for all rows together; peers in the nanoseconds that they print."
	echo
	echo "| what | median | spread % | at most | held | without the farthest run % |"
	echo "|---|---:|---:|---:|---|---:|"
	local i row file
	for i in "${!precise_rows[@]}"; do
		row=${precise_rows[i]} file=$work/${precise_rows[i]//\//.}
		[ -s "$file" ] || { echo "| kentry $row | - | - | ${limits[i]} | - |"; continue; }
		local wide
		wide=$(spread <"$file")
		echo "| kentry \`${row/\// }\` | $(median <"$file") | $wide | ${limits[i]} |" \
			"$([ "${limits[i]}" = - ] && echo - || at_most "$wide" "${limits[i]}") | $(nearest <"$file") |"
	done
	echo "| kentry \`int80-i386 gettimeofday\` / \`cpuid none\`, same run | $(median <"$work/int80-per-exit") |" \
		"$(spread <"$work/int80-per-exit") | - | - | $(nearest <"$work/int80-per-exit") |"
	echo "| perf bench syscall basic (getppid), ns | $(median <"$work/perf") | $(spread <"$work/perf") | - | - | $(nearest <"$work/perf") |"
	echo "| stress-ng --x86syscall (gettimeofday), ns | $(median <"$work/stress") | $(spread <"$work/stress") | - | - | $(nearest <"$work/stress") |"
	echo
}

write_truth() {
	cat <<-END
		## Is the estimate true?

		Against \`bench/truth.c\`: a loop of calls with the same fences around each, less the same loop of controls, timed
		with CLOCK_MONOTONIC_RAW. Medians of $alternations alternations (loop, kentry, loop); \`off\` is the median of the
		differences within an alternation, because the core's clock wanders from one to the next. \`bare\`: with an lfence
		alone on either side instead of all that a stamp does (lfence, rdtsc, lfence, two stores). \`throughput\`: core
		cycles for calls back to back, no fence.

		| row | kentry ns | loop ns | off % | at most | held | bare loop ns | core cycles | throughput |
		|---|---:|---:|---:|---:|---|---:|---:|---:|
	END
	local case name off limit
	for case in "${cases64[@]}" "${cases32[@]}"; do
		name=${case//\//.}
		off=$(median <"$work/off.$name" | awk '{printf "%.2f", $1}')
		case $case in vdso*) limit=3 ;; *) limit=1 ;; esac
		echo "| \`${case/\// }\` | $(median <"$work/ours.$name") | $(median <"$work/truth.$name") | $off | $limit |" \
			"$(at_most "${off#-}" $limit) | $(median <"$work/bare.$name") | $(median <"$work/cycles.$name") |" \
			"$(median <"$work/throughput.$name") |"
	done
	echo
}

write_cost() {
	local wall list memory size lab boot
	wall=$(median <"$work/wall") list=$(median <"$work/list") memory=$(cat "$work/memory") size=$(cat "$work/size")
	lab=$(median <"$work/lab") boot=$(median <"$work/boot")
	echo "## Cost"
	echo
	echo "| what | measured | at most | held |"
	echo "|---|---:|---:|---|"
	echo "| the default table, all rows, s | $wall | 5 | $(at_most "$wall" 5) |"
	echo "| \`kentry list\`, s | $list | 0.05 | $(at_most "$list" 0.05) |"
	echo "| resident memory of the default run, KiB | $memory | 32768 | $(at_most "$memory" 32768) |"
	echo "| the command, bytes | $size | 8388608 | $(at_most "$size" 8388608) |"
	echo "| the lab, every row in four configurations (TCG), s | $lab | 10 | $(at_most "$lab" 10) |"
	echo "| the lab, from starting QEMU to its first record (TCG), ms | $boot | 150 | $(at_most "$boot" 150) |"
}

write_head() {
	echo "# Precision, truth and cost"
	echo
	echo "Made by \`make bench\` ($(date -u +%Y-%m-%d), kentry $("$kentry" --version | cut -d' ' -f2)); peers:" \
		"$(perf --version 2>/dev/null || echo no perf), $(stress-ng --version 2>/dev/null | head -n 1 || echo no stress-ng)."
	echo
	echo '```'
	"$kentry" --entry call --budget 0.05 | sed -n '1,/^$/p' | sed '/^$/d; /^measured/d; /^clocks/d'
	echo '```'
	echo
}

main() {
	"${CC:-cc}" -O1 -Wall -o "$work/rss" bench/rss.c
	measure_spread
	measure_truth
	measure_cost
	{ write_head; write_spread; write_truth; write_cost; } >"$work/results"
	mv "$work/results" "$results"
	cat "$results"
}

main
