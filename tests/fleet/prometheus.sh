# Sourced by tests/fleet.sh: fleet/prometheus, by promtool, and by a Prometheus that scrapes node_exporters on three hosts.

prometheus=$root/fleet/prometheus
promtool=$monitoring/bin/promtool

check "the rules" 0 "$promtool" check rules "$prometheus/rules.yml"
expect '10 rules found'
check "their tests" 0 "$promtool" test rules "$prometheus/rules.test.yml"
sed 's/> 1\.25/> 2.25/' "$prometheus/rules.yml" >"$work/rules.yml"
cp "$prometheus/rules.test.yml" "$work/"
check "a rule of another meaning" 1 "$promtool" test rules "$work/rules.test.yml"
expect 'FAILED'

# --- a run as metrics ---
check "a run" 0 "$kentry" --summary "$work/one.ndjson" --exit-zero --no-save "${quick[@]}"
mkdir -p "$work/cohort"
check "three hosts" 0 python3 "$root/tests/fleet/cohort.py" "$work/one.ndjson" "$work/cohort" "${nodes[@]}"
for node in "${nodes[@]}"; do
	# As the page says: where kentry.service leaves it, and a link from the folder of the textfile collector.
	on "$node" mkdir -p /var/lib/kentry /var/lib/prometheus/node-exporter
	check "metrics of $node" 0 on "$node" "$kentry" export "$work/cohort/$node.ndjson" --to prometheus --output /var/lib/kentry/kentry.prom
	on "$node" ln -sf /var/lib/kentry/kentry.prom /var/lib/prometheus/node-exporter/kentry.prom
	on "$node" cat /var/lib/kentry/kentry.prom >"$work/$node.prom"
	check "promtool has no complaint" 0 bash -c '"$1" check metrics <"$2"' - "$promtool" "$work/$node.prom"
	background "$node" "$work/$node.exporter" "$monitoring/bin/prometheus-node-exporter" --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory=/var/lib/prometheus/node-exporter --web.listen-address=:9100
done
sed 's/interval: 1m/interval: 1s/' "$prometheus/rules.yml" >"$work/rules.yml"
cat >"$work/prometheus.yml" <<-END
	global: {scrape_interval: 1s, evaluation_interval: 1s}
	rule_files: [rules.yml]
	scrape_configs:
	  - job_name: node
	    static_configs: [{targets: ["node1:9100", "node2:9100", "node3:9100"]}]
END
background control "$work/prometheus.log" "$monitoring/bin/prometheus" --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" \
	--web.listen-address=:9090
# asked PATH PATTERN: whether Prometheus answers that
asked() {
	on control python3 -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())' \
		"http://control:9090/api/v1/$1" | grep -Eq "$2"
}
# The rules are evaluated behind the scrapes.
await "Prometheus has all three, and the rules" 30 \
	asked 'query?query=count(kentry:entry_cost_cycles:ratio%7Bentry="syscall-x86_64",operation="getppid"%7D)' ',"3"\]'
check "each panel of the dashboard has data" 0 on control python3 "$root/tests/fleet/dashboard.py" http://control:9090 "$prometheus/dashboard.json"
expect '^Hosts with a run: 1 series, the first 3 '
expect '^Hosts with a critical finding: 1 series, the first 1 '
expect "^Odd hosts: [0-9]+ series, the first 2 .*'instance': 'node3:9100'.*'operation': 'getppid'"
expect '^Closed here, open elsewhere: 1 series, the first [1-9]'
expect '^Machines: 3 series'
await "an alert fires" 20 asked alerts '"alertname":"KentryFindingIsCritical".*"instance":"node1:9100"'
