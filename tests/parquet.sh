#!/usr/bin/env bash
# DuckDB and ClickHouse read the tables of a simulated fleet: every value is there, and the queries of docs/fleet.md say what is true of it.
set -uo pipefail
. "$(dirname "$0")/check.sh"

if ! python=$("$root/scripts/databases.sh" 2>"$err"); then
	skip "tables in databases" "$(tail -n 1 "$err")"
	finish
fi

limit=1500 example fleet
check "a simulated fleet" 0 "$example" "$work/fleet" 200 10
expect "200 hosts, 10 days"
cd "$work" || exit 1

# It prints sums of its own, which are added to those of here.
current="in databases"
if ! PYTHONDONTWRITEBYTECODE=1 "$python" "$root/tests/parquet.py" "$root/docs/fleet.md"; then fail "see above"; fi
finish
