# Sourced by tests/fleet.sh: fleet/kubernetes, by the schemas of Kubernetes' API, by kubectl's kustomize, and its scripts as its pods run them.

kubernetes=$root/fleet/kubernetes

# validate STATUS FILE...: with Debian's modules
validate() {
	check "$current" "$1" on control python3 "$root/tests/fleet/kubernetes.py" "$schemas" "${@:2}"
}

check "kustomize makes the manifests" 0 on control kubectl kustomize "$kubernetes"
cp "$out" "$work/manifests.yaml"
for kind in Namespace ConfigMap DaemonSet; do expect "^kind: $kind$"; done
expect 'image: registry.example.org/kentry:1$'
current="the API takes them"
validate 0 "$work/manifests.yaml" "$kubernetes/job.yaml"
for kind in Namespace ConfigMap DaemonSet Job; do expect "^$kind is as it should be"; done
sed 's/readinessProbe:/readynessProbe:/' "$work/manifests.yaml" >"$work/wrong.yaml"
current="a key that the API has not"
validate 1 "$work/wrong.yaml"
expect "readynessProbe"
sed 's/^\( *\)memory: 256Mi$/&\n\1cpu: 1/' "$kubernetes/job.yaml" >"$work/wrong.yaml"
current="a quota"
validate 1 "$work/wrong.yaml"
expect 'AssertionError'

# --- the pod's program, as its user, without any capability ---
mkdir -p "$work/node/state" "$work/node/features"
chmod 755 "$work" "$work/node"
chown 65532:65532 "$work/node/state" "$work/node/features"
on node3 install -m 755 "$kentry" /usr/local/bin/
# The pod's kentry is one that hurries.
mkdir "$work/node/bin"
printf '#!/bin/sh\nexec /usr/local/bin/kentry "$@" %s\n' "${quick[*]}" >"$work/node/bin/kentry"
chmod 755 "$work/node/bin/kentry"
pod=(on node3 setpriv --reuid=65532 --regid=65532 --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all env PATH="$work/node/bin:$PATH"
	STATE="$work/node/state" FEATURES="$work/node/features" TMPDIR="$work/node/state" NODE_NAME=node3 SPREAD_SECONDS=0)
"${pod[@]}" sh "$kubernetes/node.sh" >"$out" 2>"$err" &
pid=$!
await "the pod becomes ready" 30 test -e "$work/node/state/measured"
is_summary "$work/node/state/summary.ndjson"
kill -TERM $pid
current="it ends when it is told to"
status=0
wait $pid || status=$?
if [ "$status" = 0 ]; then pass; else fail "status $status"; fi
cp "$work/node/features/kentry" "$out"
current="labels for Node Feature Discovery"
expect '^# \+expiry-time=20[0-9-]+T[0-9:]+Z$'
expect '^feature\.node\.kubernetes\.io/kentry\.entry\.syscall-x86_64=open$'
check "each is a label" 1 grep -vE '^# |^feature\.node\.kubernetes\.io/[a-z0-9][a-z0-9._-]{0,61}[a-z0-9]=[a-z]+$' "$work/node/features/kentry"
check "nothing is left beside them" 0 test "$(ls -A "$work/node/features")" = kentry
sed '1s/"findings":{/&"clock-apart":"critical","order":"note",/' "$work/node/state/summary.ndjson" >"$work/critical.ndjson"
check "a finding is a label" 0 "$kubernetes/features.sh" "$work/critical.ndjson"
expect '^feature\.node\.kubernetes\.io/kentry\.finding\.clock-apart=critical$'
refuse 'finding\.order'
check "what is no summary gives no labels" 1 "$kubernetes/features.sh" "$0"
expect 'this is no summary of a run'

# --- the job's command, as its pod runs it; its log, read as the page says ---
mapfile -t words < <(on control python3 -c 'import sys, yaml
print(*yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]["containers"][0]["command"], sep="\n")' "$kubernetes/job.yaml")
check "the job" 0 "${pod[@]}" "${words[@]}"
cat "$out" "$err" | grep '^{"schema":"kentry.summary' >"$work/job.ndjson"
is_summary "$work/job.ndjson"

# --- node-problem-detector ---
check "its configuration" 0 python3 "$root/tests/fleet/plugin.py" "$kubernetes/node-problem-detector.json"
mapfile -t arguments < <(sed '$d' "$out")
check "the rule's arguments are understood" 0 "$root/fleet/last-run" "${arguments[@]}" "$work/node/state/summary.ndjson"
