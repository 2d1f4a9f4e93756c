"""Everything people can do besides asking, the same on every platform.

Each service checks the rights for its own actions and records refusals. The platform looks up who a person is, whether
they are an admin and what they may see. It does so on the server and never trusts a button for it.
"""

from dataclasses import dataclass

from core.model.answer import UsageCounts
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import Denied
from core.model.knowledge import KnowledgeBase
from core.ports.access import Audit
from core.ports.catalog import Catalog
from core.ports.inbox import Inbox
from core.ports.memory import AskedQuestion, Checkpoints, FeedbackStore, Memory
from core.ports.message_state import MessageStateStore
from core.ports.platform import ChannelSettingsStore
from core.ports.usage import TraceStore
from core.service.actions.answers import AnswerActions
from core.service.actions.questions import QuestionActions
from core.service.actions.wording import NOT_YOURS_TO_FORGET, PersonForgotten, ThreadForgotten, ThreadMuted
from core.service.channel_settings import Preview, SettingsService
from core.service.disputes.decisions import DisputeReports
from core.service.person_answers import PersonAnswers
from core.service.visibility import VisibleBases

MOST_THREADS, MOST_RECENT = 20, 5  # turns searched, and questions shown


@dataclass(frozen=True, slots=True)
class MemoryControls:
    """Mute threads, delete what is stored, and list what a person asked."""

    memory: Memory
    audit: Audit
    person_answers: PersonAnswers | None = None  # None where no knowledge bases are managed

    async def recent_questions(self, person: Person, platform: str, space: str) -> tuple[AskedQuestion, ...]:
        """Return this person's latest questions in one workspace or server, newest first, one for each thread."""
        asked = await self.memory.questions_of(person.id, MOST_THREADS)
        here = [one for one in asked if (one.thread.platform, one.thread.space) == (platform, space)]
        return tuple({one.thread: one for one in reversed(here)}.values())[::-1][:MOST_RECENT]

    async def mute(self, thread: ThreadKey, *, muted: bool) -> ThreadMuted:
        """Mute or unmute a thread."""
        await self.memory.mute(thread, muted)
        return ThreadMuted(muted)

    async def forget_thread(self, thread: ThreadKey, person: Person, *, is_admin: bool) -> ThreadForgotten:
        """Delete a thread's memory. Raises Denied, and records it, if others asked there and this is no admin."""
        turns = (await self.memory.recall(thread)).turns
        allowed = is_admin or all(turn.asker.id == person.id for turn in turns)
        await self.audit.record(person.id, "forget thread", str(thread), allowed=allowed)
        if not allowed:
            raise Denied(NOT_YOURS_TO_FORGET)
        return ThreadForgotten(was_kept=await self.memory.forget_thread(thread))

    async def forget_person(self, person: Person) -> PersonForgotten:
        """Delete everything this person asked and their stored answers. Everybody may do this for themselves."""
        answers = await self.person_answers.forget(person.id) if self.person_answers is not None else 0
        count = await self.memory.forget_person(person.id)
        await self.audit.record(person.id, "forget person", person.id, allowed=True, detail=f"{count} turns")
        return PersonForgotten(count, answers)


@dataclass(frozen=True, slots=True)
class KnowledgeBaseSummary:
    """A knowledge base as a reader sees it."""

    base: KnowledgeBase
    documents: int


@dataclass(frozen=True, slots=True)
class SystemStatus:
    """How the installation is doing, for admins."""

    waiting: int  # questions queued or in progress
    usage: UsageCounts


@dataclass(frozen=True, slots=True)
class InstallationOverview:
    """Counts bases, documents and questions."""

    bases: VisibleBases
    inbox: Inbox
    trace_store: TraceStore

    async def knowledge_bases(self, audience: Audience) -> tuple[KnowledgeBaseSummary, ...]:
        """Return the bases this audience may read, each with the number of its documents."""
        bases = await self.bases.for_audience(audience)
        names = frozenset(base.name for base in bases)
        documents = await self.bases.catalog.documents(names) if bases else ()
        return tuple(
            KnowledgeBaseSummary(base, sum(one.knowledge_base == base.name for one in documents)) for base in bases
        )

    async def system_status(self) -> SystemStatus:
        """Return how many questions wait, and the usage counts."""
        return SystemStatus(await self.inbox.count_waiting(), await self.trace_store.counts())


@dataclass(frozen=True, slots=True)
class UserActions:
    """Everything that people can do besides asking."""

    questions: QuestionActions
    answers: AnswerActions
    memory: MemoryControls
    settings: SettingsService
    bases: VisibleBases
    overview: InstallationOverview
    audit: Audit
    person_answers: PersonAnswers | None = None

    @classmethod
    def build(
        cls,
        *,
        memory: Memory,
        trace_store: TraceStore,
        catalog: Catalog,
        feedback: FeedbackStore,
        settings_store: ChannelSettingsStore,
        audit: Audit,
        inbox: Inbox,
        message_states: MessageStateStore,
        checkpoints: Checkpoints,
        defaults: ChannelSettings,
        disputes: DisputeReports,
        preview: Preview | None = None,
        person_answers: PersonAnswers | None = None,
    ) -> "UserActions":
        """Build all services over these stores. ``defaults`` are the settings of places where nothing was chosen."""
        bases = VisibleBases(catalog)
        return cls(
            questions=QuestionActions(checkpoints, message_states, inbox, audit),
            answers=AnswerActions(memory, trace_store, bases, feedback, message_states, audit, disputes),
            memory=MemoryControls(memory, audit, person_answers),
            settings=SettingsService(settings_store, catalog, audit, defaults, preview),
            bases=bases,
            overview=InstallationOverview(bases, inbox, trace_store),
            audit=audit,
            person_answers=person_answers,
        )
