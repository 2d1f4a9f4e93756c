"""What in a draft is a claim, and what a verdict does to it."""

import pytest

from core.agent.claims import claims_in, says_nothing, verbatim_in
from core.agent.verify import UNSOURCED, apply_verdicts
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
    "draft",
    [
        "From the policy:",
        "Does that help you further?",
        "The documents don't say who approves it.",
        "# Refund periods now",
        "```\nx = refund(1)\n```",
    ],
)
def test_what_states_nothing_of_the_world_is_no_claim(draft: str) -> None:
    assert texts(draft) == []


def test_an_uncited_statement_is_a_claim_too() -> None:
    assert [claim.evidence for claim in claims_in("The moon landing happened in 1969.")] == [()]


def test_list_items_are_claims_of_their_own() -> None:
    assert len(texts("It covers:\n- annual plans for teams [1]\n- monthly plans for people [2]")) == 2


def verdict(text: str, support: Support, *, evidence: tuple[int, ...] = (1,), correction: str = "") -> ClaimVerdict:
    return ClaimVerdict(Claim(text, evidence), support, correction=correction)


def test_a_supported_sentence_stays() -> None:
    draft = "It takes 14 days [1]."
    assert apply_verdicts(draft, [verdict(draft, Support.SUPPORTED)]) == draft


def test_a_quote_of_words_that_are_a_link_stands_word_for_word() -> None:
    passage = "It is a program called [Tock](https://tock.example/a_(b)), see the [policy of\n2024](old.md)."
    assert verbatim_in("It is a program called Tock, see the policy of 2024 [1].", [passage]) == 0
    assert verbatim_in("It is a program called https://tock.example.", [passage]) is None


def test_a_quotation_of_which_a_paragraph_was_struck_has_no_empty_line_in_its_place() -> None:
    draft = "From *Tock*:\n\n> It costs nothing [1].\n>\n> It takes 14 days [1].\n>\n> It is fast [1].\n\nMind it."
    nothing, fast = (verdict(text, Support.UNSUPPORTED) for text in ("It costs nothing [1].", "It is fast [1]."))
    assert apply_verdicts(draft, [nothing]) == draft.replace("> It costs nothing [1].\n>\n", "")
    assert apply_verdicts(draft, [fast]) == draft.replace("\n>\n> It is fast [1].", "")
    assert "\n>" not in apply_verdicts(draft, [nothing, fast, verdict("It takes 14 days [1].", Support.UNSUPPORTED)])


def test_an_unsupported_citing_sentence_is_struck() -> None:
    draft = "It takes 14 days [1]. It costs nothing [1]."
    assert apply_verdicts(draft, [verdict("It costs nothing [1].", Support.UNSUPPORTED)]) == "It takes 14 days [1]."


def test_a_contradicted_sentence_is_corrected() -> None:
    draft = "It takes 30 days [1]."
    corrected = apply_verdicts(draft, [verdict(draft, Support.CONTRADICTED, correction="It takes 14 days.")])
    assert corrected == "It takes 14 days. [1]"


def test_an_uncited_sentence_that_nothing_supports_is_marked() -> None:
    draft = "It takes 14 days [1]. The moon is far away."
    marked = apply_verdicts(draft, [verdict("The moon is far away.", Support.UNSUPPORTED, evidence=(1, 2))])
    assert marked == f"It takes 14 days [1]. The moon is far away.{UNSOURCED}"


def test_an_uncited_sentence_that_one_passage_supports_gets_its_citation() -> None:
    draft = "It takes 14 days."
    assert apply_verdicts(draft, [verdict(draft, Support.SUPPORTED)]) == "It takes 14 days. [1]"


def test_a_list_item_that_is_struck_leaves_no_empty_bullet() -> None:
    draft = "- annual plans [1]\n- monthly plans [2]"
    assert apply_verdicts(draft, [verdict("- monthly plans [2]", Support.UNSUPPORTED)]) == "- annual plans [1]"


def test_a_verbatim_sentence_is_recognised_whatever_its_decoration() -> None:
    texts = ["Something else.", "Our refunds take 14 days, as a rule."]
    assert verbatim_in("**Refunds** take “14 days” [1].", texts) == 1
    assert verbatim_in("Refunds take 30 days.", texts) is None


def test_a_word_or_two_in_between_state_nothing() -> None:
    assert [claim.text for claim in claims_in("Yes, indeed. Refunds are paid within 14 days [1]. Good luck!")] == [
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
