"""Check of an answer after a cited document changed: asks again with what asker and channel may read today."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from core.agent.agent import Agent
from core.ingestion.ingestor import document_id_of
from core.model.answer import Answer
from core.model.channel_settings import ChannelSettings
from core.model.clock import Clock
from core.model.conversation import Audience, Thread, ThreadKey, Turn
from core.model.events import AgentCompleted
from core.model.inquiry import DailyLimits, Inquiry
from core.model.knowledge import KnowledgeBase
from core.model.passage_units import Unit
from core.ports.catalog import Catalog
from core.ports.index import Index, Scope
from core.ports.platform import ReadersToday
from core.service.standing_answers.comparison import AnswerChange, find_change, missing_units
from core.service.visibility import VisibleBases

log = logging.getLogger(__name__)


def cited_documents(turn: Turn) -> tuple[str, ...]:
    """Return the ids of the documents that an answer cites, each once."""
    return tuple(dict.fromkeys(document_id_of(one.knowledge_base, one.document) for one in turn.citations))


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """Compares an answer that somebody got with what the documents say now."""

    agent: Agent
    catalog: Catalog
    index: Index
    clock: Clock

    async def readable_bases(self, readers: ReadersToday, settings: ChannelSettings) -> tuple[KnowledgeBase, ...]:
        """Return the channel's bases that both the person and the place may read."""
        bases = VisibleBases(self.catalog)
        place = await bases.names(readers.place, settings.bases)
        return await bases.for_audience(readers.person, place)

    async def missing(self, turn: Turn, versions: Mapping[str, str]) -> tuple[Unit, ...]:
        """Return the units that an answer cites but these versions of its documents no longer contain."""
        found: list[Unit] = []
        for citation in turn.citations:
            document = document_id_of(citation.knowledge_base, citation.document)
            scope = Scope(frozenset({citation.knowledge_base}))
            passages = await self.index.passages(document, versions[document], scope)
            found += missing_units(citation, "\n".join(one.text for one in passages))
        return tuple(found)

    async def change(
        self,
        thread: ThreadKey,
        turn: Turn,
        missing: Sequence[Unit],
        bases: tuple[KnowledgeBase, ...],
        settings: ChannelSettings,
        *,
        by_quotes: bool = False,
    ) -> AnswerChange | None:
        """Ask again in these bases, and return how the answer differs. Raises Unavailable.

        ``by_quotes``: without a model, so that it costs nothing.
        """
        question = turn.rewritten or turn.question
        policy = replace(settings.policy, checkpoints=frozenset(), sources_first=False, follow_ups=False)
        policy = replace(policy, limits=DailyLimits())  # a channel's budget is for its people's questions
        inquiry = Inquiry(
            id=f"{turn.trace_id}-again",
            question=question,
            thread=thread,
            asker=turn.asker,
            audience=Audience(),
            started_at=self.clock.now(),
            policy=policy,
            bases=bases,
        )
        answer = await self._answer(self.agent.by_quotes() if by_quotes else self.agent, inquiry)
        return find_change(question, turn, missing, answer) if answer is not None else None

    async def _answer(self, agent: Agent, inquiry: Inquiry) -> Answer | None:
        last = None
        async with aclosing(agent.pursue(agent.run(inquiry, Thread(inquiry.thread)))) as events:
            async for event in events:
                last = event
        if isinstance(last, AgentCompleted):
            return last.answer
        log.info("answer_not_checked", extra={"trace_id": inquiry.id})
        return None
