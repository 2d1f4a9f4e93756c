"""Outlook messages whose structure is valid and whose content is hostile: read as text or refused with a reason."""

import struct
from collections.abc import AsyncIterator, Mapping

import pytest

from adapters.documents.sandbox.pool import Sandbox, SandboxLimits
from core.model.errors import DocumentRejected
from tests.adapters.documents.formats.test_formats import compound

pytestmark = pytest.mark.e2e
SUBJECT, SENDER, BODY, HTML, RTF = "0037001F", "0C1A001F", "1000001F", "10130102", "10090102"
NAME = "__attach_version1.0_#{:08X}/__substg1.0_3707001F"
STRAY = "\x00\x1b[2J\x07\u202e"


def message(streams: Mapping[str, str | bytes] | None = None, properties: bytes = b"") -> bytes:
    """A message with these properties, by their tags."""
    texts = {SUBJECT: "Lift", BODY: "The lift is inspected every spring.", **(streams or {})}
    return compound(
        {"__properties_version1.0": bytes(32) + properties}
        | {
            tag if tag.startswith("__") else f"__substg1.0_{tag}": value
            if isinstance(value, bytes)
            else value.encode("utf-16-le", "surrogatepass")
            for tag, value in texts.items()
        }
    )


def number(tag: int, value: int, kind: int = 3) -> bytes:
    return struct.pack("<HHIQ", kind, tag, 6, value)


def packed(data: bytes, *, says: int | None = None, kind: int = 0x75465A4C) -> bytes:
    """RTF in its compression: its whole size, the size that it says it unpacks to, the kind, and a checksum."""
    return struct.pack("<IIII", len(data) + 12, len(data) if says is None else says, kind, 0) + data


RUNS = b"\xff" + b"\x00\x0f" * 8  # each control byte: eight runs of 17 bytes
CASES: dict[str, bytes] = {
    "a code page that is none": message({SUBJECT: ""}, number(0x3FFD, 2**32 - 1)),
    "a code page that is no text": message({HTML: b"<p>x+AD4-</p>"}, number(0x3FDE, 65000)),
    "sent in the year 60000": message(properties=number(0x0039, 2**63 - 1, 0x40)),
    "sent before 1601": message(properties=number(0x0039, 2**64 - 1, 0x40)),
    "properties cut short": message(properties=b"\x40\x00\x39"),
    "a subject of controls": message({SUBJECT: f"# Lift{STRAY}\r\nBcc: x@evil.example\r\n\r\n# Title"}),
    "half a pair of surrogates": message({SUBJECT: "Lift \ud800", BODY: "\udfff lift"}),
    "an odd number of bytes": message({SENDER: b"A\x00d"}),
    "RTF that says it is huge": message({BODY: "", RTF: packed(RUNS * 50, says=2**32 - 1)}),
    "RTF that unpacks 17 times": message({BODY: "", RTF: packed(RUNS * 60_000, says=60 * 2**20)}),
    "RTF of another kind": message({BODY: "", RTF: packed(b"x", kind=1)}),
    "RTF that ends in a run": message({BODY: "", RTF: packed(b"\xff\x00", says=99)}),
    "RTF nested deeply": message({BODY: "", RTF: packed(b"{\\rtf1 " + b"{" * 9_000 + b"x", kind=0x414C454D)}),
    "RTF with an object": message({BODY: "", RTF: packed(b"{\\rtf1{\\object\\objdata 4d5a}lift}", kind=0x414C454D)}),
    "HTML of scripts": message(
        {HTML: b"<script>alert(1)</script><p onclick=x><a href='javascript:x'>lift</a><img src=file:///etc/passwd>"}
    ),
    "HTML of 300,000 tags": message({HTML: b"<b><i>" * 150_000 + b"lift"}),
    "HTML in an encoding that is none": message({HTML: b"<meta charset=hex><p>6c696674</p>"}),
    "HTML with entities that grow": message(
        {HTML: b"<!DOCTYPE html [<!ENTITY a 'lol'><!ENTITY b '&a;&a;'>]><p>&b; lift</p>"}
    ),
    "a body of 2 MB in one word": message({BODY: "x" * 2**20}),
    "attachments that lead out": message(
        {NAME.format(0): "../../etc/passwd", NAME.format(1): f"a{STRAY}.exe", NAME.format(2): "x" * 900}
    ),
}


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(workers=1, limits=SandboxLimits(seconds=20)) as running:
        yield running


@pytest.mark.parametrize("data", CASES.values(), ids=CASES)
async def test_a_hostile_message_is_read_as_text_or_refused_with_a_reason(sandbox: Sandbox, data: bytes) -> None:
    refused = text = ""
    try:
        parsed = await sandbox.read("a.msg", data)
        text = "\n".join((parsed.title, *(block.text for block in parsed.blocks)))
    except DocumentRejected as error:
        refused = str(error)
    assert text or refused.endswith(".")
    assert not any(word in refused for word in ("Traceback", "give up", "crash", "seconds"))
    assert not any(sign in text for sign in ("\x00", "\x1b", "\x07", "\u202e"))
    assert not any(word in text for word in ("\nBcc:", "alert(1)", "javascript:", "file:///", "root:", "objdata"))
    text.encode()
    assert (await sandbox.read("next.md", b"# Next")).title == "Next"
