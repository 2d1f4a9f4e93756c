"""A company with one changing policy, people who asked about it, and processes that follow their answers."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.agent.agent import Agent
from core.ingestion.ingestor import document_id_of
from core.ingestion.passage_vectors import vectors_of
from core.model.channel_settings import ChannelSettings, ChosenSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.inquiry import AnswerPolicy, DailyLimits
from core.model.knowledge import Document, KnowledgeBase, Passage
from core.model.records import Record
from core.ports.platform import Notice, ReadersToday
from core.service.standing_answers.checks import AnswerCheck
from core.service.standing_answers.notices import NoticePreview
from core.service.standing_answers.service import StandingAnswers
from tests.core.harness import ALICE, Harness
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.processes import InProcessNamedLeases
from tests.fakes.memory.stores import InProcessChannelSettingsStore

if TYPE_CHECKING:
    from core.model.errors import FootnoteError
    from core.ports.usage import DailyBudget

PLACE = "test:channel:T/C"
QUESTION = "How long do refunds take?"
FOURTEEN, THIRTY = "Refunds are paid within 14 days.", "Refunds are paid within 30 days."


class Killed(BaseException):
    """The process dies here."""


class Fuse:
    """Counts calls and kills the process before or after the named one."""

    def __init__(self) -> None:
        self.calls, self.at, self.dead = 0, 0, False
        self.after = False

    async def burn(self, call: Any, *given: Any, **more: Any) -> Any:
        if self.dead:
            raise Killed
        self.calls += 1
        self.dead = self.calls == self.at
        if self.dead and not self.after:
            raise Killed
        done = await call(*given, **more)
        if self.dead:
            raise Killed
        return done


class Post:
    """Direct messages of the platform ``test``."""

    def __init__(self, settings: InProcessChannelSettingsStore, fuse: Fuse) -> None:
        self._settings = settings
        self._fuse = fuse
        self.sent: list[tuple[str, Notice]] = []
        self.grants = frozenset({"everyone"})
        self.gone: set[str] = set()  # people who left the channel
        self.failing: FootnoteError | None = None
        self.away: FootnoteError | None = None  # nothing can be asked of the platform
        self.limits = DailyLimits()
        self.looked_up = 0  # times that somebody's rights were asked for

    async def settings(self, channel: ThreadKey) -> ChannelSettings:
        if self.away is not None:
            raise self.away
        chosen = await self._settings.read(channel.place)
        policy = AnswerPolicy(limits=self.limits)
        return ChannelSettings(policy, standing_answers=bool(chosen.standing_answers), bases=chosen.bases)

    async def readers(self, person: Person, channel: ThreadKey) -> ReadersToday | None:
        self.looked_up += 1
        if person.id in self.gone:
            return None
        return ReadersToday(Audience(self.grants | {person.id}), Audience(self.grants))

    async def link(self, thread: ThreadKey, trace: str) -> str:
        return f"https://chat.example/{thread.thread}"

    async def has_sent(self, person: Person, notice: Notice, *, since: datetime) -> bool:
        async def look() -> bool:
            return any(who == person.id and one.key == notice.key for who, one in self.sent)

        return bool(await self._fuse.burn(look))

    async def send(self, person: Person, notice: Notice) -> None:
        async def post() -> None:
            await asyncio.sleep(0)
            if self.failing is not None:
                raise self.failing
            self.sent.append((person.id, notice))

        await self._fuse.burn(post)


class MortalStore(InProcessMessageStateStore):
    """The stores of a process until it is killed."""

    fuse = Fuse()

    async def save(self, *records: Record, was: Record | None = None, fence: int | None = None) -> None:
        await self.fuse.burn(super().save, *records, was=was, fence=fence)

    async def exchange(self, was: Any, now: Any) -> bool:
        return bool(await self.fuse.burn(super().exchange, was, now))

    async def remove(self, record: Record) -> None:
        await self.fuse.burn(super().remove, record)


class Company:
    """All that outlives a process."""

    def __init__(self) -> None:
        self.harness = Harness()
        self.clock = self.harness.clock
        self.fuse = Fuse()
        self.settings = InProcessChannelSettingsStore()
        self.message_states = MortalStore(self.harness.state)
        self.message_states.fuse = self.fuse
        self.post = Post(self.settings, self.fuse)
        self.leases = InProcessNamedLeases(self.clock)
        self.budget: DailyBudget | None = None
        self._processes = 0

    async def publishes(
        self,
        text: str,
        version: str,
        *,
        title: str = "Refund policy",
        base: str = "default",
        grants: Sequence[str] = (),
    ) -> None:
        """Publish this version of a document with one passage."""
        await self.harness.catalog.save_base(KnowledgeBase(base, "", frozenset(grants)))
        await publish(self.harness, text, version, title=title, base=base)

    async def asks(self, question: str = QUESTION, *, thread: str = "t", by: Person = ALICE) -> None:
        """Ask in the channel, and read the answer."""
        audience = Audience(self.post.grants | {by.id}, public=True)
        await self.harness.asks(question, thread=thread, by=by, audience=audience)
        self.clock.advance(1)

    async def switches(self, on: bool = True) -> None:
        """Switch it on or off in the channel."""
        await self.settings.write(PLACE, ChosenSettings(standing_answers=on))

    def check(self) -> AnswerCheck:
        """What asks again."""
        deps = self.harness.question_service.agent._deps
        return AnswerCheck(Agent(deps), self.harness.catalog, self.harness.index, self.clock)

    def process(self) -> StandingAnswers:
        """One more process."""
        self._processes += 1
        return StandingAnswers(
            check=self.check(),
            questions=self.harness.questions,
            memory=self.harness.memory,
            settings=self.settings,
            message_states=self.message_states,
            leases=self.leases,
            holder=f"p{self._processes}",
            notices=lambda platform: self.post if platform == "test" else None,
            budget=self.budget,
        )

    async def preview(self) -> str:
        """Return the admin's preview."""
        preview = NoticePreview(self.check(), self.harness.questions, self.harness.memory)
        return await preview.text(self.harness.key(""), Audience(self.post.grants), ChannelSettings())


async def publish(
    harness: Harness, text: str, version: str, *, title: str = "Refund policy", base: str = "default"
) -> None:
    """Make this the visible version of a document of one passage, as an ingest does."""
    source = f"{title}.md"
    document = Document(document_id_of(base, source), base, source, title, version, "text/markdown", 1)
    passage = Passage(f"{document.id}{version}", base, document.id, version, "s", 0, title, text, source=source)
    passage = replace(passage, dated="2026-01-01")
    await harness.index.add([passage], await vectors_of([passage], harness.encoder))
    await harness.catalog.publish(document)
    await harness.index.remove(document.id, keep_version=version)
