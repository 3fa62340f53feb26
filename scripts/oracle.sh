#!/usr/bin/env bash
# Holds anatomies of many kernels of Debian against the truth (docs/anatomy.md, "How right it is"), one kernel after the other: fetches each with
# its symbols, follows ten paths and an execve through it, and prints the tables of that document.
#
#	scripts/oracle.sh [SUITE:KIND|SUITE:RELEASE]...	KIND is cloud, rt or generic; without a word: EVERY below
#
# Kernels and paths stay in target/oracle/, or in the folder that KENTRY_ORACLE names. What was followed before is told apart anew by what kentry
# is now, and not followed again, unless the tables of the kernel's file are all that is known of it. It takes some five minutes a kernel, and
# half a gigabyte; without a kernel's folder a newer one is fetched. replay.log says which instructions are in a wrong part.
#
# Ends with 1 where of a path more than 0.5 % are in a wrong part, or where one was not followed, and with 77 where not one kernel can be had.
set -euo pipefail
[ -z "${KENTRY_ORACLE-}" ] || KENTRY_ORACLE=$(realpath -m "$KENTRY_ORACLE")
cd "$(dirname "$0")/.."

# Debian's suites with the newest kernel of each kind, as far as they have one of their own; and of each series between them, of which Debian
# keeps no debug information, the last release, by the tables of its file alone.
EVERY=(
	{bullseye,bookworm,bookworm-backports,trixie,trixie-backports,forky,sid,experimental}:{cloud,generic,rt}
	trixie-backports:6.{16.12,17.13,18.15,19.14}+deb13-cloud-amd64
	trixie-backports:7.{0.13,1.13}+deb13-cloud-amd64
)

# As tests/anatomy_truth.rs names them.
PATHS=(syscall "no such call" "int80, 64-bit" "int80, 32-bit" sysenter "page fault" signal "timer interrupt" execve seccomp audit)

export KENTRY_ORACLE=${KENTRY_ORACLE:-$PWD/target/oracle}

main() {
	local kernel name names= failed=
	[ $# -gt 0 ] || set -- "${EVERY[@]}"
	mkdir -p "$KENTRY_ORACLE"
	for kernel; do
		name=${kernel/:/-}
		[ -e "$KENTRY_ORACLE/$name/kernel.deb" ] || scripts/kernel-symbols.sh "${kernel%%:*}" "${kernel#*:}" >/dev/null || continue
		names=$names${names:+,}$name
		is_followed "$name" || follow "$name" || failed=yes
	done
	[ -n "$names" ] || exit 77
	replay "$names" || failed=yes
	tables "$KENTRY_ORACLE/replay.log"
	[ -z "$failed" ]
}

# is_followed NAME: whether all its paths are there, and all that is needed to tell them apart anew.
is_followed() {
	local path
	[ -e "$KENTRY_ORACLE/$1/vmlinux" ] || return
	for path in "${PATHS[@]}"; do
		[ -s "$KENTRY_ORACLE/$1/$path.json" ] || return
	done
}

# follow NAME: all its paths; whether they are right, the replay says.
follow() {
	local log=$KENTRY_ORACLE/$1/log path
	echo "oracle.sh: following paths through $1" >&2
	rm -f "$KENTRY_ORACLE/$1"/*.json
	KENTRY_ORACLE_ONLY=$1 cargo test --locked --workspace --test across -- --nocapture --include-ignored anatomy_truth >"$log" 2>&1 || true
	for path in "${PATHS[@]}"; do
		[ -s "$KENTRY_ORACLE/$1/$path.json" ] || { echo "oracle.sh: the path $path of $1 was not followed: $log" >&2; return 1; }
	done
}

# replay NAME,NAME...
replay() {
	KENTRY_ORACLE_SHOW=yes KENTRY_ORACLE_ONLY=$1 cargo test --locked --workspace --test replay -- --nocapture --ignored \
		>"$KENTRY_ORACLE/replay.log" 2>&1 && return
	echo "oracle.sh: of a path too many instructions are in a wrong part: $KENTRY_ORACLE/replay.log" >&2
	return 1
}

# tables LOG: of its rows, a table of each kind of kernels, in the order of versions: wrong / held / with one right part alone / unknown; and of those
# that are held by the tables of their files alone, which say nothing of most instructions: wrong / held / all.
tables() {
	grep -oE '\| [0-9].* % \| [a-z ]+ \|$' "$1" | sort -t '|' -k2,2V -s | awk -F ' *[|] *' -v paths="$(printf '|%s' "${PATHS[@]}")" '
		function thousands(number) { return number < 1000 ? number : thousands(int(number / 1000)) sprintf(",%03d", number % 1000) }
		{
			kind = $9 == "tables" ? "tables" : $2 ~ /-cloud-/ ? "cloud" : $2 ~ /-rt-/ ? "rt" : "generic"
			name = $2
			sub(/-(cloud-|rt-)?amd64$/, "", name)
			if (!((kind, name) in known)) { known[kind, name]; names[kind] = names[kind] "|" name }
			rest = kind == "tables" ? thousands($4) : thousands($6) " / " thousands($4 - $5)
			cell[kind, name, $3] = thousands($7) " / " thousands($5) " / " rest
		}
		END {
			count = split(substr(paths, 2), path, "|")
			kinds = split("cloud|generic|rt|tables", all, "|")
			for (k = 1; k <= kinds; k++) {
				if (!(all[k] in names)) continue
				columns = split(substr(names[all[k]], 2), column, "|")
				head = "| " (all[k] == "tables" ? "path" : all[k])
				rule = "|---"
				for (c = 1; c <= columns; c++) { head = head " | " column[c]; rule = rule "|---" }
				print head " |\n" rule "|"
				for (p = 1; p <= count; p++) {
					line = "| " path[p]
					for (c = 1; c <= columns; c++) line = line " | " ((all[k], column[c], path[p]) in cell ? cell[all[k], column[c], path[p]] : "-")
					print line " |"
				}
				print ""
			}
		}'
}

main "$@"
