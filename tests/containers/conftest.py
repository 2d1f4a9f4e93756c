"""Tests in real containers: minutes each, so that they run when they are asked for (``make containers``)."""

import shutil
import subprocess

import pytest

IMAGE = "footnote:local"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skipped unless the marker is asked for by name."""
    if "containers" not in str(config.getoption("markexpr")):
        for item in items:
            if item.get_closest_marker("containers"):
                item.add_marker(pytest.mark.skip(reason="make containers runs it"))


@pytest.fixture(scope="session")
def engine() -> str:
    """podman with podman-compose and the image; skips by name what is missing."""
    for program in ("podman", "podman-compose"):
        if shutil.which(program) is None:
            pytest.skip(f"There is no {program} here.")
    if subprocess.run(["podman", "image", "exists", IMAGE], check=False).returncode:
        pytest.skip(f"There is no image {IMAGE}: make image builds it.")
    return "podman"
