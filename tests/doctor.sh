#!/usr/bin/env bash
# `kentry doctor` as people and their monitoring use it: exit statuses, Nagios by NRPE, Prometheus by node_exporter, behind a command, as an
# ordinary user; and what it leaves behind.
set -uo pipefail
. "$(dirname "$0")/check.sh"

short=(--check entries --budget 0.3)
declare -a started=()

stop() {
	for pid in "${started[@]}"; do kill "$pid" 2>/dev/null; done
	rm -rf "$work"
}
trap stop EXIT

# port: one that nobody listens at now
port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# answers URL: waits until something answers there; the answer is in $out.
answers() {
	for _ in $(seq 100); do
		python3 -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())' "$1" >"$out" 2>"$err" && return
		sleep 0.1
	done
	return 1
}

# --- the command line ---
check "every check is listed" 0 "$kentry" doctor --list
for name in clocks clock-health entries runtimes carried protections measurement; do expect "^$name "; done
check "an unknown check" 2 "$kentry" doctor --check clokcs
expect "a similar value exists: 'clocks'"
check "an unknown level" 2 "$kentry" doctor --fail-on fatal
check "a format that a checkup has not" 2 "$kentry" doctor --format csv
check "a process and a command" 2 "$kentry" doctor --pid 1 -- true
check "two kinds of core" 2 "$kentry" doctor --cpu all
expect 'a checkup is of one kind of core'

# --- what it finds ---
check "text" 0 "$kentry" doctor "${short[@]}" --fail-on critical
expect '^checkup +[A-Z][a-z]+ .*[0-9]'
expect 'entries: [0-9]+ of [0-9]+ entries are open'
check "markdown" 0 "$kentry" doctor "${short[@]}" --fail-on never --format markdown
expect '^- \*\*ok\*\* `entries`: '
check "json" 0 "$kentry" doctor "${short[@]}" --fail-on never --output "$work/checkup.json"
check "a diagnosis has a check and a level" 0 python3 -c '
import json, sys
checkup = json.load(open(sys.argv[1]))
assert checkup["schema"] == "kentry.checkup/1", checkup["schema"]
assert {d["check"] for d in checkup["diagnoses"]} == {"entries"}
assert all(d["level"] in ("ok", "note", "warning", "critical") and d["verdict"].endswith(".") for d in checkup["diagnoses"])
assert checkup["clock_health"] is None and checkup["run"]["results"]' "$work/checkup.json"

# --- as an ordinary user ---
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$kentry" "$work/kentry"
	chmod 755 "$work" "$work/kentry"
	check "an ordinary user" 0 setpriv --reuid=65534 --regid=65534 --clear-groups "$work/kentry" doctor --budget 1 --fail-on critical
	expect '^checkup +[A-Z][a-z]+ .*[0-9]'
fi

# --- behind a command ---
# has_figure CHECKUP: whether it tells what getppid costs behind the command.
has_figure() {
	python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["behind"]["rows"]
sys.exit(not any(row["operation"] == "getppid" and row["behind"] for row in rows if row["entry"] == "syscall-x86_64"))' "$1"
}
check "a command that starts no kentry" 3 "$kentry" doctor "${short[@]}" -- true
expect 'no checkup came from behind it'
check "a command that is not there" 3 "$kentry" doctor "${short[@]}" -- /nonexistent/command
expect 'ENOENT'
check "the same for Nagios" 3 "$kentry" doctor "${short[@]}" --format nrpe -- /nonexistent/command
expect '^UNKNOWN: '
check "a wrong option for Nagios" 3 "$kentry" doctor --format nrpe --no-such-option
expect "^UNKNOWN: wrong usage"
check "a command that adds nothing" 0 "$kentry" doctor --check carried --budget 1 --fail-on critical -- env
expect 'carried: env'
if strace -o /dev/null true 2>/dev/null; then
	# A machine that is never quiet has no figure, which is no fault: it gets three tries.
	for _ in 1 2 3; do
		check "strace adds its stops" 0 "$kentry" doctor --check carried --budget 1 --fail-on never --output "$work/behind.json" -- strace -f -o /dev/null
		has_figure "$work/behind.json" && break
	done
	check "they are told in cycles" 0 python3 -c '
import json, sys
rows = {row["operation"]: row for row in json.load(open(sys.argv[1]))["behind"]["rows"] if row["entry"] == "syscall-x86_64"}
getppid = rows["getppid"]
assert getppid["is_more"] and getppid["behind"] > 5 * getppid["without"], getppid
assert getppid["more"][1] > 0' "$work/behind.json"
else
	skip "strace behind which kentry runs" "strace cannot trace here"
