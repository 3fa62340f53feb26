#!/usr/bin/env python3
"""Prints what is inside the packed command, in the JSON of CycloneDX 1.5 (a software bill of materials).

    SOURCE_DATE_EPOCH=SECONDS scripts/sbom.py COMMAND NAME        NAME is kentry-VERSION-TARGET

Crates are those that cargo builds into the command, with checksums of Cargo.lock; crates that only run while it is built (build scripts,
procedural macros, and what they need) have the scope "excluded". What is no crate is listed, too: the C library and the standard library by
what the command's own bytes say, the page's plots and the lab's font by their files. A fact that is not found ends it.

It is not cargo-cyclonedx, which names crates of the workspace by the path where they lie and knows of crates alone: its list would be another
one in every folder, and without the C library.
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATE = re.compile(r"^(\d+)(\S+) v(\S+)(?: \([^\t]*\))?\t(.*?)(?: \(\*\))?$")


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def found(pattern, text, where):
    match = re.search(pattern, text)
    if not match:
        sys.exit(f"sbom.py: {where} does not tell its version ({pattern})")
    return match[1]


def c_library(text):
    """The version of the C library in these bytes: that of the distribution's package, where they say it."""
    match = re.search(r"GNU C Library \(([^)]*)\) \w+ release version ([\d.]*\d)", text)
    if not match:
        sys.exit("sbom.py: the command does not tell the version of its C library")
    packaged = match[1].split("GLIBC ")
    return packaged[1] if len(packaged) == 2 else match[2]


def tree(target, edges):
    """Crates of the command as (name, version): their licence, and what each of them needs."""
    lines = output("cargo", "tree", "--locked", "--package", "kentry", "--target", target, "--edges", edges,
                   "--prefix", "depth", "--format", "{p}\t{l}").splitlines()
    licences, needs, above = {}, {}, []
    for line in lines:
        match = CRATE.match(line)
        if not match:
            sys.exit(f"sbom.py: cargo tree says what it did not use to: {line}")
        depth, name, version, licence = int(match[1]), match[2], match[3], match[4]
        crate = (name, version)
        # An old way to write it, which SPDX does not know.
        licences[crate] = licence.replace("/", " OR ")
        needs.setdefault(crate, set())
        del above[depth:]
        if above:
            needs[above[-1]].add(crate)
        above.append(crate)
    return licences, needs


def reference(crate):
    return "pkg:cargo/{}@{}".format(*crate)


def crates(target):
    """Components for all crates but the command itself, and what each of all needs."""
    licences, needs = tree(target, "normal,build")
    linked, _ = tree(target, "normal,no-proc-macro")
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    checksums = {(package["name"], package["version"]): package.get("checksum") for package in lock["package"]}
    components = []
    for crate, licence in sorted(licences.items()):
        if crate[0] == "kentry":
            continue
        component = {
            "type": "library",
            "bom-ref": reference(crate),
            "name": crate[0],
            "version": crate[1],
            "scope": "required" if crate in linked else "excluded",
            "licenses": [{"expression": licence}],
        }
        # Crates of the workspace are published nowhere: no package of that name would be theirs.
        if checksums[crate]:
            component["hashes"] = [{"alg": "SHA-256", "content": checksums[crate]}]
            component["purl"] = reference(crate)
        components.append(component)
    return components, needs


def bundled(command):
    """What is no crate."""
    text = command.decode("latin-1")
    plots = (ROOT / "crates/report/assets/uplot/uPlot.iife.min.js").read_text()
    font = (ROOT / "lab/serial/LICENSE-spleen").read_text()
    return [
        outside("glibc", c_library(text), "LGPL-2.1-or-later", "linked statically"),
        outside("libgcc", output("cc", "-dumpfullversion").strip(),
                "GPL-3.0-or-later WITH GCC-exception-3.1", "linked statically: unwinding, arithmetic"),
        outside("rust-std", found(r"rustc version (\d\S+)", text, "the standard library"),
                "MIT OR Apache-2.0", "Rust's standard library, linked statically, with the crates that it brings"),
        outside("uPlot", found(r"\(v([\d.]+)\)", plots, "uPlot"),
                "MIT", "plots on the pages that the command writes (crates/report/assets/uplot)"),
        # Its files say years, not a version.
        outside("spleen", None, "BSD-2-Clause", "letters of the lab kernel's screen (lab/serial/font.c), "
                + found(r"(Copyright .*)", font, "Spleen")),
    ]


def outside(name, version, licence, description):
    component = {
        "type": "library",
        "bom-ref": f"pkg:generic/{name}" + (f"@{version}" if version else ""),
        "name": name,
        "version": version,
        "description": description,
        "scope": "required",
        "licenses": [{"expression": licence}],
    }
    return {key: value for key, value in component.items() if value is not None}


def main():
    command, (_, version, target) = Path(sys.argv[1]).read_bytes(), sys.argv[2].split("-", 2)
    digest = hashlib.sha256(command).hexdigest()
    kentry = ("kentry", version)
    components, needs = crates(target)
    others = bundled(command)
    dependencies = {reference(crate): {reference(needed) for needed in below} for crate, below in needs.items()}
    dependencies[reference(kentry)] |= {component["bom-ref"] for component in others}
    made = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    bom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        # The same for the same command.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "version": 1,
        "metadata": {
            "timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": reference(kentry),
                "name": "kentry",
                "version": version,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
                "hashes": [{"alg": "SHA-256", "content": digest}],
            },
        },
        "components": components + others,
        "dependencies": [{"ref": ref, "dependsOn": sorted(below)} for ref, below in sorted(dependencies.items())],
    }
    print(json.dumps(bom, indent=1))


main()
