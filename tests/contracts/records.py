"""Every type of record that the product defines, and a record of each with a person's words in it."""

import importlib
from dataclasses import fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import core
from adapters.web.ask.shown_answer import ShownAnswer
from core.model.conversation import Person, ThreadKey
from core.model.incoming_events import IncomingMessage
from core.model.records import Record, layout_of, record_types
from core.service.kb.commands import KbCommand, KbVerb

ROOT = Path(core.__file__).parent.parent
WORDS = "the-unspeakable-question"
CHANNEL = ThreadKey("slack", "T1", "C1", "")


@cache
def product_types() -> tuple[type[Record], ...]:
    """All of them: each module that knows of records is imported, so that none is missing."""
    for folder in ("core", "adapters"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "Record" in (text := path.read_text()) or "QuestionState" in text or "OneTimeAction" in text:
                importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return tuple(kind for kind in record_types() if kind.__module__.split(".")[0] in {"core", "adapters"})


def sample(kind: type[Record], person: str, thread: ThreadKey) -> Any:
    """A record of this type that is this person's and this thread's, with words wherever there can be some."""
    layout = layout_of(kind)
    values: dict[str, Any] = {}
    for one in fields(kind):
        if one.name in layout.people:
            values[one.name] = person
        elif one.name in layout.threads:
            values[one.name] = thread
        else:
            values[one.name] = _value(layout.types[one.name])
    return kind(**values)


def _value(kind: Any) -> Any:
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is tuple:
        return (WORDS,) if get_args(kind)[0] is str else (1.5,)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return list(kind)[-1]
    said = IncomingMessage("m1", CHANNEL, WORDS, Person("slack:T1/U9"), {})
    known = {str: WORDS, bool: True, float: 1.5, int: 2, ThreadKey: CHANNEL, IncomingMessage: said}
    known |= {KbCommand: KbCommand(KbVerb.SHOW, target=WORDS), ShownAnswer: ShownAnswer("t1", failure=WORDS)}
    return known[kind]
