#!/usr/bin/env bash
# Puts gVisor's runsc, of Debian's current stable suite, into target/runsc/, without installing anything: the package is unpacked.
#
# Prints the program's path. Ends with 77 where it cannot be had; the last line on stderr says why.
set -euo pipefail

folder=$(cd "$(dirname "$0")/.." && pwd)/target/runsc
. "$(dirname "$0")/apart.sh"

# In a folder beside it, which takes its place when all is there.
make_anew() {
	mkdir -p "${folder%/*}"
	work=$(mktemp -d "$folder.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	set_apart "$work/apt" stable || return
	(cd "$work" && apart apt-get download runsc && dpkg-deb -x runsc_*.deb new) || { cannot "its package cannot be fetched"; return; }
	rm -rf "$folder"
	mv "$work/new" "$folder"
}

cannot() {
	echo "runsc.sh: gVisor cannot be had here: $1" >&2
	return 1
}

echo "$(renew "$folder")/usr/bin/runsc"
