"""No link but to a retrieved source: the one defence that holds even when a model obeys a document.

Text from a model or a document may ask a reader's client to open a link or load an image that carries what was read.
So every address in an answer is compared, whole, with what the retrieved passages contain word for word:

- A link stays a link if it leads to a retrieved source. It also stays one if a cited passage has its address and the
  address is on the host of that passage's document, or on one that the operator allows (the setting ANSWER_LINK_HOSTS).
- Any other address of a cited passage is shown as code behind the words of its link: people can copy it, and no
  program makes a link of it. So is a plain page of any retrieved passage; contacts are shown as text.
- Every other link keeps its words alone.

Each platform's sanitizer decides what it shows as a link, from the same list. ``/v1`` and MCP send the text as it is.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from core.model.markdown_links import PLAIN_TARGET, LinkForm, LinkVerdict, MarkdownLink, code_in, rewrite_links
from core.model.plain_text import JOINER, defang_calls, defang_schemes, remove_controls

_SCHEME = (
    r"(?:\b[a-z][a-z0-9+.-]{1,20}:/{1,3}|\b(?:javascript|data|mailto|xmpp|tel|sms|callto|sip|skype|facetime|file):(?=\S)"
    r"|\bwww\.|//(?=[\w-]+\.[a-z]{2,}))"
)
_BARE = re.compile(rf"{_SCHEME}[^\s<>]*", re.IGNORECASE)
# A name with a dot and a query is a link to most clients, scheme or not.
_SCHEMELESS = re.compile(r"\b(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,20}(?:/[^\s<>?]{0,2000})?\?[^\s<>]+", re.IGNORECASE)
# Readers that make links of a text's words see the characters that references and escapes spell.
_COLON, _SLASH, _DOT = (
    rf"(?:\\?{re.escape(char)}|&{name};|&#0{{0,5}}{ord(char)};|&#x0{{0,5}}{ord(char):x};)"
    for char, name in ((":", "colon"), ("/", "sol"), (".", "period"))
)
_W = r"(?:w|&#0{0,5}(?:87|119);|&#x0{0,5}[57]7;)"
_SPELT = re.compile(rf"(?P<slashes>{_COLON}{_SLASH}{_SLASH})|{_W}{{3}}{_DOT}", re.IGNORECASE)
_KEPT = re.compile(rf"\]\((?:<(?P<quoted>[^\n<>\\`]*)>|(?P<plain>{PLAIN_TARGET}))\)")
_CLOSING = ".,;:!?)]}\"'`*_~"
_ENDS_AN_ADDRESS = ".,:;!?*_~)"  # not part of an address at its end, to programs that make links of addresses
_DEFINITION = re.compile(r"(?m)^([ \t>*+|-]*(?:\d{1,9}[.)][ \t>]*)?\[[^\[\]]{0,999}\]):")
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

# Addresses as a passage has them: where a Markdown link leads, and those written out. A query counts in a link alone:
# in words it may be a form that a document asks a model to fill in.
_ADDRESS = r"https?://[^\s<>()\\`|\"\x00-\x1f]{1,500}(?:\([^\s<>()\\`|\"]{0,100}\)[^\s<>()\\`|\"]{0,200})?"
_LEADS_TO = re.compile(rf"\]\(<?(?P<address>{_ADDRESS})>?(?:\s+[\"'(][^\n]{{0,200}})?\)", re.IGNORECASE)
_WRITTEN_OUT = re.compile(
    r"(?<![\w(/])<?(?P<address>https?://[^\s<>()\[\]{}?\\`|\"'\x00-\x1f]{1,500}+)(?=[\s()\[\]\"'`|>]|\Z)",
    re.IGNORECASE,
)
_MOST_ADDRESSES = 200  # of one passage

# What a stream holds back, because more text may still make it a link or a marker: the last word with the white space
# before it (no address contains white space), where what is in brackets is one word and an open bracket goes on to
# the end; the line of a possible reference; an open tag. Each alternative begins where only few places can begin it,
# so that the whole is linear in the text: a run of white space at its beginning, a word after white space.
_OPEN = r"\[[^\[\]\n]{0,300}(?:\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)?)?"
_GROUP = r"\[[^\[\]\n]{0,300}\](?>\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))?"
RESERVED_SHARE = re.compile(
    rf"(?:(?<!\s)\s++|\A)(?>(?!{_OPEN}$)(?:{_GROUP}|\S))*+(?:{_OPEN})?$"
    r"|(?:^|\n)[ \t]{0,3}\[[^\[\]\n]{1,100}\]:[^\n]*$"
    r"|<[^<>\n]{0,500}$"
)
MOST_HELD_BACK = 4_000  # characters; what is longer is shown, filtered as it is
REMOVED = "(link removed)"
_MOST_ROUNDS = 3  # an address that is taken away may leave markup that makes another link
# What chat platforms take for a call of people, or for a link to a channel: see their sanitizers.
_CALL_MARKUP = re.compile(
    r"<(?:(?:!subteam\^|@[!&]?|(?P<place>#))(?P<id>[UWBSCG][A-Z0-9]{2,20}|\d{1,20})|!(?P<all>channel|here|everyone|group))"
    r"(?:\|[@#]?(?P<label>[^<>\n]{0,100}))?>"
)


def addresses_in(passage: str) -> frozenset[str]:
    """Return the http(s) addresses of a passage, word for word, without those that name a user."""
    found = [match["address"] for match in _LEADS_TO.finditer(passage)]
    found += [match["address"].rstrip(_ENDS_AN_ADDRESS) for match in _WRITTEN_OUT.finditer(passage)]
    return frozenset(address for address in found[:_MOST_ADDRESSES] if _host(address))


def clickable(addresses: Iterable[str], document: str | None, allowed: frozenset[str]) -> frozenset[str]:
    """Return those addresses of a cited passage that may be links: on its document's own host, or on an allowed one.

    Args:
        addresses: of the passage.
        document: where the passage's document came from, if that is an address.
        allowed: hosts, and ``*.host`` for all below a host.
    """
    own = _host(document or "")
    return frozenset(address for address in addresses if (host := _host(address)) == own or _allows(allowed, host))


def _allows(allowed: frozenset[str], host: str) -> bool:
    parts = host.split(".")
    return host in allowed or any(f"*.{'.'.join(parts[at:])}" in allowed for at in range(1, len(parts)))


def _host(address: str) -> str:
    """Return the host and port of an address in small letters; empty for none, or where it also names a user."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    netloc = parts.netloc.casefold()
    return netloc if parts.scheme in ("http", "https") and re.fullmatch(r"[\w.-]+(?::\d{1,5})?", netloc) else ""


