"""Follow-ups: a question that leans on the thread becomes one that stands alone; any other is left as it is.

No model: pronouns, demonstratives, ellipsis ("and for enterprise?") and definite mentions ("the refund") are found by
their words, and what they stand for is the most salient phrase of the thread.

When a phrase pays: a question with F1 of F to a person's rewrite shares s = F(a + b)/2 of its a content words with the
rewrite's b. With a word more, that belongs there with probability p, the expected F1 is 2(s + p)/(a + b + 1), which is
above F exactly when p > F/2. Questions without a pronoun are close to their rewrite already, so little may be added to
them; ``tests.measure.follow_up_words`` sets p beside F/2 where something is added, and where nothing is.
Whether to search at all is left to ``intent``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.question.discourse_frames import BareQuestion, strip_frames
from adapters.reasoners.extractive.question.parallels import (
    put_as_subject,
    put_at_same_preposition,
    put_number,
    put_opposite,
    put_where_they_differ,
)
from adapters.reasoners.extractive.question.phrases import Phrase, leaves_open, names, noun_phrases, word_list
from adapters.reasoners.extractive.question.topics import Topic, topics_of
from core.model.conversation import Exchange
from core.model.text import STOPWORDS, content_words, stem, words

# Words that stand for something said before.
PERSONAL = re.compile(r"\b(he|she|him|his|her|hers|himself|herself)\b", re.IGNORECASE)
THING = re.compile(r"\b(it|its|itself|they|them|their|theirs|themselves)\b", re.IGNORECASE)
PLURAL = frozenset({"they", "them", "their", "theirs", "themselves", "these", "those"})
DEMONSTRATIVE = frozenset({"this", "that", "these", "those"})
POSSESSIVE = frozenset({"his", "its", "their"})
PRONOUN_ONLY = re.compile(r"(?:it|that|this|them|those|these|he|she|they|him|her)", re.IGNORECASE)
_ENOUGH_BEFORE = 3  # content words
_POINTING = re.compile(
    r"\b(this|these|those)\b(?!\s+(?:is a question|way|week|month|year|morning|time))"
    r"|\bthat\b(?=\s*(?:[?.,!;]|$|\s(?:work|mean|cost|apply|happen|change|compare|help|cause|include|mean|for|is"
    r"|was|too|one)\b))"
    r"|(?<=\bof )that\b|(?<=\bdo )that\b|(?<=\bdid )that\b|(?<=\bdoes )that\b|(?<=\bis )that\b|(?<=\bwas )that\b"
    r"|(?<=\bafter )that\b|(?<=\bbefore )that\b|(?<=\babout )that\b|(?<=\bfor )that\b|(?<=\bto )that\b",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"(?<=\b(?:new|own) )ones?\b|(?<=\b(?:good|best|next|last|this|that) )ones?\b|(?<=\b(?:which|smart|right) )one\b",
    re.IGNORECASE,
)
_REMARK = re.compile(r"^[^?]*[.!]\s+(?=[^.!?]*\?\s*$)")
# "That was not my question": of the talk itself, in a sentence that asks nothing.
_STATED = re.compile(
    r"^(?:\w+,?\s+)?(?:that|this)(?:'s|’s|\s+(?:is|was|might|may|would|will|sounds|seems|looks))\b(?=[^?]*$)",
    re.IGNORECASE,
)
# "Does that take place", "when did that last happen": what comes after is what it does, and no noun.
_ASKED_OF = re.compile(r"\b(?:do|does|did|will|would|can|could|is|was|has|had)\s+$", re.IGNORECASE)
_ADVERBS = frozenset({"last", "ever", "still", "also", "always", "usually", "really", "actually", "already", "again"})
# "How heavy is one?", "when I see one": of the things just spoken of, and not the first of them or each.
_COUNTED_OUT = word_list(
    "the any which what each every only this that no last next both than first other new own good best"
)
_ANY_ONE = re.compile(
    "".join(rf"(?<!\b{word} )" for word in sorted(_COUNTED_OUT)) + r"\bone(?=\s*(?:[,.?!;]|$))", re.IGNORECASE
)
_THAT_VERSION = re.compile(r"\b(?:this|that) (?:version|release|edition|update|year)\b", re.IGNORECASE)
_VERSION = re.compile(r"(?:\b[\w-]+ )?\b(?:v?\d+(?:\.\d+)+|(?:19|20)\d\d)\b")
# "It" that stands for nothing, as in "is it free to …".
_EMPTY_IT = re.compile(
    r"\bit(?:'s|’s| is| was| would be)?\s+(?:is |was |be )?(?:important|possible|true|necessary|better|worth|safe"
    r"|legal|"
    r"ok|okay|take|takes|took|seems?|rains?|mandatory to|hard to|easy to|common|good to|possible|likely)\b"
    r"|\b(?:is|was) it (?:\w+ )?to\b|\b(?:is|was|would|will|does|did) it (?:be )?(?:important|possible|true that"
    r"|necessary|better|worth|safe|legal|ok"
    r"|okay|take|hard|easy|common|likely|necessary|normal|bad to|good to|mean to|makes? an?)\b|\bworth it\b",
    re.IGNORECASE,
)


# Fragments: "and in London?", "what about the job timeout?", "I meant Fleet" go on with the question before them.
LEADING = re.compile(
    r"^(?:(?:and|but|so|also|then|or|plus)\b[\s,]*)*(?:what|how)\s+about\s+|^(?:and|but|or|plus|also)\b[\s,]+",
    re.IGNORECASE,
)
VERBISH = re.compile(
    r"\b(?:is|are|was|were|am|be|been|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must"
    r"|isn't|"
    r"aren't|wasn't|doesn't|don't|didn't|can't|won't|'s|’s|happened|happens)\b",
    re.IGNORECASE,
)
ASKING = re.compile(r"\b(?:who|whom|whose|what|which|where|when|why|how)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:the|a|an)\s+", re.IGNORECASE)
_PREPOSITION = re.compile(r"(in|for|on|at|with|to|by|from|under)\s+(?:the\s+)?", re.IGNORECASE)
# "What was it in 2025?" asks the same of another year.
_THE_SAME = re.compile(
    r"^(?:what|how much|how many|how)\s+(?:was|is|were|are)\s+(?:it|that|they|those)\s+(?=(?:in|under|on|for)\s)",
    re.IGNORECASE,
)
_AS_WELL = re.compile(r",?\s+(?:as well|too|also)$|^also\s+", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:if|when|while|after|before|during|since|until|without|because|as|per|than)\b", re.IGNORECASE)
_SMALL = re.compile(r"^(?:the|a|an|in|for|on|at|with|to|by|from|of)\s+", re.IGNORECASE)
_NOT_BUT = re.compile(r"not\s+(?:the\s+|for\s+)?(?P<old>[^,–—-]+?)\s*(?:,|\s[–—-]\s|\bbut\b)\s*(?:but\s+)?(?P<new>.+)")
_NOT = re.compile(r"(?P<new>[^,–—-]+?)(?: ?[,–—-])? (?:and )?not (?:the |for )?(?P<old>[^,–—-]+)")
_ENDS_IN_OBJECT = re.compile(r"(?P<before>\b(?:for|of|at|in|on|from|to)\s+(?:the\s+)?)[^\W\d_]+$", re.IGNORECASE)
_HOW = re.compile(r"how (?!come\b|about\b)[a-z]+", re.IGNORECASE)
_LONGEST_NAME = 4  # words
_LONGEST = 4  # content words; more is a question of its own
_BARE = 5  # words of a question that has none of its own


# Questions that leave their topic out.
EXCHANGES = 8  # further back, nothing is leaned on
_FEW = 2  # content words: with three, p is below F/2 on MTRAG
_SPEAKER = re.compile(r"\b(?:i|i'm|i’m|my|me|we|our|us)\b", re.IGNORECASE)
_COMPARED = re.compile(r"\b(?:less|better|worse|best|worst)\b", re.IGNORECASE)
_MORE_ABOUT = re.compile(r"\bmore (?:about|on)\b", re.IGNORECASE)  # names what it wants more about
_DETERMINED = re.compile(
    r"\b(?:the|a|an|my|our|your|this|that|these|those|his|her|its|their|any|no|some|each|every)\s+$"
)
_MORE = re.compile(
    r"\b(?:other|others|else|another|more|next|latter|former|same|both|either|besides|instead|alternatives?|second"
    r"|third|last"
    r"|similar|related|different)\b",
    re.IGNORECASE,
)
# "What is a galaxy?" begins something; "the best player", "all the time" point at nothing said before.
_INTRODUCES = re.compile(
    r"^(?:so |and |then )?(?:what|who)(?:'s|’s| is| are| was| were) (?:an?|the difference)\b|.*\b(?:all the time"
    r"|the (?:best|most|largest|biggest|oldest))\b",
    re.IGNORECASE,
)
_OPEN_END = re.compile(
    r"\b(?:then|in (?:that|this) case|(?<!is )(?<!are )(?<!was )(?<!were )there)\s*[?.!]*$", re.IGNORECASE
)
_FROM_TO = re.compile(r"\bfrom (?:[A-Z][\w'’-]*\s?){1,3} ?to (?:[A-Z][\w'’-]*\s?){1,3}(?<=\w)")
_THERE = re.compile(r"\bthere\s*(?=[?.!]*$)", re.IGNORECASE)
_PLACE = re.compile(
    r"\b(?:at|in|on|from)\s+(?:the\s+|our\s+)?(?!(?:a|an|the|my|case|time|first|least|most|total|general)\b)"
    r"[\w'’-]+(?:\s+[\w'’-]+){0,2}$",
    re.IGNORECASE,
)
_PUT_BEHIND = re.compile(r"\(([^()]+)\)\W*$")
_OPEN_WHOLE = re.compile(
    r"(?:which|what|whose|how|since|until|from)(?:\s+(?!about\b)[\w'’-]+){1,2}\s*[?.!]*", re.IGNORECASE
)
_DEFINITE = re.compile(
    r"\bthe\s+(?:[^\W\d_]+\s+)?([^\W\d_]{3,})(?=\s*(?:[?.!,]|$|\b(?:is|are|was|were|do|does|did|work|have|has|in"
    r"|on|get)\b))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ResolvedQuestion:
    """The question standing alone; ``reason`` says what was put in, and is empty when nothing was."""

    question: str
    reason: str = ""
    stuck: bool = False  # it leans on something, and there is nothing to lean on

    @property
    def changed(self) -> bool:
        """Whether anything was put in."""
        return bool(self.reason)


def resolve(question: str, earlier: Sequence[Exchange]) -> ResolvedQuestion:
    """The question with what it leaves out put in from the thread."""
    window = tuple(earlier)[-EXCHANGES:]
    if not question.isascii() and not ASKING.search(question):
        return ResolvedQuestion(question)  # another language: its words are not ours to move
    topics = topics_of(window)
    if not topics:
        return ResolvedQuestion(question, stuck=_leans(question) and not content_words(question))
    bare = strip_frames(question)
    return _resolve_announced(bare) if bare.topic else _in_thread(bare, topics, window)


def _in_thread(bare: BareQuestion, topics: Sequence[Topic], window: Sequence[Exchange]) -> ResolvedQuestion:
    whole, before = continue_fragment(bare.question, window, amends=bare.amends)
    if whole:
        return ResolvedQuestion(whole, f"continues “{before}”")
    if _THAT_VERSION.search(bare.question) and (added := _last_number(window)):
        return ResolvedQuestion(_append_topic(bare.question, added), f"about {added}")
    if pronoun := pronoun_in(bare.question):
        return _replace_pronoun(bare.question, pronoun, topics, window)
    last = window[-1]
    if placed := _at_that_place(bare.question, last.question):
        return ResolvedQuestion(placed, f"there, as in “{last.question}”")
    added = _open_end(bare.question, topics, last.question)
    if not added and last.is_settled:  # who asks something else at a card leaves its topic behind
        added = _led_on(bare.question, topics) or _left_out(bare.question, topics, last.question)
        added = added or _second(bare.question, window, topics)
    if added:
        return ResolvedQuestion(_append_topic(bare.question, added), f"about {added}")
    return ResolvedQuestion(bare.question)


def _resolve_announced(bare: BareQuestion) -> ResolvedQuestion:
    """A question that says itself what it is about: nothing of the thread is put in, and no reason given for it."""
    if set(content_words(bare.topic)) <= set(content_words(bare.question)):
        return ResolvedQuestion(bare.question)
    topic = Topic(Phrase(bare.topic, name=False), 1.0, recent=True, cited=False)
    if pronoun := pronoun_in(bare.question):
        return ResolvedQuestion(_replace_pronoun(bare.question, pronoun, [topic]).question)
    return ResolvedQuestion(_append_topic(bare.question, bare.topic))


def _replace_pronoun(
    question: str, pronoun: re.Match[str], topics: Sequence[Topic], window: Sequence[Exchange] = ()
) -> ResolvedQuestion:
    word = pronoun.group().casefold()
    before, after = question[: pronoun.start()], question[pronoun.end() :]
    noun = re.match(r"\s+([^\W\d_]{3,})", after)
    qualifies = noun is not None and noun.group(1).casefold() not in STOPWORDS
    if noun and word in DEMONSTRATIVE and _ASKED_OF.search(before) and _does(noun.group(1)):
        noun, qualifies = None, False
    if noun and qualifies and word in DEMONSTRATIVE and not VERBISH.match(after.strip()):
        added = _referent(question, noun.group(1), topics)
        return (
            ResolvedQuestion(_append_topic(question, added), f"about {added}") if added else ResolvedQuestion(question)
        )
    if word in DEMONSTRATIVE:
        after = re.sub(r"^\s+ones?\b", "", after, flags=re.IGNORECASE)
    chosen = _antecedent(question, word, topics)
    if chosen is None:
        return ResolvedQuestion(question)
    text = chosen.phrase.text
    if not _DETERMINED.search(before):
        text = _with_article(chosen.phrase, window)
    if word in POSSESSIVE or (word == "her" and qualifies):
        text = f"{text}'" if text.endswith("s") and (chosen.phrase.plural or not chosen.phrase.name) else f"{text}'s"
    text = text[0].upper() + text[1:] if not before and pronoun.group()[0].isupper() else text
    return ResolvedQuestion(f"{before}{text}{after}", f"“{pronoun.group()}” read as {chosen.phrase.text}")


def _last_number(window: Sequence[Exchange]) -> str:
    """The version or year that was last asked about, with the word before it: "frostgate 4.0"."""
    found = (_VERSION.findall(one.question) for one in reversed(window))
    return next((numbers[-1] for numbers in found if numbers), "")


def _does(word: str) -> bool:
    """Whether a word after "does that" says what it does, or is like."""
    return word.casefold() in _ADVERBS or not noun_phrases(f"the {word}")


def _with_article(phrase: Phrase, window: Sequence[Exchange]) -> str:
    """The phrase as the thread says it: "the refund policy" where that was asked about."""
    if phrase.name:
        return phrase.text
    said = re.compile(rf"\b(?:the|an?|this|that|my|our|your)\s+{re.escape(phrase.text)}\b", re.IGNORECASE)
    return f"the {phrase.text}" if any(said.search(one.question) for one in window) else phrase.text


def _antecedent(question: str, word: str, topics: Sequence[Topic]) -> Topic | None:
    known = frozenset(content_words(question))
    fresh = [topic for topic in topics if not topic.phrase.stems <= known]
    if PERSONAL.fullmatch(word):
        people = [topic for topic in fresh if topic.is_person]
        # One capital may be a place: "Who leads the depot in Bremen?" was answered with a first and a last name.
        return next((topic for topic in people if " " in topic.phrase.text), next(iter(people), None))
    return max(fresh, key=lambda topic: topic.weight * _agreement(word, topic.phrase), default=None)


def _agreement(word: str, phrase: Phrase) -> float:
    """How well a pronoun fits a phrase by number. Of one thing only "it" is said; of a name, or of several, both."""
    return weights.DISAGREEING if word in PLURAL and not (phrase.name or phrase.plural) else 1.0


def _referent(question: str, noun: str, topics: Sequence[Topic]) -> str:
    """What "the movement" is: the thread's own phrase with that noun, else what the thread is about by name."""
    wanted, known = stem(noun), frozenset(content_words(question))
    for topic in topics:
        if topic.phrase.head == wanted and len(topic.phrase.stems) > 1:
            return topic.phrase.text
    if any(topic.phrase.stems & known for topic in topics if topic.recent):
        return ""
    named = (t for t in topics[:2] if t.phrase.name and t.weight >= weights.STEADY and not t.phrase.stems & known)
    return next((t.phrase.text for t in named if _goes_on(question, t)), "")


