"""Fragments, which go on with the question before them: "and in London?", "how early?", "I meant Fleet"."""

import re
from collections.abc import Sequence

from adapters.reasoners.extractive.question.parallels import (
    put_all_behind,
    put_as_object,
    put_as_subject,
    put_at_other_place,
    put_at_same_preposition,
    put_before_newest,
    put_number,
    put_opposite,
    put_time,
    put_version,
    put_where_they_differ,
    put_year_away,
)
from adapters.reasoners.extractive.question.phrases import Phrase, leaves_open, names, noun_phrases
from adapters.reasoners.extractive.question.pronouns import PERSONAL, PRONOUN_ONLY, THING, pronoun_in
from core.model.conversation import Exchange
from core.model.questions import is_question
from core.model.text import content_words, words

LEADING = re.compile(
    r"^(?:(?:and|but|so|also|then|or|plus)\b[\s,]*)*(?:what|how)\s+about\s+|^(?:and|but|or|plus|also)\b[\s,]+",
    re.IGNORECASE,
)
VERBISH = re.compile(
    r"\b(?:is|are|was|were|am|be|been|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must"
    r"|isn't|aren't|wasn't|doesn't|don't|didn't|can't|won't|happened|happens"
    r"|(?:it|he|she|that|there|this|who|what|where|when|how|why)['’]s)\b",  # and not "last year's price"
    re.IGNORECASE,
)
ASKING = re.compile(r"\b(?:who|whom|whose|what|which|where|when|why|how)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:the|a|an)\s+", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"(in|for|on|at|with|to|by|from|under|above|below|over|within|without|inside|outside)\s+(?:the\s+)?", re.IGNORECASE
)
# "What was it in 2025?" asks the same of another year.
_THE_SAME = re.compile(
    r"^(?:(?:what|how much|how many|how)\s+(?:(?:was|is|were|are)\s+(?:it|that|they|those)"
    r"|(?:it|that|they|those)\s+(?:was|is|were|are))"
    r"|(?:was|is|were|are)\s+(?:it|that|this|they|those)\s+(?:any\s+)?"
    r"(?:different|the same|the case|also(?: true)?|true|more|less|[a-z]{3,7}er))"
    r"(?:\s+back)?\s+(?=(?:in|under|on|for|at|with)\s)",
    re.IGNORECASE,
)
# "What would the old terms have said?" asks the same of another edition.
_SAID_BY = re.compile(
    r"^(?:and\s+)?what\s+(?:(?:would|does|do|did)\s+)(?P<by>(?:the\s+)?(?:[\w.]+\s+)?(?:edition|version|terms|conditions|release)"
    r"(?:\s+[\w.]+)?)\s+(?:have\s+said|say)(?:\s+(?:about|on|of)\s+(?:it|that|this))?$",
    re.IGNORECASE,
)
_AS_WELL = re.compile(
    r",?\s+(?:as well|too|also)$|^also\s+|,?\s+(?:the\s+)?same\s+(?:day|week|month|year|place|site|one|thing)$"
    r"|,\s+(?:the\s+)?same$",
    re.IGNORECASE,
)
_WHILE = re.compile(
    r"(?:if|when|while|after|before|since|until|without|because|as)\s+"
    r"(?:i|i['’]?m|you|you['’]re|we|we['’]re|somebody|someone|nobody|the|my|our|your|an?)\b",
    re.IGNORECASE,
)
# A question of its own within it; else "and when i come back another day and lost the link?" is asked of the last.
_ASKS = re.compile(
    rf"(?<!^){ASKING.pattern}|\b(?:is|are|was|were|do|does|did|can|could|will|would|shall|should|may|must)\s+"
    r"(?:i|you|we|they|it|he|she|the|my|our|your|this|that|there)\b|[,;.!]",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:if|when|while|after|before|during|since|until|without|because|as|per|than)\b", re.IGNORECASE)
