"""Active links and pings in messages to Discord, by Discord's rules and not ours.

Nothing of the bot's own code is used here. The rules, and where they are from:

- ``http://``, ``https://`` and ``steam://`` become links wherever they stand outside code, up to white space or ``<``;
  ``[label](address "title")`` is a link when the address is one of the web's or ``discord:``, with or without slashes
  and ``<>``, with white space around it, over several lines. Found out of the client by
  https://github.com/LyricLy/parse-discord; https://support.discord.com/hc/en-us/articles/210298617 says the same less
  exactly. A label that is itself an address makes no link of it, but then the address stands bare: it counts.
- ``<scheme:/…>`` is a link to that; ``mailto:`` and ``tel:`` are links, bare or in angle brackets.
- ``discord.gg/…`` and its like are invitations without any scheme.
- ``@everyone``, ``@here``, ``<@…>``, ``<@!…>``, ``<@&…>`` notify, if the call's ``allowed_mentions`` lets them; without
  that field everything does. https://docs.discord.com/developers/resources/message#allowed-mentions-object
- Labels, placeholders, names and titles: nothing. Buttons lead to their ``url``.
- Code: between two runs of as many backticks. Escapes do not help an address.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_CODE = re.compile(r"```(?:[\w+.#-]*\n)?.*?[^\n].*?```|(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_BARE = re.compile(r"(?:https?|steam|discord)://[^\s<]+", re.IGNORECASE)
_ANGLED = re.compile(r"<([a-z][a-z0-9+.-]*:/?[^ >]+)>", re.IGNORECASE)
_MASKED = re.compile(r"\]\(\s*<?((?:https?|discord|steam|mailto|tel):[^\s>)]*)", re.IGNORECASE)
_OPAQUE = re.compile(r"\b(?:mailto|tel):[^\s<>]+", re.IGNORECASE)
_INVITE = re.compile(r"\bdiscord(?:app)?\.(?:gg|com/invite|gift|new)/[\w-]+", re.IGNORECASE)
_CALL = re.compile(r"@(?:everyone|here)\b|<@[!&]?\d+>")
_OWN_PLACE = re.compile(r"https://discord\.com/channels/\d+/\d+(?:/\d+)?")


@dataclass
class Active:
    """Links by their address, and calls of people that the call lets through."""

    links: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)


def addresses_in(text: str) -> list[str]:
    """Everything in a message's text that can be clicked and leads out of Discord's own messages."""
    outside = _CODE.sub(" ", text)
    found = [match[1] for match in _MASKED.finditer(outside)] + [match[1] for match in _ANGLED.finditer(outside)]
    rest = _ANGLED.sub(" ", outside)
    found += [one.rstrip(".,:;\"'])") for one in _BARE.findall(rest)]
    found += _OPAQUE.findall(rest) + _INVITE.findall(rest)
    return [one for one in dict.fromkeys(one.rstrip(">") for one in found) if not _OWN_PLACE.fullmatch(one)]


def active_in_calls(bodies: Iterable[Any]) -> Active:
    """What is active in anything that these request bodies show."""
    found = Active()
    for body in bodies:
        texts = list(_texts(body))
        for text in texts:
            found.links += addresses_in(text)
        found.links += [str(one["url"]) for one in _nodes(body) if one.get("type") == 2 and one.get("url")]
        found.calls += [call for text in texts for call in _calls(text, _data(body).get("allowed_mentions"))]
    return found


def _data(body: Any) -> Mapping[str, Any]:
    """A message, or the message in an interaction's answer."""
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("data")
    return inner if isinstance(inner, Mapping) else body


def _nodes(body: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(body, Mapping):
        yield body
        for value in body.values():
            yield from _nodes(value)
    elif isinstance(body, list):
        for one in body:
            yield from _nodes(one)


def _texts(body: Any) -> Iterator[str]:
    """Every text that is read as Markdown: ``content`` of messages and components, and descriptions of embeds."""
    for node in _nodes(body):
        for name in ("content", "description"):
            if isinstance(node.get(name), str) and "label" not in node:
                yield node[name]


def _calls(text: str, allowed: Mapping[str, Any] | None) -> list[str]:
    """Whom this text notifies."""
    kinds = {"e": "everyone", "h": "everyone", "&": "roles"}
    found = []
    for call in _CALL.findall(_CODE.sub(" ", text)):
        kind = kinds.get(call[1] if call[0] == "@" else call[2], "users")
        if allowed is None or kind in (allowed.get("parse") or []) or allowed.get(kind):
            found.append(call)
    return found
