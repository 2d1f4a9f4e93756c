"""Names and noun phrases without a parser: runs of capitalised words, and runs of words that carry meaning.

Good enough to say what a question is about; what to do with that is left to the modules that ask.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from core.model.text import STOPWORDS, content_words, stem, words


def word_list(text: str) -> frozenset[str]:
    """The words of a text that lists them."""
    return frozenset(text.split())


@lru_cache(maxsize=8)
def _stems(listed: frozenset[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in listed)


QUESTION_WORDS = word_list(
    """
    who whom whose what which where when why how whats whos wheres whens hows
    """
)
PRONOUNS = word_list(
    """
    i you we he she it they me us him her them his hers its their theirs my your our this that these those
    """
)
# Words that open sentences or carry no topic, beyond the stop words.
_PALE = word_list(
    """
    thing things way ways kind kinds type types lot lots bit example examples detail details information info
    question questions answer answers one ones mean means meant use used using uses make makes made making know
    known think thought happen happened happens happening work works worked start started help helped take takes
    took taken come came keep kept like interesting important good bad better best great big large new old
    different main major common many several various actually really currently however although since yes okay
    ok oh wow hi hello thanks hmm sure people person someone anyone something anything everything nothing aspect
    aspects article part parts explain describe discuss list define name find show learn hear heard understand
    somebody anybody nobody everybody everyone omg
    want wanted wonder curious looking look today now besides behind aside typical normal overall
    """
)
# Never the noun a phrase is about, whatever their ending: a run of content words breaks at them.
_VERBS = word_list(
    """
    eat drink spoil stop replace treat relate allow compare convert alleviate spread reverse kill die borrow owe
    receive acquire watch exist win lose write wrote sing say said tell told ask build built buy sell pay grow
    produce prevent improve develop create reduce increase decrease become begin began happen seem sound suggest
    appear include contain involve require provide offer configure install delete remove add enable disable
    differ apply decide choose avoid consider solve fix handle protect explain describe learn teach study
    believe expect hope wish try left live lived move went married marry born carry bring brought buy hold
    meet met join form recommend prefer protect obtain earn spend save qualify file wear convince survive affect
    influence boost attract catch catches contribute interest stay enjoy hurt respond speak spoke talk wonder
    regret mention reach fail succeed release record perform star act publish release own belong cover last
    cause own run call let seem monitor happen exist detect mention
    """
)
# Adverbs and prepositions that are no stop words: a run of content words breaks at them.
_LOOSE = word_list(
    """
    able maybe perhaps sometimes often always never still right along course outside inside without around via
    beside beyond within toward towards across against else soon ago else enough instead compared versus vs
    pretty quite rather even yet almost especially regardless despite
    """
)
# Adjectives and adverbs that end a run without being what it is about.
_TRAILING = word_list(
    """
    native serious effective dangerous deadly extreme likely well late less more needed later longer popular
    successful famous available possible instead together apart far early high low long hard easy fast slow
    close free full cheaper longer shorter larger smaller bigger faster slower older newer dearer
    """
)
# Nouns that say a relation: what comes after their "of" is the topic.
_RELATIONAL = word_list(
    """
    role impact relationship purpose origin benefit cause difference reason effect example type time symptom
    method issue advantage disadvantage history meaning definition process step requirement limit area concern
    return particular form day year month week number amount level rate case fact idea view use point end result
    response reaction question problem situation location world others criticism source kind side option risk
    treatment cost concern exercise science purpose symptom benefit
    """
)
# Nouns that stand for something with a name of its own, once it was named: the album, the band, the second game.
_KINDS = word_list(
    """
    album song single band group film movie book show series episode game team company project product record tour
    member character version article story paper model item piece hit
    first second third fourth last next new final original full full-length debut early late popular same
    """
)
# Nouns that leave open of what, or for what, when nothing says it: the requirements, the deadline, pros and cons.
_OPEN = word_list(
    """
    pro con price fee discount warranty trial payment requirement eligibility exception deadline penalty rule law
    regulation option alternative setting size length height width weight speed distance duration temperature age
    population capital color colour origin default maximum minimum summary overview comparison importance advantage
    symptom cause cure treatment prevention diagnosis dosage outcome winner score release launch award author writer
    director founder owner inventor coach leader enemy opponent parent father mother wife husband child sibling actor
    cast character plot ending lyrics chapter ingredient component structure format template instruction sample member
    """
)
_MEAN = frozenset({stem("mean")})  # the verb, whose stem is that of "meaning"
_COLLECTIVE = word_list(
    """
    band group team family company government community crew staff army party council committee board police
    people public audience couple class club league firm bank department office university school military media
    """
)
_TOKEN = re.compile(r"[^\W_]+(?:[.'’&+#/-][^\W_]+)*|[.,;:!?()\"“”]")
_LINKS = word_list(
    """
    of the and de la van von der for in on to & at
    """
)
_SENTENCE_END = frozenset(".!?:")
_LONGEST = 5  # words; a longer run is a list or a web page's menu
_CONTRACTED = ("n't", "n’t", "'re", "'ve", "'ll", "’re", "’ve", "’ll")
_AUXILIARIES = word_list(
    """
    do does did can could will would should may might must
    """
)
_SUBJECTS = word_list(
    """
    i you we he she it they
    """
)
_BEING = word_list(
    """
    is are was were be been being has have had
    """
)
_PARTICIPLE = re.compile(
    r"(?:ed|ing|kept|sent|paid|held|built|written|given|done|set|lost|sold|bought|taught|found|run|born)$"
)
_AFTER_VERB = word_list(
    """
    in on at for from with to into about by per when if before after than as like and because
    up out off down over back away any a an the this that these those his her its their my our your
    """
)
_DETERMINERS = word_list(
    """
    a an the this that these those my our your their
    """
)
_VERB_CUES = word_list(
    """
    i you we he she it they to
    """
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A stretch that may be what a text is about. ``name``: it is written as a proper name."""

    text: str
    name: bool

    @property
    def stems(self) -> frozenset[str]:
        """The stems of its content words, for comparing."""
        return frozenset(stem(word) for word in words(self.text) if word.casefold() not in STOPWORDS)

    @property
    def relational(self) -> bool:
        """Whether it only says a relation to something else: role, cause, difference."""
        return not self.name and len(self.stems) == 1 and self.stems <= _stems(_RELATIONAL)

    @property
    def generic(self) -> bool:
        """Whether it only says what kind of thing something is that has a name: the first album, the team."""
        return not self.name and self.stems <= _stems(_KINDS)

    @property
    def plural(self) -> bool:
        """Whether "they" can be said of it: several, or a body of people. Of names nothing is known."""
        last = words(re.split(r"\b(?:of|in|for)\b", self.text)[0] or self.text)[-1:]
        bare = last[0].casefold() if last else ""
        return bare in _COLLECTIVE or (bare.endswith("s") and not bare.endswith(("ss", "us", "is", "'s", "’s")))

    @property
    def head(self) -> str:
        """The stem of its last word before any ``of``."""
        found = words(re.split(r"\b(?:of|in|for)\b", self.text)[0]) or words(self.text)
        return stem(found[-1]) if found else ""


