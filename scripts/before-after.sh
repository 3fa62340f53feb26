#!/usr/bin/env bash
# What two builds of the command write about the same documents, byte for byte: whatever a change was not meant to change is seen here.
#
#	scripts/before-after.sh OLD NEW DOCUMENT...
#
# OLD and NEW are commands; a DOCUMENT is a saved run, bill or anatomy, as --output FILE.json wrote it. Nothing is measured but by --dry-run,
# and nothing of the user's own runs is read. Prints a line for each command whose output or exit status differs, with the difference below it,
# and a count at the end. Ends with 1 if any differs.
set -euo pipefail

if [ $# -lt 3 ] || [ ! -x "$1" ] || [ ! -x "$2" ]; then
	echo "usage: scripts/before-after.sh OLD NEW DOCUMENT..., where OLD and NEW are commands" >&2
	exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# By one name, which help and messages have.
mkdir "$work"/{before,after}
ln -s "$(realpath "$1")" "$work/before/kentry"
ln -s "$(realpath "$2")" "$work/after/kentry"
old=$work/before/kentry new=$work/after/kentry
shift 2
mapfile -t documents < <(realpath "$@")
same=0 differ=0

# What a command writes and how it ends.
written() {
	local command=$1 status=0
	shift
	env -i PATH="$PATH" HOME="$work/home" XDG_DATA_HOME="$work/data" COLUMNS=100 TZ=UTC \
		timeout 60 "$command" "$@" </dev/null 2>&1 || status=$?
	echo "status $status"
}

# same ARGUMENT...: whether both say the same.
same() {
	written "$old" "$@" >"$work/old"
	written "$new" "$@" >"$work/new"
	if cmp -s "$work/old" "$work/new"; then
		same=$((same + 1))
		return
	fi
	differ=$((differ + 1))
	echo "== kentry $*"
	diff -U1 "$work/old" "$work/new" | sed 1,2d || true
}

# The subcommands, as the shell is told of them.
subcommands() {
	"$new" completions bash | sed -n 's/^ *kentry,\([a-z-]*\))$/\1/p' | sort -u
}

for format in text json csv markdown parts tree listing svg folded; do
	for document in "${documents[@]}"; do
		for more in "" --all --verbose; do
			same show "$document" --format "$format" ${more:+"$more"}
		done
	done
done
for document in "${documents[@]}"; do
	same report "$document" --output -
	for other in "${documents[@]}"; do
		for format in text json csv markdown junit ktap; do
			same compare "$document" "$other" --format "$format"
		done
	done
done
for format in text json csv markdown; do
	same list --format "$format"
	same list --lab --format "$format"
	same reproduce --list --format "$format"
done
for subcommand in "" $(subcommands); do
	same ${subcommand:+"$subcommand"} -h
	same ${subcommand:+"$subcommand"} --help
	same ${subcommand:+"$subcommand"} --no-such-option
done
# Entries, and from JSON whatever else has a name.
for word in $({ "$new" list --lab --format csv | cut -d, -f2; "$new" list --lab --format json | sed -n 's/^ *"name": "\(.*\)",*$/\1/p'; } | sort -u); do
	same explain "$word"
done
for arguments in "lab" "bill" "linux" "anatomy syscall" "lab --set pti=maybe" "bill --set pti" "explain nothing-of-that-name"; do
	# shellcheck disable=SC2086 # these are words
	same $arguments --dry-run
done

echo "$((same + differ)) commands, $differ differ"
[ "$differ" = 0 ]
