"""Routing of commands, buttons, menus and forms to what answers them, and the buttons of a checkpoint's card."""

import asyncio
from functools import partial
from typing import cast

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
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.interactions.answer_buttons import AnswerButtons, RatingButtons
from adapters.discord.interactions.ask_commands import AskCommands
from adapters.discord.interactions.command_tree import CommandTree
from adapters.discord.interactions.footnote_commands import FootnoteCommands
from adapters.discord.interactions.settings import ChannelSettingsMenus
from adapters.discord.kb.commands import KbGroup
from adapters.discord.kb.options import kb_commands
from adapters.discord.outbound.answer_records import DiscordQuestionState
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.buttons import Interaction
from adapters.discord.outbound.forms import (
    LONGEST_CORRECTION,
    LONGEST_WORDS,
    FormId,
    FormKind,
    SettingsMenu,
    entered_texts,
    uploaded_files,
    words_form,
)
from adapters.discord.outbound.text import clip
from core.model.incoming_events import IncomingChoice
from core.model.inquiry import Choice
from core.model.person_answers import OfferAction
from core.ports.memory import ParkedInquiry
from core.service.actions.presses import AnswerButton

NO_WORDS = "That field was empty. Press the button again and write a few words."


class CheckpointButtons:
    """Puts a choice into the inbox if the person may make it."""

    def __init__(self, app: DiscordApplication) -> None:
        self._app = app

    async def choose(self, interaction: Interaction, checkpoint_id: str, choice_id: str) -> None:
        """Open a form if the choice needs words; otherwise make the choice at once."""
        async with report_errors(interaction):
            async with asyncio.timeout(LOOK_UP_SECONDS):
                parked, choice = await self._find_choice(interaction, checkpoint_id, choice_id)
                if not choice.asks_text:
                    await self._keep(interaction, parked, choice, "")
            if choice.asks_text:
                await respond(interaction.response.send_modal(words_form(parked.checkpoint, choice)))
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
    ) -> tuple[ParkedInquiry, Choice]:
        """Return the choice if this person can still make it. Raises NotFound and Denied."""
        person, is_admin = person_of(interaction.user), partial(administers, interaction)
        return await self._app.user_actions.questions.find_choice(checkpoint_id, choice_id, person, is_admin)

    async def _keep(self, interaction: Interaction, parked: ParkedInquiry, choice: Choice, words: str) -> None:
        """Put the choice into the inbox. The worker that continues the question updates the card.

        The worker may be faster, and an update from here could overwrite its answer. Beside the choice, keep who chose
        what, for the answer, and the token that can edit a private card. Raises Busy and StoreUnavailable.
        """
        label = clip(f"{choice.label}: {words}" if words else choice.label, 200)
        made = IncomingChoice(
            checkpoint=parked.checkpoint.id,
            choice=choice.id,
            person=person_of(interaction.user),
            thread=parked.checkpoint.thread,
            reply_target=private_target(interaction),
            text=words,
        )
        shown, beside = await self._app.answer_index.find(parked.inquiry.id), list[DiscordQuestionState]()
        if shown is not None:
            state = DiscordQuestionState(
                thread=shown.thread,
                message=shown.subject,
                asker=shown.asker,
                chosen=f"{interaction.user.display_name} chose {label}",
                token=interaction.token if shown.private else "",
                token_of=str(interaction.id) if shown.private else "",
            )
            beside.append(state)
        await self._app.user_actions.questions.enqueue_choice(f"discord:{interaction.id}", made, label, *beside)


class Interactions:
    """What a client needs to answer interactions: its commands, and the handlers of buttons and forms."""

    def __init__(
        self, app: DiscordApplication, ordered_queue: OrderedQueue, kb: KbGroup, dev_guild: str | None
    ) -> None:
        """Set up all handlers. ``dev_guild`` is the only server for commands."""
        self._kb = kb
        self._checkpoints = CheckpointButtons(app)
        self._ratings = RatingButtons(app, kb)
        self._settings = ChannelSettingsMenus(app)
        self._answers = AnswerButtons(app, ordered_queue, self._ratings)
        ask, footnote = AskCommands(app, ordered_queue), FootnoteCommands(app, self._settings)
        commands = [*ask.commands(), footnote.group(), *kb_commands(kb)]
        self.command_tree = CommandTree(commands, app.user_actions.audit, app.message_states, dev_guild)

    async def on_press(self, interaction: Interaction, custom_id: str) -> None:
        """Handle a pressed button or a menu, even one that another process posted."""
        answers, ratings = self._answers, self._ratings
        match custom_id.split(":")[1:]:
            case ["stop" | "again" | "correct" as name, trace]:
                act = {"stop": answers.stop, "again": answers.ask_again, "correct": ratings.open_correction}[name]
                await act(interaction, trace)
            case ["ask", trace, number]:
                await answers.ask_follow_up(interaction, trace, int(number))
            case ["choose", checkpoint, choice]:
                await self._checkpoints.choose(interaction, checkpoint, choice)
            case ["place" | "role", menu, place]:
                chosen = cast("dict[str, list[str]]", interaction.data or {}).get("values", [])
                await self._settings.choose(interaction, SettingsMenu(menu), place, chosen)
            case ["notices", "mute"]:
                await answers.mute_notices(interaction)
            case ["offer", action, name]:
                await ratings.decide_answer(interaction, OfferAction(action), name)
            case ["kb", kept]:
                await self._kb.on_press(interaction, kept)
            case [action, trace]:
                await answers.act(interaction, AnswerButton(action), trace)

    async def on_submit(self, interaction: Interaction) -> None:
        """Handle a submitted form, even one that another process opened."""
        data = dict(interaction.data or {})
        form = FormId.decode(str(data.get("custom_id", "")))
        if form is None:
            return
        typed = " ".join(entered_texts(data.get("components"))).strip()
        words = clip(typed, LONGEST_WORDS)
        async with report_errors(interaction):
            match form.kind:
                case FormKind.WORDS:
                    await self._checkpoints.submit_words(interaction, form, words)
                case FormKind.REASON:
                    await self._ratings.submit_reason(interaction, form.subject, words)
                case FormKind.CORRECTION:
                    await self._ratings.submit_correction(interaction, form.subject, clip(typed, LONGEST_CORRECTION))
                case FormKind.LANGUAGES | FormKind.CONFIDENCE | FormKind.INSTRUCTIONS | FormKind.LIMITS:
                    await self._settings.submit(interaction, form, words)
                case FormKind.FILES:
                    await self._kb.add_files(interaction, form.subject, uploaded_files(data))
