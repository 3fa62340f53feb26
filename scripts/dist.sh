#!/usr/bin/env bash
# Packs the static command, in dist/: a tarball, packages of Debian's and of RPM's kind, an image for containers, a list of what is inside
# (SBOM), and SHA256SUMS of all. The same sources and tools give the same bytes: nothing has a name, a time or an order of this machine.
#
#	scripts/dist.sh COMMAND NAME		NAME is kentry-VERSION-TARGET
set -euo pipefail
cd "$(dirname "$0")/.."
command=$1 name=$2
# What comes before a version, `0.2.0-rc.1`, is older than it for both kinds of packages.
version=${name#kentry-} version=${version%-x86_64-*} version=${version/-/\~}
description=$(sed -n 's/^description = "\(.*\)"/\1/p' Cargo.toml)
stage=target/stage
umask 022
export LC_ALL=C

# What packages say of when they were made: the last commit's time; without history, and unless it is given, the epoch itself.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH

if readelf -l "$command" | grep -q INTERP; then
	echo "dist.sh: $command is not statically linked" >&2
	exit 1
fi

# What the packages hold, each where its kind of system looks for it.
stage() {
	rm -rf "$stage" dist
	mkdir -p dist
	install -D -m 755 "$command" "$stage/bin/kentry"
	scripts/assets.sh "$command" "$stage"
	scripts/sbom.py "$command" "$name" >"dist/$name.cdx.json"
	scripts/notices.py "dist/$name.cdx.json" >"$stage/share/doc/kentry/LICENSE-crates"
	settle "$stage"
}

# settle FOLDER: nothing there has this folder's group bit, or another time than the packages have.
settle() {
	chmod -R g-s "$1"
	find "$1" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
}

tarball() {
	tar -C target --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --transform "s,^stage,$name," -c stage |
		gzip -9n >"dist/$name.tar.gz"
}

# Debian has licences and changes in files of its own.
deb() {
	local tree=target/deb doc=target/deb/usr/share/doc/kentry
	rm -rf "$tree"
	mkdir -p "$tree/DEBIAN"
	cp -R "$stage" "$tree/usr"
	mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
	copyright >"$doc/copyright"
	gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
	rm "$doc"/{CHANGELOG.md,LICENSE-MIT,LICENSE-APACHE,LICENSE-spleen,LICENSE-uPlot}
	(cd "$tree" && find usr -type f | sort | xargs md5sum >DEBIAN/md5sums)
	sed "s/@VERSION@/$version/; s/@DESCRIPTION@/$description/; s/@KIB@/$(kib "$tree/usr")/" scripts/deb.control >"$tree/DEBIAN/control"
	settle "$tree"
	# By one thread: how many there are shows in what is packed.
	dpkg-deb --build --root-owner-group --threads-max=1 -Zxz "$tree" "dist/kentry_$version-1_amd64.deb" >&2
}

# What files and folders take, as Debian counts it, whatever the file system.
kib() {
	find "$1" -type f -printf '%s\n' -o -printf '1\n' | awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }'
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

# Without the macros of whoever packs.
rpm() {
	HOME=$PWD/target/rpm rpmbuild -bb --quiet --target x86_64 --define "_topdir $PWD/target/rpm" --define "_rpmdir $PWD/dist" \
		--define '_rpmfilename %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm' --define "stage $PWD/$stage" --define "version $version" \
		--define "about $description" scripts/kentry.spec >&2
}

stage
tarball
deb
rpm
scripts/image.sh "$stage" "$name"
(cd dist && sha256sum -- * >SHA256SUMS)
printf '%s\n' dist/*
