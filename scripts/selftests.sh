#!/usr/bin/env bash
# Builds tests that Linux 6.1 brings for its own entries, from Debian's linux-source-6.1: tools/testing/selftests/x86, as 64-bit and
# as 32-bit programs, and seccomp's. Not part of the tests by default, because the source has 130 MB; `make selftests` asks for it,
# and tests/guest.sh runs them in guests where they are there (`kentry linux --exec`).
#
#	scripts/selftests.sh		builds them into target/guest/selftests, unless they are there
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/linux-source.sh"
folder=$root/target/guest/selftests

[ ! -d "$folder" ] || { echo "$folder"; exit; }
"$root/scripts/need.sh" selftests >&2
mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT

cd "$work"
unpack_source tools/testing/selftests arch/x86/include
mkdir built
# A compiler for one architecture has the kernel's headers in a folder of that, where one for 32-bit programs does not look.
cc="gcc -w -idirafter /usr/include/$(gcc -print-multiarch)"
for subject in x86 seccomp; do
	# What a compiler of another version cannot build is missed by the tests, which say so.
	make -s -k -C "$source_package/tools/testing/selftests/$subject" OUTPUT="$work/built" CC="$cc" >&2 || true
done
[ -x built/syscall_nt_64 ] || { echo "selftests.sh: not one test was built" >&2; exit 1; }
mv built "$folder"
echo "$folder"