_AS = re.compile(r"as\s+(?:an?\s+)?(?!(?:far|long|soon|well|of|if|for|to|i|you|we|he|she|it|they)\b)\w", re.IGNORECASE)
_BESIDE = re.compile(r"(?:than|per)\b", re.IGNORECASE)
_SMALL = re.compile(r"^(?:the|a|an|in|for|on|at|with|to|by|from|of|inside|outside)\s+", re.IGNORECASE)
_NOT_BUT = re.compile(r"not\s+(?:the\s+|for\s+)?(?P<old>[^,–—-]+?)\s*(?:,|\s[–—-]\s|\bbut\b)\s*(?:but\s+)?(?P<new>.+)")
_NOT = re.compile(r"(?P<new>[^,–—-]+?)(?: ?[,–—-])? (?:and )?not (?:the |for )?(?P<old>[^,–—-]+)")
_ENDS_IN_OBJECT = re.compile(r"(?P<before>\b(?:for|of|at|in|on|from|to)\s+(?:the\s+)?)[^\W\d_]+$", re.IGNORECASE)
_ENDS_IN_FOR = re.compile(r"(?P<before>\bfor\s+(?:(?:the|my|our)\s+)?)[^\W\d_][\w'’-]*$", re.IGNORECASE)
_AT = r"(?:(?:in|for|on|at|with|to|by|from|over|since|until|till)\s+)?"
_HOW = re.compile(rf"{_AT}how (?!come\b|about\b)[a-z]+", re.IGNORECASE)
_ASKED_ANEW = re.compile(
    rf"(?P<asked>{_AT}(?:how (?!come\b|about\b)[a-z]+|when|where|why|whom))(?:\s+then)?", re.IGNORECASE
)
_ASKED_FOR = re.compile(
    rf"(?:(?:and|but|so)\s+)?(?:{_AT}(?:how|what|which|who|whom|when|where|why)\s+(?:[\w'’-]+\s+){{0,3}}?)?"
    r"(?P<rest>(?:is|are|was|were|do|does|did|can|could|will|would|shall|should|may|must|has|have|had)\s+\S.*)",
    re.IGNORECASE,
)
_WHAT_OF = re.compile(r"(?:how (?:many|much)|which|what)\s+(?P<what>.+?)\s*", re.IGNORECASE)
_OF_SOMEBODY = re.compile(
    r"(?:do|does|did|can|could|will|would|shall|should|may|must)\s+(?:i|we|you|they|he|she|one)\b", re.IGNORECASE
)
_THEN = re.compile(r"\s+then$", re.IGNORECASE)
_TIME_OF = re.compile(r"(?:the\s+)?(?:last|this|next|previous)\s+(?:year|month|week|quarter)['’]?s\b", re.IGNORECASE)
_THE_ONE = re.compile(r"(?:the|that)\s+one\s+(?=(?:in|on|at|from|of|with|for|about|by)\s)", re.IGNORECASE)
_LAST_NOUN = re.compile(
    r"\b(?P<before>(?:in|on|at|from|of|with|for|about|by)\s+(?:the\s+)?)(?:[\w'’-]+\s+){1,3}?(?P<noun>[^\W\d_]+)$"
)
_STATED = re.compile(r"(?:i|we|my|our)\b", re.IGNORECASE)  # "i lost my phone", which asks what to do
_AMOUNT = re.compile(
    r"\s+(?:above|below|over|under|of|for|up to|at|from|more than|less than)\s+"
    r"(?:[€$£]\s?\d[\d.,]*|\d[\d.,]*\s?(?:€|euros?|pounds?|dollars?|EUR|GBP|USD))(?!\w)",
    re.IGNORECASE,
)
# "And seasonal ones?", "and a grass one there in high season": another kind of a thing that was asked about.
_KIND_OF_ONE = re.compile(
    r"(?:(?:for|of|with|on|in|at|from)\s+)?(?:(?:the|an?)\s+)?(?!(?:which|this|that|the|last|next|other|new|first)\b)"
    r"(?P<kind>[^\W\d_][\w'’-]*)\s+ones?(?:\s+there)?(?P<rest>\s+\S.*)?",
    re.IGNORECASE,
)
_WHEN_IT_IS = re.compile(r"^(?:when|while|if)\s+it(?:['’]s| is| was)\s+(?:the\s+)?", re.IGNORECASE)
_ONE = re.compile(r"\s+ones?$", re.IGNORECASE)
_OF_ANOTHER = re.compile(r"\b(?P<what>[^\W\d_]+) of (?:the )?(?P<of>[^\W\d_]+)\b")  # "photos of machines"
# "I'm in sales", "ive lived in Portugal till last year": for whom the last question is asked.
_OWN_CASE = re.compile(
    r"(?:i['’]?m|i am|we['’]?re|we are)\s+(?:in|at|on|from|an?)\s+\S.*"
    r"|(?:i|we)(?:['’]?ve| have)\s+(?:been|lived|worked)\s+\S.*"
    r"|(?:i|we)\s+(?:live|work)\s+(?:in|at|on|for|from)\s+\S.*",
    re.IGNORECASE,
)
# "What if that's a sunday", "I'm a porter, so what is it for me?": the same, in a case of its own.
_WHAT_IF = re.compile(
    r"(?:(?:and|but|so)\s+)?what\s+(?:happens\s+)?(?:if|when)\s+(?:it|that|this)(?:['’]?s|\s+(?:is|was|falls))\s+"
    r"(?P<case>(?:(?:on|in|at)\s+)?(?:an?\s+)?[^\W\d_]+(?:\s+[^\W\d_]+)?)",
    re.IGNORECASE,
)
_FOR_ME = re.compile(
    r",?\s+(?:and\s+|so\s+)*(?:what|how)\s+(?:is|about|does)\s+(?:it|that)\s+(?:mean\s+)?for\s+me$", re.IGNORECASE
)
_PUT_BEHIND = re.compile(r"\s*\([^)]*\)$")
_LONGEST_NAME = 4  # words
_LONGEST = 4  # content words; more is a question of its own
_LONGEST_CASE = 7
_BARE = 5  # words of a question that has none of its own


