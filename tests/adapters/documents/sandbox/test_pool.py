"""Hostile files: the caller gets one reason, and the next file is still read."""

import asyncio
import json
import os
import signal
import sys
import zipfile
from collections.abc import AsyncIterator, Callable
from io import BytesIO
from pathlib import Path

import pytest

from adapters.documents.sandbox.pool import MB, Sandbox, SandboxLimits, environment
from core.model.errors import DocumentRejected
from tests.adapters.documents import hostile

pytestmark = pytest.mark.e2e


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(workers=2, limits=SandboxLimits(seconds=20)) as running:
        yield running


async def reads_on(sandbox: Sandbox) -> bool:
    return (await sandbox.read("next.md", b"# Next\n\nStill here.")).title == "Next"


def encrypted_pdf() -> bytes:
    from fpdf import FPDF

    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("helvetica", size=12)
    pdf.cell(text="secret")
    pdf.set_encryption(owner_password="o", user_password="u")
    return bytes(pdf.output())


def encrypted_zip() -> bytes:
    data = bytearray(hostile.packed({"a.txt": "words"}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    return bytes(data)


def lying_zip() -> bytes:
    """States a size of ten bytes for a member that unpacks to twenty megabytes."""
    data = bytearray(hostile.packed({"a.txt": b"x" * 20 * MB}))
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    return bytes(data)


def overlapping_zip() -> bytes:
    """Three thousand names for one member: each unpacks the same ten megabytes."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("a.txt", b"words " * (4 * MB // 6))
        first = package.infolist()[0]
        for i in range(3_000):
            twin = zipfile.ZipInfo(f"a{i}.txt")
            twin.compress_type = first.compress_type
            for field in ("CRC", "compress_size", "file_size", "header_offset", "flag_bits"):
                setattr(twin, field, getattr(first, field))
            package.filelist.append(twin)
            package.NameToInfo[twin.filename] = twin
    return out.getvalue()


LAUGHED = "<w:p><w:r><w:t>&l9;</w:t></w:r></w:p>"
HOSTILE: list[tuple[str, Callable[[], bytes], str]] = [
    ("bomb.zip", lambda: hostile.packed({"a.txt": bytes(60 * MB)}), "zip bomb"),
    ("bomb.docx", lambda: hostile.word("<w:p/>" * 3_000_000), "zip bomb|memory|no text"),
    ("lying.zip", lying_zip, "damaged|could be read"),
    ("overlap.zip", overlapping_zip, "zip bomb|more than"),
    ("nested.zip", lambda: hostile.packed({"in.zip": hostile.packed({"a.txt": "x"})}), "archive inside"),
    ("disguised.zip", lambda: hostile.packed({"in.txt": hostile.packed({"a.txt": "x"})}), "archive inside"),
    ("slip.zip", lambda: hostile.packed({"../../etc/cron.d/x": "x", "a.txt": "y"}), "points outside it"),
    ("link.zip", lambda: hostile.packed({"a.txt": "y"}, symlink="passwd.txt"), "symbolic link"),
    ("many.zip", lambda: hostile.packed({f"{i}.txt": "x" for i in range(1_500)}), "more than"),
    ("locked.zip", encrypted_zip, "password"),
    ("laughs.docx", lambda: hostile.word(LAUGHED, declaration=hostile.LAUGHS), "declares XML entities"),
    ("laughs.odt", lambda: hostile.odt("&l9;", declaration=hostile.LAUGHS), "declares XML entities"),
    ("deep.docx", lambda: hostile.word("<w:sdt>" * 240 + "<w:p/>" + "</w:sdt>" * 240), "nested too deeply"),
    ("deep.json", lambda: b"[" * 100_000 + b"]" * 100_000, "nested too deeply|damaged"),
    ("deep.rtf", lambda: b"{\\rtf1 " + b"{" * 9_000 + b"x" + b"}" * 9_001, "nested too deeply"),
    ("locked.pdf", encrypted_pdf, "password"),
    ("line.csv", lambda: b'a,"' + b"x" * 5 * MB, "over 1,000,000 characters"),
]


@pytest.mark.parametrize(("name", "make", "reason"), HOSTILE, ids=[name for name, _, _ in HOSTILE])
async def test_a_hostile_file_gets_a_reason_and_the_next_one_is_read(
    sandbox: Sandbox, name: str, make: Callable[[], bytes], reason: str
) -> None:
    with pytest.raises(DocumentRejected, match=reason):
        await sandbox.read(name, await asyncio.to_thread(make))
    assert await reads_on(sandbox)


async def test_an_entity_that_names_a_file_of_ours_brings_nothing_of_it(sandbox: Sandbox) -> None:
    declared = b'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    outside = declared + b"<html><body>&x; text</body></html>"
    parsed = await sandbox.read("a.html", outside)
    assert "root:" not in parsed.blocks[0].text


BUSY = b"**x** _y_ `z`\n\n" * 1_000_000
"""Keeps the parser busy for many seconds, given the memory for it."""


async def test_a_file_that_eats_memory_is_stopped() -> None:
    async with Sandbox(workers=1, limits=SandboxLimits(memory=200 * MB)) as sandbox:
        with pytest.raises(DocumentRejected, match=r"memory|crash"):
            await sandbox.read("large.md", BUSY)
        assert await reads_on(sandbox)


async def test_memory_is_watched_where_the_system_does_not_limit_it() -> None:
    limits = SandboxLimits(memory=120 * MB)
    async with Sandbox(workers=1, limits=limits, watch_memory=True, enforce_memory=False) as sandbox:
        with pytest.raises(DocumentRejected, match="more than 120 MB of memory"):
            await sandbox.read("large.md", BUSY)
        assert await reads_on(sandbox)


async def test_a_pdf_that_unpacks_to_a_thousand_times_its_size_is_stopped(sandbox: Sandbox) -> None:
    bomb = await asyncio.to_thread(hostile.pdf_bomb, 40)
    assert len(bomb) < 200_000
    with pytest.raises(DocumentRejected, match="needs more than 512 MB"):
        await sandbox.read("bomb.pdf", bomb)
    assert await reads_on(sandbox)


async def test_a_file_that_keeps_the_parser_busy_is_stopped_in_time() -> None:
    async with Sandbox(workers=1, limits=SandboxLimits(seconds=1, memory=8_000 * MB)) as sandbox:
        with pytest.raises(DocumentRejected, match="longer than 1 seconds"):
            await sandbox.read("busy.md", BUSY)
        assert await reads_on(sandbox)


async def test_processor_time_is_limited_too() -> None:
    async with Sandbox(workers=1, limits=SandboxLimits(cpu_seconds=1, memory=8_000 * MB)) as sandbox:
        with pytest.raises(DocumentRejected, match="1 seconds of processor time"):
            await sandbox.read("busy.md", BUSY)


async def test_a_file_too_large_is_refused_unread() -> None:
    async with Sandbox(limits=SandboxLimits(input_bytes=1_000)) as sandbox:
        with pytest.raises(DocumentRejected, match="larger than"):
            await sandbox.read("large.txt", b"word " * 1_000)


async def test_more_text_than_is_indexed_from_one_file_is_refused() -> None:
    async with Sandbox(limits=SandboxLimits(output_bytes=10_000)) as sandbox:
        with pytest.raises(DocumentRejected, match="too much for one file"):
            await sandbox.read("a.txt", b"word " * 10_000)
        assert await reads_on(sandbox)


async def test_a_cancelled_reading_ends_its_worker_and_frees_its_turn() -> None:
    async with Sandbox(workers=1, limits=SandboxLimits(memory=8_000 * MB)) as sandbox:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.6):
                await sandbox.read("busy.md", BUSY)
        assert await reads_on(sandbox)


async def test_a_worker_is_used_again_and_replaced_after_its_share(sandbox: Sandbox) -> None:
    async with Sandbox(workers=1, limits=SandboxLimits(documents=2)) as small:
        pids = []
        for _ in range(3):
            await small.read("a.md", b"words")
            pids.append(small._idle[-1].pid if small._idle else None)
    assert pids[0] is not None
    assert pids[1] is None
    assert pids[2] not in (None, pids[0])


async def test_closing_leaves_no_process_behind() -> None:
    async with Sandbox(workers=1) as sandbox:
        await sandbox.read("a.md", b"words")
        pid = sandbox._idle[0].pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


KILLED = """
import asyncio, os, signal
from adapters.documents.sandbox.pool import Sandbox

async def main():
    sandbox = Sandbox(workers=1)
    await sandbox.read("a.md", b"words")
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_a_program_that_is_killed_leaves_no_folder_of_its_parsers_behind(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    assert await process.wait() == -signal.SIGKILL
    async with asyncio.timeout(30):
        while list(tmp_path.iterdir()):
            await asyncio.sleep(0.01)


INSIDE = """
import json, os, socket, subprocess, sys
from pathlib import Path
from adapters.documents.sandbox import child
child.leave_network()
child.forbid()
def tried(action):
    try:
        action()
    except PermissionError:
        return "refused"
    return "done"
print(json.dumps({
    "socket": tried(lambda: socket.create_connection(("127.0.0.1", 9), timeout=1)),
    "name": tried(lambda: socket.getaddrinfo("localhost", 80)),
    "process": tried(lambda: subprocess.run(["true"])),
    "write": tried(lambda: Path("/tmp/footnote-should-not-exist").write_text("x")),
    "beside": tried(lambda: Path(os.getcwd() + "-beside").write_text("x")),
    "remove": tried(lambda: os.rmdir(os.getcwd() + "/..")),
    "environment": sorted(name for name in os.environ if "TOKEN" in name or "KEY" in name),
}))
"""


async def test_inside_there_is_no_network_no_process_no_writing_and_no_secret(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-secret")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", INSIDE, cwd=tmp_path, env=environment(str(tmp_path)), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert json.loads(output) == {
        "socket": "refused", "name": "refused", "process": "refused", "write": "refused", "beside": "refused",
        "remove": "refused", "environment": [],
    }  # fmt: skip


async def test_nothing_blocks_the_event_loop_meanwhile(sandbox: Sandbox) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await sandbox.read("a.csv", b"name,value\n" + b"row,1\n" * 50_000)
    ticking.cancel()
    assert ticks > 3
