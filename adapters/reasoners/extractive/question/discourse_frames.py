"""What people wrap around a question inside a conversation, taken off: turns of talk, and the topic they announce.

"Speaking of refunds, who approves them?" asks who approves refunds. Politeness and greetings, which come without a
conversation too, are ``intent``'s; a remark with words of its own stays, because it may be what the question is about.
People drop these frames when they make a question stand alone (``research.measure.follow_up_words`` counts how many of
the words survive), and a search for "speaking" or "meant" finds nothing that is meant.
"""

import re
from dataclasses import dataclass

from core.model.text import content_words, words

_SORRY = r"sorr?y"  # markers are misspelt as any word is
_OPENERS = rf"(?:(?:so|and|but|no|now|well|ok|okay|also|yes|{_SORRY}|oh|ah|wait|hang on|hold on|oops)\b[\s,.!]*)*"
# Each stands at the front of the question or of a sentence in it.
_FRAMES = re.compile(
    rf"(?:^|(?<=[.!?;]\s)){_OPENERS}(?:"
    r"(?:to )?chang(?:e|ing) the (?:subject|topic)\b[^,.?]*[,.:]|"
    r"(?:on (?:a(?:nother| different)|the other) (?:note|topic|subject)|in other words|in fact|of course|to be honest"
    r"|honestly|basically|aha|(?:oh )?my god|along with(?=,)|as i (?:said|mentioned)|like i said|that (?:being )?said"
    r"|having said that|(?:just )?to (?:clarify|be clear)|one more (?:thing|question)|another question|first of all"
    r"|after all|out of curiosity|just curious|any(?:way|how)|alternatively|finally|lastly|for (?:example|instance)"
    r"|(?:a |my )?follow-?up question(?: is)?|my (?:next |last |other )?question is(?: this)?)\b[\s,:;–—-]*|"
    r"(?:thanks?|thank you)? ?for (?:(?:clarify|explain|answer|confirm|help|tell|ask|shar)ing"
    r"|the (?:info(?:rmation)?|help|answer|explanation|clarification))"
    r"(?: \w+){0,4}[.!,]|"
    r"in (?:english|german|french|spanish|dutch|portuguese|italian)(?=[:,])[:,]|"
    r"(?:do|did) you mean(?: that)? (?=\S+ \S)|"
    r"do(?:es)? (?:that|this|it) mean(?: that)? (?=\S+ \S+ \S)|"
    r"are you saying(?: that)? (?=\S+ \S)|"
    r"are you able to (?:tell|show|give|explain to)(?: (?:me|us))?(?: about)?\b|"
    r"(?:may|can|could) i ask(?: you)?(?: about)?\b,?"
    r")\s*(?=[^\W_])",
    re.IGNORECASE,
)
_MEANT = re.compile(
    rf"(?:^|(?<=[.!?;]\s)){_OPENERS}"
    r"(?:(?:what )?i (?:just |actually )?(?:mean|mea?nt|was asking|am asking)|i'm asking|mea?nt"
    r"|make (?:that|it)(?: an?)?)\b"
    r"(?: (?:to (?:ask|say)|that|if|whether|is|was)\b)?[\s,:]*(?=[^\W_])",
    re.IGNORECASE,
)
_OPINION = re.compile(r"\bdo you (?:think|believe|reckon)\b(?: (?:that|if|whether)\b)?\s*(?=[^\W_])", re.IGNORECASE)
_TAG = re.compile(
    r"(?:,\s*(?:right|correct|huh|don't you think|isn't it|ok(?:ay)?)"
    r"|,?\s+(?:if (?:that's |it's |that is |it is )?possible|or something(?: like that| similar)?))\s*(\?+)\s*$",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    rf"^{_OPENERS}(?:(?:speaking|talking) (?:of|about)|(?:(?:going|coming|getting|turning|moving|returning) )?"
    r"(?:back|on) to|returning to|with regards? to|regarding|concerning|as for|about)\s+"
    r"(?:the |a |an )?(?P<topic>[^,:;?.!]+)[,:;]\s*(?=[^\W_])",
    re.IGNORECASE,
)
# "No, white blinking", "sorry, Poole", "oops wrong site, i'm at the quay": what is put right stands alone, without
# saying that it was meant.
_PUT_RIGHT = re.compile(
    rf"^(?:(?:(?:o+ps|whoops|no|{_SORRY})[\s,]+)?(?:wrong|not that)(?: \w+)?|no(?:[\s,]+(?:no|wait))*|nope|wait[\s,]+no"
    rf"|{_SORRY}|o+ps|whoops)"
    rf"\s*(?:[,.!:–—-]\s*|(?=not\b))(?:{_SORRY}[\s,]+)?(?:i(?:['’]?m| am) (?=(?:at|in|on|from|under)\b))?(?=[^\W_])"
    r"(?!(?:i|it|that|this|you|we|they)\b)",
    re.IGNORECASE,
)
# "And for opened... sorry I meant the log files": what was broken off is taken back.
_BROKEN_OFF = re.compile(
    rf"^[^.…]*(?:\.{{2,}}|…)\s*(?=(?:(?:no|wait|{_SORRY})\b[\s,.!]*)+(?:i (?:mean|mea?nt)\b|not\b))", re.IGNORECASE
)
_SORRY_LAST = re.compile(rf"[\s,–—-]+{_SORRY}\W*$", re.IGNORECASE)
# "Wrong site, Poole i mean", "BW3, i mean when was that one put in".
_MEANT_LAST = re.compile(
    rf"^{_OPENERS}(?:(?:wrong|not that|not the)(?: \w+)?\s*[,.!:–—-]\s*)?"
    r"(?P<said>[^,;:?!]+?),?\s+i (?:just )?(?:mean|meant)"
    r"(?:\W*$|\s+(?P<question>(?:who|what|which|where|when|why|how)\b.+))",
    re.IGNORECASE,
)
# "I mean Poole, who leads that?": the topic, then the question about it.
_WITH_QUESTION = re.compile(
    r"^(?:the |a |an )?(?P<topic>[^,:;?.!]+)[,:;]\s*(?=(?:who|whom|whose|what|which|where|when|why|how)\b)",
    re.IGNORECASE,
)
_NOT_THIS = re.compile(
    r"^(?:no[,\s]+)?not\s+[^,–—-]+?(?:,|\s[–—-]\s|\s+but\s)\s*(?=\w)(?!(?:i|it|that|this|you)\b)", re.IGNORECASE
)
_TOPIC = 5  # content words; more is a sentence of its own


