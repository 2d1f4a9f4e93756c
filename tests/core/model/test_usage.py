"""Counts of outcomes, under the same stored names since the first version."""

from core.model.answer import Outcome, UsageCounts

KEPT = {"outcome.answered": 4, "outcome.failed": 1, "feedback.helpful": 3, "feedback.unhelpful": 2,
        "answers.searched": 5, "answers.one_search": 2}  # fmt: skip
COUNTED = UsageCounts({Outcome.ANSWERED: 4, Outcome.FAILED: 1}, 3, 2, 5, 2)


def test_what_is_counted_is_kept_under_its_old_names_and_read_back() -> None:
    assert COUNTED.to_mapping() == KEPT
    assert UsageCounts.from_mapping(KEPT) == COUNTED


def test_what_was_never_counted_takes_no_name() -> None:
    assert UsageCounts().to_mapping() == {}
    assert UsageCounts({Outcome.PARKED: 0}, helpful=1).to_mapping() == {"feedback.helpful": 1}


def test_a_name_of_another_version_is_left_out() -> None:
    assert UsageCounts.from_mapping({"outcome.dreamt": 3, "quick paths": 1}) == UsageCounts()