def _led_on(question: str, topics: Sequence[Topic]) -> str:
    """What a question that begins with "and" and names nothing goes on about: what was asked last."""
    asks = VERBISH.search(LEADING.sub("", question))
    if not LEADING.match(question) or not asks or names(question) or len(content_words(question)) > _FEW:
        return ""
    known = frozenset(content_words(question))
    fresh = (t.phrase for t in topics if t.recent and not t.phrase.stems & known and not t.phrase.relational)
    return next((phrase.text for phrase in fresh), "")


def _left_out(question: str, topics: Sequence[Topic], last: str) -> str:
    """The topic of a question that mentions something definite, or hardly anything, without saying of what."""
    if names(question) or not (VERBISH.search(question) or ASKING.search(question)):
        return ""
    known = frozenset(content_words(question))
    if _INTRODUCES.match(question):
        return ""
    if definite := _DEFINITE.search(question):
        return _referent(question, definite.group(1), topics)
    if any(topic.phrase.stems & known for topic in topics[:3]):
        return ""  # it names what the thread is about
    if len(known) <= 2 or _MORE.search(question):
        named = (t for t in topics[:2] if t.phrase.name and _is_the_topic(t))
        return _way(last, next((t.phrase.text for t in named if _goes_on(question, t)), ""))
    return ""


