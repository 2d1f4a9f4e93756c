"""Statements of a passage: subject, values, negation, and what keeps a statement out of disputes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from core.model.evidence import Evidence
from core.model.languages import language_of, small_words_of
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit, units
from core.model.text import STOPWORDS, snowball, words
from core.values import Kind, Value, values_in
from core.values.units import UNITS

PARTICIPLE = 6  # letters from which a German stem's "ge" counts as a prefix
_SNOWBALL = {"en": "english", "de": "german", "fr": "french", "es": "spanish"}
# Words that name no subject: light verbs, quantifiers, limits, permission.
_LIGHT = frozenset(
    """employ possible maximum minimum max currently all each every per allow allowed permit permitted entitled limit
    limited receive received pay paid charge charged use used uses keep kept hold held holds take takes place placed
    located find found available need needs needed require required responsible responsibility must should include
    includes included consist consists contain contains comprise look looks give given there now today our any both
    always generally usually total number amount value price cost costs fee rate date day time name
    maximal minimal höchstens mindestens jeweils jede jeder jedes jeden jedem alle allen aller pro gibt erlaubt
    gestattet zulässig möglich darf dürfen können kann sollen muss müssen verwendet genutzt nutzt benutzt braucht
    beträgt betragen liegt gilt gelten werden wird wurde sind ist hat haben zuständig verantwortlich zahlen zahlt
    bekommen erhalten umfasst besteht enthält datum termin uhrzeit name bis zu es eine
    einen einem einer insgesamt anzahl betrag preis kosten kostet wert höhe derzeit
    aktuell stattfindet findet statt steht stehen""".split()  # noqa: SIM905
)
_DENIAL = re.compile(
    r"(?i)\b(?:not|never|none|neither|nor|cannot|nobody|without|prohibited|forbidden|banned|no|nicht|kein\w*|nie"
    r"|niemals|verboten|untersagt|unzulässig|nein|jamais|aucune?|pas|interdit\w*|nunca|prohibid\w*)\b|n['’]t\b"
)
_AT_MOST = re.compile(
    r"(?i)\b(?:up to|at most|no more than|not more than|maximum|max\.?|limited to|a limit of|only until|höchstens"
    r"|maximal\w*|bis(?: zu)?|nicht mehr als|au plus|maximum|como máximo)(?!\w)"
)
_AT_LEAST = re.compile(
    r"(?i)\b(?:at least|no less than|not less than|no fewer than|minimum|or more|mindestens|wenigstens|au moins"
    r"|al menos)\b"
)
# Text that states no rule in force: an example, a proposal, a wish, a question.
_UNREAL = re.compile(
    r"(?i)\b(?:for example|for instance|e\. ?g|example|samples?\b[^.:\n]{0,30}:|suppose|imagine|say|template"
    r"|exercise|hypothetical\w*"
    r"|propos\w+|drafts?|ideas?|suggest\w*|could|would|should|consider\w*|maybe|perhaps|rfc|petition|discuss\w*|whether"
    r"|request for|plan to|might|motion|vote on|evaluat\w+"
    r"|z\. ?b|zum beispiel|beispiel\w*|muster\w*|vorlage|übung\w*|aufgabe|angenommen|nehmen wir an|vorschl\w+"
    r"|vorgeschlagen|schlagen wir|schlagen vor|entwurf|antrag an|idee|könnte\w*|sollte\w*|würde\w*|angeregt|geprüft"
    r"|vielleicht|eventuell|diskutiert|exemple|propos\w+|brouillon|ejemplo|propuesta|borrador)(?!\w)|\?\s*$"
)
_APART = re.compile(r"(?i)\b(?:samples?|archive|archiv)\b")  # in a title
# Conditions and exceptions.
_LIMITED = re.compile(
    r"(?i)\b(?:unless|except\w*|only if|only when|only for|only on|only be|if|when|whenever|as long as|provided"
    r"|other than"
    r"|apart from|for orders over|emergenc\w+|nur|sofern|falls|wenn|solange|außer|ausgenommen|ausnahm\w*|im notfall"
    r"|in vertretung|vertretungsweise|ab einem|ab einer|sauf|à moins|salvo|excepto)\b"
)
# Text that is out of date, or says what replaced it.
_PAST = re.compile(
    r"(?i)\b(?:superseded|archived|deprecated|obsolete|outdated|no longer|previous(?:ly)?|former(?:ly)?|used to|old"
    r"|historical\w*|replac\w+|instead of|in place of|was raised|raised from|lowered from|increased from|changed from"
    r"|moved from|were valid|was valid|until now|so far|back then"
    r"|nicht mehr|früher\w*|ehemal\w+|vormals|bisher\w*|galt|galten|ersetzt\w*|abgelöst|löst|archiviert|veraltet"
    r"|überholt|erhöht|gesenkt|umgezogen|statt (?:frau|herr|bisher|der|des|wie)|anstelle|remplac\w+|ancien\w*|antigu\w+"
    r"|sustituy\w+|anterior\w*)\b"
)
# Statements of a document about itself: its owner, when it was reviewed.
_META = re.compile(
    r"(?i)^\W*(?:(?:(?:\w+ )?owner|author|editor|chair|excused|apologies|questions|contact|minutes|responsible"
    r"|status|date|programme|(?:written|approved|decided|checked|kept|maintained)(?: by)?"
    r"|stand|datum|autor\w*|verantwortlich|erstellt|freigegeben)\W*(?::|\bby\b|\bon\b|\bvon\b|\bam\b|\d)"
    r"|(?:last \w+|updated|reviewed|changed)\b|zuletzt \w+)"
)
_WORD = re.compile(r"[^\W_]+(?:[.'’/][^\W_]+)*|`[^`]+`")
# Single events, and times relative to the day of reading: "lasted", "this quarter".
_ONCE = re.compile(
    r"(?i)\b(?:came|attended|lasted|sold|joined|took|spent|visited|happened|it used|(?:this|last|next) (?:week|month"
    r"|quarter|year|time|sprint|season)|yesterday|tomorrow|tonight|dauerte\w*|kamen?|verkauft\w*|nahm\w* teil"
    r"|gestern|morgen abend|(?:diese|letzte|nächste|vorige)[nrsm]? (?:woche|monat|quartal|jahr))\b"
)
# A step of instructions.
_STEP = re.compile(
    r"(?i)^\W*(?:\d+[.)]\s|(?:step|schritt|étape|paso) \d|(?:(?:then|first|next|now|finally),? )?(?:wait|press|click"
    r"|create|run|open|install|enter|choose|select|repeat|add|set|start|restart|type)\b(?! is| are))"
)
# Lines that state nothing: an image, or an introduction to what follows.
_UNSTATED = re.compile(r"^\W*!\[|:\W*$")
_RELATIONS = frozenset(
    """before after during while inside outside with without our their his her my your first second third other another
    vor nach während innerhalb außerhalb mit ohne unser unsere unserer ihr ihre ihrer mein meine""".split()  # noqa: SIM905
)
_PLACING = frozenset(
    """in at on from to into onto under below above behind near beside opposite via im in ins am an auf bei beim unter
    über hinter neben zum zur à au aux dans sur chez en""".split()  # noqa: SIM905
)
_CLAUSE = re.compile(r"\s*;\s+|\s+[–—]\s+")
_REPLY = {"yes": False, "ja": False, "oui": False, "sí": False, "no": True, "nein": True, "non": True}
_FIGURES = frozenset(
    {Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.DATE, Kind.TIME, Kind.WEEKDAY, Kind.DURATION, Kind.QUANTITY}
)
_RATES = {
    "day": "daily täglich quotidien diario", "week": "weekly wöchentlich", "month": "monthly monatlich mensuel mensual",
    "year": "annual annually yearly jährlich annuel anual",
}  # fmt: skip
_RATE_WORDS = {word: unit for unit, listed in _RATES.items() for word in listed.split()}
_EXACT = frozenset({Kind.CODE, Kind.VERSION})


@dataclass(frozen=True, slots=True)
class Word:
    """A content word: its stem, its position in the statement, and its spelling.

    ``name`` is whether it looks like a name. ``placed`` is whether a preposition of place precedes it: "in the hall".
    """

    stem: str
    at: int
    name: bool
    placed: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a source. ``quote`` is its text to show; ``context`` are stems of its title and headings."""

    source: Evidence
    text: str  # as the passage has it
    quote: str
    language: str
    said: tuple[Word, ...]
    figures: tuple[Value, ...]
    ones: tuple[Value, ...]  # "one", "a": a number where the other statement counts the same thing
    rates: frozenset[str]  # "per month", "a week"
    denies: bool
    bound: int  # 1: at most, -1: at least
    relation: frozenset[str]  # whose or when: "our", "after"
    context: frozenset[str]
    key: frozenset[str] = frozenset()  # of a table's row: the stems of its first cell
    column: str = ""  # of a table's row
    lead: int = 0  # of a table's row, how many words name it and its column

    @property
    def row(self) -> bool:
        """Whether it is a cell of a table."""
        return bool(self.column)

    @property
    def stems(self) -> frozenset[str]:
        """The stems of its content words."""
        return frozenset(word.stem for word in self.said)


