"""Buttons that outlive a restart: each is recognised by its id, which names a trace or a checkpoint and nothing else.

What a press does is the ``ButtonHandlers``' business, which the client carries; nothing in a button is trusted.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self, cast

import discord
from discord import ui

from adapters.discord.outbound.forms import SettingsMenu
from adapters.discord.outbound.text import LABEL_LIMIT, clip
from core.model.inquiry import Choice
from core.service.actions.presses import ROWS, AnswerAction
from core.service.actions.wording import ANSWER_AGAIN

Interaction = discord.Interaction[Any]
_MENUS = "|".join(SettingsMenu)


@dataclass(frozen=True, slots=True)
class ButtonHandlers:
    """What happens when something is pressed, chosen or sent."""

    stop: Callable[[Interaction, str], Awaitable[None]]
    act: Callable[[Interaction, AnswerAction, str], Awaitable[None]]
    ask_follow_up: Callable[[Interaction, str, int], Awaitable[None]]
    ask_again: Callable[[Interaction, str], Awaitable[None]]
    choose: Callable[[Interaction, str, str], Awaitable[None]]
    correct: Callable[[Interaction, str], Awaitable[None]]
    choose_settings: Callable[[Interaction, SettingsMenu, str, list[str]], Awaitable[None]]
    use_kept_command: Callable[[Interaction, str], Awaitable[None]]
    on_submit: Callable[[Interaction], Awaitable[None]]


def handlers_of(interaction: Interaction) -> ButtonHandlers:
    """The client's handlers."""
    return cast("ButtonHandlers", interaction.client.button_handlers)


class StopButton(ui.DynamicItem[ui.Button[Any]], template=r"footnote:stop:(?P<trace>[0-9a-f]{16})"):
    """Ends the work on a question."""

    def __init__(self, item: ui.Button[Any], trace_id: str) -> None:
        super().__init__(item)
        self.trace_id = trace_id

    @classmethod
    def create(cls, trace_id: str) -> Self:
        """The button for the run of this trace."""
        button = ui.Button[Any](label="Stop", custom_id=f"footnote:stop:{trace_id}")
        return cls(button, trace_id)

    @classmethod
    async def from_custom_id(cls, interaction: Interaction, item: ui.Item[Any], match: re.Match[str], /) -> Self:  # noqa: ARG003
        """The button that was pressed, from its id."""
        return cls.create(match["trace"])

    async def callback(self, interaction: Interaction) -> Any:
        """Stop the run of this trace."""
        await handlers_of(interaction).stop(interaction, self.trace_id)


class AnswerButton(
    ui.DynamicItem[ui.Button[Any]],
    template=rf"footnote:(?P<action>{'|'.join(AnswerAction)}):(?P<trace>[0-9a-f]{{16}})",
):
    """What can be done with an answer."""

    def __init__(self, item: ui.Button[Any], action: AnswerAction, trace_id: str) -> None:
        super().__init__(item)
        self.action, self.trace_id = action, trace_id

    @classmethod
    def create(cls, action: AnswerAction, trace_id: str) -> Self:
        """The button of this action for the answer of this trace."""
        style = discord.ButtonStyle.primary if action is AnswerAction.SHARE else discord.ButtonStyle.secondary
        button = ui.Button[Any](label=ROWS[action].label, style=style, custom_id=f"footnote:{action}:{trace_id}")
        return cls(button, action, trace_id)

    @classmethod
    async def from_custom_id(cls, interaction: Interaction, item: ui.Item[Any], match: re.Match[str], /) -> Self:  # noqa: ARG003
        """The button that was pressed, from its id."""
        return cls.create(AnswerAction(match["action"]), match["trace"])

    async def callback(self, interaction: Interaction) -> Any:
        """Do this with the answer of this trace."""
        await handlers_of(interaction).act(interaction, self.action, self.trace_id)