def _way(last: str, name: str) -> str:
    """The whole way that the last question asked about, where the name is one of its ends."""
    way = _FROM_TO.search(last)
    return way.group() if way and name and name in way.group() else name


def _open_end(question: str, topics: Sequence[Topic], last: str) -> str:
    """The topic of a question that ends in "then" or "there", or is no more than "which form?" or "since when?".

    What was put behind the last question, as by "I mean the old terms", still holds.
    """
    known = frozenset(content_words(question))
    if names(question) or not (_OPEN_END.search(question) or (_OPEN_WHOLE.fullmatch(question) and len(known) <= 1)):
        return ""
    if put := _PUT_BEHIND.search(last):
        return put.group(1)
    fresh = (topic.phrase for topic in topics if not topic.phrase.stems & known)
    return next((phrase.text for phrase in fresh if not phrase.relational and not phrase.generic), "")


def _at_that_place(question: str, last: str) -> str:
    """The question with the place that the last one ends in for its own last word, "there"; empty where none is."""
    place = _PLACE.search(last.rstrip("?.! "))
    there = _THERE.search(question)
    if not place or not there or names(question) or not content_words(question):
        return ""
    return f"{question[: there.start()]}{place.group()}{question[there.end() :]}"


def _second(question: str, window: Sequence[Exchange], topics: Sequence[Topic]) -> str:
    """The topic of a few words asked right after the question that opened the thread, and that leave open of what.

    Only there does what is added belong more often than it costs (p above F/2) in each of the measuring sets; later in
    a thread it does not, nor with three words (``tests.measure.follow_up_words``).
    """
    known = frozenset(content_words(question))
    if sum(bool(one.question) for one in window) != 1 or not 0 < len(known) <= _FEW:
        return ""
    if names(question) or _SPEAKER.search(question) or LEADING.match(question) or _INTRODUCES.match(question):
        return ""
    bare = _MORE_ABOUT.sub("", question)
    if not (leaves_open(bare) or _MORE.search(bare) or _COMPARED.search(bare)):
        return ""  # it names a thing of its own: a new topic
    fresh = (topic.phrase for topic in topics if not topic.phrase.stems & known)
    return next((phrase.text for phrase in fresh if not phrase.relational and not phrase.generic), "")


