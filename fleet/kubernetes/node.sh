#!/bin/sh
# The program of the DaemonSet's pods: measures the node, leaves the summary and the labels for Node Feature Discovery, and waits for its end.
set -eu

state=${STATE:-/var/lib/kentry} features=${FEATURES:-/features} here=$(dirname "$0")

# The same for a node every time, and another one for every node.
sleep $(($(printf %s "$NODE_NAME" | cksum | cut -d' ' -f1) % (SPREAD_SECONDS + 1)))
kentry --summary "$state/summary.ndjson" --exit-zero --no-save

# Node Feature Discovery ignores names that begin with a dot, so that it never reads half a file.
if sh "$here/features.sh" "$state/summary.ndjson" >"$features/.kentry"; then
	mv "$features/.kentry" "$features/kentry"
else
	echo "node.sh: no labels: $features cannot be written by $(id -u)" >&2
fi
touch "${TMPDIR:-/tmp}/measured"

trap 'exit 0' TERM INT
while :; do
	sleep 3600 &
	wait $!
done
