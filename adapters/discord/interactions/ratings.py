"""What somebody thinks of an answer: whether it helped, why it did not, and what would have been right."""

import asyncio

from discord import ui

from adapters.discord.api.ids import person_of
from adapters.discord.inbound.interactions import (
    LOOK_UP_SECONDS,
    acknowledge,
    find_answer,
    report_errors,
    respond,
    tell,
)
from adapters.discord.kb.commands import KbGroup
from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_records import AnsweredQuestion, DiscordQuestionState
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.buttons import Interaction, correct_button
from adapters.discord.outbound.forms import correction_form, reason_form
from adapters.discord.outbound.messages import NOBODY
from core.service.actions.presses import AnswerAction, AnswerPress

THANKS = "Thank you for the feedback."
KNOW_BETTER = "Do you know the right answer? Propose it, and an admin can add it to the knowledge base."
NO_ANSWER = "That field was empty. AnswerPress the button again and write the right answer."


class RatingButtons:
    """Keeps ratings; a correction is put to the knowledge service. ``kb`` None: no correction is asked for."""

    def __init__(self, app: DiscordApplication, kb: KbGroup | None) -> None:
        self._app = app
        self._kb = kb

    async def rate(self, interaction: Interaction, action: AnswerAction, press: AnswerPress) -> None:
        """Keep it; who was not helped is asked why, in a form."""
        async with asyncio.timeout(LOOK_UP_SECONDS), self._app.user_actions.presses.press(action, press):
            pass
        if action is AnswerAction.HELPFUL:
            await tell(interaction, THANKS)
        else:
            await respond(interaction.response.send_modal(reason_form(press.trace_id)))

    async def submit_reason(self, interaction: Interaction, trace_id: str, reason: str) -> None:
        """Keep why an answer did not help."""
        shown = await find_answer(self._app.answer_index, trace_id)
        person = person_of(interaction.user)
        await self._app.user_actions.ratings.rate(shown.thread, trace_id, person, helpful=False, reason=reason)
        await self._offer_correction(interaction, trace_id)

    async def _offer_correction(self, interaction: Interaction, trace_id: str) -> None:
        """Thank them, and offer to take the right answer."""
        if self._kb is None:
            return await tell(interaction, THANKS)
        offer = layouts.layout(ui.TextDisplay(f"{THANKS} {KNOW_BETTER}"), layouts.row(correct_button(trace_id)))
        await respond(interaction.response.send_message(view=offer, ephemeral=True, allowed_mentions=NOBODY))
        return None

    async def open_correction(self, interaction: Interaction, trace_id: str) -> None:
        """Open the form for the right answer."""
        async with report_errors(interaction):
            await find_answer(self._app.answer_index, trace_id)
            await respond(interaction.response.send_modal(correction_form(trace_id)))

    async def submit_correction(self, interaction: Interaction, trace_id: str, answer: str) -> None:
        """Put it to the knowledge service, with the question as it was asked and the way back to the answer."""
        shown = await find_answer(self._app.answer_index, trace_id)
        if self._kb is None:
            return None
        if not answer:
            return await tell(interaction, NO_ANSWER)
        await acknowledge(interaction, alone=True)
        turn = await self._app.user_actions.answers.read(
            shown.thread, trace_id, await self._app.channel_access.audience_of_interaction(interaction)
        )
        await self._kb.correct(interaction, turn, answer, await self._link_to(shown))
        return None

    async def _link_to(self, shown: AnsweredQuestion) -> str | None:
        """Return the way back to an answer that others can see."""
        if shown.private or not shown.thread.space:
            return None
        posted = await self._app.message_states.read(DiscordQuestionState(thread=shown.thread, message=shown.subject))
        if posted is None or not (posted.channel and posted.first):
            return None
        return f"https://discord.com/channels/{shown.thread.space}/{posted.channel}/{posted.first}"