class FollowUpButton(
    ui.DynamicItem[ui.Button[Any]], template=r"footnote:ask:(?P<trace>[0-9a-f]{16}):(?P<number>\d{1,2})"
):
    """A question that is suggested below an answer; it names the answer and the number of the suggestion."""

    def __init__(self, item: ui.Button[Any], trace_id: str, number: int) -> None:
        super().__init__(item)
        self.trace_id, self.number = trace_id, number

    @classmethod
    def create(cls, trace_id: str, number: int, label: str) -> Self:
        """The button for the suggestion of this number, from 1, below the answer of this trace."""
        button = ui.Button[Any](label=clip(label, LABEL_LIMIT), custom_id=f"footnote:ask:{trace_id}:{number}")
        return cls(button, trace_id, number)

    @classmethod
    async def from_custom_id(cls, interaction: Interaction, item: ui.Item[Any], match: re.Match[str], /) -> Self:  # noqa: ARG003
        """The button that was pressed, from its id."""
        return cls.create(match["trace"], int(match["number"]), "…")

    async def callback(self, interaction: Interaction) -> Any:
        """Ask it, as whoever presses."""
        await handlers_of(interaction).ask_follow_up(interaction, self.trace_id, self.number)


class AgainButton(ui.DynamicItem[ui.Button[Any]], template=r"footnote:again:(?P<trace>[0-9a-f]{16})"):
    """Asks a question again that was edited after its answer, below that answer."""

    BEGINNING = "footnote:again:"

    def __init__(self, item: ui.Button[Any], trace_id: str) -> None:
        super().__init__(item)
        self.trace_id = trace_id

    @classmethod
    def create(cls, trace_id: str) -> Self:
        """The button for the answer of this trace."""
        return cls(ui.Button(label=ANSWER_AGAIN, custom_id=f"{cls.BEGINNING}{trace_id}"), trace_id)

    @classmethod
    async def from_custom_id(cls, interaction: Interaction, item: ui.Item[Any], match: re.Match[str], /) -> Self:  # noqa: ARG003
        """The button that was pressed, from its id."""
        return cls.create(match["trace"])

    async def callback(self, interaction: Interaction) -> Any:
        """Ask it again, as it reads now."""
        await handlers_of(interaction).ask_again(interaction, self.trace_id)


class ChoiceButton(
    ui.DynamicItem[ui.Button[Any]], template=r"footnote:choose:(?P<checkpoint>[0-9a-f]{1,32}):(?P<choice>[\w-]{1,40})"
):
    """One choice of a checkpoint."""

    def __init__(self, item: ui.Button[Any], checkpoint_id: str, choice_id: str) -> None:
        super().__init__(item)
        self.checkpoint_id, self.choice_id = checkpoint_id, choice_id

    @classmethod
    def create(cls, checkpoint_id: str, choice: Choice, *, first: bool = False) -> Self:
        """The button of this choice; the first of a card stands out."""
        style = discord.ButtonStyle.primary if first else discord.ButtonStyle.secondary
        label = clip(choice.label, LABEL_LIMIT) or choice.id
        button = ui.Button[Any](label=label, style=style, custom_id=f"footnote:choose:{checkpoint_id}:{choice.id}")
        return cls(button, checkpoint_id, choice.id)

    @classmethod
    async def from_custom_id(cls, interaction: Interaction, item: ui.Item[Any], match: re.Match[str], /) -> Self:  # noqa: ARG003
        """The button that was pressed, from its id."""
        return cls.create(match["checkpoint"], Choice(match["choice"], match["choice"]))

    async def callback(self, interaction: Interaction) -> Any:
        """Choose this at the checkpoint."""
        await handlers_of(interaction).choose(interaction, self.checkpoint_id, self.choice_id)


class CorrectButton(ui.DynamicItem[ui.Button[Any]], template=r"footnote:correct:(?P<trace>[0-9a-f]{16})"):
    """Opens the form for the right answer, below the thanks for saying that one was not."""

    def __init__(self, item: ui.Button[Any], trace_id: str) -> None:
        super().__init__(item)
        self.trace_id = trace_id

    @classmethod
    def create(cls, trace_id: str) -> Self:
        """The button for the answer of this trace."""
        label = "Propose the right answer"
        return cls(ui.Button(label=label, custom_id=f"footnote:correct:{trace_id}"), trace_id)

    @classmethod
    async def from_custom_id(cls, interaction: Interaction, item: ui.Item[Any], match: re.Match[str], /) -> Self:  # noqa: ARG003
        """The button that was pressed, from its id."""
        return cls.create(match["trace"])

    async def callback(self, interaction: Interaction) -> Any:
        """Open the form for the right answer to this trace's question."""
        await handlers_of(interaction).correct(interaction, self.trace_id)


