"""Reference links of Markdown as inline ones: `[text][ref]`, `[ref][]` and `[ref]`, with `[ref]: address` elsewhere.

Who reads a passage of a page does not have its foot, where the addresses stand.
"""

import re
from collections.abc import Iterable, Mapping

# Not that of a footnote, whose text is text. An address has a sign that no word has: "[Ann]: yes" is said by Ann.
_DEFINITION = re.compile(
    r"^[ ]{0,12}\[(?!\^)(?P<ref>[^\[\]\n]{1,300})\]:[ \t]*<?(?P<address>(?=[^\s<>]*[/.:#@?=])[^\s<>]++)>?"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$",
    re.MULTILINE,
)
_WORDS = r"(?:[^\[\]\n]|\n(?!\s*\n)){1,300}"
_LINK = re.compile(
    rf"(`+[^`\n]*`+)|(?<![\\\]])\[(?P<words>{_WORDS})\](?:[ ]?\[(?P<ref>{_WORDS})\]|\[\])?(?![\[(:])", re.MULTILINE
)

Addresses = Mapping[str, str]
"""The address of each reference, by its name in small letters."""


def addresses_in(texts: Iterable[str]) -> Addresses:
    """What the references of a document stand for; the first definition of a name counts, as in CommonMark."""
    found: dict[str, str] = {}
    for text in texts:
        for match in _DEFINITION.finditer(text):
            found.setdefault(_name(match["ref"]), match["address"].replace("(", "%28").replace(")", "%29"))
    return found


def with_inline_links(text: str, addresses: Addresses) -> str:
    """The text with its references as links, and the lines that define them blank."""
    if not addresses:
        return text
    return _LINK.sub(lambda found: found[1] or _inline(found, addresses), _DEFINITION.sub("", text))


def _inline(found: re.Match[str], addresses: Addresses) -> str:
    address = addresses.get(_name(found["ref"] or found["words"]))
    breaks = "\n" * (found["ref"] or "").count("\n")
    return found[0] if address is None else f"[{found['words']}]({address}){breaks}"


def _name(ref: str) -> str:
    return " ".join(ref.split()).casefold()
