"""Whether graded evidence covers the question, what is missing, and which search may find it.

Names that the best passages bring up and the question does not have are bridges to what one search cannot reach; the
searches over them carry the part of the question that their passage leaves open. They are made only where documents
are known by the names they are about: elsewhere they brought nothing (tests/measure/multihop.py counts it).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.answer.newest import asks_for_newest, named_version
from adapters.reasoners.extractive.evidence.name_trail import TrailStep, leads_on, mentions, trail
from adapters.reasoners.extractive.evidence.other_languages import in_english
from adapters.reasoners.extractive.evidence.scoring import Words, rarity_of, scored_by_words
from adapters.reasoners.extractive.evidence.units import Form, coverage, units
from adapters.reasoners.extractive.evidence.versions import family, other_version, section_name
from adapters.reasoners.extractive.question.aggregation import aggregation_of, lists_rows
from adapters.reasoners.extractive.question.named_things import thing_picked
from adapters.reasoners.extractive.question.phrases import names, word_list
from core.model.answer import Outcome
from core.model.conversation import Thread
from core.model.evidence import Evidence, Grade
from core.model.inquiry import (
    CheckpointKind,
    Inquiry,
    Investigate,
    ReadSection,
    SearchAction,
    SearchKnowledge,
    SearchSource,
)
from core.model.languages import language_of
from core.model.text import content_words, words

_TABLES = 2  # whose sections are read to the end
_ASKED_ABOUT = 3  # searches, after which a person chooses whether to go on
_BRIDGES = 4  # searches that one decision proposes at most
_RELATION = 6  # words
_FOLLOWED = 2  # names at a trail's end
_LOOK_AT = 4  # best passages whose names are followed
_HISSES = re.compile(r"(?:s|x|z|ch|sh)$")
_CALENDAR = word_list(
    """
    january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday see note settings
    """
)
_BESIDE = re.compile(r" \(|, ")  # what tells a title from others of its name begins here: "(film)", ", Ohio"
_SHORTEST = 3  # letters of a title that may be a name
# A question that asks for something by way of something else, or for several things at once.
_LAYERED = re.compile(
    r"^(?:when|where|who|whom|which)\b[^?]*?\bthe \w+ of\b|"
    r"\b(?:of|by|in|from|to|with|at|for|on) (?:the|a|an) [^?]*?\b(?:of|that|who|which|whose|where|in|by|from"
    r"|for)\b|\b(?:whose|both|same|older|younger|"
    r"earlier|later|first|before|after)\b|\b(?:that|which|who|where) (?:is|was|are|were|has|had|did|does|have)\b"
    r"|[’']s [^?]*\b(?:of|in|for|per|that|who|which)\b|[’']s? \w+[’']s?\b| or ",
    re.IGNORECASE,
)


def next_actions(inquiry: Inquiry, relevant: Sequence[Evidence]) -> tuple[str, tuple[SearchAction, ...]]:
    """What is missing in a person's words, and the searches that may find it; nothing missing, no actions.

    It searches on once, and once more only where a single search brought the trail a step further.
    """
    question = inquiry.standalone
    planned = len(_planned_queries(inquiry)) or 1
    first_time = len(inquiry.searches) <= planned
    leads = is_layered(question) and known_by_name(question, inquiry.library)
    if not relevant:
        return f"anything that answers “{question}”", bridges(inquiry) if first_time and leads else ()
    if len(inquiry.searches) > planned + 1:
        return "", ()
    followed = _follow_name_trail(inquiry, relevant)
    named = open_names(question, relevant[:2], inquiry.question)
    if not first_time or _one_covers(question, relevant, inquiry):
        actions = followed
    else:
        actions = tuple(dict.fromkeys((*_about(inquiry, named), *followed, *(bridges(inquiry) if leads else ()))))
    actions = actions[:_BRIDGES]
    return (", ".join(named) or "the rest of the question", actions) if actions else ("", ())


def _follow_name_trail(inquiry: Inquiry, relevant: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """Searches for the names in which the trail from the best passages ends without what is asked for."""
    question = inquiry.standalone
    rarity = rarity_of(tuple(inquiry.library))
    asked = Words(question, rarity)
    first = [TrailStep(item, one.unit) for item in relevant[:2] for one in scored_by_words(asked, item)[:2]]
    pool = [TrailStep(item, unit) for item in inquiry.library.items_found() for unit in units(item.passage.text)]
    found = trail(question, first, pool)
    wanted = {name: _phrase(question, name) for name in _unmentioned_names(question, relevant[:3])}
    wanted.update((name, f"{name} {_relation(question, first)}".strip()) for name in found.lacking)
    wanted.update((name, f"{name} {_open_part(question, relevant[0])}".strip()) for name in found.open_names)
    later = [made for made in searches_tried(inquiry) if made != frozenset(content_words(question))]
    fresh = [query for name, query in wanted.items() if not any(set(content_words(name)) <= made for made in later)]
    return tuple(SearchKnowledge(query) for query in dict.fromkeys(fresh[:_FOLLOWED]))


def _relation(question: str, first: Sequence[TrailStep]) -> str:
    """What the best quote says beyond the question: "the lead of the team that owns it" of a service."""
    known = set(content_words(question))
    said = words(first[0].unit.text) if first else ()
    return " ".join([word for word in said if (found := content_words(word)) and not set(found) & known][:_RELATION])


def _unmentioned_names(question: str, evidence: Sequence[Evidence]) -> list[str]:
    """Names of the question that none of these passages has in the same case: "Depot", where all speak of depots."""
    texts = [item.passage.searchable for item in evidence]
    return [name for name in names(question) if leads_on(name) and not any(mentions(text, name) for text in texts)]


def _phrase(question: str, name: str) -> str:
    """The name with the word after it: "Depot plan"."""
    after = question.split(name, 1)[-1].split()
    return f"{name} {after[0].strip('?.,!')}" if after and content_words(after[0]) else name


def as_corrected(inquiry: Inquiry, asked: Sequence[str], meant: Sequence[str]) -> tuple[SearchAction, ...]:
    """Searches for the needs in which slips were put right, as they are meant; none that was made before.

    What is misspelt finds only what is like the rest of the question. What that finds may put right another slip; but
    before a person would be asked about the next search, it is enough.
    """
    if len(inquiry.searches) >= _ASKED_ABOUT:
        return ()
    pairs = zip(asked, meant, strict=True)
    searches = [SearchKnowledge(read) for need, read in pairs if need != read.replace("'", "") and need != read]
    made = [search.action for search in inquiry.searches]
    return tuple(search for search in searches if search not in made)


def rest_of_table(inquiry: Inquiry, near: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """For a question that a whole table answers, its section: the table may go on in passages that were not found."""
    whole = aggregation_of(inquiry.standalone) is not None or lists_rows(inquiry.standalone)
    read = any(isinstance(made.action, ReadSection) for made in inquiry.searches)
    if not whole or read or len(inquiry.searches) >= _ASKED_ABOUT:
        return ()
    sections: dict[str, int] = {}
    for item in near:
        if any(unit.form is Form.ROW for unit in units(item.passage.text)):
            sections.setdefault(item.passage.section, item.id)
    return tuple(ReadSection(evidence) for evidence in list(sections.values())[:_TABLES])


def other_table(inquiry: Inquiry, near: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """For "the heaviest" where no table that was found has a column of weights, a search for such a column. Once."""
    asked = aggregation_of(inquiry.standalone)
    if asked is None or not asked.column or len(inquiry.searches) != 1:
        return ()
    heads = {word for item in near for unit in units(item.passage.text) if unit.head for word in words(unit.head[0])}
    if {word.casefold() for word in heads} & {word.casefold() for word in asked.column}:
        return ()
    hints = sorted(word for word in asked.column if word.isalpha())
    return (SearchKnowledge(f"{inquiry.standalone.rstrip('?. ')} {' '.join(hints)}"),)


def tables_to_look_for(inquiry: Inquiry, near: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """What may bring the table that a question asks as a whole: its rest and its title, but before that its column."""
    rest, by_column = rest_of_table(inquiry, near), other_table(inquiry, near)
    return rest if by_column and not rest else (*rest, *table_by_title(inquiry, near))


def table_by_title(inquiry: Inquiry, near: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """For "which site is the oldest" and "how many sites", the table that is called "Sites", where it was not found.

    It has hardly a word of such a question in its rows, and many another page has them all: it is looked for even where
    something seems to answer. Once.
    """
    asked = aggregation_of(inquiry.standalone)
    made = [search.action for search in inquiry.searches]
    if asked is None or len(made) >= _ASKED_ABOUT or any(isinstance(action, SearchSource) for action in made):
        return ()
    picked = set(thing_picked(inquiry.standalone))
    named = next((word for word in words(inquiry.standalone) if set(content_words(word)) & picked), "")
    if not named or any(set(content_words(item.passage.title)) == set(content_words(named)) for item in near):
        return ()
    return (SearchSource(inquiry.standalone, _plural_of(named)),)


def _plural_of(word: str) -> str:
    """A noun as a table of many is titled by it: "site" and "sites" as "sites"."""
    if word.endswith("s") and not word.endswith("ss"):
        return word
    return f"{word[:-1]}ies" if re.search(r"[^aeiou]y$", word) else f"{word}{'es' if _HISSES.search(word) else 's'}"


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


def _planned_queries(inquiry: Inquiry) -> tuple[str, ...]:
    return inquiry.plan.queries if isinstance(inquiry.plan, Investigate) else ()


def is_layered(question: str) -> bool:
    """Whether the question reaches its answer through something else that has to be found first."""
    return bool(_LAYERED.search(question)) or len([name for name in names(question) if not name.isupper()]) > 1


def known_by_name(question: str, evidence: Iterable[Evidence]) -> bool:
    """Whether the question names a document that was found: by its title, in any case, written as a name.

    Only where documents are about what their titles name does a name lead to one. In a manual, whose titles say what a
    page is for, searches over the names in it bring more of the same.
    """
    asked = [_without_s(word) for word in words(question)]
    titles = dict.fromkeys(_BESIDE.split(item.passage.title)[0] for item in evidence)
    return any(_stands_in(asked, [_without_s(word) for word in words(title)]) for title in titles)


def _stands_in(asked: Sequence[str], title: Sequence[str]) -> bool:
    """Whether these words stand together in the question, one of them with a capital that is not a sentence's first."""
    size = len(title)
    if sum(map(len, title)) < _SHORTEST:
        return False
    wanted = [word.casefold() for word in title]
    return any(
        [word.casefold() for word in asked[at : at + size]] == wanted
        and any(word[0].isupper() for word in asked[max(at, 1) : at + size])
        for at in range(len(asked) - size + 1)
    )


