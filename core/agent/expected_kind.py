"""Which kind of thing a question asks for, where its words say so: an amount or a time, or a person.

Where a draft only repeats sentences of a document and none has that kind, it is a quote beside the question.
"""

import re

_AMOUNT_ASKED = re.compile(
    r"(?i)\bhow (?:many|much|long|often|fast|soon|quickly|late|early|big|large|old|far|high|few)\b|\bwhat time\b"
    r"|\b(?:until|since|by|from|after) when\b|^\W*when\b|\bwhich (?:day|weekday|date|month|year|version)\b"
    r"|\bwhat (?:percentage|share|price|date)\b"
)
_AMOUNT = re.compile(
    r"(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|once|twice|half|never|always|no|none"
    r"|immediately|at once|daily|weekly|monthly|yearly|quarterly|annually|hourly"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|free)\b"
)
_PERSON_ASKED = re.compile(r"(?i)^\W*who\b|\b(?:by|to|from|with) whom\b|^\W*whom\b|\bwhose\b")
_PERSON = re.compile(
    r"\S\s+(?!I\b)[A-Z]\w|(?i:\b(?:team|lead|head|manager|owner|everyone|everybody|anyone|nobody|customer)s?\b)"
)


def has_expected_kind(question: str, answer: str) -> bool:
    """Whether an answer has the kind of thing that is asked for; True where the question does not say which."""
    if _AMOUNT_ASKED.search(question) and not _AMOUNT.search(re.sub(r"\[\d+\]", "", answer)):
        return False
    return not (_PERSON_ASKED.search(question) and not _PERSON.search(answer))
