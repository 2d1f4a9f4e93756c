"""First step: decide whether to search, and for what. One reasoner call."""

import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import groupby
from typing import assert_never

from core.agent.outcomes import ask_back, end_run, nothing_to_read, reply_directly
from core.agent.run import RESERVE_SECONDS, Run
from core.agent.ungrounded_reply import reason_to_search
from core.model.answer import Outcome
from core.model.errors import BudgetExhausted
from core.model.events import AgentCompleted, AgentEvent, RoutingDecided
from core.model.inquiry import AskBack, Investigate, Overview, Phase, Plan, Reply, SearchKnowledge
from core.model.knowledge import Document, KnowledgeBase
from core.model.text import content_words

MAX_QUERIES = 3
KEPT = 0.6  # least share of a message's words in its rewritten question, if there was nothing to resolve
SPELT_ALIKE = 0.75  # difflib's ratio
_PRONOUN = re.compile(r"(?i)\b(?:its?|they|them|theirs?|he|him|his|she|hers?|this|that|these|those|ones?|there)\b")
# "What does the attached contract say", "can you read this one?": questions about an attachment.
_NAMES_ATTACHED = re.compile(
    r"(?i)\battach(?:ed|ments?)\b|\b(?:this|that|the|my|our|these)\s+(?:\w+\s+)?"
    r"(?:file|document|pdf|spreadsheet|scan|image|picture|screenshot|photo|upload|one)s?\b"
    r"|\bwhat\s+(?:does|do)\s+(?:this|that|it|these)\s+(?:say|tell|contain)\b|\bsummari[sz]e\s+(?:this|that|it)\b"
)
# "What does this file say", "in the attached plan": questions about the attachment alone, not the documents.
_ONLY_ATTACHED = re.compile(
    r"(?i)\b(?:this|that|these|those)\s+(?:attached\s+)?"
    r"(?:file|document|pdf|spreadsheet|scan|attachment|upload)s?\b|\b(?:the|my)\s+attached\b"
)
NOT_IN_FILE = "I couldn't find this in {files}. To search your documents, ask without naming the file."
UNREADABLE = (
    "I can't answer this, because I couldn't read the file. Attach it in another format, or ask what your documents"
    " say."
)


async def understand(run: Run) -> AsyncGenerator[AgentEvent, None]:
    """Store a plan in the inquiry with its queries as next actions, or end with a reply or a question back."""
    if _asks_about_unreadable(run):
        yield RoutingDecided(needs_retrieval=False, reason="what it asks about could not be read")
        yield end_run(run, Outcome.ABSTAINED, UNREADABLE)
        return
    with run.time_stage("understand"):
        plan = await _make_plan(run)
    match plan:
        case Reply():
            run.update(plan=plan)
            yield RoutingDecided(needs_retrieval=False, reason=plan.reason)
            async for event in reply_directly(run, plan):
                yield event
        case AskBack():
            run.update(plan=plan)
            yield RoutingDecided(needs_retrieval=False, reason=plan.reason or "the question is unclear")
            async for event in ask_back(run, plan):
                yield event
        case Overview():
            run.update(plan=plan)
            yield RoutingDecided(needs_retrieval=False, reason=plan.reason)
            yield await overview(run, plan)
        case Investigate() if files := _only_subject(run):
            yield RoutingDecided(needs_retrieval=False, reason="it asks about the attached file alone")
            yield end_run(run, Outcome.ABSTAINED, NOT_IN_FILE.format(files=files))
        case Investigate() if not run.inquiry.bases:
            yield RoutingDecided(needs_retrieval=False, reason="there is nothing to search in")
            yield await nothing_to_read(run)
        case Investigate():
            queries = tuple(dict.fromkeys(query.strip() for query in plan.queries if query.strip()))[:MAX_QUERIES]
            plan = replace(
                plan, question=plan.question.strip() or run.inquiry.question, queries=queries or (plan.question,)
            )
            actions = tuple(SearchKnowledge(query) for query in plan.queries)
            run.update(plan=plan, proposals=actions, phase=Phase.GATHER)
            yield RoutingDecided(needs_retrieval=True, reason=plan.reason, queries=plan.queries)
        case _:
            assert_never(plan)


def _only_subject(run: Run) -> str:
    """Return the names of the files that a question is solely about. Empty if it is about more."""
    read = [one.author for one in run.thread.attachments if not one.unread]
    return ", ".join(f"*{name}*" for name in read) if _ONLY_ATTACHED.search(run.inquiry.question) else ""


def _asks_about_unreadable(run: Run) -> bool:
    """Return whether a message asks about its attachments and none of them could be read."""
    attached = run.thread.attachments
    return bool(attached) and all(one.unread for one in attached) and bool(_NAMES_ATTACHED.search(run.inquiry.question))


async def _make_plan(run: Run) -> Plan:
    """Return the reasoner's plan if it is plausible, otherwise a plan by rules."""
    try:
        plan = await run.within(run.reasoner.understand(run.inquiry, run.thread, run.meter), reserve=RESERVE_SECONDS)
    except BudgetExhausted:
        return await _by_rules(run, "no time to plan: searching as asked")
    if isinstance(plan, Reply) and (doubt := reason_to_search(plan, run.inquiry, run.thread, run.deps.names)):
        return await _by_rules(run, doubt)
    if isinstance(plan, Investigate | AskBack) and (better := await _better_by_rules(run, plan)):
        return better
    if isinstance(plan, Investigate) and _loses_words(plan, run):
        return replace(plan, question=run.inquiry.question)
    return plan