def _without_s(word: str) -> str:
    return re.sub(r"['’]s$", "", word, flags=re.IGNORECASE)


def open_names(question: str, evidence: Iterable[Evidence], typed: str = "") -> tuple[str, ...]:
    """What of the question is named, or unlike common words, and in none of these passages, in whichever language.

    ``typed`` is the question before it was read in English: in German all nouns have a capital, and what is left of
    them is no name.
    """
    written = tuple(evidence)
    found = (*written, *map(in_english, written))
    lacking = {word for word in uncovered_words(question, found) if not _numbered_so(word, found)}
    lacking -= {word for word in lacking if _is_amount(word, found)}
    capitals = () if typed != question and language_of(typed) == "de" else names(question)
    named = {part for name in capitals for part in name.split()}
    telling = re.compile(r"^(?:19|20)\d\d$|(?=.*\d)(?=.*[^\W\d_])")  # a year, or letters with digits
    return tuple(word for word in words(question) if word in lacking and (word in named or telling.search(word)))


def _numbered_so(word: str, evidence: Iterable[Evidence]) -> bool:
    """Whether "v2" stands there as "version 2"."""
    told = re.fullmatch(r"[vVrR](\d+(?:\.\d+)*)", word)
    if told is None:
        return False
    long = re.compile(rf"\b(?:version|release) {re.escape(told[1])}\b", re.IGNORECASE)
    return any(long.search(item.passage.searchable) for item in evidence)


