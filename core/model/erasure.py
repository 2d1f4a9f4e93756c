"""What has to go of a record when a person is forgotten, told by the record itself.

An index leads to most of what is kept about somebody. It is as complete as whoever wrote the record was careful; this
rule is not: it looks at every record there is.
"""

import re
from collections.abc import Collection, Mapping


def mentions(text: str, person_id: str) -> bool:
    """Whether a person's qualified id stands in a text; another's that only begins in the same way does not count."""
    return person_id in text and re.search(rf"(?<!\w){re.escape(person_id)}(?!\w)", text) is not None


def fields_about(values: Mapping[str, str], person_id: str, traces: Collection[str] = ()) -> list[str]:
    """The fields of a record that name this person, or one of these traces of theirs."""
    return [
        name
        for name, value in values.items()
        if value in traces or mentions(name, person_id) or mentions(value, person_id)
    ]
