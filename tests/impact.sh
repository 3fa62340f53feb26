#!/usr/bin/env bash
# `kentry impact` of a workload: Debian's redis-server under redis-benchmark. No test here needs precision.
set -uo pipefail
# shellcheck source=tests/check.sh
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

for tool in redis-server redis-benchmark redis-cli strace python3; do
	if ! command -v "$tool" >/dev/null; then
		skip "a workload" "there is no $tool here"
		finish
	fi
done

socket=$work/redis.sock
redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no --dir "$work" --daemonize no >"$work/redis.log" 2>&1 &
redis=$!
trap 'kill "$redis" 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 100); do
	redis-cli -s "$socket" ping >/dev/null 2>&1 && break
	sleep 0.1
done

# load SECONDS: requests by four clients, one at a time each, for about so long.
load() {
	timeout "$1" redis-benchmark -s "$socket" -c 4 -n 100000000 -t get -q >/dev/null 2>&1 &
	load=$!
	sleep 1
}

# figure EXPRESSION: of the document in $out, as Python's d.
figure() {
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$out" "$1"
}

load 8
check "a server" 0 "$kentry" impact --pid "$redis" --seconds 2 --format json "${quick[@]}"
wait "$load"
if grep -q 'may not\|no tracepoint' "$err"; then
	skip "a server" "$(cat "$err")"
	finish
fi
cp "$out" "$work/server.json"
# Each request of a client that waits is a read, a write, and a wait for the next.
check "requests are reads and writes" 0 test "$(figure 'd["total"] > 1000 and {c["name"] for c in d["calls"][:4]} >= {"read", "write", "epoll_wait"}')" = True
check "of the server alone" 0 test "$(cp "$work/server.json" "$out" && figure 'len(d["processes"])')" = 1

# strace -c counts the same server: as many reads for a write.
cp "$work/server.json" "$out"
ours=$(figure 'next(c["count"] for c in d["calls"] if c["name"] == "read") / next(c["count"] for c in d["calls"] if c["name"] == "write")')
load 6
timeout 3 strace -f -c -o "$work/strace" -p "$redis" >/dev/null 2>&1
wait "$load"
theirs=$(awk '$NF == "read" { reads = $4 } $NF == "write" { writes = $4 } END { print reads / writes }' "$work/strace")
check "as strace counts them" 0 python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(abs(a / b - 1) > 0.1)' "$ours" "$theirs"

check "the benchmark, as a command" 0 "$kentry" impact --format json "${quick[@]}" -- redis-benchmark -s "$socket" -c 4 -n 20000 -t get -q
check "its requests" 0 test "$(figure 'sum(c["count"] for c in d["calls"] if c["name"] == "sendto") >= 20000')" = True
check "by a filter" 0 "$kentry" impact --method filter --format json "${quick[@]}" -- redis-benchmark -s "$socket" -c 4 -n 2000 -t get -q
check "its requests are all counted" 0 test "$(figure 'sum(c["count"] for c in d["calls"] if c["name"] == "sendto") >= 2000')" = True
check "as text" 0 "$kentry" impact --seconds 0.5 "${quick[@]}" -- redis-benchmark -s "$socket" -c 4 -n 100000000 -t get -q
expect '^impact +redis-benchmark '
finish
