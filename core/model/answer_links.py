"""Link filter: an answer links only to retrieved sources, even when a model obeys instructions in a document.

Text from a model or a document may make a reader's client open a link or load an image that leaks what was read. So
every address in an answer is compared, as a whole, with the exact text of the retrieved passages:

- A link stays a link if it leads to a retrieved source. It also stays if a cited passage has its address and the
  address is on the host of that passage's document, or on a host that the operator allows (the setting
  ANSWER_LINK_HOSTS).
- Any other address of a cited passage is shown as code after the words of its link. People can copy it, and no client
  makes it a link. A plain page address of any retrieved passage is shown the same way; contacts are shown as text.
- Every other link keeps only its words.

Each platform's sanitizer decides from the same list what it shows as a link. ``/v1`` and MCP send the text as it is.
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
# Most clients make a link of a name with a dot and a query, even without a scheme.
_SCHEMELESS = re.compile(r"\b(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,20}(?:/[^\s<>?]{0,2000})?\?[^\s<>]+", re.IGNORECASE)
# Clients that make links of plain text decode character references and escapes first.
_COLON, _SLASH, _DOT = (
    rf"(?:\\?{re.escape(char)}|&{name};|&#0{{0,5}}{ord(char)};|&#x0{{0,5}}{ord(char):x};)"
    for char, name in ((":", "colon"), ("/", "sol"), (".", "period"))
)
_W = r"(?:w|&#0{0,5}(?:87|119);|&#x0{0,5}[57]7;)"
_SPELT = re.compile(rf"(?P<slashes>{_COLON}{_SLASH}{_SLASH})|{_W}{{3}}{_DOT}", re.IGNORECASE)
_KEPT = re.compile(rf"\]\((?:<(?P<quoted>[^\n<>\\`]*)>|(?P<plain>{PLAIN_TARGET}))\)")
_CLOSING = ".,;:!?)]}\"'`*_~\\"  # with the backslash that escapes one of them
_ENDS_AN_ADDRESS = ".,:;!?*_~)"  # clients that make links of addresses do not count these at the end
_DEFINITION = re.compile(r"(?m)^([ \t>*+|-]*(?:\d{1,9}[.)][ \t>]*)?\[[^\[\]]{0,999}\]):")
_CITED = re.compile(r"\[\d{1,4}\]\Z")
_MOST_CLOSING = 40  # closing characters to try without; more of them belong to the address
_CONTACT = re.compile(r"(?:mailto|tel):(?P<contact>[\w.+@-]{3,200})", re.IGNORECASE)
_PLAIN_PAGE = re.compile(r"(?:https?://|www\.)[\w.-]{1,253}(?::\d{1,5})?(?:/[\w.~/+-]{0,500})?", re.IGNORECASE)
# The address of an API as documents write it: with a placeholder in braces, or of a socket. No query is allowed: a
# document could tell a model to put what it has read there.
_INTERFACE = re.compile(
    r"(?:https?|wss?)://[\w.{}-]{1,253}(?::(?:\d{1,5}|\{\w{1,40}\}))?"
    r"(?:/[\w.~/+:${}-]{0,500})?",
    re.IGNORECASE,
)

# Addresses in a passage: targets of Markdown links, and addresses written out. A query counts only in a link. In plain
# text it may be a template that a document asks a model to fill in.
_ADDRESS = r"https?://[^\s<>()\\`|\"\x00-\x1f]{1,500}(?:\([^\s<>()\\`|\"]{0,100}\)[^\s<>()\\`|\"]{0,200})?"
_LEADS_TO = re.compile(rf"\]\(<?(?P<address>{_ADDRESS})>?(?:\s+[\"'(][^\n]{{0,200}})?\)", re.IGNORECASE)
_WRITTEN_OUT = re.compile(
    r"(?<![\w(/])<?(?P<address>https?://[^\s<>()\[\]{}?\\`|\"'\x00-\x1f]{1,500}+)(?=[\s()\[\]\"'`|>]|\Z)",
    re.IGNORECASE,
)
_MOST_ADDRESSES = 200  # of one passage

# Text that a stream holds back because more text may still make it a link or a marker: the last word with the white
# space before it (text in brackets counts as one word; an open bracket extends to the end), the line of a possible
# reference definition, or an open tag. Each alternative can begin only at few places (a run of white space, a word
# after white space), so that matching is linear in the text.
_OPEN = r"\[[^\[\]\n]{0,300}(?:\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)?)?"
_GROUP = r"\[[^\[\]\n]{0,300}\](?>\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))?"
RESERVED_SHARE = re.compile(
    rf"(?:(?<!\s)\s++|\A)(?>(?!{_OPEN}$)(?:{_GROUP}|\S))*+(?:{_OPEN})?$"
    r"|(?:^|\n)[ \t]{0,3}\[[^\[\]\n]{1,100}\]:[^\n]*$"
    r"|<[^<>\n]{0,500}$"
)
MOST_HELD_BACK = 4_000  # characters; longer text is filtered and shown as it is
REMOVED = "(link removed)"
_MOST_ROUNDS = 3  # removing an address may leave markup that forms another link
# Markup that chat platforms read as a mention of people or a link to a channel; see their sanitizers.
_CALL_MARKUP = re.compile(
    r"<(?:(?:!subteam\^|@[!&]?|(?P<place>#))(?P<id>[UWBSCG][A-Z0-9]{2,20}|\d{1,20})|!(?P<all>channel|here|everyone|group))"
    r"(?:\|[@#]?(?P<label>[^<>\n]{0,100}))?>"
)


def addresses_in(passage: str) -> frozenset[str]:
    """Return the exact http(s) addresses in a passage, without those that contain a user name."""
    found = [match["address"] for match in _LEADS_TO.finditer(passage)]
    found += [match["address"].rstrip(_ENDS_AN_ADDRESS) for match in _WRITTEN_OUT.finditer(passage)]
    return frozenset(address for address in found[:_MOST_ADDRESSES] if _host(address))


def clickable(addresses: Iterable[str], document: str | None, allowed: frozenset[str]) -> frozenset[str]:
    """Return the addresses of a cited passage that may be links: on its document's own host or an allowed host.

    Args:
        addresses: of the passage.
        document: the address of the passage's document, if it has one.
        allowed: hosts; ``*.host`` allows all its subdomains.
    """
    own = _host(document or "")
    return frozenset(address for address in addresses if (host := _host(address)) == own or _allows(allowed, host))


def _allows(allowed: frozenset[str], host: str) -> bool:
    parts = host.split(".")
    return host in allowed or any(f"*.{'.'.join(parts[at:])}" in allowed for at in range(1, len(parts)))


def _host(address: str) -> str:
    """Return the lower-case host and port of an address; empty if there is no host or the address names a user."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    netloc = parts.netloc.casefold()
    return netloc if parts.scheme in ("http", "https") and re.fullmatch(r"[\w.-]+(?::\d{1,5})?", netloc) else ""


