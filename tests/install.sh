#!/usr/bin/env bash
# `make install` from what was built, where there is no cargo: as root's shell often is.
set -uo pipefail
. "$(dirname "$0")/check.sh"

mkdir "$work/tools"
for tool in bash sh env make install gzip dirname sed rm cat; do
	ln -s "$(command -v "$tool")" "$work/tools/$tool"
done
make=(env PATH="$work/tools" make -C "$root" --no-print-directory install PREFIX=/usr)

# What everybody is to read does not depend on the umask of whoever installs.
check "install without cargo" 0 bash -c 'umask 077; exec "$@"' - "${make[@]}" DESTDIR="$work/there" KENTRY="$kentry"
check "for everybody to read" 0 bash -c '[ -z "$(find "$1" ! -perm -444 -o -perm /022)" ]' - "$work/there/usr"
check "the command works" 0 "$work/there/usr/bin/kentry" --version
for file in man/man1/kentry.1.gz man/man1/kentry-explain.1.gz man/man1/kentry-compare.1.gz man/man1/kentry-linux.1.gz bash-completion/completions/kentry \
	zsh/site-functions/_kentry fish/vendor_completions.d/kentry.fish doc/kentry/run.schema.json doc/kentry/compare.schema.json \
	doc/kentry/checkup.schema.json; do
	check "$file" 0 test -s "$work/there/usr/share/$file"
done
check "nothing was built" 2 "${make[@]}" DESTDIR="$work/nowhere" KENTRY="$work/none"
expect "none yet: build it first, with 'make build'"
check "nothing is installed then" 1 test -e "$work/nowhere"
finish
