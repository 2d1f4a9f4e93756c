"""Searches within one source: the versions of a document, and what the last answer quoted."""

from collections.abc import Sequence

from adapters.reasoners.extractive.answer.newest import asks_for_newest, named_version
from adapters.reasoners.extractive.evidence.versions import family
from core.model.answer import Outcome
from core.model.conversation import Thread
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry, Investigate, SearchAction, SearchSource
from core.model.text import content_words


def rest_of_versions(inquiry: Inquiry, near: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """For "the latest version" or one by its number, the document that tells of versions, where it was not found. Once.

    Its words and what is said of any version find the older ones as well; the year that it is finds the newest.
    """
    made = [search.action for search in inquiry.searches]
    named = named_version(inquiry.standalone)
    asks = named or asks_for_newest(inquiry.standalone)
    if not asks or any(isinstance(action, SearchSource) for action in made):
        return ()
    wanted = set(content_words(inquiry.standalone))
    titles = dict.fromkeys(item.passage.title for item in (*near, *inquiry.library.items_found()))
    known = next((title for title in titles if wanted & set(content_words(title))), "")
    if named:
        there = any(named in " ".join((*item.passage.heading, item.passage.text)) for item in near)
        return (SearchSource(named, known),) if known and not there else ()
    asked = f"{inquiry.standalone.rstrip('?. ')} version released date"
    return (SearchSource(asked, known), SearchSource(f"{inquiry.started_at.year}", known)) if known else ()


def version_behind(inquiry: Inquiry, relevant: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """A search in another version of what answers, where one was found only behind what was looked at. Once.

    Two versions of a document hardly differ in their words: which of them comes first is chance, and it may be the old.
    """
    if any(isinstance(search.action, SearchSource) for search in inquiry.searches):
        return ()
    answering = {family(item.passage): item.passage.document for item in relevant[:1]}
    known = {item.passage.document for item in inquiry.library.items_found()}
    behind = (hit.passage for hit in inquiry.library.further if hit.passage.document not in known)
    title = next((one.title for one in behind if answering.get(family(one), one.document) != one.document), "")
    return (SearchSource(inquiry.standalone, title),) if title else ()


def in_the_same_source(inquiry: Inquiry, thread: Thread) -> tuple[SearchAction, ...]:
    """For a question that leaned on the thread, a search in the source that the last answer quoted first.

    Only once, and only where the question was put in other words for it, or says hardly anything of its own ("who do I
    ask?"): a new topic is not bent towards the old one. It is searched for behind the question before it, since what
    was put in may be the wrong thing.
    """
    plan = inquiry.plan if isinstance(inquiry.plan, Investigate) else None
    sources = leant_on(inquiry, thread) or (plan.leans_on if plan else ())
    query = f"{plan.follows.question} {inquiry.question}" if plan and plan.follows else inquiry.standalone
    return (SearchSource(query, sources[0]),) if sources and len(inquiry.searches) == 1 else ()


def leant_on(inquiry: Inquiry, thread: Thread) -> tuple[str, ...]:
    """The titles that the last answer quoted, where the question was put in other words for the thread."""
    leans = isinstance(inquiry.plan, Investigate) and inquiry.plan.resolved_from_thread
    answered = thread.last is not None and thread.last.outcome is Outcome.ANSWERED
    return tuple(one.title for one in thread.last.citations) if leans and answered and thread.last else ()
