"""Whether a file is the summary of one run: the run, and rows of it that say how they ended."""

import json
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]
run, rows = lines[0], lines[1:]
assert run["schema"] == "kentry.summary/1" and run["kind"] == "run", run
assert rows and all(row["kind"] == "row" and row["run_id"] == run["run_id"] for row in rows), rows
assert any(row["outcome"] == "ok" for row in rows), rows
