"""Org files to Markdown, line by line: headings with states and dates, lists, tables, listings, links."""

import re
from collections.abc import Callable

from adapters.documents.encodings import decode
from adapters.documents.format import Format
from adapters.documents.titles import choose_title, iso_date
from core.model.document_content import Block, ParsedDocument
from core.model.errors import NoText

_HEADING = re.compile(r"^(?P<stars>\*{1,10})\s+(?P<text>\S.*?)(?P<tags>\s+:[\w@#%:]+:)?\s*$")
_KEYWORD = re.compile(r"^\s*#\+(?P<key>[\w-]+):\s*(?P<value>.*?)\s*$")
_BEGIN = re.compile(r"^\s*#\+begin_(?P<kind>\w+)(?:\s+(?P<language>[\w+#-]+))?", re.IGNORECASE)
_END = re.compile(r"^\s*#\+end_\w+", re.IGNORECASE)
_DRAWER = re.compile(r"^\s*:(?:PROPERTIES|LOGBOOK|CLOCK):\s*$", re.IGNORECASE)
_TABLE_RULE = re.compile(r"^\s*\|[-+]+\|?\s*$")
_LIST = re.compile(
    r"^(?P<indent>\s*)(?P<mark>[-+]|\d+[.)])\s+(?P<box>\[[ Xx-]\]\s+)?(?P<term>[^\n]{1,200}?\s::\s+)?(?P<words>.*)$"
)
_LINK = re.compile(r"\[\[(?P<to>[^\]\n]+)\](?:\[(?P<words>[^\]\n]+)\])?\]")
_DATE = re.compile(
    r"[<\[](?P<day>\d{4}-\d\d-\d\d)(?:\s+[^\W\d]+\.?)?(?P<time>\s+\d\d?:\d\d(?:-\d\d?:\d\d)?)?[^>\]\n]{0,20}[>\]]"
)
_CODE = re.compile(r"(?<![\w=~])[=~](\S|\S[^=~\n]*\S)[=~](?![\w=~])")
_BOLD = re.compile(r"(?<![\w*])\*(\S|\S[^*\n]*\S)\*(?![\w*])")
_LISTINGS = frozenset(("src", "example", "export", "ascii"))
_SHOWN = frozenset(("author", "date", "email", "description", "subtitle", "caption"))


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the text with as many lines as its source."""
    stated: dict[str, str] = {}
    lines = _lines(decode(data).split("\n"), stated)
    text = "\n".join(lines)
    if not text.strip():
        raise NoText("There is no text in this file.")
    return ParsedDocument(
        title=choose_title(name, stated.get("title"), markdown=[text]),
        blocks=(Block(text, first_line=1),),
        media_type="text/org",
        modified=iso_date(_DATE.sub(lambda found: found["day"], stated.get("date", ""))),
        notes=("other files that this one includes are not read",) if "include" in stated else (),
    )


def _lines(source: list[str], stated: dict[str, str]) -> list[str]:
    """Return one line of Markdown per source line."""
    done: list[str] = []
    listing = drawer = comment = False
    for line in source:
        if comment or listing:
            ended = bool(_END.match(line))
            done.append(("```" if listing else "") if ended else line if listing else "")
            comment, listing = comment and not ended, listing and not ended
        elif drawer and not _HEADING.match(line):  # a heading ends an unclosed drawer
            drawer = line.strip().upper() != ":END:"
            done.append("")
        elif begun := _BEGIN.match(line):
            kind = begun["kind"].lower()
            listing, comment = kind in _LISTINGS, kind == "comment"
            done.append(f"```{begun['language'] or ''}" if listing else "")
        elif _DRAWER.match(line):
            drawer = True
            done.append("")
        else:
            drawer = False
            done.append(_line(line, stated))
    return [*done, "```"] if listing else done


def _line(line: str, stated: dict[str, str]) -> str:
    """Convert a line outside of blocks."""
    if keyword := _KEYWORD.match(line):
        key = keyword["key"].lower()
        stated.setdefault(key, keyword["value"])
        return f"{key.capitalize()}: {_inline(keyword['value'])}" if key in _SHOWN and keyword["value"] else ""
    for pattern, written in _LINES:
        if found := pattern.match(line):
            return written(found)
    return _inline(line)


def _heading(found: re.Match[str]) -> str:
    tags = ", ".join(filter(None, (found["tags"] or "").strip().split(":")))
    level = "#" * min(len(found["stars"]), 6)
    return f"{level} {_inline(found['text'])}{f' ({tags})' if tags else ''}"


def _item(found: re.Match[str]) -> str:
    done = {"[ ]": "(open) ", "[x]": "(done) ", "[-]": "(begun) "}.get((found["box"] or "").strip().lower(), "")
    term = f"{found['term'].strip().removesuffix('::').strip()}: " if found["term"] else ""
    return f"{found['indent']}{found['mark']} {done}{_inline(term + found['words'])}"


def _inline(text: str) -> str:
    text = _CODE.sub(lambda found: f"`{found[1]}`", text)
    text = _BOLD.sub(lambda found: f"**{found[1]}**", text)
    text = _DATE.sub(lambda found: f"{found['day']}{found['time'] or ''}", text)
    return _LINK.sub(_linked, text)


def _linked(found: re.Match[str]) -> str:
    address, words = found["to"], found["words"]
    if address.startswith(("http://", "https://", "mailto:")):
        return f"[{words}]({address})" if words else address.removeprefix("mailto:")
    return words or re.sub(r"^(?:file|id):|^[*#]|::.*$", "", address)


_LINES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\s*#(?: |$)|\s*#\+end_\w+|\s*:END:\s*$", re.IGNORECASE), lambda _: ""),
    (_HEADING, _heading),
    (_TABLE_RULE, lambda found: found[0].strip().replace("+", "|")),
    (re.compile(r"\s*(\|.*?)\s*$"), lambda found: _inline(found[1])),
    (_LIST, _item),
    (re.compile(r"\s*: (.*)$"), lambda found: f"    {found[1]}"),
)

FORMATS = (Format(media_type="text/org", read=read, label="Org", suffixes=("org",)),)
