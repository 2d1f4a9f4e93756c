"""People's answers, stored with their consent: noticed in the thread, offered once, and confirmed again later.

*Ask a person* opens a question. When a reply solves it, its author is asked once for consent. Only their press stores
it, as a document or, if they may add none, as a proposal. The text is read from the conversation at that time.
"""

import logging
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta

from core.ingestion.trash import Trash
from core.model.clock import Clock
from core.model.conversation import Person, ThreadKey, Turn
from core.model.document_content import Conversation, TranscriptMessage
from core.model.errors import AlreadyDone, Busy, Denied, FootnoteError, NotFound, PlatformUnavailable
from core.model.incoming_events import IncomingMessage
from core.model.jobs import Job, JobKind, refresh_item
from core.model.knowledge import Document, conversation_platform
from core.model.person_answers import (
    AnswerState,
    Confirmation,
    LastCall,
    Offer,
    OfferAction,
    PersonAnswer,
    WaitingReply,
    answer_markdown,
    answer_place,
    answer_source,
    is_answer,
    is_due,
    is_unconfirmed,
)
from core.ports.job_store import Proposal
from core.ports.memory import Memory
from core.ports.message_state import MessageStateStore
from core.ports.platform import PlatformCapabilities
from core.service.answer_replies import AskerSays, after_asker, after_reply, asker_says, is_clear
from core.service.kb.chat_changes import BY
from core.service.kb.commands import Caller
from core.service.kb.job_queue import MOST_ORPHANED, JobQueue
from core.service.kb.program_documents import check_readers
from core.service.kb.proposals import MOST_QUESTION, Proposals
from core.service.kb.results import ProposalSent, Refused
from core.service.kb.summaries import BEGINNING

QUIET_SECONDS = 1800.0  # silence of the asker, after which a reply counts as the solution
LOOK_EVERY = timedelta(hours=1)  # between two checks of the stored answers' age
LOST = "I no longer have anything stored about that."
OVER = "That has already been decided."
NOT_YOURS = "Only the person who wrote this answer can decide that."
NOT_YOUR_QUESTION = "Only the person who asked can say that."
NO_REPLY = "Nobody has replied with an answer here yet."
ASKED_NOW = "Thank you. I will ask the person who answered whether I may keep it."
NOT_KEPT = "All right. I will not keep it."
CONFIRMED = "Thank you. I will keep it, confirmed today."
REMOVED = "I have removed it. An admin can restore it for 7 days."
PROPOSED = "Thank you. An admin decides whether to add it to the documents."
KEPT = "Thank you. I will keep it with your name and the date. If you edit or delete your message, I update it."
MAY_I_KEEP = (
    "Your reply seems to answer “{question}”. May I keep it among this channel's documents, with your name and the"
    " date? I only keep it if you press “Keep it”."
)
STILL_TRUE = "You answered “{question}”, and I kept your answer. It was last confirmed on {dated}. Is it still true?"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OfferPress:
    """A press on an offer: the button, the answer, and the person's rights as looked up now.

    ``bases`` are those that the channel is limited to. ``public``: everybody in the workspace reads there.
    """

    action: OfferAction
    id: str
    caller: Caller
    bases: frozenset[str] | None = None
    public: bool = False


