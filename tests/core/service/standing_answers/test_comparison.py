"""Edits of a document that change an answer, and twenty that do not."""

from datetime import UTC, datetime

import pytest

from core.model.answer import Answer, Citation, Outcome
from core.model.conversation import Person, Turn
from core.retrieval.quotes import quote_for
from core.service.standing_answers.comparison import AnswerChange, find_change, missing_units

ASKED = datetime(2026, 3, 3, tzinfo=UTC)


def _citation(text: str, claim: str) -> Citation:
    quote = quote_for(text, "", [claim] if claim else ())
    return Citation(1, 1, "p1", "default", "policy.md", "Policy", "", quote, 0.9)


def compare(question: str, told: str, before: str, now: str, after: str) -> AnswerChange | None:
    """Return the changes between the answer ``told`` from ``before`` and the answer ``now`` from ``after``."""
    turn = Turn(
        question, f"{told} [1]", Outcome.ANSWERED, Person("p"), ASKED, "t", question, (_citation(before, told),)
    )
    missing = missing_units(turn.citations[0], after)
    answer = Answer(Outcome.ANSWERED, f"{now} [1]", (_citation(after, now),))
    return find_change(question, turn, missing, answer) if missing else None


def quoted(question: str, before: str, after: str) -> AnswerChange | None:
    """The same where the whole sentence is quoted on both sides."""
    return compare(question, before, before, after, after)


CHANGED = {
    "number": (
        "How many guests may I bring?",
        "Every member may bring up to 3 guests.",
        "Every member may bring up to 5 guests.",
        ("3", "5"),
    ),
    "money": (
        "What is the hotel limit?",
        "The limit for a hotel is 100 euros a night.",
        "The limit for a hotel is 150 euros a night.",
        ("100 euros", "150 euros"),
    ),
    "money in short": (
        "What is the hotel limit?",
        "The limit for a hotel is €100 a night.",
        "The limit for a hotel is now €1,150 a night.",
        ("€100", "€1,150"),
    ),
    "duration": (
        "How long do refunds take?",
        "Refunds are paid within 14 days.",
        "Refunds are paid within 30 days.",
        ("14 days", "30 days"),
    ),
    "unit": (
        "How long is the trial?",
        "The trial of the service lasts 3 weeks.",
        "The trial of the service lasts 3 months.",
        ("3 weeks", "3 months"),
    ),
    "date": (
        "When does the office close?",
        "The Berlin office closes on 3 March 2026.",
        "The Berlin office closes on 10 April 2026.",
        ("3 March 2026", "10 April 2026"),
    ),
    "person": (
        "Who approves travel?",
        "Travel is approved by Anna Berg.",
        "Travel is approved by Tom Voss.",
        ("Anna Berg", "Tom Voss"),
    ),
    "version": (
        "Which Python is needed?",
        "The client needs Python version 3.9.",
        "The client needs Python version 3.11.",
        ("version 3.9", "version 3.11"),
    ),
    "percent": (
        "How high is the discount?",
        "The discount for students is 20 %.",
        "The discount for students is 25 percent.",
        ("20 %", "25 percent"),
    ),
    "German": (
        "Wie lange dauert die Probezeit?",
        "Die Probezeit für neue Mitarbeitende dauert 6 Monate.",
        "Die Probezeit für neue Mitarbeitende dauert 3 Monate.",
        ("6 Monate", "3 Monate"),
    ),
    "setting": (
        "Which port does the server use?",
        "The server listens on port 8080.",
        "The server listens on port 9090.",
        ("8080", "9090"),
    ),
    "yes and no": (
        "May contractors use the parking lot?",
        "Contractors may use the parking lot behind the office.",
        "Contractors may not use the parking lot behind the office.",
        ("", ""),
    ),
    "tool": (
        "Which tool do we use for expenses?",
        "Expenses are filed in Pleo every month.",
        "Expenses are filed in Spendesk every month.",
        ("Pleo", "Spendesk"),
    ),
}


@pytest.mark.parametrize("kind", CHANGED)
def test_finds_a_change_that_matters(kind: str) -> None:
    question, before, after, (was, now) = CHANGED[kind]
    change = quoted(question, before, after)
    assert change is not None
    assert (change.was, change.now) in {(was, now), ("", "")}
    assert was in change.before
    assert now in change.after


def test_finds_a_changed_cell_of_the_row_that_was_asked_for() -> None:
    table = "| City | Hotel | Meals |\n|---|---|---|\n| Berlin | 120 EUR | 40 EUR |\n| Paris | 160 EUR | 45 EUR |"
    row, new = "| Paris | 160 EUR | 45 EUR |", "| Paris | 180 EUR | 45 EUR |"
    change = compare("What is the hotel limit in Paris?", row, table, new, table.replace("160", "180"))
    assert change is not None
    assert (change.was, change.now) == ("160 EUR", "180 EUR")


