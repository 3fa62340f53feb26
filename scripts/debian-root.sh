#!/usr/bin/env bash
# Makes a small Debian of this machine's suite, in which packages are tried: target/guest/debian-root.tar, with what reads manual pages and
# completes command lines.
#
# Prints the file's name. What is there is made anew after a week. Ends with 77 where it cannot be had; the last line on stderr says why.
set -euo pipefail

file=$(cd "$(dirname "$0")/.." && pwd)/target/guest/debian-root.tar
. "$(dirname "$0")/apart.sh"

make_anew() {
	local suite archive
	mkdir -p "${file%/*}"
	work=$(mktemp -d "$file.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	[ "$(id -u)" = 0 ] || { cannot "only root can make one"; return; }
	command -v debootstrap >/dev/null || { cannot "no debootstrap"; return; }
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	archive=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
	[ -n "$suite" ] && [ -n "$archive" ] || { cannot "this is no Debian, or its apt knows no archive (after apt-get update, it does)"; return; }
	debootstrap --variant=minbase --include=man-db,bash-completion,zsh,fish "$suite" "$work/root" "$archive" >"$work/log" 2>&1 ||
		{ cannot "debootstrap fails: $(tail -n 1 "$work/log")"; return; }
	# What was fetched for it is a third of its size.
	rm -rf "$work"/root/var/cache/apt "$work"/root/var/lib/apt/lists
	tar -C "$work/root" --one-file-system -cf "$work/tar" . || { cannot "tar fails"; return; }
	mv "$work/tar" "$file"
}

cannot() {
	echo "debian-root.sh: a Debian to try packages in cannot be had here: $1" >&2
	return 1
}

renew "$file"