def continue_fragment(question: str, window: Sequence[Exchange], *, amends: bool = False) -> str:
    """The fragment put into the question before it; empty when it is no fragment.

    ``amends``: it corrects what was asked ("I meant …"), so that it need not begin with "and" or "what about".
    """
    asked = [one.question.rstrip("?.! ") for one in window if content_words(one.question)]
    said = _THE_SAME.sub("", LEADING.sub("", question).strip().rstrip("?.! "))
    said = _SAID_BY.sub(r"under \g<by>", _WHEN_IT_IS.sub("", _AS_WELL.sub("", said)))
    leads = amends or bool(LEADING.match(question)) or bool(_PREPOSITION.match(said)) or names(said) == (said,)
    leads = leads or bool(_ARTICLE.match(said) and question.rstrip().endswith("?"))  # "a passport?"
    leads = leads or bool(_AS.match(said) and question.rstrip().endswith("?"))  # "as primary right away?"
    leads = leads or bool(asked and names(asked[-1]) and names(f"of {said}") == (said,))  # "Depot?" after Starter's
    if not asked or not said:
        return ""
    last, before = asked[-1], asked[-2] if len(asked) > 1 else ""
    if case := _case_of(said, question):
        return f"{_PUT_BEHIND.sub('', last)} ({case})?"
    if not _is_fragment(said, leads=leads):
        alike = _put_alike(last, said)
        return f"{alike}?" if alike else ""
    if whole := put_year_away(last, said, " ".join(window[-1].titles)):
        return f"{whole}?"
    put = _THEN.sub("", said) if content_words(_THEN.sub("", said)) else said
    whole = _put_right(last, put) or put_number(last, _ONE.sub("", put)) or _put_in(last, put, before, amends=amends)
    whole = f"{whole} ({left})" if whole and put != said and (left := _replaced(last, whole)) else whole
    whole = whole or (f"{last} ({said})" if amends else "")
    return f"{whole}?" if whole else ""


