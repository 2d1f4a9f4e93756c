"""JSON for core's frozen types: one adapter per type, made once."""

from functools import cache
from typing import Any

from pydantic import TypeAdapter


@cache
def _adapter(kind: Any) -> Any:
    return TypeAdapter(kind)


def to_json(value: object, kind: Any = None) -> str:
    """``value`` as JSON. ``kind`` is needed where the static type is a union that must be told apart on reading."""
    chosen: Any = kind or type(value)
    return str(_adapter(chosen).dump_json(value).decode())


def from_json(kind: Any, text: str | bytes) -> Any:
    """The inverse of ``to_json``: a ``kind``. Raises ValueError on what is not such a value."""
    return _adapter(kind).validate_json(text)
