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
keys=/usr/share/keyrings/debian-archive-keyring.gpg

main() {
	if [ -z "$(find "$folder/bin" -maxdepth 0 -mtime -7 2>/dev/null)" ]; then
		make_anew || [ -d "$folder/bin" ] || exit 77
	fi
	echo "$folder"
}

# In a folder beside it, which takes its place when all is there.
make_anew() {
	command -v apt-get >/dev/null && [ -r $keys ] || { cannot "apt and Debian's keys are not here"; return; }
	local archive
	archive=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
	[ -n "$archive" ] || { cannot "apt knows no archive of Debian here (after apt-get update, it does)"; return; }
	mkdir -p "${folder%/*}"
	work=$(mktemp -d "$folder.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work"/{apt/lists/partial,apt/cache/archives/partial,new/root,new/bin}
	echo "deb [signed-by=$keys] $archive $suite main" >"$work/apt/sources.list"
	: >"$work/apt/status"
	apart apt-get update || { cannot "its lists cannot be fetched"; return; }
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

# apart COMMAND...: apt with a state of its own, in which nothing is installed.
apart() {
	local state=$work/apt
	"$1" -qq -o APT::Get::Assume-Yes=true -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::State::lists="$state/lists" \
		-o Dir::Cache="$state/cache" -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null -o Acquire::Languages=none -o APT::Install-Recommends=false \
		-o APT::Sandbox::User= "${@:2}" >&2
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

main
