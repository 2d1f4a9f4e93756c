"""Whether a message asks what there is to read: "what do you know?", "what is in the knowledge base handbook?"."""

import re
from collections.abc import Collection

from core.model.inquiry import Overview
from core.model.text import words

_READABLE = (
    r"(?:documents?|docs|documentation|files|pages|sources?|material|knowledge(?:\ ?bases?)?|bases|topics|subjects"
    r"|policies|handbooks|manuals|everything)"
)
_THERE = (
    r"(?:are\ (?:there|here|available|indexed|in\ here|loaded)|do\ (?:you|we)\ (?:have|know|read|see|cover|use)"
    r"|can\ (?:you|i)\ (?:read|see|search|access)|have\ you\ (?:got|read)|you\ (?:have|know|can\ read)|exist"
    r"|there\ are)"
)
_LISTING = r"(?:(?:list|show|name|give)(?:\ (?:me|us))?\ (?:(?:all|of|the|your|our|available|indexed)\ )*)"
_ALL = re.compile(
    rf"""(?:(?:so|and)\ )?(?:
      (?:what|which)\ (?:all\ )?(?:do|can)\ you\ (?:know|read|have|cover|see)(?:\ (?:about|of|here|so\ far|already))*
    | (?:what|which)\ (?:kinds?\ of\ )?{_READABLE}\ {_THERE}(?:\ (?:here|about|so\ far|access\ to|in\ here))*
    | {_LISTING}{_READABLE}(?:\ (?:that\ )?{_THERE})?
    | (?:do\ you\ have|is\ there)\ an?\ (?:list|overview)\ of\ (?:(?:the|all|your)\ )*{_READABLE}
    | how\ many\ {_READABLE}\ {_THERE}(?:\ (?:here|access\ to))*
    | what(?:'s|\ is)\ (?:in|inside)\ (?:here|there|(?:your|the)\ (?:index|knowledge|library))
    | what\ (?:is\ your\ knowledge|are\ you)\ (?:about|based\ on|trained\ on)
    | what\ can\ you\ tell\ (?:me|us)(?:\ about)?
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_OF_BASE = re.compile(
    rf"""(?:(?:so|and)\ )?(?:
      (?:what|which)(?:\ {_READABLE})?(?:'s|\ is|\ are)
    | what\ do\ you\ (?:have|know)
    | {_LISTING}(?:{_READABLE}|what\ is)
    )(?:\ there)?\ (?:in|inside|of|from|about)\ (?:the\ )?(?:(?:knowledge\ ?)?base\ |kb\ |library\ |collection\ )?
    ["'`*“]?(?P<base>[\w .-]+?)["'`*”]?(?:\ (?:knowledge\ ?)?base|\ kb)?""",
    re.IGNORECASE | re.VERBOSE,
)


def overview_of(bare: str, bases: Collection[str]) -> Overview | None:
    """What there is to read, where the message, without its padding, asks for that: of the base it names, or of all."""
    if (found := _OF_BASE.fullmatch(bare)) and (base := _base_in_question(found["base"], bases)):
        return Overview(base, "it asks what a knowledge base holds")
    return Overview(None, "it asks what there is to read") if _ALL.fullmatch(bare) else None


def _base_in_question(said: str, bases: Collection[str]) -> str:
    """The base that is meant, whatever its case and joints: "release notes" for release-notes."""
    return next((base for base in bases if _join_words(base) == _join_words(said)), "")


def _join_words(name: str) -> str:
    return "".join(words(name.replace("_", " "))).casefold()
