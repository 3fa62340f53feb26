#!/usr/bin/env bash
# Writes dist/NAME.image.tar, an image for containers that holds the static command and its licences alone. No daemon takes part: an image is
# a tar file of JSON and layers that are called by their SHA-256. This one is an OCI layout, and has the list of `docker save` besides, so that
# podman, docker, skopeo, ctr and kind load it.
#
#	SOURCE_DATE_EPOCH=SECONDS scripts/image.sh FOLDER NAME		of what dist.sh has laid out in FOLDER; NAME is kentry-VERSION-TARGET
set -euo pipefail
cd "$(dirname "$0")/.."
stage=$1 name=$2
version=${name#kentry-} version=${version%%-*}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
blobs=$work/image/blobs/sha256
mkdir -p "$blobs"

# pack FOLDER: a tar file of it, the same for the same files
pack() {
	(cd "$1" && tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=ustar -c -- *)
}

sum() {
	sha256sum "$1" | cut -d ' ' -f 1
}

# blob FILE: moves it among the blobs; its digest and size, as a descriptor has them
blob() {
	local digest
	digest=$(sum "$1")
	mv "$1" "$blobs/$digest"
	printf '"digest":"sha256:%s","size":%d' "$digest" "$(stat -c %s "$blobs/$digest")"
}

# The digest in what `blob` says.
digest_in() {
	local rest=${1#*sha256:}
	echo "${rest%%\"*}"
}

# Probes are executed from memory; /tmp is for what a command under `--under` may want.
install -D -m 755 -t "$work/root/usr/bin" "$stage/bin/kentry"
install -D -m 644 -t "$work/root/usr/share/doc/kentry" "$stage"/share/doc/kentry/LICENSE-*
install -d -m 1777 "$work/root/tmp"
pack "$work/root" >"$work/layer.tar"
unpacked=$(sum "$work/layer.tar")
gzip -9n "$work/layer.tar"
layer=$(blob "$work/layer.tar.gz")

created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)
description=$(sed -n 's/^description = "\(.*\)"/\1/p' Cargo.toml)
cat >"$work/config" <<END
{"created":"$created","architecture":"amd64","os":"linux",
"config":{"Entrypoint":["/usr/bin/kentry"],"Env":["PATH=/usr/bin"],"WorkingDir":"/","Labels":{"org.opencontainers.image.title":"kentry",
"org.opencontainers.image.version":"$version","org.opencontainers.image.description":"$description",
"org.opencontainers.image.licenses":"MIT OR Apache-2.0"}},
"rootfs":{"type":"layers","diff_ids":["sha256:$unpacked"]},
"history":[{"created":"$created","created_by":"scripts/image.sh"}]}
END
config=$(blob "$work/config")

cat >"$work/manifest" <<END
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",
"config":{"mediaType":"application/vnd.oci.image.config.v1+json",$config},
"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip",$layer}]}
END
manifest=$(blob "$work/manifest")

echo '{"imageLayoutVersion":"1.0.0"}' >"$work/image/oci-layout"
cat >"$work/image/index.json" <<END
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json",
"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json",$manifest,"platform":{"architecture":"amd64","os":"linux"},
"annotations":{"org.opencontainers.image.ref.name":"kentry:$version"}}]}
END
cat >"$work/image/manifest.json" <<END
[{"Config":"blobs/sha256/$(digest_in "$config")","RepoTags":["kentry:$version"],"Layers":["blobs/sha256/$(digest_in "$layer")"]}]
END
pack "$work/image" >"dist/$name.image.tar"
