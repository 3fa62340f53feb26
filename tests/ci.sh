#!/usr/bin/env bash
# The action in fleet/ci and the example workflow that uses it, docs/ci/compare.yml: the action's scripts run as they stand there, with the
# built command and tiny budgets. What only GitHub can do (checkout, artifacts) and the build of kentry from its source are left out.
set -uo pipefail
. "$(dirname "$0")/check.sh"

action=$root/fleet/ci/action.yml
workflow=$root/docs/ci/compare.yml

# script NAME: what the step of this name runs
script() {
	awk -v name="$1" '
		/^    - / { found = 0; inside = 0 }
		$0 == "    - name: " name { found = 1 }
		found && inside { sub(/^        /, ""); print }
		found && /^      run: \|$/ { inside = 1 }' "$action"
}

# default INPUT: as the action has it
default() {
	awk -v name="$1" '
		/^  [a-z]+:$/ { found = ($0 == "  " name ":") }
		found && /^    default: / { sub(/^    default: /, ""); gsub(/^"|"$/, ""); print; exit }' "$action"
}

mkdir -p "$work/job" && cd "$work/job" || exit
export KENTRY=$kentry BASE NEW RUNS=2 BUDGET=0.05 FOLDER GITHUB_OUTPUT=$work/outputs GITHUB_STEP_SUMMARY=$work/summary
BASE=$(default base) NEW=$(default new) FOLDER=$(default folder)
# With so little, everything is noise: no row is ten times as dear for sure, nor closed.
export GATE='--fail-above 1000% --fail-on closed'

# step NAME: as GitHub runs it
step() {
	script "$1" >"$work/script"
	current=$1
	if [ -s "$work/script" ]; then pass; else fail "there is no such step in fleet/ci/action.yml"; fi
	check "$1" 0 bash --noprofile --norc -eo pipefail "$work/script"
}

step "Measure both, in turns"
for file in base-1 base-2 new-1 new-2; do
	if [ -s "runs/$file.json" ]; then pass; else fail "runs/$file.json is missing"; fi
done
step "Compare"
expect '^slower\?'
current="what the job leaves"
if grep -Eqx 'code=(0|4)' "$work/outputs"; then pass; else fail "outputs: $(cat "$work/outputs")"; fi
if grep -q '<testsuites' runs/compare.xml && grep -q '"kentry.compare/1"' runs/compare.json; then pass; else fail "no JUnit or JSON"; fi
step "Show it with the job"
if grep -q 'did it get slower' "$work/summary"; then pass; else fail "the summary lacks the answer"; fi

# The gate as the action has it: its flags are right.
check "the gate of the action" 0 bash -c "'$kentry' compare runs/base-1.json runs/base-1.json --force $(default gate) || [ \$? = 4 ]"

# A folder with a space, and a command that runs kentry, as inputs.
mkdir 'other runs'
export BASE='env SIDE=base' FOLDER='other runs' RUNS=1
step "Measure both, in turns"
current="a folder with a space"
if [ -s 'other runs/base-1.json' ] && [ -s 'other runs/new-1.json' ]; then pass; else fail "$(ls 'other runs')"; fi

# A job that cannot compare fails.
export FOLDER=runs RUNS=2
rm runs/new-2.json
script "Compare" >"$work/script"
check "a run that is missing" 2 bash --noprofile --norc -eo pipefail "$work/script"
if command -v python3 >/dev/null && python3 -c 'import yaml' 2>/dev/null; then
	check "the workflow gives the action what it takes" 0 python3 "$root/tests/fleet/action.py" "$action" "$workflow"
	sed 's/^          gate:/          gates:/' "$workflow" >"$work/workflow.yml"
	check "an input that it has not" 1 python3 "$root/tests/fleet/action.py" "$action" "$work/workflow.yml"
	sed 's/^        mkdir -p "$FOLDER"/        mkdir -p "${{ inputs.folder }}"/' "$action" >"$work/action.yml"
	check "an input in a script" 1 python3 "$root/tests/fleet/action.py" "$work/action.yml" "$workflow"
else
	skip "it is YAML" "no parser here"
fi
finish
