#!/usr/bin/env bash
# How often `kentry doctor` warns of this machine: on a healthy one each warning is false. Every second checkup has another CPU loaded.
#
#	RUNS=50 bench/doctor_soak.sh
#
# Prints a line for each checkup with the findings that are no longer ok, then what each was said how often. Ends with 1 if anything was a
# warning or worse.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
kentry=${KENTRY:-$root/target/x86_64-unknown-linux-gnu/release/kentry}
runs=${RUNS:-50}
work=$(mktemp -d)
load=
stop() {
	[ -z "$load" ] || kill "$load" 2>/dev/null || true
	rm -rf "$work"
}
trap stop EXIT

for number in $(seq "$runs"); do
	how=idle
	if [ $((number % 2)) = 0 ]; then
		how=loaded
		taskset -c "$(($(nproc) - 1))" sh -c 'while :; do :; done' &
		load=$!
	fi
	"$kentry" doctor --fail-on never --output "$work/$number.json"
	if [ -n "$load" ]; then
		kill "$load"
		wait "$load" 2>/dev/null || true
		load=
	fi
	python3 - "$work/$number.json" "$number" "$runs" "$how" <<'END'
import json, sys
document, number, runs, how = sys.argv[1:]
odd = [d for d in json.load(open(document))["diagnoses"] if d["level"] != "ok"]
words = "; ".join(f"{d['level']} {d['id']}" for d in odd) or "nothing"
print(f"doctor: checkup {number} of {runs}, {how}: {words}", flush=True)
END
done
python3 - "$work" <<'END'
import collections, glob, json, sys
said = collections.Counter()
for path in glob.glob(f"{sys.argv[1]}/*.json"):
    for diagnosis in json.load(open(path))["diagnoses"]:
        if diagnosis["level"] != "ok":
            said[diagnosis["level"], diagnosis["id"], diagnosis["verdict"] if diagnosis["level"] != "note" else ""] += 1
for (level, finding, verdict), count in sorted(said.items()):
    print(f"{count:4} × {level} {finding} {verdict}".rstrip())
bad = sum(count for (level, *_), count in said.items() if level in ("warning", "critical"))
print(f"warnings: {bad}")
sys.exit(1 if bad else 0)
END
