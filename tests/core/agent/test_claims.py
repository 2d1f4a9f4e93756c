"""Units of a draft, the claims among them, and edits of single parts."""

import pytest

from core.agent.verification.claims import UnitKind, claims_in, says_nothing, units_in, verbatim_in
from core.agent.verification.judge import Judged
from core.agent.verification.verify import cited, edit, without_idle_leads
from core.model.answer import Claim, ClaimVerdict, Support


def texts(draft: str) -> list[str]:
    return [claim.text for claim in claims_in(draft)]


def test_each_factual_sentence_is_a_claim_with_its_citations() -> None:
    claims = claims_in("Refunds take 14 days [1]. They are paid by card [2][3].")
    assert [(claim.text, claim.evidence) for claim in claims] == [
        ("Refunds take 14 days [1].", (1,)),
        ("They are paid by card [2][3].", (2, 3)),
    ]


def test_a_marker_after_the_full_stop_belongs_to_the_sentence_before() -> None:
    claims = claims_in("Refunds take 14 days. [1] They are paid by card. [2]")
    assert [claim.evidence for claim in claims] == [(1,), (2,)]


@pytest.mark.parametrize(
    ("draft", "kind"),
    [
        ("From the policy:", UnitKind.LEAD),
        ("Does that help you further?", UnitKind.LEAD),
        ("# Refund periods now", UnitKind.LEAD),
        ("The documents don't say who approves it.", UnitKind.COVERAGE),
        ("```\nx = refund(1)\n```", UnitKind.CODE),
        ("No, it does not.", UnitKind.STATEMENT),
        ("- monthly", UnitKind.STATEMENT),
    ],
)
def test_kind_of_a_unit(draft: str, kind: UnitKind) -> None:
    assert [unit.kind for unit in units_in(draft)] == [kind]


def test_list_items_are_claims_of_their_own() -> None:
    assert len(texts("It covers:\n- annual plans for teams [1]\n- monthly plans for people [2]")) == 2


@pytest.mark.parametrize(
    ("draft", "evidence"),
    [
        ("It takes 14 days. It is paid by card [2].", [(2,), (2,)]),
        ("It covers [1]:\n\n- annual plans\n- monthly plans", [(1,), (1,), (1,)]),
        ("It covers:\n- annual plans\n- monthly plans [3]", [(3,), (3,), (3,)]),
        ("It takes 14 days [1].\n\nIt is paid by card.", [(1,), ()]),
    ],
)
def test_a_mark_covers_its_paragraph_or_list(draft: str, evidence: list[tuple[int, ...]]) -> None:
    assert [unit.evidence for unit in units_in(draft)] == evidence


def without(draft: str, *parts: str) -> str:
    return edit(draft, [(unit, "") for unit in units_in(draft) if unit.text in parts])


def test_a_quote_of_words_that_are_a_link_is_verbatim() -> None:
    passage = "It is a program called [Tock](https://tock.example/a_(b)), see the [policy of\n2024](old.md)."
    assert verbatim_in("It is a program called Tock, see the policy of 2024 [1].", [passage]) == 0
    assert verbatim_in("It is a program called https://tock.example.", [passage]) is None


def test_striking_a_paragraph_of_a_quotation_leaves_no_empty_line() -> None:
    draft = "From *Tock*:\n\n> It costs nothing [1].\n>\n> It takes 14 days [1].\n>\n> It is fast [1].\n\nMind it."
    assert without(draft, "> It costs nothing [1].") == draft.replace("> It costs nothing [1].\n>\n", "")
    assert without(draft, "> It is fast [1].") == draft.replace("\n>\n> It is fast [1].", "")
    assert "\n>" not in without(draft, "> It costs nothing [1].", "> It is fast [1].", "> It takes 14 days [1].")


def test_striking_a_sentence_leaves_the_others_as_they_are() -> None:
    assert without("It takes 14 days [1]. It costs nothing [1].", "It costs nothing [1].") == "It takes 14 days [1]."
    assert without("It costs nothing [1]. It takes 14 days [1].", "It costs nothing [1].") == "It takes 14 days [1]."


def test_strikes_the_sentence_at_its_own_place_where_another_has_the_same_words() -> None:
    draft = "No. It is not [1]. No."
    last = units_in(draft)[-1]
    assert edit(draft, [(last, "")]) == "No. It is not [1]."


