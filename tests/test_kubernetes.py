"""The Kubernetes manifests against Kubernetes' own schemas, and against what the process itself says."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.roles import ProcessRole
from bot.server import DRAIN_SECONDS, LEAVE_SECONDS
from tests.build_reference import setting_names

FOLDER = Path(__file__).parents[1] / "deploy" / "kubernetes"
KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yaml").read_text(encoding="utf-8"))
OLDEST, NEWEST = "1.30", "1.37"

Manifest = dict[str, Any]


def manifests() -> list[Manifest]:
    """Every resource that the kustomization names."""
    found: list[Manifest] = []
    for name in KUSTOMIZATION["resources"]:
        found += yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8"))
    return found


def test_the_image_is_that_of_this_version() -> None:
    version = tomllib.loads((FOLDER.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert KUSTOMIZATION["images"][0]["newTag"] == f"v{version}"  # as the release workflow tags it


DEPLOYMENTS = [one for one in manifests() if one["kind"] == "Deployment"]


def container_of(deployment: Mapping[str, Any]) -> Manifest:
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return dict(container)


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("manifest", manifests(), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_kubernetes_takes_each_of_them(manifest: Manifest, version: str) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate has the schemas")
    validate.validate(manifest, version, strict=True)


def test_a_misspelt_field_would_be_noticed() -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate has the schemas")
    (manifest, *_) = DEPLOYMENTS
    with pytest.raises(validate.ValidationError):
        validate.validate({**manifest, "spec": {**manifest["spec"], "replica": 2}}, NEWEST, strict=True)


def test_every_file_is_in_the_kustomization() -> None:
    assert {path.name for path in FOLDER.glob("*.yaml")} == {"kustomization.yaml", *KUSTOMIZATION["resources"]}


def test_the_roles_are_those_that_serve_knows() -> None:
    roles = [container_of(one)["args"][-1] for one in DEPLOYMENTS]
    assert sorted(roles) == sorted([ProcessRole.PLATFORM.value, ProcessRole.WORKER.value])


def test_settings_are_those_that_there_are() -> None:
    (generated,) = KUSTOMIZATION["configMapGenerator"]
    for line in generated["literals"]:
        assert line.partition("=")[0] in setting_names()


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda one: one["metadata"]["name"])
def test_a_pod_has_time_to_drain_and_writes_nowhere_else(deployment: Manifest) -> None:
    pod, container = deployment["spec"]["template"]["spec"], container_of(deployment)
    assert pod["terminationGracePeriodSeconds"] > DRAIN_SECONDS + LEAVE_SECONDS
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/data", "/tmp"}
    assert container["resources"]["limits"]["memory"]
    probes = {name: container[name]["httpGet"]["path"] for name in container if name.endswith("Probe")}
    assert probes == {"livenessProbe": "/healthz", "readinessProbe": "/readyz", "startupProbe": "/healthz"}


def test_selectors_find_their_pods() -> None:
    pods = [one["spec"]["template"]["metadata"]["labels"] for one in DEPLOYMENTS]
    for one in manifests():
        selector = one["spec"]["selector"]
        wanted = selector.get("matchLabels", selector)
        assert any(wanted.items() <= labels.items() for labels in pods), one["metadata"]["name"]
