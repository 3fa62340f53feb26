# Sourced by tests/fleet.sh: hosts on this machine, each in namespaces of its own (tests/fleet/host.sh), on a network that nothing else is on.
#
#	start_hosts NAME...		starts them; 1, with the reason in $why, where that is not possible
#	on NAME COMMAND...		runs it there (tests/fleet/on)
#	background NAME LOG COMMAND...	the same, until the test ends
#	await NAME SECONDS COMMAND...	a check: it succeeds before they are over
#
# The test runs in a PID namespace of its own, whose processes end with it.

nodes=(node1 node2 node3)
export FLEET_HOSTS=$work/hosts PATH=$root/tests/fleet:$PATH

start_hosts() {
	local name number=1
	mkdir -p "$FLEET_HOSTS"
	for name in "$@"; do
		echo "10.77.0.$number $name"
		number=$((number + 1))
	done >"$work/names"
	ip link add bridge type bridge && ip link set bridge up || { why="no bridge can be made"; return 1; }
	while read -r address name; do
		start_host "$name" "$address" || { why="$name does not start: $(tail -n 1 "$work/$name.log")"; return 1; }
	done <"$work/names"
}

start_host() {
	local name=$1 address=$2 pid
	unshare --mount --uts --net "$root/tests/fleet/host.sh" "$name" "$engines" "$work" >"$work/$name.log" 2>&1 &
	pid=$!
	echo $pid >"$FLEET_HOSTS/$name.pid"
	wait_for 10 test -e "$FLEET_HOSTS/$name.ready" || return
	ip link add "to-$name" type veth peer name eth0 netns "$pid" && ip link set "to-$name" master bridge up || return
	on "$name" ip address add "$address/24" dev eth0 && on "$name" ip link set eth0 up
}

background() {
	on "$1" "${@:3}" >"$2" 2>&1 </dev/null &
}

# wait_for SECONDS COMMAND...: until it succeeds
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

await() {
	current=$1
	if wait_for "$2" "${@:3}"; then pass; else fail "not within $2 seconds: ${*:3}"; fi
}