@dataclass(frozen=True, slots=True)
class SourceLinks:
    """Addresses that an answer may link to or show.

    Attributes:
        links: addresses that may be links.
        passages: texts of the retrieved passages, which may contain other addresses.
        cited: addresses of the cited passages, which may be shown but not linked.
    """

    links: frozenset[str] = frozenset()
    passages: tuple[str, ...] = ()
    cited: frozenset[str] = frozenset()

    def readable(self, address: str) -> str:
        """Return the address as text if a passage contains exactly it and it can carry no data; otherwise empty."""
        if address in self.cited:
            return address
        contact = _CONTACT.fullmatch(address)
        shown = contact["contact"] if contact else address
        if not (contact or _PLAIN_PAGE.fullmatch(address)) or not self._in_a_passage(shown):
            return ""
        return shown

    def of_interface(self, address: str) -> bool:
        """Return whether a passage contains exactly this API address. It is shown as code, never as a link."""
        return bool(_INTERFACE.fullmatch(address)) and self._in_a_passage(address)

    def judge(self, link: MarkdownLink) -> tuple[LinkVerdict, str]:
        """Return the verdict on a link of an answer, and the text to show after its words."""
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
    """Return the text without mentions, control characters, and links that are neither a source's nor in a passage.

    Addresses in code are filtered too.
    """
    text = defang_calls(_CALL_MARKUP.sub(_called, remove_controls(text)))
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
    """Return a source's address, as a Markdown link if a client would read the following text as part of it."""
    text, end = match.string, match.start() + len(address)
    follows = text[end : match.end() + 1].lstrip(_ENDS_AN_ADDRESS)
    if not follows or follows[0].isspace() or text[match.start() - 1 : match.start()] == "<" or code_in(text)(end - 1):
        return address
    return f"[{address}]({address})"


def _inactive(address: str, match: re.Match[str]) -> str:
    """Return an address that can be read but not clicked: as code, or with a joiner if the text has backticks."""
    text = match.string
    if "`" not in text and "    " not in text:
        return f"`{address}`"
    return address if code_in(text)(match.start()) else defang_schemes(address).replace("www.", f"www{JOINER}.")


def _called(match: re.Match[str]) -> str:
    return ("#" if match["place"] else "@") + (match["label"] or match["id"] or match["all"])


def _without_closing(whole: str) -> tuple[str, ...]:
    """Return the candidates for the address: the whole run, then shorter ones without closing characters."""
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