fi

# --- in gVisor ---
if ! runsc=$("$root/scripts/runsc.sh" 2>"$err"); then
	skip "gVisor" "$(tail -n 1 "$err")"
elif ! timeout 60 "$runsc" --rootless --network=none --ignore-cgroups do /bin/true >/dev/null 2>"$err"; then
	skip "gVisor" "it does not start here: $(tail -n 1 "$err")"
else
	check "a checkup in gVisor" 0 "$runsc" --rootless --network=none --ignore-cgroups do "$kentry" doctor --budget 2 --fail-on critical
	expect '^checkup +[A-Z][a-z]+ .*[0-9]'
	expect 'entries: [0-9]+ of [0-9]+ entries are open'
fi

# --- Prometheus and Nagios ---
mkdir "$work/metrics"
check "metrics" 0 "$kentry" doctor "${short[@]}" --fail-on never --output "$work/metrics/kentry.prom"
check "nothing is left beside them" 0 test "$(ls "$work/metrics")" = kentry.prom
if tools=$("$root/scripts/monitoring.sh" 2>"$err"); then
	export PATH=$tools/bin:$PATH
	check "promtool has no complaint" 0 bash -c 'promtool check metrics <"$1"' - "$work/metrics/kentry.prom"
	check "and says nothing" 0 test ! -s "$err" -a ! -s "$out"
	exporter=127.0.0.1:$(port)
	"$tools/root/usr/bin/prometheus-node-exporter" --collector.disable-defaults --collector.textfile --collector.textfile.directory="$work/metrics" \
		--web.listen-address="$exporter" >"$work/exporter.log" 2>&1 &
	started+=($!)
	check "node_exporter scrapes the file" 0 true
	answers "http://$exporter/metrics"
	expect '^kentry_findings\{level="ok"\} [1-9]'
	expect '^node_textfile_scrape_error 0'
		server=127.0.0.1:$(port)
	printf 'global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: kentry\n    static_configs:\n      - targets: ["%s"]\n' "$exporter" >"$work/prometheus.yml"
	"$tools/root/usr/bin/prometheus" --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" --web.listen-address="$server" >"$work/prometheus.log" 2>&1 &
	started+=($!)
	check "Prometheus has what was scraped" 0 true
	for _ in $(seq 100); do
		answers "http://$server/api/v1/query?query=kentry_findings" || break
		grep -q '"level":"ok"' "$out" && break
		sleep 0.2
	done
	expect '"__name__":"kentry_findings".*"level":"ok"'
	if [ "$(id -u)" = 0 ]; then
		nrpe=$(port)
		cp "$kentry" "$work/kentry"
		chmod 755 "$work" "$work/kentry"
		printf '%s\n' "server_port=$nrpe" server_address=127.0.0.1 nrpe_user=nobody nrpe_group=nogroup allowed_hosts=127.0.0.1 command_timeout=60 \
			"pid_file=$work/nrpe.pid" "command[kentry]=$work/kentry doctor ${short[*]} --fail-on critical --format nrpe" \
			"command[nothing]=$work/kentry doctor --format nrpe -- /nonexistent" >"$work/nrpe.cfg"
		LD_LIBRARY_PATH=$tools/root/usr/lib/x86_64-linux-gnu:$tools/root/lib/x86_64-linux-gnu "$tools/root/usr/sbin/nrpe" -n -c "$work/nrpe.cfg" -f >"$work/nrpe.log" 2>&1 &
		started+=($!)
		sleep 1
		check "NRPE runs it" 0 check_nrpe -n -H 127.0.0.1 -p "$nrpe" -t 60 -c kentry
		expect "^OK: .*\|.*critical=0"
		check "NRPE is told that nothing could be looked at" 3 check_nrpe -n -H 127.0.0.1 -p "$nrpe" -t 60 -c nothing
		expect '^UNKNOWN: '
	else
		skip "NRPE" "its daemon is started by root"
	fi
else
	skip "Prometheus and NRPE" "$(tail -n 1 "$err")"
fi

# --- interrupted ---
"$kentry" doctor --format json --fail-on never >"$out" 2>"$err" &
pid=$!
sleep 1.5
kill -TERM "$pid"
wait "$pid"
status=$?
current="interrupted"
if [ "$status" = 130 ]; then pass; else fail "status $status instead of 130"; fi

finish
