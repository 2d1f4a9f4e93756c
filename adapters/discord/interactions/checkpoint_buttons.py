"""The buttons of a checkpoint's card: a choice, or a form for the person's own words."""

import asyncio
from functools import partial

from adapters.discord.api.ids import person_of
from adapters.discord.inbound.interactions import (
    LOOK_UP_SECONDS,
    acknowledge_press,
    administers,
    private_target,
    report_errors,
    respond,
    tell,
)
from adapters.discord.outbound.answer_records import DiscordQuestionState
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.buttons import Interaction
from adapters.discord.outbound.forms import FormId, words_form
from adapters.discord.outbound.text import clip
from core.model.incoming_events import IncomingChoice
from core.model.inquiry import Checkpoint, Choice

NO_WORDS = "That field was empty. Press the button again and write a few words."


class CheckpointButtons:
    """Puts a choice into the inbox if the person may make it."""

    def __init__(self, app: DiscordApplication) -> None:
        self._app = app

    async def choose(self, interaction: Interaction, checkpoint_id: str, choice_id: str) -> None:
        """Open a form if the choice needs words; otherwise make the choice at once."""
        async with report_errors(interaction):
            async with asyncio.timeout(LOOK_UP_SECONDS):
                checkpoint, choice, trace_id = await self._find_choice(interaction, checkpoint_id, choice_id)
                if not choice.asks_text:
                    await self._keep(interaction, checkpoint, choice, trace_id, "")
            if choice.asks_text:
                await respond(interaction.response.send_modal(words_form(checkpoint, choice)))
            else:
                await acknowledge_press(interaction)

    async def submit_words(self, interaction: Interaction, form: FormId, words: str) -> None:
        """Make a choice with the person's own words."""
        async with asyncio.timeout(LOOK_UP_SECONDS):
            found = await self._find_choice(interaction, form.subject, form.choice)
            if words:
                await self._keep(interaction, *found, words)
        if words:
            await acknowledge_press(interaction)
        else:
            await tell(interaction, NO_WORDS)

    async def _find_choice(
        self, interaction: Interaction, checkpoint_id: str, choice_id: str
    ) -> tuple[Checkpoint, Choice, str]:
        """Return the choice if this person can still make it. Raises NotFound and Denied."""
        person, is_admin = person_of(interaction.user), partial(administers, interaction)
        parked, choice = await self._app.user_actions.questions.find_choice(checkpoint_id, choice_id, person, is_admin)
        return parked.checkpoint, choice, parked.inquiry.id

    async def _keep(
        self, interaction: Interaction, checkpoint: Checkpoint, choice: Choice, trace_id: str, words: str
    ) -> None:
        """Put the choice into the inbox. The worker that continues the question updates the card.

        The worker may be faster, and an update from here could overwrite its answer. Raises Busy and StoreUnavailable.
        """
        label = clip(f"{choice.label}: {words}" if words else choice.label, 200)
        made = IncomingChoice(
            checkpoint=checkpoint.id,
            choice=choice.id,
            person=person_of(interaction.user),
            thread=checkpoint.thread,
            reply_target=private_target(interaction),
            text=words,
        )
        note = await self._choice_note(interaction, trace_id, label)
        await self._app.user_actions.questions.enqueue_choice(f"discord:{interaction.id}", made, label, *note)

    async def _choice_note(
        self, interaction: Interaction, trace_id: str, label: str
    ) -> tuple[DiscordQuestionState, ...]:
        """Return a record of who chose what, for the answer, and the token that can edit a private card."""
        shown = await self._app.answer_index.find(trace_id)
        if shown is None:
            return ()
        state = DiscordQuestionState(
            thread=shown.thread,
            message=shown.subject,
            asker=shown.asker,
            chosen=f"{interaction.user.display_name} chose {label}",
            token=interaction.token if shown.private else "",
            token_of=str(interaction.id) if shown.private else "",
        )
        return (state,)
