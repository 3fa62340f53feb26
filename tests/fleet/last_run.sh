# Sourced by tests/fleet.sh: fleet/last-run, on summaries that it must tell apart. It needs no engine.

last_run=$root/fleet/last-run
check "a run" 0 "$kentry" --summary "$work/last.ndjson" --exit-zero --no-save "${quick[@]}"
is_summary "$work/last.ndjson"

# says NAME STATUS LINE ARGUMENT...: one line of at most 80 bytes
says() {
	check "$1" "$2" "$last_run" "${@:4}"
	expect "$3"
	current="$1: one line of at most 80 bytes"
	if [ "$(wc -l <"$out")" = 1 ] && [ "$(wc -c <"$out")" -le 81 ] && [ ! -s "$err" ]; then pass; else fail "$(wc -c <"$out") bytes"; fi
}

# found FINDINGS: the same run with these
found() {
	sed "1s/\"findings\":{[^}]*}/\"findings\":{$1}/" "$work/last.ndjson" >"$work/found.ndjson"
}

found ''
says "no findings" 0 '^no finding is critical$' "$work/found.ndjson"
found '"clock-range":"note"'
says "notes alone" 0 '^no finding is critical$' "$work/found.ndjson"
found '"clock-apart":"critical","tsc-contradiction":"critical","store-bypass":"warning"'
says "two are critical" 1 '^kentry found: clock-apart tsc-contradiction$' "$work/found.ndjson"
says "a warning counts where it is asked for" 1 '^kentry found: clock-apart store-bypass tsc-contradiction$' --level warning "$work/found.ndjson"
found '"a-name-that-is-long-1":"critical","a-name-that-is-long-2":"critical","a-name-that-is-long-3":"critical","a-name-that-is-long-4":"critical"'
says "more than 80 bytes" 1 '^kentry found: a-name-that-is-long-1 ' "$work/found.ndjson"
sed '1s/"findings":{[^}]*}/"findings":{}/; 1s/"command_line":[^,]*/"command_line":"\\"findings\\":{\\"clock-apart\\":\\"critical\\"}"/' "$work/last.ndjson" >"$work/hostile.ndjson"
check "the line is another one" 1 cmp -s "$work/last.ndjson" "$work/hostile.ndjson"
says "a kernel's command line that looks like findings" 0 '^no finding is critical$' "$work/hostile.ndjson"
gzip -k "$work/found.ndjson"
says "gzip" 1 '^kentry found: a-name' "$work/found.ndjson.gz"
touch -d '8 days ago' "$work/found.ndjson"
says "an old run" 2 '^unknown: the last run is 7 days old, or older$' --days 7 "$work/found.ndjson"
says "no run" 2 '^unknown: no summary of a run can be read at /nonexistent$' /nonexistent
says "another file" 2 '^unknown: this is no summary of a run' "$0"
says "an option that it has not" 2 '^unknown: there is no option --levels$' --levels
says "a level that it has not" 2 '^unknown: --level is warning or critical, not note$' --level note
says "days that are no number" 2 '^unknown: --days is a whole number, not x$' --days x
