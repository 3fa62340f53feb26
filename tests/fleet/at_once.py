"""at_once.py MOST SUMMARY...: whether no more than so many of these runs measured at the same time."""

import datetime
import json
import sys

changes = []
for path in sys.argv[2:]:
    run = json.loads(open(path).readline())
    began = datetime.datetime.fromisoformat(run["started"].replace("Z", "+00:00")).timestamp()
    changes += [(began, 1), (began + run["duration_seconds"], -1)]
now = most = 0
for _, change in sorted(changes):
    now += change
    most = max(most, now)
assert 1 <= most <= int(sys.argv[1]), f"{most} runs at the same time"
