"""What is pressed on the Home tab: add knowledge, a channel's settings, what is lacking, being told of proposals.

Rights are looked up anew with every press: a Home tab may be a day old.
"""

from dataclasses import dataclass, replace

import structlog

from adapters.slack.api.web_client import Refusal
from adapters.slack.api.workspace import SlackWorkspace
from adapters.slack.inbound.button_press import Body, Press, who_sent
from adapters.slack.inbound.commands import Commands, SlashCommand
from adapters.slack.inbound.event_listener import PLATFORM
from adapters.slack.kb.handlers import SlackKnowledge
from adapters.slack.outbound import home_view, views
from adapters.slack.outbound.home import Home
from core.model.conversation import ThreadKey
from core.model.errors import FootnoteError, PlatformUnavailable
from core.service.gaps.overview import GapOverview
from core.service.kb.text_layout import plain_lines

LOOKING = "One moment…"
TOLD_DAILY = "I tell you in our direct message, once a day, how many proposals wait."
NO_DIRECT_MESSAGE = "Slack does not open our direct message. Please try again."
NOT_TOLD = "I do not tell you of proposals any more."

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HomeButtons:
    """Does what was pressed there."""

    workspace: SlackWorkspace
    home: Home
    commands: Commands
    knowledge: SlackKnowledge | None = None
    gaps: GapOverview | None = None

    async def add_knowledge(self, press: Press) -> None:
        """The form for adding, as ``/kb`` alone opens it."""
        if self.knowledge is None:
            return
        shown = await self.knowledge.open_form(SlashCommand(press.thread.space, "", press.user, "", press.trigger))
        if shown is not None:
            await self.home.publish(press.thread.space, press.user, shown.outcome)

    async def choose_channel(self, press: Press) -> None:
        """First of which channel: settings are a channel's. Raises Denied."""
        person = await self.workspace.person(press.thread.space, press.user)
        is_admin = await self.workspace.is_admin(press.user)
        await self.workspace.user_actions.settings.require_admin(person, "home", is_admin=is_admin)
        await self._open(press.trigger, home_view.choose_channel())

    async def channel_settings(self, body: Body) -> views.View:
        """The settings of the channel that was chosen, in the place of that form. Raises Denied."""
        team, user = who_sent(body)
        place = ThreadKey(PLATFORM, team, home_view.chosen_channel(body["view"]), "")
        return await self.commands.settings_form(place, user)

    async def show_gaps(self, press: Press) -> None:
        """What the documents cannot answer yet. It may take seconds to count, so the form opens before."""
        if self.gaps is None:
            return
        opened = await self._open(press.trigger, views.note(home_view.CANNOT_ANSWER, LOOKING))
        person = await self.workspace.person(press.thread.space, press.user)
        is_admin = await self.workspace.is_admin(press.user)
        try:
            lines = await self.gaps.lines(person, is_admin=is_admin, workspace=(PLATFORM, press.thread.space))
            view = home_view.gaps(lines)
        except FootnoteError as error:
            view = views.note(home_view.CANNOT_ANSWER, str(error))
        if opened:
            await self.workspace.web.patiently("views.update", view_id=opened, view=view)

    async def tell_daily(self, press: Press) -> None:
        """Tell this admin of proposals once a day, in their direct message, or no more. Raises Denied."""
        settings, wanted = self.workspace.user_actions.settings, press.value == "yes"
        place = await self.home.direct_place(press.thread.space, press.user)
        if not place.channel:
            raise PlatformUnavailable(NO_DIRECT_MESSAGE)
        person = await self.workspace.person(press.thread.space, press.user)
        is_admin, readers = await self.workspace.is_admin(press.user), await self.workspace.audience(place, press.user)
        chosen = replace(await settings.store.read(place.place), proposal_digest=wanted or None)
        await settings.save(place.place, chosen, person, readers, is_admin=is_admin)
        told = plain_lines([TOLD_DAILY if wanted else NOT_TOLD])
        await self.home.publish(press.thread.space, press.user, told)

    async def _open(self, trigger: str, view: views.View) -> str:
        """Open a modal; its id, empty where Slack did not."""
        try:
            answer = await self.workspace.web.eagerly("views.open", trigger_id=trigger, view=view)
        except (Refusal, PlatformUnavailable) as error:
            log.info("view_not_opened", reason=str(error))
            return ""
        return str((answer.get("view") or {}).get("id") or "")