class PlaceMenu(ui.DynamicItem[ui.Select[Any]], template=rf"footnote:place:(?P<menu>{_MENUS}):(?P<place>\d{{1,20}})"):
    """A menu in which an admin chooses one setting of a channel or category."""

    def __init__(self, item: ui.Select[Any], menu: SettingsMenu, place: str) -> None:
        super().__init__(item)
        self.menu, self.place = menu, place

    @classmethod
    def create(
        cls,
        menu: SettingsMenu,
        place: int | str,
        hint: str,
        options: list[discord.SelectOption],
        *,
        several: bool = False,
    ) -> Self:
        """The menu for one setting; with ``several``, any number of its options may be chosen."""
        control = ui.Select[Any](
            custom_id=f"footnote:place:{menu}:{place}",
            placeholder=clip(hint, 150),
            options=options[:25],
            min_values=0 if several else 1,
            max_values=min(len(options), 25) if several else 1,
        )
        return cls(control, menu, str(place))

    @classmethod
    async def from_custom_id(cls, interaction: Interaction, item: ui.Item[Any], match: re.Match[str], /) -> Self:  # noqa: ARG003
        """The menu that was used, with what Discord says it was."""
        return cls(cast("ui.Select[Any]", item), SettingsMenu(match["menu"]), match["place"])

    async def callback(self, interaction: Interaction) -> Any:
        """Change this setting of the place to what was chosen."""
        await handlers_of(interaction).choose_settings(interaction, self.menu, self.place, list(self.item.values))


class RoleMenu(
    ui.DynamicItem[ui.RoleSelect[Any]],
    template=rf"footnote:role:(?P<menu>{'|'.join(SettingsMenu)}):(?P<place>\d{{1,20}})",
):
    """A menu in which an admin chooses the role that *Ask a person* calls."""

    def __init__(self, item: ui.RoleSelect[Any], menu: SettingsMenu, place: str) -> None:
        super().__init__(item)
        self.menu, self.place = menu, place

    @classmethod
    def create(cls, menu: SettingsMenu, place: int | str, hint: str, chosen: int | None = None) -> Self:
        """The menu, with the role that is chosen now."""
        default = [discord.Object(chosen)] if chosen else []
        values = [discord.SelectDefaultValue(id=one.id, type=discord.SelectDefaultValueType.role) for one in default]
        control = ui.RoleSelect[Any](
            custom_id=f"footnote:role:{menu}:{place}",
            placeholder=clip(hint, 150),
            min_values=0,
            max_values=1,
            default_values=values,
        )
        return cls(control, menu, str(place))

    @classmethod
    async def from_custom_id(cls, interaction: Interaction, item: ui.Item[Any], match: re.Match[str], /) -> Self:  # noqa: ARG003
        """The menu that was used."""
        return cls(cast("ui.RoleSelect[Any]", item), SettingsMenu(match["menu"]), match["place"])

    async def callback(self, interaction: Interaction) -> Any:
        """A role was chosen, or none."""
        roles = [str(role.id) for role in self.item.values]
        await handlers_of(interaction).choose_settings(interaction, self.menu, self.place, roles)


class KbButton(ui.DynamicItem[ui.Button[Any]], template=r"footnote:kb:(?P<kept>[0-9a-f]{24})"):
    """Below a reply of ``/kb``: a further command, kept under this id."""

    def __init__(self, item: ui.Button[Any], kept: str) -> None:
        super().__init__(item)
        self.kept = kept

    @classmethod
    def create(cls, kept: str, label: str, *, danger: bool = False) -> Self:
        """The button for a command that is kept."""
        style = discord.ButtonStyle.danger if danger else discord.ButtonStyle.secondary
        button = ui.Button[Any](label=clip(label, LABEL_LIMIT), style=style, custom_id=f"footnote:kb:{kept}")
        return cls(button, kept)

    @classmethod
    async def from_custom_id(cls, interaction: Interaction, item: ui.Item[Any], match: re.Match[str], /) -> Self:  # noqa: ARG003
        """The button that was pressed, from its id."""
        return cls.create(match["kept"], "…")

    async def callback(self, interaction: Interaction) -> Any:
        """Give the command that is kept under this id."""
        await handlers_of(interaction).use_kept_command(interaction, self.kept)