def _goes_on(question: str, topic: Topic) -> bool:
    """Whether a question that names no topic is on this one.

    That we cited a document is not enough, because people change the subject: then they must have named it themselves
    just before, or begin as with something that goes on ("And how many can I carry over?").
    """
    just_named = topic.recent and topic.asked and topic.phrase.name and len(content_words(question)) <= _FEW + 1
    return not topic.cited or just_named or bool(LEADING.match(question))


def _is_the_topic(topic: Topic) -> bool:
    """Whether the thread is plainly about it: sources have the name, or question after question comes back to it."""
    return topic.weight >= weights.DWELT_ON or (topic.cited and topic.weight >= weights.STEADY)


def _append_topic(question: str, topic: str) -> str:
    stop = len(question.rstrip("?.! "))
    return f"{question[:stop]} ({topic}){question[stop:]}"


def _leans(question: str) -> bool:
    return pronoun_in(question) is not None or bool(LEADING.match(question)) or len(words(question)) <= 2


def pronoun_in(question: str) -> re.Match[str] | None:
    """The first word that stands for something outside the question."""
    bare = _EMPTY_IT.sub(lambda found: "_" * len(found.group()), question)
    bare = _STATED.sub(lambda found: "_" * len(found.group()), bare)
    if question.rstrip().endswith("?"):  # what is said before the question is a remark: its pronouns can stay
        bare = _REMARK.sub(lambda found: "_" * len(found.group()), bare)
    candidates = [pattern.search(bare) for pattern in (PERSONAL, THING, _POINTING, _ONE, _ANY_ONE)]
    for one in sorted((one for one in candidates if one), key=lambda one: one.start()):
        before = question[: one.start()]
        # A name, or enough said, before the pronoun: it looks back inside the question.
        if not names(before) and len(content_words(before)) < _ENOUGH_BEFORE:
            return one
    return None


