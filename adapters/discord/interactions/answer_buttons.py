"""The buttons below an answer: quotes, why, ratings, handoff, sharing, follow-ups, and *Stop*.

Each press looks up the button's action, who may use it, and what they may see.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import assert_never

from discord import Thread, ui

from adapters.discord.api.ids import handoff_role, person_of
from adapters.discord.inbound.context import files_on
from adapters.discord.inbound.interactions import (
    LOOK_UP_SECONDS,
    acknowledge,
    acknowledge_press,
    administers,
    asked_by,
    enqueue,
    find_answer,
    report_errors,
    respond,
    show,
    tell,
)
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.kb.commands import KbGroup
from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_records import AnsweredTrace, DiscordQuestionState
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.buttons import AGAIN, Interaction, correct_button, offer_button
from adapters.discord.outbound.forms import correction_form, reason_form
from adapters.discord.outbound.messages import NOBODY, Spot, nonce
from adapters.discord.outbound.notices import answer_link
from adapters.discord.outbound.sanitizer import SanitizedView
from adapters.discord.outbound.text import answer_parts, clip, escape, markdown, quote_blocks
from core.model.answer import Answer
from core.model.conversation import Audience, Turn
from core.model.errors import Denied, FootnoteError, NotFound
from core.model.incoming_events import ReplyMode, ReplyTarget
from core.model.person_answers import OfferAction
from core.service.actions.answers import Quotes
from core.service.actions.presses import (
    RATINGS,
    AnswerButton,
    AnswerPress,
    HandedOver,
    OwnerTold,
    PressResult,
    Rated,
    Shared,
    press_button,
)
from core.service.actions.wording import (
    FINISHED,
    GONE,
    NOBODY_TO_CALL,
    NOT_YOURS_TO_REPEAT,
    TOLD_OWNER,
    explanation_text,
)
from core.service.explanations import Explanation
from core.service.person_answers import OfferPress
from core.service.standing_answers.checks import toggle_notices
from core.service.standing_answers.notices import MUTED, UNMUTED
from core.service.text_splitter import split_markdown

ANSWER_LIMIT = 3_800
MOST_QUOTE_MESSAGES = 5
UNMENTIONABLE = "An admin can choose an existing role in /footnote settings and let anyone @mention it."
THANKS = "Thank you for the feedback."
KNOW_BETTER = "Do you know the right answer? Propose it, and an admin can add it to the knowledge base."
NO_ANSWER = "That field was empty. Press the button again and write the right answer."


class RatingButtons:
    """Stores ratings, and sends corrections to the knowledge service."""

    def __init__(self, app: DiscordApplication, kb: KbGroup) -> None:
        self._app = app
        self._kb = kb

    async def rate(self, interaction: Interaction, action: AnswerButton, press: AnswerPress) -> None:
        """Store a rating. After a bad one, open a form that asks why."""
        async with asyncio.timeout(LOOK_UP_SECONDS), press_button(self._app.user_actions.answers, action, press):
            pass
        if action is AnswerButton.HELPFUL:
            await tell(interaction, THANKS)
        else:
            await respond(interaction.response.send_modal(reason_form(press.trace_id)))

    async def submit_reason(self, interaction: Interaction, trace_id: str, reason: str) -> None:
        """Store why an answer did not help, and offer to take the right answer."""
        shown = await find_answer(self._app.answer_index, trace_id)
        person = person_of(interaction.user)
        await self._app.user_actions.answers.rate(shown.thread, trace_id, person, helpful=False, reason=reason)
        offer = layouts.layout(ui.TextDisplay(f"{THANKS} {KNOW_BETTER}"), layouts.row(correct_button(trace_id)))
        await respond(interaction.response.send_message(view=offer, ephemeral=True, allowed_mentions=NOBODY))

    async def decide_answer(self, interaction: Interaction, action: OfferAction, name: str) -> None:
        """Run the pressed action on a person's answer."""
        answers = self._app.user_actions.person_answers
        async with report_errors(interaction):
            if answers is None:
                raise NotFound(GONE)
            await acknowledge(interaction, alone=True)
            caller = await self._kb.caller(interaction)
            press = OfferPress(action, name, caller)
            if action is OfferAction.KEEP and (thread := await answers.thread_of(name)) is not None:
                access = self._app.channel_access
                bases, public = (await access.settings(thread)).bases, (await access.audience_of_channel(thread)).public
                press = replace(press, bases=bases, public=public)
            await tell(interaction, await answers.press(press))
            if interaction.message is not None and action is not OfferAction.SOLVED:
                spot = Spot(interaction.message.channel.id, interaction.guild_id)
                await self._app.messages.remove(spot, interaction.message.id)

    async def open_correction(self, interaction: Interaction, trace_id: str) -> None:
        """Open the form for the right answer."""
        async with report_errors(interaction):
            await find_answer(self._app.answer_index, trace_id)
            await respond(interaction.response.send_modal(correction_form(trace_id)))

    async def submit_correction(self, interaction: Interaction, trace_id: str, answer: str) -> None:
        """Send the correction to the knowledge service, with the original question and a link to the answer."""
        shown = await find_answer(self._app.answer_index, trace_id)
        if not answer:
            raise FootnoteError(NO_ANSWER)
        await acknowledge(interaction, alone=True)
        turn = await self._app.user_actions.answers.read(
            shown.thread, trace_id, await self._app.channel_access.audience_of_interaction(interaction)
        )
        await self._kb.correct(interaction, turn, answer, await answer_link(self._app, shown) or None)


