# Sourced by tests/fleet.sh: fleet/slurm, by a slurmctld and three slurmd of Debian's.

slurm=$root/fleet/slurm

start_slurm() {
	mkdir -p "$work"/slurm/{state,spool,munge} && cd "$work/slurm" || return
	chmod 700 munge
	head -c 1024 /dev/urandom >munge/key && chmod 400 munge/key
	cat >slurm.conf <<-END
		ClusterName=fleet
		SlurmctldHost=control
		SlurmUser=root
		AuthInfo=socket=$PWD/munge/socket
		StateSaveLocation=$PWD/state
		SlurmdSpoolDir=$PWD/spool/%n
		SlurmctldPidFile=$PWD/slurmctld.pid
		SlurmdPidFile=$PWD/%n.pid
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		SwitchType=switch/none
		SlurmdParameters=config_overrides
		ReturnToService=2
		SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
		HealthCheckProgram=/usr/local/sbin/kentry-health
		HealthCheckInterval=2
		NodeName=node[1-3] CPUs=1 State=UNKNOWN
		PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	END
	background control munged.log munged --foreground --force --key-file="$PWD/munge/key" --socket="$PWD/munge/socket" \
		--pid-file="$PWD/munge/pid" --seed-file="$PWD/munge/seed" --log-file="$PWD/munge/log"
	wait_for 10 test -S munge/socket || return
	for node in control "${nodes[@]}"; do
		on "$node" install -D slurm.conf /etc/slurm/slurm.conf
		# As the page says, on every node.
		on "$node" install -m 755 "$kentry" "$slurm/kentry-node" "$slurm/kentry-array" /usr/local/bin/
	done
	background control slurmctld.log slurmctld -D
	for node in "${nodes[@]}"; do
		on "$node" install -m 755 "$root/fleet/last-run" /usr/local/bin/kentry-last-run
		on "$node" install -D -m 755 "$slurm/kentry-health" /usr/local/sbin/kentry-health
		printf 'summaries=%s\nlevel=critical\ndrain=yes\n' "$work/health" | on "$node" tee /etc/default/kentry-health >/dev/null
		background "$node" "$node.log" slurmd -D -N "$node"
	done
	wait_for 20 are_idle 3
}

are_idle() {
	[ "$(on control sinfo --noheader --Node --format=%t | grep -c '^idle$')" = "$1" ]
}

# is_over JOB: whether none of its elements is waiting or running
is_over() {
	[ -z "$(on control squeue --noheader --jobs="$1" 2>/dev/null)" ]
}

mkdir -p "$work/health"
current="Slurm starts"
if start_slurm; then pass; else fail "$(tail -n 3 "$work"/slurm/*.log)"; fi

# --- by srun: one task on each node, alone ---
check "srun measures three nodes" 0 on control env KENTRY_RUNS="$work/srun" srun --nodes=3 --ntasks-per-node=1 --exclusive kentry-node "${quick[@]}"
for node in "${nodes[@]}"; do is_summary "$work/srun/$node.ndjson"; done
check "kentry-node outside Slurm" 2 env -u SLURMD_NODENAME "$slurm/kentry-node"
expect 'start this by srun or sbatch'

# --- by a job array: each node once, and two at the same time at most ---
check "an array is submitted" 0 on control env KENTRY_RUNS="$work/array" kentry-array 'node[1-3]' 2 "${quick[@]}"
job=$(cat "$out")
await "it ends" 40 is_over "$job"
for node in "${nodes[@]}"; do is_summary "$work/array/$node.ndjson"; done
check "two at the same time at most" 0 python3 "$root/tests/fleet/at_once.py" 2 "$work"/array/*.ndjson
check "nodes that there are not" 1 on control env KENTRY_RUNS="$work/none" kentry-array nothing 1 "${quick[@]}"
refuse '^[0-9]+$'
check "no nodes are named" 2 "$slurm/kentry-array" 'node[1-3]'
expect '^usage: kentry-array'

# --- by its health check, which reads what the last run found ---
is_drained() {
	on control sinfo --noheader --nodes=node2 --format='%t %E' | grep -Eq '^dr[a-z]* kentry found: clock-apart'
}
for node in "${nodes[@]}"; do cp "$work/srun/$node.ndjson" "$work/health/"; done
sed -i '1s/"findings":{/&"clock-apart":"critical",/' "$work/health/node2.ndjson"
await "a node with a critical finding is drained" 15 is_drained
current="the others are not"
if are_idle 2; then pass; else fail "$(on control sinfo --Node --long)"; fi
current="nothing was measured"
if [ "$(ls "$work/health")" = "$(printf '%s\n' node1.ndjson node2.ndjson node3.ndjson)" ] && cmp -s "$work"/{srun,health}/node1.ndjson; then pass; else fail "$(ls -l "$work/health")"; fi
check "without a summary, a node is left alone" 0 on node1 env SLURMD_NODENAME=other /usr/local/sbin/kentry-health
