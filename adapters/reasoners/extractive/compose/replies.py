"""Replies without a search: one friendly line for small talk, and quotes from the thread.

Repeated text comes verbatim from the thread's turns, because nothing here can rephrase.
"""

import re
from collections.abc import Callable, Sequence

from adapters.reasoners.extractive.candidates import coverage as covered
from adapters.reasoners.extractive.candidates import inverse_frequency, word_weights
from adapters.reasoners.extractive.understand.answer_type import fits
from adapters.reasoners.extractive.understand.intent import Intent
from core.model.answer import Citation, Outcome
from core.model.conversation import Thread, Turn
from core.model.inquiry import Reply
from core.model.text import content_words

_SMALL_TALK = {
    Intent.GREETING: "Hello! Ask me anything about your team's documents, and I'll quote what they say.",
    Intent.THANKS: "You're welcome! Ask again whenever you like.",
    Intent.FAREWELL: "Goodbye! I'm here whenever you need something from the documents.",
    Intent.WELLBEING: "All well here, thank you! What would you like to look up in the documents?",
    Intent.ACKNOWLEDGED: "Good. Ask away if there is anything else to look up.",
    Intent.ABILITIES: (
        "I search your team's documents and answer from them, each sentence with its source, so that you can check "
        "it. Without a language model I quote rather than write; when the documents don't say, I tell you so."
    ),
    Intent.IDENTITY: (
        "I'm Footnote: I look things up in your team's documents and tell you what they say, with the source beside "
        "it. Without a language model I answer in the documents' own words."
    ),
    Intent.METHOD: (
        "I search the documents, grade each passage that I find, and quote only from passages that count as evidence. "
        "Every sentence is then held against the passage that it cites, word for word; what does not stand there is "
        "struck out. The numbers lead to the passages, so that you can check for yourself. When nothing counts as "
        "evidence, I say that the documents don't say."
    ),
}
_SUMMARY = 1_200  # characters
_RECAP_TURNS = 5
_SHORT = 2  # sentences in a shortened answer
_MARK = re.compile(r"\s?\[(\d{1,4})\]")
# A sentence of an old answer with the markers that follow it, or a table row. The "not from the documents" mark is
# part of its sentence, so that it is never lost.
_SENTENCE = re.compile(r"\|.*|.+?(?:[.!?…](?:\s*\[\d+\]|\s*\(not from the documents\))*(?=\s|$)|$)")
_HEDGED = "(not from the documents)"
_FRAME = re.compile(r"^(?:From \*.*:|On “.*”:|I found nothing .*|The documents .*|Mind what .*:)$", re.MULTILINE)
_PLAIN_HELP = (
    "I can only quote, not rephrase: no language model is writing here. The heart of my last answer, in the documents' "
    "words:"
)


def reply_to(kind: Intent, thread: Thread) -> Reply:
    """Return the reply to a message of this kind."""
    if kind in _SMALL_TALK:
        return Reply(_SMALL_TALK[kind], "small talk: no search needed", small_talk=True)
    if thread.last is None:
        return Reply(
            "We have not talked about anything yet here. What would you like to know?", "an empty conversation"
        )
    said = _OF_THREAD.get(kind, _shorten_last_answer)(thread)
    return Reply(said, "about this conversation: no search needed")


def _last_question(thread: Thread) -> str:
    asked = [turn.question for turn in thread.turns if turn.question]
    if len(asked) == 1:
        return f"You asked: “{asked[0]}”"
    earlier = "; ".join(f"“{question}”" for question in asked[-_RECAP_TURNS:-1])
    return f"You last asked: “{asked[-1]}” Before that: {earlier}."


def recap(thread: Thread) -> str:
    """Return each recent question with the sentence that answered it best, in the documents' words."""
    lines = ["Here is the thread so far, in the documents' words:"]
    for turn in thread.turns[-_RECAP_TURNS:]:
        gist = best_of(turn, 1)
        lines.append(f"- “{turn.question}” {gist or '(no answer in the documents)'}")
    if len(thread.turns) > _RECAP_TURNS:
        lines.insert(1, f"(the last {_RECAP_TURNS} of {len(thread.turns)} questions)")
    return "\n".join(lines)


def _last_answered_turn(thread: Thread) -> Turn | None:
    return next((turn for turn in reversed(thread.turns) if turn.outcome is Outcome.ANSWERED and turn.citations), None)


def _shorten_last_answer(thread: Thread) -> str:
    turn = _last_answered_turn(thread)
    if turn is None:
        return "There is no answer of mine here yet that I could shorten. What would you like to know?"
    return f"{_PLAIN_HELP}\n\n{best_of(turn, _SHORT)}"


