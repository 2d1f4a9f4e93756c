"""Sanitizer for everything that leaves for Slack, applied after all rendering.

``WebClient`` passes every call and every reply to a command through ``CallSanitizer``. ``acknowledge`` sanitizes what
Bolt acknowledges with. Nothing in a payload is clickable and nobody is mentioned unless the object that carries the
text permits it. A renderer declares a link as data beside the text (``permit``), never inside the text.

What Slack makes active, by object:

- ``mrkdwn``: ``<address|label>``, ``<@U…>``, ``<#C…>``, ``<!…>``. Without ``verbatim`` also bare addresses, channel
  names and some mentions, so ``verbatim`` is always set.
  https://docs.slack.dev/reference/block-kit/composition-objects/text-object
- ``text`` of a message (notifications): ``mrkdwn`` without ``verbatim``. The server also detects addresses without a
  scheme. https://docs.slack.dev/messaging/formatting-message-text#automatic-parsing
- ``markdown`` blocks, ``markdown_text`` and tasks of a stream: CommonMark plus what the server detects, even in code.
  https://docs.slack.dev/reference/block-kit/blocks/markdown-block
- ``plain_text``: nothing, but schemes are defanged anyway.
- ``url``, ``image_url`` and similar fields of elements; ``link``, ``user`` and ``broadcast`` elements of rich text.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from cachetools import LRUCache

from core.model.plain_text import JOINER, defang_calls, defang_domains, defang_schemes, remove_controls, without_closing

MOST_MRKDWN = 3_000  # characters of a text object
MOST_MARKDOWN = 12_000  # characters of a ``markdown`` block
_PERMITTED = "permitted"  # key beside a text: what may be active in it and in its children; never sent
_LINKS, _GROUP = "links", "group"
_ADDRESSES = {"url", "image_url", "icon_url", "thumb_url", "title_url", "title_link", "from_url", "author_link"}
_SHOWN = {"text", "markdown_text", "title", "details", "output", "message", "alt_text", "accessibility_label", "hint"}
_OPAQUE = {"metadata", "private_metadata", "value", "address"}  # for our own use, never shown
# Text that could complete an address, a label or a mention begun by the text before it.
_COMPLETES = re.compile(r"[/:.(@\[\]\\]|[a-z0-9+.-]{1,20}\\?:", re.IGNORECASE)
_APPENDING = {"chat.appendStream", "chat.stopStream"}
_MOST_STREAMS = 5_000  # with their last character; for any other stream, assume the worst
_ENTITY = re.compile(r"<([^<>\n]*)>")
_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt);)")
_MARKDOWN_LINK = re.compile(
    r"(?<![\\!])\[([^\[\]\n]{0,300})\]\((https?://[^\s()<>]{1,2000})\)|(?<![\w/:.\[(<\"'`|=])(https?://[^\s<>]+)"
)
_NOT_IN_A_LINK = set('()<>[]\\"`')
_ADDRESS = re.compile(r"[:/\\]{1}/|\bwww\.|\w\.[^\W\d_]{2,}")

Payload = dict[str, Any]


class ActiveContent:
    """What may be active in a text: these links, this user group, and links to messages of the own workspace."""

    def __init__(self, links: frozenset[str] = frozenset(), group: str = "", workspace: str = "") -> None:
        """Allow these links and mentions. ``workspace`` is the workspace's own address from ``auth.test``."""
        self.links = links
        self.group = group
        self.workspace = urlsplit(workspace).netloc

    def also(self, given: Mapping[str, Any]) -> "ActiveContent":
        """Return this plus what ``given`` permits."""
        more = ActiveContent(self.links | frozenset(given.get(_LINKS) or ()), str(given.get(_GROUP) or self.group))
        more.workspace = self.workspace
        return more

    def link(self, url: str) -> bool:
        """Return whether this exact address may be a link."""
        return url in self.links or self._is_own_message(url)

    def _is_own_message(self, url: str) -> bool:
        own = re.escape(self.workspace)
        return bool(own and re.fullmatch(rf"https://{own}/archives/[A-Z0-9]+/p\d+(?:\?[\w.=&-]*)?", url))


