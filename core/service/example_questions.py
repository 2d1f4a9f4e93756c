"""Example questions for people who are new: made of headings in their documents, without a model."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from cachetools import LRUCache

from core.model.errors import FootnoteError
from core.model.knowledge import Document, Passage
from core.service.follow_ups import follow_up_on, names_topic, topic_of
from core.service.kb.commands import Caller
from core.service.kb.queries import KnowledgeQueries

MOST = 3
TRIED = 24  # documents that are looked into
HANDY = 80  # characters; longer questions come last
_KEPT = 500  # documents whose question is remembered

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Example:
    """A question that one document answers; ``is_heading`` where its author wrote it so."""

    question: str
    is_heading: bool


@dataclass(frozen=True, slots=True)
class ExampleQuestions:
    """Suggests questions that the documents of a caller answer, each from another document."""

    queries: KnowledgeQueries
    _known: "LRUCache[tuple[str, str], tuple[Example, ...]]" = field(default_factory=lambda: LRUCache(_KEPT))

    async def suggest(self, caller: Caller) -> tuple[str, ...]:
        """Return at most ``MOST`` questions; none where the documents have no headings or cannot be read now."""
        found: list[Example] = []
        try:
            documents = await self.queries.documents(*await self.queries.visible(caller))
            mixed = sorted(documents, key=lambda one: sha256(one.id.encode()).digest())  # not all of one folder
            for document in mixed[:TRIED]:
                found += await self._examples(document)
        except FootnoteError as error:
            log.warning("no_example_questions", extra={"reason": str(error)})
        found.sort(key=lambda one: (not one.is_heading, len(one.question) > HANDY))
        return tuple(dict.fromkeys(one.question for one in found))[:MOST]

    async def _examples(self, document: Document) -> tuple[Example, ...]:
        key = (document.id, document.version)
        if key not in self._known:
            self._known[key] = _examples_from(await self.queries.passages(document))
        return self._known[key]


def _examples_from(passages: Sequence[Passage]) -> tuple[Example, ...]:
    """The question of one passage, best one that a heading asks; nothing where no heading names a topic."""
    named = [passage for passage in passages if names_topic(passage)]
    asking = [passage for passage in named if topic_of(passage).endswith("?")]
    return (Example(follow_up_on((asking or named)[0]).question, bool(asking)),) if named else ()
