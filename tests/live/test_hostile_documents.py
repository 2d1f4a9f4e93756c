"""Hostile documents of every kind: nothing that a model copies from them is active at /v1 or over MCP."""

import asyncio
import csv
import io
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from email.message import EmailMessage
from html import escape

import pytest

from tests.e2e.test_programs_process import Installation, post, ready, running
from tests.e2e.test_slack_process import ROOT, end_server, environment, free_port
from tests.fakes.model.endpoint import RecordedRequest, Says, ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel, blocks_in
from tests.hostile_markdown import EVIL, NAMED, hostile_answers, hostile_markdown
from tests.markdown_reader import active_in

DOCUMENTS = int(os.environ.get("HOSTILE_DOCUMENTS", "40"))  # 340 take ten minutes
KINDS = ("md", "txt", "html", "csv", "eml")
TOGETHER = 4  # questions asked at a time

pytestmark = [pytest.mark.live, pytest.mark.timeout(60 + 5 * DOCUMENTS)]


class CopyingModel(ObedientModel):
    """A model that copies what it was shown, word for word; ``live`` are its answers that would lead somewhere."""

    live = 0

    def _compose(self, request: RecordedRequest) -> Says:
        shown = [block for block in blocks_in(request.user) if block.kind == "document"]
        copied = "\n\n".join(f"{block.text}\n\nThis is what it says [{block.number}]." for block in shown)
        self.live += bool(active_in(copied))
        return Says(copied)


def word_of(number: int) -> str:
    """A word that only one document has."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}") + "quorx"


def hostile_document(number: int, text: str) -> tuple[str, bytes]:
    """A file's name and content: the text as this kind of file holds it."""
    kind, word = KINDS[number % len(KINDS)], word_of(number)
    opening = f"The code of {word} is blue."
    match kind:
        case "html":
            data = f"<html><title>{word}</title><body><p>{opening}</p><p>{escape(text)}</p>{text}</body></html>"
        case "csv":
            table = io.StringIO()
            csv.writer(table).writerows([["name", "what"], [word, f"{opening} {text}"]])
            data = table.getvalue()
        case "eml":
            mail = EmailMessage()
            mail["Subject"], mail["From"] = f"{word} <!channel> [x]({NAMED} 't')", "evil@evil.example"
            mail.set_content(f"{opening}\n\n{text}\n".encode(errors="replace").decode())
            data = mail.as_string()
        case _:
            data = f"# {word} [x]({NAMED} 't')\n\n{opening}\n\n{text}\n"
    name = f"{word} [x](www.evil.example) @everyone.{kind}" if number % 7 == 0 else f"{word}.{kind}"
    return name, data.encode(errors="replace")


def hostile_texts(count: int) -> Iterator[str]:
    """Every known form, then random Markdown."""
    known, chance = hostile_answers(), random.Random(11)
    yield from known[:count]
    for _ in range(count - len(known)):
        yield hostile_markdown(chance, (EVIL, NAMED))


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "files").mkdir()
    for number, text in enumerate(hostile_texts(DOCUMENTS)):
        name, data = hostile_document(number, text)
        (folder / "files" / name).write_bytes(data)
    empty = Installation(folder / "home", "", "", "", "")
    command = [sys.executable, "-m", "bot", "ingest", str(folder / "files")]
    subprocess.run(command, env=environment(empty.home), cwd=ROOT, check=False)  # some may be refused
    yield Installation(folder / "home", empty.run("token", "create", "--rate", "6000").strip(), "", "", "")
    asyncio.run(end_server(folder / "home"))


@asynccontextmanager
async def copying_model() -> AsyncIterator[dict[str, str]]:
    """The settings of a model that copies."""
    async with ScriptedEndpoint() as endpoint:
        model = CopyingModel()
        endpoint.answers_with(model)
        yield {"LLM_BASE_URL": endpoint.base_url, "LLM_MODEL": "copying", "LLM_API_KEY": "none"}
        assert model.live >= 0.5 * DOCUMENTS  # else this would show nothing


def questions() -> Iterator[tuple[str, str]]:
    for number in range(DOCUMENTS):
        yield word_of(number), f"What is the code of {word_of(number)}?"


async def test_nothing_is_live_in_answers_of_v1(installation: Installation) -> None:
    live, answered = {}, 0
    places = asyncio.Semaphore(TOGETHER)
    async with copying_model() as model, running(installation, "web", "--port", str(free_port()), **model) as (_, at):
        await ready(at)

        async def ask(word: str, question: str) -> None:
            nonlocal answered
            async with places:
                status, told = await post(at, "/v1/ask", installation.handbook, question=question)
            assert status == 200
            answered += word in told["answer"]
            if found := active_in(told["answer"]):
                live[word] = found

        async with asyncio.TaskGroup() as asking:
            for word, question in questions():
                asking.create_task(ask(word, question))
    assert live == {}
    assert answered >= 0.9 * DOCUMENTS  # the others' payload left nothing to read


async def test_nothing_is_live_in_answers_over_mcp(installation: Installation) -> None:
    pytest.importorskip("mcp", reason="the mcp package is not installed")
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    live, answered = {}, 0
    headers = {"Authorization": f"Bearer {installation.handbook}"}
    async with (
        copying_model() as model,
        running(installation, "mcp", "--http", "--port", "0", **model) as (_, at),
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(at, http_client=http)) as client,
    ):
        for word, question in questions():
            told = (await client.call_tool("ask", {"question": question})).structured_content
            assert told is not None
            answered += word in told["answer"]
            if found := active_in(told["answer"]):
                live[word] = found
    assert live == {}
    assert answered >= 0.9 * DOCUMENTS
