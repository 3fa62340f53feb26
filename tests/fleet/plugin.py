"""plugin.py CONFIG: whether node-problem-detector would take this configuration of a custom plugin, by the rules of its Validate()."""

import json
import re
import sys


def seconds(duration):
    number, unit = re.fullmatch(r"(\d+)([smh])", duration).groups()
    return int(number) * {"s": 1, "m": 60, "h": 3600}[unit]


config = json.load(open(sys.argv[1]))
limits = config["pluginConfig"]
assert config["plugin"] == "custom" and config["source"]
assert limits["max_output_length"] == 80
assert seconds(limits["timeout"]) < seconds(limits["invoke_interval"])
conditions = {condition["type"] for condition in config["conditions"]}
assert config["rules"]
for rule in config["rules"]:
    assert seconds(rule["timeout"]) <= seconds(limits["timeout"]), rule
    assert rule["type"] == "permanent" and rule["condition"] in conditions, rule
    print(*rule["args"], sep="\n")
