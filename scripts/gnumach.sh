#!/usr/bin/env bash
# Puts GNU Mach's kernels of Debian's packages into target/guest/gnumach/, without installing them: amd64-up and 486-up, which the Hurd
# boots, and amd64-up-dbg and 486-up-dbg, which have symbols, and the kernel's debugger. Beside each there is the version of its package,
# in NAME.version. And what programs for it are made with, in folders amd64 and i386: the headers (include), and mig, a command that makes C
# of an interface, as MIG's migcom does.
#
# Prints the folder. They are of Debian's newest suite, under the names that they have there. What is there is made anew after a week.
# Ends with 77 where they cannot be had; the last line on stderr says why.
set -euo pipefail

folder=$(cd "$(dirname "$0")/.." && pwd)/target/guest/gnumach
suite=unstable
. "$(dirname "$0")/apart.sh"

# In a folder beside it, which takes its place when all is there.
make_anew() {
	mkdir -p "${folder%/*}"
	work=$(mktemp -d "$folder.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir "$work/new"
	fetch amd64 amd64-up || return
	fetch i386 486-up || return
	develop amd64 mig-x86-64-gnu || return
	develop i386 mig-i686-gnu || return
	rm -rf "$folder"
	mv "$work/new" "$folder"
}

# fetch ARCHITECTURE KIND: the newest kernel of a kind, and the same with symbols.
fetch() {
	local kind package
	set_apart "$work/$1" "$suite" "$1" || return
	for kind in "$2" "$2-dbg"; do
		package=$(apart apt-cache pkgnames gnumach-image- 2>&1 | grep -xE -- "gnumach-image-[0-9.]+-$kind" | sort -V | tail -n 1)
		[ -n "$package" ] || { cannot "it has no $kind kernel"; return; }
		(cd "$work" && apart apt-get download "$package" && dpkg-deb -x "$package"_*.deb "$kind" &&
			gzip -dc "$kind"/boot/gnumach-*.gz >"new/$kind" && dpkg-deb -f "$package"_*.deb Version >"new/$kind.version") ||
			{ cannot "$package cannot be downloaded and unpacked"; return; }
	done
}

# develop ARCHITECTURE MIG: headers, and MIG with the C library that it needs, which is newer than this machine's may be.
develop() {
	local into=$work/new/$1 package loader
	state=$work/$1 architecture=$1
	mkdir "$into"
	for package in gnumach-dev "$2" libc6; do
		(cd "$work" && apart apt-get download "$package" && dpkg-deb -x "$package"_*_"$1".deb "$into/$package") ||
			{ cannot "$package cannot be downloaded and unpacked"; return; }
	done
	(cd "$into" && ln -s gnumach-dev/usr/include/*-linux-gnu include)
	loader=$(cd "$into" && ls libc6/usr/lib/*-linux-gnu/ld-linux*.so.2)
	printf '#!/bin/sh\ncd "${0%%/*}" && exec ./%s --library-path ./%s ./%s "$@"\n' "$loader" "${loader%/*}" \
		"$(cd "$into" && ls "$2"/usr/lib/mig/*-migcom)" >"$into/mig"
	chmod +x "$into/mig"
}

cannot() {
	echo "gnumach.sh: GNU Mach of Debian's $suite cannot be had here: $1" >&2
	return 1
}

renew "$folder" i386/mig