class AnswerButtons:
    """Runs the actions of the buttons below an answer."""

    def __init__(self, app: DiscordApplication, ordered_queue: OrderedQueue, ratings: RatingButtons) -> None:
        self._app = app
        self._ordered_queue = ordered_queue
        self._ratings = ratings

    async def stop(self, interaction: Interaction, trace_id: str) -> None:
        """Stop the work on a question. Its worker offers what it found."""
        async with report_errors(interaction):
            async with asyncio.timeout(LOOK_UP_SECONDS):
                shown = await find_answer(self._app.answer_index, trace_id, FINISHED)
                question = DiscordQuestionState(thread=shown.thread, message=shown.subject)
                await self._app.user_actions.questions.stop(
                    question, person_of(interaction.user), partial(administers, interaction)
                )
            await acknowledge_press(interaction)

    async def act(self, interaction: Interaction, action: AnswerButton, trace_id: str) -> None:
        """Run the action of one of an answer's buttons."""
        async with report_errors(interaction):
            shown = await find_answer(self._app.answer_index, trace_id)
            if action in RATINGS:  # a form must be the first response
                await self._ratings.rate(interaction, action, self._pressed(interaction, shown, trace_id, action))
                return
            if action is not AnswerButton.SHARE:
                await acknowledge(interaction, alone=True)
            role = await self._role_to_call(interaction, shown) if action is AnswerButton.HANDOFF else 0
            pressed = self._pressed(interaction, shown, trace_id, action)
            async with press_button(self._app.user_actions.answers, action, pressed) as outcome:
                await self._show_outcome(interaction, shown, outcome, role)
            match outcome:
                case HandedOver():
                    await tell(interaction, "I have asked someone to look at it.")
                case Shared():
                    await tell(interaction, "Shared.")
                case _:
                    pass

    def _pressed(
        self, interaction: Interaction, shown: AnsweredTrace, trace_id: str, action: AnswerButton
    ) -> AnswerPress:
        async def place() -> Audience:
            if action is AnswerButton.SHARE:  # ``act`` has not acknowledged the press for sharing, so do it here
                await acknowledge(interaction, alone=True)
            return await self._app.channel_access.audience_of_channel(shown.thread)

        reader = partial(self._app.channel_access.audience_of_interaction, interaction)
        return AnswerPress(shown.thread, trace_id, person_of(interaction.user), reader, place)

    async def _show_outcome(
        self, interaction: Interaction, shown: AnsweredTrace, outcome: PressResult, role: int
    ) -> None:
        match outcome:
            case Quotes(question, citations, withheld):
                text = quote_blocks(question, citations, withheld)
                for part in split_markdown(text, ANSWER_LIMIT)[:MOST_QUOTE_MESSAGES]:
                    await show(interaction, layouts.text_layout(part, citations))
            case Explanation():
                await tell(interaction, markdown(explanation_text(outcome)))
            case HandedOver(turn):
                await self._call_role(interaction, shown, turn, role)
            case Shared(turn):
                await self._post_shared(interaction, shown, turn)
            case OwnerTold():
                await tell(interaction, TOLD_OWNER)
            case Rated():
                pass
            case _:
                assert_never(outcome)

    async def ask_follow_up(self, interaction: Interaction, trace_id: str, number: int) -> None:
        """Ask a suggested question on behalf of the presser, below the same answer."""
        async with report_errors(interaction):
            shown = await find_answer(self._app.answer_index, trace_id)
            response = await acknowledge(interaction, alone=shown.private)
            person = person_of(interaction.user)
            reader = await self._app.channel_access.audience_of_interaction(interaction)
            asking = self._app.user_actions.answers.ask_follow_up(shown.thread, trace_id, number, person, reader)
            async with asking as suggested:
                question = suggested.question
                asked = asked_by(interaction, shown.thread, question, alone=shown.private, response=response)
                await enqueue(self._ordered_queue, interaction, replace(asked, suggested=True))

    async def ask_again(self, interaction: Interaction, trace_id: str) -> None:
        """Ask an edited question again after its answer, once and only for its writer. Then remove the button."""
        async with report_errors(interaction):
            shown = await find_answer(self._app.answer_index, trace_id)
            state = DiscordQuestionState(thread=shown.thread, message=shown.subject)
            person = person_of(interaction.user)
            if person.id != shown.asker:
                raise Denied(NOT_YOURS_TO_REPEAT)
            response = await acknowledge(interaction, alone=shown.private)
            async with self._app.user_actions.questions.repeat(state, person) as edited:
                asked = asked_by(interaction, shown.thread, edited.text, alone=shown.private, response=response)
                again = replace(edited, id=asked.id, thread=asked.thread, reply_target=asked.reply_target, edited=False)
                await enqueue(self._ordered_queue, interaction, replace(again, files=files_on(edited)))
            if interaction.message is not None and interaction.channel_id is not None:
                spot = Spot(interaction.channel_id, interaction.guild_id)
                without = layouts.shown_in(interaction.message, but_for=AGAIN)
                with suppress(FootnoteError):
                    await self._app.messages.edit(spot, interaction.message.id, without)

    async def mute_notices(self, interaction: Interaction) -> None:
        """Turn the presser's notices of changed answers off, or on again."""
        async with report_errors(interaction):
            muted = await toggle_notices(self._app.message_states, person_of(interaction.user))
            await tell(interaction, MUTED if muted else UNMUTED)

    async def _role_to_call(self, interaction: Interaction, shown: AnsweredTrace) -> int:
        """Return the place's handoff role. Raises NotFound if there is none that we can mention."""
        role = handoff_role((await self._app.channel_access.settings(shown.thread)).handoff)
        if role is None or interaction.channel_id is None or interaction.guild_id is None:
            raise NotFound(NOBODY_TO_CALL)
        if not await self._app.channel_access.may_call(role, shown.thread):
            raise NotFound(NOBODY_TO_CALL, remedy=UNMENTIONABLE)
        return role

    async def _call_role(self, interaction: Interaction, shown: AnsweredTrace, turn: Turn, role: int) -> None:
        assert interaction.channel_id is not None
        link = interaction.message.jump_url if interaction.message is not None else ""
        text = f"{clip(interaction.user.display_name, 60)} would like a person to look at this answer:"
        spot = Spot(interaction.channel_id, interaction.guild_id)
        key = nonce(str(shown.thread), shown.subject, f"handoff-{turn.trace_id}")
        heard = self._app.user_actions.person_answers is not None and isinstance(interaction.channel, Thread)
        solved = [offer_button(OfferAction.SOLVED, turn.trace_id)] if heard else []
        await self._app.messages.call_role(spot, role, text, link, key, *solved)

    async def _post_shared(self, interaction: Interaction, shown: AnsweredTrace, turn: Turn) -> None:
        """Post a private answer in the channel."""
        spot = await self._shared_at(interaction, shown, turn)
        if spot is None:
            raise NotFound(GONE)
        for number, part in enumerate(_shared_views(turn, interaction.user.display_name)):
            await self._app.messages.post(spot, part, nonce(str(shown.thread), turn.trace_id, f"share-{number}"))

    async def _shared_at(self, interaction: Interaction, shown: AnsweredTrace, turn: Turn) -> Spot | None:
        """Return where a shared answer goes: below the answer, or in a thread on a question asked elsewhere."""
        if not shown.asked_at:
            return Spot(interaction.channel_id, interaction.guild_id) if interaction.channel_id is not None else None
        channel, _, message = shown.asked_at.partition("/")
        target = ReplyTarget(ReplyMode.START, channel, message, shown.thread.space)
        thread = await self._app.messages.start_thread(target, turn.question)
        return Spot(thread or int(channel), int(shown.thread.space), None if thread else int(message))


def _shared_views(turn: Turn, by: str) -> list[SanitizedView]:
    """Return the messages that show a turn's answer to a channel."""
    answer = Answer(turn.outcome, turn.answer, turn.citations)
    parts = answer_parts(turn.answer, turn.citations)
    question = f"> {escape(clip(turn.question, 300))}"
    extras = layouts.Extras(feedback=False, question=question if len(parts) == 1 else "")
    notices = (f"{by} asked, and shares the answer.",)
    last = layouts.answer_layout(parts[-1], answer, turn.trace_id, extras, notices=notices)
    earlier = [
        layouts.answer_part(part, turn.citations, "" if number else question) for number, part in enumerate(parts[:-1])
    ]
    return [*earlier, last]
