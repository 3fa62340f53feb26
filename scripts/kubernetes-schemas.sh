#!/usr/bin/env bash
# Puts the JSON schemas of Kubernetes' API, the newest in the Python package kubernetes-validate, into target/kubernetes-schemas/.
#
#	scripts/kubernetes-schemas.sh [ENGINES]		a folder of scripts/engines.sh, for where this machine has no pip
#
# Prints the folder. Ends with 77 where they cannot be had; the last line on stderr says why.
set -euo pipefail

folder=$(cd "$(dirname "$0")/.." && pwd)/target/kubernetes-schemas
packages=${1-}/usr/lib/python3/dist-packages

# The package has a hundred megabytes of all versions; one of them is kept.
make_anew() {
	local newest
	mkdir -p "${folder%/*}"
	work=$(mktemp -d "$folder.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	PYTHONPATH=$packages python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$work" kubernetes-validate \
		>/dev/null 2>"$work/said" || { cannot "pip cannot fetch them: $(tail -n 1 "$work/said")"; return; }
	python3 -m zipfile -e "$work"/*.whl "$work/all"
	newest=$(find "$work/all" -type d -name 'v*-local-strict' | sort -V | tail -n 1)
	[ -e "$newest/daemonset-apps-v1.json" ] || { cannot "the package is arranged otherwise now"; return; }
	rm -rf "$folder"
	mv "$newest" "$folder"
}

cannot() {
	echo "kubernetes-schemas.sh: the schemas cannot be had here: $1" >&2
	return 1
}

[ -e "$folder/daemonset-apps-v1.json" ] || make_anew || exit 77
echo "$folder"
