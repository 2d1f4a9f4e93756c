"""The language of a question, and the wording of replies in it when the documents do not answer.

Detected by stop words, and only if they are clear. Otherwise the language is taken to be English.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from core.model.text import words


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences for an abstention and for a question back.

    ``may_answer`` is followed by a quote, ``weak`` by titles; ``nearest`` takes the name of a source.
    """

    not_found: str
    unsaid_for: str  # the same, for the chosen reading of the question
    may_answer: str
    nearest: str
    foreign: str  # when the nearest source is in another language
    nothing: str  # before weak results, when the asker chooses how to continue
    weak: str  # above the titles of weak results
    go_on: str
    which: str  # asks which of several readings is meant
    what: str  # asks what is meant, without readings to choose from
    left: str  # to an asker who no longer wants an answer
    quoted: str = "“{}”"
    privately: str = "Not everyone here can read every document. Ask me in a direct message."


_SMALL_WORDS = {
    "de": "der die das den dem des ein eine einen einem ist sind war wie viele viel was wer wo wann warum welche "
    "welcher welches gibt es ich wir ihr haben hat kann darf muss für mit von zum zur im auf bei nicht und oder wird "
    "werden man wieviel gibts habt in an am so nach vor kosten kostet ab aus bis durch ohne beim vom seit wenn als "
    "mein meine unser unsere dürfen müssen können darf kein keine innerhalb",
    "fr": "le la les un une des du de est sont quel quelle quels quelles combien comment pourquoi où quand qui que "
    "est-ce il elle nous vous avez je mon ma mes notre pour avec dans sur au aux pas et ou peut dure faut y a-t-il en "
    "non l qu",
    "es": "el la los las un una unos es son cuál cuáles cuánto cuántos cuántas cómo dónde cuándo por qué quién hay "
    "para con del al en no y puedo puede tengo tenemos nuestro de que se su sus mi a por lo cada más durante después "
    "hasta desde",
    "en": "the a an is are was were what which who where when why how many much do does did can may must i we you "
    "our my of for with to in on at it not and or there be have has from by since until if any this that get go up out "
    "no",
}
_KNOWN = {language: frozenset(listed.split()) for language, listed in _SMALL_WORDS.items()}
_FEWEST = 2  # distinct stop words; repeats do not count, since "en" may be in links many times
_FIRST = 3  # a question word among the first words shows the language
# Code, links and words joined by symbols ("en_US", "developer.mozilla.org/en-US/docs") have no language.
_NO_LANGUAGE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|[^\s\[\]()<>]*(?:://|[\w.]/\w|_)[^\s\[\]()<>]*", re.DOTALL)
# A question with one of these among its first words is in this language: "Wer genehmigt …?", "Ab welchem Wert …?"
_QUESTION_WORDS = {
    "de": "wer wem wessen wie wann wo wohin warum wieso welche welcher welches welchen welchem wieviel",
    "fr": "qui quel quelle quels quelles combien pourquoi quand où",
    "es": "quién quiénes cuándo cuánto cuánta cuántos cuántas cuál cuáles dónde adónde cómo qué "
    "quien quienes cuando cuanto cuanta cuantos cuantas cual cuales donde",
}
_ASKING = {language: frozenset(listed.split()) for language, listed in _QUESTION_WORDS.items()}
_NONE: frozenset[str] = frozenset()
WORDINGS = {
    "en": Wording(
        "I couldn't find this in your documents.",
        "I couldn't find this for {}.",
        "This may answer it:",
        "The closest I found is {}.",
        "",
        "I found nothing that answers this.",
        "These come close:",
        "What would you like to do?",
        "Which of these do you mean?",
        "What exactly do you mean?",
        "OK, I'll leave it there.",
    ),
    "de": Wording(
        "Das habe ich in euren Dokumenten nicht gefunden.",
        "Dazu habe ich nichts gefunden: {}.",
        "Das könnte die Antwort sein:",
        "Am nächsten kommt {}.",
        "Die Dokumente sind in einer anderen Sprache; in dieser gefragt, finde ich vielleicht mehr.",
        "Ich habe nichts gefunden, was das beantwortet.",
        "Nur schwach passt:",
        "Was möchtest du tun?",
        "Was davon meinst du?",
        "Was genau meinst du?",
        "Gut, ich lasse es dabei.",
        "„{}“",
        "Nicht alle hier dürfen alles lesen: Frag mich in einer Direktnachricht.",
    ),
    "fr": Wording(
        "Je n'ai pas trouvé cela dans vos documents.",
        "Je n'ai rien trouvé pour {}.",
        "Voici peut-être la réponse :",
        "Le plus proche est {}.",
        "Les documents sont dans une autre langue ; posée dans celle-ci, la question donnera peut-être plus.",
        "Je n'ai rien trouvé qui y réponde.",
        "Ce qui s'en approche est faible :",
        "Que souhaitez-vous faire ?",
        "Laquelle de ces questions posez-vous ?",
        "Que voulez-vous dire exactement ?",
        "D'accord, j'en reste là.",
        "« {} »",
        "Tout le monde ici ne peut pas tout lire : posez-moi la question en message privé.",
    ),
    "es": Wording(
        "No he encontrado esto en sus documentos.",
        "No he encontrado nada sobre {}.",
        "Esta puede ser la respuesta:",
        "Lo más cercano es {}.",
        "Los documentos están en otro idioma; si pregunta en ese idioma, quizá encuentre más.",
        "No he encontrado nada que lo responda.",
        "Lo que se acerca es débil:",
        "¿Qué quiere hacer?",
        "¿Cuál de estas preguntas hace?",
        "¿Qué quiere decir exactamente?",
        "De acuerdo, lo dejo aquí.",
        "«{}»",
        "No todos aquí pueden leerlo todo: pregúnteme en un mensaje directo.",
    ),
}


@lru_cache(maxsize=1024)  # one question asks for the same passages with each search and for the answer
def language_of(text: str) -> str:
    """Return the two-letter code of a text's language, among those that have a wording; otherwise "en"."""
    said = [word.casefold() for word in words(re.sub(r"['’]", " ", _NO_LANGUAGE.sub(" ", text)))]
    counts = {language: sum(word in known for word in said) for language, known in _KNOWN.items()}
    for language, asking in _ASKING.items():
        counts[language] += _FEWEST * bool(asking.intersection(said[:_FIRST]))
    best = max(counts, key=lambda language: counts[language])
    asks = bool(_ASKING.get(best, _NONE).intersection(said[:_FIRST]))
    several = asks or len(_KNOWN[best].intersection(said)) >= _FEWEST
    return best if several and counts[best] > counts["en"] else "en"


def small_words_of(text: str) -> frozenset[str]:
    """Return the stop words of a text's language, in lower case; none if it is English or unclear."""
    language = language_of(text)
    return frozenset() if language == "en" else _KNOWN[language]
