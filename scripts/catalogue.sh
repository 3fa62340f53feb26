#!/usr/bin/env bash
# Makes what stands in docs/catalogue/ anew: a summary of each kernel that Debian offers, in instructions, and of this machine, in time.
# What is there already stays; remove a file to have it made again. Packages are fetched one at a time and unpacked by kentry; none is
# installed, and none is kept.
#
#	scripts/catalogue.sh [machine] [kernels [SUITE...]]	without a word: kernels
#
#	machine		measures this machine into machine-MODEL-KERNEL.ndjson.gz; quiet it first (docs/method.md)
#	kernels		boots the kernels of these suites of Debian in QEMU, into linux-RELEASE.ndjson.gz: for cloud machines, for any machine,
#			and with real-time preemption. Without a suite: those that this machine's apt knows, and those of Debian 11 to 13,
#			testing and unstable. Takes about ten seconds a kernel, besides its download
#
# KENTRY=FILE is the kentry to measure with; otherwise the release build. Ends with 77 when not one kernel can be had here.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
kentry=${KENTRY:-$root/target/x86_64-unknown-linux-gnu/release/kentry}
folder=$root/docs/catalogue
suites=(bullseye bookworm trixie testing unstable trixie-backports)
. "$root/scripts/apart.sh"

main() {
	[ $# -gt 0 ] || set -- kernels
	[ -x "$kentry" ] || { echo "catalogue.sh: there is no $kentry; build it first (cargo build --release), or name one: KENTRY=FILE" >&2 && exit 2; }
	mkdir -p "$root/target"
	work=$(mktemp -d "$root/target/catalogue.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$folder"
	if [ "$1" = machine ]; then
		this_machine
		shift
	fi
	case ${1-} in
	"") ;;
	kernels) shift && kernels "$@" ;;
	*) sed -n 's/^#\t\(scripts.*\)\t.*/usage: \1/p' "$0" >&2 && exit 2 ;;
	esac
}

# Under the processor's name and the kernel's release, which together tell machines apart well enough for names of files.
this_machine() {
	local model
	model=$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)
	"$kentry" measure --all --no-save --output "$work/run.json"
	keep "machine-$(tr -cs 'A-Za-z0-9\n' - <<<"$model")-$(uname -r)"
}

kernels() {
	local suite made=
	if [ $# = 0 ]; then
		set -- "${suites[@]}"
		offered apt-cache >"$work/offered"
		measure_each apt-get && made=yes
	fi
	for suite; do
		set_apart "$work/apt-$suite" "$suite" || continue
		offered apart_out apt-cache >"$work/offered"
		measure_each apart apt-get && made=yes
	done
	[ -n "$made" ] || { echo "catalogue.sh: not one kernel can be had here" >&2 && exit 77; }
}

# What apt-cache answers, which `apart` sends to stderr.
apart_out() {
	apart "$@" 2>&1
}

# offered APT-CACHE...: the releases that an apt knows, the oldest first. Packages with two numbers alone name the newest one.
offered() {
	"$@" pkgnames linux-image- | sed -nE 's/^linux-image-([0-9]+\.[0-9]+\.[0-9]+[-+.a-z0-9]*-amd64)$/\1/p' | sort -uV
}

# measure_each APT-GET...: measures the kernels that are offered. Fails when there is none that was measured, now or before.
measure_each() {
	local release some=
	while read -r release; do
		if [ -s "$folder/linux-$release.ndjson.gz" ] || measure_kernel "$release" "$@"; then
			some=yes
		fi
	done <"$work/offered"
	[ -n "$some" ]
}

# measure_kernel RELEASE APT-GET...: since Linux 7 a kernel's file is in a package of its own, and archives keep some kernels without a
# signature alone.
measure_kernel() {
	local release=$1 package
	shift
	for package in "linux-binary-$release" "linux-image-$release" "linux-image-$release-unsigned"; do
		rm -f "$work"/*.deb
		(cd "$work" && "$@" download "$package") >/dev/null 2>&1 || continue
		"$kentry" linux --kernel "$work/$package"_*.deb --accel tcg --all --no-save --output "$work/run.json" </dev/null || continue
		# One that boots and starts no probe has nothing to say.
		grep -q '"outcome": "ok"' "$work/run.json" || break
		keep "linux-$release"
		return
	done
	echo "catalogue.sh: $release cannot be fetched, or nothing of it can be measured here" >&2
	return 1
}

# keep NAME: as a catalogue publishes it, without a time of packing, so that the same summary is the same file.
keep() {
	rm -rf "$work/site"
	"$kentry" catalogue --output "$work/site" "$work/run.json"
	gzip -n9 <"$work"/site/data/*.ndjson >"$work/summary"
	mv "$work/summary" "$folder/$1.ndjson.gz"
	echo "$folder/$1.ndjson.gz"
}

cannot() {
	echo "catalogue.sh: kernels of another suite cannot be had here: $1" >&2
	return 1
}

main "$@"
