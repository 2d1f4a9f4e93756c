"""Mail (EML, mail saved as text, MBOX): headers, body, invitations, names of attachments.

Attachments themselves are not read; users add them as separate files.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import policy
from email.errors import MessageError
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from adapters.documents.encodings import clean, decode
from adapters.documents.format import Format
from adapters.documents.formats.calendar import invitation
from adapters.documents.html_markdown import soup, to_markdown
from adapters.documents.titles import choose_title, iso_date
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText
from core.model.plain_text import one_line

MAX_PARTS = 500
_SHOWN = ("From", "To", "Cc", "Date")


def read(name: str, data: bytes) -> ParsedDocument:
    """Return one mail as Markdown: its subject as the heading, its headers, its text."""
    return letter(name, *parts_of(data), media_type="message/rfc822")


def parts_of(data: bytes) -> tuple[str, dict[str, str], str, list[str]]:
    """Return a mail's subject, the displayed headers, its text and the names of its attachments.

    Raises:
        DocumentRejected: damaged.
    """
    try:
        message = BytesParser(policy=policy.default).parsebytes(_in_one_byte_units(data).lstrip(b"\r\n \t"))
        subject = header(message, "Subject")
        shown = {label: header(message, label) for label in _SHOWN}
        body, attachments = _content(message)
    except (MessageError, ValueError, LookupError, TypeError, AttributeError, IndexError) as error:
        raise DocumentRejected("This mail is damaged and cannot be read.") from error
    return subject, shown, body, attachments


def _in_one_byte_units(data: bytes) -> bytes:
    """Return the mail as UTF-8: some programs save it in UTF-16, which the format does not allow."""
    wide = b"\0" in data[:64] or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return decode(data).encode("utf-8", "replace") if wide else data.removeprefix(codecs.BOM_UTF8)


def letter(
    name: str, subject: str, shown: dict[str, str], body: str, attachments: list[str], *, media_type: str
) -> ParsedDocument:
    """Return a mail's parts as one document. Headers are reduced to one line, so a subject cannot forge a sender."""
    subject, attachments = one_line(subject), [one_line(attached) for attached in attachments]
    lines = [f"{label}: {one_line(text)}" for label, text in shown.items() if text]
    lines += [f"Attachments: {', '.join(attachments)}"] if attachments else []
    if not body.strip() and not subject and not attachments:
        raise NoText("There is no text in this mail.")
    pieces = [f"# {subject}" if subject else "", "\n".join(lines), body.strip()]
    notes = (f"attachments not read: {', '.join(attachments)}",) if attachments else ()
    return ParsedDocument(
        title=choose_title(name, subject),
        blocks=(Block("\n\n".join(piece for piece in pieces if piece)),),
        media_type=media_type,
        modified=iso_date(shown.get("Date")),
        notes=notes,
    )


def header(message: EmailMessage, label: str) -> str:
    """Return a header's text on one line; '' if it is missing or cannot be decoded."""
    try:
        value = str(message.get(label, ""))
    except (ValueError, LookupError, TypeError, AttributeError, IndexError):
        value = next((str(raw) for key, raw in message.raw_items() if key.lower() == label.lower()), "")
    return re.sub(r"\s+", " ", clean(value)).strip()[:2_000]


def html_to_text(markup: str) -> str:
    """Return a mail's HTML as Markdown, without layout tables, tracking images and styles."""
    page = soup(markup)
    return to_markdown(page.body or page)


def _content(message: EmailMessage) -> tuple[str, list[str]]:
    """Return the body as Markdown, and the attachments' names."""
    found = _Found()
    body = _read_part(message, found)
    return "\n\n".join(dict.fromkeys(filter(None, (body, *found.invited)))), found.attachments


@dataclass(slots=True)
class _Found:
    """Attachments and invitations found in a mail, and the number of parts read."""

    attachments: list[str] = field(default_factory=list)
    invited: list[str] = field(default_factory=list)
    parts: int = 0


