"""Mail (EML, and mail saved as text): who, when, about what, the body, invitations, the names of attachments.

Attachments themselves are not read: they are added as files where they are wanted.
"""

import codecs
import re
from email import policy
from email.errors import MessageError
from email.message import EmailMessage
from email.parser import BytesParser

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
    """One mail as Markdown: its subject as the heading, its headers, its text."""
    return letter(name, *parts_of(data), media_type="message/rfc822")


def parts_of(data: bytes) -> tuple[str, dict[str, str], str, list[str]]:
    """A mail's subject, the headers that are shown, its text and the names of its attachments.

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
    """The mail as it was sent: some programs save it in UTF-16, which the format itself does not know."""
    wide = b"\0" in data[:64] or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return decode(data).encode("utf-8", "replace") if wide else data.removeprefix(codecs.BOM_UTF8)


def letter(
    name: str, subject: str, shown: dict[str, str], body: str, attachments: list[str], *, media_type: str
) -> ParsedDocument:
    """Return a mail's parts as one document. Only the body has more than one line: a subject forges no sender."""
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
    """A header's text on one line; '' when it is missing or beyond decoding."""
    try:
        value = str(message.get(label, ""))
    except (ValueError, LookupError, TypeError, AttributeError, IndexError):
        value = next((str(raw) for key, raw in message.raw_items() if key.lower() == label.lower()), "")
    return re.sub(r"\s+", " ", clean(value)).strip()[:2_000]


def html_to_text(markup: str) -> str:
    """A mail's HTML as Markdown; layout tables, tracking pictures and styles are gone."""
    page = soup(markup)
    return to_markdown(page.body or page)


def _content(message: EmailMessage) -> tuple[str, list[str]]:
    """(the body as Markdown, the attachments' names)."""
    texts: list[str] = []
    pages: list[str] = []
    attachments: list[str] = []
    invited: list[str] = []
    for i, part in enumerate(message.walk()):
        if i > MAX_PARTS:
            break
        if part.is_multipart() or not isinstance(part, EmailMessage):
            continue
        file_name = part.get_filename()
        if part.get_content_type() == "text/calendar" or (file_name or "").lower().endswith(".ics"):
            payload = part.get_payload(decode=True)
            invited.append(invitation(payload) if isinstance(payload, bytes) else "")
        elif file_name or part.get_content_disposition() == "attachment":
            attachments.append(re.sub(r"\s+", " ", file_name or part.get_content_type()))
        elif part.get_content_type() == "text/plain":
            texts.append(_text(part))
        elif part.get_content_type() == "text/html":
            pages.append(_text(part))
    plain = "\n\n".join(text.strip() for text in texts if text.strip())
    rich = "\n\n".join(html_to_text(page) for page in pages)
    better = rich if len(rich) > len(plain) * 0.6 and rich.strip() else plain
    return "\n\n".join(dict.fromkeys(filter(None, (better or plain, *invited)))), attachments


def _text(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    return decode(payload, part.get_content_charset()) if payload.strip() else ""


_HEADER = re.compile(
    r"^(From|To|Subject|Date|Received|Return-Path|Message-ID|MIME-Version|Delivered-To|Cc):", re.IGNORECASE
)


def _is_mail(known: str | None, head: str) -> bool:
    """Whether the text begins with the headers of a mail."""
    if known not in (None, "text/plain", "message/rfc822"):
        return False
    lines = head.lstrip("\n").split("\n\n", 1)[0].split("\n")
    headers = {match[1].lower() for line in lines[:80] if (match := _HEADER.match(line))}
    starts = bool(re.match(r"[A-Za-z][\w-]*:|From ", lines[0]))
    sure = {"message-id", "mime-version", "received", "return-path"} & headers
    return starts and len(headers) >= 2 and (bool(sure) or {"from", "to", "subject"} <= headers)


FORMATS = (
    Format(
        media_type="message/rfc822",
        read=read,
        label="mail",
        suffixes=("eml",),
        in_text=_is_mail,
        text_by_content=True,
    ),
)