def stems_of(text: str, language: str) -> frozenset[str]:
    """Return the stems of the words that carry a text's subject."""
    return frozenset(word.stem for word in _words_of(text, text, language))


def statements_of(source: Evidence, *, within: str = "") -> Iterator[Statement]:
    """Yield what a passage states as in force; with ``within``, only units that this quote contains."""
    passage = source.passage
    place = f"{passage.title}\n{' '.join(passage.heading)}"
    if _UNREAL.search(place) or _PAST.search(place) or _APART.search(place):
        return
    language = language_of(f"{place}\n{passage.text}")
    context = stems_of(place, language)
    before = ""
    for unit in units(passage.text):
        lead = f"{before} {unit.under}"
        before = f"{before} {unit.text}" if unit.form is Form.SENTENCE else before
        if within and unit.text not in within and unit.text not in " ".join(within.split()):
            continue
        if (
            _UNSTATED.search(unit.text)
            or _STEP.search(unit.text)
            or _ONCE.search(unit.text)
            or _META.search(unit.text)
            or _UNREAL.search(f"{unit.under} {unit.text}")
            or _PAST.search(f"{lead} {unit.text}")
        ):
            continue
        if unit.form is Form.ROW:
            yield from _row_statements(source, unit, language, context)
        elif unit.form in {Form.SENTENCE, Form.ITEM} and not _LIMITED.search(unit.text):
            for clause in _CLAUSE.split(unit.text):
                yield _statement(source, unit.text, clause, clause, language, context)


