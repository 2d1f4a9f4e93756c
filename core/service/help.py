"""Help for new users: the help text, in lines that every platform renders, and example questions."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from cachetools import LRUCache

from core.model.errors import FootnoteError
from core.model.knowledge import Document, Passage
from core.service.actions.presses import ROWS, AnswerButton
from core.service.follow_ups import follow_up_on, names_topic, topic_of
from core.service.kb.commands import Caller
from core.service.kb.queries import KnowledgeQueries
from core.service.kb.text_spans import Line, Style, code, plain, strong

_ASK = "Ask a question about your team's documents"
_ASK_ON = (
    "After an answer, ask follow-up questions in its thread without a mention. "
    "I stay silent while people talk to each other."
)
HELP: tuple[Line, ...] = (
    (plain(f"{_ASK}: mention me in a channel, or send me a direct message."),),
    (plain(_ASK_ON),),
    (
        plain("Each [n] in an answer is a source. "),
        strong(ROWS[AnswerButton.QUOTES].label),
        plain(" shows the exact passages. Please rate answers: your admins see what is missing."),
    ),
    (
        plain("Commands, with a mention in a thread or after "),
        code("/footnote"),
        plain(":"),
    ),
    (
        code("why"),
        plain(" explains my last answer, "),
        code("mute"),
        plain(" and "),
        code("unmute"),
        plain(" stop and resume my answers in the thread."),
    ),
    (
        code("forget"),
        plain(" deletes what I stored about the thread, "),
        code("forget me"),
        plain(" deletes everything you asked, "),
        code("settings"),
        plain(" opens the channel's settings for admins."),
    ),
)
HELP_TEXT = "\n".join(
    "".join(f"`{span.text}`" if span.style is Style.CODE else span.text for span in line) for line in HELP
)
SETTINGS_BY_COMMAND = "Admins open the settings of a channel with `/footnote settings`."


MOST = 3
TRIED = 24  # documents to check
HANDY = 80  # characters; longer questions come last
_KEPT = 500  # documents whose question is remembered

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Example:
    """A question that one document answers; ``is_heading`` if its author wrote it as a heading."""

    question: str
    is_heading: bool


@dataclass(frozen=True, slots=True)
class ExampleQuestions:
    """Suggests questions that the caller's documents answer, each from another document."""

    queries: KnowledgeQueries
    _known: "LRUCache[tuple[str, str], tuple[Example, ...]]" = field(default_factory=lambda: LRUCache(_KEPT))

    async def suggest(self, caller: Caller) -> tuple[str, ...]:
        """Return at most ``MOST`` questions; none if the documents have no headings or cannot be read now."""
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
    """Return one passage's question, preferably one that a heading asks; none if no heading names a topic."""
    named = [passage for passage in passages if names_topic(passage)]
    asking = [passage for passage in named if topic_of(passage).endswith("?")]
    return (Example(follow_up_on((asking or named)[0]).question, bool(asking)),) if named else ()
