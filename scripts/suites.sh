#!/usr/bin/env bash
# Puts the emulators of another suite of Debian into target/suites/SUITE/, without installing anything: QEMU, Bochs with its firmware,
# and the suite's kernel for cloud machines. Packages are unpacked, none of their scripts is run, and no root is needed.
#
#	scripts/suites.sh SUITE		stable, unstable, or the name of one
#
# Prints the folder. Its bin/ goes before everything else in PATH; its kernel.deb is what `--kernel` takes. What is there is made anew
# after a week. Ends with 77 where it cannot be had; the last line on stderr says why.
set -euo pipefail

suite=${1:?usage: suites.sh SUITE}
folder=$(cd "$(dirname "$0")/.." && pwd)/target/suites/$suite
packages=(qemu-system-x86 bochs bochsbios vgabios bochs-term)
. "$(dirname "$0")/apart.sh"

# In a folder beside it, which takes its place when all is there.
make_anew() {
	mkdir -p "${folder%/*}"
	work=$(mktemp -d "$folder.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work"/new/{root,bin}
	set_apart "$work/apt" "$suite" || return
	apart apt-get --download-only install "${packages[@]}" || { cannot "its packages cannot be fetched"; return; }
	for package in "$work"/apt/cache/archives/*.deb; do
		dpkg-deb -x "$package" "$work/new/root" || { cannot "$package cannot be unpacked"; return; }
	done
	fetch_kernel || { cannot "its kernel cannot be fetched"; return; }
	wrap qemu-system-x86_64 'QEMU_MODULE_DIR=$lib/qemu' '-L "$root/usr/share/qemu" -L "$root/usr/share/seabios"'
	wrap bochs 'BXSHARE=$root/usr/share/bochs LTDL_LIBRARY_PATH=$lib/bochs/plugins' -q
	rm -rf "$folder"
	mv "$work/new" "$folder"
}

# The package that the suite's newest kernel for cloud machines is in, which has been another one since Linux 7.
fetch_kernel() {
	local release package
	release=$(apart apt-cache depends linux-image-cloud-amd64 2>&1 | sed -n 's/^ *Depends: linux-image-\([0-9][^ ]*\).*/\1/p' | head -n 1)
	for package in "linux-binary-$release" "linux-image-$release"; do
		(cd "$work" && apart apt-get download "$package") 2>/dev/null && mv "$work/$package"_*.deb "$work/new/kernel.deb" && return
	done
}

# wrap PROGRAM SETTINGS ARGUMENTS: a script that runs a program of the folder by the folder's own loader, with its own libraries.
wrap() {
	local program=$1 settings=$2 arguments=$3
	[ ! -e "$work/new/root/usr/bin/$program-bin" ] || program=$program-bin
	cat >"$work/new/bin/$1" <<END
#!/bin/sh
root=\${0%/*}/../root
lib=\$root/usr/lib/x86_64-linux-gnu
export $settings
exec "\$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "\$lib:\$root/lib/x86_64-linux-gnu" "\$root/usr/bin/$program" $arguments "\$@"
END
	chmod +x "$work/new/bin/$1"
}

cannot() {
	echo "suites.sh: the emulators of Debian's $suite cannot be had here: $1" >&2
	return 1
}

renew "$folder" bin
