#!/usr/bin/env bash
# Puts DuckDB and ClickHouse (as chDB, its engine in Python's process) into target/databases/, an environment of Python that touches nothing else.
#
# Prints the Python that has both. Ends with 77 where they cannot be had; the last line on stderr says why.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
folder=$target/databases
# Debian's own: what else is called python3 may be of another machine's making.
python=/usr/bin/python3
[ -x $python ] || python=python3

# In a folder beside it, which takes its place when all is there. The environment's scripts name their folder, but nothing here needs them.
make_anew() {
	command -v "$python" >/dev/null || {
		cannot "there is no python3"
		return
	}
	mkdir -p "$target"
	work=$(mktemp -d "$folder.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	"$python" -m venv "$work/new" >"$work/log" 2>&1 || {
		cannot "python3 -m venv fails (Debian: python3-venv)"
		return
	}
	# What chDB asks for besides is for its data frames, and three times as large.
	"$work/new/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps duckdb chdb-core >"$work/log" 2>&1 ||
		{
			cannot "pip cannot fetch them: $(tail -n 1 "$work/log")"
			return
		}
	has_both "$work/new" || {
		cannot "they do not run here"
		return
	}
	rm -rf "$folder"
	mv "$work/new" "$folder"
}

has_both() {
	"$1/bin/python" -c 'import duckdb, chdb; chdb.query("select 1")' >/dev/null 2>&1
}

cannot() {
	echo "databases.sh: DuckDB and ClickHouse cannot be had here: $1" >&2
	return 1
}

has_both "$folder" || make_anew || exit 77
echo "$folder/bin/python"
