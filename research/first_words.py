"""How long the page takes from the model's first streamed piece to the first words of the draft.

python -m research.first_words [--questions 20] [--words 25]

The page is ``footnote web`` in a process of its own over the sample documents; a scripted model, whose checks are
believed, writes over HTTP. Both ends are timed here: when the model sends its first piece, and when the page's event
stream has the first words.
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import json
import math
import os
import re
import signal
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import aiohttp

from adapters.reasoners.openai import prompts
from adapters.reasoners.openai.structured_output import MISSING
from adapters.redis.embedded_server import EmbeddedValkey
from bot.demo import SAMPLES
from tests.fakes.model.endpoint import RecordedRequest, Says, ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel

STARTING = 180.0  # seconds, while the packaged model loads
ANSWERING = 60.0  # seconds
AIM = 0.3  # seconds, at the 95th percentile
_LINK = re.compile(r"(http://[^/\s]+)/sign-in/\S+")
_CSRF = re.compile(r'name="csrf" value="([^"]+)"')
_TAG = re.compile(r"<[^>]+>")


@dataclass
class TimedModel:
    """The obedient model, writing so many words a second. ``began`` is when its newest draft did, 0 without one."""

    words_per_second: float
    began: float = 0.0
    model: ObedientModel = field(default_factory=ObedientModel)

    def __call__(self, request: RecordedRequest) -> Says:
        """Reply to a request."""
        reply = self.model(request)
        if not request.task.startswith(prompts.COMPOSE):
            return reply
        self.began = 0.0 if reply.text.startswith(MISSING) else time.monotonic()
        return replace(reply, every_seconds=1 / self.words_per_second)


def main() -> None:
    """Measure and print the delays."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--questions", type=int, default=20)
    options.add_argument("--words", type=float, default=25.0, help="that the model writes in a second")
    given = options.parse_args()
    delays = sorted(asyncio.run(_measure(given.questions, given.words)))
    p95 = delays[math.ceil(0.95 * len(delays)) - 1]
    print(f"{len(delays)} drafts at {given.words:g} words a second, seconds from the model's first piece to the page:")
    print(f"p50 {delays[len(delays) // 2]:.3f}, p95 {p95:.3f}, most {delays[-1]:.3f}; aim: p95 within {AIM:g}")


async def _measure(questions: int, words_per_second: float) -> list[float]:
    model = TimedModel(words_per_second)
    asked = iter(_sample_questions())
    with tempfile.TemporaryDirectory(prefix="footnote-words-") as folder:
        cookies = aiohttp.CookieJar(unsafe=True)  # the page's address is a number
        async with ScriptedEndpoint() as endpoint, aiohttp.ClientSession(cookie_jar=cookies) as browser:
            endpoint.answers_with(model)
            model_settings = {"LLM_BASE_URL": endpoint.base_url, "LLM_MODEL": "scripted", "LLM_API_KEY": "none"}
            async with _page(Path(folder), model_settings) as link:
                async with browser.get(link) as page:
                    csrf = _CSRF.findall(await page.text())[0]
                address = _LINK.findall(link)[0]
                await _first_words(browser, address, csrf, next(asked), model)  # finds out whether it is believed
                delays: list[float] = []
                while len(delays) < questions and (question := next(asked, "")):
                    delay = await _first_words(browser, address, csrf, question, model)
                    delays += [] if delay is None else [delay]
    return delays


def _sample_questions() -> list[str]:
    lines = (SAMPLES / "eval" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [json.loads(line) for line in lines]
    return [
        one["text"]
        for one in queries
        if one["metadata"]["expect"] == "answered" and not one["metadata"]["thread"]
    ]  # fmt: skip


async def _first_words(
    browser: aiohttp.ClientSession, address: str, csrf: str, question: str, model: TimedModel
) -> float | None:
    """Ask on the page; the seconds until the first words of the draft, None where no draft was shown."""
    fields = {"question": question, "csrf": csrf}
    async with browser.post(f"{address}/ask", data=fields, headers={"Origin": address}, allow_redirects=False) as reply:
        conversation, _, mark = reply.headers["Location"].partition("#q-")
    delay: float | None = None
    async with asyncio.timeout(ANSWERING), browser.get(f"{address}{conversation}/{mark}/stream") as stream:
        event = ""
        async for raw in stream.content:
            name, _, data = raw.decode().rstrip("\n").partition(": ")
            if name == "event":
                event = data
            elif event == "text" and delay is None and model.began and _TAG.sub("", data).strip():
                delay = time.monotonic() - model.began
            elif event == "done":
                return delay
    return delay


@asynccontextmanager
async def _page(home: Path, model_settings: dict[str, str]) -> AsyncIterator[str]:
    """Yield the page over the sample documents, in a process of its own; the link that signs in."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "PYTHONPATH"}}
    env = kept | {"FOOTNOTE_HOME": str(home / "home"), "PYTHONUNBUFFERED": "1"} | model_settings
    command = (sys.executable, "-m", "bot")
    filling = await asyncio.create_subprocess_exec(
        *command, "ingest", str(SAMPLES / "documents"), env=env, stdout=DEVNULL
    )
    if await filling.wait():
        raise SystemExit("The sample documents could not be ingested.")
    process = await asyncio.create_subprocess_exec(*command, "web", "--port", "0", env=env, stdout=PIPE, stderr=DEVNULL)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(STARTING):
            while not (found := _LINK.search((await process.stdout.readline()).decode())):
                if process.stdout.at_eof():
                    raise SystemExit("footnote web ended before it had started.")
            await _until_ready(found[1])
        yield found[0]
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        await process.wait()
        async with EmbeddedValkey(home / "home" / "valkey"):
            pass  # opened once more, so that it ends


async def _until_ready(address: str) -> None:
    async with aiohttp.ClientSession() as web:
        while True:
            async with web.get(f"{address}/readyz") as response:
                if response.status == 200:
                    return
            await asyncio.sleep(0.2)


if __name__ == "__main__":
    main()