def test_finds_a_change_that_a_model_told_in_its_own_words() -> None:
    before = "Claims must reach finance within 30 days of the trip."
    after = before.replace("30", "60")
    change = compare("How soon must I claim?", "You have 30 days.", before, "You have 60 days.", after)
    assert change is not None
    assert (change.was, change.now) == ("30 days", "60 days")


FEE = "The fee for a replacement card is 15 euros."
SAME = {
    "spelling": ("Refunds are payed within 14 days.", "Refunds are paid within 14 days."),
    "upper case": (FEE, "THE FEE FOR A REPLACEMENT CARD IS 15 EUROS."),
    "bold": (FEE, "The fee for a **replacement card** is **15 euros**."),
    "line breaks": (FEE, "The fee for a replacement\ncard is 15 euros."),
    "a list item": (FEE, "- The fee for a replacement card is 15 euros."),
    "another number in the list": ("2. The fee for a card is 15 euros.", "3. The fee for a card is 15 euros."),
    "moved below others": (FEE, f"Cards are printed here.\n\nAsk at the desk.\n\n{FEE}"),
    "sentences in another order": (f"{FEE} Cards last 5 years.", f"Cards last 5 years. {FEE}"),
    "number in words": ("The trial lasts ten days.", "The trial lasts 10 days."),
    "money written otherwise": (FEE, "The fee for a replacement card is €15.00."),
    "date written otherwise": ("The office closes on 3 March 2026.", "The office closes on 2026-03-03."),
    "thousands with a comma": ("The budget of a team is 12000 euros.", "The budget of a team is 12,000 euros."),
    "weeks as days": ("The trial lasts 2 weeks.", "The trial lasts 14 days."),
    "a synonym": (FEE, "The charge for a replacement card is 15 euros."),
    "a word more": (FEE, "Please note that the fee for a replacement card is 15 euros."),
    "a further sentence": (FEE, f"{FEE} It is charged to your team. Visitors pay 20 euros."),
    "punctuation": ("Refunds, if any, are paid within 14 days.", "Refunds (if any) are paid within 14 days!"),
    "a link": ("Ask in the chat for help with 2 forms.", "Ask in the [chat](https://a.example) for help with 2 forms."),
    "a more exact value": ("The fee for a card is 15 euros.", "The fee for a card is 15 euros and 3 for delivery."),
    "quotation marks": ('Choose "Reset" within 5 minutes.', "Choose “Reset” within 5 minutes."),
}


@pytest.mark.parametrize("edit", SAME)
def test_finds_nothing_in_an_edit_that_changes_nothing(edit: str) -> None:
    before, after = SAME[edit]
    assert quoted("What about the fee, the card, the trial, refunds or the office?", before, after) is None


def test_finds_nothing_when_another_row_of_the_table_changes() -> None:
    table = "| City | Hotel | Meals |\n|---|---|---|\n| Berlin | 120 EUR | 40 EUR |\n| Paris | 160 EUR | 45 EUR |"
    after = table.replace("120", "130")
    assert compare("What is the hotel limit in Paris?", table, table, after, after) is None


def test_finds_nothing_when_a_row_is_removed_and_its_neighbour_is_quoted() -> None:
    before = "| City | Hotel |\n|---|---|\n| Berlin | 120 EUR |\n| Paris | 160 EUR |"
    after = before.replace("\n| Paris | 160 EUR |", "")
    row, other = "| Paris | 160 EUR |", "| Berlin | 120 EUR |"
    assert compare("What is the hotel limit in Paris?", row, before, other, after) is None


def test_finds_nothing_where_the_new_answer_speaks_of_something_else() -> None:
    before = "Parking costs 5 euros a day."
    after = "The canteen opens at 11:30 and lunch costs 7 euros."
    assert quoted("What does parking cost?", before, after) is None


def test_finds_nothing_where_a_value_changed_that_was_not_told() -> None:
    before = "Visitors sign in at the desk within 10 minutes of arriving."
    after = before.replace("10", "15")
    assert compare("Where do visitors sign in?", "At the desk.", before, "At the desk.", after) is None


def test_finds_nothing_where_nothing_answers_any_more() -> None:
    turn = Turn("How long?", "14 days [1]", Outcome.ANSWERED, Person("p"), ASKED, "t", "", (_citation(FEE, FEE),))
    missing = missing_units(turn.citations[0], "Nothing about it.")
    assert missing
    assert find_change("How long?", turn, missing, Answer(Outcome.ABSTAINED, "I could not find this.")) is None
