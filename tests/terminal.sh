#!/usr/bin/env bash
# What `kentry explain` does on a terminal: width, color, pager.
set -uo pipefail
. "$(dirname "$0")/check.sh"

if ! command -v script >/dev/null; then
	skip "explain on a terminal" "no script(1) here (Debian: bsdutils)"
	finish
fi
has_terminals || { skip "explain on a terminal" "$why"; finish; }

# on_terminal NAME ROWS COMMAND: on a terminal of 70 columns, in an environment that says nothing of pager and color
on_terminal() {
	check "$1" 0 env -u PAGER -u KENTRY_PAGER -u NO_COLOR -u LESS TERM=xterm LC_ALL=C.UTF-8 kentry="$kentry" \
		script -qec "stty rows $2 cols 70; $3" /dev/null
	tr -d '\r' <"$out" >"$work/plain" && mv "$work/plain" "$out"
}

paged="sed s/^/paged:/"
escape=$(printf '\033')
on_terminal "a pager for long text" 20 "PAGER='$paged' \$kentry explain syscall"
expect '^paged:.*History'
expect "$escape\\[1m"
refuse '## '
on_terminal "a pager of our own" 20 "PAGER=false KENTRY_PAGER='$paged' \$kentry explain syscall"
expect '^paged:.*History'
on_terminal "no pager for what fits" 20000 "PAGER='$paged' \$kentry explain syscall"
expect 'History'
refuse '^paged:'
for none in "''" cat; do
	on_terminal "no pager ($none)" 20 "PAGER=$none \$kentry explain syscall"
	expect 'History'
done
on_terminal "a pager that is not there" 20 "PAGER=/nonexistent/pager \$kentry explain syscall"
expect 'History'
on_terminal "a pager that is left early" 20 "PAGER='head -n 3' \$kentry explain '*'"
refuse 'History.*History|Broken pipe'
on_terminal "no color" 20 "NO_COLOR=1 PAGER='$paged' \$kentry explain rdtsc"
expect '^paged:  .*`rdtsc`'
refuse "$escape"
widest=$(sed s/^paged:// "$out" | wc -L)
if [ "$widest" -le 70 ] && [ "$widest" -gt 60 ]; then pass; else fail "$widest columns"; fi
on_terminal "a dumb terminal" 20 "TERM=dumb PAGER=cat \$kentry explain rdtsc"
refuse "$escape"
on_terminal "color on a dumb terminal" 20 "TERM=dumb PAGER=cat \$kentry explain rdtsc --color always"
expect "$escape\\[1m"
# It would be half a megabyte of markup.
check "a page of HTML" 2 env TERM=xterm kentry="$kentry" script -qec '$kentry report ./none.json' /dev/null
expect 'not for a terminal: name a file for it, such as -o report.html'
finish
