#!/usr/bin/env bash
# Packs the static command, in dist/: a tarball, packages of Debian's and of RPM's kind, an image for containers, a list of what is inside
# (SBOM), and SHA256SUMS of all. The same sources and tools give the same bytes: nothing has a name, a time or an order of this machine.
#
#	scripts/dist.sh COMMAND NAME		NAME is kentry-VERSION-TARGET
set -euo pipefail
cd "$(dirname "$0")/.."
command=$1 name=$2
tools=$PWD/target/tools/bin stage=target/stage
umask 022
export LC_ALL=C

# What packages say of when they were made: the last commit's time; without history, and unless it is given, the epoch itself.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH

if readelf -l "$command" | grep -q INTERP; then
	echo "dist.sh: $command is not statically linked" >&2
	exit 1
fi

# What the packages hold, as crates/kentry/Cargo.toml tells it for each kind.
stage() {
	rm -rf "$stage" dist
	mkdir -p dist
	install -D -m 755 "$command" "$stage/bin/kentry"
	scripts/assets.sh "$command" "$stage"
	scripts/sbom.py "$command" "$name" >"dist/$name.cdx.json"
	scripts/notices.py "dist/$name.cdx.json" >"$stage/share/doc/kentry/LICENSE-crates"
}

tarball() {
	tar -C target --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --transform "s,^stage,$name," -c stage |
		gzip -9n >"dist/$name.tar.gz"
}

deb() {
	mkdir "$stage/debian"
	copyright >"$stage/debian/copyright"
	gzip -9n <CHANGELOG.md >"$stage/debian/changelog.gz"
	"$tools/cargo-deb" --quiet --no-build --no-strip --locked --package kentry --target "${name#kentry-*-}" --profile dist --output dist/
}

# The licences as Debian wants them told, in one file.
copyright() {
	echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
	echo "Upstream-Name: kentry"
	paragraph '*' "$(copyright_of LICENSE-MIT)" "MIT or Apache-2.0"
	echo "Comment: Crates that are linked in have theirs in LICENSE-crates, beside this file."
	paragraph lab/serial/font.c "$(copyright_of lab/serial/LICENSE-spleen)" BSD-2-Clause
	paragraph 'crates/report/assets/uplot/*' "$(copyright_of crates/report/assets/uplot/LICENSE-uPlot)" MIT
	licence MIT LICENSE-MIT
	licence BSD-2-Clause lab/serial/LICENSE-spleen
	printf '\nLicense: Apache-2.0\n On Debian systems, it is in /usr/share/common-licenses/Apache-2.0.\n'
}

copyright_of() {
	sed -n 's/^Copyright (c) //p' "$1"
}

paragraph() {
	printf '\nFiles: %s\nCopyright: %s\nLicense: %s\n' "$@"
}

# licence NAME FILE: without the lines above its terms
licence() {
	printf '\nLicense: %s\n' "$1"
	sed '1,/^\(Permission\|Redistribution\)/{/^\(Permission\|Redistribution\)/!d}; s/^$/./; s/^/ /' "$2"
}

rpm() {
	"$tools/cargo-generate-rpm" --package crates/kentry --output dist/ >&2
}

stage
tarball
deb
rpm
scripts/image.sh "$stage" "$name"
(cd dist && sha256sum -- * >SHA256SUMS)
printf '%s\n' dist/*