def _case_of(said: str, question: str) -> str:
    """The case that the last question is asked for again: the asker's own, or "a sunday"; empty where it is none."""
    if supposed := _WHAT_IF.fullmatch(said):
        return supposed["case"]
    own = _FOR_ME.sub("", said)
    asks = is_question(question) and own == said
    return own if _OWN_CASE.fullmatch(own) and not asks and len(content_words(own)) <= _LONGEST_CASE else ""


def _is_fragment(said: str, *, leads: bool) -> bool:
    asks = ASKING.match(said)
    if _WHILE.match(said) and leads:
        short = len(content_words(said)) <= _LONGEST or not _ASKS.search(said)
        return short and not (PERSONAL.search(said) or THING.search(said))
    if asks and len(words(said)) <= _BARE and not content_words(said) and not pronoun_in(said):
        return True  # "why?", "who did?", "what do I do then?"
    if _HOW.fullmatch(said) or (_ASKED_ANEW.fullmatch(said) and not content_words(said)):
        return True  # "how early?", "until when?"
    if not leads or asks or VERBISH.search(said) or len(content_words(said)) > _LONGEST:
        return False
    return not (PERSONAL.search(said) or THING.search(said) or PRONOUN_ONLY.fullmatch(said))


def _put_alike(last: str, said: str) -> str:
    """The last question with a single word in the place of one of its kind, "saturday" for "wednesdays"; else empty."""
    base = _PUT_BEHIND.sub("", last)
    alike = put_time(base, said) or put_opposite(base, said) if len(words(said)) == 1 else ""
    return f"{alike}{last[len(base) :]}" if alike else ""


def _put_right(last: str, said: str) -> str:
    """The last question with what it is said not to be replaced: "not the maternity one, the partner's"; else empty."""
    said = " ".join(said.split())
    found = _NOT_BUT.fullmatch(said) or _NOT.fullmatch(said)
    if not found:
        return ""
    struck, new = (_ONE.sub("", found[part]) for part in ("old", "new"))
    old = re.search(rf"\b{re.escape(_whole_phrase(last, struck))}\b", last, re.IGNORECASE)
    if not old:
        return ""
    before = last[: old.start()]
    if before.casefold().endswith(("the ", "a ", "an ")):
        new = _ARTICLE.sub("", new, count=1)
    first = new.split()[0]
    if before.casefold().endswith(f" {first.casefold()} "):  # "cell 3, not 4" in the place of the 4 of "cell 4"
        before = before[: -len(first) - 1]
    return f"{before}{new}{last[old.end() :]}"


def _whole_phrase(text: str, noun: str) -> str:
    """The phrase of a text that ends in this noun, "fire bowl" for "bowl"; the noun itself where it is a name."""
    if names(noun) == (noun,):
        return noun
    whole = (one.text for one in noun_phrases(text) if one.text.casefold().endswith(f" {noun.casefold()}"))
    return next(whole, noun)


