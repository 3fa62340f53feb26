#!/usr/bin/env bash
# The examples of fleet/, by the engines that they are for: Slurm, Ansible, systemd's and Kubernetes' own checks, Prometheus. Whatever is
# started runs in namespaces that end with this script.
set -uo pipefail

scripts=$(cd "$(dirname "$0")/../scripts" && pwd)
# Packages come by the network, which the namespaces have not.
if [ -z "${FLEET_INSIDE-}" ]; then
	FLEET_ENGINES=$("$scripts/engines.sh") || FLEET_WHY="there are no engines"
	FLEET_SCHEMAS=$("$scripts/kubernetes-schemas.sh" "$FLEET_ENGINES") || FLEET_SCHEMAS_WHY="there are no schemas"
	FLEET_MONITORING=$("$scripts/monitoring.sh") || FLEET_MONITORING_WHY="there is no Prometheus"
	export FLEET_INSIDE=yes FLEET_MONITORING FLEET_MONITORING_WHY FLEET_ENGINES FLEET_WHY FLEET_SCHEMAS FLEET_SCHEMAS_WHY
	exec unshare --mount --net --pid --ipc --uts --fork --kill-child --mount-proc "$0"
fi

. "$(dirname "$0")/check.sh"
. "$root/tests/fleet/hosts.sh"
engines=$FLEET_ENGINES

# is_summary FILE: one run, and rows of it
is_summary() {
	current="a summary in $1"
	if python3 "$root/tests/fleet/summary.py" "$1" >"$out" 2>"$err"; then pass; else fail "it is none"; fi
}
start_hosts control "${nodes[@]}" || echo "no: $why"
for p in ${PARTS-last_run ansible slurm systemd kubernetes prometheus}; do . "$root/tests/fleet/$p.sh"; echo "$p $SECONDS"; done
finish