def _row_statements(source: Evidence, unit: Unit, language: str, context: frozenset[str]) -> Iterator[Statement]:
    cells, names = cells_of(unit.text), cells_of(unit.head[0]) if unit.head else ()
    if len(cells) < 2 or len(names) != len(cells):
        return
    key, near = stems_of(cells[0], language), context | stems_of(names[0], language)
    for name, cell in zip(names[1:], cells[1:], strict=True):
        if name.strip() and cell.strip() and not _LIMITED.search(cell):
            quote = f"{names[0]}: {cells[0]} · {name}: {cell}"
            said = f"{cells[0]} {name}: {cell}"
            told = _statement(source, unit.text, quote, said, language, near, row=True)
            yield replace(told, key=key, column=name.strip().casefold(), lead=len(_WORD.findall(f"{cells[0]} {name}")))


def _statement(
    source: Evidence, text: str, quote: str, said: str, language: str, context: frozenset[str], *, row: bool = False
) -> Statement:
    bound = 1 if _AT_MOST.search(said) else -1 if _AT_LEAST.search(said) else 0
    bare = _AT_LEAST.sub(_blank, _AT_MOST.sub(_blank, said))
    values = [value for value in values_in(said, language) if value.kind in _FIGURES or value.kind in _EXACT]
    covered = said
    for value in values:
        covered = covered[: value.start] + " " * (value.end - value.start) + covered[value.end :]
    covered = _DENIAL.sub(_blank, _AT_LEAST.sub(_blank, _AT_MOST.sub(_blank, covered)))
    figures = tuple(value for value in values if not value.loose)
    ones = tuple(value for value in values if value.loose and value.kind is Kind.NUMBER)
    rates = frozenset(str(value.amounts[0]) + value.unit for value in values if value.loose and value.unit)
    rates |= {_rate(word) for word in words(said) if word.casefold() in _RATE_WORDS}
    reply = _REPLY.get(said.rpartition(": ")[2].strip().casefold()) if row else None
    denies = reply if reply is not None else len(_DENIAL.findall(bare)) % 2 == 1
    if reply is not None:
        covered = covered[: covered.rindex(":")]
    relation = _RELATIONS.intersection(word.casefold() for word in words(said))
    stated = tuple(_words_of(covered, said, language))
    return Statement(
        source, text, quote.strip(), language, stated, figures, ones, rates, denies, bound, relation, context
    )  # fmt: skip


def _rate(word: str) -> str:
    unit = UNITS[_RATE_WORDS[word.casefold()]]
    return str(unit.factor) + unit.base


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def _words_of(text: str, written: str, language: str) -> Iterator[Word]:
    small = small_words_of(written) | (_german() if language == "de" else frozenset())
    led = ["", ""]
    for at, word in enumerate(_WORD.findall(text)):
        placed = bool(_PLACING.intersection(led))
        led = [led[-1], word.casefold()]
        plain = word.casefold().strip("`").removesuffix("'s").removesuffix("’s")
        if plain in STOPWORDS or plain in small or plain in _LIGHT or plain in UNITS or plain in _RATE_WORDS:
            continue
        named = word[0].isupper() or not word.isalpha()
        yield Word(_stem(plain, language), at, named, placed)


@lru_cache(maxsize=20_000)
def _stem(word: str, language: str) -> str:
    root = snowball(_SNOWBALL.get(language, "english"), word)
    return root[2:] if language == "de" and root.startswith("ge") and len(root) > PARTICIPLE else root


@lru_cache(maxsize=1)
def _german() -> frozenset[str]:
    return small_words_of("der die das ist und nicht von mit")
