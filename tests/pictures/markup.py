"""Both platforms' marks as HTML: as much of them as Footnote writes, and everything else as the text it is."""

import html
import re
from collections.abc import Callable

_CODE = re.compile(r"`([^`\n]+)`")
_MASKED = re.compile(r"\[([^\]\n]+)\]\((?:&lt;)?(https?://[^\s)]+?)(?:&gt;)?\)")
_QUIET = re.compile(r"&lt;(https?://[^\s&]+)&gt;")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_ITALIC = re.compile(r"(?<!\*)\*([^*\n]+?)\*(?!\*)")
_CHANNEL = re.compile(r"&lt;#(\w+)&gt;")
_ESCAPED = re.compile(r"\\([^\w\s])")
_STASH = re.compile("\x00(\\d+)\x00")

_MRKDWN_LINK = re.compile(r"<(https?://[^|>]+)\|([^>]+)>|<(https?://[^>]+)>")
_MRKDWN_BOLD = re.compile(r"(?<!\w)\*([^*\n]+)\*(?!\w)")
_MRKDWN_ITALIC = re.compile(r"(?<!\w)_([^_\n]+)_(?!\w)")


def markdown(text: str) -> str:
    """Markdown as Discord and Slack's ``markdown`` block show it: quotes, lists, small print, emphasis, code, links."""
    return _lines(text, _inline)


def mrkdwn(text: str) -> str:
    """Slack's own marks. What stands for ``&``, ``<`` and ``>`` in them stands for it in HTML too."""
    return _lines(text, _mrkdwn_inline)


def _lines(text: str, inline: Callable[[str], str]) -> str:
    shown: list[str] = []
    quote: list[str] = []
    for line in [*text.strip("\n").split("\n"), None]:
        if line is not None and line.startswith("> "):
            quote.append(inline(line[2:]))
            continue
        if quote:
            shown.append(f"<blockquote>{'<br>'.join(quote)}</blockquote>")
            quote = []
        if line is not None:
            shown.append(_line(line, inline))
    return "".join(shown)


def _line(line: str, inline: Callable[[str], str]) -> str:
    if not line.strip():
        return '<div class="gap"></div>'
    if line.startswith("-# "):
        return f'<div class="small">{inline(line[3:])}</div>'
    if match := re.match(r"[-•*] +(.*)", line):
        return f'<div class="item">{inline(match[1])}</div>'
    return f"<div>{inline(line)}</div>"


def _inline(text: str) -> str:
    kept: list[str] = []

    def keep(shown: str) -> str:
        kept.append(shown)
        return f"\x00{len(kept) - 1}\x00"

    text = html.escape(text, quote=False)
    text = _CODE.sub(lambda found: keep(f"<code>{found[1]}</code>"), text)
    text = _ESCAPED.sub(lambda found: keep(found[1]), text)
    text = _MASKED.sub(lambda found: keep('<span class="link">') + found[1] + keep("</span>"), text)
    text = _QUIET.sub(lambda found: keep(f'<span class="link">{found[1]}</span>'), text)
    text = _CHANNEL.sub(lambda found: keep('<span class="mention">#general</span>'), text)
    text = _ITALIC.sub(r"<i>\1</i>", _BOLD.sub(r"<b>\1</b>", text))
    return _STASH.sub(lambda found: kept[int(found[1])], text)


def _mrkdwn_inline(text: str) -> str:
    text = _MRKDWN_LINK.sub(lambda found: f'<span class="link">{found[2] or found[3]}</span>', text)
    text = _CODE.sub(r"<code>\1</code>", text)
    return _MRKDWN_ITALIC.sub(r"<i>\1</i>", _MRKDWN_BOLD.sub(r"<b>\1</b>", text))
