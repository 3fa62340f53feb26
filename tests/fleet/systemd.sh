# Sourced by tests/fleet.sh: fleet/systemd, by what systemd itself says of it.

units=$root/fleet/systemd

# It looks for the programs that a unit starts.
on control install -m 755 "$kentry" /usr/local/bin/
check "systemd knows every word of the service" 0 on control systemd-analyze verify --man=no "$units/kentry.service"
current="and has no complaint"
if [ ! -s "$out" ] && [ ! -s "$err" ]; then pass; else fail "it has"; fi
check "systemd knows every word of the timer" 0 on control systemd-analyze verify --man=no "$units/kentry.timer"
sed 's/^PrivateTmp=/PrivatTmp=/' "$units/kentry.service" >"$work/kentry.service"
check "a word that it does not know" 0 on control systemd-analyze verify --man=no "$work/kentry.service"
expect "Unknown key (name )?'PrivatTmp'"
check "when the timer fires" 0 on control systemd-analyze calendar "$(sed -n 's/^OnCalendar=//p' "$units/kentry.timer")"
expect 'Normalized form: Sun \*-\*-\* 03:00:00'
check "the user is made" 0 on control systemd-sysusers "$units/kentry.sysusers"
check "the user is there" 0 on control id kentry

# The page shows the score; other versions of systemd ask more or less.
check "its exposure is low enough" 0 on control systemd-analyze security --offline=true --threshold=60 --no-pager "$units/kentry.service"
expect 'Overall exposure level for kentry.service: [0-9.]+'

# Those that systemd makes a filter of system calls for (exec_needs_... in its source, and systemd.exec(5)).
check "nothing makes a filter of system calls" 1 grep -E '^(SystemCall|Restrict|MemoryDenyWriteExecute|LockPersonality|PrivateDevices|Protect(Clock|Hostname|Kernel))' \
	"$units/kentry.service"
check "nothing makes a quota" 1 grep -E '^(CPUQuota|CPUWeight|AllowedCPUs)' "$units/kentry.service"

# --- what it starts, by its user, with nothing of a login around it; systemd itself is not started, since it would tidy this machine's /tmp ---
# line_of WORD: the line of the unit, with the folder that it is given
line_of() {
	sed -n "s/^$1=//p" "$units/kentry.service" | sed 's|%S|/var/lib|g'
}
on control install -d -o kentry /var/lib/kentry
mapfile -t as_kentry < <(printf '%s\n' on control setpriv --reuid=kentry --regid=kentry --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all env -i)
read -ra line < <(line_of ExecStart)
check "what the service starts" 0 "${as_kentry[@]}" "${line[@]}" "${quick[@]}"
on control cat /var/lib/kentry/summary.ndjson >"$work/service.ndjson"
is_summary "$work/service.ndjson"
current="no filter was there"
if sed -n 1p "$work/service.ndjson" | grep -q '"seccomp_filters":0'; then pass; else fail "$(head -c 400 "$work/service.ndjson")"; fi
read -ra line < <(line_of ExecStartPost)
check "and what it starts then" 0 "${as_kentry[@]}" "${line[@]}"
check "the metrics are there" 0 on control grep -q '^kentry_last_run_timestamp_seconds ' /var/lib/kentry/kentry.prom
