#!/usr/bin/env bash
# Compiles program.c with GNU Mach's headers, and with what MIG makes of the interfaces that it uses.
#
#	compile.sh FOLDER BITS MADE	FOLDER is scripts/gnumach.sh's for an architecture; MADE is made, and has the program
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1 bits=$2 made=$3

mkdir "$made"
flags=(-m"$bits" -nostdinc -isystem "$folder/include")
for interface in mach/mach mach/mach_port mach/mach_host device/device; do
	name=$made/${interface#*/}_user
	gcc "${flags[@]}" -E -x c "$folder/include/$interface.defs" | "$folder/mig" -user "$name.c" -header "$name.h" -server /dev/null
done
gcc "${flags[@]}" -isystem "$(gcc -m"$bits" -print-file-name=include)" -I "$here/include" -I "$made" -O1 -ffreestanding \
	-fno-stack-protector -fno-pic -no-pie -static -nostdlib -o "$made/program" "$here"/program.[cS] "$made"/*_user.c
