#!/usr/bin/env bash
# What `make install` and `make dist` leave behind, and that it runs where there is nothing else.
set -uo pipefail
. "$(dirname "$0")/check.sh"
cd "$root" || exit 1

# Below `make test`, make tells which directory it enters and leaves.
limit=1800 check "make dist" 0 make --no-print-directory dist
tarball=$(tail -n 1 "$out")
check "unpacking it" 0 tar -C "$work" -xzf "$tarball"
folder=$work/$(basename "$tarball" .tar.gz) packed=$root/target/x86_64-unknown-linux-gnu/dist/kentry
check "its command is static" 0 bash -c 'readelf -lW "$1" | grep LOAD && ! readelf -lW "$1" | grep INTERP' - \
	"$folder/bin/kentry"
if [ "$(id -u)" = 0 ]; then
	check "it runs in an empty root" 0 chroot "$folder/bin" /kentry --budget 0.05 --strict-budget --entry syscall-x86_64 --format csv
	expect 'syscall-x86_64,2,getppid,2,64,,hardware,ok'
else
	check "it runs with nothing around" 0 env -i "$folder/bin/kentry" --budget 0.05 --strict-budget --entry syscall-x86_64
fi
check "no larger than 10 MiB" 0 find "$folder/bin/kentry" -size -10240k
expect kentry

check "make install" 0 make install KENTRY="$packed" DESTDIR="$work/system" PREFIX=/usr
for file in bin/kentry share/man/man1/kentry.1.gz share/man/man1/kentry-explain.1.gz share/man/man1/kentry-runs-prune.1.gz share/bash-completion/completions/kentry \
	share/zsh/site-functions/_kentry share/fish/vendor_completions.d/kentry.fish share/doc/kentry/LICENSE-MIT \
	share/doc/kentry/LICENSE-spleen; do
	current="installed: $file"
	if [ -s "$work/system/usr/$file" ]; then pass; else fail "missing"; fi
done
for page in "$work"/system/usr/share/man/man1/*; do
	check "$(basename "$page") has no errors" 0 bash -c 'zcat "$1" | MANWIDTH=100 man --warnings -l - 2>&1 >/dev/null' - "$page"
	refuse warning
done

finish
