#!/usr/bin/env bash
# Cargo with the profile of what `make dist` packs. The same sources and tools give the same bytes wherever they lie: no path of this machine
# gets into the command.
#
#	scripts/cargo-dist.sh build|install [ARGUMENT...]
set -euo pipefail
cd "$(dirname "$0")/.."

# remap FROM TO: what panics say of where they are
flags=()
remap() {
	flags+=("'--remap-path-prefix=$1=$2'")
}

# What is not unpacked yet has no folder to be told.
cargo fetch --locked --target x86_64-unknown-linux-gnu --quiet
# Where the standard library's sources are installed, the compiler names those instead of the place where they were built.
remap "$(rustc --print sysroot)/lib/rustlib/src/rust" "/rustc/$(rustc -vV | sed -n 's/^commit-hash: //p')"
for sources in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
	remap "$sources" /cargo
done
remap "$PWD" /kentry

# They come after those of .cargo/config.toml, which the variable RUSTFLAGS would replace.
IFS=,
exec cargo "$@" --locked --profile dist --config "target.x86_64-unknown-linux-gnu.rustflags=[${flags[*]}]"
