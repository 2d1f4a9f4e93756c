"""Abstentions in the asker's language, with a hint if the documents are in another one."""

import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.answer import Outcome
from core.model.languages import language_of
from tests.core.harness import Harness
from tests.fakes.memory.encoder import HashingEncoder


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie viele Urlaubstage haben die Leute im Büro?", "de"),
        ("Gibt es einen Zuschuss für ein Fahrrad?", "de"),
        ("Combien de temps dure l'installation pour Spark ?", "fr"),
        ("Wer genehmigt Rückerstattungen?", "de"),
        ("Quels documents ?", "fr"),
        ("¿Cuál?", "es"),
        ("Ab welchem Wert werden Geschenke abgelehnt?", "de"),
        ("An welchem Tag zahlt Chit Spesen aus?", "de"),
        ("Jusqu'à quand ?", "fr"),
        ("¿Después de cuántos días caducan las claves de API?", "es"),
        ("hasta cuando hay que enviar los gastos", "es"),
        ("An employee asks for a refund", "en"),
        ("was delayed", "en"),
        ("comment deleted?", "en"),
        ("Wann kommt der Lkw in Moorside an", "de"),
        ("wieviel skonto gibts", "de"),
        ("non, je voulais dire en 2025", "fr"),
        ("When does it arrive in an hour", "en"),
        ("¿Cuántos días de vacaciones hay?", "es"),
        ("How many days of leave do I get?", "en"),
        ("Refunds?", "en"),
        ("no no, cabins", "en"),
        ("no, no hay cabañas", "es"),
    ],
)
def test_the_language_of_a_question_is_told_by_its_small_words(question: str, language: str) -> None:
    assert language_of(question) == language


@pytest.mark.parametrize(
    "text",
    [
        "```jinja2\n{{ document.created | localize_date('short', 'en_US') }}\n{{ added | localize_date('de_DE') }}```",
        "[fetch]: https://developer.mozilla.org/en-US/docs/Web/API/ [hover]: https://developer.mozilla.org/en-US/docs/CSS",
        "Locales: en, en",
    ],
)
def test_code_and_links_are_in_no_other_language_for_what_they_repeat(text: str) -> None:
    assert language_of(text) == "en"


async def test_refuses_a_german_question_about_english_documents_in_german_with_a_remedy() -> None:
    harness = Harness(ExtractiveReasoner(HashingEncoder()))
    await harness.knows("The office has a bicycle room and the refunds are paid within 14 days.")
    told = await harness.asks("Welche Quastenflosser hat die Steuerbordkoje?")
    assert told.outcome is Outcome.ABSTAINED
    assert told.text.startswith("Das habe ich in euren Dokumenten nicht gefunden.")
    assert told.text.endswith("in dieser gefragt, finde ich vielleicht mehr.")
    assert "Quastenflosser" not in told.text
