"""Every number that the extractive reasoner weighs by, in one place; ``docs/extractive.md`` says how to tune them.

A grade's cutoff is not here: it is the loop's (``core.model.inquiry.CUTOFFS``), the same for every reasoner.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Features:
    """What is counted of one unit (a sentence, row or item) against one question, in [0, 1] but for cosines.

    ``cosine`` is of the unit as it is read below its headings, ``passage_cosine`` of its passage: with the first held
    fast the second speaks against it, since a page that is near as a whole has many sentences that are near.
    ``own`` and ``covered`` are the shares of the question's words, rare ones counting more, in the unit and in its
    passage; ``named`` the share of the question's names and telling numbers in
    the passage (1 where it has none). ``subject`` is 1 where the question names the very thing that the unit is of,
    ``contradicts`` 1 where it has version 1 and 5 is asked for. ``fits`` says how well it holds the kind of thing that
    is asked for, ``strict`` that such a kind is asked for. ``rank`` is the passage's score as a share of the best
    one's, ``length`` the number of the question's words (6 and more are 1), ``unknown`` the share of them that no
    passage has. Two tell a unit from the others that were found: ``nearer`` is its cosine above the mean of the
    ``NEAREST_UNITS`` nearest, ``lead`` its coverage above the best other's. ``row`` is 1 where it is of a table,
    ``focus`` the share of the thing asked for ("phone number") in the unit and right above it, 1 where none is named.
    """

    cosine: float
    passage_cosine: float
    own: float
    covered: float
    named: float
    subject: float
    contradicts: float
    fits: float
    strict: float
    rank: float
    length: float
    unknown: float
    nearer: float
    lead: float
    row: float
    focus: float


# --- does this sentence answer? One logistic function for what is quoted and for whether anything is ----------------
# Fitted on the question sets for choosing and on the samples (research/measure/sentences.py).
ANSWERING = Features(
    cosine=1.25,
    passage_cosine=2.0,
    own=0.95,
    covered=2.75,
    named=2.15,
    subject=1.6,
    contradicts=-1.65,
    fits=2.25,
    strict=-0.95,
    rank=0.55,
    length=3.0,
    unknown=-1.25,
    nearer=10.1,
    lead=1.95,
    row=0.95,
    focus=1.0,
)
ANSWERING_BIAS = -10.4
NEAREST_UNITS = 6
# Added where the answer is reached by way of documents known by their names (HotpotQA's kin): no passage has it all.
ON_THE_WAY = 1.5
LONG_QUESTION = 6  # words
# Read together with the question, where there is a reader: how much what is counted and what is read say, and a
# constant, fitted on companies and pages from which neither the weights above nor the reader were learnt. A row needs
# more: of answers on the edge those from rows were wrong as often as right.
UNITS_READ = 12
# So many are read at first, and the others only where none of these has such log odds. What was not read counts as if
# it had been read with such log odds at most.
UNITS_READ_FIRST, CLEAR, UNREAD = 4, 1.0, -3.0
COUNTED, READ = 0.5, 0.58
READING_BIAS, READING_BIAS_OF_ROWS = -0.8, -1.2

# --- how much a word of the question weighs -------------------------------------------------------------------------
COMMONEST_WORD = 0.1  # what a word that every text has still weighs
UNSEEN_WORD = 1.25  # a word that no text has, against the rarest one that some have

# --- which passages of a search are looked at, and which of their units are compared by meaning ---------------------
# Of the first passages more units: a question in other words than the document's has few of theirs.
PASSAGES_SEARCHED = 16
UNITS_OF_FIRST, UNITS_OF_PASSAGE, UNITS_COMPARED = (8, 8, 6, 6), 4, 32
# Coverage of the question by the unit itself, by it with what stands right above, and with its headings and title.
OWN_WORDS, WORDS_IN_CONTEXT, WORDS_IN_PLACE = 0.5, 0.2, 0.3
KIND_OF_ANSWER = 0.5  # what the expected kind of answer counts, beside a coverage of at most 1

# What speaks for a unit or against it, whatever its words: added to its log odds.
OTHER_GROUP, GROUP_HAS_NONE = -4.0, 5.0  # its figure is no answer; that there is none, is

# --- which further quotes are good enough: how far behind the best one, in log odds -----------------------------------
COVERING_PASSAGE = 0.85  # of the question by one passage: nothing is left to bridge to
# More where it also covers words that no other quote has, or the kind of answer.
ENOUGH, NEW = 1.3, 2.7
OF_OTHER_PASSAGE = 0.8  # more than that behind, where another passage has it
OF_OTHER_VERSION = -4.0  # than the question is about
CHOSEN = 2.0  # in the document of the reading that a person chose

# --- which column and which table are meant -------------------------------------------------------------------------
COLUMN_NAMED = 1.5  # from here a column is named by the question itself; what its name and cells hint at counts as much
IN_CELLS = 0.7  # a word in a cell, against one in the table's place and columns

# --- does a text of others hold -------------------------------------------------------------------------------------
ALIGNED = 0.5  # below this share of a claim's words, a sentence is about something else
# Of a claim's words in one sentence: one in seven may be missing. With half of them most false claims were supported.
SAID = 0.85
