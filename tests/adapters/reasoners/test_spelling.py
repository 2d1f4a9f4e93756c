"""A slip of spelling is put right and searched for again; what is rare, a name or a code stays as it was written."""

from collections.abc import Sequence

import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.understand.spelling import (
    NO_LEXICON,
    correct_spelling,
    english,
    lexicon_for,
    spell_out,
    unknown_words,
    vocabulary_of,
)
from core.model.events import QueryRefined
from core.model.inquiry import Insufficient, Investigate, Search, SearchKnowledge
from core.model.languages import language_of
from tests.adapters.reasoners.harness import inquiry, library, meter, thread
from tests.core.harness import Harness
from tests.fakes.memory.encoder import HashingEncoder

PASSAGE = (
    "The price of the hot-water diverter is £6, that of webhooks nothing. Call the duty line on 0131 496 0155; "
    "Idris Vane (idris.vane@lumen.example) answers. Accounts are closed after a year, all quiet. Received on time. "
    "`--quiet` says less."
)
TEMPERATURE = "The temperature of programme P11 is 60 C."
OTHERS = (
    "P11 is on screen 2 of the washer.",
    "P11 was written by Bea.",
    "The list of P11 hangs in the hall.",
    "Whoever runs P11 signs the list.",
    "P11 needs 12 minutes.",
    "P11 is not for wool.",
    "The P11 label is blue.",
    "P11 came in May.",
    "P11 is for mops.",
)


class PiecewiseEncoder(HashingEncoder):
    """Has no word of five letters or more in one piece, as a model's tokenizer has none of the rare ones."""

    async def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Pieces of four letters."""
        return [1 + len(text) // 5 for text in texts]


def read(question: str, *passages: str) -> str:
    """The question as it is read with these passages at hand."""
    lexicon, known = english(), vocabulary_of(passages)
    slips = [word for word in unknown_words(question, known) if not lexicon.knows(word)]
    return correct_spelling(question, known, slips, lexicon)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("prise of the hot watter divertor", "price of the hot water diverter"),
        ("how mutch for webhoks?", "how much for webhooks?"),
        ("the dutty line numbr", "the duty line number"),
        ("why was my acount closed", "why was my account closed"),
    ],
)
def test_a_slip_is_read_as_the_word_that_the_passages_have(typed: str, meant: str) -> None:
    assert read(typed, PASSAGE) == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("insurence of handlers", "insurance of handlers"),
        ("openning hours", "opening hours"),
        ("how many drakels", "how many drakels"),  # no usual word is a slip away
    ],
)
def test_a_slip_that_keeps_the_stem_of_a_word_is_put_right_as_well(typed: str, meant: str) -> None:
    assert read(typed, "Insurance is due above £5,000, in opening hours. A drakel is insured.") == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("can i cancle a boking", "can i cancel a booking"),
        ("recieve it in the kennal?", "receive it in the kennel?"),
        ("Wich acount", "which account"),
        ("where is the acount", "where is the account"),
        ("kilers, sallary and (tiket)", "killers, salary and (ticket)"),
    ],
)
def test_a_slip_that_no_passage_helps_with_is_read_as_the_one_usual_word(typed: str, meant: str) -> None:
    assert read(typed, "Nothing of the kind.") == meant


@pytest.mark.parametrize(
    "question",
    [
        "where do I tip the coals after a barbecue",  # the passages have coats
        "who gets the jabs, and are they dearer",
        "may I nudge the organiser about the mould",  # British
        "who is idris and why have they rung",
        "Hedas phone number",
        "does Thistledwon pay for Kestrl",  # as names are written
        "is there a GraphQL endpoint or an SDK",
        "what does --quite do",  # a flag, however it is written
        "what is ssl_certifcate_path or alarms.delai or X-Kay",
        "what does 'capped' mean, what `recieve`",
        "is wlan, gdpr, iban or jira covered",
        "does the webcam or the bitcoin exchange have uptime",
        "how long is the mutc",  # too short to tell
    ],
)
def test_what_is_rare_or_a_name_or_a_code_stays(question: str) -> None:
    assert read(question, PASSAGE, "Coats hang in the hall. The organisation.") == question


async def test_english_in_haste_is_not_taken_for_german() -> None:
    assert language_of("wen are the rosters up") == language_of("wen does it go live / since wen") == "en"
    assert language_of("Wen muss ich fragen?") == "de"


@pytest.mark.parametrize("question", ["Wie viele Urlaubstage habe ich?", "quelle est la durée du contrat"])
async def test_a_question_in_another_language_is_not_read_as_english(question: str) -> None:
    assert lexicon_for(question) is NO_LEXICON
    assert correct_spelling(question, frozenset(), unknown_words(question, frozenset()), NO_LEXICON) == question


async def test_what_is_misspelt_is_searched_for_again_as_it_is_meant_and_the_trace_says_so() -> None:
    harness = Harness(ExtractiveReasoner(PiecewiseEncoder()))
    await harness.knows(*OTHERS, TEMPERATURE)
    answer = await harness.asks("tell the temprature of P11")
    (refined,) = answer.all(QueryRefined)
    assert refined.refined == "tell the temperature of P11"
    assert refined.reason == "what is probably meant by the misspelt words"
    assert "60 C" in answer.text


async def actions_after(*searched: str, question: str = "how long is the tiket for the hospise good") -> list[str]:
    made = tuple(Search(SearchKnowledge(query)) for query in (question, *searched))
    asked = inquiry(question, library=library(grade=2), searches=made, plan=Investigate(question, (question,)))
    decision = await ExtractiveReasoner(PiecewiseEncoder()).decide(asked, thread(), meter())
    actions = decision.actions if isinstance(decision, Insufficient) else ()
    return [action.query for action in actions if isinstance(action, SearchKnowledge)]


async def test_searches_once_with_corrected_spelling_and_never_again() -> None:
    meant = "how long is the ticket for the hospice good"
    assert await actions_after() == [meant]
    assert await actions_after(meant) == []
    assert await actions_after("something", "else") == []


async def test_an_apostrophe_alone_is_not_worth_another_search() -> None:
    assert await actions_after(question="why havent you rung") == []


GLOSSARY = "PTO: paid time off. RTO = return to office. An employee assistance programme (EAP) is there for all."


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("how much PTO do interns get", "how much paid time off do interns get"),
        ("how much pto do interns get", "how much paid time off do interns get"),
        ("What is the RTO rule?", "What is the return to office rule?"),
        ("who may use the EAP", "who may use the employee assistance programme"),
        ("who may use the VPN", "who may use the VPN"),
        ("and the cat?", "and the cat?"),
    ],
)
def test_acronyms_are_spelt_out_as_the_documents_define_them(asked: str, meant: str) -> None:
    texts = [GLOSSARY, "Interns have 12 days of paid time off."]
    assert spell_out(asked, texts, english()) == meant


def test_an_acronym_that_the_documents_use_themselves_stays() -> None:
    texts = ["PTO: paid time off.", "Interns have 12 days of PTO.", "PTO is booked in the planner."]
    assert spell_out("how much PTO do interns get", texts, english()) == "how much PTO do interns get"
