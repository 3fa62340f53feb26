#!/usr/bin/env bash
# Every command that README.md and the pages with examples show after a "$ " runs as it stands, and every file that a page links to exists.
set -uo pipefail
. "$(dirname "$0")/check.sh"

mkdir "$work/bin" "$work/here"
ln -s "$kentry" "$work/bin/kentry"
cd "$work/here" || exit 1
# The kernel that examples boot, by the name that these give it, whatever it is.
kernel=$("$root/scripts/kernels.sh" cloud 2>"$err") && ln -s "$kernel" vmlinuz-6.1
commands=0
while IFS= read -r line; do
	commands=$((commands + 1))
	if [[ $line == *vmlinuz-6.1* && ! -e vmlinuz-6.1 ]]; then
		skip "$line" "$(tail -n 1 "$err")"
		continue
	fi
	check "$line" 0 env PATH="$work/bin:$PATH" bash -c "$line"
	if [ -s "$out" ] || [[ $line == *--output* ]]; then pass; else fail "printed nothing"; fi
done < <(cd "$root" && sed -n '/^```console$/,/^```$/s/^\$ //p' README.md docs/{compare,linux,bill,anatomy,reproduce,doctor}.md)
current="commands in README.md and docs"
if [ "$commands" -ge 12 ]; then pass; else fail "only $commands found"; fi

cd "$root" || exit 1
for document in README.md ARCHITECTURE.md CONTRIBUTING.md docs/*.md; do
	while IFS= read -r link; do
		current="$document links to $link"
		if [ -e "$(dirname "$document")/$link" ]; then pass; else fail "no such file"; fi
	done < <(grep -o '](\([^)#]*\))' "$document" | sed 's/](\(.*\))/\1/' | grep -v '^http')
done
finish
