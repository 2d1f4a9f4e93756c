"""The buttons of the Home tab: add knowledge, a channel's settings, what is lacking, being told of proposals.

Rights are looked up anew with every press: a Home tab may be a day old.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from slack_bolt.app.async_app import AsyncApp

from adapters.slack.api.ids import PLATFORM
from adapters.slack.api.sanitizer import acknowledge
from adapters.slack.inbound.interactions import Ack, Body, Press, SlashCommand, sender_of
from adapters.slack.kb.knowledge import SlackKnowledge
from adapters.slack.listeners.error_reports import ACKNOWLEDGE_SECONDS, TRY_AGAIN, report_errors
from adapters.slack.listeners.home_tab import HomeTab
from adapters.slack.listeners.modals import show_in_modal
from adapters.slack.listeners.settings import ChannelSettingsForm
from adapters.slack.outbound import home_view, views
from adapters.slack.workspace import SlackWorkspace
from core.model.conversation import ThreadKey
from core.model.errors import FootnoteError
from core.service.gaps.overview import GapOverview
from core.service.kb.text_layout import plain_lines

DAILY_ON = "Once a day I send you a direct message with the number of proposals to review."
DAILY_OFF = "I no longer remind you of proposals."
NO_DIRECT_MESSAGE = "I could not send you a direct message. Please try again."


@dataclass(frozen=True, slots=True)
class HomeButtonListeners:
    """Does what was pressed there; what came of it stands on the tab."""

    workspace: SlackWorkspace
    home_tab: HomeTab
    settings_form: ChannelSettingsForm
    knowledge: SlackKnowledge | None = None
    gaps: GapOverview | None = None

    def register(self, app: AsyncApp) -> None:
        """Each button, and the form in which a channel is chosen."""
        app.action(home_view.ADD)(self._listener(self._add_knowledge))
        app.action(home_view.SETTINGS)(self._listener(self._choose_channel))
        app.action(home_view.GAPS)(self._listener(self._show_gaps))
        app.action(home_view.TELL_DAILY)(self._listener(self._set_daily))
        app.view(home_view.CHOOSE_CHANNEL)(self._submit_channel)

    def _listener(self, work: Callable[[Press], Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def listener(ack: Ack, body: Body) -> None:
            await ack()
            press = Press.of(body)

            async def report(text: str) -> None:
                await self.home_tab.publish(press.thread.space, press.user, plain_lines([text]))

            async with report_errors(report):
                await work(press)

        return listener

    async def _submit_channel(self, ack: Ack, body: Body) -> None:
        """A channel was chosen: its settings follow in the place of that form."""
        (team, user), channel = sender_of(body), home_view.read_channel(body["view"])
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                view = await self.settings_form.view(ThreadKey(PLATFORM, team, channel, ""), user)
        except (FootnoteError, TimeoutError) as error:
            await acknowledge(ack, errors={"channel": str(error) or TRY_AGAIN})
            return
        await acknowledge(ack, view=view)

    async def _add_knowledge(self, press: Press) -> None:
        """The form for adding, as ``/kb`` alone opens it."""
        if self.knowledge is None:
            return
        shown = await self.knowledge.open_form(SlashCommand(press.thread.space, "", press.user, "", press.trigger_id))
        if shown is not None:
            await self.home_tab.publish(press.thread.space, press.user, shown.outcome)

    async def _choose_channel(self, press: Press) -> None:
        """First of which channel: settings are a channel's. Raises Denied and ViewNotOpened."""
        person = await self.workspace.access.person(press.thread.space, press.user)
        is_admin = await self.workspace.access.is_admin(press.user)
        await self.workspace.user_actions.settings.require_admin(person, "home", is_admin=is_admin)
        await self.workspace.open_view(press.trigger_id, home_view.choose_channel())

    async def _show_gaps(self, press: Press) -> None:
        """What the documents cannot answer yet; it may take seconds to count. Raises ViewNotOpened."""
        if self.gaps is None:
            return
        gaps = self.gaps

        async def lines() -> views.View:
            person = await self.workspace.access.person(press.thread.space, press.user)
            is_admin = await self.workspace.access.is_admin(press.user)
            found = await gaps.lines(person, is_admin=is_admin, workspace=(PLATFORM, press.thread.space))
            return home_view.gaps(found)

        await show_in_modal(self.workspace, press.trigger_id, home_view.CANNOT_ANSWER, lines)

    async def _set_daily(self, press: Press) -> None:
        """Tell this admin of proposals once a day, in their direct message, or no more. Raises Denied."""
        settings, wanted = self.workspace.user_actions.settings, press.value == "yes"
        place = await self.home_tab.direct_place(press.thread.space, press.user)
        if not place.channel:
            await self.home_tab.publish(press.thread.space, press.user, plain_lines([NO_DIRECT_MESSAGE]))
            return
        person = await self.workspace.access.person(press.thread.space, press.user)
        is_admin = await self.workspace.access.is_admin(press.user)
        readers = await self.workspace.access.audience(place, press.user)
        chosen = replace(await settings.store.read(place.place), proposal_digest=wanted or None)
        await settings.save(place.place, chosen, person, readers, is_admin=is_admin)
        outcome = plain_lines([DAILY_ON if wanted else DAILY_OFF])
        await self.home_tab.publish(press.thread.space, press.user, outcome)
