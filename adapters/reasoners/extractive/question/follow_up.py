"""Follow-ups: a question that leans on the thread becomes one that stands alone; any other is left as it is.

No model: pronouns, demonstratives, ellipsis ("and for enterprise?") and definite mentions ("the refund") are found by
their words, and what they stand for is the most salient phrase of the thread.

When a phrase pays: a question with F1 of F to a person's rewrite shares s = F(a + b)/2 of its a content words with the
rewrite's b. With a word more, that belongs there with probability p, the expected F1 is 2(s + p)/(a + b + 1), which is
above F exactly when p > F/2. Questions without a pronoun are close to their rewrite already, so little may be added to
them; ``research.measure.follow_up_words`` sets p beside F/2 where something is added, and where nothing is.
Whether to search at all is left to ``intent``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.question.discourse_frames import BareQuestion, strip_frames
from adapters.reasoners.extractive.question.fragments import ASKING, LEADING, VERBISH, continue_fragment
from adapters.reasoners.extractive.question.lexicon import Lexicon
from adapters.reasoners.extractive.question.phrases import Phrase, leaves_open, names, noun_phrases
from adapters.reasoners.extractive.question.pronouns import DEMONSTRATIVE, PERSONAL, PLURAL, POSSESSIVE, pronoun_in
from adapters.reasoners.extractive.question.superlatives import singled_out
from adapters.reasoners.extractive.question.topics import Topic, topics_of
from adapters.reasoners.extractive.question.written_names import as_typed, with_written_names
from core.model.conversation import Exchange
from core.model.text import STOPWORDS, content_words, stem, words

# "Does that take place", "when did that last happen": what comes after is what it does, and no noun.
_ASKED_OF = re.compile(r"\b(?:(?P<does>do|does|did|will|would|can|could)|is|was|has|had)\s+$", re.IGNORECASE)
# "How long does that take?", "what does it cost after that?": of what was said to be done, not of a thing.
_HAPPENS = re.compile(
    r"\b(?:does|do|did|will|would|can)\s+(?:it|that|this)\s+(?:usually\s+|normally\s+)?(?:take|last|cost|happen)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"^(?:(?:and|but|so)\s+)?(?:what\s+happened\s+(?P<what>\w+\s+.+)"
    r"|(?:when|where|how(?:\s+(?:early|late|often|fast|soon|long\s+before\s+\w+))?)\s+"
    r"(?:(?:is|are|was|were|does|did|will)\s+(?P<thing>[\w'’-]+\s+.+)"
    r"|(?:do|can|may|should|must)\s+(?:i|we|you)\s+(?P<act>.+)))$",
    re.IGNORECASE,
)
# "Where do I change that?" of how often or how long something is done: a setting, and no thing.
_SET = re.compile(
    r"\b(?:change|set|adjust|configure|alter|shorten|extend|lengthen|increase|decrease|customi[sz]e|tune)\s+"
    r"(?P<what>it|that|this)(?=\s*(?:[?.,!;]|$|(?:to|for|in|on|by|if|when|myself|ourselves|somewhere|anywhere)\b))",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(
    r"(?P<how>\bhow (?:often|long|much|many|fast|soon|big|large|late|early|far)\b"
    r"(?:\s+(?!(?:do|does|did)\b)[\w'’-]+){0,3}?)\s+(?:do|does|did)\s+(?P<done>\S.*)$",
    re.IGNORECASE,
)
_IT_DOES = re.compile(r"^(?:it|he|she)\s+[a-z]+\b", re.IGNORECASE)
# "What about p4s? do we still have to jump up that quickly": another case, and a sentence on the same that leans on it.
_CASE_FIRST = re.compile(
    r"^(?P<case>(?:(?:and|but|so|ok|okay)\b[\s,]*)*(?:what|how)\s+about\s+[^?.!]+)[?.!]+\s+"
    r"(?P<rest>(?=.*\b(?:still|also|too|as well|the same|that|this|those|then)\b)\S.*)$",
    re.IGNORECASE,
)
# "Where do I switch it on?" after "when I switch on 2fa": what that was done to before.
_DONE_TO = r"\s+(?:(?:on|off|up|out|in|down|over|back|away)\s+)?(?:(?:the|an?|my|our|your|this|that|these|those)\s+)?"
# "How many of them can I carry over?": of what was counted.
_PART_OF = re.compile(
    r"\b(?:how (?:many|much)|which|all|any|most|none|some|both|each|\d+)\s+(?P<of>of\s+)$", re.IGNORECASE
)
_COUNTED = re.compile(
    r"\bhow (?:many|much)\s+(?P<what>(?!of\b)[\w'’-]+(?:\s+[\w'’-]+){0,4}?)\s+"
    r"(?:do|does|did|is|are|was|were|can|could|may|must|will|would|should|has|have)\b",
    re.IGNORECASE,
)
_OF_ONE_THING = frozenset({"it", "its", "this", "that"})
_WHO = re.compile(r"(?:(?:and|so)\s+)?who(?:['’]?s)?\b", re.IGNORECASE)
_ADVERBS = frozenset({"last", "ever", "still", "also", "always", "usually", "really", "actually", "already", "again"})
_THAT_VERSION = re.compile(r"\b(?:this|that) (?:version|release|edition|update|year)\b", re.IGNORECASE)
_VERSION = re.compile(r"(?:\b[\w-]+ )?\b(?:v?\d+(?:\.\d+)+|(?:19|20)\d\d)\b")

# "No, I meant the old one, version 1" takes back that the current one was asked for.
_OLD_MEANT = re.compile(r"\b(?:old(?:er)?|previous|former)\b|\bversion \d", re.IGNORECASE)
_CURRENT = re.compile(r"\b(?:current|latest|newest|present)\s+", re.IGNORECASE)

# Questions that leave their topic out.
EXCHANGES = 8  # further back, nothing is leaned on
_FEW = 2  # content words: with three, p is below F/2 on MTRAG
_LOOKED_AT = 600  # characters of an answer
_THE_NAMED = re.compile(r"\b(?:this|that|the)\s+(?P<noun>[^\W\d_]{3,})\b", re.IGNORECASE)
_SPEAKER = re.compile(r"\b(?:i|i'm|i’m|my|me|we|our|us)\b", re.IGNORECASE)
_COMPARED = re.compile(r"\b(?:less|better|worse|best|worst)\b", re.IGNORECASE)
_MORE_ABOUT = re.compile(r"\bmore (?:about|on)\b", re.IGNORECASE)  # names what it wants more about
_DETERMINED = re.compile(
    r"\b(?:the|a|an|my|our|your|this|that|these|those|his|her|its|their|any|no|some|each|every|which|what)\s+$"
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
_AT_THAT_TIME = re.compile(r"\b(?:back then|then|at (?:that|the) time|in those days)(?=\s*[?.!]*$)", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|did|had|used to)\b", re.IGNORECASE)
# "Before 2026", "in 2023", "under the terms of 2023", "with the old terms".
_TIME = re.compile(
    r"\b(?:before|until|since|after|in|by|under|with|during)\s+(?:the\s+)?(?:[\w-]+\s+){0,3}?"
    r"(?:(?:19|20)\d\d(?:\s+(?:terms|edition|rules|prices|list|version))?"
    r"|old\s+(?:terms|edition|rules|prices|list|version))(?!\w)",
    re.IGNORECASE,
)
_THERE = re.compile(r"\bthere\s*(?=[?.!]*$)", re.IGNORECASE)
_PLACE = re.compile(
    r"\b(?:at|in|on|from)\s+(?:the\s+|our\s+)?(?!(?:a|an|the|my|case|time|first|least|most|total|general)\b)"
    r"(?!(?:km|kilomet(?:re|er)s|met(?:re|er)s|miles|minutes|hours|days|weeks|months|years|euros|pounds|percent)\b)"
    r"[\w'’-]+(?:\s+[\w'’-]+){0,2}$",
    re.IGNORECASE,
)
_PUT_BEHIND = re.compile(r"\(([^()]+)\)\W*$")
_OPEN_WHOLE = re.compile(
    r"(?:which|what|whose|how|since|until|from)(?:\s+(?!about\b)[\w'’-]+){1,2}\s*[?.!]*", re.IGNORECASE
)
_WORD = re.compile(r"(?:(?:and|his|her|their|its)\s+)*[a-z]{4,}\s*\?+")  # "extension?", of what was spoken of
_DEFINITE = re.compile(
    r"\bthe\s+(?:[^\W\d_]+\s+)?([^\W\d_]{3,})(?=\s*(?:[?.!,]|$|\b(?:is|are|was|were|do|does|did|work|have|has|in"
    r"|on|get)\b))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ResolvedQuestion:
    """The question standing alone; ``reason`` says what was put in, and is empty when nothing was.

    ``amends``: it corrects the one before it, whose answer was not what was wanted. ``holds_last``: it is the question
    before it with a part in the place of another, so that nothing of that is left out.
    """

    question: str
    reason: str = ""
    stuck: bool = False  # it leans on something, and there is nothing to lean on
    amends: bool = False
    holds_last: bool = False

    @property
    def changed(self) -> bool:
        """Whether anything was put in."""
        return bool(self.reason)


def resolve(question: str, earlier: Sequence[Exchange], lexicon: Lexicon | None = None) -> ResolvedQuestion:
    """The question with what it leaves out put in from the thread.

    ``lexicon`` tells names that were typed in lower case by its not knowing them.
    """
    window = tuple(earlier)[-EXCHANGES:]
    if not question.isascii() and not ASKING.search(question):
        return ResolvedQuestion(question)  # another language: its words are not ours to move
    if not window:
        return _alone(question)
    if done := _happens_as_asked(question, window[-1].question) or _set_as_asked(question, window[-1].question):
        return done
    bare = strip_frames(question)
    written = with_written_names(window, lexicon) if lexicon else window
    topics = topics_of(written)
    if bare.topic and topics:
        return _resolve_announced(bare)
    if whole := _continue(bare, window, written):
        return whole
    return _typed(_in_thread(bare, topics, window), window, written) if topics else _alone(question)


def resolve_part(part: str, former: Sequence[str]) -> ResolvedQuestion:
    """A later part of a question with what the first was about, where it says itself but what is asked for of that.

    "Who leads the workshop, and what's the extension?" does not ask for any extension.
    """
    if len(content_words(part)) != 1 or names(part):
        return ResolvedQuestion(part)
    topics = topics_of((Exchange(former[0]),))
    known = frozenset(content_words(part))
    fresh = (topic.phrase for topic in topics if not topic.phrase.stems & known)
    added = next((phrase.text for phrase in fresh if not phrase.relational and not phrase.generic), "")
    return ResolvedQuestion(_append_topic(part, added), f"about {added}") if added else ResolvedQuestion(part)


def _alone(question: str) -> ResolvedQuestion:
    """The question where there is nothing to lean on."""
    return ResolvedQuestion(question, stuck=_leans(question) and not content_words(question))


def _continue(bare: BareQuestion, window: Sequence[Exchange], written: Sequence[Exchange]) -> ResolvedQuestion | None:
    """A fragment put into the question before it, which ``written`` has with its names; None when it is none."""
    case = _CASE_FIRST.match(bare.question)
    whole = continue_fragment(case["case"] if case else bare.question, written, amends=bare.amends)
    if not whole:
        return None
    whole = f"{whole} {case['rest']}" if case else whole
    if bare.amends and _OLD_MEANT.search(bare.question):
        whole = _CURRENT.sub("", whole)
    last = next(one.question.rstrip("?.! ") for one in reversed(window) if content_words(one.question))
    typed = as_typed(whole, written[-1].question, window[-1].question)
    put_in = bare.amends or not whole.startswith(last)  # and not behind it: "how do I order? why?"
    return ResolvedQuestion(typed, f"continues “{last}?”", amends=bare.amends, holds_last=put_in)


def _typed(resolved: ResolvedQuestion, window: Sequence[Exchange], written: Sequence[Exchange]) -> ResolvedQuestion:
    """The question with the names of the thread as they were typed there."""
    for one, spelt in zip(window, written, strict=True):
        resolved = replace(resolved, question=as_typed(resolved.question, spelt.question, one.question))
    return resolved


def _in_thread(bare: BareQuestion, topics: Sequence[Topic], window: Sequence[Exchange]) -> ResolvedQuestion:
    if _THAT_VERSION.search(bare.question) and (added := _last_number(window)):
        return ResolvedQuestion(_append_topic(bare.question, added), f"about {added}")
    if pointed := _pointing(bare.question, topics, window):
        return pointed
    last = window[-1]
    if timed := _at_that_time(bare.question, last.question):
        return ResolvedQuestion(timed, f"then, as in “{last.question}”")
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
    asked_of = _ASKED_OF.search(before) if noun and word in DEMONSTRATIVE else None
    last = bool(asked_of and noun and asked_of["does"] and not after[noun.end() :].strip("?.! "))
    if asked_of and noun and _does(noun.group(1), last=last):
        noun, qualifies = None, False
    if noun and qualifies and word in DEMONSTRATIVE and not VERBISH.match(after.strip()):
        added = _referent(question, noun.group(1), topics)
        return (
            ResolvedQuestion(_append_topic(question, added), f"about {added}") if added else ResolvedQuestion(question)
        )
    part = _PART_OF.search(before) if word in PLURAL else None
    if part and (counted := _counted_last(window)):
        return ResolvedQuestion(f"{before[: part.start('of')]}{counted}{after}", f"“{word}” read as {counted}")
    if word in DEMONSTRATIVE:
        after = re.sub(r"^\s+ones?\b", "", after, flags=re.IGNORECASE)
    single = singled_out(window[-1].question) if window and word in _OF_ONE_THING else ""
    if single and not _DETERMINED.search(before):
        text = f"{single}'s" if word in POSSESSIVE else single
        return ResolvedQuestion(f"{before}{text}{after}", f"“{pronoun.group()}” read as {single}")
    last_one = window[-1] if window else Exchange("")
    chosen = _done_to(before, topics, last_one.question) or _antecedent(question, word, topics, last_one)
    if chosen is None:
        return ResolvedQuestion(question)
    text = chosen.phrase.text
    if part and chosen.phrase.plural and not chosen.phrase.name:  # "how many holidays", not "of holidays"
        before = before[: part.start("of")]
    if not _DETERMINED.search(before):
        text = _with_article(chosen.phrase, window)
    if word in POSSESSIVE or (word == "her" and qualifies):
        text = f"{text}'" if text.endswith("s") and (chosen.phrase.plural or not chosen.phrase.name) else f"{text}'s"
    text = text[0].upper() + text[1:] if not before and pronoun.group()[0].isupper() else text
    return ResolvedQuestion(f"{before}{text}{after}", f"“{pronoun.group()}” read as {chosen.phrase.text}")


def _happens_as_asked(question: str, last: str) -> ResolvedQuestion | None:
    """How long it takes, or what happens, where something is done that was asked about; None where it is a thing."""
    event = _event_of(last) if _HAPPENS.search(question) else ""
    return ResolvedQuestion(_append_topic(question, event), f"about {event}") if event else None


def _set_as_asked(question: str, last: str) -> ResolvedQuestion | None:
    """Where what is set or changed is how often or how long something is done; None where it is a thing."""
    found, asked = _SET.search(question), _HOW_MUCH.search(last.rstrip("?.! "))
    if not found or not asked or names(question[: found.start()]):
        return None
    what = f"{asked['how']} {_IT_DOES.sub(_with_ending, asked['done'])}"
    put = f"{question[: found.start('what')]}{what}{question[found.end('what') :]}"
    return ResolvedQuestion(put, f"“{found['what']}” read as {what}")


def _with_ending(said: re.Match[str]) -> str:
    """What it does, where "does" is gone: "it looks"."""
    return f"{said.group()}{'es' if said.group().endswith(('s', 'x', 'ch', 'sh', 'o')) else 's'}"


def _done_to(before: str, topics: Sequence[Topic], last: str) -> Topic | None:
    """What the same was done to in the last question: "2fa", where both switch something on."""
    verb = re.search(r"([^\W\d_]{3,})\s+$", before)
    if not verb or verb.group(1).casefold() in STOPWORDS or VERBISH.fullmatch(verb.group(1)):
        return None
    for word in re.finditer(r"[^\W\d_]{3,}", last):
        if stem(word.group()) != stem(verb.group(1)):
            continue
        behind = re.compile(_DONE_TO, re.IGNORECASE).match(last, word.end())
        rest = last[behind.end() :].casefold() if behind else ""
        acted = (topic for topic in topics if rest.startswith(topic.phrase.text.casefold()))
        if found := max(acted, key=lambda topic: len(topic.phrase.text), default=None):
            return found
    return None


def _counted_last(window: Sequence[Exchange]) -> str:
    """What was last asked how many there are of: "days of leave"."""
    found = (_COUNTED.search(one.question) for one in reversed(window))
    return next((one["what"] for one in found if one and content_words(one["what"])), "")


def _pointing(question: str, topics: Sequence[Topic], window: Sequence[Exchange]) -> ResolvedQuestion | None:
    """The question with what its "that team" or its pronoun stands for; None where it points at nothing."""
    if named := _with_name_of_last(question, window[-1].answer):
        return named
    pronoun = pronoun_in(question)
    return _replace_pronoun(question, pronoun, topics, window) if pronoun else None


def _with_name_of_last(question: str, answer: str) -> ResolvedQuestion | None:
    """The question with the one name of the last answer that begins with its noun: "that team" as "Team Compass"."""
    for said in _THE_NAMED.finditer(question):
        noun = said["noun"].casefold()
        told = {name for name in names(answer[:_LOOKED_AT]) if name.casefold().startswith(f"{noun} ")}
        if len(told) == 1 and not names(question):
            (name,) = told
            put = f"{question[: said.start()]}{name}{question[said.end() :]}"
            return ResolvedQuestion(put, f"“{said.group()}” read as {name}")
    return None


def _event_of(question: str) -> str:
    """What was asked when or how it is done: "chamber 8 defrosted"; empty where a thing was asked about."""
    found = _DONE.match(question.rstrip("?.! "))
    return next((part for part in found.groups() if part), "") if found else ""


def _last_number(window: Sequence[Exchange]) -> str:
    """The version or year that was last asked about, with the word before it: "frostgate 4.0"."""
    found = (_VERSION.findall(one.question) for one in reversed(window))
    return next((numbers[-1] for numbers in found if numbers), "")


def _does(word: str, *, last: bool) -> bool:
    """Whether a word after "does that" says what it does, or is like: the last of "which do those get" must."""
    return last or word.casefold() in _ADVERBS or not noun_phrases(f"the {word}")


def _with_article(phrase: Phrase, window: Sequence[Exchange]) -> str:
    """The phrase as the thread says it: "the refund policy" where that was asked about."""
    if phrase.name:
        return phrase.text
    said = re.compile(rf"\b(?:the|an?|this|that|my|our|your)\s+{re.escape(phrase.text)}\b", re.IGNORECASE)
    return f"the {phrase.text}" if any(said.search(one.question) for one in window) else phrase.text


def _antecedent(question: str, word: str, topics: Sequence[Topic], last: Exchange) -> Topic | None:
    known = frozenset(content_words(question))
    fresh = [topic for topic in topics if not (topic.is_date or topic.phrase.stems <= known)]
    if PERSONAL.fullmatch(word):
        return _person(fresh, last)
    return max(fresh, key=lambda topic: topic.weight * _agreement(word, topic.phrase), default=None)


def _person(topics: Sequence[Topic], last: Exchange) -> Topic | None:
    """Who "he" or "she" is: of names that weigh the same, the one that the last answer says first."""
    people = [topic for topic in topics if topic.is_person]
    if _WHO.match(last.question):  # "who is the security officer?": she is who was named, not the office
        people = [topic for topic in people if topic.recent and not topic.asked] or people
    people.sort(key=lambda topic: (-topic.weight, f"{last.answer}{topic.phrase.text}".find(topic.phrase.text)))
    # One capital may be a place: "Who leads the depot in Bremen?" was answered with a first and a last name.
    return next((topic for topic in people if " " in topic.phrase.text), next(iter(people), None))


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
    """The topic of a question that ends in "then" or "there", or is no more than "which form?", "since when?", "fee?".

    What was put behind the last question, as by "I mean the old terms", still holds.
    """
    known = frozenset(content_words(question))
    whole = (_OPEN_WHOLE.fullmatch(question) or _WORD.fullmatch(question)) and len(known) <= 1
    if names(question) or not (_OPEN_END.search(question) or whole):
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


def _at_that_time(question: str, last: str) -> str:
    """The question with the time or version that the last one named for its own last word, "then"; else empty."""
    time, then = _TIME.search(last), _AT_THAT_TIME.search(question)
    told = not ASKING.search(question) or _PAST.search(question)  # "who do I call then?" is asked of a case
    if not time or not then or not told or not content_words(question):
        return ""
    return f"{question[: then.start()]}{time.group()}{question[then.end() :]}"


def _second(question: str, window: Sequence[Exchange], topics: Sequence[Topic]) -> str:
    """The topic of a few words asked right after the question that opened the thread, and that leave open of what.

    Only there does what is added belong more often than it costs (p above F/2) in each of the measuring sets; later in
    a thread it does not, nor with three words (``research.measure.follow_up_words``).
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
