"""The exact versions of constraints.txt, and their hashes in requirements.lock, which the image is built with."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

ROOT = Path(__file__).parents[2]
OLDEST = "3.11.0"
PINS = [Requirement(line) for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line[:60]]


@pytest.mark.parametrize("pin", PINS, ids=lambda pin: pin.name)
def test_a_pinned_version_installs_on_the_oldest_python(pin: Requirement) -> None:
    """Debian 12 has 3.11.2: one package that wanted 3.11.5 kept all of it from being installed there."""
    try:
        found = distribution(pin.name)
    except PackageNotFoundError:
        pytest.skip("The pinned package is not installed here.")
    if not pin.specifier.contains(found.version, prereleases=True):
        pytest.skip("Another version of the pinned package is installed here.")
    assert SpecifierSet(found.metadata["Requires-Python"] or "").contains(OLDEST)


LOCKED = re.compile(r"^([a-z][^\\]+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)
LEFT_OUT = re.compile(r"torch|triton|nvidia-.*|cuda-.*")  # the image takes the CPU build of PyTorch from its own index


@pytest.fixture(scope="module")
def lock() -> dict[NormalizedName, Requirement]:
    """The packages of the lock that this platform installs."""
    text = (ROOT / "requirements.lock").read_text()
    assert LOCKED.sub("", text) == "", "A line is no package with hashes."
    found = [Requirement(match[1]) for match in LOCKED.finditer(text)]
    return {canonicalize_name(one.name): one for one in found if one.marker is None or one.marker.evaluate()}


def test_the_lock_has_the_versions_of_the_constraints(lock: dict[NormalizedName, Requirement]) -> None:
    pinned = {canonicalize_name(pin.name): str(pin.specifier) for pin in PINS}
    assert {name: str(one.specifier) for name, one in lock.items()} == {name: pinned.get(name) for name in lock}


def test_the_lock_has_all_that_the_image_installs(lock: dict[NormalizedName, Requirement]) -> None:
    waiting, seen = [("footnote", frozenset({"s3"}))], set()
    while waiting:
        name, extras = waiting.pop()
        for line in distribution(name).requires or ():
            one = Requirement(line)
            wanted = canonicalize_name(one.name), frozenset(one.extras)
            applies = one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in (*extras, ""))
            if applies and wanted not in seen and (name != "torch" or not LEFT_OUT.fullmatch(wanted[0])):
                seen.add(wanted)
                waiting.append(wanted)
    assert {name for name, _ in seen if not LEFT_OUT.fullmatch(name)} == set(lock)
