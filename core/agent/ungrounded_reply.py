"""Check whether a reply that was made without a search may be sent.

Such a reply is not verified, so it may only be small talk or repeat this conversation. If a reasoner adds a fact from
its own memory ("The limit is 500."), the question is searched for instead. The checks are simple. In doubt they choose
the search: it costs a moment, but an unfounded fact costs trust.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from core.agent.verification.claims import claims_in, verbatim_in
from core.model.conversation import ContextMessage, Thread
from core.model.inquiry import Inquiry, Reply
from core.model.message_text import is_question
from core.model.profile import Behaviour
from core.model.text import cited_ids, content_words, sentences, without_markers, words

# Words of small talk, in common languages, and of talk about the conversation. They name nothing that a document could
# contain.
_IDLE = """
    hello hi hiya hey howdy greetings morning afternoon evening night today bye goodbye later soon thanks thank thx
    ty cheers welcome please sorry pardon nice great good glad happy fine well cool perfect awesome lovely super
    brilliant quick okay ok yes no yep yeah nope sure course wow lol haha luck help helpful helped work works doing
    going feeling team everyone folks guys friend name robot bot human person machine language model ai llm footnote
    assistant able ability capability feature kind thing look looking ready anything something everything question
    ask asked answer answered reply message say said mean meant talk talked talking chat conversation thread
    discussion discussed covered learned summary summarise summarize recap sum explain explained rephrase reword
    word phrase put describe break down simple simply simpler simplify short shorter shorten brief briefly concise
    clear clearer clearly plain plainly easy easier easily long longer detail example sentence line bullet list
    table form translate english german french spanish understand understood again repeat before earlier first last
    previous recent far remind tell show give make try think know knew use document source reference citation cite
    quote found find come read see different term version elaborate check checked checking
    sure certain true really still
    joke poem song sing verify trust right wrong correct against attached attachment file above hallo guten
    morgen tag abend wie geht gehts es dir ihnen euch danke vielen dank bonjour salut comment ça va allez vous merci
    beaucoup hola qué tal cómo estás está gracias muchas buenos días ciao stai grazie
"""
_ENGLISH = frozenset({"the", "is", "are", "you", "your", "and", "of", "to"})
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LIST_MARK = re.compile(r"(?m)^\s*\d+[.)]\s")


def reason_to_search(reply: Reply, inquiry: Inquiry, thread: Thread, names: str = "") -> str:
    """Return why this reply needs a search after all. Empty if it may be sent. Any reply may use ``names``."""
    said = _known_words(reply, inquiry, thread)
    prose = _LIST_MARK.sub("", without_markers(reply.text))
    if _quotes(reply, thread.attachments):
        return ""
    message = inquiry.question
    topic = set(content_words(message)) - _idle()
    known = set(content_words(said))
    told = set(content_words(prose)) - _idle()
    if topic and (is_question(message) or inquiry.policy.behaviour is Behaviour.CONSERVATIVE):
        if topic - known:
            return "it asks for something that was not said here"
        if told and 2 * len(told - known) >= len(told):
            return "the reply would say more than was said here"
    elif any((topic - known) & set(content_words(claim.text)) for claim in claims_in(prose)):
        return "the reply would state something that was not said here"
    if not is_question(message):
        said = f"{said} {message}"
    known_names = f"{said} {_around(inquiry)} {names}"
    new = _new_numbers(prose, said, len(thread.turns)) or _new_names(prose, known_names)
    return f"the reply would bring in “{new}”, which nobody said here" if new else ""


def _quotes(reply: Reply, attachments: Sequence[ContextMessage]) -> bool:
    """Return whether every statement is word for word in a file attached to the question."""
    stated = claims_in(reply.text)
    return bool(stated) and all(
        verbatim_in(one.text, [file.text for file in attachments]) is not None for one in stated
    )


def _known_words(reply: Reply, inquiry: Inquiry, thread: Thread) -> str:
    """Return all text of this conversation and of the evidence that the reply cites."""
    cited = [item.passage for n in cited_ids(reply.text) if (item := inquiry.library.get(n)) is not None]
    return " ".join([_said_before(thread), *(f"{passage.title} {passage.text}" for passage in cited)])


def words_said(inquiry: Inquiry, thread: Thread) -> str:
    """Return all text of this conversation, including the question, and the names that any reply may use."""
    return f"{_said_before(thread)} {inquiry.question} {_around(inquiry)}"


def _said_before(thread: Thread) -> str:
    turns = [
        text for turn in (*thread.recalled, *thread.turns) for text in (turn.question, turn.rewritten, turn.answer)
    ]
    beside = [f"{message.author} {message.text}" for message in (*thread.context, *thread.attachments)]
    return " ".join([thread.summary, *turns, *beside])


def _around(inquiry: Inquiry) -> str:
    """Return names that a reply may use even if nobody said them."""
    bases = " ".join(f"{base.name} {base.description}" for base in inquiry.bases)
    return f"{inquiry.asker.name} {bases} Markdown Word PDF AI"


def _new_numbers(prose: str, said: str, turns: int) -> str:
    known = {*_NUMBER.findall(said), *(str(count) for count in range(turns + 1))}
    return next((number for number in _NUMBER.findall(prose) if number not in known), "")


def _new_names(prose: str, said: str) -> str:
    """Return the first capitalised word in an English sentence that nobody said. German capitalises every noun."""
    known = {word.casefold() for word in (*words(said), *_IDLE.split())} | {"i"}
    for sentence in sentences(prose):
        inside = words(sentence)
        if not _ENGLISH & {word.casefold() for word in inside}:
            continue
        for word in inside[1:]:
            plain = re.split(r"['’]", word)[0]
            if plain[:1].isupper() and plain.casefold() not in known:
                return word
    return ""


@lru_cache(maxsize=1)
def _idle() -> frozenset[str]:
    return frozenset(content_words(_IDLE))
