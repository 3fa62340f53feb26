#!/usr/bin/env bash
# What `make install` and `make dist` leave behind: that each kind of package is whole, is installed, runs where there is nothing else, and is
# removed; and that packing again in another folder gives the same bytes. With KENTRY_WHOLE=1, all of it is built again there first.
set -uo pipefail
. "$(dirname "$0")/check.sh"
cd "$root" || exit 1
target=x86_64-unknown-linux-gnu
packed=$root/target/$target/dist/kentry
# A measurement that is soon over, and its line.
measure=("${quick[@]}" --entry syscall-x86_64 --format csv)
measured='syscall-x86_64,2,getppid,2,64,,hardware,ok'

main() {
	# Below `make test`, make tells which directory it enters and leaves.
	limit=1800 check "make dist" 0 make --no-print-directory dist
	name=$(basename dist/kentry-*.tar.gz .tar.gz)
	version=${name#kentry-} version=${version%-x86_64-*} version=${version/-/\~}
	check "checksums of everything" 0 bash -c 'cd dist && sha256sum --strict -c SHA256SUMS && [ $(wc -l <SHA256SUMS) = $(($(ls | wc -l) - 1)) ]'
	tarball
	make_install
	debian
	rpm_root
	image
	bill_of_materials
	cargo_install
	somewhere_else
}

# holds FOLDER FILE...: that each is there, and says something
holds() {
	local file folder=$1
	shift
	for file; do
		current="$folder holds $file"
		if [ -s "$folder/$file" ]; then pass; else fail "missing"; fi
	done
}

tarball() {
	local folder=$work/$name
	check "unpacking the tarball" 0 tar -C "$work" -xzf "dist/$name.tar.gz"
	check "its command is static" 0 bash -c 'readelf -lW "$1" | grep LOAD && ! readelf -lW "$1" | grep INTERP' - \
		"$folder/bin/kentry"
	if [ "$(id -u)" = 0 ]; then
		check "it runs in an empty root" 0 chroot "$folder/bin" /kentry "${measure[@]}"
		expect "$measured"
	else
		check "it runs with nothing around" 0 env -i "$folder/bin/kentry" "${measure[@]}"
	fi
	check "no larger than 13 MiB" 0 find "$folder/bin/kentry" -size -13312k
	expect kentry
	check "it knows no folder of this machine" 1 grep -aoE -m 1 "($root|${CARGO_HOME:-$HOME/.cargo}|index\.[a-z.]*-[0-9a-f]{16})/[ -~]{0,80}" "$folder/bin/kentry"
}

make_install() {
	local page
	check "make install" 0 make install KENTRY="$packed" DESTDIR="$work/system" PREFIX=/usr
	holds "$work/system/usr" bin/kentry share/man/man1/kentry.1.gz share/man/man1/kentry-explain.1.gz share/man/man1/kentry-runs-prune.1.gz \
		share/bash-completion/completions/kentry share/zsh/site-functions/_kentry share/fish/vendor_completions.d/kentry.fish \
		share/doc/kentry/LICENSE-MIT share/doc/kentry/LICENSE-spleen
	for page in "$work"/system/usr/share/man/man1/*; do
		check "$(basename "$page") has no errors" 0 bash -c 'zcat "$1" | MANWIDTH=100 man --warnings -l - 2>&1 >/dev/null' - "$page"
		refuse warning
	done
}

# In a Debian that has nothing else, with the shells' own ways to find what completes a command.
debian() {
	local archive system=$work/debian
	inside=(env -u XDG_DATA_HOME HOME=/tmp/home LC_ALL=C.UTF-8 chroot "$system")
	archive=$(scripts/debian-root.sh 2>"$err") || { skip "the package in a clean Debian" "$(tail -n 1 "$err")"; return; }
	mkdir "$system"
	check "unpacking a Debian" 0 tar -C "$system" -xf "$archive"
	cp dist/*.deb "$system/tmp/kentry.deb"
	files "$system" >"$work/before"
	check "dpkg installs it" 0 "${inside[@]}" dpkg -i /tmp/kentry.deb
	check "dpkg finds it whole" 0 "${inside[@]}" dpkg --verify kentry
	holds "$system/usr/share/doc/kentry" copyright changelog.gz LICENSE-crates README.md run.schema.json
	check "it needs nothing" 0 "${inside[@]}" dpkg-query -W -f '${Depends}|${Recommends}|${Version}' kentry
	expect "^\|\|$version-1\$"
	check "it runs" 0 "${inside[@]}" kentry --version
	expect "^kentry $version\$"
	check "man finds its page" 0 "${inside[@]}" man kentry
	expect '^SYNOPSIS'
	check "man finds a command's page" 0 "${inside[@]}" man kentry-runs-prune
	expect '^SYNOPSIS'
	check "bash completes it" 0 "${inside[@]}" bash -c '. /usr/share/bash-completion/bash_completion
		loader=$(complete -p -D | sed "s/.*-F \([^ ]*\).*/\1/"); "$loader" kentry; complete -p kentry'
	expect '^complete .*kentry'
	check "zsh completes it" 0 "${inside[@]}" zsh -fc 'autoload -U compinit; compinit -D; print -r -- "$_comps[kentry]"'
	expect '^_kentry$'
	check "fish completes it" 0 "${inside[@]}" fish -c 'complete -C "kentry expl"'
	expect '^explain'
	check "dpkg removes it" 0 "${inside[@]}" dpkg --purge kentry
	check "nothing is left of it" 0 diff "$work/before" <(files "$system")
	rm -rf "$system"
}

# What is in a system, without what dpkg and man write down for themselves.
files() {
	(cd "$1" && find . -path ./tmp -prune -o -path ./var/log -prune -o -path ./var/lib/dpkg -prune -o -path ./var/cache -prune -o -print | sort)
}

# With a database of its own: Debian's rpm knows none of the distributions that the package is for.
rpm_root() {
	local system=$work/rpm package=(dist/*.rpm) on_debian=()
	command -v rpm >/dev/null || { skip "the RPM package" "no rpm"; return; }
	check "the RPM package is whole" 0 rpm --checksig --nosignature "${package[@]}"
	expect 'digests OK'
	check "it needs nothing but an rpm that reads it" 1 bash -c 'rpm -qp --requires "$1" | grep -v "^rpmlib("' - "${package[@]}"
	[ "$(id -u)" = 0 ] || { skip "the RPM package, installed" "only root can"; return; }
	# Debian 12's rpm installs nothing on Debian without it; Debian 13's does, and does not know it.
	rpm --help | grep -- --force-debian >/dev/null && on_debian=(--force-debian)
	mkdir "$system"
	check "rpm installs it" 0 rpm --root "$system" "${on_debian[@]}" --nodeps -i "$root/${package[0]}"
	check "rpm finds it whole" 0 rpm --root "$system" --nodeps -V kentry
	holds "$system/usr/share" man/man1/kentry.1.gz man/man1/kentry-runs-prune.1.gz bash-completion/completions/kentry \
		zsh/site-functions/_kentry fish/vendor_completions.d/kentry.fish doc/kentry/README.md doc/kentry/run.schema.json \
		licenses/kentry/LICENSE-MIT licenses/kentry/LICENSE-APACHE licenses/kentry/LICENSE-spleen licenses/kentry/LICENSE-uPlot \
		licenses/kentry/LICENSE-crates
	check "it runs" 0 chroot "$system" /usr/bin/kentry --version
	expect "^kentry $version\$"
	check "rpm removes it" 0 rpm --root "$system" "${on_debian[@]}" -e kentry
	check "no file is left of it" 0 bash -c '! find "$1" ! -type d | grep kentry' - "$system"
}

# skopeo reads it as podman and CRI-O do; runc runs it as containerd and docker do.
image() {
	local file=$root/dist/$name.image.tar
	check "the image is what its digests say" 0 python3 tests/image.py check "$file"
	if command -v skopeo >/dev/null; then
		check "skopeo reads it as an OCI image" 0 skopeo --insecure-policy copy "oci-archive:$file" "dir:$work/oci"
		check "skopeo reads it as an image of docker's" 0 skopeo --insecure-policy copy "docker-archive:$file" "dir:$work/docker"
		check "which is called by its version" 0 skopeo inspect "docker-archive:$file:kentry:$version"
	else
		skip "the image, read" "no skopeo"
	fi
	command -v runc >/dev/null || { skip "the image in a container" "no runc"; return; }
	check "the image as a bundle" 0 python3 tests/image.py bundle "$file" "$work/bundle" "${measure[@]}" --no-save
	[ -e "$work/bundle/config.json" ] || return
	can_contain || { skip "the image in a container" "runc runs none here: $why"; return; }
	check "runc runs it" 0 runc --root "$work/runc" run --bundle "$work/bundle" "kentry-$$"
	expect "$measured"
}

# Whether runc runs anything here: a busybox, in the bundle's own way.
can_contain() {
	local other=$work/busybox
	mkdir -p "$other/rootfs/bin"
	cp /bin/busybox "$other/rootfs/bin/true" && sed 's|"args": *\[[^]]*\]|"args": ["/bin/true"]|' "$work/bundle/config.json" >"$other/config.json"
	why=$(runc --root "$work/runc" run --bundle "$other" "true-$$" 2>&1 </dev/null) && return
	why=$(head -n 1 <<<"$why")
	return 1
}

# Against what cargo says that it has linked.
bill_of_materials() {
	check "what cargo links" 0 scripts/cargo-dist.sh build --quiet --message-format json
	cp "$out" "$work/messages"
	check "the SBOM names each of that, and no more" 0 python3 - "dist/$name.cdx.json" "$work/messages" "$packed" \
		"$work/$name/share/doc/kentry/LICENSE-crates" <<'END'
import hashlib, json, re, sys

bom = json.load(open(sys.argv[1]))
command = bom["metadata"]["component"]
assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.5")
assert command["hashes"][0]["content"] == hashlib.sha256(open(sys.argv[3], "rb").read()).hexdigest()
linked = set()
for message in map(json.loads, open(sys.argv[2])):
    if message["reason"] == "compiler-artifact" and "lib" in message["target"]["kind"]:
        if any("/x86_64-unknown-linux-gnu/dist/" in file for file in message["filenames"]):
            # Of a crate in a folder of its name, there is the version alone.
            path, name = message["package_id"].split("#")
            linked.add(name.replace("@", " ") if "@" in name else path.rsplit("/")[-1] + " " + name)
linked.discard(f"kentry {command['version']}")
named = [component for component in bom["components"] if component["bom-ref"].startswith("pkg:cargo/")]
required = {f"{component['name']} {component['version']}" for component in named if component["scope"] == "required"}
assert len(linked) > 100 and required == linked, (required - linked, linked - required)
# Whatever is not in the repository has a checksum, and a licence that is passed on; and each is called by a name of its own.
strangers = [component for component in named if "hashes" in component]
notices = re.split(r", |\n", open(sys.argv[4]).read().replace(": ", "\n"))
assert len(strangers) > 90
for component in strangers:
    assert component["scope"] == "excluded" or f"{component['name']} {component['version']}" in notices, component
references = [command["bom-ref"]] + [component["bom-ref"] for component in bom["components"]]
assert len(references) == len(set(references))
for dependency in bom["dependencies"]:
    assert {dependency["ref"], *dependency["dependsOn"]} <= set(references), dependency
assert {"glibc", "libgcc", "rust-std", "uPlot", "spleen"} <= {component["name"] for component in bom["components"]}
assert all(component["licenses"][0]["expression"] for component in bom["components"])
END
}

# From the checkout, of what is built already.
cargo_install() {
	check "cargo install" 0 scripts/cargo-dist.sh install --path crates/kentry --root "$work/installed" --no-track
	refuse Compiling
	check "what it installs is the same command" 0 cmp "$work/installed/bin/kentry" "$packed"
}

# In another folder, with other settings of whoever packs, and with cargo's own folder somewhere else, too: what is packed there has the same
# bytes. To build it there takes minutes.
somewhere_else() {
	local there=$work/somewhere/else/kentry surroundings=(env CARGO_HOME="$work/cargo" TZ=Asia/Tokyo LC_ALL=C.UTF-8
		SOURCE_DATE_EPOCH="$(date_of_packages)")
	mkdir -p "$there" "$work/cargo"
	tar -c --exclude=./target --exclude=./dist --exclude=./.git . | tar -C "$there" -x
	ln -s "${CARGO_HOME:-$HOME/.cargo}"/* "$work/cargo/"
	if [ "${KENTRY_WHOLE-}" = 1 ]; then
		limit=1800 check "make dist, somewhere else" 0 "${surroundings[@]}" make --no-print-directory -C "$there" dist
	else
		(umask 077 && mkdir "$there/target" && cp "$packed" "$there/target/kentry")
		check "packing, somewhere else" 0 "${surroundings[@]}" bash -c 'umask 077; cd "$1" && scripts/dist.sh target/kentry "$2"' - "$there" "$name"
	fi
	check "it gives the same bytes" 0 diff dist/SHA256SUMS "$there/dist/SHA256SUMS"
}

# The last commit's: what stands in the tarball.
date_of_packages() {
	date -d "$(TZ=UTC tar -tv --full-time -f "dist/$name.tar.gz" | awk 'NR == 1 { print $4, $5 }') UTC" +%s
}

main
finish
