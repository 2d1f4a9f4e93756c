"""What happens when something of ours is pressed, chosen or sent: at once, privately where it concerns only one.

An id is all that a press brings. What stands behind it, who may press it and what the presser may see is looked up
now; what was pressed too late, or by somebody else, is told so. Only what starts work goes through the inbox.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol, assert_never

import structlog
from discord import ui

from adapters.discord.api.channel_access import ChannelAccess
from adapters.discord.api.identifiers import handoff_role, person_of
from adapters.discord.inbound.form_values import entered_texts, uploaded_files
from adapters.discord.inbound.interaction_responses import (
    LOOK_UP_SECONDS,
    TRY_AGAIN,
    acknowledge,
    is_admin,
    report_errors,
    tell,
)
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_index import AnsweredQuestion, AnswerIndex
from adapters.discord.outbound.answer_records import DiscordQuestionState
from adapters.discord.outbound.buttons import CorrectButton, Press
from adapters.discord.outbound.forms import (
    LONGEST_CORRECTION,
    LONGEST_WORDS,
    MODAL,
    correction_form,
    reason_form,
    words_form,
)
from adapters.discord.outbound.messages import NOBODY, Messages, Spot, nonce
from adapters.discord.outbound.sanitizer import SanitizedView
from adapters.discord.outbound.text import clip, markdown, pieces, plain, quote_blocks
from core.model.answer import Answer
from core.model.conversation import Audience, Turn
from core.model.errors import NotFound
from core.model.incoming_events import FileReference, IncomingChoice, IncomingMessage
from core.model.inquiry import Checkpoint, Choice
from core.model.reply_target import ReplyMode, ReplyTarget
from core.ports.message_state import MessageStateStore
from core.service.actions.user_actions import UserActions
from core.service.actions.wording import FINISHED, GONE, NOBODY_TO_CALL, explanation_text
from core.service.answer_buttons import AnswerAction
from core.service.text_splitting import split_markdown

ANSWER_LIMIT = 3_800
PLACE_FIELDS = {"languages": "languages", "confidence": "auto_answer"}  # of a place, by the form that they are typed in

THANKS = "Thank you. That helps me to get better."
KNOW_BETTER = "Do you know the right answer? Tell me, and an admin can make it part of what I know."

log = structlog.get_logger(__name__)


class KnowledgeButtonHandlers(Protocol):
    """What is pressed and sent that is about the knowledge itself."""

    async def on_press(self, press: Press, kept: str) -> None:
        """A button below a reply of ``/kb``."""

    async def add_files(self, press: Press, kept: str, files: Sequence[FileReference]) -> None:
        """Files that a form brought, for the command that is kept under this id."""

    async def correct(self, press: Press, turn: Turn, answer: str, link: str | None) -> None:
        """The right answer to a question that was answered wrongly. Acknowledged already."""


class DiscordButtonHandlers:
    """Everything behind our buttons, menus and forms."""

    def __init__(
        self,
        *,
        user_actions: UserActions,
        message_states: MessageStateStore,
        shown: AnswerIndex,
        readers: ChannelAccess,
        messages: Messages,
        ordered_queue: OrderedQueue,
        set_place: Callable[[Press, str, str, list[str]], Awaitable[None]],
        kb: "KnowledgeButtonHandlers | None",
    ) -> None:
        self._user_actions = user_actions
        self._message_states = message_states
        self._shown = shown
        self._readers = readers
        self._messages = messages
        self._ordered_queue = ordered_queue
        self._set_place = set_place
        self._kb = kb

    # --- stopping

    async def stop(self, press: Press, trace_id: str) -> None:
        """Call the work off; whoever works on it offers what was found."""
        async with report_errors(press):
            async with asyncio.timeout(LOOK_UP_SECONDS):
                shown = await self._shown.of(trace_id)
                if shown is None:
                    raise NotFound(FINISHED)
                is_admin = partial(_is_admin, press)
                question = DiscordQuestionState(thread=shown.thread, message=shown.subject)
                await self._user_actions.cancellation.stop(question, person_of(press.user), is_admin)
            await press.response.defer()

    # --- checkpoints

    async def choose(self, press: Press, checkpoint_id: str, choice_id: str) -> None:
        """A button of a card: a form for words of one's own, or the choice at once."""
        async with report_errors(press):
            checkpoint, choice, trace_id = await self._find_choice(press, checkpoint_id, choice_id)
            if choice.asks_text:
                await press.response.send_modal(words_form(checkpoint, choice))
            else:
                await self._take(press, checkpoint, choice, trace_id, "")

    async def _find_choice(self, press: Press, checkpoint_id: str, choice_id: str) -> tuple[Checkpoint, Choice, str]:
        """The choice if it can still be made, by this person. Raises NotFound and Denied."""
        async with asyncio.timeout(LOOK_UP_SECONDS):
            person, is_admin = person_of(press.user), partial(_is_admin, press)
            parked, choice = await self._user_actions.choices.find(checkpoint_id, choice_id, person, is_admin)
        return parked.checkpoint, choice, parked.inquiry.id

    async def _take(self, press: Press, checkpoint: Checkpoint, choice: Choice, trace_id: str, words: str) -> None:
        """Replace the card by what was chosen, then put the choice into the inbox."""
        label = clip(f"{choice.label}: {words}" if words else choice.label, 200)
        card = layouts.choice_note(label, press.user.display_name)
        await press.response.edit_message(view=card, allowed_mentions=NOBODY)
        incoming = IncomingChoice(
            checkpoint=checkpoint.id,
            choice=choice.id,
            person=person_of(press.user),
            thread=checkpoint.thread,
            reply_target=reply_target_of(press),
            text=words,
        )

        async def keep() -> None:
            shown = await self._shown.of(trace_id)
            if shown is not None:
                state = DiscordQuestionState(
                    thread=shown.thread,
                    message=shown.subject,
                    asker=shown.asker,
                    chosen=f"{press.user.display_name} chose {label}",
                    token=press.token if shown.private else "",
                    token_of=str(press.id) if shown.private else "",
                )
                await self._message_states.save(state)
            await self._ordered_queue.put(f"discord:{press.id}", incoming, busy=lambda text: tell(press, text))

        if not self._ordered_queue.add(keep):
            await tell(press, TRY_AGAIN)

    # --- forms

    async def on_submit(self, press: Press) -> None:
        """A form of ours was sent, perhaps one that another process had opened."""
        data = dict(press.data or {})
        match = MODAL.fullmatch(str(data.get("custom_id", "")))
        if match is None:
            return
        text = " ".join(entered_texts(data.get("components"))).strip()
        words = clip(text, LONGEST_WORDS)
        async with report_errors(press):
            if match["kind"] == "reason":
                await self._reason(press, match["rest"], words)
                return
            if match["kind"] == "correction":
                await self._correct(press, match["rest"], clip(text, LONGEST_CORRECTION))
                return
            if match["kind"] == "files":
                await self._add_files(press, match["rest"], uploaded_files(data))
                return
            if match["kind"] in PLACE_FIELDS:
                await self._set_place(press, PLACE_FIELDS[match["kind"]], match["rest"], [words])
                return
            checkpoint_id, _, choice_id = match["rest"].partition(":")
            found = await self._find_choice(press, checkpoint_id, choice_id)
            if words:
                await self._take(press, *found, words)
            else:
                await tell(press, "There was nothing in that field. Press again and write a few words.")

    async def _add_files(self, press: Press, kept: str, files: tuple[FileReference, ...]) -> None:
        if self._kb is None:
            await tell(press, GONE)
        else:
            await self._kb.add_files(press, kept, files)

    async def _reason(self, press: Press, trace_id: str, reason: str) -> None:
        shown = await self._of(press, trace_id)
        if shown is not None:
            await self._user_actions.ratings.rate(
                shown.thread, trace_id, person_of(press.user), helpful=False, reason=reason
            )
            await self._offer_correction(press, trace_id)

    async def _offer_correction(self, press: Press, trace_id: str) -> None:
        """Thank them; whoever knows the right answer may say it."""
        if self._kb is None:
            return await tell(press, THANKS)
        offer = layouts.layout(ui.TextDisplay(f"{THANKS} {KNOW_BETTER}"), layouts.row(CorrectButton.create(trace_id)))
        await press.response.send_message(view=offer, ephemeral=True, allowed_mentions=NOBODY)
        return None

    async def correct(self, press: Press, trace_id: str) -> None:
        """Open the form for the right answer."""
        async with report_errors(press):
            if await self._of(press, trace_id) is not None:
                await press.response.send_modal(correction_form(trace_id))

    async def _correct(self, press: Press, trace_id: str, answer: str) -> None:
        """Put it to the knowledge service, with the question as it was asked and the way back to the answer."""
        shown = await self._of(press, trace_id)
        if shown is None or self._kb is None:
            return None
        if not answer:
            return await tell(press, "There was nothing in that field. Press again and write the right answer.")
        await press.response.defer(ephemeral=True, thinking=True)
        turn = await self._user_actions.answers.read(shown.thread, trace_id, await self.audience(press))
        await self._kb.correct(press, turn, answer, await self._link_to(shown))
        return None

    async def _link_to(self, shown: AnsweredQuestion) -> str | None:
        """The way back to an answer that others can see."""
        if shown.private or not shown.thread.space:
            return None
        posted = await self._message_states.read(DiscordQuestionState(thread=shown.thread, message=shown.subject))
        if posted is None or not (posted.channel and posted.first):
            return None
        return f"https://discord.com/channels/{shown.thread.space}/{posted.channel}/{posted.first}"

    # --- answers

    async def act(self, press: Press, action: AnswerAction, trace_id: str) -> None:
        """One of an answer's buttons."""
        async with report_errors(press):
            shown = await self._of(press, trace_id)
            if shown is None:
                return
            match action:
                case AnswerAction.QUOTES:
                    await self._quotes(press, shown, trace_id)
                case AnswerAction.WHY:
                    await press.response.defer(ephemeral=True, thinking=True)
                    audience = await self.audience(press)
                    told = explanation_text(await self._user_actions.answers.explain(shown.thread, audience, trace_id))
                    await tell(press, markdown(told))
                case AnswerAction.HELPFUL:
                    await self._user_actions.ratings.rate(shown.thread, trace_id, person_of(press.user), helpful=True)
                    await tell(press, THANKS)
                case AnswerAction.UNHELPFUL:
                    await press.response.send_modal(reason_form(trace_id))
                    await self._user_actions.ratings.rate(shown.thread, trace_id, person_of(press.user), helpful=False)
                case AnswerAction.HANDOFF:
                    await self._handoff(press, shown, trace_id)
                case AnswerAction.SHARE:
                    await self._share(press, shown, trace_id)
                case _:
                    assert_never(action)

    async def ask_follow_up(self, press: Press, trace_id: str, number: int) -> None:
        """Ask what was suggested below an answer, as whoever presses, where the button stands."""
        async with report_errors(press):
            shown = await self._of(press, trace_id)
            if shown is None:
                return
            person, reader = person_of(press.user), await self.audience(press)
            asking = self._user_actions.follow_ups.ask(shown.thread, trace_id, number, person, reader)
            async with asking as suggested:
                response = await acknowledge(press, alone=shown.private)
                mode = ReplyMode.PRIVATE if shown.private else ReplyMode.RESPONSE
                target = replace(reply_target_of(press), mode=mode, response=response)
                incoming = IncomingMessage(
                    id=str(press.id),
                    thread=shown.thread,
                    text=suggested.question,
                    asker=person,
                    reply_target=target,
                    mentions_us=True,
                    direct=press.guild_id is None,
                    private=shown.private,
                    suggested=True,
                )
                await self._ordered_queue.put(f"discord:{press.id}", incoming, busy=lambda text: tell(press, text))

    async def _of(self, press: Press, trace_id: str) -> AnsweredQuestion | None:
        async with asyncio.timeout(LOOK_UP_SECONDS):
            shown = await self._shown.of(trace_id)
        if shown is None:
            await tell(press, GONE)
        return shown

    async def _quotes(self, press: Press, shown: AnsweredQuestion, trace_id: str) -> None:
        """The passages, as far as the one who pressed may read them now."""
        await press.response.defer(ephemeral=True, thinking=True)
        quotes = await self._user_actions.answers.quotes(shown.thread, trace_id, await self.audience(press))
        text = quote_blocks(quotes.question, quotes.citations, quotes.withheld)
        for part in split_markdown(text, ANSWER_LIMIT)[:5]:
            await press.followup.send(
                view=layouts.text_layout(part, quotes.citations), ephemeral=True, allowed_mentions=NOBODY
            )

    async def audience(self, press: Press) -> Audience:
        """What the one who pressed may read here, for their own eyes."""
        return await self._readers.of_one(person_of(press.user), press.guild_id, press.channel, press.user)

    async def _handoff(self, press: Press, shown: AnsweredQuestion, trace_id: str) -> None:
        """Call the place's group, once for an answer."""
        await press.response.defer(ephemeral=True, thinking=True)
        role = handoff_role((await self._readers.settings(shown.thread)).handoff)
        if role is None or press.channel_id is None or press.guild_id is None:
            raise NotFound(NOBODY_TO_CALL)
        person, audience = person_of(press.user), await self._readers.of_place(shown.thread)
        async with self._user_actions.handoff.hand_over(shown.thread, trace_id, person, audience):
            link = press.message.jump_url if press.message is not None else ""
            text = f"{clip(press.user.display_name, 60)} would like a person to look at this:"
            spot = Spot(press.channel_id, press.guild_id)
            key = nonce(str(shown.thread), shown.subject, f"handoff-{trace_id}")
            await self._messages.call_role(spot, role, text, link, key)
        await tell(press, "I have asked for a person to look at it.")

    async def _share(self, press: Press, shown: AnsweredQuestion, trace_id: str) -> None:
        """Show a private answer to the channel, if everything in it may be read there."""

        async def audience() -> Audience:
            await press.response.defer(ephemeral=True, thinking=True)
            return await self._readers.of_place(shown.thread)

        async with self._user_actions.sharing.share(shown.thread, trace_id, person_of(press.user), audience) as turn:
            spot = await self._shared_at(press, shown, turn)
            if spot is None:
                raise NotFound(GONE)
            for number, part in enumerate(_shared_views(turn, press.user.display_name)):
                await self._messages.post(spot, part, nonce(str(shown.thread), trace_id, f"share-{number}"))
        await tell(press, "Shared.")

    async def _shared_at(self, press: Press, shown: AnsweredQuestion, turn: Turn) -> Spot | None:
        """Where a shared answer goes: where the button stands, or in a thread on a question asked elsewhere."""
        asked = shown.asked_at
        if asked is None:
            return Spot(press.channel_id, press.guild_id) if press.channel_id is not None else None
        target = ReplyTarget(ReplyMode.START, asked.channel, asked.message, shown.thread.space)
        thread = await self._messages.start_thread(target, turn.question)
        return Spot(thread or int(asked.channel), int(shown.thread.space), None if thread else int(asked.message))

    # --- settings

    async def set_place(self, press: Press, field: str, place_id: str, values: list[str]) -> None:
        """A menu of a place's settings."""
        async with report_errors(press):
            await self._set_place(press, field, place_id, values)

    async def knowledge(self, press: Press, kept: str) -> None:
        """A button below a reply of ``/kb``."""
        if self._kb is None:
            await tell(press, GONE)
        else:
            await self._kb.on_press(press, kept)


async def _is_admin(press: Press) -> bool:
    return is_admin(press)


def reply_target_of(press: Press) -> ReplyTarget:
    """Where to say something to the one who pressed."""
    return ReplyTarget(
        mode=ReplyMode.PRIVATE,
        channel=str(press.channel_id or 0),
        message=str(press.id),
        guild=str(press.guild_id or ""),
        asker=str(press.user.id),
        token=press.token,
    )


def _shared_views(turn: Turn, by: str) -> list[SanitizedView]:
    """A turn's answer for a channel to see."""
    answer = Answer(turn.outcome, turn.answer, turn.citations)
    parts = pieces(turn.answer, turn.citations)
    question = f"> {plain(clip(turn.question, 300))}"
    extras = layouts.Extras(feedback=False, question=question if len(parts) == 1 else "")
    notices = (f"{by} asked, and shares the answer.",)
    last = layouts.answer_layout(parts[-1], answer, turn.trace_id, extras, notices=notices)
    earlier = [
        layouts.piece(part, turn.citations, "" if number else question) for number, part in enumerate(parts[:-1])
    ]
    return [*earlier, last]
