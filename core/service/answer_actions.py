"""What people can do with an answer or a place beside asking: the same on every platform, in terms of the ports.

Why, quotes, feedback, muting, forgetting and settings. Who someone is and what they may see is the platform's to say:
it passes the audience and whether they are an admin, looked up on its own server side, never taken from a button.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.model.answer import Citation
from core.model.channel_settings import ChannelSettings, ReplyStyle, channel_settings
from core.model.conversation import Audience, Person, ThreadKey, Turn
from core.model.errors import Denied, NotFound
from core.model.event_text import why
from core.model.inquiry import ALL_CHECKPOINTS, Behaviour, CheckpointKind, Profile
from core.model.knowledge import KnowledgeBase
from core.ports.audit import Audit
from core.ports.catalog import Catalog
from core.ports.channel_settings import ChannelSettingsStore
from core.ports.feedback import Feedback, FeedbackStore
from core.ports.inbox import Inbox
from core.ports.memory import Memory
from core.ports.trace_store import TraceStore

GONE = "I have nothing kept about that answer any more."
HELP = (
    "Ask me anything that your team's documents may answer: mention me in a channel, or write to me directly.",
    "In a thread I am in, just go on asking. I keep quiet when people talk to each other.",
    "Every [n] is a source; *Show quotes* shows the exact passages. Tell me when an answer helped, or did not.",
    "`why` tells how I came to the last answer, `mute` and `unmute` make me quiet here or not,",
    "`forget` removes what I keep of a thread, `forget me` everything you asked, `settings` is for admins.",
)


@dataclass(frozen=True, slots=True)
class Quotes:
    """The exact passages behind one answer that this reader may see; ``withheld`` counts those that they may not."""

    question: str
    citations: tuple[Citation, ...]
    withheld: int = 0


@dataclass(frozen=True, slots=True)
class KnowledgeBaseSummary:
    """A knowledge base as a reader sees it."""

    base: KnowledgeBase
    documents: int


@dataclass(frozen=True, slots=True)
class SystemStatus:
    """How the installation is doing, for admins."""

    waiting: int
    counters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class AnswerActions:
    """Everything beside asking, over the stores."""

    memory: Memory
    trace_store: TraceStore
    catalog: Catalog
    feedback: FeedbackStore
    preferences: ChannelSettingsStore
    audit: Audit
    inbox: Inbox
    defaults: ChannelSettings

    # --- of an answer

    async def turn(self, thread: ThreadKey, trace_id: str, audience: Audience) -> Turn:
        """A turn of this thread. Raises NotFound when it is gone or carries words this audience may not read."""
        visible = frozenset(base.name for base in await self.visible_bases(audience))
        for turn in (await self.memory.recall(thread)).turns:
            if turn.trace_id == trace_id and turn.readable_by(visible):
                return turn
        raise NotFound(GONE)

    async def why(self, thread: ThreadKey, audience: Audience, trace_id: str = "") -> str:
        """How an answer came about: of this trace, or of the last turn that this audience may read.

        Raises NotFound when there is none.
        """
        visible = frozenset(base.name for base in await self.visible_bases(audience))
        turns = (await self.memory.recall(thread)).turns
        readable = [turn for turn in turns if turn.readable_by(visible) and trace_id in {"", turn.trace_id}]
        if not readable:
            raise NotFound("I have not answered anything here that I could explain.")
        told = why(await self.trace_store.trace(readable[-1].trace_id))
        if not told:
            raise NotFound("I do not keep the trace of that answer any more.")
        return f"“{readable[-1].question}”\n{told}\n• Trace {readable[-1].trace_id}."

    async def quotes(self, thread: ThreadKey, trace_id: str, audience: Audience) -> Quotes:
        """The passages behind an answer, as far as this reader may see their bases now. Raises NotFound."""
        visible = frozenset(base.name for base in await self.visible_bases(audience))
        for turn in (await self.memory.recall(thread)).turns:
            if turn.trace_id == trace_id:
                shown = tuple(source for source in turn.citations if source.knowledge_base in visible)
                return Quotes(turn.question, shown, len(turn.citations) - len(shown))
        raise NotFound(GONE)

    async def rate(
        self, thread: ThreadKey, trace_id: str, person: Person, *, helpful: bool, reason: str = ""
    ) -> Feedback:
        """Keep what someone thought of an answer, with all that is needed to judge it later. Raises NotFound."""
        for turn in (await self.memory.recall(thread)).turns:
            if turn.trace_id == trace_id:
                word = Feedback(
                    trace_id=trace_id,
                    person=person,
                    helpful=helpful,
                    reason=reason.strip(),
                    question=turn.question,
                    answer=turn.answer,
                    citations=turn.citations,
                    asker=turn.asker.id,
                    thread=str(thread),
                )
                await self.feedback.keep(word)
                await self.trace_store.count({"feedback.helpful" if helpful else "feedback.unhelpful": 1})
                return word
        raise NotFound(GONE)

    # --- of a thread

    async def mute(self, thread: ThreadKey, *, muted: bool) -> str:
        """Keep quiet in a thread, or speak again; what to tell the person."""
        await self.memory.mute(thread, muted)
        return MUTED if muted else UNMUTED

    async def forget_thread(self, thread: ThreadKey, person: Person, *, is_admin: bool) -> str:
        """Remove a thread's memory. Raises Denied when others asked there too and this is no admin."""
        turns = (await self.memory.recall(thread)).turns
        allowed = is_admin or all(turn.asker.id == person.id for turn in turns)
        await self.audit.record(person.id, "forget thread", str(thread), allowed=allowed)
        if not allowed:
            raise Denied("Others have asked in that thread too, so only an admin can make me forget it.")
        there = await self.memory.forget_thread(thread)
        return "I have forgotten that thread." if there else "I kept nothing of that thread."

    async def forget_person(self, person: Person) -> str:
        """Remove everything this person asked; they may always."""
        count = await self.memory.forget_person(person.id)
        await self.audit.record(person.id, "forget person", person.id, allowed=True, detail=f"{count} turns")
        asked = f"{count} question{'' if count == 1 else 's'}"
        return f"I have forgotten everything you asked me: {asked}, and all that came of them. {STAYS}"

    # --- of a place

    async def settings(self, *places: str) -> ChannelSettings:
        """What applies: the defaults, then what was chosen in each of these places, the widest first."""
        return channel_settings(self.defaults, *[await self.preferences.read(place) for place in places])

    async def save_settings(
        self, place: str, form: "SettingsForm", person: Person, *, is_admin: bool, allowed_bases: Sequence[str]
    ) -> ChannelSettings:
        """Replace what was chosen in a place. Raises Denied for who is no admin; either way it is on record."""
        values = form.values(frozenset(allowed_bases))
        detail = ", ".join(f"{name}={value}" for name, value in sorted(values.items()))
        await self.audit.record(person.id, "settings", place, allowed=is_admin, detail=detail[:500])
        if not is_admin:
            raise Denied("Only an admin can change the settings here.")
        await self.preferences.write(place, values)
        return channel_settings(self.defaults, values)

    async def refuse(self, person: Person, action: str, target: str) -> None:
        """Put on record that someone tried what they may not."""
        await self.audit.record(person.id, action, target, allowed=False)

    # --- of the whole

    async def visible_bases(self, audience: Audience) -> tuple[KnowledgeBase, ...]:
        """The bases that everyone in this audience may read now."""
        return tuple(base for base in await self.catalog.bases() if base.visible_to(audience))

    async def knowledge_bases(self, audience: Audience) -> tuple[KnowledgeBaseSummary, ...]:
        """The bases this audience may read, each with the number of its documents."""
        bases = await self.visible_bases(audience)
        documents = await self.catalog.documents(frozenset(base.name for base in bases)) if bases else ()
        return tuple(
            KnowledgeBaseSummary(base, sum(one.knowledge_base == base.name for one in documents)) for base in bases
        )

    async def system_status(self) -> SystemStatus:
        """How many questions wait, and what became of the others."""
        return SystemStatus(await self.inbox.count_waiting(), await self.trace_store.counters())


