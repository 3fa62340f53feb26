"""action.py ACTION WORKFLOW: whether the workflow gives the action what it takes, and no input stands in a script, where it would be executed."""

import sys

import yaml

action, workflow = (yaml.safe_load(open(path)) for path in sys.argv[1:])
inputs = action["inputs"]
assert all(i["description"] and "default" in i for i in inputs.values()), inputs
for step in action["runs"]["steps"]:
    assert step["shell"] == "bash" and "${{" not in step["run"], step["name"]
    for name, value in step["env"].items():
        assert name.lower() in inputs and value == "${{ inputs.%s }}" % name.lower(), (name, value)
used = [step["with"] for step in workflow["jobs"]["compare"]["steps"] if step.get("uses", "").endswith("/fleet/ci")]
assert len(used) == 1 and set(used[0]) <= set(inputs), used