def continue_fragment(question: str, window: Sequence[Exchange], *, amends: bool = False) -> tuple[str, str]:
    """The fragment put into the question before it, and that question; two empty strings when it is no fragment.

    ``amends``: it corrects what was asked ("I meant …"), so that it need not begin with "and" or "what about".
    """
    asked = [one.question.rstrip("?.! ") for one in window if content_words(one.question)]
    said = _THE_SAME.sub("", LEADING.sub("", question).strip().rstrip("?.! "))
    said = _AS_WELL.sub("", said)
    leads = amends or bool(LEADING.match(question)) or bool(_PREPOSITION.match(said))
    if not asked or not said or not _is_fragment(said, leads=leads):
        return "", ""
    last, before = asked[-1], asked[-2] if len(asked) > 1 else ""
    whole = _put_right(last, said) or put_number(last, said) or _put_in(last, said, before, amends=amends)
    whole = whole or (f"{last} ({said})" if amends else "")
    return (f"{whole}?", f"{last}?") if whole else ("", "")


def _is_fragment(said: str, *, leads: bool) -> bool:
    asks = ASKING.match(said)
    if asks and len(words(said)) <= _BARE and not content_words(said) and not pronoun_in(said):
        return True  # "why?", "who did?", "what do I do then?"
    if _HOW.fullmatch(said):
        return True  # "how early?"
    if not leads or asks or VERBISH.search(said) or len(content_words(said)) > _LONGEST:
        return False
    return not (PERSONAL.search(said) or THING.search(said) or PRONOUN_ONLY.fullmatch(said))


