# Sourced by the test scripts: how a check is made, counted and reported.
#
#	check NAME EXPECTED-STATUS COMMAND...	runs it, for 120 seconds at most unless $limit says; the status must be that. Its output is
#						in $out and $err.
#	expect PATTERN				the last command's output or complaint must match (extended regex)
#	refuse PATTERN				must not match
#	skip NAME WHY
#	example NAME				builds this example of a crate's, which is $example then. It may take a while, on a machine that does other
#						things
#	has_terminals				whether this machine gives programs terminals of their own; $why says why not
#	finish					prints the sums and exits

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kentry=${KENTRY:-$root/target/x86_64-unknown-linux-gnu/debug/kentry}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$work/out err=$work/err
passed=0 failed=0 skipped=0 current=

# What is measured here is not kept among the runs of whoever runs the tests.
export XDG_DATA_HOME=$work/data

# No run in these tests needs precision, and noise must not make it longer.
quick=(--budget 0.05 --strict-budget)

check() {
	current=$1
	local expected=$2 status=0
	shift 2
	timeout "${limit-120}" "$@" >"$out" 2>"$err" </dev/null || status=$?
	if [ "$status" = "$expected" ]; then
		pass
	else
		fail "status $status instead of $expected: $*"
	fi
	if grep -q "panicked" "$err"; then fail "panicked"; fi
}

expect() {
	if grep -Eqh -- "$1" "$out" "$err"; then pass; else fail "no match for: $1"; fi
}

refuse() {
	if grep -Eqh -- "$1" "$out" "$err"; then fail "unwanted match for: $1"; else pass; fi
}

pass() {
	passed=$((passed + 1))
}

fail() {
	failed=$((failed + 1))
	echo "FAILED $current: $1"
	head -n 12 "$err" "$out" 2>/dev/null | cut -c1-200 | sed 's/^/    /'
}

skip() {
	skipped=$((skipped + 1))
	echo "skipped $1: $2"
}

# Of the whole workspace, whose crates the tests have compiled already: for one of them, cargo would compile dependencies again, with fewer
# features. From the checkout, whose configuration names the target.
example() {
	example=${CARGO_TARGET_DIR:-$root/target}/x86_64-unknown-linux-gnu/debug/examples/$1
	check "the example $1" 0 env -C "$root" cargo build --quiet --locked --workspace --example "$1"
}

# A chroot without /dev/pts has none.
has_terminals() {
	why="no terminal can be had here (openpty: no /dev/pts?)"
	script -qec true /dev/null </dev/null >/dev/null 2>&1
}

# outcome ENTRY OPERATION: from the JSON document in $out
outcome() {
	tr -d '\n' <"$out" | sed 's/{ *"entry"/\n&/g' | grep "\"entry\": \"$1\",.*\"operation\": \"$2\"," |
		sed 's/.*"outcome": "\([a-z]*\)".*/\1/'
}

expect_outcome() {
	local found
	found=$(outcome "$1" "$2")
	if [ "$found" = "$3" ]; then pass; else fail "$1 $2 is '$found' instead of '$3'"; fi
}

finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
	exit
}
