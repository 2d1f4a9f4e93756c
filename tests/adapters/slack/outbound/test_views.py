"""Elements of modals within Slack's limits, and what admins read on the Home tab."""

from adapters.slack.listeners.home_tab import HomeContents, home
from adapters.slack.outbound.views import MOST_OPTIONS, multi_select, select
from core.model.answer import Outcome, UsageCounts
from core.service.actions.user_actions import SystemStatus

MANY = {f"S{number}": f"@group-{number}" for number in range(150)}


def test_what_is_chosen_is_offered_however_many_there_are() -> None:
    element = select("handoff", "Whom", MANY, "S120")["element"]
    assert len(element["options"]) == MOST_OPTIONS
    assert element["initial_option"] in element["options"]


def test_all_that_is_chosen_is_offered_however_many_there_are() -> None:
    element = multi_select("bases", "Bases", MANY, ["S3", "S120", "S149"])["element"]
    assert len(element["options"]) == MOST_OPTIONS
    assert [one["value"] for one in element["initial_options"]] == ["S3", "S120", "S149"]
    assert all(one in element["options"] for one in element["initial_options"])


def test_the_order_stays_where_all_fit() -> None:
    element = select("handoff", "Whom", {"b": "B", "a": "A"}, "a")["element"]
    assert [one["value"] for one in element["options"]] == ["b", "a"]


def _texts(status: SystemStatus | None) -> str:
    view = home(HomeContents(system_status=status))
    return "\n".join(row["text"]["text"] for row in view["blocks"] if "text" in row)


def test_admins_read_how_questions_ended_and_were_rated() -> None:
    usage = UsageCounts({Outcome.FAILED: 2, Outcome.ANSWERED: 1_234}, helpful=7, unhelpful=3, searched=9)
    lines = _texts(SystemStatus(1, usage)).splitlines()
    assert lines[-4:] == [
        "• 1 question waiting or in progress",
        "• answered: 1,234",
        "• failed: 2",
        "• ratings: 7 helpful, 3 not helpful",
    ]


def test_nobody_else_does() -> None:
    assert "feedback" not in _texts(None)