def _put_right(last: str, said: str) -> str:
    """The last question with what it is said not to be replaced: "not the maternity one, the partner's"; else empty."""
    said = " ".join(said.split())
    found = _NOT_BUT.fullmatch(said) or _NOT.fullmatch(said)
    old = re.search(rf"\b{re.escape(found['old'])}\b", last, re.IGNORECASE) if found else None
    return f"{last[: old.start()]}{found['new']}{last[old.end() :]}" if found and old else ""


def _put_in(last: str, said: str, before: str, *, amends: bool = False) -> str:
    """The last question with its parallel part replaced: same noun, same preposition, or name for name; else empty."""
    base = re.sub(r"\s*\([^)]*\)$", "", last)
    if not content_words(said) or _HOW.fullmatch(said):
        return f"{base}: {said}"
    if opposite := put_opposite(base, re.sub(r"^per\s+", "", _SMALL.sub("", said), flags=re.IGNORECASE)):
        return opposite
    if _CLAUSE.match(said):
        return f"{base} {said}"
    bare = _SMALL.sub("", said)
    new = Phrase(bare, name=bare[:1].isupper() or tuple(names(said)) == (bare,))
    return (
        _put_for_noun(base, new) or _put_at_place(base, said, before) or _put_for_topic(base, said, new, amends=amends)
    )


