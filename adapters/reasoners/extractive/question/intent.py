"""What a message asks for before any search: small talk, the conversation itself, or the documents.

Takes the padding off a question and parts it into its needs. Resolving what a follow-up leans on is ``follow_up``'s.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, auto

from adapters.reasoners.extractive.question import about_knowledge
from core.model.inquiry import Overview
from core.model.text import content_words, sentences, words


class Intent(Enum):
    """What a message is, beside a question about the documents."""

    GREETING = auto()
    THANKS = auto()
    FAREWELL = auto()
    WELLBEING = auto()
    ACKNOWLEDGED = auto()
    ABILITIES = auto()
    IDENTITY = auto()
    METHOD = auto()
    LAST_QUESTION = auto()
    RECAP = auto()
    SHORTER = auto()
    REPEAT = auto()
    SOURCE = auto()
    OBJECTION = auto()
    DOUBT = auto()
    MORE = auto()


_NAMED = r"(?:footnote|bot|team|all|everyone|everybody|folks|there|again|guys|friend)"
_GREETING = (
    r"(?:hi+|hiya|hello+|hey+|howdy|greetings|yo|morning|good (?:morning|afternoon|evening|day))"
    rf"(?:[ ,]+{_NAMED}){{0,2}}"
)
_THANKS = (
    r"(?:(?:ok|okay|great|perfect|cool|nice|super|awesome|got it|brilliant|lovely)[ ,!.]+)*"
    r"(?:many |vielen |besten |tausend |muchas |mille )?"
    r"(?:thanks|thank you|thank u|thx|ty|cheers|danke|dank|merci|gracias|obrigad[oa]|grazie|bedankt|much appreciated"
    r"|appreciate it|appreciated)"
    r"(?:[ ,]+(?:a lot|a million|so much|very much|again|dir|euch|ihnen|schön|sehr|vielmals|beaucoup|bien|mucho|"
    r"for (?:the|your|all|that)[\w ]{0,30}|footnote|bot|team"
    r"|that helps|"
    r"that helped|everyone|all|mate|that was helpful|this helps)){0,3}"
)
# Whole messages only: a greeting before a question is padding, and goes.
_WHOLE: tuple[tuple[Intent, str], ...] = (
    (Intent.GREETING, _GREETING),
    (Intent.THANKS, _THANKS),
    (
        Intent.FAREWELL,
        (
            r"(?:good ?bye|bye(?: bye)?|see (?:you|ya)(?: later| soon| tomorrow)?|good night"
            r"|have a (?:nice|good|great) \w+)"
        ),
    ),
    (
        Intent.WELLBEING,
        (
            rf"(?:{_GREETING}[ ,!.]*)?(?:how are you(?: doing)?(?: today)?"
            r"|how(?:'s| is) it going|what'?s up|how do you do)"
        ),
    ),
    (
        Intent.ACKNOWLEDGED,
        (r"(?:ok(?:ay)?|k|yes|yep|yeah|no|nope|sure|great|cool|nice|perfect|awesome|got it|i see|understood"
        r"|makes sense|sounds good|"
        r"that makes sense|that helps|that'?s (?:great|helpful|clear|all)|never ?mind|lol|haha+|good bot|well done"
        r"|wow)(?:[ ,!.]+(?:ok|great|cool|footnote))?"),
    ),
    (
        Intent.ABILITIES,
        (r"(?:(?:can|could) you )?(?:tell|sing|write)(?: me| us)? (?:an?|another|some) (?:\w+ )?"
        r"(?:jokes?|poems?|songs?)"
        r"|(?:so |and )?(?:what (?:can|do|could) you (?:do|help(?: me)?(?: with)?|answer)(?: for (?:me|us))?|"
        r"how (?:do|can|does|should) (?:i|we|you|this|footnote|this bot) (?:use (?:you|this|footnote|this bot)|work)|"
        r"what (?:are you (?:for|able to do)|are your (?:abilities|capabilities|features)|kinds? of (?:questions"
        r"|things) can (?:i|you) (?:ask|answer)(?: you)?|can i ask(?: you)?|should i ask(?: you)?)|"
        r"help(?: me)?|can you help(?: me| us)?(?: please)?|how can you help(?: me| us)?)"),
    ),
    (
        Intent.METHOD,
        (r"(?:so |and )?(?:how (?:do|can) (?:you|i) (?:check|verify)(?: (?:your|the|an) (?:answers?|facts?|sources?"
        r"|quotes?))?(?: (?:against|with|in|by) (?:the |your )?(?:sources?|documents?|docs|quotes?))?"
        r"|how (?:do|does) (?:you|this|it|footnote) (?:work|search|find (?:your |the |an )?answers?"
        r"|answer(?: questions)?)|(?:why should|can) (?:i|we) trust (?:you|your answers?)"
        r"|do you (?:make things up|hallucinate|invent things|guess)|how (?:reliable|accurate) are (?:you|your answers)"
        r"|are (?:you|your answers) (?:reliable|always right|accurate))"),
    ),
    (
        Intent.IDENTITY,
        (r"(?:so |and )?(?:who|what) (?:are|r) (?:you|u)(?: exactly)?|what(?:'s| is) your name|are you (?:a "
        r"|an )?(?:bot|robot|human|ai|real|person|real person|llm|chatgpt|language model|machine)|"
        r"who (?:made|built|created|wrote) you|what is footnote|what model (?:are you|do you use)(?: using)?"),
    ),
)  # fmt: skip
# About the conversation: these need a thread to speak of.
_THREAD: tuple[tuple[Intent, str], ...] = (
    (
        Intent.LAST_QUESTION,
        (r"what (?:did|was it|have) (?:i|we) (?:just |last |first |previously )?(?:ask(?:ed)?|say"
        r"|said)(?: you)?(?: about)?(?: (?:just now|before|earlier|first|last))?|"
        r"what (?:was|were) (?:my|our|the) (?:last|previous|first|earlier|other) (?:questions?|message)"
        r"|what were we (?:just )?(?:talking|chatting|speaking) about|"
        r"(?:what|which) questions? (?:did|have) (?:i|we) (?:already )?ask(?:ed)?(?: you)?(?: so far| before)?"
        r"|remind me what (?:i|we) (?:just )?(?:asked|said|talked about)"),
    ),
    (
        Intent.RECAP,
        (r"(?:(?:can|could|would) you )?(?:please )?(?:summari[sz]e|sum up|recap|give (?:me|us) (?:a"
        r"|the) (?:summary|recap)(?: of)?) ?(?:this |the |our |what (?:we|you) (?:have |'ve )?)?"
        r"(?:thread|conversation|chat|discussion|said|discussed|talked about|covered|so far|all of this"
        r"|everything)?(?: (?:so far|until now|to now|above))?|what have we (?:discussed|talked about|covered"
        r"|learned)(?: so far)?|recap|summary|summarise|summarize"),
    ),
    (
        Intent.SHORTER,
        (r"(?:(?:can|could|would) you )?(?:please )?(?:(?:explain|say|put|rephrase|word|phrase|state|describe"
        r"|break) (?:that|this|it)(?: all)?(?: down)?(?: again)?(?: (?:more|a bit|much|a little|in))*(?: (?:simply"
        r"|simpler|shorter|briefly|clearly|plainly|easier|(?:simpler|plain|simple|other|fewer|different) (?:words"
        r"|terms|english)|one (?:sentence|line)|short|brief))?(?: to me)?(?: like i'?m five)?|"
        r"in short|tl;?dr|shorter|simpler|(?:more )?(?:simply|briefly)|make (?:it|that|this) (?:shorter|simpler"
        r"|brief|short|simple)|too long|simplify(?: (?:it|that|this))?|shorten (?:it|that|this)"
        r"|summari[sz]e (?:that|it|this|your (?:last )?answer|the (?:last )?answer)|"
        r"give (?:me|us) the (?:short|brief|simple) version|(?:the )?short version|in (?:simple|plain|other|fewer"
        r"|a few) (?:words|terms|english)|i (?:don'?t|did ?n'?t|do not) (?:understand|get (?:it|that))(?: (?:that"
        r"|it|this))?|what do you mean(?: by that)?|eli5|can you be (?:more )?(?:brief|concise|briefer|clearer))"),
    ),
    (
        Intent.REPEAT,
        (r"(?:(?:can|could|would) you )?(?:please )?(?:say|repeat|tell me|show me|give me|post) (?:that|this|it"
        r"|your (?:last )?answer|the (?:last )?answer|yourself)(?: (?:again|once more|one more time))?|again"
        r"|come again|pardon|sorry what|what did you (?:just )?say|what was (?:that"
        r"|your (?:last )?answer)(?: again)?|repeat|once more"),
    ),
    (
        Intent.OBJECTION,
        (r"(?:no[,. ]+)?(?:(?:sorry|but|i think|i'm afraid)[, ]+)?(?:(?:that|this|it|the answer|your answer)"
        r"(?:'?s| is| was| seems| looks)|you(?:'re| are))(?: (?:just|simply|plain|all|clearly|completely|quite))*"
        r" (?:wrong|incorrect|false|mistaken|outdated|out of date|nonsense|rubbish|an? (?:mistake|error)"
        r"|not (?:right|true|correct|helpful|what i (?:asked|meant|wanted)(?: for)?))"
        r"|(?:no[,. ]+)?(?:that|this|it) (?:does ?n'?t|does not|did ?n'?t|did not|can ?not|can'?t) (?:be right"
        r"|make sense|answer (?:my|the) question|help(?: me)?|(?:look|sound) right)"
        r"|wrong(?: answer)?|incorrect|not (?:true|right|correct|helpful|what i (?:asked|meant))"
        r"|you (?:misunderstood(?: me)?|got (?:that|it|this) wrong|made a mistake)|bad answer"),
    ),
    (
        Intent.DOUBT,
        (r"(?:(?:and|but|so|hm+)[, ]+)*(?:are you (?:really |quite |absolutely )?(?:sure|certain)"
        r"|(?:is|was) (?:that|this|it) (?:really |still |actually )?(?:true|right|correct|certain|up to date)"
        r"|really|for real|(?:you |are you )?sure)(?: (?:about|of) (?:that|this|it))?"),
    ),
    (
        Intent.MORE,
        (r"(?:(?:can|could|would) you )?(?:please )?(?:show|tell|give|say|read|quote)(?: me| us)? (?:some |a bit )?"
        r"more(?: (?:about|on|of) (?:that|this|it|them))?(?: (?:details?|information|info|context))?"
        r"|(?:in )?more(?: (?:details?|please|info(?:rmation)?|(?:about|on) (?:that|this|it)))*"
        r"|(?:is there |have you got |do you have )?(?:anything|something|what) else(?: (?:about|on) (?:that|this|it))?"
        r"(?: (?:is there|do you know|can you tell me|should i know|does it say))?"
        r"|go on|continue|(?:elaborate|expand)(?: on (?:that|this|it))?|details(?: please)?"
        r"|the (?:rest|whole thing|full text)"),
    ),
    (
        Intent.SOURCE,
        (r"(?:and )?(?:where (?:did|do|does) (?:you|that|this|it) (?:get|find|come|read|see)(?: (?:that|this"
        r"|it))?(?: from)?|(?:what(?:'s| is| was| are| were)|show me|give me|list) (?:the|your) (?:sources?"
        r"|source of that|references?|citations?)(?: (?:for|of) (?:that|this|it))?|how do you know(?: (?:that"
        r"|this))?|says who|source\??|sources\??|according to (?:who|what|whom)|which (?:document|source|page"
        r"|file)s? (?:is|was|did) (?:that|this|it|you) ?(?:from|in|come from|use|quote|get that from)?)"),
    ),
)  # fmt: skip
# Thanks with a few kind words; a question after it is another matter.
_THANKFUL = re.compile(
    r"(?:(?:ok|okay|great|perfect|cool|nice|super|awesome)[ ,!.]+)?(?:thanks|thank you|thx|cheers)\b(?!.*\b(?:what"
    r"|who|when|where|why|how|which|but|can|could|do|does|is|are)\b)(?: *[,.!-]? *[\w']+){0,6}",
    re.IGNORECASE,
)
_WHOLE_PATTERNS = tuple((kind, re.compile(rf"(?:{text})", re.IGNORECASE)) for kind, text in _WHOLE)
_THREAD_PATTERNS = tuple((kind, re.compile(rf"(?:{text})", re.IGNORECASE)) for kind, text in _THREAD)

# Padding around a question, taken off the front again and again until nothing more goes.
_PADDING = re.compile(
    r"^(?:"
    rf"{_GREETING}(?=[\s,!.:;–—-])|@\w+|"
    r"(?:dear|hey) (?:team|all|everyone|colleagues)|(?:sorry|apologies|excuse me)(?: (?:to|for) (?:bother|ask"
    r"|bothering|asking|the)(?:ing)?[\w ]{0,25}(?=[,.!:;]))?|"
    r"(?:just )?(?:a )?(?:quick|small|short|stupid|dumb|silly|simple|newbie|random) (?:question|one"
    r"|q)\b(?: (?:for you|here|please|about this|from me))?|(?:i (?:have|had|'ve got|got) )(?:a|another|one"
    r"|one more) (?:quick |small |short |stupid |dumb |simple )?question\b(?: (?:for you|about this))?"
    r"|question\s*[:,–-]|"
    r"(?:please|pls|kindly|well|so|ok|okay|hmm+|um+|uh+|actually|also|oh|alright|right|now|btw|by the way|anyway"
    r"|thanks|thank you|great|cool|nice|awesome|interesting|wow|perfect|i see|got it|sure"
    r"|really)(?=[\s,!.:;?–—-])(?! (?:many|much|long))|"
    r"that(?:'s| is|’s) (?:so |very |really |pretty )?(?:interesting|great|cool|nice|good|helpful|amazing|awesome"
    r"|too bad|terrible|sad)(?: to know)?(?=[,.!])|"
    r"(?:does|do|would|did) (?:anyone|anybody|someone|somebody|you|any of you"
    r"|you guys)(?: here)? (?:happen to )?know(?: (?:if|whether))?\b|"
    r"(?:is there )?(?:anyone|anybody|someone)(?: here)? (?:who )?(?:can|could|knows?)(?: (?:tell me"
    r"|help(?: me)?(?: with)?|explain|if|whether))?\b|"
    r"(?:can|could|would|will) (?:you|u|anyone|someone|anybody|somebody)(?: (?:please|pls|kindly|maybe|possibly"
    r"|also|quickly))* (?:tell|remind|show|help|give|let|explain|describe|clarify|look up|find|find out"
    r"|check)(?: (?:me|us))?(?: (?:know|to understand|understand|understanding|with|out|about|to))*\b(?: (?:if"
    r"|whether)\b)?|"
    r"(?:please |pls )?(?:tell|remind|show) (?:me|us)(?: about)?(?: again)?\b|"
    r"i(?:'m| am|’m)? (?:was )?(?:just )?(?:wondering|wonder|curious|trying to (?:find out|understand|figure out"
    r"|remember)|looking for(?: (?:information|info|help) (?:on|about|with))?|not sure)(?: (?:if|whether"
    r"|about))?\b|"
    r"i(?:'d| would|’d) (?:like|love|want) to (?:know|understand|ask|learn|find out)(?: (?:if|whether|about"
    r"|more about))?\b|i (?:want|need) to (?:know|understand|ask|find out)(?: (?:if|whether|about))?\b|"
    r"(?:any(?:one|body) (?:know|knows))\b|any (?:idea|ideas|clue|thoughts)(?: (?:on|about|if|whether"
    r"|how))?(?= (?:what|where|who|when|why|how|which|if))|"
    r"i(?:'ve)? (?:forgot|forgotten|forget)(?=[\s,:;–—-])(?: but)?"
    r")[\s,!.:;?–—-]*",
    re.IGNORECASE,
)  # fmt: skip
_TAIL = re.compile(
    r"[\s,–—-]*(?:\b(?:please|pls|thanks(?: (?:a lot|in advance|so much|all|everyone|team))?"
    r"|thank you(?: (?:so much|very much|in advance))?|thx|ty|cheers|"
    r"(?:that |it |this )?would be (?:great|lovely|nice|awesome|helpful|super)|(?:best|kind) (?:wishes|regards)"
    r"|(?:much|greatly) appreciated|btw|by the way|by any chance|many thanks|if you (?:don't|do not) mind"
    r"|if that'?s ok(?:ay)?|any idea|any ideas|anyone|do you know|does anyone know))[\s.!]*(\?*)[\s.!]*$",
    re.IGNORECASE,
)
_EMOJI = re.compile(r":[a-z0-9_+-]{2,30}:|[\U0001F300-\U0001FAFF☀-➿️]")
_SOURCES_FIRST = re.compile(
    r"\b(?:(?:show|give|list|send|find|get) (?:me |us )?(?:all |only |just )?(?:the |your |some |any )*"
    r"(?:relevant |matching |best )?(?:sources?|references|passages)|sources? (?:first|only))\b",
    re.IGNORECASE,
)
_SOURCE_WORDS = re.compile(
    r"^.*?\b(?:sources?|documents?|docs?|references|files?|pages?|papers?|material|passages|documentation)\b(?:\s+(?:first"
    r"|only))?(?:\s+(?:that|which))?"
    r"(?:\s+(?:do (?:you|we) have|are there|you have|we have|exist|there are|is there))?"
    r"\s*(?:on|about|for|regarding|covering?|mention(?:s|ing)?|describ(?:e|es|ing)"
    r"|(?:talk|speak)(?:s|ing)? (?:about|of)"
    r"|discuss(?:es|ing)?|lists?|say(?:s)?(?: something)?(?: about)?|deal(?:s|ing)? with|explain(?:s|ing)?|related to"
    r"|tells? (?:me|us|you)(?: (?:about|of))?|ha(?:s|ve)(?: (?:the|something on|anything on))?|contains?|shows?"
    r"|(?:do|should|must|can) (?:i|we) (?:read|look at) (?:about|on|for)"
    r"|concerning|to do with|of|you have on|we have on|first:|:)\s+",
    re.IGNORECASE,
)
_WHICH_DOCUMENTS = re.compile(
    r"^(?:(?:please |can you |could you )*(?:list|name|show(?: me)?|give me|find)(?: (?:me|us))?"
    r"(?: (?:all|every|the|any|of|your|our))* |(?:which|what) (?:of (?:the|your|our) )?"
    r"|(?:are there|is there|do (?:you|we) have) (?:any |an? |other )*)"
    r"(?:documents?|docs?|files?|pages?|papers?|documentation|material)\b(?! first)"
    r"(?= (?:(?:that |which |you have |we have |there (?:is|are) |do (?:you|we) have )*(?:on|about|for|regarding"
    r"|covering|concerning|related to|(?:mention|describ|discuss|talk|speak|deal|cover|explain|refer|tell|contain)\w*"
    r"|says?|ha(?:s|ve)|shows?|lists?|(?:do|should|must|can) (?:i|we) (?:read|look at) (?:about|on|for))\b))",
    re.IGNORECASE,
)
# "In which document can I read about refunds?", "where is it written what to do when …?"
_WRITTEN_WHERE = re.compile(
    r"^(?:in (?:which|what) (?:document|doc|file|page|paper)s?|where) "
    r"(?:(?:can|could|do|will|would) (?:i|we|you|one) (?:read|look up|find (?:something|anything|more|information))"
    r"|(?:is|are) (?:(?:it|this|that|there) )?(?:written(?: down)?|documented|described|explained|stated)"
    r"|does it say)(?: (?:more|something))?(?: (?:about|on|of|down))?\s+(?=\S+ \S)",
    re.IGNORECASE,
)
# "In which minutes was the third shop discussed?", "where are the error codes written down?"
_DISCUSSED_WHERE = re.compile(
    r"^(?:where|in (?:which|what) (?:\w+ )?(?:minutes|meetings?|protocols?|documents?|docs?|files?|pages?|papers?)) "
    r"(?:is|are|was|were|did (?:we|they)|do (?:we|you)) (?P<topic>\S.*?) "
    r"(?:discuss(?:ed)?|mention(?:ed)?|document(?:ed)?|described?|decided?|explain(?:ed)?|talk(?:ed)? about"
    r"|(?:written|laid|set) down|written|spelled out|listed)\W*$",
    re.IGNORECASE,
)
# "Is there a glossary of our words?"
_IS_THERE = re.compile(
    r"^(?:is there|are there|do (?:we|you) have|have (?:we|you) got|where(?:'s| is| do i find| can i find)) "
    r"(?:an?|the|our|any) (?P<topic>(?:\w+ )?(?:glossary|faq|changelog|price list|calendar|timetable|phone ?book"
    r"|phone list)\b.*?)\W*$",
    re.IGNORECASE,
)
# "Where do I find the opening dates for 2027?": what is asked for stands in a document, a spare key does not.
_WRITTEN_THINGS = (
    r"dates|times|hours|prices|fees|rates|tariffs|extensions|numbers|addresses|contacts|rules|terms|conditions|forms"
    r"|templates?|lists?|tables?|schedules?|minutes|definitions?|instructions|details|information|documentation"
    r"|release notes|figures|statistics"
)
_FIND_WHERE = re.compile(
    rf"^where (?:do|can|could|would|will|should) (?:i|we|you|one) (?:find|see|look up|look for) (?:an? |the |our )?"
    rf"(?P<topic>(?:[\w-]+ ){{0,3}}?(?:{_WRITTEN_THINGS})\b.*?)(?: of (?:everyone|everybody|all(?: of us)?))?\W*$",
    re.IGNORECASE,
)
# "Is there anything on biosecurity in our docs?"
_ANYTHING_ON = re.compile(
    r"^(?:is there|are there|do (?:we|you) have|have (?:we|you) got) (?:anything|something) "
    r"(?P<written>written (?:down )?)?(?:on|about|regarding|concerning) (?P<topic>\S.*?)"
    r"(?(written)(?: in \w+ \w+)?| in (?:(?:the|our|your|any|all|of|these) )*"
    r"(?:documents?|docs|documentation|files|pages|sources|wiki))\W*$",
    re.IGNORECASE,
)
_KNOWN_OF = re.compile(
    r"^what (?:do (?:you|we) (?:know|have)|have (?:you|we) got|is there)(?: written)? (?:about|on) "
    r"(?P<topic>\S.*?)\W*$",
    re.IGNORECASE,
)
# "… about the refunds? which file": the same asked twice; "the webhook stuff": of webhooks.
_WHICH_ONE = re.compile(r"\?\s+(?:and )?(?:(?:in )?(?:which|what) (?:file|document|doc|page)|where)\W*$", re.IGNORECASE)
_STUFF = re.compile(r"\s+(?:stuff|things|info)\b(?=\W*$)", re.IGNORECASE)
# Where two questions meet: a question mark, or "and" before a question word or auxiliary.
_JOINT = re.compile(
    r"\?+\s+(?=\S)|(?:,\s*|\s+)(?:and(?: also)?|also|plus|as well as)\s+"
    r"(?=(?:who|whom|whose|what|what's|which|where|when|why|how|is|are|was|were|do|does|did|can|could|should|will|would)\b)"
    r"|,\s*(?=(?:who|whom|whose|what|what's|which|where|when|why|how|is there|are there|can i|do i)\b)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NEW_SENTENCE = re.compile(  # "i start on monday. when does …": without a capital
    r"(?<=[.!])\s+(?=(?:who|what|which|where|when|why|how|do|does|is|are|can|may|must)\b)"
)
_OF_ITS_OWN = 2  # content words
_CAPITALS = 3  # words; fewer may be names: "INC-2025-014?"
_LEANING = re.compile(
    r"^(?:whose|who's|which (?:is|was|are|were|has|had)|who (?:is|was|has|had))\b|\b(?:he|she|it|they|him|them|his"
    r"|her|its|their|"
    r"this|that|these|those|one|ones|such|each|both|another|next|then)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^(?:who|whom|whose|what|what's|which|where|when|why|how|is|are|was|were|am|do|does|did|can|could|should"
    r"|shall|will|"
    r"would|may|might|must|has|have|had|isn't|aren't|doesn't|don't|in which|at what|for how|on which)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class QuestionParts:
    """A message without its padding. ``needs`` parts it into at most three questions; one need is the question."""

    question: str
    needs: tuple[str, ...]
    sources_first: bool = False
    lists_documents: bool = False  # it wants to know which documents there are on its topic


def kind_of(message: str, *, in_thread: bool) -> Intent | None:
    """What the whole message is, when it is no question about the documents."""
    bare = _bare(message)
    if not bare:
        return Intent.GREETING if not in_thread else Intent.ACKNOWLEDGED
    candidates = (bare, _strip_front(bare))
    if _THANKFUL.fullmatch(bare) and "?" not in message:
        return Intent.THANKS
    for kind, pattern in (*_WHOLE_PATTERNS, *(_THREAD_PATTERNS if in_thread else ())):
        if any(pattern.fullmatch(one.strip(" .!?,;:-–—")) for one in candidates if one):
            return kind
    return None


def overview_of(message: str, bases: Collection[str]) -> Overview | None:
    """What there is to read, where the message asks for that."""
    bare = _bare(message)
    candidates = (about_knowledge.overview_of(one, bases) for one in (bare, _strip_front(bare)))
    return next((found for found in candidates if found), None)


def _bare(message: str) -> str:
    bare = _EMOJI.sub(" ", message)
    return " ".join(bare.replace("’", "'").split()).strip(" .!?,;:-–—)(")


def split_question(message: str) -> QuestionParts:
    """The question in a message, in at most three parts, and whether its sources are wanted first."""
    text = _without_capitals(" ".join(_EMOJI.sub(" ", message).split()))
    first = bool(_SOURCES_FIRST.search(text))
    lists = bool(_WHICH_DOCUMENTS.match(text))
    text = _trim(text)
    if topic := _WRITTEN_WHERE.sub("", text) if _WRITTEN_WHERE.match(text) else "":
        return QuestionParts(topic, (topic,), lists_documents=True)
    said = _STUFF.sub("", _WHICH_ONE.sub("", text))
    asked_where = _DISCUSSED_WHERE.match(said) or _IS_THERE.match(said) or _FIND_WHERE.match(said)
    if anything := _ANYTHING_ON.match(said) or _KNOWN_OF.match(said) or asked_where:
        return QuestionParts(anything["topic"], (anything["topic"],), lists_documents=True)
    if first or lists:
        topic = _SOURCE_WORDS.sub("", said, count=1)
        text = topic if content_words(topic) else text
    return QuestionParts(text, (text,) if lists else _needs(text), first and not lists, lists)


def final_question(need: str) -> str:
    """The question that a message of several sentences ends in, where it stands alone: what went before sets the scene.

    "The planner stood still because of one huge job. How many stops may a job have?"
    """
    said = [part for one in sentences(need) for part in _NEW_SENTENCE.split(one)]
    last = said[-1] if said else need
    dated = any(_YEAR.search(one) for one in said[:-1])  # "I signed in 2024." says which terms hold
    alone = (
        len(said) > 1
        and not dated
        and last.endswith("?")
        and len(content_words(last)) > 1
        and not _LEANING.search(last)
    )
    return last if alone else need


def _without_capitals(message: str) -> str:
    """A message that is all in capitals in lower case, since capitals are read as names; codes stay: "INC-2025-014"."""
    if not message.isupper() or len(words(message)) < _CAPITALS:
        return message
    lower = " ".join(word if re.search(r"\d", word) else word.lower() for word in message.split())
    return lower[0].upper() + lower[1:]


def _strip_front(text: str) -> str:
    while (cut := _PADDING.sub("", text, count=1)) != text:
        if not words(cut):
            return text
        text = cut
    return text


def _trim(message: str) -> str:
    """The message without greeting, thanks and politeness; as it was when nothing would remain."""
    text = _strip_front(message)
    while (cut := _TAIL.sub(r"\1", text, count=1).strip()) != text and words(cut):
        text = cut
    if not words(text):
        return message
    return text[0].upper() + text[1:] if message[:1].isupper() else text


def _needs(question: str) -> tuple[str, ...]:
    """The question, or its two or three unrelated parts, each with what it needs to stand alone."""
    pieces = [piece.strip(" ,;") for piece in _JOINT.split(question)]
    pieces = [_strip_front(piece) for piece in pieces if words(piece)]
    questions = [piece for piece in pieces if _QUESTION.match(piece) and content_words(piece)]
    if len(questions) < 2 or len(questions) != len(pieces):
        return (question,)
    leans = any(_LEANING.search(piece) for piece in questions[1:])
    if leans and len(content_words(questions[0])) < _OF_ITS_OWN:
        return (question,)  # the later part speaks of the former: one need
    return tuple(f"{piece.rstrip('?')}?" for piece in questions[:3])
