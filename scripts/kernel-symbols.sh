#!/usr/bin/env bash
# Puts a kernel of a Debian suite into target/symbols/NAME/, without installing it: kernel.deb, which is what `--kernel` takes; vmlinux, the
# same with symbols and debug information, out of its -dbg package, which has some 350 MB for a cloud kernel and 1 GB for others; and the
# assembler sources of its entries, out of linux-source of the same version, which has some 140 MB. A release that has no -dbg package any
# longer is there without the last two: then only the tables in its file are held against.
#
#	scripts/kernel-symbols.sh SUITE [KIND]		KIND is cloud (the default), rt, or generic: the suite's newest
#	scripts/kernel-symbols.sh SUITE RELEASE		that one: 7.3.4+deb13-cloud-amd64
#
# Prints the folder, which is in the folder that KENTRY_ORACLE names, if it names one. What is there is made anew after a week.
# tests/anatomy_truth.rs holds anatomies of each kernel in target/symbols against it, and scripts/oracle.sh those of every kernel.
# Ends with 77 where it cannot be had; the last line on stderr says why.
set -euo pipefail

suite=${1:?usage: kernel-symbols.sh SUITE [KIND|RELEASE]}
kind=${2-cloud}
folder=${KENTRY_ORACLE:-$(cd "$(dirname "$0")/.." && pwd)/target/symbols}/$suite-$kind
. "$(dirname "$0")/apart.sh"

# In a folder beside it, which takes its place when all is there.
make_anew() {
	local release
	mkdir -p "${folder%/*}"
	work=$(mktemp -d "${folder%/*}/.fetch.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir "$work/new"
	set_apart "$work/apt" "$suite" || return
	release=$(newest)
	[ -n "$release" ] || { cannot "it has no kernel of that kind"; return; }
	fetch "linux-binary-$release" || fetch "linux-image-$release" || { cannot "the kernel $release cannot be fetched"; return; }
	mv "$work"/linux-*.deb "$work/new/kernel.deb"
	if fetch "linux-image-$release-dbg"; then
		unpack "$work"/linux-image-*-dbg_*.deb || { cannot "no vmlinux is in linux-image-$release-dbg"; return; }
		sources "$work/new/kernel.deb" || echo "kernel-symbols.sh: without the sources of $release: the assembler's code is not held" >&2
	elif [ "$kind" = "$release" ]; then
		echo "kernel-symbols.sh: there is no linux-image-$release-dbg: only the tables of the kernel's file can be held" >&2
	else
		cannot "there is no linux-image-$release-dbg"
		return
	fi
	# A file may be as old as it is on the server: its age here is how long ago it was fetched.
	touch "$work/new/kernel.deb"
	rm -rf "$folder"
	mv "$work/new" "$folder"
}

# The release that the suite's package of this kind depends on.
newest() {
	case $kind in
	generic) set -- linux-image-amd64 ;;
	cloud | rt) set -- "linux-image-$kind-amd64" ;;
	*) echo "$kind" && return ;;
	esac
	apart apt-cache depends "$1" 2>&1 | sed -n 's/^ *Depends: linux-image-\([0-9][^ ]*\).*/\1/p' | head -n 1
}

fetch() {
	(cd "$work" && apart apt-get download "$1") 2>/dev/null
}

# unpack PACKAGE: its vmlinux, which is in boot/ until Linux 6.12, and in lib/modules/ in packages of newer ones.
unpack() {
	dpkg-deb --fsys-tarfile "$1" | tar -x -C "$work/new" --wildcards --transform 's|.*/||' --no-anchored 'boot/vmlinux-*' 'modules/*/vmlinux' \
		2>/dev/null || true
	find "$work/new" -name 'vmlinux-*' -type l -delete
	find "$work/new" -name 'vmlinux-*' -exec mv {} "$work/new/vmlinux" \;
	[ -s "$work/new/vmlinux" ]
}

# sources KERNEL: the assembler's code of the entries, in the version of this package.
sources() {
	local version series
	version=$(dpkg-deb -f "$1" Version)
	series=$(echo "$version" | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')
	fetch "linux-source-$series=$version" || return
	dpkg-deb --fsys-tarfile "$work"/linux-source-*.deb | tar -x -O "./usr/src/linux-source-$series.tar.xz" |
		tar -x -J -C "$work/new" --wildcards --transform 's|.*/||' '*/arch/x86/entry/entry_64.S' '*/arch/x86/entry/entry_64_compat.S'
}

cannot() {
	echo "kernel-symbols.sh: the symbols of a kernel of Debian's $suite ($kind) cannot be had here: $1" >&2
	return 1
}

renew "$folder" kernel.deb
