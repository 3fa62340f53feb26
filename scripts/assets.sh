#!/usr/bin/env bash
# Puts manual page, completions, schema and licences under a prefix: assets.sh COMMAND PREFIX
set -euo pipefail
command=$1 share=$2/share
root=$(dirname "$0")/..

install -d "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/site-functions" \
	"$share/fish/vendor_completions.d" "$share/doc/kentry"
"$command" man | gzip -9n >"$share/man/man1/kentry.1.gz"
for subcommand in measure lab report list explain completions man; do
	"$command" man $subcommand | gzip -9n >"$share/man/man1/kentry-$subcommand.1.gz"
done
"$command" completions bash >"$share/bash-completion/completions/kentry"
"$command" completions zsh >"$share/zsh/site-functions/_kentry"
"$command" completions fish >"$share/fish/vendor_completions.d/kentry.fish"
install -m 644 "$root"/{README.md,CHANGELOG.md,LICENSE-MIT,LICENSE-APACHE,lab/serial/LICENSE-spleen,crates/report/assets/uplot/LICENSE-uPlot} \
	"$root"/docs/{run.schema.json,run-1.schema.json} "$share/doc/kentry"