def leaves_open(text: str) -> bool:
    """Whether it asks for a relation, a measure or one of a kind, which are somebody's or something's."""
    return not (_stems(_OPEN | _RELATIONAL | _KINDS) - _MEAN).isdisjoint(content_words(text))


def tokens(text: str) -> tuple[str, ...]:
    """Words and the punctuation that ends phrases."""
    return tuple(_TOKEN.findall(text))


def _capital(token: str) -> bool:
    return token[:1].isupper() or (len(token) > 1 and any(c.isupper() for c in token[1:]))


def _initial(found: tuple[str, ...], at: int) -> bool:
    return at == 0 or found[at - 1] in _SENTENCE_END


def _opens_name(found: tuple[str, ...], at: int) -> bool:
    token = found[at]
    bare = token.casefold()
    if not _capital(token) or bare in STOPWORDS or bare in _PALE or bare in QUESTION_WORDS or bare in PRONOUNS:
        return False
    if bare.split("'")[0].split("’")[0] in STOPWORDS | PRONOUNS:
        return False
    if not _initial(found, at):
        return True
    # The first word of a sentence is capitalised anyway: a name only with another capital inside or after it.
    return any(c.isupper() or c.isdigit() for c in token[1:]) or (at + 1 < len(found) and _capital(found[at + 1]))


def _name_end(found: tuple[str, ...], start: int) -> int:
    end = start + 1
    while end < len(found):
        if _capital(found[end]) or (found[end].isdigit() and found[end - 1] not in _LINKS):
            end += 1
            continue
        ahead = end
        while ahead < len(found) and found[ahead].casefold() in _LINKS and ahead - end < 2:
            ahead += 1
        linked = found[end].casefold() in {"of", "de", "la", "van", "von", "der", "the", "&"}
        if linked and ahead < len(found) and ahead > end and _capital(found[ahead]):
            end = ahead + 1
            continue
        break
    return end


