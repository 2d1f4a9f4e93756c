"""A scripted model endpoint in a process of its own, so that its work on the processor is not counted as ours.

    python -m research.benchmark.endpoint --seconds 1 --log calls.tsv

prints its address, answers every call after that time until its standard input ends, and writes down when each call
came and was answered. What the calls cost the one who asks is measured by ``load``.
"""

import argparse
import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from adapters.reasoners.openai import prompts
from adapters.reasoners.openai.structured_output import MISSING
from core.model.errors import ModelUnavailable
from tests.fakes.model.endpoint import Fails, RecordedRequest, Says, ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel

START_SECONDS = 30.0
STOP_SECONDS = 10.0
NEVER = 1_000_000_000

NOT_VERBATIM = "That is to say, "  # stop words: not the documents' words in their order, and nothing that they lack
_CASE = re.compile(r"\bCase (\d+): ?")
_FENCE = re.compile(r"</[a-z]+-([0-9a-f]{8})>")

Span = tuple[float, float]


def numbered_question(case: int, question: str) -> str:
    """Return a question that no cache has seen, and whose calls can be told from those of all others."""
    return f"Case {case}: {question}"


def case_of(text: str) -> int:
    """Return the case that a text belongs to; 0 when it names none."""
    found = _CASE.search(text)
    return int(found.group(1)) if found else 0


class Cases:
    """Whose call one is: by the number in its question, else by the token that marks the material of one inquiry."""

    def __init__(self) -> None:
        self._by_token: dict[str, int] = {}  # one a question: a run's length bounds it

    def __call__(self, request: RecordedRequest) -> int:
        """Return the case that a call belongs to; 0 when it is not known."""
        token = _FENCE.search(request.user)
        if case := case_of(request.text):
            if token:
                self._by_token[token.group(1)] = case
            return case
        return self._by_token.get(token.group(1), 0) if token else 0


class CaseModel:
    """A cooperative model that keeps the case's number in its searches, and quotes nothing word for word.

    So every search is encoded anew, and every sentence costs the call that checks it, and holds. It writes from
    whatever was found: the number may move a passage out of reach, and what is measured are calls, not answers.
    """

    def __init__(self) -> None:
        self._model = ObedientModel()

    def __call__(self, request: RecordedRequest) -> Says:
        """Return the reply to one request."""
        case = case_of(request.text)
        reply = self._model(_as_obeyed(request))
        if request.task.startswith(prompts.UNDERSTAND):
            return replace(reply, text=_with_case_question(reply.text, case))
        if request.task.startswith(prompts.COMPOSE) and "[" in reply.text:
            lines = [f"{NOT_VERBATIM}{line}" for line in reply.text.splitlines() if line.strip()]
            return replace(reply, text="\n".join(lines))
        return reply


def _as_obeyed(request: RecordedRequest) -> RecordedRequest:
    """Return the request without its case's number, and without leave to name what is missing in an answer's place."""
    said = [
        {**message, "content": _CASE.sub("", message["content"]).replace(MISSING, "-")}
        if isinstance(message.get("content"), str)
        else message
        for message in request.messages
    ]
    return RecordedRequest({**request.body, "messages": said}, request.headers)


def _with_case_question(text: str, case: int) -> str:
    plan = json.loads(text)
    if plan["action"] != "search":
        return text
    plan["question"] = numbered_question(case, plan["question"])
    plan["queries"] = [numbered_question(case, query) for query in plan["queries"]]
    return json.dumps(plan)


@dataclass(frozen=True, slots=True)
class RunningEndpoint:
    """Where the process listens and what it has written down so far."""

    base_url: str
    log: Path

    def calls(self) -> dict[int, list[Span]]:
        """For each case when its calls came and were answered, in seconds of the machine's monotonic clock."""
        found: dict[int, list[Span]] = {}
        for line in self.log.read_text(encoding="utf-8").splitlines():
            case, came, answered = line.split("\t")
            found.setdefault(int(case), []).append((float(came), float(answered)))
        return found


def covered_seconds(spans: Sequence[Span]) -> float:
    """Seconds that lie in at least one of the spans: calls made side by side count once."""
    total, until = 0.0, float("-inf")
    for came, answered in sorted(spans):
        total += max(0.0, answered - max(came, until))
        until = max(until, answered)
    return total


@asynccontextmanager
async def run_endpoint(log: Path, *, seconds: float, refused_from: int = NEVER) -> AsyncIterator[RunningEndpoint]:
    """Such a process, until the block ends; from the case ``refused_from`` on it refuses every call.

    Raises ModelUnavailable when it does not start.
    """
    options = ["--seconds", str(seconds), "--log", str(log), "--refused-from", str(refused_from)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, *options, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        try:
            async with asyncio.timeout(START_SECONDS):
                address = (await process.stdout.readline()).decode().strip()
        except TimeoutError:
            address = ""
        if not address:
            raise ModelUnavailable("The scripted endpoint did not start.", remedy="Run the benchmark again.")
        yield RunningEndpoint(address, log)
    finally:
        process.stdin.close()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _serve(seconds: float, log: Path, refused_from: int) -> None:
    model, cases = CaseModel(), Cases()

    def answer(request: RecordedRequest) -> Says | Fails:
        return Fails(401) if cases(request) >= refused_from else model(request)

    with log.open("a", encoding="utf-8", buffering=1) as lines:

        def record_times(request: RecordedRequest, came: float, answered: float) -> None:
            lines.write(f"{cases(request)}\t{came:.6f}\t{answered:.6f}\n")

        async with ScriptedEndpoint(latency=seconds, timed=record_times) as endpoint:
            endpoint.answers_with(answer)
            sys.stdout.write(f"{endpoint.base_url}\n")
            sys.stdout.flush()
            await asyncio.to_thread(sys.stdin.read)  # ends with whoever started it


def main() -> None:
    """Serve until standard input ends."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=1.0)
    options.add_argument("--log", type=Path, required=True)
    options.add_argument("--refused-from", type=int, default=NEVER)
    given = options.parse_args()
    asyncio.run(_serve(given.seconds, given.log, given.refused_from))


if __name__ == "__main__":
    main()
