"""Version numbers and codes in a query, which the lexical index takes apart or which meaning says nothing of.

"5.1.3" is three small numbers to an analyzer and next to nothing to an encoder; the passage that has it whole is meant.
"""

import re
from collections.abc import Sequence

from core.model.evidence import Hit

MOST_IDENTIFIERS = 8  # looked for in the text of every hit; a paste may hold hundreds
NAMED = 2  # hits that have an identifier of the query whole, and are kept wherever they come
_IDENTIFIER = re.compile(
    r"(?<![\w.,:/-])(?:v?\d+(?:\.\d+)+|[A-Za-z]+-?\d[\w-]*|\d+(?:-\d+)*-?(?=[A-Za-z]*[A-Z])[A-Za-z]+\d*"
    r"|[^\W\d_]{2,}(?:-[^\W\d_]{2,})+)(?![\w,:/-])"
)


def identifiers_in(query: str) -> tuple[str, ...]:
    """What in a query is one word by its figures or hyphens: "5.1.3", "F31", "ring-round"; no amount, time or year."""
    return tuple(dict.fromkeys(_IDENTIFIER.findall(query)))[:MOST_IDENTIFIERS]


def keep_named(query: str, hits: Sequence[Hit], kept: Sequence[Hit]) -> tuple[Hit, ...]:
    """The kept hits, the last of them given up for those of all hits that have an identifier of the query whole.

    First those that have it for an entry: in a heading, or at the beginning of a line or a row.
    """
    named = [hit for one in identifiers_in(query) for hit in _holding(one, hits)[:NAMED]]
    missing = [hit for hit in named if hit not in kept]
    others = [hit for hit in kept if hit not in named]
    given_up = others[max(0, len(others) - len(missing)) :]
    return tuple(hit for hit in hits if hit in missing or (hit in kept and hit not in given_up))


def _holding(identifier: str, hits: Sequence[Hit]) -> list[Hit]:
    whole = re.compile(rf"(?<![\w.-]){re.escape(identifier)}(?!\w|[.-]\w)", re.IGNORECASE)
    entry = re.compile(rf"^\W*{whole.pattern}", re.IGNORECASE | re.MULTILINE)
    held = [hit for hit in hits if whole.search(hit.passage.searchable)]

    def is_entry(hit: Hit) -> bool:
        return any(entry.search(part) for part in (*hit.passage.heading[-1:], hit.passage.text))

    return sorted(held, key=lambda hit: not is_entry(hit))