@dataclass(frozen=True, slots=True)
class BareQuestion:
    """The bare question, and what it announced that it is about; empty for most. ``amends``: "I meant …"."""

    question: str
    topic: str = ""
    amends: bool = False


def strip_frames(question: str) -> BareQuestion:
    """The question without its turns of talk; as it was where no word that means anything would remain."""
    topic = ""
    said = _FRAMES.sub("", _BROKEN_OFF.sub("", question))
    if (last := _MEANT_LAST.match(said)) and 0 < len(content_words(last["said"])) <= _TOPIC:
        said = f"I mean {last['said']}" + (f", {last['question']}" if last["question"] else "")
    amends = bool(_MEANT.match(said) or _PUT_RIGHT.match(said) or _NOT_THIS.match(said))
    bare = _TAG.sub(r"\1", _OPINION.sub("", _PUT_RIGHT.sub("", _MEANT.sub("", said))))
    bare = _SORRY_LAST.sub("", bare) if amends else bare
    announced = _ANNOUNCED.match(bare) or (_WITH_QUESTION.match(bare) if amends else None)
    if (found := announced) and 0 < len(content_words(found["topic"])) <= _TOPIC:
        topic, bare = found["topic"].strip(), bare[found.end() :]
    if not words(bare) or not (topic or content_words(bare) or not content_words(question)):
        return BareQuestion(question)
    if bare != question and question[:1].isupper() and not amends:
        bare = bare[:1].upper() + bare[1:]
    return BareQuestion(bare, topic, amends=amends)
