#!/usr/bin/env bash
# Builds a small Linux from Debian's linux-source-6.1 that has what Debian's own kernels lack or forbid: /dev/mem with all of RAM
# behind it (STRICT_DEVMEM off), x32, its configuration in /proc/config.gz. Not part of the tests by default, because it takes some
# five minutes; `make small-kernel` asks for it, and tests/guest.sh boots it where it is there.
#
#	scripts/small-kernel.sh		builds target/guest/small/vmlinux, unless it is there
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/linux-source.sh"
folder=$root/target/guest/small
options=$root/scripts/small-kernel.config

[ ! -s "$folder/vmlinux" ] || [ "$options" -nt "$folder/vmlinux" ] || { echo "$folder/vmlinux"; exit; }
"$root/scripts/need.sh" kernel >&2
mkdir -p "$folder"
work=$(mktemp -d "$folder/build.XXXXXX")
trap 'rm -rf "$work"' EXIT

cd "$work"
unpack_source
cd "$source_package"
make -s tinyconfig
# Of a symbol that stands twice the last line holds.
cat "$options" >>.config
make -s olddefconfig
# An option whose prerequisite is missing is dropped without a word.
lost=$(while read -r line; do
	case $line in
	CONFIG_*) grep -qxF -- "$line" .config || echo "$line" ;;
	"# CONFIG_"*" is not set") ! grep -q "^${line:2:-11}=" .config || echo "$line" ;;
	esac
done <"$options")
[ -z "$lost" ] || { printf 'small-kernel.sh: the configuration does not keep\n%s\n' "$lost" >&2; exit 1; }
make -s -j"$(nproc)" vmlinux >&2
cp vmlinux "$folder/vmlinux.new"
cp .config "$folder/config"
mv "$folder/vmlinux.new" "$folder/vmlinux"
echo "$folder/vmlinux"
