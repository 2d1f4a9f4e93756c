"""What has to go of a record when a person is forgotten, told by the record itself.

An index leads to most of what is kept about somebody. It is as complete as whoever wrote the record was careful; this
rule is not: it looks at every record there is, by every type that may be kept there, and last for the bare id.
"""

import re
from collections.abc import Collection, Mapping

from core.model.record_codec import OWNER, records_at


def mentions(text: str, person_id: str) -> bool:
    """Whether a person's qualified id stands in a text; another's that only begins in the same way does not count."""
    return person_id in text and re.search(rf"(?<!\w){re.escape(person_id)}(?!\w)", text) is not None


def fields_of(
    place: str, subject: str, values: Mapping[str, str], person_id: str, traces: Collection[str] = ()
) -> set[str]:
    """The fields of what is kept at an address that go with this person: all of them where the record is theirs.

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
