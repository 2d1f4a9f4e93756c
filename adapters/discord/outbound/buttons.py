"""Persistent buttons and menus, recognized by an id that names a trace, a checkpoint or a place.

The client passes a press on. Nothing in a button is trusted.
"""

import re
from typing import Any, Self

import discord
from discord import ui

from adapters.discord.outbound.forms import SettingsMenu
from adapters.discord.outbound.text import LABEL_LIMIT, clip
from core.model.inquiry import Choice
from core.model.person_answers import OFFER_LABELS, OfferAction
from core.service.actions.presses import ROWS, AnswerButton
from core.service.actions.wording import ANSWER_AGAIN
from core.service.standing_answers.notices import MUTE_LABEL, OPEN_LABEL

Interaction = discord.Interaction[Any]
Button = ui.Button[Any]
AGAIN = "footnote:again:"
_IDS = (
    rf"footnote:(?:stop|again|correct|{'|'.join(AnswerButton)}):[0-9a-f]{{16}}",
    r"footnote:ask:[0-9a-f]{16}:\d{1,2}",
    r"footnote:choose:[0-9a-f]{1,32}:[\w-]{1,40}",
    r"footnote:notices:mute",
    rf"footnote:(?:place|role):(?:{'|'.join(SettingsMenu)}):\d{{1,20}}",
    r"footnote:kb:[0-9a-f]{24}",
    rf"footnote:offer:(?:{'|'.join(OfferAction)}):[0-9a-f]{{16}}",
)


class Pressed(ui.DynamicItem[ui.Item[Any]], template="|".join(_IDS)):
    """A used button or menu of ours, whichever process posted it."""

    @classmethod
    async def from_custom_id(cls, _: Interaction, item: ui.Item[Any], __: re.Match[str], /) -> Self:
        """Wrap the item that Discord describes."""
        return cls(item)

    async def callback(self, interaction: Interaction) -> None:
        """Pass the press on to the client, which knows what each id does."""
        await interaction.client.events.on_press(interaction, self.custom_id)


def stop_button(trace_id: str) -> Button:
    """Return the button that stops the work on a question."""
    return _button("Stop", f"footnote:stop:{trace_id}")


def answer_button(action: AnswerButton, trace_id: str) -> Button:
    """Return a button for an action on this trace's answer."""
    return _button(ROWS[action].label, f"footnote:{action}:{trace_id}", primary=action is AnswerButton.SHARE)


def follow_up_button(trace_id: str, number: int, label: str) -> Button:
    """Return the button for a suggested question, numbered from 1, below this trace's answer."""
    return _button(label, f"footnote:ask:{trace_id}:{number}")


def again_button(trace_id: str) -> Button:
    """Return the button, below an answer, that asks the edited question again."""
    return _button(ANSWER_AGAIN, f"{AGAIN}{trace_id}")


def choice_button(checkpoint_id: str, choice: Choice, *, first: bool = False) -> Button:
    """Return the button of a checkpoint's choice. A card's first button is highlighted."""
    return _button(choice.label or choice.id, f"footnote:choose:{checkpoint_id}:{choice.id}", primary=first)


def correct_button(trace_id: str) -> Button:
    """Return the button that opens the form for the right answer, below the thanks for a bad rating."""
    return _button("Propose the right answer", f"footnote:correct:{trace_id}")


def notice_buttons(link: str) -> list[Button]:
    """Return the buttons of a notice: mute notices of changed answers, and open the answer."""
    opens = [ui.Button[Any](label=OPEN_LABEL, url=link)] if link else []
    return [_button(MUTE_LABEL, "footnote:notices:mute"), *opens]


def offer_button(action: OfferAction, name: str) -> Button:
    """Return a button for an action on a person's answer. ``name`` is the offer's id."""
    return _button(OFFER_LABELS[action], f"footnote:offer:{action}:{name}", primary=action is OfferAction.KEEP)


def kb_button(kept: str, label: str, *, danger: bool = False) -> Button:
    """Return the button, below a reply of ``/kb``, for the command stored under this id."""
    button = _button(label, f"footnote:kb:{kept}")
    button.style = discord.ButtonStyle.danger if danger else button.style
    return button


def _button(label: str, custom_id: str, *, primary: bool = False) -> Button:
    style = discord.ButtonStyle.primary if primary else discord.ButtonStyle.secondary
    return ui.Button(label=clip(label, LABEL_LIMIT), style=style, custom_id=custom_id)


def place_menu(
    menu: SettingsMenu, place: int, hint: str, options: list[discord.SelectOption], *, several: bool = False
) -> ui.Select[Any]:
    """Return the menu for one setting of a place. With ``several``, any number of options can be chosen."""
    return ui.Select(
        custom_id=f"footnote:place:{menu}:{place}",
        placeholder=clip(hint, 150),
        options=options[:25],
        min_values=0 if several else 1,
        max_values=min(len(options), 25) if several else 1,
    )


def role_menu(menu: SettingsMenu, place: int, hint: str, chosen: int | None = None) -> ui.RoleSelect[Any]:
    """Return the menu for the role that *Ask a person* mentions. ``chosen`` is the current role."""
    role = discord.SelectDefaultValueType.role
    return ui.RoleSelect(
        custom_id=f"footnote:role:{menu}:{place}",
        placeholder=clip(hint, 150),
        min_values=0,
        max_values=1,
        default_values=[discord.SelectDefaultValue(id=chosen, type=role)] if chosen else [],
    )
