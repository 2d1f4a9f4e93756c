"""Filter for questions back that a model wrote: they are not verified, so they must not state anything.

A model that obeys a document would otherwise say in our name whatever the document wants, without a source. So the
filter drops sentences that are not questions. It keeps a question only if its words come from the conversation or from
titles found. A reading may also use words from the passages found, because it names what to choose from.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from core.agent.citations import source_links
from core.agent.run import Run
from core.agent.ungrounded_reply import words_said
from core.model.answer_links import SourceLinks, without_foreign_links
from core.model.inquiry import AskBack
from core.model.languages import WORDINGS, language_of
from core.model.text import content_words, sentences, without_markers
from core.values import value_faults

# Words that any question, or question back, may use.
_ASKING = """long take takes cost costs often many much work works happen mean meant look looking find refer
    referring ask asking want like know tell say choose pick interested help need question reading thing kind sort
    clarify specify specific exactly meinst meinen meint gemeint suchst suchen genau frage voulez veux dire cherchez
    exactement question quiere quieres decir busca buscas exactamente pregunta"""
_PARTS = re.compile(r"\s*[;\n]\s*")
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)  # scripts without spaces between words cannot be compared
_ADDRESS = re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b(?:/\S*)?", re.IGNORECASE)


def plain_question(run: Run, ask: AskBack) -> AskBack:
    """Remove statements, new names, numbers and addresses. Ask a fixed question if nothing is left."""
    asked, options = shown_words(run, ask.question), tuple(filter(None, (shown_words(run, one) for one in ask.options)))
    if run.fallback_reason or not run.meter.spent.calls:  # no model wrote it
        return replace(ask, question=asked, options=options)
    said = f"{words_said(run.inquiry, run.thread)} {run.inquiry.standalone} {_ASKING}"
    titles = " ".join(" ".join((item.passage.title, *item.passage.heading)) for item in run.inquiry.library)
    parts = [part for sentence in sentences(asked) for part in _PARTS.split(sentence)]
    language = language_of(run.inquiry.question)
    kept = " ".join(part for part in parts if _only_asks(part, f"{said} {titles}", language))
    options = tuple(option for option in options if _is_reading(run, option, said, language))
    wording = WORDINGS[language]
    return replace(ask, question=kept or (wording.which if options else wording.what), options=options)


def shown_words(run: Run, text: str) -> str:
    """Remove markers from unverified text, and links that are neither a source's nor the asker's own."""
    sources = source_links(run.inquiry.library)
    known = SourceLinks(sources.links, (*sources.passages, run.inquiry.question))
    return without_foreign_links(without_markers(text), known).strip()


def _only_asks(part: str, said: str, language: str) -> bool:
    asks = part.rstrip('*_"”’) ').endswith(("?", "？"))
    return asks and _is_known(_as_compared(part, language), said) and not _address(part, said)


def _is_reading(run: Run, option: str, said: str, language: str) -> bool:
    """Return whether the option comes from the evidence. Before a search, whether it adds no name or value."""
    found = " ".join(item.passage.searchable for item in run.inquiry.library.items_found())
    compared, known = _as_compared(option, language), f"{said} {found}"
    if _address(option, known) or value_faults(compared, [known]):
        return False
    return not (found and _LATIN.search(option)) or _is_known(compared, known)


def _is_known(text: str, said: str) -> bool:
    """Return whether a text adds no value, and at least half of its words were said."""
    wanted = set(content_words(text))
    return not value_faults(text, [said]) and 2 * len(wanted & set(content_words(said))) >= len(wanted)


def _as_compared(text: str, language: str) -> str:
    """Return the text in lower case unless it is English: in German, a capital is no sign of a name."""
    return text if language == "en" else text.casefold()


def _address(text: str, said: str) -> str:
    return next((one for one in _ADDRESS.findall(text) if one.casefold() not in said.casefold()), "")


LONGEST = 40  # characters that a button shows on a phone without being cut
_ASIDE = re.compile(r"\s*\([^()]*\)$")
_EDGES = " \t?.!,;:–—-"
_SMALL = frozenset("a an the of in on for to at by with from and or".split())  # noqa: SIM905


def choice_labels(options: Sequence[str]) -> tuple[str, ...]:
    """Return a distinct label of at most 40 characters for each option. A short option is its own label.

    Leave out words that all options begin with. If that is not enough, leave out brackets at the end, then the words
    that all options end with, except the first of these. Cut what is still too long at a word.
    """
    if len(options) < 2 or all(len(option) <= LONGEST for option in options):
        return tuple(map(short_label, options))
    begun = _without_common_words(options, ends=False)
    bare = tuple(_ASIDE.sub("", label) for label in begun)
    fitting = tuple(short if len(label) > LONGEST else label for label, short in zip(begun, bare, strict=True))
    without_asides = tuple(_ASIDE.sub("", option.strip(_EDGES)) for option in options)
    shortened = (fitting, bare, *(_without_common_words(given, ends=True) for given in (options, without_asides)))
    cut = [tuple(short_label(label) for label in labels) for labels in shortened]
    distinct = [labels for labels in cut if len(set(labels)) == len(options) and all(labels)]
    if distinct:
        return next((labels for labels in distinct if labels in shortened), distinct[0])
    return tuple(short_label(f"{number}. {option}") for number, option in enumerate(options, 1))


def _without_common_words(options: Sequence[str], *, ends: bool) -> tuple[str, ...]:
    """Return the options without the words that all begin with, and with ``ends`` those that all end with."""
    split = [option.strip(_EDGES).split() for option in options]
    first, last = _shared_words(split), _shared_words([words[::-1] for words in split]) if ends else 0
    spare = max(0, min(map(len, split)) - 1)  # keep at least one word of each
    first = min(first, spare)
    last = min(max(0, last - 1), spare - first)  # keep the first shared word at the end: "job timeout", not "job"
    kept = [words[first : len(words) - last] for words in split]
    while all(len(words) > 1 and words[0].casefold() in _SMALL for words in kept):
        kept = [words[1:] for words in kept]
    return tuple(_balance_quotes(" ".join(words)).strip(_EDGES) for words in kept)


def _shared_words(split: Sequence[Sequence[str]]) -> int:
    """Return how many words all of them begin with."""
    count = 0
    for words in zip(*split, strict=False):
        if len({word.casefold().strip(_EDGES) for word in words}) > 1:
            break
        count += 1
    return count


def _balance_quotes(text: str) -> str:
    """Close a bracket whose end was cut off with the shared words."""
    return text + ")" if text.count("(") > text.count(")") else text


def short_label(label: str) -> str:
    """Return the label in at most 40 characters, cut at a word."""
    if len(label) <= LONGEST:
        return label
    whole = label[: LONGEST - 1].rsplit(" ", 1)[0]
    return (whole if len(whole) > LONGEST // 2 else label[: LONGEST - 1]).rstrip(_EDGES + "(") + "…"