@dataclass(slots=True)
class PersonAnswers:
    """Follows questions to people. ``capabilities`` are those of the platforms connected in this process."""

    memory: Memory
    message_states: MessageStateStore
    proposals: Proposals
    job_queue: JobQueue
    trash: Trash
    clock: Clock
    capabilities: Mapping[str, PlatformCapabilities] = field(default_factory=dict)
    _looked: float = float("-inf")  # in seconds of the monotonic clock

    # --- messages in the thread

    async def hear(self, message: IncomingMessage) -> None:
        """Process a message in a thread where a person was called. Raises StoreUnavailable, PlatformUnavailable."""
        last = await self.message_states.read(LastCall(thread=message.thread))
        call = await self._read(last.trace) if last is not None else None
        if call is None or call.state is not AnswerState.OPEN or message.edited:
            return
        if message.asker.id not in (call.asker, call.caller):
            await self._hear_reply(call, message)
        else:
            await self._hear_asker(call, message)

    async def _hear_asker(self, call: PersonAnswer, message: IncomingMessage) -> None:
        says = AskerSays.GOES_ON if message.mentions_us else asker_says(message.text)
        if says is AskerSays.CONTENT:
            if call.message and not call.rival:
                await self._offer_unasked(call)
        elif says is not AskerSays.WAITS:
            await self._change(call, after_asker(call, message.text))
            await self.message_states.remove(WaitingReply(id=call.id))

    async def _hear_reply(self, call: PersonAnswer, message: IncomingMessage) -> None:
        reply = call if message.mentions_us else after_reply(call, message.asker.id, message.id, message.text)
        if reply == call or not await self._change(call, replace(reply, channel=message.reply_target.channel)):
            return
        turn, waiting = await self._turn(call), WaitingReply(id=call.id, at=self.clock.now().timestamp())
        if turn is not None and is_clear(reply, message.text, turn.question):
            await self.message_states.save(waiting)
        else:
            await self.message_states.remove(waiting)

    async def _change(self, was: PersonAnswer, now: PersonAnswer) -> bool:
        """Store ``now`` unless another process changed ``was``, so that the offered reply is the one stored."""
        return await self.message_states.exchange(was, replace(now, changes=was.changes + 1))

    async def _read(self, name: str) -> PersonAnswer | None:
        """Return the record of this id; None if it, or its owner's data, was deleted."""
        kept = await self.message_states.read(PersonAnswer(id=name))
        return kept if kept is not None and kept.thread else None

    async def _turn(self, call: PersonAnswer) -> Turn | None:
        turns = (await self.memory.recall(call.key)).turns
        return next((turn for turn in turns if turn.trace_id == call.id), None)

    async def _said(self, thread: ThreadKey, message: str) -> tuple[Conversation, TranscriptMessage]:
        """Return the thread and one of its messages as they are now. Raises NotFound, PlatformUnavailable."""
        transcript = self._of(thread).transcript
        if transcript is None:
            raise NotFound("I cannot read that conversation now.", remedy="Please try again later.")
        conversation = await transcript.conversation(transcript.reference_of(thread))
        said = next((one for one in conversation.messages if one.id == message), None)
        if said is None:
            raise NotFound("That message was deleted, so I do not keep it.")
        return conversation, said

    def _of(self, thread: ThreadKey) -> PlatformCapabilities:
        return self.capabilities.get(thread.platform, PlatformCapabilities())

    # --- asking the answerer

    async def _offer(self, call: PersonAnswer) -> bool:
        """Ask the answerer whether the reply may be stored; return whether this call asked.

        The request is recorded before it is sent, so a crash in between asks nobody, and nobody is asked twice. Raises
        StoreUnavailable and PlatformUnavailable. Raises NotFound and Denied if the reply or its author is unavailable.
        """
        offers, turn = self._of(call.key).offers, await self._turn(call)
        if offers is None or turn is None or not (call.answerer and call.message):
            return False
        _, said = await self._said(call.key, call.message)
        if not await self._change(call, replace(call, state=AnswerState.ANSWERED)):
            return False
        text = MAY_I_KEEP.format(question=_title(turn))
        buttons = (OfferAction.KEEP, OfferAction.NOT_THIS)
        try:
            await offers.ask(Offer(call.id, call.key, call.answerer, text, said.text, buttons, call.channel))
        except PlatformUnavailable:
            asked = replace(call, state=AnswerState.ANSWERED, changes=call.changes + 1)
            await self._change(asked, call)
            raise
        return True

    async def _offer_unasked(self, call: PersonAnswer) -> None:
        """Ask without a press. Skips muted threads, and only logs refusals."""
        if (await self.memory.recall(call.key)).muted:
            return
        try:
            await self._offer(call)
        except (Denied, NotFound) as error:
            log.info("not_asked", extra={"answer": call.id, "reason": str(error)})

    async def tick(self) -> None:
        """Ask about replies after which the asker was silent, and about old answers. Raises StoreUnavailable."""
        now = self.clock.now().timestamp()
        for waiting in await self.message_states.read_entries(WaitingReply(id="")):
            if now - waiting.at < QUIET_SECONDS:
                continue
            call = await self._read(waiting.id)
            if call is not None and call.state is AnswerState.OPEN:
                if self._of(call.key).offers is None:
                    continue  # a process connected to that platform also checks
                try:
                    await self._offer_unasked(call)
                except PlatformUnavailable as error:
                    log.info("not_asked_yet", extra={"answer": call.id, "reason": str(error)})
                    continue
            await self.message_states.remove(waiting)
        if self.clock.monotonic() - self._looked >= LOOK_EVERY.total_seconds():
            self._looked = self.clock.monotonic()
            for document in await self._documents():
                await self._look_at_age(document)

    # --- button presses

    async def thread_of(self, name: str) -> ThreadKey | None:
        """Return the thread of a question to a person; None if it is unknown."""
        call = await self._read(name)
        return call.key if call is not None else None

    async def press(self, press: OfferPress) -> str:
        """Run a button's action if the person may; return the reply to them.

        Raises Denied, NotFound, AlreadyDone, PlatformUnavailable and StoreUnavailable.
        """
        if press.action in (OfferAction.STILL_TRUE, OfferAction.REMOVE):
            return await self._confirm(press)
        call, person = await self._read(press.id), press.caller.person
        if call is None:
            raise NotFound(LOST)
        if press.action is OfferAction.SOLVED:
            if person.id not in (call.asker, call.caller):
                raise Denied(NOT_YOUR_QUESTION)
            if call.state is not AnswerState.OPEN:
                raise AlreadyDone(OVER)
            if not call.message or not await self._offer(call):
                raise NotFound(NO_REPLY)
            return ASKED_NOW
        if person.id != call.answerer:
            raise Denied(NOT_YOURS)
        if call.state is not AnswerState.ANSWERED:
            raise AlreadyDone(OVER)
        if press.action is OfferAction.NOT_THIS:
            await self._change(call, replace(call, state=AnswerState.DECLINED))
            return NOT_KEPT
        return await self._keep(call, press)

    async def _keep(self, call: PersonAnswer, press: OfferPress) -> str:
        """Store or propose the answer. The proposal's id depends only on the message, so a retry is idempotent."""
        turn = await self._turn(call)
        if turn is None:
            raise NotFound(LOST)
        conversation, said = await self._said(call.key, call.message)
        source, day = answer_source(conversation.source, said.id), self.clock.now()
        dated, title = f"{said.at:%Y-%m-%d}", _title(turn)
        audience = frozenset[str]() if press.public else frozenset({call.key.place})
        base = await self._base(press, audience)
        proposal = Proposal(
            id=uuid.uuid5(uuid.NAMESPACE_URL, source).hex[:8],
            base=base,
            source=source,
            title=title,
            text=answer_markdown(title, said.author, said.text, written=said.at, dated=dated, today=day.date()),
            by=Person(call.answerer, said.author),
            at=day,
            permalink=conversation.permalink,
            beginning=" ".join(said.text.split())[:BEGINNING],
            audience=audience,
        )
        result = await self.proposals.submit(proposal, replace(press.caller, person=proposal.by), waits=not base)
        if isinstance(result, Refused):
            raise NotFound(result.message, remedy=result.remedy)
        await self._change(call, replace(call, state=AnswerState.KEPT))
        return PROPOSED if isinstance(result, ProposalSent) else KEPT

    async def _base(self, press: OfferPress, audience: frozenset[str]) -> str:
        """Return the channel's only base, if only its audience reads it; otherwise '', and an admin chooses."""
        if press.bases is None or len(press.bases) != 1:
            return ""
        try:
            base = await self.proposals.queries.own_base(next(iter(press.bases)), press.caller)
            check_readers(base, audience, "")
        except (Denied, NotFound):
            return ""
        return base.name

    # --- stored answers

    async def _documents(self) -> list[Document]:
        bases = frozenset(base.name for base in await self.trash.catalog.bases())
        return [one for one in await self.trash.catalog.documents(bases) if is_answer(one.source)]

    async def _look_at_age(self, document: Document) -> None:
        """Ask the author once whether an old answer is still true; later, mark it as unconfirmed."""
        today = self.clock.now()
        if not is_due(document.dated, today.date()):
            return
        asked = Confirmation(id=document.id[:16], owner=document.origin, document=document.id, at=today.timestamp())
        kept = await self.message_states.read(asked)
        if kept is not None:
            # Renew the record, or its author would be asked again. Do nothing if it was forgotten meanwhile.
            await self.message_states.exchange(kept, replace(kept, at=today.timestamp()))
            if is_unconfirmed(document.dated, today.date()):
                with suppress(Busy):  # checked again in an hour
                    await self._read_again(document, "")
            return
        place = answer_place(document.source)[0]
        thread = ThreadKey(*place.split("/"))
        offers = self._of(thread).offers
        if offers is None or not await self.message_states.exchange(replace(asked, owner="", document="", at=0), asked):
            return
        text = STILL_TRUE.format(dated=document.dated, question=document.title)
        buttons = (OfferAction.STILL_TRUE, OfferAction.REMOVE)
        try:
            await offers.ask(Offer(asked.id, thread, document.origin, text, "", buttons))
        except PlatformUnavailable:
            await self.message_states.remove(asked)  # ask again in an hour
        except FootnoteError as error:
            log.info("not_asked", extra={"document": document.id, "reason": str(error)})

    async def _confirm(self, press: OfferPress) -> str:
        kept, person = await self.message_states.read(Confirmation(id=press.id)), press.caller.person
        if kept is None:
            raise NotFound(LOST)
        if person.id != kept.owner:
            raise Denied(NOT_YOURS)
        document = await self.trash.catalog.document(kept.document)
        if document is None:
            raise NotFound(LOST)
        if press.action is OfferAction.STILL_TRUE:  # keep the record until the new date, or they are asked again
            await self._read_again(document, f"{self.clock.now():%Y-%m-%d}")
            return CONFIRMED
        await self.trash.remove(document, person.id)
        await self.message_states.remove(kept)
        return REMOVED

    async def _read_again(self, document: Document, dated: str) -> None:
        """Enqueue a rebuild of the document, confirmed at ``dated`` or, if empty, at its present date. Idempotent."""
        item = replace(refresh_item(document.source), dated=dated)
        name = uuid.uuid5(uuid.NAMESPACE_URL, f"{document.id}\x1f{document.dated}\x1f{dated}").hex[:12]
        base, platform = document.knowledge_base, conversation_platform(document.source)
        job = Job(name, JobKind.REFRESH, base, BY, self.clock.now(), platform, items=(item,))
        await self.job_queue.accept(job)

    async def forget(self, person: str) -> int:
        """Delete every stored answer of this person, and cancel jobs that would store one; return their number."""
        decided = await self.proposals.proposal_store.open_decisions()
        approved = [one.job for one in decided if one.job is not None]
        for job in (*approved, *await self.job_queue.jobs.recent(MOST_ORPHANED)):
            if not job.over and any(is_answer(one.source) and one.origin == person for one in job.items):
                await self.job_queue.jobs.keep(job)
                await self.job_queue.jobs.cancel(job.id, BY.id)
        removed = [one.document for one in await self.trash.restorable()]
        theirs = [one for one in await self._documents() if one.origin == person]
        for document in (*theirs, *(one for one in removed if is_answer(one.source) and one.origin == person)):
            await self.trash.purge(document)
        return len(theirs)


def _title(turn: Turn) -> str:
    return " ".join(turn.question.split())[:MOST_QUESTION]
