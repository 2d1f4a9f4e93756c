"""Plays labelled lines of chat threads through the real routing and counts replies that nobody wanted, and misses.

    python -m research.routing [--part open|judge] [--show]

Each line is parsed by the platforms' own code and routed by the service, its thread's state kept as the service keeps
it. A question that is answered only where its answer is certain is then put to the agent, without a model, over the
sample documents. ``threads.jsonl`` is open to read. ``threads_judge.jsonl`` is put aside: only its totals are printed.
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from adapters.documents.folders import files_in
from adapters.terminal.ingest_view import ingest_files
from bot.container import Footnote
from bot.demo import SAMPLES
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.model.answer import Outcome
from core.model.channel_settings import THRESHOLDS, ChannelSettings, Confidence
from core.model.conversation import Audience, Turn
from core.model.incoming_events import IncomingMessage, MessageRoute
from core.ports.memory import ThreadRecord
from core.service.message_router import MessageRouter
from core.service.message_routing import RoutingDecision, could_be_answered
from core.service.question_service import CERTAIN, OpenThread, Question
from research.routing.parsing import PARSERS, Line
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.platform import RecordedPlatform
from tests.fakes.memory.stores import InProcessState

PARTS = {"open": "threads.jsonl", "siblings": "siblings.jsonl", "judge": "threads_judge.jsonl"}
QUIET = (MessageRoute.KEEP_QUIET, MessageRoute.THANKED)


@dataclass(slots=True)
class Played:
    """One line on one platform: what was done with it, and whether that was wanted."""

    case: dict[str, Any]
    platform: str
    decision: RoutingDecision
    spoke: bool
    confidence: float = 0.0
    part: str = "open"
    unasked: bool = False

    @property
    def wanted(self) -> bool | None:
        """Whether an answer is wanted; None where people would disagree, or where the mode is for just this line."""
        asked_for = self.unasked and self.case["kind"] == "channel_without_mention"
        return None if self.case["speak"] == "either" or asked_for else bool(self.case["speak"])


@dataclass(slots=True)
class Player:
    """Plays lines over one installation with the sample documents."""

    footnote: Footnote
    settings: ChannelSettings
    _answers: dict[str, float] = field(default_factory=dict)

    async def play(self, case: dict[str, Any], platform: str) -> Played:
        """Play one line on one platform."""
        paper = RecordedPlatform(settings=self.settings)
        router = MessageRouter(InProcessMessageStateStore(InProcessState()))
        lines = [*map(Line.of, case["thread"]), Line.of(case["line"])]
        record, asking = ThreadRecord(), None
        for number, line in enumerate(lines[:-1]):
            if line.who == "bot":
                record = _with_turn(record, asking, line) if asking is not None else record
            elif (said := PARSERS[platform](case, lines, number)) is not None:
                asking = said
                if number + 1 == len(lines) - 1 or lines[number + 1].who != "bot":
                    await router.route(paper, said, OpenThread(record))
        message = PARSERS[platform](case, lines, len(lines) - 1)
        if message is None or (message.in_channel and not could_be_answered(message, self.settings)):
            return Played(case, platform, RoutingDecision(MessageRoute.KEEP_QUIET, "the platform leaves it"), False)
        decision = await router.route(paper, message, OpenThread(record))
        if decision.route is not MessageRoute.ANSWER_IF_CERTAIN:
            return Played(case, platform, decision, decision.route not in QUIET)
        confidence = await self._confidence(message, record)
        return Played(case, platform, decision, confidence >= (self.settings.auto_answer or CERTAIN), confidence)

    async def _confidence(self, message: IncomingMessage, record: ThreadRecord) -> float:
        """How certain the agent's answer is; 0 where there is none."""
        key = f"{message.text}\n{[turn.question for turn in record.turns]}"
        if key not in self._answers:
            question = Question(message.text, message.thread, message.asker, Audience(unrestricted=True))
            asked = self.footnote.question_service.answer_if_certain(question, OpenThread(record), confidence=0.0)
            found = 0.0
            async for event in asked:
                answer = getattr(event, "answer", None)
                found = answer.confidence if answer is not None and answer.outcome is Outcome.ANSWERED else found
            self._answers[key] = found
        return self._answers[key]


def _with_turn(record: ThreadRecord, asked: IncomingMessage, line: Line) -> ThreadRecord:
    turn = Turn(
        question=asked.text,
        answer=line.text,
        outcome=_outcome(line),
        asker=asked.asker,
        at=datetime(2026, 4, 1, tzinfo=UTC),
        trace_id=asked.id,
        rewritten=asked.text,
    )
    return ThreadRecord(turns=(*record.turns, turn), total=record.total + 1)


