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
