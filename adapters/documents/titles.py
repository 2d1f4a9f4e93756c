"""Choice of a document's title, date and link from the candidates that the formats find."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from adapters.documents.format import formats
from core.model.markdown_lines import HEADING, with_fences, without_emphasis

TITLE_CHARS = 200
MAX_LINK = 400
"""Maximum characters of a URL that is kept behind link text; longer ones are mostly tracking parameters."""
_NOT_A_TITLE = (
    r"new[ ]\w+[ ]document|index|none|null|title|test|home|\W*|.*\.(indd|qxd|tex|dvi|eps|svg)"
    r"|[(<\[]?(anonymous|unspecified|unknown|untitled[\s_-]?\d*|no title|not set|undefined|nan)[)>\]]?|about:blank"
    r"|[\da-f]{8}-[\da-f-]{27}|\{\{?[^{}]*\}?\}|%\w+%|[a-z]:\\.*|file:/.*"
)
"""Default titles that programs write, and leftovers of templates and paths."""


@cache
def _not_a_title() -> re.Pattern[str]:
    return re.compile(
        "|".join((_NOT_A_TITLE, *(one.not_a_title for one in formats() if one.not_a_title))), re.IGNORECASE
    )


def choose_title(name: str, *stated: str | None, markdown: Iterable[str] = ()) -> str:
    """Return the first candidate that is a real title rather than a program's default.

    Try the stated ones, then the first heading of `markdown`, then the file name without its extension.
    """
    for candidate in (*stated, first_heading(markdown)):
        text = re.sub(r"\s+", " ", candidate or "").strip()
        if text and not _not_a_title().fullmatch(text):
            return text if len(text) <= TITLE_CHARS else text[: TITLE_CHARS - 1] + "…"
    return stem(name)


def stem(name: str) -> str:
    """Return a file's name without folders and extension."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return last.rpartition(".")[0] or last or "Untitled"


def first_heading(texts: Iterable[str]) -> str | None:
    """Return the first top-level heading of some Markdown, or the first of any level, skipping fenced code."""
    first = None
    for line, fenced in with_fences(line for text in texts for line in text.splitlines()):
        if not fenced and (match := HEADING.match(line)):
            if len(match["level"]) == 1:
                return plain(match["text"])
            first = first or plain(match["text"])
    return first


def plain(markdown: str) -> str:
    """Return a line of Markdown without markup: links become their text, emphasis and code lose their marks."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    text = without_emphasis(text)
    return re.sub(r"\\([\\`*_{}\[\]()#+\-.!|])", r"\1", text).strip()


def escape_hash(text: str) -> str:
    """Return text with "#" escaped at the start of lines, where it would make a heading."""
    return re.sub(r"(?m)^(#{1,6}\s)", r"\\\1", text)


def safe_link(url: str | None) -> str | None:
    """Return the link if it is a plain http(s) address that is safe to show, otherwise None."""
    text = (url or "").strip()
    if not text or len(text) > 2_000 or re.search(r"[\s<>\"|\\^`{}\x00-\x1f]", text):
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        return None
    return text


def with_address(words: str, address: str | None) -> str:
    """Return a link as Markdown with its http(s) address, or only the words without a usable address.

    An address that equals the words is not repeated. White space and parentheses in it are percent-encoded.
    """
    shown = words.strip()
    target = (address or "").strip().replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    if not shown or "](" in shown or len(target) > MAX_LINK or not safe_link(target) or _same_address(shown, target):
        return words
    lead, tail = words[: len(words) - len(words.lstrip())], words[len(words.rstrip()) :]
    label = re.sub(r"\s+", " ", shown).replace("[", "(").replace("]", ")")
    return f"{lead}[{label}]({target}){tail}"


def _same_address(words: str, address: str) -> bool:
    bare = re.compile(r"https?://(?:www\.)?|/$")
    return bare.sub("", words).casefold() == bare.sub("", address).casefold()


def iso_date(text: str | datetime | None) -> str | None:
    """Return an ISO date, or date and time, from common notations: ISO itself, a PDF's D:2024…, a mail's Date."""
    if not text:
        return None
    if isinstance(text, datetime):
        return _plausible(text)
    for attempt in (_from_iso, _from_pdf, _from_mail):
        if found := attempt(text.strip()):
            return found
    return None


def _from_iso(text: str) -> str | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _plausible(moment, date_only=len(text) <= 10)


def _from_pdf(text: str) -> str | None:
    match = re.match(r"(?:D:)?(\d{4})(\d{2})(\d{2})(\d{2})?(\d{2})?(\d{2})?", text)
    if not match:
        return None
    year, month, day, hour, minute, second = (int(group or 0) for group in match.groups())
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        return _plausible(moment, date_only=match[4] is None)
    except ValueError:
        return None


def _from_mail(text: str) -> str | None:
    try:
        return _plausible(parsedate_to_datetime(text))
    except (ValueError, TypeError):
        return None


def _plausible(moment: datetime, *, date_only: bool = False) -> str | None:
    if not 1980 < moment.year < 2100:  # programs write 1970, 1601 and 1980-01-01 for "unknown"
        return None
    return moment.date().isoformat() if date_only else moment.replace(microsecond=0).isoformat()
