#!/usr/bin/env bash
# Makes dist/NAME.tar.gz: the static command and what belongs to it. dist.sh COMMAND NAME
set -euo pipefail
cd "$(dirname "$0")/.."
command=$1 name=$2

if readelf -l "$command" | grep -q INTERP; then
	echo "dist.sh: $command is not statically linked" >&2
	exit 1
fi
rm -rf "dist/$name"
install -D -m 755 "$command" "dist/$name/bin/kentry"
scripts/assets.sh "$command" "dist/$name"
# Reproducible: no names, no times, a fixed order.
tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -czf "dist/$name.tar.gz" "$name"
rm -rf "dist/$name"
echo "dist/$name.tar.gz"