def _repeat_last_answer(thread: Thread) -> str:
    turn = thread.last
    if turn is None or not turn.answer:
        return "There is nothing to repeat yet. What would you like to know?"
    return f"Again, word for word:\n\n{with_evidence_ids(turn.answer, turn.citations)}"


def _sources(thread: Thread) -> str:
    turn = _last_answered_turn(thread)
    if turn is None:
        return "My answers so far quoted no document."
    lines = [f"- *{one.title}*{f', {one.locator}' if one.locator else ''} [{one.evidence}]" for one in turn.citations]
    return "My last answer came from:\n\n" + "\n".join(lines)


def _objection(thread: Thread) -> str:
    """Name the quoted documents and say what would help, because rules cannot know better than the documents."""
    turn = _last_answered_turn(thread)
    if turn is None:
        return "I'm sorry. Tell me in other words what you are looking for, and I search again."
    titles = ", ".join(dict.fromkeys(f"*{one.title}*" for one in turn.citations))
    return (
        f"I'm sorry. What I quoted stands in {titles} as I showed it, so either I picked the wrong passage or the "
        "document is wrong. Tell me what you meant, in a few words of its own, and I search again; if the document is "
        "wrong, tell its owner."
    )


def _assurance(thread: Thread) -> str:
    """Say what is certain: that a document says it, or that nothing was found."""
    if thread.last and thread.last.outcome in {Outcome.ABSTAINED, Outcome.PARKED}:
        return "Sure only that I found nothing in the documents that answers it."
    turn = _last_answered_turn(thread)
    if turn is None:
        return "I have quoted nothing here yet. Ask me something, and I show where it stands."
    places = dict.fromkeys(f"*{one.title}*" for one in turn.citations)
    return (
        f"As sure as the documents are. This stands in {', '.join(places)}, word for word:\n\n{best_of(turn, 1)}\n\n"
        "Ask the document's owner whether it still holds."
    )


_OF_THREAD: dict[Intent, Callable[[Thread], str]] = {
    Intent.LAST_QUESTION: _last_question,
    Intent.RECAP: recap,
    Intent.REPEAT: _repeat_last_answer,
    Intent.SOURCE: _sources,
    Intent.OBJECTION: _objection,
    Intent.DOUBT: _assurance,
}


def summarise(summary: str, turns: Sequence[Turn]) -> str:
    """Return the questions, each with the sentence that answered it. If too long, keep the newest."""
    lines = summary.splitlines()
    for turn in turns:
        gist = without_marks(best_of(turn, 1))
        lines.append(f"- {turn.rewritten or turn.question} → {gist or 'not in the documents'}")
    while len("\n".join(lines)) > _SUMMARY and len(lines) > 1:
        lines.pop(0)
    return "\n".join(lines)[:_SUMMARY]


def with_evidence_ids(text: str, citations: Sequence[Citation]) -> str:
    """Return an old answer with citation numbers replaced by evidence ids. Unknown numbers are dropped."""
    ids = {one.n: one.evidence for one in citations}
    return _MARK.sub(lambda mark: f" [{ids[int(mark.group(1))]}]" if int(mark.group(1)) in ids else "", text)


def best_of(turn: Turn, limit: int) -> str:
    """Return the sentences of an old answer that best match its question, in order, with evidence ids."""
    said = [
        match.group().strip()
        for line in _FRAME.sub("", turn.answer).splitlines()
        for match in _SENTENCE.finditer(line.lstrip("> "))
        if len(content_words(match.group())) > 1
    ]
    said = [sentence for sentence in said if _HEDGED not in sentence] or said
    question = turn.rewritten or turn.question
    wanted = word_weights(content_words(question), inverse_frequency(said))

    def worth(sentence: str) -> float:
        return covered(wanted, content_words(sentence)) + fits(question, without_marks(sentence))

    kept = sorted(said, key=worth, reverse=True)[:limit]
    lines = [with_evidence_ids(sentence, turn.citations) for sentence in said if sentence in kept]
    return " ".join(dict.fromkeys(lines))


def without_marks(text: str) -> str:
    """Return the text without its ``[n]`` markers."""
    return _MARK.sub("", text)


def prose(answer: str) -> str:
    """Return an old answer as running text: no markers, quotation signs or lines that only name documents."""
    bare = _FRAME.sub("", _MARK.sub("", answer))
    cells = re.sub(r"\s*\|\s*", ". ", re.sub(r"^[|\s:-]+$", "", bare, flags=re.MULTILINE))
    return " ".join(re.sub(r"^[>\-*.\s]+", "", cells, flags=re.MULTILINE).split())
