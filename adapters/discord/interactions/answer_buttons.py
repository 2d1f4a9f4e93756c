"""The buttons below an answer: quotes, why, ratings, a person, sharing, what could be asked next; and stopping it.

What a button stands for, who may press it and what the presser may see is looked up when it is pressed.
"""

import asyncio
from dataclasses import replace
from functools import partial
from typing import assert_never

from adapters.discord.api.channel_access import ChannelAccess
from adapters.discord.api.identifiers import handoff_role, person_of
from adapters.discord.inbound.interaction_responses import (
    LOOK_UP_SECONDS,
    acknowledge,
    administers,
    private_target,
    report_errors,
    tell,
)
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.interactions.answer_lookup import find_answer
from adapters.discord.interactions.ratings import Ratings
from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_index import AnsweredQuestion, AnswerIndex
from adapters.discord.outbound.answer_records import DiscordQuestionState
from adapters.discord.outbound.buttons import Press
from adapters.discord.outbound.messages import NOBODY, Messages, Spot, nonce
from adapters.discord.outbound.sanitizer import SanitizedView
from adapters.discord.outbound.text import clip, markdown, pieces, plain, quote_blocks
from core.model.answer import Answer
from core.model.conversation import Audience, Turn
from core.model.errors import NotFound
from core.model.incoming_events import IncomingMessage
from core.model.reply_target import ReplyMode, ReplyTarget
from core.service.actions.user_actions import UserActions
from core.service.actions.wording import FINISHED, GONE, NOBODY_TO_CALL, explanation_text
from core.service.answer_buttons import AnswerAction
from core.service.text_splitting import split_markdown

ANSWER_LIMIT = 3_800
MOST_QUOTE_MESSAGES = 5


class AnswerButtons:
    """Does what is pressed below an answer."""

    def __init__(
        self,
        *,
        user_actions: UserActions,
        shown: AnswerIndex,
        readers: ChannelAccess,
        messages: Messages,
        ordered_queue: OrderedQueue,
        ratings: Ratings,
    ) -> None:
        self._user_actions = user_actions
        self._shown = shown
        self._readers = readers
        self._messages = messages
        self._ordered_queue = ordered_queue
        self._ratings = ratings

    async def stop(self, press: Press, trace_id: str) -> None:
        """Call the work off; whoever works on it offers what was found."""
        async with report_errors(press):
            shown = await find_answer(self._shown, trace_id, FINISHED)
            async with asyncio.timeout(LOOK_UP_SECONDS):
                question = DiscordQuestionState(thread=shown.thread, message=shown.subject)
                await self._user_actions.cancellation.stop(question, person_of(press.user), partial(administers, press))
            await press.response.defer()

    async def act(self, press: Press, action: AnswerAction, trace_id: str) -> None:
        """One of an answer's buttons."""
        async with report_errors(press):
            shown = await find_answer(self._shown, trace_id)
            match action:
                case AnswerAction.QUOTES:
                    await self._quotes(press, shown, trace_id)
                case AnswerAction.WHY:
                    await self._explain(press, shown, trace_id)
                case AnswerAction.HELPFUL | AnswerAction.UNHELPFUL:
                    helpful = action is AnswerAction.HELPFUL
                    await self._ratings.rate(press, shown, trace_id, helpful=helpful)
                case AnswerAction.HANDOFF:
                    await self._handoff(press, shown, trace_id)
                case AnswerAction.SHARE:
                    await self._share(press, shown, trace_id)
                case _:
                    assert_never(action)

    async def ask_follow_up(self, press: Press, trace_id: str, number: int) -> None:
        """Ask what was suggested below an answer, as whoever presses, where the button stands."""
        async with report_errors(press):
            shown = await find_answer(self._shown, trace_id)
            person, reader = person_of(press.user), await self._readers.of_interaction(press)
            asking = self._user_actions.follow_ups.ask(shown.thread, trace_id, number, person, reader)
            async with asking as suggested:
                response = await acknowledge(press, alone=shown.private)
                mode = ReplyMode.PRIVATE if shown.private else ReplyMode.RESPONSE
                target = replace(private_target(press), mode=mode, response=response)
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

    async def _explain(self, press: Press, shown: AnsweredQuestion, trace_id: str) -> None:
        """How the answer came about, as far as the one who pressed may read what it is made of."""
        await press.response.defer(ephemeral=True, thinking=True)
        reader = await self._readers.of_interaction(press)
        explanation = await self._user_actions.answers.explain(shown.thread, reader, trace_id)
        await tell(press, markdown(explanation_text(explanation)))

    async def _quotes(self, press: Press, shown: AnsweredQuestion, trace_id: str) -> None:
        """The passages, as far as the one who pressed may read them now."""
        await press.response.defer(ephemeral=True, thinking=True)
        reader = await self._readers.of_interaction(press)
        quotes = await self._user_actions.answers.quotes(shown.thread, trace_id, reader)
        text = quote_blocks(quotes.question, quotes.citations, quotes.withheld)
        for part in split_markdown(text, ANSWER_LIMIT)[:MOST_QUOTE_MESSAGES]:
            await press.followup.send(
                view=layouts.text_layout(part, quotes.citations), ephemeral=True, allowed_mentions=NOBODY
            )

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
