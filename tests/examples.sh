#!/bin/bash
# Every example of entries.toml's rows builds and does what it says. tests/layout.rs looks at their texts.
#
#   tests/examples.sh [name...]     all entries, or the named ones
#
# An example says `hello through <name>` and leaves with 0, or `closed: <why>` and leaves with 77. Those of entries that
# the lab alone has must be closed here.
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob

always_open=' call syscall-x86_64 rdtsc ud lock-nop int3 div0 page-fault '
closed_status=77
cannot_exec_status=126 # the shell's answer when the kernel does not know the format: no 32-bit programs
seconds=10

passed=0 failed=0 skipped=0
pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); printf 'FAIL %s\n' "$*"; }
skip() { skipped=$((skipped + 1)); printf 'skip %s\n' "$*"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The name of every [[entry]] row, in order.
entry_names() {
	awk -F'"' '/^\[\[/ { entry = /^\[\[entry\]\]/ } entry && /^name[ \t]*=/ { print $2 }' entries.toml
}

# The names of the rows that the lab alone has.
lab_only_names() {
	awk -F'"' '/^\[\[/ { entry = /^\[\[entry\]\]/ } entry && /^name[ \t]*=/ { name = $2 }
		entry && /^kernels[ \t]*=[ \t]*\["lab(-i386)?"\]/ { print name }' entries.toml
}

is_lab_only() {
	grep -qxF "$1" "$work/lab_only"
}

# check_example NAME COMPILER: builds docs/examples/NAME.S by the command in its first line, and runs it.
check_example() {
	local name=$1 compiler=$2 source=docs/examples/$1.S
	local dir=$work/$1.$2 command status=0 output
	if [[ ! -f $source ]]; then
		fail "$name: $source is missing"
		return
	fi
	command=$(sed -n '1s,^// \(gcc .* -o hello hello\.S\)$,\1,p' "$source")
	if [[ -z $command ]]; then
		fail "$name: the first line of $source is no build command"
		return
	fi
	mkdir "$dir"
	cp "$source" "$dir/hello.S"
	if ! (cd "$dir" && ${command/#gcc/$compiler}) >"$dir/log" 2>&1; then
		fail "$name ($compiler): does not build"
		sed 's/^/  /' "$dir/log"
		return
	fi
	(cd "$dir" && timeout "$seconds" ./hello) >"$dir/out" 2>"$dir/log" || status=$?
	output=$(head -n 1 "$dir/out")
	if is_lab_only "$name" && [[ $status == "$closed_status" && $output == 'closed: '* ]]; then
		pass
	elif ! is_lab_only "$name" && [[ $status == 0 && $output =~ ^"hello through $name"(:|$) ]]; then
		pass
	elif [[ $status == "$closed_status" && $output == 'closed: '* && $always_open != *" $name "* ]]; then
		skip "$name ($compiler): $output"
	elif [[ $status == "$cannot_exec_status" && $name == *-i386 ]]; then
		skip "$name ($compiler): this kernel runs no 32-bit programs"
	else
		fail "$name ($compiler): status $status, said '$output'"
		sed 's/^/  /' "$dir/log"
	fi
}

# check_strays: no text and no example without a row.
check_strays() {
	local file name
	for file in docs/entries/* docs/examples/*; do
		name=$(basename "$file")
		if grep -qxF "${name%.*}" "$work/names"; then
			pass
		else
			fail "$file belongs to no row of entries.toml"
		fi
	done
}

compilers=(gcc)
if command -v clang >/dev/null; then
	compilers+=(clang)
fi

entry_names >"$work/names"
lab_only_names >"$work/lab_only"
if [[ ! -s $work/names ]]; then
	fail 'entries.toml has no entries'
fi
if (($#)); then
	names=("$@")
else
	mapfile -t names <"$work/names"
	check_strays
fi
for name in "${names[@]}"; do
	for compiler in "${compilers[@]}"; do
		check_example "$name" "$compiler"
	done
done

printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
