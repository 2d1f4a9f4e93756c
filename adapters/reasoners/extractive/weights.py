"""Every number that the extractive reasoner weighs by, in one place; ``docs/extractive.md`` says how to tune them.

A grade's cutoff is not here: it is the loop's (``core.model.inquiry.CUTOFFS``), the same for every reasoner.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Features:
    """What is counted of one unit (a sentence, row or item) against one question, in [0, 1] but for cosines.

    ``cosine`` is of the unit as it is read below its headings, ``passage_cosine`` of its passage: with the first held
    fast the second speaks against it, since a page that is near as a whole has many sentences that are near.
    ``own``, ``placed`` and ``covered`` are the shares of the question's words, rare ones counting more, in the unit, in
    the unit with its headings, and in its passage; ``named`` the share of the question's names and telling numbers in
    the passage (1 where it has none). ``subject`` is 1 where the question names the very thing that the unit is of,
    ``contradicts`` 1 where it has version 1 and 5 is asked for. ``fits`` says how well it holds the kind of thing that
    is asked for, ``strict`` that such a kind is asked for. ``rank`` is the passage's score as a share of the best
    one's, ``length`` the number of the question's words (6 and more are 1), ``unknown`` the share of them that no
    passage has. Two tell a unit from the others that were found: ``nearer`` is its cosine above the mean of the
    ``NEAREST_UNITS`` nearest, ``lead`` its ``placed`` above the best other's. ``row`` is 1 where it is of a table,
    ``focus`` the share of the thing asked for ("phone number") in the unit and right above it, 1 where none is named.
    """

    cosine: float
    passage_cosine: float
    own: float
    placed: float
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
    placed=0.0,
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
# constant. Fitted on 1,342 questions over four companies and 1,087 over three sets of real pages, from which neither
# the weights above nor the reader were learnt (.5 to .6 and .5 to .7 for each). The constant was chosen by whole
# answers: at -.3 in place of -.7, 31 more were right and 19 more wrong of 1,231 (docs/measurements.md). A row needs
# more: of answers on the edge those from rows were wrong as often as right.
UNITS_READ = 16  # 24 gave no other verdict on three sets
COUNTED, READ = 0.5, 0.58
READING_BIAS, READING_BIAS_OF_ROWS = -0.8, -1.2
# Where none of these is as likely as not to answer, so many are read with what stands around them. What is taken from
# the odds of what was read so: less of a stretch that is all of its passage than of one that is cut out of it.
STRETCHES_READ = 6
WHOLE_STRETCH, PART_STRETCH = 0.5, 2.25
# The worth of a unit is its odds on a scale that begins here, so that shares of worth are differences of odds.
WORTH_FROM, WORTH_STEP = -8.0, 5.0

# --- how much a word of the question weighs -------------------------------------------------------------------------
COMMONEST_WORD = 0.1  # what a word that every text has still weighs
UNSEEN_WORD = 1.25  # a word that no text has, against the rarest one that some have
# Cosines of single words: below the first two words have nothing to do with each other ("notice" and "period" .24,
# "dental" and "health" .40), above the second they are as good as the same ("photo" and "picture" .85).
WORDS_APART, WORDS_ALIKE = 0.4, 0.85
LIKE_WORD = 0.8  # what a like word counts at most beside the word itself

# --- which passages of a search are looked at, and which of their units are compared by meaning ---------------------
# With 8 passages 72.3 % of the questions of four sets are right, with 12 73.0, with 16 73.8. Of the units of a search
# so many are the most promising (``evidence.candidates``), of the first passages more: a question in other words than
# the document's has few of theirs. Of 401 questions whose passage is found in 369, on real pages and one company, the
# answering unit is among 24 with 4 of each passage in 351, among these in 359, and among 48 with 8 of each in 364.
PASSAGES_SEARCHED = 16
UNITS_OF_FIRST, UNITS_OF_PASSAGE, UNITS_COMPARED = (8, 8, 6, 6), 4, 32
# Coverage of the question by the unit itself, by it with what stands right above, and with its headings and title.
OWN_WORDS, WORDS_IN_CONTEXT, WORDS_IN_PLACE = 0.5, 0.2, 0.3
PHRASES = 0.3  # pairs of neighbouring words of the question that stand so
KIND_OF_ANSWER = 0.5  # what the expected kind of answer counts, beside a coverage of at most 1
GRADE_OFFSET = 0.6  # worth is multiplied by this and a tenth of its passage's grade
UNGRADED = 5

# What speaks for a unit or against it, whatever its words: factors.
LEANT_ON = 1.25  # in the document that a follow-up leans on
IN_RANGE, OUT_OF_RANGE = 1.4, 0.3
OTHER_NUMBER = 0.4  # "version 1", where version 5 is asked for
DEBRIS = 0.4
LACKS_KIND = 0.6  # a sentence without any time, where "how long" is asked
EMPTY_CELL = 0.02  # the row is of what is asked about, and has nothing in the very column that is asked for
ONLY_VERSION = 0.02  # says but which edition the document is, where something in it is asked for
OTHER_SUBJECT = 0.5  # of a neighbour of what the question names
STAMP_ASKED_FOR = 1.3  # "Reviewed on 9 February 2026.", where that is asked for
OTHER_FIGURE = 0.8  # no number of the question's

# Added to the logarithm of its odds, where another document speaks of the same with odds that lie at most so far below.
SUPERSEDED, REPLACES_WITHIN = -3.0, 5.0
OTHER_VERSION = 0.4  # of a document whose version that is asked for is there as well

# --- which further quotes are good enough, as a share of the best one's worth ---------------------------------------
SAME_MATTER = 1.2  # of another version's worth, after its factor: from here the meant version speaks of the same
COVERING_PASSAGE = 0.85  # of the question by one passage: nothing is left to bridge to
# A further quote's worth; less where it also covers words that no other quote has, or the kind of answer. One sentence
# answers a question for one figure; one for several things, or by way of another, needs more.
SEVERAL_ENOUGH, SEVERAL_NEW = 0.6, 0.6
LAYERED_ENOUGH, LAYERED_NEW = 0.8, 0.6
FIGURE_ENOUGH, FIGURE_NEW = 0.86, 0.8
ENOUGH, NEW = 0.85, 0.7
ROWS_ALIKE = 0.5  # of odds: two rows of a table that differ by less can hardly be told apart
SAME_CONTENT = 0.5  # of a sentence's words but its figures, which another has that says more or other of the same
SAME_WORDS = 0.85  # from this share of the shorter one's words on, two quotes say the same

# --- what "it" is: how much a phrase of the thread weighs -----------------------------------------------------------
EARLIER_EXCHANGE = 0.6  # how much an exchange counts of the one after it
OPENING = 0.2  # more for what the thread began with, however long ago
NAME, NAME_AND_NOUN, NOUN, WORD, RELATION = 1.0, 1.05, 0.8, 0.6, 0.2
FROM_ANSWER, FROM_TITLE = 0.2, 0.8
BESIDE_A_QUESTION = 0.5  # of a title's weight: what was asked says better what "it" is
STEADY = 0.3  # a name that weighs this much is what the thread is about
DWELT_ON = 1.6  # about as much as a name in each of the last three questions
DISAGREEING = 0.5  # of its weight, for one thing that would be "they"; .3 and .7 do as well on the measuring sets

# --- which column and which table are meant -------------------------------------------------------------------------
COLUMN_NAMED = 1.5  # from here a column is named by the question itself; what its name and cells hint at counts as much
IN_CELLS = 0.7  # a word in a cell, against one in the table's place and columns

# --- what leads from one name to the next ---------------------------------------------------------------------------
COMMON_NAME = 0.3  # a name in more than this share of the units leads nowhere in particular
GOOD_STEP = 0.4
STEP_FITS, STEP_KEY, STEP_NAMES = 0.5, 0.5, 0.1  # beside coverage: the kind of answer, a unit that begins with the name

# --- does a text of others hold -------------------------------------------------------------------------------------
ALIGNED = 0.5  # below this share of a claim's words, a sentence is about something else
# Of a claim's words in one sentence: one in seven may be missing, so that of a short claim none is. With half of
# them, .50 of the contradicted claims of scifact were called supported, and .38 of BEGIN's unattributable replies: now
# .02 and .06. The price: .25 of BEGIN's attributable replies are called unsupported (research/verification).
SAID = 0.85
