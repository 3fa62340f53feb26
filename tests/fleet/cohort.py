"""cohort.py SUMMARY FOLDER NAME...: summaries of hosts that are made up, out of a real one: alike, but that on the last a row costs twice as much
and an entry is closed, and the first has a critical finding. For tests of what shows them."""

import copy
import json
import pathlib
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]
folder, names = pathlib.Path(sys.argv[2]), sys.argv[3:]
for at, name in enumerate(names):
    made = copy.deepcopy(lines)
    is_last = at == len(names) - 1
    for line in made:
        line["machine_id"] = line["run_id"] = f"{at:032x}"
    made[0]["findings"] = {"libc": "note", **({"clock-apart": "critical"} if at == 0 else {})}
    made[0]["quiet_ratio"] = 0.9
    for number, row in enumerate(made[1:]):
        cost = 100.0 + number
        if is_last and (row["entry"], row["operation"]) == ("syscall-x86_64", "getppid"):
            cost *= 2
        is_open = not (is_last and row["entry"] == "int80-i386")
        row.update(outcome="ok" if is_open else "fault", reason=None if is_open else "made up", noise=None)
        for unit, scale in (("core_cycles", 1.0), ("nanoseconds", 0.5)):
            for end, value in (("", cost), ("_ci_low", cost - 1), ("_ci_high", cost + 1)):
                row[unit + end] = value * scale if is_open else None
    (folder / f"{name}.ndjson").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in made))
