#!/usr/bin/env bash
# The example workflow, docs/ci/compare.yml: its scripts run as they stand there, with the built command and tiny budgets. What only GitHub
# can do (checkout, artifacts) and the build of kentry from its source are left out.
set -uo pipefail
. "$(dirname "$0")/check.sh"

workflow=$root/docs/ci/compare.yml

# script NAME: what the step of this name runs
script() {
	awk -v name="$1" '
		/^      - / { found = 0; inside = 0 }
		$0 == "      - name: " name { found = 1 }
		found && inside { sub(/^          /, ""); print }
		found && /^        run: \|$/ { inside = 1 }' "$workflow"
}

# The variables of the job, but for those that are already set.
while IFS='=' read -r name value; do
	[ -n "${!name+set}" ] || export "$name=$value"
done < <(sed -n '/^    env:$/,/^    steps:$/s/^      \([A-Z_]*\): \(.*\)$/\1=\2/p' "$workflow" | sed 's/ #.*//; s/=""$/=/')

mkdir -p "$work/job/bin" && cd "$work/job" && ln -s "$kentry" bin/kentry
export RUNS=2 BUDGET=0.05 GITHUB_OUTPUT=$work/outputs GITHUB_STEP_SUMMARY=$work/summary
# With so little, everything is noise: no row is ten times as dear for sure, nor closed.
export GATE='--fail-above 1000% --fail-on closed'

# step NAME: as GitHub runs it
step() {
	script "$1" >"$work/script"
	current=$1
	if [ -s "$work/script" ]; then pass; else fail "there is no such step in docs/ci/compare.yml"; fi
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

# The gate as the example has it: its flags are right.
GATE=$(sed -n 's/^      GATE: //p' "$workflow")
check "the gate of the example" 0 bash -c "bin/kentry compare runs/base-1.json runs/base-1.json --force $GATE || [ \$? = 4 ]"

# A job that cannot compare fails.
rm runs/new-2.json
script "Compare" >"$work/script"
check "a run that is missing" 2 bash --noprofile --norc -eo pipefail "$work/script"
if command -v python3 >/dev/null && python3 -c 'import yaml' 2>/dev/null; then
	check "it is YAML" 0 python3 -c 'import sys, yaml; assert len(yaml.safe_load(open(sys.argv[1]))["jobs"]["compare"]["steps"]) == 6' "$workflow"
else
	skip "it is YAML" "no parser here"
fi
finish