_THOUSANDS = re.compile(r"\d[\d.,]*k", re.IGNORECASE)
_MEASURE = re.compile(r"(\d[\d.,]*)([a-z]{1,4})", re.IGNORECASE)


def _is_amount(word: str, evidence: Iterable[Evidence]) -> bool:
    """Whether it is no name but an amount: "20k", which lies in a range, or "9mm" where "9 mm" stands."""
    if _THOUSANDS.fullmatch(word):
        return True
    told = _MEASURE.fullmatch(word)
    if told is None:
        return False
    apart = re.compile(rf"(?<![\w.,]){re.escape(told[1])}\s{re.escape(told[2])}\b", re.IGNORECASE)
    return any(apart.search(item.passage.searchable) for item in evidence)


def _about(inquiry: Inquiry, named: Sequence[str]) -> tuple[SearchAction, ...]:
    """One search for what is named and not covered."""
    query = " ".join(named)
    return (SearchKnowledge(query),) if query and frozenset(content_words(query)) not in searches_tried(inquiry) else ()


def _one_covers(question: str, relevant: Sequence[Evidence], inquiry: Inquiry) -> bool:
    rarity = rarity_of(tuple(inquiry.library))
    wanted = content_words(question)
    return any(
        coverage(wanted, content_words(item.passage.searchable), rarity) >= weights.COVERING_PASSAGE
        for item in relevant
    )


