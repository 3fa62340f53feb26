#!/usr/bin/env bash
# Puts manual pages, completions, schemas and licences under a prefix, readable for everybody whatever the umask: assets.sh COMMAND PREFIX
set -euo pipefail
command=$1 share=$2/share
root=$(dirname "$0")/..

# put FILE: what comes in
put() {
	install -D -m 644 /dev/stdin "$share/$1"
}

# manual [WORD...]: the page of what the words name, and the pages that it names
manual() {
	local page name below
	page=$("$command" man "$@")
	name=$(IFS=- && echo "kentry${*:+-$*}")
	gzip -9n <<<"$page" | put "man/man1/$name.1.gz"
	for below in $(sed -n "s/\\\\//g; s/^$name-\([a-z]*\)(1)\$/\1/p" <<<"$page"); do
		manual "$@" "$below"
	done
}

umask 022
manual
"$command" completions bash | put bash-completion/completions/kentry
"$command" completions zsh | put zsh/site-functions/_kentry
"$command" completions fish | put fish/vendor_completions.d/kentry.fish
install -D -m 644 -t "$share/doc/kentry" "$root"/{README.md,CHANGELOG.md,LICENSE-MIT,LICENSE-APACHE} "$root"/docs/*.schema.json \
	"$root"/lab/serial/LICENSE-spleen "$root"/crates/report/assets/uplot/LICENSE-uPlot