def _put_for_noun(base: str, new: Phrase) -> str:
    """The question with a phrase in the place of another of the same noun; else empty."""
    for phrase in noun_phrases(base):
        if phrase.head == new.head and phrase.stems != new.stems and len(new.stems) > 1:
            return base.replace(phrase.text, new.text, 1)
    return ""


def _put_at_place(base: str, said: str, before: str) -> str:
    """The question with the fragment at the same preposition, or where it differs from the one before; else empty."""
    if _PREPOSITION.match(said):
        return put_at_same_preposition(base, said) or put_where_they_differ(before, base, said) or f"{base} {said}"
    return put_where_they_differ(before, base, said)


def _put_for_topic(base: str, said: str, new: Phrase, *, amends: bool) -> str:
    """The question with the fragment in the place of a name or of its one topic; else empty."""
    replaced = [name for name in names(base) if len(name.split()) <= _LONGEST_NAME] if new.name else []
    if replaced:
        return _replace_name(base, replaced[-1], said, new.text)
    if amends and (found := _ENDS_IN_OBJECT.search(base)):
        return f"{base[: found.start()]}{found['before']}{new.text}"
    return _about(base, new.text, amends=amends) or (put_as_subject(base, said) if amends else "")


def _about(base: str, new: str, *, amends: bool) -> str:
    """The question asked of something else, where it is plain what it was asked of."""
    topical = [phrase for phrase in noun_phrases(base) if not phrase.relational]
    asks = VERBISH.search(base) or ASKING.search(base)
    if asks and len(topical) == 1 and (amends or len(content_words(base)) > len(topical[0].stems)):
        return base.replace(topical[0].text, new, 1)
    return ""


def _replace_name(base: str, old: str, said: str, new: str) -> str:
    """One name for another; an article goes with the name that it was said of, and stays with a noun behind it."""
    found = re.search(rf"(?P<article>\b(?:the|a|an)\s+)?{re.escape(old)}(?P<noun>\s+[a-z])?", base, re.IGNORECASE)
    if found is None or not found["article"] or found["noun"] or _ARTICLE.match(said):
        return base.replace(old, new, 1)
    return f"{base[: found.start()]}{new}{base[found.end() :]}"
