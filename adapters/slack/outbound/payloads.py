"""Typed payloads of our buttons and forms, and the values filled into a form.

Payloads carry ids and nothing that we trust. A button's value is a short text. A form's state is JSON in its
``private_metadata``. Only this module writes and reads them. The formats have not changed since the first version,
because its buttons stay in channels for years.
https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload
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
        """Return it as a button value."""
        return f"{self.checkpoint} {self.choice}"

    @classmethod
    def decode(cls, value: str) -> Self:
        """Parse a button value. An unknown value gives ids that match nothing."""
        checkpoint, _, choice = value.partition(" ")
        return cls(checkpoint, choice)


@dataclass(frozen=True, slots=True)
class RatingValue:
    """A rating of this trace's answer."""

    helpful: bool
    trace_id: str

    def encode(self) -> str:
        """Return it as a button value."""
        return f"{_HELPFUL if self.helpful else _UNHELPFUL} {self.trace_id}"

    @classmethod
    def decode(cls, value: str) -> Self:
        """Parse a button value."""
        word, _, trace_id = value.partition(" ")
        return cls(word == _HELPFUL, trace_id)


@dataclass(frozen=True, slots=True)
class FollowUpValue:
    """A suggested question below this trace's answer, numbered from 1."""

    trace_id: str
    number: int

    def encode(self) -> str:
        """Return it as a button value."""
        return f"{self.trace_id} {self.number}"

    @classmethod
    def decode(cls, value: str) -> Self:
        """Parse a button value. The number is 0 if the value has none."""
        trace_id, _, number = value.partition(" ")
        return cls(trace_id, int(number) if number.isdecimal() and len(number) < 4 else 0)


@dataclass(frozen=True, slots=True)
class ThreadBlock:
    """The name of a block of buttons and its thread. The press of an ephemeral button names no thread otherwise."""

    name: str
    root: str = ""

    def encode(self) -> str:
        """Return it as a block id."""
        return f"{self.name}@{self.root}"

    @classmethod
    def decode(cls, block_id: str) -> Self:
        """Parse a block id. The root is empty if the id has none."""
        name, _, root = block_id.partition("@")
        return cls(name, root)


@dataclass(frozen=True, slots=True)
class ChoiceForm:
    """The text field of a choice, and the card with the pressed button."""

    checkpoint: str = ""
    choice: str = ""
    channel: str = ""
    root: str = ""
    card: str = ""  # the ``ts`` of its message
    ephemeral: bool = False


@dataclass(frozen=True, slots=True)
class ReasonForm:
    """The reason for a bad rating. ``shown`` is the answer's message, ``form`` the kept action for one submission."""

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
    """A form of ``/kb``. ``form`` is the kept action for one submission."""

    form: str = ""


Form = TypeVar("Form", bound=ChoiceForm | ReasonForm | SettingsForm | CommandForm)


def encode_form(form: ChoiceForm | ReasonForm | SettingsForm | CommandForm) -> str:
    """Return it as a view's private metadata."""
    return to_json(form)[:LONGEST_STATE]


def form_in(kind: type[Form], view: Mapping[str, Any]) -> Form:
    """Return the form in a view's private metadata, or an empty one if there is none of ours."""
    try:
        form: Form = from_json(kind, str(view.get("private_metadata") or "{}"))
    except ValueError:
        return kind()
    return form


class FormValues:
    """The submitted ``state`` of a view, with one element per input block. Missing fields read as empty."""

    def __init__(self, view: Mapping[str, Any]) -> None:
        """Read ``view`` of a ``view_submission`` or ``block_suggestion`` payload."""
        self._blocks: Mapping[str, Any] = (view.get("state") or {}).get("values") or {}

    def _element(self, name: str) -> Mapping[str, Any]:
        return next(iter((self._blocks.get(name) or {}).values()), None) or {}

    def asks(self, name: str) -> bool:
        """Return whether the form has this field."""
        return name in self._blocks

    def text(self, name: str) -> str:
        """Return the typed text."""
        return str(self._element(name).get("value") or "").strip()

    def option(self, name: str) -> str:
        """Return the value of the chosen option, or an empty string."""
        return str((self._element(name).get("selected_option") or {}).get("value") or "")

    def options(self, name: str) -> tuple[str, ...]:
        """Return the values of the chosen or ticked options."""
        return tuple(str(option["value"]) for option in self._element(name).get("selected_options") or ())

    def channel(self, name: str) -> str:
        """Return the id of the picked conversation, or an empty string."""
        return str(self._element(name).get("selected_conversation") or "")

    def channels(self, name: str) -> tuple[str, ...]:
        """Return the ids of the picked conversations."""
        return tuple(map(str, self._element(name).get("selected_conversations") or ()))

    def users(self, name: str) -> tuple[str, ...]:
        """Return the ids of the picked people."""
        return tuple(map(str, self._element(name).get("selected_users") or ()))

    def files(self, name: str) -> list[Mapping[str, Any]]:
        """Return Slack's metadata of the attached files."""
        return [one for one in self._element(name).get("files") or [] if isinstance(one, dict) and one.get("id")]