def test_a_replaced_sentence_keeps_its_place() -> None:
    draft = "- It takes 30 days [1].\n- It is free [1]."
    unit = units_in(draft)[0]
    assert edit(draft, [(unit, "- It takes 14 days [1].")]) == "- It takes 14 days [1].\n- It is free [1]."


@pytest.mark.parametrize(
    ("draft", "struck", "left"),
    [
        ("- annual plans [1]\n- monthly plans [2]", "- monthly plans [2]", "- annual plans [1]"),
        ("1. annual plans [1]\n2. monthly plans [2]", "annual plans [1]", "2. monthly plans [2]"),
        ("| A | B |\n|---|---|\n| 1 | 2 [1] |\n| 3 | 4 [1] |", "| 1 | 2 [1] |", "| A | B |\n|---|---|\n| 3 | 4 [1] |"),
    ],
)
def test_striking_an_item_or_row_leaves_no_empty_line(draft: str, struck: str, left: str) -> None:
    assert edit(draft, [(unit, "") for unit in units_in(draft) if struck in unit.text]) == left


def test_a_lead_without_what_it_introduces_goes() -> None:
    assert without_idle_leads("It takes 14 days [1].\n\nDetails:") == "It takes 14 days [1]."
    assert without_idle_leads("Details:") == "Details:"


@pytest.mark.parametrize(
    ("draft", "unit_evidence", "evidence", "shown"),
    [
        ("It takes 14 days.", (), (1,), "It takes 14 days. [1]"),
        ("It takes 14 days [2].", (2,), (1,), "It takes 14 days. [1]"),
        ("It takes 14 days [1].", (1,), (1,), "It takes 14 days [1]."),
        ("| a | 14 days |", (), (1,), "| a | 14 days [1] |"),
    ],
)
def test_a_supported_claim_cites_its_evidence(
    draft: str, unit_evidence: tuple[int, ...], evidence: tuple[int, ...], shown: str
) -> None:
    unit = units_in(draft)[0]
    assert unit.evidence == unit_evidence
    mark = cited(Judged(unit, ClaimVerdict(Claim(draft, evidence), Support.SUPPORTED)))
    assert edit(draft, [mark] if mark else []) == shown


def test_verbatim_ignores_decoration() -> None:
    texts = ["Something else.", "Our refunds take 14 days, as a rule."]
    assert verbatim_in("**Refunds** take “14 days” [1].", texts) == 1
    assert verbatim_in("Refunds take 30 days.", texts) is None


def test_courtesy_is_not_among_the_claims_of_a_reply() -> None:
    assert texts("Yes, indeed. Refunds are paid within 14 days [1]. Good luck!") == [
        "Refunds are paid within 14 days [1]."
    ]


@pytest.mark.parametrize(
    ("draft", "nothing"),
    [
        ("The document provides information about locking plans, but does not mention the number of vans [1].", True),
        ("The documents discuss refunds and yet never say who approves them [1].", True),
        ("The documents mention a fee of 5 euros, but do not say when it is due [1].", False),
        ("The document says refunds take long, but does not apply to Fleet [1].", False),
        ("The documents discuss refunds but they take five days [1].", False),
    ],
)
def test_what_the_documents_are_about_is_no_answer_where_they_do_not_give_it(draft: str, nothing: bool) -> None:
    assert says_nothing(draft) is nothing


@pytest.mark.parametrize(
    ("draft", "question", "nothing"),
    [
        ("Is the reset final? [1]", "Is the reset final?", True),
        ("Factory reset [1].", "Does a factory reset wipe the readings?", True),
        ("Yes, a factory reset [1].", "Does a factory reset wipe the readings?", False),
        ("Annual [1].", "Is the plan monthly or annual?", False),
        ("The Harbour team [1].", "Which team owns odometer, Harbour, Quay?", False),
        ("42 days [1].", "How many days?", False),
        ("Is it final? [1] It is [1]. A reset deletes the name [1].", "Is a reset final?", False),
    ],
)
def test_the_question_again_is_no_answer(draft: str, question: str, nothing: bool) -> None:
    assert says_nothing(draft, question) is nothing
