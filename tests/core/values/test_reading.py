"""The values of a text, read in four languages."""

from fractions import Fraction

import pytest

from core.values import Kind, Value, values_in


def only(text: str, language: str = "en") -> Value:
    found = [value for value in values_in(text, language) if not value.loose]
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("language", "text", "amount"),
    [
        ("en", "2,700 seats", 2700),
        ("en", "2 700 seats", 2700),
        ("en", "2.7k seats", 2700),
        ("en", "2.7 seats", Fraction(27, 10)),
        ("en", "twenty-seven seats", 27),
        ("en", "two hundred and five seats", 205),
        ("en", "1.2 million users", 1_200_000),
        ("de", "2.700 Plätze", 2700),
        ("de", "2,7 Plätze", Fraction(27, 10)),
        ("de", "siebenundzwanzig Plätze", 27),
        ("de", "2,7 Mio. Nutzer", 2_700_000),
        ("fr", "2 700 places", 2700),
        ("fr", "2\u202f700 places", 2700),
        ("fr", "vingt-sept places", 27),
        ("fr", "quatre-vingt-dix-neuf places", 99),
        ("es", "2.700 plazas", 2700),
        ("es", "veintisiete plazas", 27),
        ("es", "treinta y cinco plazas", 35),
    ],
)
def test_reads_numbers(language: str, text: str, amount: int) -> None:
    value = only(text, language)
    assert value.kind is Kind.NUMBER
    assert value.amounts[0] == amount


def test_reads_a_number_both_ways_where_the_language_is_unsure() -> None:
    assert set(only("| 2.700 |", "").amounts) == {Fraction(27, 10), 2700}


@pytest.mark.parametrize(
    ("language", "text", "amount", "unit"),
    [
        ("en", "15 min", 900, "second"),
        ("en", "a quarter of an hour", 900, "second"),
        ("en", "900 s", 900, "second"),
        ("en", "45 business days", 45 * 86_400, "second"),
        ("en", "a 30-day window", 30 * 86_400, "second"),
        ("en", "two and a half hours", 9_000, "second"),
        ("en", "1 hour 30 minutes", 5_400, "second"),
        ("en", "18 months", 18, "month"),
        ("en", "a year and a half", 18, "month"),
        ("de", "eine Viertelstunde", 900, "second"),
        ("de", "eine halbe Stunde", 1_800, "second"),
        ("de", "anderthalb Jahre", 18, "month"),
        ("de", "45 Werktage", 45 * 86_400, "second"),
        ("de", "1 Jahr und 6 Monate", 18, "month"),
        ("fr", "un quart d'heure", 900, "second"),
        ("fr", "un an et demi", 18, "month"),
        ("fr", "quinze jours ouvrés", 15 * 86_400, "second"),
        ("es", "un cuarto de hora", 900, "second"),
        ("es", "un año y medio", 18, "month"),
        ("es", "media hora", 1_800, "second"),
    ],
)
def test_reads_durations(language: str, text: str, amount: int, unit: str) -> None:
    value = only(text, language)
    assert (value.kind, value.unit) == (Kind.DURATION, unit)
    assert value.amounts[0] == amount


