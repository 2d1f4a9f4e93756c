"""What our buttons and forms carry through a client, each as a type, and what was filled into a form.

They carry ids and nothing that is relied on. A button's value is a short text, a form's state is JSON in its
``private_metadata``. Both are written and read here alone, in the forms of the first version, whose buttons stay in
channels for years. https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from core.model.json_codec import from_json, to_json

LONGEST_STATE = 3_000  # characters of ``private_metadata``
_HELPFUL, _UNHELPFUL = "up", "down"


@dataclass(frozen=True, slots=True)
class ChoiceValue:
    """A choice of a checkpoint."""

    checkpoint: str
    choice: str

    def encode(self) -> str:
        """Return it as a button carries it."""
        return f"{self.checkpoint} {self.choice}"

    @classmethod
    def decode(cls, value: str) -> Self:
        """Return what a button carried; of what was never ours, ids of nothing."""
        checkpoint, _, choice = value.partition(" ")
        return cls(checkpoint, choice)


@dataclass(frozen=True, slots=True)
class RatingValue:
    """What somebody thinks of the answer of this trace."""

    helpful: bool
    trace_id: str

    def encode(self) -> str:
        """Return it as a button carries it."""
        return f"{_HELPFUL if self.helpful else _UNHELPFUL} {self.trace_id}"

    @classmethod
    def decode(cls, value: str) -> Self:
        """Return what a button carried."""
        word, _, trace_id = value.partition(" ")
        return cls(word == _HELPFUL, trace_id)


@dataclass(frozen=True, slots=True)
class FollowUpValue:
    """A question that is suggested below the answer of this trace, by its number from 1."""

    trace_id: str
    number: int

    def encode(self) -> str:
        """Return it as a button carries it."""
        return f"{self.trace_id} {self.number}"

    @classmethod
    def decode(cls, value: str) -> Self:
        """Return what a button carried; number 0 where it named none."""
        trace_id, _, number = value.partition(" ")
        return cls(trace_id, int(number) if number.isdecimal() and len(number) < 4 else 0)


@dataclass(frozen=True, slots=True)
class ThreadBlock:
    """The name of a block of buttons, with the thread that they are about: of an ephemeral, no press tells more."""

    name: str
    root: str = ""

    def encode(self) -> str:
        """Return it as a block's id."""
        return f"{self.name}@{self.root}"

    @classmethod
    def decode(cls, block_id: str) -> Self:
        """Return what a block's id says; without a root where it names none."""
        name, _, root = block_id.partition("@")
        return cls(name, root)


@dataclass(frozen=True, slots=True)
class ChoiceForm:
    """The text field of a choice, with the card that it was pressed on."""

    checkpoint: str = ""
    choice: str = ""
    channel: str = ""
    root: str = ""
    card: str = ""  # the ``ts`` of its message
    ephemeral: bool = False


@dataclass(frozen=True, slots=True)
class ReasonForm:
    """What was wrong with an answer. ``shown`` is its message, ``form`` the kept action that lets it be sent once."""

    channel: str = ""
    root: str = ""
    trace: str = ""
    shown: str = ""
    form: str = ""


@dataclass(frozen=True, slots=True)
class SettingsForm:
    """The settings of a channel."""

    channel: str = ""


@dataclass(frozen=True, slots=True)
class CommandForm:
    """A form of ``/kb``; ``form`` is the kept action that lets it be sent once."""

    form: str = ""


Form = TypeVar("Form", bound=ChoiceForm | ReasonForm | SettingsForm | CommandForm)


def encode_form(form: ChoiceForm | ReasonForm | SettingsForm | CommandForm) -> str:
    """Return it as a view carries it."""
    return to_json(form)[:LONGEST_STATE]


def form_in(kind: type[Form], view: Mapping[str, Any]) -> Form:
    """Return what a view carried; an empty one where it carried none of ours."""
    try:
        form: Form = from_json(kind, str(view.get("private_metadata") or "{}"))
    except ValueError:
        return kind()
    return form


class FormValues:
    """The ``state`` of a view of ours, in which each input block has one element; of what is missing, nothing."""

    def __init__(self, view: Mapping[str, Any]) -> None:
        """Read ``view`` of a ``view_submission`` or ``block_suggestion`` payload."""
        self._blocks: Mapping[str, Any] = (view.get("state") or {}).get("values") or {}

    def _element(self, name: str) -> Mapping[str, Any]:
        return next(iter((self._blocks.get(name) or {}).values()), None) or {}

    def asks(self, name: str) -> bool:
        """Return whether there is such a field."""
        return name in self._blocks

    def text(self, name: str) -> str:
        """Return what was typed."""
        return str(self._element(name).get("value") or "").strip()

    def option(self, name: str) -> str:
        """Return the value of the option that was chosen; empty where none was."""
        return str((self._element(name).get("selected_option") or {}).get("value") or "")

    def options(self, name: str) -> tuple[str, ...]:
        """Return the values of the options that were chosen or ticked."""
        return tuple(str(option["value"]) for option in self._element(name).get("selected_options") or ())

    def channel(self, name: str) -> str:
        """Return the id of the one conversation that was picked."""
        return str(self._element(name).get("selected_conversation") or "")

    def channels(self, name: str) -> tuple[str, ...]:
        """Return the ids of the conversations that were picked."""
        return tuple(map(str, self._element(name).get("selected_conversations") or ()))

    def users(self, name: str) -> tuple[str, ...]:
        """Return the ids of the people that were picked."""
        return tuple(map(str, self._element(name).get("selected_users") or ()))

    def files(self, name: str) -> list[Mapping[str, Any]]:
        """Return what Slack says of the files that were attached."""
        return [one for one in self._element(name).get("files") or [] if isinstance(one, dict) and one.get("id")]
