"""Interpretation of a message with its thread: earlier questions and attached files.

Attached files are evidence for this question only and are not stored.
"""

import re
from collections.abc import Iterator, Sequence

from adapters.reasoners.extractive.compose import replies
from adapters.reasoners.extractive.score.reading import ALONE, Leaning
from adapters.reasoners.extractive.understand import PHRASES
from adapters.reasoners.extractive.understand.follow_up import (
    LEADING,
    ResolvedQuestion,
    pronoun_in,
    resolve,
    resolve_part,
)
from adapters.reasoners.extractive.understand.intent import Intent, kind_of, overview_of, split_question
from adapters.reasoners.extractive.understand.names import names
from adapters.reasoners.extractive.understand.parts import sides_of
from core.model.answer import Outcome
from core.model.conversation import ContextMessage, Exchange, Role, Thread, Turn
from core.model.evidence import Evidence, Hit
from core.model.inquiry import AskBack, Inquiry, Investigate, Plan
from core.model.knowledge import Passage
from core.model.text import content_words, sentences

_LONGEST = 1_200  # characters of a piece of a file that is scored like a passage
_MOST = 24  # pieces of all files together
_SAYS_LITTLE = 2  # content words; such a short question may continue the last one without saying so
_SUMMARY = 700  # characters of all files together
_ASKS_SUMMARY = PHRASES["ASKS_SUMMARY"]
_NAMES_IT = PHRASES["NAMES_FILE"]


def plan_without_search(inquiry: Inquiry, thread: Thread) -> Plan | None:
    """Return the plan for small talk and questions about the thread or the bases. None for other questions."""
    if overview := overview_of(inquiry.question, {base.name for base in inquiry.bases}):
        return overview
    kind = kind_of(inquiry.question, in_thread=bool(thread.turns))
    if kind is Intent.MORE and thread.last and (question := thread.last.rewritten):
        return Investigate(question, (question,), "more of what was asked last", resolved_from_thread=True)
    return None if kind is None else replies.reply_to(kind, thread)


def plan_searches(inquiry: Inquiry, thread: Thread) -> Plan:
    """Return the searches for a question, with the thread's context filled in."""
    asked = split_question(inquiry.question)
    needs: list[str] = []
    reasons: list[str] = []
    leans = False
    earlier = exchanges(thread)
    for number, need in enumerate(asked.needs):
        # A later part depends on earlier ones if it has a pronoun or only one content word: "what's the extension?".
        resolved = resolve(need, earlier) if not number or pronoun_in(need) else resolve_part(need, needs)
        if resolved.stuck:
            return AskBack("What do you mean? Tell me a word or two about what you are looking for.")
        needs.append(resolved.question)
        reasons.extend([resolved.reason] if resolved.reason else [])
        leans = leans or (_goes_on(need, resolved) and not resolved.amends)
        earlier = (*earlier, Exchange(resolved.question))
    question = " ".join(needs)
    if len(needs) == 1 and (sides := sides_of(question)):
        needs = list(sides)
    return Investigate(
        question,
        tuple(needs),
        "; ".join(reasons),
        sources_first=asked.sources_first,
        resolved_from_thread=bool(reasons),
        leans_on=_quoted_last(thread) if leans else (),
    )


def question_of_files(question: str) -> str:
    """Return the question without padding and without words that only refer to the file."""
    bare = split_question(question).question
    return " ".join(_NAMES_IT.sub(" ", bare).split()) or bare


def summary_of(files: Sequence[ContextMessage], question: str) -> str:
    """Return the first sentences of the files' paragraphs if the question asks for a summary. Empty otherwise."""
    if not _ASKS_SUMMARY.fullmatch(question.strip()):
        return ""
    read = [file for file in files if not file.unread and file.text.strip()]
    share = _SUMMARY // max(1, len(read))
    return "\n\n".join(f"From *{file.author}*:\n\n{_beginnings(file.text, share)}" for file in read)


def _beginnings(text: str, most: int) -> str:
    """Return the first sentences of paragraphs, as many as fit, but at least one."""
    first = [found[0] for paragraph in re.split(r"\n\s*\n", text) if (found := sentences(paragraph.strip()))]
    kept, left = first[:1], most - len(first[0]) if first else 0
    for sentence in first[1:]:
        if (left := left - len(sentence)) < 0:
            break
        kept.append(sentence)
    return "\n\n".join(kept)


def evidence_of(files: Sequence[ContextMessage]) -> tuple[Evidence, ...]:
    """Return the pieces of the files as evidence, in order, numbered from 1."""
    passages = [
        Passage(f"{file.author}-{at}", "", file.author, "", f"{file.author}-{at}", at, file.author, text)
        for file in files
        if not file.unread
        for at, text in enumerate(_stretches(file.text))
    ]
    return tuple(Evidence(number, Hit(passage, 0.5), "attached") for number, passage in enumerate(passages[:_MOST], 1))


def _stretches(text: str) -> Iterator[str]:
    """Yield paragraphs, joined up to the length of a passage."""
    gathered = ""
    for paragraph in re.split(r"\n\s*\n", text):
        if gathered and len(gathered) + len(paragraph) > _LONGEST:
            yield gathered
            gathered = ""
        gathered = f"{gathered}\n\n{paragraph}".strip()
    if gathered:
        yield gathered


def exchanges(thread: Thread) -> tuple[Exchange, ...]:
    """Return the exchanges for resolving follow-ups: first messages of other people, then our own turns."""
    around = tuple(Exchange(message.text[:400]) for message in thread.context if message.role is Role.PERSON)
    turns = tuple(
        Exchange(
            _without_place(turn),
            replies.prose(turn.answer) if turn.outcome is Outcome.ANSWERED else "",
            tuple(dict.fromkeys(citation.title for citation in turn.citations if turn.outcome is Outcome.ANSWERED)),
            is_settled=turn.outcome not in {Outcome.PARKED, Outcome.CLARIFIED},
        )
        for turn in thread.turns
    )
    return (*around, *turns)


def _without_place(turn: Turn) -> str:
    """Return a turn's question without the document title that a chosen reading appends."""
    question = turn.rewritten or turn.question
    places = [f" ({one.title})?" for one in turn.citations]
    return next((f"{question.removesuffix(place)}?" for place in places if question.endswith(place)), question)


def leaning_of(inquiry: Inquiry) -> Leaning:
    """Return a question's context from its thread. With several needs, that is only the documents."""
    plan = inquiry.plan
    if not isinstance(plan, Investigate):
        return ALONE
    alone = plan.resolved_from_thread and len(plan.queries) == 1
    return Leaning(split_question(inquiry.question).question if alone else "", plan.leans_on)


def _goes_on(need: str, resolved: ResolvedQuestion) -> bool:
    """Return whether a question continues the thread: it was resolved, has a pronoun, or has few words."""
    short = len(content_words(need)) <= _SAYS_LITTLE and not names(need)
    return bool(resolved.reason or pronoun_in(need) or LEADING.match(need)) or short


def _quoted_last(thread: Thread) -> tuple[str, ...]:
    """Return the titles that the last answer cited."""
    cited = (turn.citations for turn in reversed(thread.turns) if turn.outcome is Outcome.ANSWERED)
    return tuple(dict.fromkeys(one.title for one in next(cited, ())))
