"""The exact versions that are installed with are there for every Python that the project says it runs on."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

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
