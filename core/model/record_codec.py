"""Codec for stored records: a hash of texts, with the field names and forms that the first version wrote.

Texts, numbers and thread keys are stored as they are; true is "yes"; several texts are separated by spaces or numbered.
Everything else is JSON by ``json_codec``. An empty text means the field's default.
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

OWNER = "@person"  # the stored field for a record's owner, whatever the record's own field is called


def to_fields(record: Record) -> dict[str, str]:
    """Return a record as stored: its fields by name, as text. Empty values are included as empty texts."""
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
    """Return the record at this address; None if nothing is stored. Raises ValueError for another kind of record."""
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
    """Return all records with this one's place and subject. Raises ValueError if one is not such a record."""
    entry = layout_of(type(blank)).entry
    found = [from_fields(replace(blank, **{entry: name}), kept) for name in kept]
    return [record for record in found if record is not None]


def changed_fields(record: Record, was: Record | None) -> dict[str, str]:
    """Return the fields to write so that the stored ``was`` becomes this record. Always includes the owner."""
    now = to_fields(record)
    if was is None:
        return {name: text for name, text in now.items() if text}
    before = to_fields(was)
    changed = {name: text for name, text in now.items() if text != before.get(name, "") or name == OWNER}
    return changed | {name: "" for name in before.keys() - now.keys() if before[name]}


def records_at(place: str, subject: str, kept: Mapping[str, str]) -> list[Record]:
    """Return every record that may be stored there, of every type whose address matches; skip unreadable ones."""
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
    """Return a blank record of this type with this address; None if the type is stored elsewhere."""
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
    """Return whether a text contains a person's qualified id. A longer id with the same beginning does not count."""
    return person_id in text and re.search(rf"(?<!\w){re.escape(person_id)}(?!\w)", text) is not None


def fields_of(
    place: str, subject: str, values: Mapping[str, str], person_id: str, traces: Collection[str] = ()
) -> set[str]:
    """Return the stored fields to erase with this person: all of them if the record is theirs.

    In records of others, the fields that name the person or one of ``traces``, their traces.
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
