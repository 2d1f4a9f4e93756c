"""The Home tab: its view, its buttons, and the suggested prompts of a new direct message.

Every press looks up permissions again, because a Home tab may be a day old. Slack's limits: 100 blocks, 25 elements in
a row of buttons.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import structlog
from slack_bolt.app.async_app import AsyncApp

from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.ids import PLATFORM, person_id, thread_url
from adapters.slack.api.sanitizer import acknowledge
from adapters.slack.inbound.interactions import Ack, Body, Press, SlashCommand, sender_of
from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.kb.knowledge import SlackKnowledge
from adapters.slack.listeners.commands import ChannelSettingsForm
from adapters.slack.listeners.support import ACKNOWLEDGE_SECONDS, TRY_AGAIN, report_errors, show_in_modal
from adapters.slack.outbound import blocks, views
from adapters.slack.outbound.payloads import FormValues
from adapters.slack.outbound.text import escape, link, mrkdwn, shorten
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.answer import Outcome
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import FootnoteError, PlatformUnavailable
from core.ports.memory import AskedQuestion
from core.service.actions.user_actions import KnowledgeBaseSummary, SystemStatus
from core.service.gaps.digest import GapOverview
from core.service.help import HELP
from core.service.kb.text_layout import plain_lines
from core.service.kb.text_spans import Line

ADD, SETTINGS, GAPS, TELL_DAILY = (f"footnote_home_{name}" for name in ("add", "settings", "gaps", "tell_daily"))
CHOOSE_CHANNEL = "footnote_home_channel"  # the form that asks for the channel to configure
MOST_BASES = 40  # shown; a view has 100 blocks
_ENDED = {  # outcomes in an admin's words; any other is shown by its name
    Outcome.ABSTAINED: "not found in the documents",
    Outcome.CLARIFIED: "asked what was meant",
    Outcome.PARKED: "waiting for a choice",
    Outcome.REFUSED: "stopped",
}
CANNOT_ANSWER = "Unanswered questions"
MOST_PROMPTS = 4  # https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts
PROMPTS = (
    ("What do you know?", "What documents do you know?"),
    ("What can you do?", "What can you do?"),
    ("How do you check your answers?", "How do you check your answers against the sources?"),
)

DAILY_ON = "Once a day I send you a direct message with the number of proposals to review."
DAILY_OFF = "I no longer remind you of proposals."
NO_DIRECT_MESSAGE = "I could not send you a direct message. Please try again."

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HomeTab:
    """The Home tab and its buttons. The tab shows the outcome of a press."""

    workspace: SlackWorkspace
    settings_form: ChannelSettingsForm
    knowledge: SlackKnowledge
    gaps: GapOverview

    async def publish(self, team: str, user: str, outcome: Sequence[Line] = ()) -> None:
        """Show this person's current Home tab, with the outcome of a button that they pressed on it."""
        audience, actions = Audience(await self.workspace.access.principals(team, user)), self.workspace.user_actions
        is_admin = await self.workspace.access.is_admin(user)
        contents = HomeContents(
            knowledge_bases=await actions.overview.knowledge_bases(audience),
            recent=await actions.memory.recent_questions(Person(person_id(team, user)), PLATFORM, team),
            workspace_url=(await self.workspace.directory.identity()).url,
            outcome=kb_blocks.paragraphs(outcome) if outcome else [],
            proposals=await self.knowledge.proposals(team, user) if is_admin else [],
            system_status=await actions.overview.system_status() if is_admin else None,
            buttons=await self._buttons(team, user) if is_admin else (),
        )
        try:
            await self.workspace.web.call("views.publish", user_id=user, view=home(contents))
        except (RequestRefused, PlatformUnavailable) as error:
            log.warning("home_not_published", reason=str(error))

    async def _buttons(self, team: str, user: str) -> Sequence[blocks.Block]:
        place = await self.direct_place(team, user)
        return admin_buttons(
            daily_digest=bool(place.channel) and (await self.workspace.settings(place)).proposal_digest
        )

    async def direct_place(self, team: str, user: str) -> ThreadKey:
        """Return the direct message with a person, without a channel if Slack does not open it."""
        try:
            channel = await self.workspace.messages.direct_channel(user)
        except (RequestRefused, PlatformUnavailable) as error:
            log.info("direct_message_not_opened", reason=str(error))
            channel = ""
        return ThreadKey(PLATFORM, team, channel, "")

    async def suggest_prompts(self, team: str, channel: str, user: str) -> None:
        """Suggest prompts, with a knowledge base first. Do nothing if the app is not an agent."""
        if not self.workspace.sessions.available:
            return
        audience = await self.workspace.access.audience(ThreadKey(PLATFORM, team, channel, ""), user)
        bases = [
            summary.base.name
            for summary in await self.workspace.user_actions.overview.knowledge_bases(audience)
            if summary.documents
        ]
        about = [(f"About {name}"[:75], f"What is in the knowledge base {name}?") for name in bases[:1]]
        prompts = [{"title": title, "message": message} for title, message in (*about, *PROMPTS)][:MOST_PROMPTS]
        try:
            await self.workspace.web.call_once(
                "assistant.threads.setSuggestedPrompts", channel_id=channel, title="Ask me", prompts=prompts
            )
        except (RequestRefused, PlatformUnavailable) as error:
            log.debug("prompts_not_set", reason=str(error))

    # --- buttons

    def register(self, app: AsyncApp) -> None:
        """Register each button, and the form that asks for a channel."""
        app.action(ADD)(self._listener(self._add_knowledge))
        app.action(SETTINGS)(self._listener(self._choose_channel))
        app.action(GAPS)(self._listener(self._show_gaps))
        app.action(TELL_DAILY)(self._listener(self._set_daily))
        app.view(CHOOSE_CHANNEL)(self._submit_channel)

    def _listener(self, work: Callable[[Press], Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def listener(ack: Ack, body: Body) -> None:
            await ack()
            press = Press.of(body)

            async def report(text: str) -> None:
                await self.publish(press.thread.space, press.user, plain_lines([text]))

            async with report_errors(report):
                await work(press)

        return listener

    async def _submit_channel(self, ack: Ack, body: Body) -> None:
        """Replace that form with the settings of the chosen channel."""
        (team, user), channel = sender_of(body), FormValues(body["view"]).channel("channel")
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                view = await self.settings_form.view(ThreadKey(PLATFORM, team, channel, ""), user)
        except (FootnoteError, TimeoutError) as error:
            await acknowledge(ack, errors={"channel": str(error) or TRY_AGAIN})
            return
        await acknowledge(ack, view=view)

    async def _add_knowledge(self, press: Press) -> None:
        """Open the form for adding documents, like ``/kb`` alone."""
        shown = await self.knowledge.open_form(SlashCommand(press.thread.space, "", press.user, "", press.trigger_id))
        if shown is not None:
            await self.publish(press.thread.space, press.user, shown.outcome)

    async def _choose_channel(self, press: Press) -> None:
        """Ask for the channel first, because settings belong to a channel. Raises Denied and ViewNotOpened."""
        person = await self.workspace.access.person(press.thread.space, press.user)
        is_admin = await self.workspace.access.is_admin(press.user)
        await self.workspace.user_actions.settings.require_admin(person, "home", is_admin=is_admin)
        await self.workspace.open_view(press.trigger_id, choose_channel())

    async def _show_gaps(self, press: Press) -> None:
        """Show what the documents cannot answer yet. Counting may take seconds. Raises ViewNotOpened."""

        async def lines() -> views.View:
            person = await self.workspace.access.person(press.thread.space, press.user)
            is_admin = await self.workspace.access.is_admin(press.user)
            found = await self.gaps.lines(person, is_admin=is_admin, workspace=(PLATFORM, press.thread.space))
            return gaps_view(found)

        await show_in_modal(self.workspace, press.trigger_id, CANNOT_ANSWER, lines)

    async def _set_daily(self, press: Press) -> None:
        """Turn this admin's daily direct message about proposals on or off. Raises Denied."""
        settings, wanted = self.workspace.user_actions.settings, press.value == "yes"
        place = await self.direct_place(press.thread.space, press.user)
        if not place.channel:
            await self.publish(press.thread.space, press.user, plain_lines([NO_DIRECT_MESSAGE]))
            return
        person = await self.workspace.access.person(press.thread.space, press.user)
        is_admin = await self.workspace.access.is_admin(press.user)
        readers = await self.workspace.access.audience(place, press.user)
        chosen = replace(await settings.store.read(place.place), proposal_digest=wanted or None)
        await settings.save(place.place, chosen, person, readers, is_admin=is_admin)
        outcome = plain_lines([DAILY_ON if wanted else DAILY_OFF])
        await self.publish(press.thread.space, press.user, outcome)


# --- the view


@dataclass(frozen=True, slots=True)
class HomeContents:
    """What one person sees when they open the app. ``outcome`` is the result of their last press."""

    knowledge_bases: Sequence[KnowledgeBaseSummary] = ()
    recent: Sequence[AskedQuestion] = ()  # theirs
    workspace_url: str = ""  # for links to messages; empty if unknown
    outcome: Sequence[blocks.Block] = ()
    proposals: Sequence[blocks.Block] = ()  # proposals with their buttons
    system_status: SystemStatus | None = None  # for admins
    buttons: Sequence[blocks.Block] = ()


def admin_buttons(*, daily_digest: bool) -> list[blocks.Block]:
    """Return an admin's buttons: add documents, channel settings, unanswered questions, daily reminders."""
    label, wanted = ("Stop daily reminders", "no") if daily_digest else ("Remind me of proposals daily", "yes")
    return [
        blocks.button("Add documents", ADD, "add", style="primary"),
        blocks.button("Channel settings", SETTINGS, "settings"),
        blocks.button(CANNOT_ANSWER, GAPS, "gaps"),
        blocks.button(label, TELL_DAILY, wanted),
    ]


def home(contents: HomeContents) -> views.View:
    """Return the Home tab: knowledge bases, this person's latest questions, and how to ask.

    Admins also see proposals to review and the system status.
    """
    rows: list[blocks.Block] = [*contents.outcome]
    if contents.buttons:
        rows.append({"type": "actions", "block_id": "footnote_home", "elements": list(contents.buttons)})
    if contents.proposals:
        rows += [_header("Proposals to review"), *contents.proposals]
    if contents.recent:
        asked = [f"• {_question(one, contents.workspace_url)} · {one.at:%d %B}" for one in contents.recent]
        rows += [_header("Your latest questions"), blocks.section("\n".join(asked))]
        rows.append(blocks.context("Only you can see this. `/footnote forget me` deletes all your questions."))
    rows.append(_header("Knowledge bases"))
    rows += [blocks.section(_base_summary(one)) for one in contents.knowledge_bases[:MOST_BASES]]
    if not contents.knowledge_bases:
        rows.append(blocks.section("There are no documents yet that you can read. An admin can add some with `/kb`."))
    rows += [_header("How to ask"), blocks.section("\n".join(f"• {mrkdwn(line)}" for line in HELP))]
    if contents.system_status is not None:
        rows += [_header("For admins"), blocks.section(_system_status(contents.system_status))]
        rows.append(blocks.context("Run `/footnote settings` in a channel to change how I answer there."))
    return {"type": "home", "blocks": rows[:100]}


def choose_channel() -> views.View:
    """Return the form that asks which channel's settings to change."""
    filtered = {"include": ["public", "private"], "exclude_bot_users": True}
    element = {"type": "conversations_select", "action_id": "channel", "filter": filtered}
    row = {"type": "input", "block_id": "channel", "label": views.text_object("Channel"), "element": element}
    return views.modal("Channel settings", [row], callback=CHOOSE_CHANNEL, submit="Next")


def gaps_view(lines: Sequence[str]) -> views.View:
    """Return the gaps in the documents, one line each."""
    contents = [blocks.section(escape(line)) for line in lines]
    more = "From the last 28 days. The page *Gaps* and `footnote gaps` list all of them and can start a draft."
    return views.modal(CANNOT_ANSWER, [*contents, blocks.context(more)])


def _question(asked: AskedQuestion, url: str) -> str:
    """Return a question as a link to its thread."""
    words = shorten(" ".join(asked.question.split()) or "…", 150)
    return link(thread_url(url, asked.thread) if url else None, words)


def _header(text: str) -> blocks.Block:
    return {"type": "header", "text": views.text_object(text)}


def _base_summary(base_summary: KnowledgeBaseSummary) -> str:
    count = f"{base_summary.documents} document{'' if base_summary.documents == 1 else 's'}"
    about = f"\n{escape(shorten(base_summary.base.description, 300))}" if base_summary.base.description else ""
    return f"*{escape(base_summary.base.name)}* · {count}{about}"


def _system_status(system_status: SystemStatus) -> str:
    lines = [f"• {system_status.waiting} question{'' if system_status.waiting == 1 else 's'} waiting or in progress"]
    usage = system_status.usage
    ended = sorted((_ENDED.get(outcome, outcome.value), number) for outcome, number in usage.outcomes.items())
    lines += [f"• {words}: {number:,}" for words, number in ended]
    return "\n".join([*lines, f"• ratings: {usage.helpful} helpful, {usage.unhelpful} not helpful"])
