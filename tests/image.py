#!/usr/bin/env python3
"""Container images as files (scripts/image.sh).

    image.py check IMAGE                        whether each blob is what its digest and size say, and the layer what the configuration says
    image.py bundle IMAGE FOLDER ARGUMENT...    makes a bundle for runc that runs what the image runs, with arguments
"""

import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path


class Image:
    """One that has one manifest and one layer."""

    def __init__(self, path):
        with tarfile.open(path) as archive:
            files = [member for member in archive.getmembers() if member.isfile()]
            self.files = {member.name: archive.extractfile(member).read() for member in files}
        self.used = {"oci-layout", "index.json", "manifest.json"}
        self.index = json.loads(self.files["index.json"])
        [manifest] = self.index["manifests"]
        self.manifest = json.loads(self.blob(manifest))
        self.config = json.loads(self.blob(self.manifest["config"]))
        [layer] = self.manifest["layers"]
        self.layer = gzip.decompress(self.blob(layer))

    def blob(self, descriptor):
        name = "blobs/" + descriptor["digest"].replace(":", "/")
        self.used.add(name)
        blob = self.files[name]
        assert descriptor["size"] == len(blob), name
        assert descriptor["digest"] == "sha256:" + hashlib.sha256(blob).hexdigest(), name
        return blob


def check(image):
    assert json.loads(image.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    assert image.config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(image.layer).hexdigest()]
    assert len(image.config["history"]) == 1
    # What docker reads is the same image, and nothing else is in the file.
    [listed] = json.loads(image.files["manifest.json"])
    assert {listed["Config"], *listed["Layers"]} <= image.used
    assert set(image.files) == image.used, set(image.files) ^ image.used
    with tarfile.open(fileobj=io.BytesIO(image.layer)) as layer:
        for member in layer.getmembers():
            assert (member.uid, member.gid, member.isfile() or member.isdir()) == (0, 0, True), member.name


def bundle(image, folder, arguments):
    rootfs = folder / "rootfs"
    rootfs.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(image.layer)) as layer:
        # The image is our own. Newer versions of Python ask which files are taken; that of Debian 12 does not know the word.
        layer.extractall(rootfs, **({"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}))
    subprocess.run(["runc", "spec", "--bundle", folder], check=True)
    path = folder / "config.json"
    spec = json.loads(path.read_text())
    process, config = spec["process"], image.config["config"]
    process.update(terminal=False, args=config["Entrypoint"] + arguments, env=config["Env"], cwd=config["WorkingDir"])
    path.write_text(json.dumps(spec))


def main():
    what, image = sys.argv[1], Image(sys.argv[2])
    if what == "check":
        check(image)
    else:
        bundle(image, Path(sys.argv[3]), sys.argv[4:])


main()
