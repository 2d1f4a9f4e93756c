"""JSON for core's frozen types, with one cached adapter per type."""

import json
from functools import cache
from typing import Any, TypeVar, overload

from pydantic import Field, TypeAdapter
from pydantic_core import PydanticSerializationError

T = TypeVar("T")


def name_at_rest(name: str) -> Any:
    """Give a field another name in storage; for use in ``Annotated``.

    Data of earlier versions stays readable, and processes of earlier versions can read data of this one.
    """
    return Field(alias=name)


@cache
def _adapter(kind: Any) -> Any:
    return TypeAdapter(kind)


def to_json(value: object, kind: Any = None) -> str:
    """Return ``value`` as JSON.

    Pass ``kind`` if the static type is a union whose members must be told apart on reading. Lone surrogates, which a
    platform may send but UTF-8 cannot encode, become question marks.
    """
    chosen: Any = kind or type(value)
    adapter = _adapter(chosen)
    try:
        return str(adapter.dump_json(value, by_alias=True).decode())
    except PydanticSerializationError:
        plain = json.dumps(adapter.dump_python(value, mode="json", by_alias=True), ensure_ascii=False)
        return plain.encode(errors="replace").decode()


@overload
def from_json(kind: type[T], text: str | bytes) -> T: ...


@overload
def from_json(kind: Any, text: str | bytes) -> Any: ...  # a union


def from_json(kind: Any, text: str | bytes) -> Any:
    """Return the ``kind`` that ``to_json`` wrote. Raises ValueError for any other text."""
    return _adapter(kind).validate_json(text)