NOTHING = ActiveContent()


def permit(block: Payload, *, links: Sequence[str | None] = (), group: str = "") -> Payload:
    """Return the block with permission for exactly these links and for mentioning this user group."""
    given = {_LINKS: sorted({link for link in links if link})} | ({_GROUP: group} if group else {})
    return block | {_PERMITTED: given}


def permit_as_shown(shown: Sequence[Payload]) -> list[Payload]:
    """Return blocks of our own message, as Slack returned them, with their original links permitted."""
    return [permit(block, links=list(_links_in(block))) for block in shown]


def _links_in(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        own = [str(value["url"])] if value.get("type") == "link" and "url" in value else []
        text = value.get("text") if value.get("type") == "mrkdwn" else ""
        own += [unescape(found.partition("|")[0]) for found in _ENTITY.findall(str(text or ""))]
        return own + [link for one in value.values() for link in _links_in(one)]
    return [link for one in value for link in _links_in(one)] if isinstance(value, list) else []


# --- entry points


class CallSanitizer:
    """Sanitizes the calls of one workspace. It tracks how each stream ends, so that two pieces cannot form a link."""

    def __init__(self) -> None:
        """Permit no message links until the workspace's own address is known."""
        self.workspace = ""
        self._endings: LRUCache[tuple[str, str], str] = LRUCache(_MOST_STREAMS)

    def sanitize(self, method: str, arguments: Mapping[str, Any]) -> Payload:
        """Return the arguments, safe to send."""
        safe: Payload = _object(arguments, ActiveContent(workspace=self.workspace))
        if method == "chat.postMessage":
            safe |= {"unfurl_links": False, "unfurl_media": False}
        if method in _APPENDING:
            self._mend_seams(safe)
        return safe

    def message(self, fields: Mapping[str, Any]) -> Payload:
        """Return a safe reply to a command or button press, to send to its ``response_url``."""
        return _object(fields, ActiveContent(workspace=self.workspace))

    def remember_stream(self, channel: str, ts: str) -> None:
        """Record that a stream has begun, with no text in it."""
        self._endings[channel, ts] = " "

    def _mend_seams(self, call: Payload) -> None:
        """Insert a joiner where a text of a stream would complete something that the text before it began."""
        channel, ts = str(call.get("channel")), str(call.get("ts"))
        before = self._endings.get((channel, ts), ".")
        for chunk in call.get("chunks") or []:
            if chunk.get("type") == "markdown_text" and chunk["text"]:
                text = chunk["text"]
                if not before.isspace() and (_COMPLETES.match(text) or (before in ".．。｡" and text[0].isalpha())):
                    chunk["text"] = JOINER + text
                before = text[-1]
        self._endings[channel, ts] = before


async def acknowledge(
    ack: Callable[..., Awaitable[Any]],
    *,
    errors: Mapping[str, str] | None = None,
    options: Sequence[Payload] | None = None,
    view: Payload | None = None,
) -> None:
    """Acknowledge with the errors of a form's fields, the options of a menu, or the next form."""
    if errors is not None:
        await ack(response_action="errors", errors={field: plain(why) for field, why in errors.items()})
    elif options is not None:
        await ack(options=_value(list(options), NOTHING))
    elif view is not None:
        await ack(response_action="update", view=_object(view, NOTHING))
    else:
        await ack()


# --- payloads


def _value(value: Any, allowed: ActiveContent) -> Any:
    if isinstance(value, Mapping):
        return _object(value, allowed)
    return [_value(one, allowed) for one in value] if isinstance(value, list | tuple) else value


def _object(given: Mapping[str, Any], allowed: ActiveContent) -> Payload:
    allowed = allowed.also(given.get(_PERMITTED) or {})
    found = {name: value for name, value in given.items() if name != _PERMITTED}
    match found.get("type"):
        case "mrkdwn":
            return found | {"text": mrkdwn(str(found.get("text", "")), allowed), "verbatim": True}
        case "plain_text":
            return found | {"text": plain(str(found.get("text", "")))}
        case "markdown" | "markdown_text":
            return found | {"text": markdown(str(found.get("text", "")), allowed)}
        case "text":
            return found | {"text": remove_controls(str(found.get("text", "")))}
        case "link" | "user" | "usergroup" | "broadcast" | "channel" | "team":
            return _rich_element(found, allowed)
    return {name: safe for name, value in found.items() if (safe := _field(name, value, allowed)) is not None}


def _field(name: str, value: Any, allowed: ActiveContent) -> Any:
    if name in _OPAQUE:
        return value
    if name in _ADDRESSES:
        return value if allowed.link(str(value)) else None
    if name in _SHOWN and isinstance(value, str):
        return inactive(value)
    return _value(value, allowed)


def _rich_element(element: Payload, allowed: ActiveContent) -> Payload:
    """Return the element if it is a permitted link; otherwise its visible words as text."""
    if element["type"] == "link" and allowed.link(str(element.get("url", ""))):
        return element
    words = element.get("text") or element.get("url") or "…"
    return {"type": "text", "text": defang_schemes(remove_controls(str(words)))}


# --- texts


def plain(text: str) -> str:
    """Return a label or title without markup, no longer than before, because labels have narrow limits."""
    return defang_schemes(remove_controls(text))[: max(1, len(text))]


def inactive(text: str) -> str:
    """Return a text in which nothing is active, however Slack renders it."""
    text = _BARE_AMPERSAND.sub("&amp;", remove_controls(text)).replace("<", "&lt;")
    return defang_calls(defang_domains(defang_schemes(text)))


def mrkdwn(text: str, allowed: ActiveContent) -> str:
    """Return ``mrkdwn`` to send as ``verbatim``, with only permitted content left in angle brackets."""
    text = remove_controls(text)
    pieces: list[str] = []
    last = 0
    for match in _ENTITY.finditer(text):
        pieces += [text[last : match.start()].replace("<", "&lt;"), _entity(match.group(1), allowed)]
        last = match.end()
    whole = "".join([*pieces, text[last:].replace("<", "&lt;")])
    return _clip(defang_calls(whole), MOST_MRKDWN)


def _entity(inside: str, allowed: ActiveContent) -> str:
    target, bar, label = inside.partition("|")
    if allowed.group and target == f"!subteam^{allowed.group}":
        return f"<{target}>"
    url = unescape(target)
    if not allowed.link(url):
        return f"&lt;{inside}&gt;"
    if label in ("", target) or unescape(label) == url:
        return f"<{target}>"
    return f"{label} <{target}>" if _ADDRESS.search(label) else f"<{target}{bar}{label}>"


def markdown(text: str, allowed: ActiveContent) -> str:
    """Return Markdown in which only permitted addresses are links, each written unambiguously."""
    text = _BARE_AMPERSAND.sub("&amp;", remove_controls(text)).replace("<", "&lt;")
    pieces: list[str] = []
    last = 0
    for match in _MARKDOWN_LINK.finditer(text):
        written = _permitted_link(match, allowed)
        if written is not None:
            pieces += [_still(text[last : match.start()]), written]
            last = match.end()
    return _clip("".join([*pieces, _still(text[last:])]), MOST_MARKDOWN)


def _permitted_link(match: re.Match[str], allowed: ActiveContent) -> str | None:
    """Return the link in Markdown with its trailing punctuation, or None if it is not permitted."""
    label, labelled, bare = match.groups()
    written, closing = (labelled, "") if labelled else without_closing(bare)
    if not allowed.link(unescape(written)) or set(written) & _NOT_IN_A_LINK:
        return None
    words = _still(label) if label is not None and label.strip() and not _ADDRESS.search(label) else written
    return f"[{words}]({written}){_still(closing)}"


def _still(text: str) -> str:
    return defang_calls(defang_domains(defang_schemes(text)))


def _clip(text: str, limit: int) -> str:
    """Return at most ``limit`` characters, cut at a word and never inside angle brackets."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    cut = cut[: cut.rfind("<")] if cut.rfind("<") > cut.rfind(">") else cut
    return (cut.rsplit(None, 1)[0] if " " in cut[limit // 2 :] else cut).rstrip() + "…"
