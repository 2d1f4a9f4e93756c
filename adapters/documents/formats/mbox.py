"""Mailboxes (mbox): one mail after the other, each under its subject."""

import re
from collections.abc import Iterator

from adapters.documents.format import Format
from adapters.documents.formats.eml import letter, parts_of
from adapters.documents.titles import choose_title
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected

MAX_MAILS = 20_000
_SEPARATOR = r"From [^\r\n]{0,200}\d\d:\d\d[^\r\n]{0,40}"
_BETWEEN = re.compile(rf"(?:\A|\r?\n\r?\n){_SEPARATOR}\r?\n".encode())
_ESCAPED = re.compile(rb"(?m)^>(>*From )")


def read(name: str, data: bytes) -> ParsedDocument:
    """The mails in their order; those that cannot be read are counted in the notes."""
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
    """Whether mails follow each other; a single one is read as a mail."""
    if known not in (None, "text/plain", "message/rfc822"):
        return False
    return bool(re.match(rf"{_SEPARATOR}\n[A-Za-z-]+:", head) and re.search(rf"\n\n{_SEPARATOR}\n[A-Za-z-]+:", head))


FORMATS = (
    Format(
        media_type="application/mbox", read=read, label="mailboxes", suffixes=("mbox",), in_text=_is_mailbox, rank=1
    ),
)
