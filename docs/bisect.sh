#!/bin/sh
# Finds the commit that made a path through the kernel longer. `git bisect run` calls it in a tree of Linux; it builds the kernel, follows
# the path in QEMU, and says whether it is longer than it may be.
#
#	git bisect start BAD GOOD
#	git bisect run .../docs/bisect.sh LIMIT [ENTRY [OPTION...]]
#
# LIMIT is what --fail-above takes: 335, the most instructions that a good kernel executes, or work=60, the most of one part. ENTRY is what
# `kentry anatomy` takes (syscall if nothing is named), and the options are its own: --operation none --append pti=off
#
# BUILD is the command that builds, KERNEL the file that it leaves, KENTRY the kentry to follow with. A kernel that cannot be built, booted
# or followed is skipped, as git bisect does with status 125.
set -u

BUILD=${BUILD:-'make -s olddefconfig && make -s -j"$(nproc)" bzImage'}
KERNEL=${KERNEL:-arch/x86/boot/bzImage}
KENTRY=${KENTRY:-kentry}

if [ $# = 0 ]; then
	echo "usage: git bisect run $0 LIMIT [ENTRY [OPTION...]]" >&2
	exit 128 # git bisect stops
fi
limit=$1 entry=${2:-syscall}
shift
[ $# = 0 ] || shift

sh -c "$BUILD" || exit 125
"$KENTRY" anatomy "$entry" --kernel "$KERNEL" --beside none --format parts --fail-above "$limit" "$@"
case $? in
0) exit 0 ;;
1) exit 1 ;;
2) exit 128 ;; # A mistake in the command line would make every kernel bad.
130) exit 130 ;;
*) exit 125 ;;
esac