def _outcome(line: Line) -> Outcome:
    if line.answered:
        return Outcome.ANSWERED
    return Outcome.CLARIFIED if line.text.rstrip().endswith("?") else Outcome.ABSTAINED


def lines_of(part: str) -> list[dict[str, Any]]:
    """Return the labelled lines of one part."""
    return [json.loads(line) for line in Path(__file__).with_name(PARTS[part]).read_text().splitlines()]


@asynccontextmanager
async def installation() -> AsyncIterator[Footnote]:
    """Yield an installation without a model that knows the sample documents."""
    settings = Settings(_env_file=None, llm_model=None)  # type: ignore[call-arg]
    files = [(path, str(Path(source).relative_to("documents"))) for path, source in files_in([SAMPLES / "documents"])]
    async with open_temporary(settings) as footnote:
        await ingest_files(Console(quiet=True), footnote.knowledge_stack.ingest_client(), files, "samples")
        yield footnote


def _writer(played: Played) -> str:
    said = played.case
    if said["place"] == "direct":
        return "direct message"
    if "bot" in said["line"]["mentions"]:
        return "mentions the bot"
    people = {line["who"] for line in said["thread"]} - {"bot", "asker"}
    if "bot" not in {line["who"] for line in said["thread"]}:
        return "where the bot has not written"
    if said["line"]["who"] != "asker":
        return "a colleague"
    return "the asker, after a colleague" if people else "the asker alone"


def _report(title: str, played: Sequence[Played], groups: Iterable[tuple[str, Sequence[Played]]] = ()) -> None:
    print(f"\n{title:<44}{'false replies':>16}{'missed':>14}{'of these, tried':>18}")
    for name, some in [*groups, ("all", played)]:
        silent = [one for one in some if one.wanted is False]
        spoken = [one for one in some if one.wanted]
        false, missed = sum(one.spoke for one in silent), sum(not one.spoke for one in spoken)
        tried = sum(one.decision.route is MessageRoute.ANSWER_IF_CERTAIN and not one.spoke for one in spoken)
        print(f"{name:<44}{f'{false} of {len(silent)}':>16}{f'{missed} of {len(spoken)}':>14}{tried:>18}")


def _grouped(played: Sequence[Played], name: Any) -> list[tuple[str, Sequence[Played]]]:
    groups: dict[str, list[Played]] = defaultdict(list)
    for one in played:
        groups[name(one)].append(one)
    return sorted(groups.items())


def _tried(played: Sequence[Played]) -> None:
    """How certain the agent was of each line that it tried."""
    for one in sorted(played, key=lambda one: -one.confidence):
        if one.decision.route is MessageRoute.ANSWER_IF_CERTAIN:
            print(f"{one.confidence:.2f} wanted={one.wanted} {one.case['id']} {one.case['line']['text'][:90]}")


def _show(played: Sequence[Played]) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for one in played:
        if one.wanted is None or one.spoke == one.wanted or seen[one.case["id"], str(one.spoke)]:
            continue
        seen[one.case["id"], str(one.spoke)] += 1
        print(
            f"\n{'FALSE' if one.spoke else 'MISSED'} {one.case['id']} {one.case['kind']} {one.platform}"
            f" {one.decision.route}: {one.decision.reason} {one.confidence:.2f}"
        )
        for line in one.case["thread"]:
            print(f"    {line['who']}: {line['text'][:110]}")
        print(f"  > {one.case['line']['who']}: {one.case['line']['text'][:300]}")


async def main(cases: list[dict[str, Any]], part: str, *, show: bool) -> None:
    """Play one part of the set, as it is set up at first and with the unasked mode on."""
    unasked = ChannelSettings(auto_answer=THRESHOLDS[Confidence.MEDIUM])
    async with installation() as footnote:
        for title, settings in (("as it is set up", ChannelSettings()), ("with unasked questions", unasked)):
            player = Player(footnote, settings)
            played = [
                await player.play(case, platform)
                for case in cases
                for platform in (("slack", "discord") if case["platform"] == "both" else (case["platform"],))
            ]
            for one in played:
                one.unasked = settings.answers_unasked
            groups = [] if part == "judge" else _grouped(played, lambda one: one.case["kind"])
            _report(f"{part} part, {title}", played, [*groups, *_grouped(played, _writer)])
            if show and part != "judge":
                _show(played)
                _tried(played)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, default="open")
    parser.add_argument("--show", action="store_true", help="print the lines of the open part that went wrong")
    given = parser.parse_args()
    asyncio.run(main(lines_of(given.part), given.part, show=given.show))
