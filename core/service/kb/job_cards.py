"""A job's card in any client: what it says, what can be pressed on it, and that it comes to show the newest state.

A client renders the ``JobCard`` and knows where its card is. The rules stand here: the newest state is kept before it
is shown, so that whoever shows anything shows that; a job may be ended until it is over or being ended; that it is over
is owed until it is shown. Who may press is decided where the pressed command goes, by ``KnowledgeCommands``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from core.model.jobs import JobState
from core.model.records import PERSON, Record
from core.ports.message_state import MessageStateStore
from core.service.kb.commands import KbCommand, KbVerb
from core.service.kb.job_wording import job_notes, job_state, job_title
from core.service.kb.results import CancelRequested, JobSummary, KbAction
from core.service.kb.text_spans import Line, plain, strong
from core.service.kb.wording import outcome_lines
from core.service.pending_card_updates import PendingCardUpdates

_TRIES = 5  # to keep that a job is being ended, while whoever works on it keeps how far it is

Card = TypeVar("Card", bound="KeptJobCard")


@dataclass(frozen=True, slots=True)
class JobCard:
    """What a card says, and what can be done about its job.

    ``reason`` is why the job failed as a whole, ``notes`` are about single sources, ``footer`` names the job.
    """

    title: str
    state: str
    footer: str
    reason: str = ""
    notes: tuple[str, ...] = ()
    cancel: KbAction | None = None  # until the job is over or being ended

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is to be said below the state, one sentence each."""
        return (self.reason, *self.notes) if self.reason else self.notes

    @property
    def lines(self) -> tuple[Line, ...]:
        """All of it but the footer, for a client that shows text."""
        below = [self.state, *([self.reason] if self.reason else []), *(f"• {note}" for note in self.notes)]
        return ((strong(self.title),), *((plain(text),) for text in below))


def job_card(job: JobSummary) -> JobCard:
    """The card of a job as it is."""
    ending = job.cancelling and not job.over
    return JobCard(
        title=job_title(job),
        state=job_state(job),
        footer=outcome_lines(CancelRequested(job.id, job))[0] if ending else job_id_line(job.id),
        reason="" if job.state is JobState.CANCELLED else job.reason,
        notes=tuple(job_notes(job)),
        cancel=None if job.over or ending else KbAction("Cancel", KbCommand(KbVerb.CANCEL, target=job.id)),
    )


def job_id_line(job_id: str) -> str:
    """What names a job, for whoever would type its id."""
    return f"job {job_id}"


@dataclass(frozen=True, kw_only=True)
class KeptJobCard(Record):
    """The newest state that a card should show. A platform says below this where it is kept and which message it is."""

    job: str
    person: str = field(default="", metadata=PERSON)  # who asked for the job, by qualified id
    state: JobSummary | None = field(default=None, metadata={"stored": "job"})
    over: bool = False

    @property
    def newest(self) -> JobSummary | None:
        """What to show; None where an earlier version kept it, in words of its own."""
        return None if self.state is not None and self.over and not self.state.over else self.state


@dataclass(frozen=True, slots=True)
class JobCardStates:
    """What the cards of one platform should show, and which are still to say that their job is over."""

    message_states: MessageStateStore
    platform: str

    async def keep(self, card: Card) -> Card:
        """Keep what is said here of a card, before it is shown; the card as it is then. Raises StoreUnavailable.

        Of a job that is over, it is also kept that this is to be shown: whoever dies before that has not done the job.
        """
        await self.message_states.save(card)
        if card.over:
            await self._pending_updates.expect(card.job, card.person)
        return await self.message_states.read(card) or card

    async def keep_cancelling(self, blank: Card, job: JobSummary) -> Card | None:
        """Keep that somebody is ending this job; None where its end is kept already, which is newer.

        Raises StoreUnavailable.
        """
        for _ in range(_TRIES):
            kept = await self.read(blank)
            if kept.over:
                return None
            now = replace(kept, state=job)
            if await self.message_states.exchange(kept, now):
                return now
        return None

    async def read(self, blank: Card) -> Card:
        """The card as it is kept; with nothing on it where it is not. Raises StoreUnavailable."""
        return await self.message_states.read(blank) or blank

    async def mark_shown(self, job_id: str) -> None:
        """The card says that its job is over, or never will. Raises StoreUnavailable."""
        await self._pending_updates.mark_shown(job_id)

    async def unshown(self, blank: Callable[[str, str], Card]) -> Sequence[Card]:
        """The cards that are still to say that their job is over; ``blank`` makes one of a job and its person.

        What was forgotten with its person is owed to nobody any more. Raises StoreUnavailable.
        """
        found: list[Card] = []
        for update in await self._pending_updates.pending():
            card = await self.read(blank(update.job, update.person))
            if card.over:
                found.append(card)
            else:
                await self.mark_shown(update.job)
        return found

    @property
    def _pending_updates(self) -> PendingCardUpdates:
        return PendingCardUpdates(self.message_states, self.platform)