@pytest.mark.parametrize(
    ("language", "text", "kind", "amount", "unit"),
    [
        ("en", "€1,800", Kind.MONEY, 1800, "euro"),
        ("en", "EUR 1,800.00", Kind.MONEY, 1800, "euro"),
        ("en", "$5m", Kind.MONEY, 5_000_000, "dollar"),
        ("en", "49 dollars", Kind.MONEY, 49, "dollar"),
        ("de", "1.800,00 €", Kind.MONEY, 1800, "euro"),
        ("fr", "1,5 million d'euros", Kind.MONEY, 1_500_000, "euro"),
        ("es", "1.800 euros", Kind.MONEY, 1800, "euro"),
        ("en", "20 %", Kind.PERCENT, 20, "percent"),
        ("en", "20 pct", Kind.PERCENT, 20, "percent"),
        ("de", "20 Prozent", Kind.PERCENT, 20, "percent"),
        ("fr", "20 pour cent", Kind.PERCENT, 20, "percent"),
        ("es", "20 por ciento", Kind.PERCENT, 20, "percent"),
        ("en", "2.5 GB", Kind.QUANTITY, 2_500_000_000, "byte"),
        ("de", "20 Kilometer", Kind.QUANTITY, 20_000, "metre"),
    ],
)
def test_reads_units(language: str, text: str, kind: Kind, amount: int, unit: str) -> None:
    value = only(text, language)
    assert (value.kind, value.unit) == (kind, unit)
    assert value.amounts[0] == amount


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "08/31/2026"),
        ("en", "31 August 2026"),
        ("en", "August 31st, 2026"),
        ("en", "2026-08-31"),
        ("de", "31.08.2026"),
        ("de", "31. August 2026"),
        ("fr", "le 31 août 2026"),
        ("fr", "31/08/2026"),
        ("es", "31 de agosto de 2026"),
    ],
)
def test_reads_dates(language: str, text: str) -> None:
    assert only(text, language).dates == ((2026, 8, 31),)


def test_reads_dates_without_a_year_and_ranges_of_days() -> None:
    assert only("31 de agosto", "es").dates == ((None, 8, 31),)
    assert [value.dates[0] for value in values_in("1–5 August 2026", "en")] == [(2026, 8, 1), (2026, 8, 5)]
    assert only("05/06/2026").dates == ((2026, 5, 6), (2026, 6, 5))


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", "4 pm"), ("en", "4:00 p.m."), ("en", "16:00"), ("de", "16 Uhr"), ("fr", "16h"), ("fr", "16h00")],
)
def test_reads_times(language: str, text: str) -> None:
    value = only(text, language)
    assert value.kind is Kind.TIME
    assert value.amounts[0] == 16 * 60


@pytest.mark.parametrize(
    ("language", "text"), [("en", "on Mondays"), ("de", "am Montag"), ("fr", "le lundi"), ("es", "el lunes")]
)
def test_reads_weekdays(language: str, text: str) -> None:
    value = only(text, language)
    assert (value.kind, value.key) == (Kind.WEEKDAY, "0")


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        ("use v2.3.1", Kind.VERSION, "2.3.1"),
        ("use version 2.3", Kind.VERSION, "2.3"),
        ("set max_retries", Kind.CODE, "max_retries"),
        ("see ERR-4012", Kind.CODE, "ERR-4012"),
        ("edit config.yaml", Kind.CODE, "config.yaml"),
        ("run `git push --force`", Kind.CODE, "git push --force"),
        ("ask in #help-it", Kind.CODE, "#help-it"),
        ("write to ops@example.org", Kind.CODE, "ops@example.org"),
        ("ask Sara Lindqvist", Kind.NAME, "Sara Lindqvist"),
    ],
)
def test_reads_codes_versions_and_names(text: str, kind: Kind, key: str) -> None:
    value = only(text)
    assert (value.kind, value.key) == (kind, key)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "1. Open the page."),
        ("en", "- 2) Then save it [3]."),
        ("en", "It is open 24/7, once a day, as you may know."),
        ("en", "The Chief Executive decides by email or SMS in English."),
        ("de", "Die Geschäftsführung und der Betriebsrat entscheiden über den Antrag."),
        ("de", "Bis Ende des Monats gilt der Urlaub als genehmigt."),
        ("fr", "Le délai court après l'accord de la Direction Générale."),
        ("es", "El Director Financiero lo aprueba una vez al mes."),
    ],
)
def test_finds_no_hard_fact(language: str, text: str) -> None:
    assert [value for value in values_in(text, language) if not value.loose] == []


def test_gives_values_in_order_with_their_place() -> None:
    text = "Pay **€49** by 3 May to [2] Ana Ruiz."
    values = values_in(text, "en")
    assert [value.kind for value in values] == [Kind.MONEY, Kind.DATE, Kind.NAME]
    assert [text[value.start : value.end] for value in values] == [value.text for value in values]
