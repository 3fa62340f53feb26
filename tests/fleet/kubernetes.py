"""kubernetes.py SCHEMAS FILE...: whether each manifest is what Kubernetes' API takes, and its pods what the page promises."""

import json
import pathlib
import sys

import jsonschema
import yaml


def schema_of(folder, manifest):
    group, _, version = manifest["apiVersion"].rpartition("/")
    name = "-".join(part for part in (manifest["kind"].lower(), group.split(".")[0], version) if part)
    schema = json.loads((folder / f"{name}.json").read_text())
    schema.pop("$id", None)  # or what it refers to would be looked for in the network
    return schema


def check_pod(pod):
    """Restricted in all but the filter, which would be in the figures; no quota, which would stop a probe."""
    assert pod["automountServiceAccountToken"] is False
    security = pod["securityContext"]
    assert security["runAsNonRoot"] is True and security["runAsUser"] > 0, security
    assert security["seccompProfile"] == {"type": "Unconfined"}, security
    assert not any(pod.get(key) for key in ("hostNetwork", "hostPID", "hostIPC"))
    for container in pod["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, container["securityContext"]
        assert "cpu" in container["resources"]["requests"] and "cpu" not in container["resources"]["limits"], container["resources"]
        mounted, declared = ({v["name"] for v in of} for of in (container["volumeMounts"], pod["volumes"]))
        assert mounted == declared, mounted ^ declared


folder = pathlib.Path(sys.argv[1])
definitions = {"/api/_definitions.json": json.loads((folder / "_definitions.json").read_text())}
for path in sys.argv[2:]:
    for manifest in yaml.safe_load_all(open(path)):
        try:
            jsonschema.validate(manifest, schema_of(folder, manifest), resolver=jsonschema.RefResolver("", None, store=definitions))
        except jsonschema.ValidationError as error:
            sys.exit(f"{path}: {manifest['kind']} {'.'.join(map(str, error.absolute_path))}: {error.message}")
        if "template" in manifest.get("spec", {}):
            check_pod(manifest["spec"]["template"]["spec"])
        print(f"{manifest['kind']} is as it should be")