async def _better_by_rules(run: Run, plan: Investigate | AskBack) -> Plan | None:
    """Plan a misread message by rules: small talk that a model would search for, or an unresolved "it".

    A plan that merely differs is kept.
    """
    if run.deps.quote_fallback is None or run.fallback_reason or not run.meter.spent.calls or run.thread.attachments:
        return None
    by_rules = await run.deps.quote_fallback.understand(run.inquiry, run.thread, run.meter)
    if isinstance(by_rules, Reply) and by_rules.small_talk:
        run.meter.written_by = run.deps.quote_fallback.name
        return by_rules
    if isinstance(plan, Investigate) and isinstance(by_rules, Investigate) and _leaves_open(plan, by_rules, run):
        return replace(by_rules, queries=(*by_rules.queries, *plan.queries), reason="the follow-up, by rules")
    return None


def _leaves_open(plan: Investigate, by_rules: Investigate, run: Run) -> bool:
    """Return whether a plan lost a follow-up's words, or left a pronoun that the rules can resolve."""
    said = set(content_words(run.inquiry.question))
    asked, resolved = set(content_words(plan.question)), set(content_words(by_rules.question))
    if not run.thread.turns:
        return False
    lost = bool(said) and not any(get_close_matches(word, asked, 1, SPELT_ALIKE) for word in said) and said <= resolved
    return lost or (bool(_PRONOUN.search(plan.question)) and asked <= said and not resolved <= said)


def _loses_words(plan: Investigate, run: Run) -> bool:
    """Return whether a rewritten question lost words, typing errors aside, though there was nothing to resolve."""
    thread = run.thread
    if not run.meter.spent.calls or run.fallback_reason:  # no model wrote it
        return False
    if thread.turns or thread.context or thread.summary or thread.attachments:
        return False
    asked, written = set(content_words(run.inquiry.question)), set(content_words(plan.question))
    kept = sum(bool(word in written or get_close_matches(word, written, 1, SPELT_ALIKE)) for word in asked)
    return kept < KEPT * len(asked)


async def _by_rules(run: Run, reason: str) -> Plan:
    """Plan with the fallback's rules, which resolve follow-ups. Without them, search for the question as asked."""
    if run.deps.quote_fallback is not None and not run.fallback_reason:
        plan = await run.deps.quote_fallback.understand(run.inquiry, run.thread, run.meter)
        if not isinstance(plan, Reply) or not reason_to_search(plan, run.inquiry, run.thread, run.deps.names):
            return replace(plan, reason=reason)
    return Investigate(run.inquiry.question, (run.inquiry.question,), reason)


LISTED = 40  # most titles, over all bases
LINES = 25  # most titles of a single base, one a line


async def overview(run: Run, plan: Overview) -> AgentCompleted:
    """List the titles that this audience may read, by base. List one base if the person named it."""
    documents = await run.deps.catalog.documents(run.inquiry.scope)
    chosen = [base for base in run.inquiry.bases if plan.knowledge_base in (None, base.name)]
    named = frozenset(base.name for base in chosen)
    shown = [document for document in documents if document.knowledge_base in named]
    if not documents:
        return await nothing_to_read(run)
    lines = [_document_count(shown, chosen), *(_title_list(shown) if len(chosen) == 1 else _base_lines(shown, chosen))]
    lines.append("Ask about any of them. I answer with their own sentences.")
    return end_run(run, Outcome.ANSWERED, "\n\n".join(lines))


def _base_of(document: Document) -> str:
    return document.knowledge_base


def _document_count(documents: Sequence[Document], bases: Sequence[KnowledgeBase]) -> str:
    count = f"{len(documents):,} document{'' if len(documents) == 1 else 's'}"
    if len(bases) == 1:
        about = f" ({bases[0].description})" if bases[0].description else ""
        return f"I can read {count} here, in the knowledge base **{bases[0].name}**{about}:"
    return f"I can read {count} here, in {len(bases)} knowledge bases:"


def _title_list(documents: Sequence[Document]) -> list[str]:
    titles = sorted(dict.fromkeys(document.title for document in documents), key=str.casefold)
    more = [f"- … and {len(titles) - LINES:,} more"] if len(titles) > LINES else []
    return ["\n".join([*(f"- *{title}*" for title in titles[:LINES]), *more])] if titles else []


def _base_lines(documents: Sequence[Document], bases: Sequence[KnowledgeBase]) -> list[str]:
    share = max(5, LISTED // max(1, len(bases)))
    ordered = sorted(documents, key=lambda one: (one.knowledge_base, one.title))
    return [_base_line(name, list(group), share, bases) for name, group in groupby(ordered, _base_of)]


def _base_line(name: str, documents: Sequence[Document], share: int, bases: Sequence[KnowledgeBase]) -> str:
    about = next((base.description for base in bases if base.name == name and base.description), "")
    titles = list(dict.fromkeys(document.title for document in documents))
    more = f", and {len(titles) - share} more" if len(titles) > share else ""
    head = f"**{name}**" + (f" ({about})" if about else "")
    return f"{head}: " + ", ".join(f"*{title}*" for title in titles[:share]) + f"{more}."
