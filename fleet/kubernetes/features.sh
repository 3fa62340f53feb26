#!/bin/sh
# What a run's summary says, as labels for Node Feature Discovery (a file of its features.d): which entries are open, and which findings are more
# than a note. There are no figures among them: a label that changes with each run is no use to a scheduler.
#
#	features.sh SUMMARY [DAYS]	the labels expire after so many days [default: 30]
set -eu

summary=${1:?usage: features.sh SUMMARY [DAYS]}
prefix=feature.node.kubernetes.io/kentry

run=$(sed -n 1p "$summary")
case $run in
'{"schema":"kentry.summary/1","kind":"run",'*) ;;
*) echo "features.sh: this is no summary of a run: $summary" >&2 && exit 1 ;;
esac

echo "# +expiry-time=$(date -u -d "@$(($(date +%s) + ${2:-30} * 86400))" +%Y-%m-%dT%H:%M:%SZ)"
# In a string of JSON quotes are escaped, so that these can only be keys.
printf '%s\n' "$run" | sed -n 's/.*"findings":{\([^}]*\)}.*/\1/p' | tr ',' '\n' |
	sed -nE "s#^\"([a-z0-9-]+)\":\"(warning|critical)\"\$#$prefix.finding.\\1=\\2#p"
sed -nE '2,$s/.*"entry":"([a-z0-9_-]+)".*"outcome":"([a-z]+)".*/\1 \2/p' "$summary" |
	awk -v prefix="$prefix" '
		!($1 in is) { is[$1] = "closed" }
		$2 == "ok" { is[$1] = "open" }
		END { for (entry in is) print prefix ".entry." entry "=" is[entry] }' | sort
