"""Every number that the extractive reasoner weighs by, in one place; ``docs/extractive.md`` says how to tune them.

A grade's cutoff is not here: it is the loop's (``core.model.inquiry.CUTOFFS``), the same for every reasoner.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Features:
    """What is counted of one passage against one question, each in [0, 1] but for cosines in [-1, 1].

    ``sentence_cosine`` is of the best sentence as it is read below its headings, ``sentence_covered`` the share of the
    question's words in the best sentence with its headings. ``held`` is 0 where a time, an amount, a date or a person
    is asked for and the passage has none, or where it has version 1 and 5 is asked for; else 1. ``named`` is the share
    of the question's names and numbers that the passage has, 1 where it has none.
    """

    cosine: float
    sentence_cosine: float
    covered: float
    sentence_covered: float
    fits: float
    held: float
    named: float


# --- grading a passage: a logistic function of its features (tests/measure/abstention.py) ---------------------------
GRADING = Features(cosine=2.2, sentence_cosine=3.0, covered=1.2, sentence_covered=1.8, fits=1.0, held=1.1, named=1.9)
GRADING_BIAS = -7.45

# --- how much a word of the question weighs -------------------------------------------------------------------------
COMMONEST_WORD = 0.1  # what a word that every text has still weighs
UNSEEN_WORD = 1.25  # a word that no text has, against the rarest one that some have
# Cosines of single words: below the first two words have nothing to do with each other ("notice" and "period" .24,
# "dental" and "health" .40), above the second they are as good as the same ("photo" and "picture" .85).
WORDS_APART, WORDS_ALIKE = 0.4, 0.85
LIKE_WORD = 0.8  # what a like word counts at most beside the word itself

# --- the worth of a sentence, row or item (tests/measure/quoting.py) ------------------------------------------------
# Coverage of the question by the unit itself, by it with what stands right above, and with its headings and title.
OWN_WORDS, WORDS_IN_CONTEXT, WORDS_IN_PLACE = 0.5, 0.2, 0.3
PHRASES = 0.3  # pairs of neighbouring words of the question that stand so
KIND_OF_ANSWER = 0.5  # what the expected kind of answer counts, beside a coverage of at most 1
MEANING = 1.5  # what a cosine counts beside the share of the question's words
GRADE_OFFSET = 0.6  # worth is multiplied by this and a tenth of its passage's grade
UNGRADED = 5

# What speaks for a unit or against it, whatever its words: factors.
LEANT_ON = 1.25  # in the document that a follow-up leans on
IN_RANGE, OUT_OF_RANGE = 1.4, 0.3
OTHER_NUMBER = 0.4  # "version 1", where version 5 is asked for
POINTS_ELSEWHERE = 0.6
DEBRIS = 0.4
LACKS_KIND = 0.6  # a sentence without any time, where "how long" is asked
HEADLESS_ROW = (
    0.6  # a row of a table without a header, such as a page's date: it tells a figure or a name, else nothing
)
NAMED_SUBJECT, OTHER_SUBJECT = 1.3, 0.5  # of what the question names, of a neighbour of that
STAMP_ASKED_FOR = 1.3  # "Reviewed on 9 February 2026.", where that is asked for
OTHER_FIGURE = 0.8  # no number of the question's

OTHER_VERSION = 0.4  # of a document whose version that is asked for is there as well

# --- which further quotes are good enough, as a share of the best one's worth ---------------------------------------
SAME_MATTER = 1.2  # of another version's worth, after its factor: from here the meant version speaks of the same
COVERING_PASSAGE = 0.85  # of the question by one passage: nothing is left to bridge to
