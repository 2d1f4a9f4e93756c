"""How an answer is judged by its words."""

from typing import Any

import pytest

from bot.evaluation.asking import Prediction, comparable, says_not_covered, states
from core.model.answer import Outcome
from research.evaluation.answer_scoring import AnswerVerdict, score_reply
from research.evaluation.question_sets import LabelledQuestion, Polarity, QuestionKind

RIGHT, HALF, REFUSED, WRONG = AnswerVerdict


def verdict(
    text: str, outcome: Outcome = Outcome.ANSWERED, cited: tuple[str, ...] = (), **fields: Any
) -> AnswerVerdict:
    question = LabelledQuestion("q", "?", QuestionKind.FACT, **fields)
    return score_reply(
        question, Prediction(outcome, text, frozenset(cited)), {"legal/terms.md": "Terms of lease"}
    ).verdict


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("1,000 V", "Gloves are good up to 1000 V [1]."),
        ("1000", "up to **1’000**"),
        ("90 %", "We guarantee 90% of it [2]"),
        ("£84", "| Glow | £ 84 | 12 years |"),
        ("€12.50", "It costs 12.50 €."),
        ("9-17", "Open 9 – 17."),
        ("no Windows build", "There is **no [Windows](https://x.example/) build**.[1][2]"),
        ("max_retries", "Set `max_retries` to 3."),
        ("Straße", "in der STRASSE"),
        ("don't", "They don’t."),
        ('"yes"', "It says “yes”."),
        ("Above 34 °C", "above 34°C work ends"),
        ("LUMEN_API", "set __LUMEN\\_API__ first"),
        ("Tern 380 Black | panel", "Tern 380 Black   |   panel"),
    ],
)
def test_a_fact_is_found_however_it_is_written(fact: str, text: str) -> None:
    assert states(text, fact)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("5", "0.5 or 15 or 5.5 or 5,2"),
        ("14 days", "114 days"),
        ("Spark", "sparkling"),
        ("2.1", "2.10 and 2.1.3"),
        ("£4", "£48"),
        ("no", "nobody, not now"),
    ],
)
def test_a_part_of_a_word_or_of_a_number_is_no_fact(fact: str, text: str) -> None:
    assert not states(text, fact)


def test_years_and_counts_beside_each_other_are_not_one_number() -> None:
    assert comparable("In 2025, 300 of them") == "in 2025, 300 of them"


FACTS = (("28 days", "four weeks"), ("£350",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Within 28 days [1]. Taking down costs £350 [1].", RIGHT),
        ("Within four weeks, for £350.", RIGHT),
        ("Within 28 days.", HALF),
        ("The terms are long.", WRONG),
        ("The documents don't say.", REFUSED),
        ("I found nothing on that in the documents.", REFUSED),
        ("Within 28 days, for £350; some say £500.", WRONG),
        ("The documents don't say. Within 28 days, for £350.", HALF),
    ],
)
def test_all_facts_are_right_some_are_half_and_none_is_wrong(text: str, expected: AnswerVerdict) -> None:
    assert verdict(text, facts=FACTS, wrong=("£500",)) is expected


def test_what_is_out_of_date_may_stand_after_the_right_one_and_never_before_it() -> None:
    fields: dict[str, Any] = {"facts": (("28 days",),), "only_after": ("14 days",)}
    assert verdict("Within 28 days. Until 2025 it was 14 days.", **fields) is RIGHT
    assert verdict("Within 14 days; the newer version says 28 days.", **fields) is WRONG
    assert verdict("Within 14 days.", **fields) is WRONG


@pytest.mark.parametrize("text", ["Yes. Nobody works on a roof alone.", "**Ja**, nobody works on a roof alone."])
def test_an_answer_that_begins_with_the_opposite_is_wrong(text: str) -> None:
    fields: dict[str, Any] = {"facts": (("Nobody works on a roof alone",),), "polarity": Polarity.NO}
    assert verdict(text, **fields) is WRONG
    assert verdict("Nobody works on a roof alone.", **fields) is RIGHT
    assert verdict("No: nobody works on a roof alone.", **fields) is RIGHT


def test_no_excess_does_not_begin_with_no() -> None:
    assert verdict("No fee is due.", facts=(("no fee",),), polarity=Polarity.YES) is RIGHT


@pytest.mark.parametrize(
    ("outcome", "answerable", "unanswerable"),
    [
        (Outcome.ABSTAINED, REFUSED, RIGHT),
        (Outcome.PARKED, REFUSED, RIGHT),
        (Outcome.CLARIFIED, REFUSED, REFUSED),
        (Outcome.FAILED, REFUSED, REFUSED),
        (Outcome.REFUSED, REFUSED, REFUSED),
        (Outcome.ANSWERED, RIGHT, WRONG),
    ],
)
def test_to_claim_nothing_is_right_where_nothing_answers(
    outcome: Outcome, answerable: AnswerVerdict, unanswerable: AnswerVerdict
) -> None:
    assert verdict("It is £350.", outcome, facts=(("£350",),)) is answerable
    assert verdict("It is £350.", outcome, unanswerable=True) is unanswerable


def test_an_answer_that_says_first_that_nothing_answers_is_right_where_nothing_does() -> None:
    assert verdict("The documents do not say. They name a bank [1].", unanswerable=True) is RIGHT
    assert verdict("They name a bank [1]. I found nothing in the documents on police.", unanswerable=True) is HALF
    assert verdict("They name a bank [1].", unanswerable=True) is WRONG


def test_a_part_that_is_not_covered_must_be_named() -> None:
    fields: dict[str, Any] = {"facts": (("£75",),), "uncovered": ("vans",)}
    assert verdict("A cleaning is £75. The documents don't say who washes the vans.", **fields) is RIGHT
    assert verdict("A cleaning is £75. The documents don't say the rest.", **fields) is HALF
    assert verdict("A cleaning is £75.", **fields) is HALF


def test_a_document_is_named_by_its_citation_its_path_or_its_title() -> None:
    for text, cited in (("Here. [1]", ("legal/terms.md",)), ("See terms.md.", ()), ("See *Terms of lease*.", ())):
        assert verdict(text, cited=cited, names=("legal/terms.md",)) is RIGHT
    assert verdict("See the other one.", names=("legal/terms.md",)) is WRONG


@pytest.mark.parametrize(
    "text",
    [
        "The documents don’t say.",
        "The documents do not mention parking.",
        "I could not find anything on parking.",
        "Parking is not mentioned in the documents.",
        "No document says who washes the vans.",
        "Nothing about parking is in the documents.",
        "Die Dokumente sagen dazu nichts.",
        "Dazu steht in den Dokumenten nichts.",
        "Les documents ne disent rien à ce sujet.",
        "Je n'ai rien trouvé.",
    ],
)
def test_the_ways_to_say_that_nothing_answers_are_known(text: str) -> None:
    assert says_not_covered(text)


@pytest.mark.parametrize(
    "text",
    [
        "Damage by animals is not covered.",
        "Theft is not covered by our insurance.",
        "It does not delete the kept readings.",
        "Sites cannot be deleted through the API.",
        "We do not sell data.",
        "No fee is due, and nothing is kept outside Europe.",
    ],
)
def test_an_answer_with_a_no_in_it_is_still_an_answer(text: str) -> None:
    assert not says_not_covered(text)
