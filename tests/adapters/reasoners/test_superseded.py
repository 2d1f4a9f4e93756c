"""Versions of a document are told by their titles."""

import pytest

from adapters.reasoners.extractive.decide.versions import family
from tests.adapters.reasoners.harness import passage


@pytest.mark.parametrize(
    ("one", "other", "versions"),
    [
        ("Robot arm A3 manual", "Robot arm A5 manual", False),
        ("FAQ2", "FAQ3", False),
        ("Price list 2025", "Price list 2026", True),
        ("tariffs-2025-04-01", "tariffs-2026", True),
        ("Orders API, version 1", "Orders API, version 2", True),
        ("Terms of lease (superseded)", "Terms of lease", True),
    ],
)
def test_two_models_are_no_versions_of_a_document(one: str, other: str, *, versions: bool) -> None:
    assert (family(passage(1, "Text.", one)) == family(passage(2, "Text.", other))) is versions
