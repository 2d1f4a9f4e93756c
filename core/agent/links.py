"""No link but to a retrieved source: the one defence that holds even when a model obeys a document.

Text from a model or a document may ask a reader's client to open a link or load an image that carries what was read.
So every address in an answer is compared, whole, with the links of the retrieved sources. Markdown links keep their
words. An address that stands in a retrieved passage just so, and can carry nothing that the passage does not say,
stays readable: it is a contact or a place that the document names. It stays as text: what a platform shows as a link
is the platform's sanitizer to decide, from the same list.
"""

import re
from dataclasses import dataclass

_MARKDOWN = re.compile(
    r"!?\[(?P<label>[^\[\]\n]{0,300})\]\([ \t]*<?(?P<url>[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?"
    r"(?:[ \t]+\"[^\"\n]*\")?[ \t]*\)"
)
_REFERENCE = re.compile(r"(?m)^[ \t]{0,3}\[[^\[\]\n]{1,100}\]:[^\n]*$")
_TAG = re.compile(
    r"</?(?:a|img|iframe|script|link|object|embed|form|svg|video|audio|source|meta|base)\b[^<>\n]{0,500}>?",
    re.IGNORECASE,
)
_SCHEME = (
    r"(?:\b[a-z][a-z0-9+.-]{1,20}:/{1,3}|\b(?:javascript|data|mailto|tel|sms|callto|sip|skype|facetime|file):(?=\S)"
    r"|\bwww\.|//(?=[\w-]+\.[a-z]{2,}))"
)
_AUTOLINK = re.compile(rf"<({_SCHEME}[^\s<>]*)>", re.IGNORECASE)
_BARE = re.compile(rf"{_SCHEME}[^\s<>]*", re.IGNORECASE)
# A name with a dot and a query is a link to most clients, scheme or not.
_SCHEMELESS = re.compile(r"\b(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,20}(?:/[^\s<>?]{0,2000})?\?[^\s<>]+", re.IGNORECASE)
_CLOSING = ".,;:!?)]}\"'`*_~"
_CITED = re.compile(r"\[\d{1,4}\]\Z")
_MOST_CLOSING = 40  # characters that only close a sentence; an address followed by more is another address
_CONTACT = re.compile(r"(?:mailto|tel):(?P<contact>[\w.+@-]{3,200})", re.IGNORECASE)
_PLAIN_PAGE = re.compile(r"(?:https?://|www\.)[\w.-]{1,253}(?::\d{1,5})?(?:/[\w.~/+-]{0,500})?", re.IGNORECASE)
# The address of an interface, as documents give it: with a place for a name in braces, or of a socket. No query, in
# which a document could have told a model to send what it has read.
_INTERFACE = re.compile(
    r"(?:https?|wss?)://[\w.{}-]{1,253}(?::(?:\d{1,5}|\{\w{1,40}\}))?"
    r"(?:/[\w.~/+:${}-]{0,500})?",
    re.IGNORECASE,
)

# What a stream holds back, because more text may still make it a link or a marker: the last word with the white space
# before it (no address contains white space), where what stands in brackets is one word and an open bracket goes on to
# the end; the line of a possible reference; an open tag. Each alternative begins where only few places can begin it,
# so that the whole is linear in the text: a run of white space at its beginning, a word after white space.
_OPEN = r"\[[^\[\]\n]{0,300}(?:\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)?)?"
_GROUP = r"\[[^\[\]\n]{0,300}\](?>\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))?"
RESERVED_SHARE = re.compile(
    rf"(?:(?<!\s)\s++|\A)(?>(?!{_OPEN}$)(?:{_GROUP}|\S))*+(?:{_OPEN})?$"
    r"|(?:^|\n)[ \t]{0,3}\[[^\[\]\n]{1,100}\]:[^\n]*$"
    r"|<[^<>\n]{0,500}$"
)
MOST_HELD_BACK = 4_000  # characters; what is longer is shown, filtered as it stands
REMOVED = "(link removed)"


@dataclass(frozen=True, slots=True)
class SourceLinks:
    """The links of the retrieved sources, and the passages that may name others."""

    links: frozenset[str] = frozenset()
    passages: tuple[str, ...] = ()

    def readable(self, address: str) -> str:
        """The address as text, where a passage has it just so and it can carry nothing else; else empty."""
        contact = _CONTACT.fullmatch(address)
        shown = contact["contact"] if contact else address
        if not (contact or _PLAIN_PAGE.fullmatch(address)) or not self._in_a_passage(shown):
            return ""
        return shown

    def of_interface(self, address: str) -> bool:
        """Whether it is the address of an interface that a passage has just so: it is shown as code, never a link."""
        return bool(_INTERFACE.fullmatch(address)) and self._in_a_passage(address)

    def _in_a_passage(self, address: str) -> bool:
        whole = re.compile(rf"(?<![\w/.@-]){re.escape(address)}(?![\w@=&%-]|[/.?#][\w%=])")
        return any(address in passage and whole.search(passage) for passage in self.passages)


def without_foreign_links(text: str, sources: SourceLinks) -> str:
    """The text without any address that is not exactly a source's, or plainly named by one. Code is no exception."""
    kept: list[str] = []

    def markdown(match: re.Match[str]) -> str:
        """An allowed link is put aside, so that the next passes do not look into it; of others the words stay."""
        label, url = match.group("label", "url")
        if url not in sources.links or match.group().startswith("!"):
            contact = sources.readable(url) if _CONTACT.fullmatch(url) else ""
            return f"{label} ({contact})" if contact and contact != label else label
        kept.append(f"[{label}]({url})")
        return f"\x00{len(kept) - 1}\x00"

    def bare(match: re.Match[str]) -> str:
        whole = match.group()
        for address in _without_closing(whole):
            if address in sources.links:
                return whole
            if shown := sources.readable(address):
                return shown + whole[len(address) :]
            if sources.of_interface(address):
                coded = match.string.count("`", 0, match.start()) % 2
                kept.append(address if coded else f"`{address}`")
                return f"\x00{len(kept) - 1}\x00{whole[len(address) :]}"
        return REMOVED + whole[len(_without_closing(whole)[-1]) :]

    text = text.replace("\x00", "")
    text = _MARKDOWN.sub(markdown, text)
    text = _REFERENCE.sub("", text)
    text = _AUTOLINK.sub(r"\1", text)
    text = _TAG.sub("", text)
    text = _BARE.sub(bare, text)
    text = _SCHEMELESS.sub(bare, text)
    return re.sub(r"\x00(\d+)\x00", lambda m: kept[int(m.group(1))], text)


def _without_closing(whole: str) -> tuple[str, ...]:
    """What of this run of characters could be the address: all of it, or less of what only closes a sentence."""
    found = [whole]
    while len(whole) - len(found[-1]) < _MOST_CLOSING:
        address = found[-1]
        if cited := _CITED.search(address, max(0, len(address) - 6)):
            found.append(address[: cited.start()])
        elif address and address[-1] in _CLOSING:
            found.append(address[:-1])
        else:
            break
    return tuple(found)
