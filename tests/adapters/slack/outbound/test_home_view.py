"""What admins read on the Home tab of how things are."""

from adapters.slack.outbound.home_view import HomeContents, home
from core.model.answer import Outcome, UsageCounts
from core.service.actions.user_actions import SystemStatus


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
