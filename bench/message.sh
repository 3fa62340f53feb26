#!/usr/bin/env bash
# What a round trip of GNU Mach's to a server consists of, in the lab: tables in Markdown, of rows that one run measured.
#
#	bench/message.sh [--i386] [--bochs] [ENTRY...]	of syscall-x86_64 and lcall7-i386, or these entries; --bochs: in Bochs, which has PCID;
#						--i386: of lcall7-i386 in the kernel of protected mode
#	bench/message.sh [--i386] --parts [ENTRY...]	by where the instructions are, instead of by rows (message_parts.py)
#
# Each line names the rows that it is of. The first three add up to the whole; behind it is what the switches of address spaces are of it, and
# what a message with more costs besides.
# An emulator counts instructions, and each turn of a `rep movs` as one: such counts rank no cost.
set -euo pipefail
cd "$(dirname "$0")/.."

kentry=${KENTRY:-$PWD/target/x86_64-unknown-linux-gnu/release/kentry}
where=(--accel tcg) sets=(--set pti=off --set pti=on)
by=rows lab_kernel=x86_64 entries=(syscall-x86_64 lcall7-i386) identifiers=(--set pti=on,pcid=keep)
if [ "${1-}" = --i386 ]; then
	lab_kernel=i386 entries=(lcall7-i386) identifiers=()
	shift
fi
case ${1-} in
--bochs)
	where=(--bochs) sets+=("${identifiers[@]}")
	shift
	;;
--parts)
	by=parts
	shift
	;;
esac
[ $# -gt 0 ] || set -- "${entries[@]}"

if [ $by = parts ]; then
	for entry; do
		KENTRY=$kentry python3 bench/message_parts.py --lab-kernel "$lab_kernel" "$entry"
	done
	exit
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_DATA_HOME=$folder

"$kentry" lab --lab-kernel "$lab_kernel" --personality mach "${where[@]}" "${sets[@]}" "${@/#/--entry=}" --name message >"$folder/text" 2>"$folder/said" ||
	{ cat "$folder/said" >&2; exit 1; }
"$kentry" show message --format csv >"$folder/csv" 2>>"$folder/said"
# "lab    kentry's own kernel 0.1.0 in QEMU 7.2.22 with TCG, CPU model max,..."
emulator=$(sed -n '1s/^lab .* in \(.*\), CPU model .*/\1/p' "$folder/text")
[ -n "$emulator" ] || { echo "message.sh: the run does not say what counted" >&2; exit 1; }

table() {
	printf '\n%s, instructions counted in %s:\n\n' "$1" "$emulator"
	awk -v entry="$1" -F, '
		function value(name, set) {
			if ((name, set) in counted) return counted[name, set]
			printf "message.sh: no count of %s by %s with %s\n", name, entry, set >"/dev/stderr"
			failed = 1
			exit 1
		}
		function null(set) { return value("mach_msg-null", set) }
		function own(set) { return value("mach_msg-send-receive", set) }
		function rpc(what, set) { return value("mach_msg-rpc" what, set) }
		function part(which, set) {
			if (which == 1) return 2 * null(set)
			if (which == 2) return 2 * (own(set) - null(set))
			if (which == 3) return rpc("", set) - 2 * own(set)
			if (which == 4) return rpc("", set)
			if (which == 5) return rpc("", set) - rpc("-thread", set)
			if (which == 6) return (rpc("-4096", set) - rpc("-1024", set)) / 3
			return rpc("-right", set) - rpc("", set)
		}
		{ gsub(/"[^"]*"/, "") }
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$1 == entry && $column["outcome"] == "ok" && $column["instructions_estimate"] != "" {
			match($column["configuration"], /pti=[a-z]+/)
			set = substr($column["configuration"], RSTART, RLENGTH)
			match($column["configuration"], /pcid=[a-z]+/)
			identifiers = substr($column["configuration"], RSTART, RLENGTH)
			if (identifiers != "pcid=off") set = set " " identifiers
			if (!(set in known)) { known[set]; sets[++count] = set }
			counted[$3, set] = $column["instructions_estimate"]
		}
		END {
			if (failed) exit 1
			what[1] = "two traps that find nothing to do | 2 `mach_msg-null`"
			what[2] = "a header sent and received, twice | 2 (`mach_msg-send-receive` − `mach_msg-null`)"
			what[3] = "all else: the other task, two switches, the right to answer | `mach_msg-rpc` − 2 `mach_msg-send-receive`"
			what[4] = "**the whole** | `mach_msg-rpc`"
			what[5] = "of it two switches of address spaces | `mach_msg-rpc` − `mach_msg-rpc-thread`"
			what[6] = "each 1024 bytes more, there and back | (`mach_msg-rpc-4096` − `mach_msg-rpc-1024`) / 3"
			what[7] = "a right, there and back | `mach_msg-rpc-right` − `mach_msg-rpc`"
			head = "| part | of these rows |"
			rule = "|---|---|"
			for (i = 1; i <= count; i++) { head = head " " sets[i] " |"; rule = rule "---:|" }
			if (!count) value("mach_msg-null", "any")
			for (which = 1; which <= 7; which++) {
				line[which] = "| " what[which] " |"
				for (i = 1; i <= count; i++)
					line[which] = line[which] sprintf(which == 6 ? " %.1f |" : " %d |", part(which, sets[i]))
			}
			print head "\n" rule
			for (which = 1; which <= 7; which++) print line[which]
		}' "$folder/csv"
}

for entry; do
	table "$entry"
done
