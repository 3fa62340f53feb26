#!/usr/bin/env python3
"""Prints the licences of all crates that are linked into the command, as their packages have them: most ask whoever passes a program on to
pass them on, too.

    scripts/notices.py SBOM

Each text stands once, under the crates that have it.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("license", "licence", "copying", "copyright", "notice", "unlicense")


def folders(target):
    """Where the sources of each crate are, by (name, version)."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    return {(package["name"], package["version"]): Path(package["manifest_path"]).parent for package in metadata["packages"]}


def texts(folder):
    files = [file for file in folder.iterdir() if file.is_file() and file.name.lower().startswith(NAMES)]
    return [file.read_text(errors="replace").replace("\r\n", "\n").strip("\n") for file in sorted(files)]


def main():
    bom = json.load(open(sys.argv[1]))
    sources = folders("x86_64-unknown-linux-gnu")
    owners, silent = {}, []
    for crate in bom["components"]:
        # Those of the repository have its own licence; what only runs during the build is passed on to nobody.
        if crate["scope"] != "required" or "purl" not in crate:
            continue
        name = f"{crate['name']} {crate['version']}"
        found = texts(sources[crate["name"], crate["version"]])
        for text in found:
            owners.setdefault(text, []).append(name)
        if not found:
            silent.append(f"{name}: {crate['licenses'][0]['expression']}")
    if not owners:
        sys.exit(f"notices.py: {sys.argv[1]} names no crate that has a licence")
    print("Crates that are linked into kentry, and their licences.")
    for text, crates in sorted(owners.items(), key=lambda item: item[1]):
        print(f"\n{'-' * 80}\n{', '.join(crates)}\n\n{text}")
    if silent:
        print(f"\n{'-' * 80}\nWithout a text of its own, by its manifest:\n\n" + "\n".join(silent))


main()
