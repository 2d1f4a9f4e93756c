"""Finding documents by name."""

import pytest

from core.model.knowledge import Document, matching_sources

SHELF = [
    Document(f"d{n}", "default", source, title, "v1", "text/markdown", 1)
    for n, (title, source) in enumerate(
        [("Leave", "hr/leave.md"), ("Leave of absence", "hr/absence.md"), ("Planner", "ops/planner.md")], 1
    )
]


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("leave", ["Leave"]),
        (" LEAVE ", ["Leave"]),
        ("hr/leave.md", ["Leave"]),
        ("d2", ["Leave of absence"]),
        ("absence", ["Leave of absence"]),
        ("hr/", ["Leave", "Leave of absence"]),
        ("salaries", []),
        (" ", []),
    ],
)
def test_the_exact_title_or_path_wins_else_all_that_contain_the_name(name: str, titles: list[str]) -> None:
    assert [document.title for document in matching_sources(SHELF, name)] == titles
