#!/usr/bin/env bash
# Formatter and linters, warnings denied.
#
#	scripts/lint.sh [clippy]	all, or that one
set -euo pipefail
cd "$(dirname "$0")/.."

# A compiler without it is no reason to fail: nothing that anybody builds depends on it.
clippy() {
	if cargo clippy --version >/dev/null 2>&1; then
		cargo clippy --locked --workspace --all-targets -- -D warnings
	else
		echo "skipped clippy: it is not here (Debian: rust-web-clippy)"
	fi
}

case ${1-} in
clippy)
	clippy
	exit
	;;
"") ;;
*)
	echo "usage: scripts/lint.sh [clippy]" >&2
	exit 2
	;;
esac

cargo fmt --all --check
clippy
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet
# Assembler files are .S and .inc; the formatter knows only C.
find abi bench lab mach probe tests -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run -Werror