@dataclass(frozen=True, slots=True)
class SourceLinks:
    """What an answer may link to, and what it may show.

    Attributes:
        links: addresses that may be links.
        passages: texts of the retrieved passages, which may name others.
        cited: addresses of the cited passages, which may be read.
    """

    links: frozenset[str] = frozenset()
    passages: tuple[str, ...] = ()
    cited: frozenset[str] = frozenset()

    def readable(self, address: str) -> str:
        """Return the address as text, where a passage has it just so and it can carry nothing else; else empty."""
        if address in self.cited:
            return address
        contact = _CONTACT.fullmatch(address)
        shown = contact["contact"] if contact else address
        if not (contact or _PLAIN_PAGE.fullmatch(address)) or not self._in_a_passage(shown):
            return ""
        return shown

    def of_interface(self, address: str) -> bool:
        """Whether it is the address of an interface that a passage has just so: it is shown as code, never a link."""
        return bool(_INTERFACE.fullmatch(address)) and self._in_a_passage(address)

    def judge(self, link: MarkdownLink) -> tuple[LinkVerdict, str]:
        """Return what becomes of a link of an answer, and what is said of its address beside its words."""
        if link.address in self.links and link.form is not LinkForm.IMAGE:
            return LinkVerdict.KEEP, ""
        if link.form is LinkForm.AUTOLINK:
            names_scheme = _BARE.match(link.address) or "@" in link.address
            return (LinkVerdict.UNWRAP if names_scheme else LinkVerdict.ESCAPE), ""
        shown = self.readable(link.address) if link.form is LinkForm.LINK else ""
        if not shown or shown in link.label:
            return LinkVerdict.UNWRAP, ""
        return LinkVerdict.UNWRAP, f" ({shown})" if _CONTACT.fullmatch(link.address) else f" (`{shown}`)"

    def _in_a_passage(self, address: str) -> bool:
        whole = re.compile(rf"(?<![\w/.@-]){re.escape(address)}(?![\w@=&%-]|[/.?#][\w%=])")
        return any(address in passage and whole.search(passage) for passage in self.passages)