STAYS = "What stays: the record of admin actions, and what became a document, which an admin can remove."
MUTED = "I keep quiet in this thread now. Say `unmute`, or mention me, when you want me back."
UNMUTED = "I am listening in this thread again."


@dataclass(frozen=True, slots=True)
class SettingsForm:
    """A settings form as filled in, on whatever platform. Empty choices mean the installation's default."""

    bases: tuple[str, ...] = ()  # none chosen: all that the audience may see
    profile: str = ""
    behaviour: str = ""
    checkpoints: tuple[str, ...] | None = None
    sources_first: bool = False
    reply_style: str = ""
    languages: str = ""
    handoff: str = ""

    @classmethod
    def of(cls, settings: ChannelSettings) -> "SettingsForm":
        """The form as it stands for these settings."""
        return cls(
            bases=tuple(sorted(settings.bases or ())),
            profile=settings.conduct.profile,
            behaviour=settings.conduct.behaviour,
            checkpoints=tuple(sorted(settings.conduct.checkpoints)),
            sources_first=settings.conduct.sources_first,
            reply_style=settings.reply_style,
            languages=", ".join(settings.conduct.languages),
            handoff=settings.handoff,
        )

    def values(self, allowed_bases: frozenset[str]) -> dict[str, str]:
        """As the preferences keep it; what is no known value is left out."""
        checkpoints = None if self.checkpoints is None else ",".join(sorted(set(self.checkpoints) & ALL_CHECKPOINTS))
        chosen = {
            "bases": ",".join(sorted(set(self.bases) & allowed_bases)),
            "profile": self.profile if self.profile in set(Profile) else "",
            "behaviour": self.behaviour if self.behaviour in set(Behaviour) else "",
            "reply_style": self.reply_style if self.reply_style in set(ReplyStyle) else "",
            "languages": ",".join(part.strip()[:40] for part in self.languages.split(",") if part.strip()),
            "handoff": self.handoff.strip()[:80],
        }
        kept = {name: value for name, value in chosen.items() if value}
        if checkpoints is not None:
            kept["checkpoints"] = checkpoints
        return kept | {"sources_first": "yes" if self.sources_first else "no"}


CHECKPOINT_LABELS = {  # sources come first by a setting of their own
    CheckpointKind.LONG_SEARCH: "The search takes long",
    CheckpointKind.NOTHING_RELEVANT: "Nothing relevant was found",
    CheckpointKind.CLARIFY: "The question is unclear",
}
REPLY_LABELS = {ReplyStyle.THREAD: "In the thread, for everyone", ReplyStyle.PRIVATE: "Only to the person who asks"}


def explain_settings(settings: ChannelSettings, chosen: Mapping[str, str]) -> tuple[str, ...]:
    """What applies in a place and why, a line each: chosen there, or the default."""
    now = settings.to_mapping()
    return tuple(
        f"{name}: {value or 'none'} ({'chosen here' if name in chosen else 'default'})" for name, value in now.items()
    )
