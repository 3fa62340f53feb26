#!/usr/bin/env bash
# The examples of fleet/, by the engines that they are for: Slurm, Ansible, systemd's and Kubernetes' own checks, Prometheus. Whatever is
# started runs in namespaces, and ends with this script.
#
#	tests/fleet.sh [PART...]	these alone: last_run, ansible, slurm, systemd, kubernetes, prometheus (files of tests/fleet/)
set -uo pipefail

# got VARIABLE SCRIPT...: sets it to the folder that the script prints; VARIABLE_why says why there is none.
got() {
	local variable=$1 said
	said=$(mktemp)
	if ! export "$variable=$("${@:2}" 2>"$said")" || [ -z "${!variable}" ]; then
		export "${variable}_why=$(tail -n 1 "$said")"
	fi
	rm "$said"
}

# Packages come by the network, which the namespaces have not.
if [ -z "${fleet_is_apart-}" ]; then
	scripts=$(cd "$(dirname "$0")/../scripts" && pwd)
	got engines "$scripts/engines.sh"
	got schemas "$scripts/kubernetes-schemas.sh" "$engines"
	got monitoring "$scripts/monitoring.sh"
	apart=(unshare --mount --net --pid --ipc --uts --fork --kill-child --mount-proc)
	export fleet_is_apart=yes
	if [ "$(id -u)" = 0 ] && "${apart[@]}" true 2>/dev/null; then
		TMPDIR=$(mktemp -d)
		export TMPDIR
		chmod 755 "$TMPDIR" # parts run programs as other users
		"${apart[@]}" "$0" "$@" &
		# With unshare, all that is in its namespaces ends; it takes no softer signal.
		trap 'kill -KILL $!' INT TERM HUP
		trap 'rm -rf "$TMPDIR"' EXIT
		wait $!
		exit
	fi
	fleet_is_apart=no
fi

. "$(dirname "$0")/check.sh"
. "$root/tests/fleet/hosts.sh"

# is_summary FILE: one run, and rows of it
is_summary() {
	current="a summary in $1"
	if python3 "$root/tests/fleet/summary.py" "$1" >"$out" 2>"$err"; then pass; else fail "it is none"; fi
}

# part NAME [FOLDER...]: one that needs hosts, and what these variables say
part() {
	local name=$1 variable why_not
	shift
	if [ -n "${hosts_why-}" ]; then skip "$name" "$hosts_why" && return; fi
	for variable in "$@"; do
		why_not=${variable}_why
		if [ -n "${!why_not-}" ]; then skip "$name" "${!why_not}" && return; fi
	done
	cd "$root" && . "$root/tests/fleet/$name.sh"
}

wanted=("$@")
[ $# -gt 0 ] || wanted=(last_run ansible slurm systemd kubernetes prometheus)
if [ "$fleet_is_apart" = no ]; then
	hosts_why="hosts of their own need namespaces, which this user may not make"
elif [ -n "${engines_why-}" ]; then
	hosts_why=$engines_why
elif ! start_hosts control "${nodes[@]}"; then
	hosts_why=$why
fi
for name in "${wanted[@]}"; do
	case $name in
	last_run) . "$root/tests/fleet/last_run.sh" ;;
	ansible | slurm | systemd) part "$name" ;;
	kubernetes) part "$name" schemas ;;
	prometheus) part "$name" monitoring ;;
	*) fail "there is no part $name" ;;
	esac
done
finish