def _put_in(last: str, said: str, before: str, *, amends: bool = False) -> str:
    """The last question with its parallel part replaced: same noun, same preposition, or name for name; else empty."""
    base = _PUT_BEHIND.sub("", last)
    if base != last and names(f"of {said}") == (said,) and names(f"of {last[len(base) :].strip(' ()')}"):
        return f"{base} ({said})"  # another in the place of what was put in
    kind = put_before_newest(base, said) or put_opposite(
        base, _ONE.sub("", re.sub(r"^per\s+", "", _SMALL.sub("", said), flags=re.IGNORECASE))
    )
    if not kind and (not content_words(said) or _HOW.fullmatch(said)):
        return _ask_anew(base, said) or f"{base}: {said}"
    if whole := kind or _put_for_another(base, said) or _put_kind(base, said) or put_version(base, said):
        return whole
    if whole := put_time(base, said):
        return whole
    if _PREPOSITION.match(said) or _CLAUSE.match(said):
        base = _without_last_addition(base, before)
    if _CLAUSE.match(said):
        return (put_at_same_preposition(base, said) if _BESIDE.match(said) else "") or f"{base} {said}"
    if _AMOUNT.search(said):  # "a refund of 3,000 euros": not the amount that was asked about before
        base = _AMOUNT.sub("", base).rstrip()
    bare = _SMALL.sub("", said)
    new = Phrase(bare, name=bare[:1].isupper() or tuple(names(said)) == (bare,))
    return (
        _put_for_noun(base, new)
        or (put_at_other_place(base, said) if amends else "")
        or _put_at_place(base, said, before, amends=amends)
        or _put_for_topic(base, said, new, amends=amends)
    )


def _replaced(last: str, whole: str) -> str:
    """What the last question was about and the new one is no longer: "and the notice then?" is asked of it."""
    kept = set(content_words(whole))
    return next((one.text for one in noun_phrases(last) if one.stems and not one.stems & kept), "")


def _put_for_another(base: str, said: str) -> str:
    """The question of "the one in August", or of "last year's price"; else empty."""
    if _TIME_OF.match(said):
        return f"{base} ({said})"
    one, noun = _THE_ONE.match(said), _LAST_NOUN.search(base)
    return f"{base[: noun.start()]}{noun['before']}{noun['noun']} {said[one.end() :]}" if one and noun else ""


def _put_kind(base: str, said: str) -> str:
    """The question of another kind of what it was asked of: "seasonal ones" for "permanent staff"; else empty."""
    found = _KIND_OF_ONE.fullmatch(said)
    if found is None or not content_words(found["kind"]):
        return ""
    rest = (found["rest"] or "").strip()
    kept = set(content_words(rest))
    kinds = [one for one in noun_phrases(base) if len(one.stems) > 1 and not one.name and not one.stems & kept]
    if not kinds:
        return ""
    noun = kinds[0].text.split()[-1]
    put = base.replace(kinds[0].text, f"{found['kind']} {noun}", 1)
    return (put_time(put, rest) or (put if rest in put else f"{put} {rest}")) if rest else put


def _ask_anew(base: str, said: str) -> str:
    """The question with another question word, "how early?" after "how do I order seed"; else empty.

    What somebody was asked to do it with stays: "until when?" after "how many days can I carry over".
    """
    asked, old = _ASKED_ANEW.fullmatch(said), _ASKED_FOR.fullmatch(base)
    if not asked or not old:
        return ""
    what = _WHAT_OF.fullmatch(LEADING.sub("", base[: old.start("rest")]).strip())
    of_somebody = what and content_words(what["what"]) and _OF_SOMEBODY.match(old["rest"])
    return f"{asked['asked']} {old['rest']}" + (f" {what['what']}" if what and of_somebody else "")


def _without_last_addition(base: str, before: str) -> str:
    """The question before it, where the last one only added to it: "in the rain" is no more said of the next."""
    added = base[len(before) :] if before and base.startswith(f"{before} ") else ""
    return before if _PREPOSITION.match(added.strip()) or _CLAUSE.match(added.strip()) else base


def _put_for_noun(base: str, new: Phrase) -> str:
    """The question with a phrase in the place of another of the same noun; else empty."""
    for phrase in noun_phrases(base):
        if phrase.head == new.head and phrase.stems != new.stems and len(new.stems) > 1:
            return base.replace(phrase.text, new.text, 1)
    return ""