def without_foreign_links(text: str, sources: SourceLinks) -> str:
    """Return the text without calls and without links that are neither a source's nor named by one.

    An address in code is no exception. Control characters go too.
    """
    text = _without_calls(remove_controls(text))
    text = _SPELT.sub(lambda found: "://" if found["slashes"] else "www.", text)
    for _ in range(_MOST_ROUNDS):
        before = text
        text = _without_foreign_addresses(rewrite_links(text, sources.judge), sources)
        if text == before:
            break
    return text


def _without_foreign_addresses(text: str, sources: SourceLinks) -> str:
    """Return the text without foreign addresses. The target of a source's link is not foreign."""
    kept: list[str] = []

    def keep(written: str) -> str:
        kept.append(written)
        return f"\x1a{len(kept) - 1}\x1a"

    def target(match: re.Match[str]) -> str:
        address = match["plain"] if match["quoted"] is None else match["quoted"]
        return keep(match.group()) if address in sources.links else match.group()

    def bare(match: re.Match[str]) -> str:
        whole = match.group()
        for address in _without_closing(whole):
            shown, rest = sources.readable(address), whole[len(address) :]
            if address in sources.links:
                return keep(_unmistakable(address, match)) + rest
            if shown and shown != address:
                return shown + rest
            if shown or sources.of_interface(address):
                return keep(_inactive(address, match)) + rest
        before = match.string[match.start() - 1 : match.start()]
        space = " " if before.isalnum() or before in (")", "\x1a") else ""
        return space + REMOVED + whole[len(_without_closing(whole)[-1]) :]

    text = _DEFINITION.sub(lambda match: match.group() if code_in(text)(match.start(1)) else f"{match[1]}\\:", text)
    text = _KEPT.sub(target, text)
    text = _BARE.sub(bare, text)
    text = _SCHEMELESS.sub(bare, text)
    return re.sub(r"\x1a(\d+)\x1a", lambda m: kept[int(m.group(1))], text)


def _unmistakable(address: str, match: re.Match[str]) -> str:
    """Return a source's address as it is, or as a link if a client would take what follows for a part of it."""
    text, end = match.string, match.start() + len(address)
    follows = text[end : match.end() + 1].lstrip(_ENDS_AN_ADDRESS)
    if not follows or follows[0].isspace() or text[match.start() - 1 : match.start()] == "<" or code_in(text)(end - 1):
        return address
    return f"[{address}]({address})"


def _inactive(address: str, match: re.Match[str]) -> str:
    """Return an address that can be read and not followed: as code, or with a joiner between backticks."""
    text = match.string
    if "`" not in text and "    " not in text:
        return f"`{address}`"
    return address if code_in(text)(match.start()) else defang_schemes(address).replace("www.", f"www{JOINER}.")


def _without_calls(text: str) -> str:
    """Return the text without markup that calls people on a platform. Their names stay."""
    return defang_calls(_CALL_MARKUP.sub(_called, text))


def _called(match: re.Match[str]) -> str:
    return ("#" if match["place"] else "@") + (match["label"] or match["id"] or match["all"])


def _without_closing(whole: str) -> tuple[str, ...]:
    """Return what of this run of characters could be the address: all of it, or less of what only closes a sentence."""
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
