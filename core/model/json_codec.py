"""JSON for core's frozen types: one adapter per type, made once."""

import json
from functools import cache
from typing import Any

from pydantic import Field, TypeAdapter
from pydantic_core import PydanticSerializationError


def name_at_rest(name: str) -> Any:
    """Mark, in ``Annotated``, a field that has another name at rest.

    What an earlier version has kept stays readable, and its processes read what this one keeps.
    """
    return Field(alias=name)


@cache
def _adapter(kind: Any) -> Any:
    return TypeAdapter(kind)


def to_json(value: object, kind: Any = None) -> str:
    """``value`` as JSON. ``kind`` is needed where the static type is a union that must be told apart on reading.

    Lone surrogates, which a platform may deliver and UTF-8 cannot carry, become question marks.
    """
    chosen: Any = kind or type(value)
    adapter = _adapter(chosen)
    try:
        return str(adapter.dump_json(value, by_alias=True).decode())
    except PydanticSerializationError:
        plain = json.dumps(adapter.dump_python(value, mode="json", by_alias=True), ensure_ascii=False)
        return plain.encode(errors="replace").decode()


def from_json(kind: Any, text: str | bytes) -> Any:
    """Return the inverse of ``to_json``: a ``kind``. Raises ValueError on what is not such a value."""
    return _adapter(kind).validate_json(text)
