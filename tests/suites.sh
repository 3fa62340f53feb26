#!/usr/bin/env bash
# `kentry lab`, `kentry linux` and `kentry anatomy` in the QEMU and the Bochs of Debian's current stable and of its newest suite, whatever
# suite this machine has, on this machine's guest kernel and on the suite's own. Outcomes and ratios are compared, not counts.
set -uo pipefail
. "$(dirname "$0")/check.sh"

command -v python3 >/dev/null || { skip "other suites" "no python3"; finish; }
here=$PATH

# judge WHAT: of the document in $out
judge() {
	python3 - "$out" "$1" <<'END' >"$work/judged" 2>&1
import json, sys

document, what = json.load(open(sys.argv[1])), sys.argv[2]
rows = {(row["entry"], row["operation"]): row for row in document.get("results", [])}

def count(entry, operation):
    return rows[entry, operation]["instructions"]["estimate"]

if what == "anatomy":
    for path in document["paths"]:
        assert path["agrees"] is True, (path["counted"], path["cost"] if "cost" in path else None)
else:
    emulator = document["environment"]["guest"]["emulator"]
    for row in rows.values():
        assert row["outcome"] in ("ok", "unsupported", "refused", "fault"), row
    # What every processor of this vendor has.
    for entry in ("syscall-x86_64", "int80-x86_64", "int80-i386", "sysenter-i386"):
        assert rows[entry, "getppid"]["outcome"] == "ok", (emulator, rows[entry, "getppid"])
        assert count(entry, "getppid") >= count(entry, "none") > 5, (emulator, entry)
    # In 32-bit code Intel's have none. QEMU knows from 9.1 on, and a row that works is remarked upon.
    row = rows["syscall-i386", "getppid"]
    assert row["outcome"] != "ok" or row["remarks"], (emulator, row)
    if what == "lab":
        # A function call counts what it is made of, not what stands around it.
        assert count("call", "none") < 20, (emulator, count("call", "none"))
    if what == "linux":
        assert 100 < count("syscall-x86_64", "getppid") < 2000, (emulator, count("syscall-x86_64", "getppid"))
        assert count("int80-x86_64", "getppid") > count("syscall-x86_64", "getppid"), emulator
END
	if [ $? = 0 ]; then pass; else fail "$(tail -n 1 "$work/judged")"; fi
}

for suite in ${SUITES-stable unstable}; do
	folder=$("$root/scripts/suites.sh" $suite 2>"$err") || { skip "the emulators of Debian's $suite" "$(tail -n 1 "$err")"; continue; }
	export PATH=$folder/bin:$here
	rows=(-o none -o getppid)
	limit=300 check "$suite: the lab in $(qemu-system-x86_64 --version | head -n 1)" 0 "$kentry" lab --accel tcg --no-save --format json "${rows[@]}"
	judge lab
	cp "$out" "$work/qemu.json"
	limit=600 check "$suite: the lab in Bochs" 0 "$kentry" lab --bochs --no-save --format json -e call -e 'syscall*' -e 'int80*' -e sysenter-i386 "${rows[@]}"
	judge lab
	cp "$out" "$work/bochs.json"
	check "$suite: QEMU and Bochs count alike" 0 python3 -c '
import json, sys
def counts(path):
    rows = json.load(open(path))["results"]
    return {(row["entry"], row["operation"]): row["instructions"]["estimate"] for row in rows if row["instructions"]}
qemu, bochs = counts(sys.argv[1]), counts(sys.argv[2])
both = [row for row in bochs if row in qemu]
assert len(both) > 5 and all(qemu[row] == bochs[row] for row in both), [(row, qemu[row], bochs[row]) for row in both]' "$work/qemu.json" "$work/bochs.json"
	for kernel in "$folder/kernel.deb" $("$root/scripts/kernels.sh" cloud 2>"$err"); do
		limit=300 check "$suite: $(basename "$kernel")" 0 "$kentry" linux --accel tcg --no-save --format json --kernel "$kernel" \
			-e 'syscall*' -e 'int80*' -e sysenter-i386 "${rows[@]}"
		judge linux
		limit=300 check "$suite: what $(basename "$kernel") executes" 0 "$kentry" anatomy syscall --kernel "$kernel" --beside none --format json
		judge anatomy
	done
done
finish
