"""A question in another language than the documents is read in English, word by word."""

import re
from importlib import resources

import pytest

from adapters.reasoners.extractive.understand.query_translation import (
    dictionary_of,
    english_of,
    is_language_of,
    note_of_translation,
)
from adapters.reasoners.extractive.understand.spelling import english

ENGLISH = "The depot in Leith is open from nine to five."
GERMAN = "Das Lager in Leith ist von neun bis fünf geöffnet."


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("Wie viele Urlaubstage habe ich im Jahr?", "how many days of leave have I a year?"),
        ("Bis wann ist das Lager in Leith geöffnet?", "until when is the warehouse in Leith open?"),
        ("Darf ich mein Handy mit in die Halle nehmen?", "may I take my mobile phone with in the hall?"),
        ("Kann man am Montag bezahlen", "can I pay on Monday"),
        ("Wer ist für das Lager zuständig?", "who is responsible for the warehouse?"),
        ("Darf ich Montag", "may I Monday"),
        ("À quelle heure ouvre l’atelier ?", "at what time opens the workshop?"),
        ("À quelle heure ferme-t-on la boutique ?", "at what time closes the shop?"),
        ("¿Cuántos días de vacaciones tengo?", "how many days of leave have I?"),
        ("Cuantos dias de vacaciones tengo", "how many days of leave have I"),
        ("Wer genehmigt Rückerstattungen über 2000 Euro?", "who approves refunds above 2000 euros?"),
        ("Wann findet die Wartung statt?", "when takes place the maintenance?"),
        ("Wie lang ist das Verbindungs-Timeout?", "how long is the connection Timeout?"),
        ("Was mache ich, wenn mein Laptop gestohlen wird?", "what do I do, if my laptop is stolen?"),
        ("Bis wann müssen Spesen eingereicht werden?", "until when must expenses be sent?"),
        ("Quand les vols sont-ils permis ?", "when the flights are allowed?"),
        ("Was soll ich bei too_many_stops tun?", "what should I do at too_many_stops?"),
    ],
)
def test_every_word_is_said_in_english_and_the_longest_entry_counts(question: str, read: str) -> None:
    assert english_of(question) == read


def test_a_question_may_be_in_the_language_of_some_of_what_was_found() -> None:
    question = "Bis wann ist das Lager in Leith geöffnet?"
    assert is_language_of(question, [ENGLISH, GERMAN])
    assert not is_language_of(question, [ENGLISH])
    assert not is_language_of(question, [])
    assert is_language_of("until when is the depot open?", [GERMAN])


def test_an_english_question_stays() -> None:
    assert english_of("until when is the depot open?") == "until when is the depot open?"


def test_names_and_codes_stay_as_they_are() -> None:
    read = english_of("Wer ist in Zqx-7 für Priya Halloran zuständig?")
    assert "Zqx-7" in read
    assert "Priya Halloran" in read
    assert english_of("À quelle heure ouvre la piscine de Val d'Orsel ?").endswith("of Val d'Orsel?")


def test_a_compound_of_known_parts_is_read_by_them() -> None:
    read = dictionary_of("de").translate("Rechnungsnummer")
    assert read == "invoice number"


@pytest.mark.parametrize(
    ("foreign", "read"),
    [
        ("Wo steht die Substitution?", "where stands the Substitution?"),
        ("¿Dónde está la combustión?", "where is the combustion?"),
        ("Où est la mobilité ?", "where is the mobility?"),
        ("¿Dónde está la zambullición?", "where is the zambullición?"),
    ],
)
def test_reads_a_cognate_that_english_knows(foreign: str, read: str) -> None:
    assert english_of(foreign, english()) == read


def test_what_was_read_is_said_in_the_askers_language_and_only_then() -> None:
    said = note_of_translation("Wie viele Tage habe ich?", "how many days have I?")
    assert "how many days have I?" in said
    assert "Wort für Wort" in said
    assert not note_of_translation("how many dais do I have?", "how many days do I have?")
    assert not note_of_translation("Wie viele Tage habe ich?", "Wie viele Tage habe ich?")


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_a_dictionary_has_one_english_rendering_a_line_and_no_entry_twice(language: str) -> None:
    folder = resources.files("adapters.reasoners.extractive.understand").joinpath("dictionaries")
    lines = folder.joinpath(f"{language}.tsv").read_text("utf-8").splitlines()
    assert len(lines) > 1_500
    assert [line for line in lines if not re.fullmatch(r"[^\t]+\t[^\t]*", line)] == []
    entries = [line.split("\t")[0] for line in lines]
    assert len(set(entries)) == len(entries)
    assert all(entry == entry.casefold() or "ß" in entry for entry in entries)
