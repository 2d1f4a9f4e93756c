"""No link but to a retrieved source: the one defence that holds even when a model obeys a document.

Text from a model or a document may ask a reader's client to open a link or load an image that carries what was read.
So every URL in an answer is compared, whole, with the links of the retrieved sources; anything else is removed,
Markdown links keep their words.
"""

import re

_MARKDOWN = re.compile(
    r"!?\[(?P<label>[^\[\]\n]{0,300})\]\([ \t]*<?(?P<url>[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?"
    r"(?:[ \t]+\"[^\"\n]*\")?[ \t]*\)"
)
_REFERENCE = re.compile(r"(?m)^[ \t]{0,3}\[[^\[\]\n]{1,100}\]:[^\n]*$")
_TAG = re.compile(
    r"</?(?:a|img|iframe|script|link|object|embed|form|svg|video|audio|source|meta|base)\b[^<>\n]{0,500}>?",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:\b[a-z][a-z0-9+.-]{1,20}:/{1,3}(?:\[[0-9a-f:.]*\]?)?|\b(?:javascript|data|mailto|file):|\bwww\.|//(?=[\w-]+\.[a-z]{2,}))"
    r"[^\s<>\"'`\[\])|]*[^\s<>\"'`\[\])|.,;:!?]",
    re.IGNORECASE,
)
# A name with a dot and a query is a link to most clients, scheme or not.
_SCHEMELESS = re.compile(
    r"\b(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,}(?:/[^\s<>\"'`\[\])|]*\?[^\s<>\"'`\[\])|]*|\?[^\s<>\"'`\[\])|]+)",
    re.IGNORECASE,
)

# What a stream holds back, because more text may still make it a link or a marker: an open bracket, the line of a
# possible reference, an open tag, and the last word with the white space before it
# (no URL contains white space), where what stands in brackets is one word. Atomic groups keep this linear.
HELD_BACK = re.compile(
    r"\s*!?\[[^\[\]\n]{0,300}(?:\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)?)?$"
    r"|(?:^|\n)[ \t]{0,3}\[[^\[\]\n]{1,100}\]:[^\n]*$"
    r"|<[^<>\n]{0,500}$"
    r"|\s*(?>\[[^\[\]\n]{0,300}\](?>\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))?|[^\s])*+$"
)
REMOVED = "(link removed)"


def without_foreign_links(text: str, allowed: frozenset[str]) -> str:
    """The text without any link that is not exactly one of the allowed ones. Code is no exception."""

    def markdown(match: re.Match[str]) -> str:
        url, label = match.group("url"), match.group("label")
        return f"[{label}]({url})" if url in allowed and not match.group().startswith("!") else label

    def bare(match: re.Match[str]) -> str:
        url = match.group()
        return url if url in allowed or url.rstrip("/") in allowed else REMOVED

    kept: list[str] = []

    def shelter(match: re.Match[str]) -> str:
        """Put an allowed Markdown link aside, so that the bare-URL pass does not look into it."""
        shown = markdown(match)
        if shown.startswith("["):
            kept.append(shown)
            return f"\x00{len(kept) - 1}\x00"
        return shown

    text = text.replace("\x00", "")
    text = _MARKDOWN.sub(shelter, text)
    text = _REFERENCE.sub("", text)
    text = _TAG.sub("", text)
    text = _BARE.sub(bare, text)
    text = _SCHEMELESS.sub(lambda m: m.group() if m.group() in allowed else REMOVED, text)
    return re.sub(r"\x00(\d+)\x00", lambda m: kept[int(m.group(1))], text)