def uncovered_words(question: str, evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """The question's content words, as they stand in it, that no passage has."""
    there = {word for item in evidence for word in content_words(item.passage.searchable)}
    lacking = [word for word in words(question) if (found := content_words(word)) and not set(found) & there]
    return tuple(dict.fromkeys(lacking))


def searches_tried(inquiry: Inquiry) -> set[frozenset[str]]:
    """The searches already made, as sets of stems."""
    made = [search.action for search in inquiry.searches]
    return {
        frozenset(content_words(action.query)) for action in made if isinstance(action, SearchKnowledge | SearchSource)
    }


def bridges(inquiry: Inquiry) -> tuple[SearchAction, ...]:
    """Searches for what the best passages name and the question does not, best passage first; none made before."""
    question = inquiry.standalone
    known = frozenset(content_words(question))
    done = searches_tried(inquiry)
    found: dict[frozenset[str], SearchKnowledge] = {}
    best = sorted(inquiry.library, key=lambda item: (-item.hit.score, item.id))
    for item in best[:_LOOK_AT]:
        for name in dict.fromkeys(name for unit in units(item.passage.text) for name in names(unit.text)):
            stems = frozenset(content_words(name))
            if not _leads_on(name) or not stems or stems <= known or stems in found:
                continue
            query = f"{name} {_open_part(question, item)}".strip()
            if frozenset(content_words(query)) not in done:
                found[stems] = SearchKnowledge(query)
    return tuple(found.values())[:_BRIDGES]


def _leads_on(name: str) -> bool:
    """Whether something may be known under this name: not initials, not a date."""
    return len(name) > 3 and not {part.casefold() for part in name.split()} & _CALENDAR


def _open_part(question: str, item: Evidence) -> str:
    """What the question asks beyond what this passage says."""
    there = set(content_words(item.passage.searchable))
    return " ".join(word for word in words(question) if (found := content_words(word)) and not set(found) & there)


def credit_versions(inquiry: Inquiry, grades: Mapping[int, Grade], evidence: Sequence[Evidence]) -> dict[int, Grade]:
    """Grades by evidence id, where the version that holds counts as much as an older one says of the same section.

    What a superseded document answers, its successor has to be asked as well, in whatever other words it says it. Where
    neither answers, the one that holds comes nearer.
    """
    pool = (*inquiry.library.items_found(), *evidence)
    found = dict(grades)
    for old in evidence:
        if not other_version(inquiry.standalone, old, pool):
            continue
        chance = found[old.id].chance
        found[old.id] = replace(found[old.id], chance=chance and chance * weights.OTHER_VERSION)
        if found[old.id].score < inquiry.cutoff:
            continue
        for new in evidence:
            same = family(new.passage) == family(old.passage) and section_name(new.passage) == section_name(old.passage)
            if same and new.id != old.id and not other_version(inquiry.standalone, new, pool):
                found[new.id] = max(found[new.id], replace(found[new.id], score=found[old.id].score), key=_score)
    return _without_old_alone(inquiry, found, evidence, pool)


def _without_old_alone(
    inquiry: Inquiry, grades: Mapping[int, Grade], evidence: Sequence[Evidence], pool: Sequence[Evidence]
) -> dict[int, Grade]:
    """The grades, where a superseded document is no evidence as long as nothing of its successor is."""
    found = dict(grades)
    held = {
        family(item.passage)
        for item in evidence
        if found[item.id].score >= inquiry.cutoff and not other_version(inquiry.standalone, item, pool)
    }
    for old in evidence:
        if family(old.passage) not in held and other_version(inquiry.standalone, old, pool):
            found[old.id] = replace(found[old.id], score=min(found[old.id].score, inquiry.cutoff - 1))
    return found


def _score(grade: Grade) -> int:
    return grade.score


def credit_link(inquiry: Inquiry, item: Evidence, grade: Grade) -> Grade:
    """A passage that a good one names is a link of a chain: it counts although the question's words are not in it."""
    if grade.score >= inquiry.cutoff or not inquiry.searches or item.query in _planned_queries(inquiry):
        return grade
    title = frozenset(content_words(item.passage.title))
    if not title:
        return grade
    for good in inquiry.library.relevant(inquiry.cutoff):
        if (
            good.id != item.id
            and title <= frozenset(content_words(good.passage.text))
            and item.passage.title in good.passage.text
        ):
            return replace(grade, score=inquiry.cutoff)
    return grade


_QUOTED = re.compile(r"[“„«]\s?([^“”„«»]+?)\s?[”“»]")  # as suggestions name a section (core.service.follow_ups)
_UNDERSPECIFIED = re.compile(
    r"^(?P<lead>(?:what(?:'s|’s| is| are)|how (?:do|can|should|would) (?:i|we|you) (?:configure|set|change"
    r"|increase|raise|adjust|"
    r"extend|set up|control)|where (?:do|can) (?:i|we|you) (?:set|change|configure|find)|how (?:long|high|big"
    r"|large) (?:is|are)|"
    r"can (?:i|we) (?:change|raise|increase|configure|set))\s+(?:the|our|a)\s+)?(?P<rest>.*?)\s*[?.!]*$",
    re.IGNORECASE,
)
_TOO = re.compile(r"^(?:the|our)\s+(?P<noun>[a-z]{4,})\s+(?:is|was|seems|are)\b", re.IGNORECASE)
_NO_SENSE = word_list(
    """
    default same new longer shorter current maximum minimum first second next last other another own each every
    one two three four single different total overall full whole
    """
)


def noun_of(question: str) -> str:
    """The one bare noun that a question asks about, or nothing: "timeout" in "How do I configure the timeout?"."""
    if stated := _TOO.match(question.strip()):
        return stated["noun"].casefold()
    found = _UNDERSPECIFIED.match(question.strip())
    if found is None or not found["lead"]:
        return ""
    rest = words(found["rest"])
    return rest[0].casefold() if len(rest) == 1 and len(rest[0]) > 3 else ""


def readings(question: str, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Self-contained readings of a question whose one noun has several meanings in strong evidence; else none."""
    noun = noun_of(question)
    if not noun:
        return ()
    senses = _senses(noun, evidence)
    if len(senses) < 2:
        return ()
    bare = re.compile(rf"\b(?:the|our|a)\s+{re.escape(noun)}\b", re.IGNORECASE)
    asked = question.strip().rstrip("?.! ")
    return tuple(f"{bare.sub(f'the {sense}', asked, count=1)} ({where})?" for sense, where in list(senses.items())[:4])


def chosen_reading(inquiry: Inquiry) -> tuple[str, tuple[str, ...]]:
    """The question in words of its own, and the title that a reading which was chosen names besides, if one was."""
    question = inquiry.standalone
    if CheckpointKind.CLARIFY in inquiry.settled:
        for title in dict.fromkeys(item.passage.title for item in inquiry.library):
            if question.endswith(place := f" ({title})?"):
                return f"{question.removesuffix(place)}?", (title,)
    return question, ()


def credit_offered(inquiry: Inquiry, item: Evidence, grade: Grade) -> Grade:
    """A section that was offered counts, whatever its words: a chosen reading's, or one whose names are quoted."""
    question, titles = chosen_reading(inquiry)
    heading = " ".join(item.passage.heading[-1:])
    named = frozenset(content_words(heading))
    chosen = item.passage.title in titles and bool(named) and named <= frozenset(content_words(question))
    quoted = {item.passage.title, heading} <= set(_QUOTED.findall(inquiry.question))
    return replace(grade, score=max(grade.score, inquiry.cutoff)) if chosen or quoted else grade


def _senses(noun: str, evidence: Sequence[Evidence]) -> dict[str, str]:
    """The noun with each word that stands before it, and where; one sense for each section."""
    singular = re.escape(noun.removesuffix("s"))
    pattern = re.compile(rf"\b([a-z][a-z-]{{2,}})[ -]({singular}s?)\b", re.IGNORECASE)
    senses: dict[str, str] = {}
    sections: set[str] = set()
    for item in evidence:
        passage = item.passage
        text = "\n".join((*passage.heading, passage.text))
        for match in pattern.finditer(text):
            modifier = match.group(1).casefold()
            sense = f"{modifier} {noun}"
            if passage.section in sections or modifier in _NO_SENSE or not content_words(modifier) or sense in senses:
                continue
            senses[sense] = passage.title
            sections.add(passage.section)
    return senses
