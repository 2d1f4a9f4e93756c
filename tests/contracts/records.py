"""Every type of record that the product defines, and a record of each with a person's words in it."""

import importlib
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import core
from core.model.conversation import ThreadKey
from core.model.records import Record, layout_of, record_types

ROOT = Path(core.__file__).parent.parent
WORDS = "the-unspeakable-question"
CHANNEL = ThreadKey("slack", "T1", "C1", "")


@cache
def product_types() -> tuple[type[Record], ...]:
    """All of them: each module that knows of a type of record is imported, until none brings another."""
    waiting = {path: path.read_text() for folder in ("core", "adapters") for path in (ROOT / folder).rglob("*.py")}
    known: set[str] = set()
    while known != (names := {"Record"} | {kind.__name__ for kind in _below(Record)}):
        known = names
        for path in sorted(path for path, text in waiting.items() if any(name in text for name in known)):
            del waiting[path]
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return tuple(kind for kind in record_types() if kind.__module__.split(".")[0] in {"core", "adapters"})


def _below(kind: type[Record]) -> set[type[Record]]:
    """All that inherit from it, mere bases too."""
    return {one for sub in kind.__subclasses__() for one in (sub, *_below(sub))}


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
    """A value of this type, with words in it where it can hold some."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is not None:
        several = [one for one in get_args(kind) if one is not Ellipsis]
        empty = {} if get_origin(kind) is Mapping else frozenset[Any]()
        return tuple(map(_value, several)) if get_origin(kind) is tuple else empty
    if issubclass(kind, Enum):
        return list(kind)[-1]
    known = {str: WORDS, bool: True, float: 1.5, int: 2, ThreadKey: CHANNEL, datetime: datetime(2026, 1, 1, tzinfo=UTC)}
    if kind in known:
        return known[kind]
    types = get_type_hints(kind)
    return kind(**{one.name: _value(types[one.name]) for one in fields(kind) if _is_needed(one, types[one.name])})


def _is_needed(one: Field[Any], kind: Any) -> bool:
    return kind is str or (one.default is MISSING and one.default_factory is MISSING)
