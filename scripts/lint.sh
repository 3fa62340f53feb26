#!/usr/bin/env bash
# Formatter and linters, warnings denied.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fmt --all --check
if cargo clippy --version >/dev/null 2>&1; then
	cargo clippy --locked --workspace --all-targets -- -D warnings
else
	echo "lint.sh: no clippy here (Debian's rustc-web comes without); left out" >&2
fi
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet
# Assembler files are .S and .inc; the formatter knows only C.
find abi bench lab probe tests -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run -Werror
