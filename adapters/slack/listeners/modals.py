"""Modals whose content takes a moment: opened at once, because what lets us open one holds for three seconds alone."""

from collections.abc import Awaitable, Callable

from adapters.slack.listeners.error_reports import report_errors
from adapters.slack.outbound import views
from adapters.slack.workspace import SlackWorkspace

ONE_MOMENT = "One moment…"


async def show_in_modal(
    workspace: SlackWorkspace, trigger_id: str, title: str, make: Callable[[], Awaitable[views.View]]
) -> None:
    """Open a modal, then show in it what ``make`` makes, or why it could not. Raises ViewNotOpened."""
    view_id = await workspace.open_view(trigger_id, views.note(title, ONE_MOMENT))

    async def show(view: views.View) -> None:
        await workspace.web.call("views.update", view_id=view_id, view=view)

    async with report_errors(lambda text: show(views.note(title, text))):
        await show(await make())
