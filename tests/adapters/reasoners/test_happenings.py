"""What happened on a day, or in a month, stands below the headings of that date."""

import pytest

from adapters.reasoners.extractive.answer.happenings import happened
from core.model.evidence import Evidence, Hit
from tests.adapters.reasoners.scene import passage

STATUS = """\
22 May 2026: ovens cold

No bread before nine. A fuse had blown.

3 March 2026: vans late

Snow on the ridge road.
"""


def told(question: str) -> list[str]:
    merged = Evidence(1, Hit(passage(1, STATUS, "Status", heading=("Past incidents",)), 0.8), "asked")
    own = passage(2, "The till was down until noon.", "Status", heading=("Past incidents", "14 May 2025: no till"))
    return [
        unit.text for one in happened(question, [merged, Evidence(2, Hit(own, 0.8), "asked")]) for unit in one.units
    ]


@pytest.mark.parametrize("question", ["what happened on 22 May?", "what went wrong on the 22nd of May 2026"])
def test_a_day_has_what_stands_below_its_heading(question: str) -> None:
    assert told(question) == ["22 May 2026: ovens cold", "No bread before nine.", "A fuse had blown."]


def test_a_month_of_a_year_has_all_its_days_and_no_others() -> None:
    assert told("what went wrong in may 2025?") == ["The till was down until noon."]
    assert told("what was the problem in March 2026?") == ["3 March 2026: vans late", "Snow on the ridge road."]


@pytest.mark.parametrize(
    "question",
    [
        "what happened to the ovens on 22 May?",
        "when are we closed in May 2026?",
        "what happened in May?",
        "what happened?",
    ],
)
def test_who_asks_for_more_or_for_no_date_is_answered_otherwise(question: str) -> None:
    assert told(question) == []
