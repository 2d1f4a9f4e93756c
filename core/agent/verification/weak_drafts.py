"""Drafts that small models write beside the question, judged only where no model that can be believed has read them.

Each is a true sentence of the documents that answers something else: a bare table cell, a sentence without the kind of
thing that was asked for, a sentence on another version or code.
"""

import re
from collections.abc import Sequence

from core.agent.run import Run
from core.agent.verification.claims import FEWEST_WORDS
from core.model.answer import ClaimVerdict
from core.model.citation_markers import without_markers
from core.model.text import content_words
from core.values import Kind, values_in

_AMOUNT_ASKED = re.compile(
    r"(?i)\bhow (?:many|much|long|often|fast|soon|quickly|late|early|big|large|old|far|high|few)\b|\bwhat time\b"
    r"|\b(?:until|since|by|from|after) when\b|^\W*when\b|\bwhich (?:day|weekday|date|month|year|version)\b"
    r"|\bwhat (?:percentage|share|price|date)\b"
)
_AMOUNT_WORD = re.compile(
    r"(?i)\b(?:once|twice|half|never|always|no|none|immediately|at once|daily|weekly|monthly|yearly|quarterly|annually"
    r"|hourly|free)\b"
)
_PERSON_ASKED = re.compile(r"(?i)^\W*who\b|\b(?:by|to|from|with) whom\b|^\W*whom\b|\bwhose\b")
_PERSON = re.compile(
    r"\S\s+(?!I\b)[A-Z]\w|(?i:\b(?:team|lead|head|manager|owner|everyone|everybody|anyone|nobody|customer)s?\b)"
)
_IDENTIFIER = re.compile(r"\b(?:[vV]?\d+(?:\.\d+)+|[A-Za-z]+-?\d{1,6}|\d{3,4})\b")


def is_beside_the_question(run: Run, verdicts: Sequence[ClaimVerdict]) -> bool:
    """Whether all that the draft says is of another thing, or not of the kind that was asked for."""
    return (
        all(_is_cell(run, one) for one in verdicts)
        or _cites_another_version(run, verdicts)
        or not _has_expected_kind(run.inquiry.standalone, " ".join(one.claim.text for one in verdicts))
    )


def _is_cell(run: Run, verdict: ClaimVerdict) -> bool:
    bare = without_markers(verdict.claim.text).strip(" .*")
    rows = (
        line
        for n in verdict.claim.evidence
        if (item := run.inquiry.library.get(n))
        for line in item.passage.text.splitlines()
        if line.lstrip().startswith("|")
    )
    return len(content_words(bare)) < FEWEST_WORDS and any(bare in row for row in rows)


def _cites_another_version(run: Run, verdicts: Sequence[ClaimVerdict]) -> bool:
    """Whether nothing cited has the version or code that the question names, or a number found elsewhere."""
    asked = set(_IDENTIFIER.findall(run.inquiry.standalone))
    found = " ".join(item.passage.searchable for item in run.inquiry.library.items_found())
    cited = {n for one in verdicts for n in one.claim.evidence}
    there = " ".join(item.passage.searchable for n in cited if (item := run.inquiry.library.get(n)))
    return bool(cited) and any(one not in there and (one in found or not one.isdigit()) for one in asked)


def _has_expected_kind(question: str, said: str) -> bool:
    """Whether an amount, a time or a person is there where one is asked for."""
    plain = without_markers(said)
    if _AMOUNT_ASKED.search(question) and not (
        _AMOUNT_WORD.search(plain) or any(value.kind is not Kind.NAME for value in values_in(plain))
    ):
        return False
    return not (_PERSON_ASKED.search(question) and not _PERSON.search(plain))
