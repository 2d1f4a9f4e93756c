"""How records read at rest: a hash of texts, whose fields keep the names and forms that the first version wrote.

Texts, numbers and thread keys stand there as they are, true is "yes", several texts are separated by spaces or
numbered; everything else is JSON by ``json_codec``. An empty text is the field's default.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, fields, replace
from enum import StrEnum
from types import UnionType
from typing import Any, Union, get_args, get_origin

from core.model.conversation import ThreadKey
from core.model.json_codec import from_json, to_json
from core.model.records import Layout, R, Record, layout_of, record_types

OWNER = "@person"  # the field that says whose a record is, whatever the record itself calls them


def to_fields(record: Record) -> dict[str, str]:
    """Return a record at rest: its fields by name, as text; empty values stand there empty."""
    layout = layout_of(type(record))
    found: dict[str, str] = {}
    for field in layout.stored:
        value = getattr(record, field.name)
        if prefix := field.metadata.get("numbered"):
            found |= {f"{prefix}{number}": text for number, text in enumerate(value, 1)}
        else:
            found[_name_at_rest(layout, field, record)] = _text(value)
    people = record.owners.people
    if people and not layout.entry:
        found[OWNER] = next(iter(people))
    return found


def from_fields(blank: R, kept: Mapping[str, str]) -> R | None:
    """Return the record at this address; None if nothing is kept. Raises ValueError for another record."""
    layout = layout_of(type(blank))
    if not kept or (layout.entry and blank.address.entry not in kept):
        return None
    values: dict[str, Any] = {}
    for field in layout.stored:
        if prefix := field.metadata.get("numbered"):
            values[field.name] = _read_list(kept, prefix)
            continue
        text = kept.get(_name_at_rest(layout, field, blank), "")
        if field.name in layout.people and not layout.entry:
            text = text or kept.get(OWNER, "") or getattr(blank, field.name)
        values[field.name] = _value(layout.types[field.name], text) if text else field.default
    return replace(blank, **values)


def entries_from_fields(blank: R, kept: Mapping[str, str]) -> list[R]:
    """Return all records that share this one's place and subject. Raises ValueError for what is no such record."""
    entry = layout_of(type(blank)).entry
    found = [from_fields(replace(blank, **{entry: name}), kept) for name in kept]
    return [record for record in found if record is not None]


def changed_fields(record: Record, was: Record | None) -> dict[str, str]:
    """Return what has to be written so that what is kept as ``was`` becomes this record; always whose it is."""
    now = to_fields(record)
    if was is None:
        return {name: text for name, text in now.items() if text}
    before = to_fields(was)
    changed = {name: text for name, text in now.items() if text != before.get(name, "") or name == OWNER}
    return changed | {name: "" for name in before.keys() - now.keys() if before[name]}


def records_at(place: str, subject: str, kept: Mapping[str, str]) -> list[Record]:
    """Whatever may be kept there, by every type whose address this can be. What does not read as one is left out."""
    blanks = [blank for kind in record_types() if (blank := _blank(kind, place, subject)) is not None]
    found: list[Record] = []
    for blank in blanks:
        entry = layout_of(type(blank)).entry
        every = [replace(blank, **{entry: name}) for name in kept] if entry else [blank]
        found += [record for one in every if (record := _readable(one, kept)) is not None]
    return found


def _readable(blank: Record, kept: Mapping[str, str]) -> Record | None:
    try:
        return from_fields(blank, kept)
    except ValueError:
        return None


def _blank(kind: type[Record], place: str, subject: str) -> Record | None:
    """Return the record of this type that would be kept there; None where the type is kept elsewhere."""
    layout = layout_of(kind)
    matches = [pattern.fullmatch(text) for pattern, text in zip(layout.patterns, (place, subject), strict=True)]
    try:
        named = {name: _value(layout.types[name], text) for m in matches if m for name, text in m.groupdict().items()}
    except ValueError:
        return None
    if None in matches:
        return None
    required = [one.name for one in fields(kind) if one.default is MISSING and one.name not in named]
    return kind(**named, **{name: layout.types[name]() for name in required})


def _name_at_rest(layout: Layout, field: Field[Any], record: Record) -> str:
    if layout.entry:
        return record.address.entry
    return str(field.metadata.get("stored") or (OWNER if field.name in layout.people else field.name))


def _read_list(kept: Mapping[str, str], prefix: str) -> tuple[str, ...]:
    found: list[str] = []
    while text := kept.get(f"{prefix}{len(found) + 1}"):
        found.append(text)
    return tuple(found)


def _text(value: object) -> str:
    if not value:
        return ""
    match value:
        case bool():
            return "yes"
        case float():
            return f"{value:.6f}".rstrip("0").rstrip(".")
        case str() | int() | ThreadKey():
            return str(value)
        case tuple():
            return " ".join(map(_text, value))
        case _:
            return to_json(value)


def _value(kind: Any, text: str) -> Any:
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not type(None))
    if kind in (str, bool, int, float):
        return kind(text)
    if kind is ThreadKey:
        return ThreadKey.parse(text)
    if get_origin(kind) is tuple:
        return tuple(_value(get_args(kind)[0], part) for part in text.split())
    return kind(text) if isinstance(kind, type) and issubclass(kind, StrEnum) else from_json(kind, text)


def mentions(text: str, person_id: str) -> bool:
    """Whether a person's qualified id is in a text; another's that only begins in the same way does not count."""
    return person_id in text and re.search(rf"(?<!\w){re.escape(person_id)}(?!\w)", text) is not None


def fields_of(
    place: str, subject: str, values: Mapping[str, str], person_id: str, traces: Collection[str] = ()
) -> set[str]:
    """Return the fields of what is kept at an address that go with this person: all of them where the record is theirs.

    Of another's, those go that name the person, or one of these traces of theirs.
    """
    theirs = [one for one in records_at(place, subject, values) if person_id in one.owners.people]
    whole = values.get(OWNER) == person_id or mentions(place, person_id) or mentions(subject, person_id)
    if whole or any(not one.address.entry for one in theirs):
        return set(values)
    entries = {one.address.entry for one in theirs}
    named = {
        name
        for name, value in values.items()
        if value in traces or mentions(name, person_id) or mentions(value, person_id)
    }
    return entries | named