@lru_cache(maxsize=4096)
def names(text: str) -> tuple[str, ...]:
    """The proper names of a text, in order, without repeats."""
    found = tokens(text)
    kept: dict[str, None] = {}
    at = 0
    while at < len(found):
        if not _opens_name(found, at):
            at += 1
            continue
        end = _name_end(found, at)
        parts = [part for part in found[at:end] if part[0].isalnum() or part == "&"]
        if len(parts) > _LONGEST + 2:
            at = end
            continue
        kept[" ".join(parts).removesuffix("'s").removesuffix("’s")] = None
        at = end
    return tuple(kept)


def _carries(token: str) -> bool:
    bare = token.casefold()
    return bool(token[0].isalnum()) and bare not in STOPWORDS and bare not in PRONOUNS and bare not in QUESTION_WORDS


@lru_cache(maxsize=4096)
def noun_phrases(text: str) -> tuple[Phrase, ...]:
    """Runs of content words and the names among them, as they stand, likely verbs left out."""
    found = tokens(text)
    phrases = [Phrase(name, name=True) for name in names(text)]
    start = 0
    while start < len(found):
        if not _nominal(found, start):
            start += 1
            continue
        end = start + 1
        while end < len(found) and not _possessive(found[end - 1]) and (_nominal(found, end) or _joins(found, end)):
            end += 1
        first, last = _without_verbs(found, start, end)
        if first < last and last - first <= _LONGEST:
            run = " ".join(found[first:last]).removesuffix("'s").removesuffix("’s")
            if run not in names(text):
                phrases.append(Phrase(run, name=False))
        start = end
    return tuple(dict.fromkeys(phrases))


def _nominal(found: tuple[str, ...], at: int) -> bool:
    token = found[at]
    bare = token.casefold().replace("’", "'")
    if not _capital_inside(found, at) and (bare.endswith("ly") or stem(bare) in _stems(_VERBS)):
        return False
    if bare.split("'")[0] in STOPWORDS | PRONOUNS | QUESTION_WORDS:
        return False
    if bare in _LOOSE and not _capital_inside(found, at):
        return False
    return _carries(token) and (bare not in _PALE or _capital_inside(found, at)) and not bare.endswith(_CONTRACTED)


def _capital_inside(found: tuple[str, ...], at: int) -> bool:
    return _capital(found[at]) and not _initial(found, at)


def _joins(found: tuple[str, ...], at: int) -> bool:
    """Whether a small word holds two capitalised ones together: Lord of the Rings."""
    after = next((word for word in found[at + 1 : at + 3] if word.casefold() not in _LINKS), "")
    return found[at].casefold() in {"of", "de", "la", "van", "von", "der", "the", "&"} and (
        _capital(found[at - 1]) and _capital(after)
    )


def _possessive(token: str) -> bool:
    return token.endswith(("'s", "’s"))


def _without_verbs(found: tuple[str, ...], start: int, end: int) -> tuple[int, int]:
    """The run without a verb at its front ("to configure …") or its back ("does the company pay for")."""
    before = found[start - 1].casefold() if start else ""
    happened = before == "to" and start > 1 and found[start - 2].casefold().startswith("happen")
    if before in _VERB_CUES and not _capital(found[start]) and not happened:
        start += 1
    determined = end < len(found) and found[end].casefold() in _DETERMINERS  # "who approves a claim"
    if (
        before in {"who", "what"}
        and (end - start > 1 or determined)
        and re.search(r"(?:s|ed)$", found[start])
        and not _capital(found[start])
    ):
        start += 1
    if end - start > 1 and not _capital(found[end - 1]) and _ends_in_verb(found, start, end, before):
        end -= 1
    while end > start and found[end - 1].casefold() in _TRAILING:
        end -= 1
    while end - start > 1 and re.search(r"[^e]ed$", found[end - 1]):  # what it did or suffered, not what it is
        end -= 1
    return start, end


def _ends_in_verb(found: tuple[str, ...], start: int, end: int, before: str) -> bool:
    """Whether the run's last word is what its other words do or suffer."""
    last, ahead = found[end - 1], found[end].casefold() if end < len(found) else "?"
    near = [word.casefold() for word in found[max(0, start - 3) : start]]
    asked = next((near[at + 1 :] for at, word in enumerate(near) if word in _AUXILIARIES), None)
    # "to treat high blood pressure" has its verb already, "do I find an expense form" its subject.
    open_verb = asked is not None and stem(before) not in _stems(_VERBS) and _SUBJECTS.isdisjoint(asked)
    base_form = not last.endswith("s")  # as verbs after "do" and "can" are
    if base_form and (ahead in PRONOUNS or (open_verb and (ahead in _AFTER_VERB or not ahead[0].isalnum()))):
        return True
    defined = near[-2:] in (["what", "is"], ["what", "are"])  # "what is data labelling": a noun
    return not defined and not _BEING.isdisjoint(near) and bool(_PARTICIPLE.search(last))
