"""All weights of the extractive reasoner. ``docs/extractive.md`` says how to tune them.

The cutoff of grades is in ``core.model.inquiry.CUTOFFS``, because all reasoners share it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Features:
    """Features of one unit (a sentence, row or item) for one question, in [0, 1] except for cosines.

    ``cosine`` is of the unit with its headings, ``passage_cosine`` of its passage.
    ``own`` and ``covered`` are the weighted shares of the question's words in the unit and in its passage. ``named`` is
    the share of the question's names and identifying numbers in the passage (1 without any). ``subject`` is 1 if the
    question names the unit's subject.
    ``fits`` says how well the unit has the wanted answer type, ``strict`` that the question requires one. ``rank`` is
    the passage's score as a share of the best one. ``length`` is the number of the question's words (1 for 6 and more).
    ``unknown`` is the share of them that no passage has. ``nearer`` is the unit's cosine minus the mean of the
    ``NEAREST_UNITS`` nearest. ``lead`` is its coverage minus the best other coverage. ``row`` is 1 for a table row.
    ``focus`` is the share of the wanted thing ("phone number") in the unit and right above it, 1 if none is named.
    """

    cosine: float
    passage_cosine: float
    own: float
    covered: float
    named: float
    subject: float
    fits: float
    strict: float
    rank: float
    length: float
    unknown: float
    nearer: float
    lead: float
    row: float
    focus: float


# --- does this sentence answer? One logistic function selects quotes and decides whether there is an answer ---------
# Fitted on the development question sets and on the samples (research/measure/sentences.py).
ANSWERING = Features(
    cosine=1.25,
    passage_cosine=2.0,
    own=0.95,
    covered=2.75,
    named=2.15,
    subject=1.6,
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
# Added to multi-hop questions over documents with names as titles (like HotpotQA): no single passage has it all.
ON_THE_WAY = 1.5
LONG_QUESTION = 6  # words
# Weights of the features and of the reader, if there is one, and a bias. Fitted on companies and pages that were not
# used to fit the weights above or the reader. Rows have a stricter bias, because borderline answers from rows were
# wrong as often as right.
UNITS_READ = 12
# Number of units read first, the log odds of one of them at which the others are not read, and the highest log odds
# of a unit that was not read.
UNITS_READ_FIRST, CLEAR, UNREAD = 4, 1.0, -3.0
COUNTED, READ = 0.5, 0.58
READING_BIAS, READING_BIAS_OF_ROWS = -0.8, -1.2

# --- how much a word of the question weighs -------------------------------------------------------------------------
COMMONEST_WORD = 0.1  # weight of a word that every text has
UNSEEN_WORD = 1.25  # weight of a word that no text has, relative to the rarest known word

# --- passages per search, and units compared by sentence vectors ----------------------------------------------------
# Compare more units of the first passages, because a paraphrased question shares few words with them.
PASSAGES_SEARCHED = 16
UNITS_OF_FIRST, UNITS_OF_PASSAGE, UNITS_COMPARED = (8, 8, 6, 6), 4, 32
# Coverage of the question by the unit, by the unit with the text right above, and with its headings and title.
OWN_WORDS, WORDS_IN_CONTEXT, WORDS_IN_PLACE = 0.5, 0.2, 0.3
KIND_OF_ANSWER = 0.5  # weight of the expected answer type, relative to a coverage of at most 1

# Rule adjustments, added to a unit's log odds.
OTHER_GROUP, GROUP_HAS_NONE = -4.0, 5.0  # another group's figure is not an answer; "the group has none" is

# --- further quotes: largest distance to the best one, in log odds ---------------------------------------------------
COVERING_PASSAGE = 0.85  # coverage of the question by one passage above which no more searches are needed
# A quote that adds new words or the expected answer type may be further behind.
ENOUGH, NEW = 1.3, 2.7
OF_OTHER_PASSAGE = 0.8  # added to the distance of a quote from another passage
OF_OTHER_VERSION = -4.0  # for another version than the one that the question is about
CHOSEN = 2.0  # for the document of the reading that a person chose

# --- which column and which table are meant -------------------------------------------------------------------------
COLUMN_NAMED = 1.5  # score of a column that the question names; a hint in its name or cells counts the same
IN_CELLS = 0.7  # weight of a word in a cell, relative to one in the table's headings and columns

# --- verification of a model's text ---------------------------------------------------------------------------------
ALIGNED = 0.5  # a sentence with a smaller share of a claim's words is about something else
# Share of a claim's words in one sentence: one in seven may be missing. At 0.5, most false claims were supported.
SAID = 0.85