def _read_part(part: Any, found: _Found) -> str:
    """Return the text of a part; of alternatives prefer HTML unless it has much less text."""
    found.parts += 1
    kind = part.get_content_type()
    if found.parts > MAX_PARTS or not isinstance(part, EmailMessage):
        return ""
    if part.is_multipart():
        said = [(inner.get_content_type(), _read_part(inner, found)) for inner in part.iter_parts()]
        plain = [text for inner, text in said if text and inner == "text/plain"]
        rich = "\n\n".join(text for inner, text in said if text and inner != "text/plain")
        if kind == "multipart/alternative":
            return rich if len(rich) > sum(map(len, plain)) * 0.6 else "\n\n".join(plain) or rich
        return "\n\n".join(
            text for inner, text in said if text and not (inner == "text/plain" and _is_said_by(rich, text))
        )
    file_name = part.get_filename()
    if kind == "text/calendar" or (file_name or "").lower().endswith(".ics"):
        payload = part.get_payload(decode=True)
        found.invited.append(invitation(payload) if isinstance(payload, bytes) else "")
    elif file_name or part.get_content_disposition() == "attachment":
        found.attachments.append(re.sub(r"\s+", " ", file_name or kind))
    elif kind in ("text/plain", "text/html"):
        return (_text(part) if kind == "text/plain" else html_to_text(_text(part))).strip()
    return ""


def _is_said_by(rich: str, text: str) -> bool:
    """Return whether the HTML contains nearly all words of a text, which then is a duplicate."""
    words = set(re.findall(r"\w+", text))
    return len(words - set(re.findall(r"\w+", rich))) <= len(words) * 0.1


def _text(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    return decode(payload, part.get_content_charset()) if payload.strip() else ""


_HEADER = re.compile(
    r"^(From|To|Subject|Date|Received|Return-Path|Message-ID|MIME-Version|Delivered-To|Cc):", re.IGNORECASE
)


def _is_mail(known: str | None, head: str) -> bool:
    """Return whether the text begins with mail headers."""
    if known not in (None, "text/plain", "message/rfc822"):
        return False
    lines = head.lstrip("\n").split("\n\n", 1)[0].split("\n")
    headers = {match[1].lower() for line in lines[:80] if (match := _HEADER.match(line))}
    starts = bool(re.match(r"[A-Za-z][\w-]*:|From ", lines[0]))
    sure = {"message-id", "mime-version", "received", "return-path"} & headers
    return starts and len(headers) >= 2 and (bool(sure) or {"from", "to", "subject"} <= headers)


MAX_MAILS = 20_000
_SEPARATOR = r"From [^\r\n]{0,200}\d\d:\d\d[^\r\n]{0,40}"
_BETWEEN = re.compile(rf"(?:\A|\r?\n\r?\n){_SEPARATOR}\r?\n".encode())
_ESCAPED = re.compile(rb"(?m)^>(>*From )")


def read_mailbox(name: str, data: bytes) -> ParsedDocument:
    """Return the mails in order; the notes count unreadable ones."""
    blocks: list[Block] = []
    attachments = damaged = 0
    for source in _mails(data):
        try:
            subject, shown, body, attached = parts_of(source)
            mail = letter(name, subject, shown, body, attached, media_type="message/rfc822")
        except DocumentRejected:
            damaged += 1
            continue
        attachments += len(attached)
        place = ", ".join(filter(None, (subject, (mail.modified or "")[:10])))
        text = mail.blocks[0].text if subject else f"# Mail without a subject\n\n{mail.blocks[0].text}"
        blocks.append(Block(f"#{text}", label=place or "mail"))
    if not blocks:
        raise DocumentRejected("None of the mails in this mailbox could be read.")
    notes = [f"attachments not read: {attachments}"] if attachments else []
    notes += [f"mails that could not be read: {damaged}"] if damaged else []
    notes += [f"only the first {MAX_MAILS:,} mails were read"] if len(blocks) + damaged >= MAX_MAILS else []
    return ParsedDocument(choose_title(name), tuple(blocks), "application/mbox", notes=tuple(notes))


def _mails(data: bytes) -> Iterator[bytes]:
    begins = [match.end() for match in _BETWEEN.finditer(data)][:MAX_MAILS]
    ends = [match.start() for match in _BETWEEN.finditer(data)][1 : MAX_MAILS + 1]
    for start, end in zip(begins, [*ends, len(data)], strict=False):
        yield _ESCAPED.sub(rb"\1", data[start:end])


def _is_mailbox(known: str | None, head: str) -> bool:
    """Return whether the text has several mails; a single one is read as a mail."""
    if known not in (None, "text/plain", "message/rfc822"):
        return False
    return bool(re.match(rf"{_SEPARATOR}\n[A-Za-z-]+:", head) and re.search(rf"\n\n{_SEPARATOR}\n[A-Za-z-]+:", head))


FORMATS = (
    Format(
        media_type="message/rfc822",
        read=read,
        label="mail",
        suffixes=("eml",),
        in_text=_is_mail,
        text_by_content=True,
    ),
    Format(
        media_type="application/mbox",
        read=read_mailbox,
        label="mailboxes",
        suffixes=("mbox",),
        in_text=_is_mailbox,
        rank=1,
    ),
)