def _put_at_place(base: str, said: str, before: str, *, amends: bool) -> str:
    """The question with the fragment at the same preposition, or where it differs from the one before; else empty."""
    if _PREPOSITION.match(said):
        put = put_at_same_preposition(base, said) or put_where_they_differ(before, base, said)
        put = put or _put_for_last_name(base, said) or (put_all_behind(base, said) if amends else "")
        return put or f"{base} {said}"
    return put_where_they_differ(before, base, said)


def _put_for_last_name(base: str, said: str) -> str:
    """The catchwords with the fragment for the name that they end in: "price storage Leeds", "at York?"; else empty."""
    bare, named = _PREPOSITION.sub("", said, count=1), names(base)
    if base.casefold().endswith(f" {bare.casefold()}"):  # "outside London" after "hotel limit London"
        return f"{base[: -len(bare)]}{said}"
    if VERBISH.search(base) or ASKING.search(base) or names(f"at {bare}") != (bare,):
        return ""
    return f"{base.removesuffix(named[-1])}{bare}" if named and base.endswith(named[-1]) else ""


def _put_for_topic(base: str, said: str, new: Phrase, *, amends: bool) -> str:
    """The question with the fragment in the place of a name or of its one topic; else empty."""
    replaced = [name for name in names(base) if len(name.split()) <= _LONGEST_NAME] if new.name else []
    if replaced:
        return _replace_name(base, replaced[-1], said, new.text)
    if amends and (found := _ENDS_IN_OBJECT.search(base)):
        return f"{base[: found.start()]}{found['before']}{new.text}"
    if not amends and (asked := _asked_of_topic(base, said)):
        return asked
    about = _about(base, new.text, amends=amends) or (put_as_subject(base, said) if amends else "")
    return about or put_as_object(base, said) or _put_behind_for(base, said)


def _put_behind_for(base: str, said: str) -> str:
    """What is asked for one thing asked for another: "swift" after "which linter do we use for kotlin"; else empty."""
    found = _ENDS_IN_FOR.search(base)
    single = re.fullmatch(r"[^\W\d_][\w'’-]*", said)
    asks = ASKING.search(base) or VERBISH.search(base)  # "wich linter do we use"
    return f"{base[: found.end('before')]}{said}" if found and single and asks else ""


def _asked_of_topic(base: str, said: str) -> str:
    """What is asked for next of the same thing, "the monthly price" after "how long does Tutti run"; else empty."""
    named = [one.text for one in noun_phrases(base) if not one.relational]
    asks = said.casefold().startswith("the ") and leaves_open(said)
    return f"{said} ({named[0]})" if asks and len(named) == 1 and names(base) == (named[0],) else ""


def _about(base: str, new: str, *, amends: bool) -> str:
    """The question asked of something else, where it is plain what it was asked of."""
    topical = [phrase for phrase in noun_phrases(base) if not phrase.relational]
    asks = VERBISH.search(base) or ASKING.search(base) or _STATED.match(base)
    if amends and (whole := _OF_ANOTHER.search(base)) and {whole["what"], whole["of"]} == {one.text for one in topical}:
        return f"{base[: whole.start()]}{new}{base[whole.end() :]}"
    if asks and len(topical) == 1 and (amends or len(content_words(base)) > len(topical[0].stems)):
        thing = re.escape(topical[0].text)  # "a conference" after "a new tool" need not be new
        return re.sub(rf"(?:\b(?:new|old) )?{thing}", new.replace("\\", r"\\"), base, count=1)
    return ""


def _replace_name(base: str, old: str, said: str, new: str) -> str:
    """One name for another; an article goes with the name that it was said of, and stays with a noun behind it."""
    found = re.search(rf"(?P<article>\b(?:the|a|an)\s+)?{re.escape(old)}(?P<noun>\s+[a-z])?", base, re.IGNORECASE)
    if found is None or not found["article"] or found["noun"] or _ARTICLE.match(said):
        return base.replace(old, new, 1)
    return f"{base[: found.start()]}{new}{base[found.end() :]}"
