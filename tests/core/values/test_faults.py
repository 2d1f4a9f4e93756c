"""Hard facts of a claim that do and do not follow from the evidence."""

import pytest

from core.values import exchanged_values, value_faults

HANDBOOK = (
    "Leave. Paid time off (PTO) is 28 days a year, of which 13 days were taken by 31 August 2026. The Chief Executive "
    "Officer is Sara Lindqvist. Refunds are paid within 45 days. Support answers from Monday to Friday, 9:00-17:00. "
    "Error ERR-4012 needs version 2.3.1 and max_retries = 3."
)
PRICES = """# Prices 2026
| plan | price per month | seats |
|---|---|---|
| Start | €49 | 5 |
| Team | €120 | 20 |
| Firm | €1,800 | 300 |
"""


def faults(
    claim: str, *evidence: str, question: str = "", words: tuple[str, ...] = (), language: str = ""
) -> list[str]:
    return [fault.text for fault in value_faults(claim, evidence, question, words=words, language=language)]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("There are 2.7k seats.", "The hall has 2,700 seats."),
        ("It takes 15 minutes.", "It takes a quarter of an hour."),
        ("It runs for a year and a half.", "The contract runs for 18 months."),
        ("It ends on 31 August 2026.", "End: 08/31/2026"),
        ("Es endet am 31.08.2026.", "It ends on 31 August 2026."),
        ("La fin est le 31 août.", "It ends on 2026-08-31."),
        ("Die Frist beträgt siebenundzwanzig Tage.", "The period is 27 days."),
        ("Le délai est de quinze jours ouvrés.", "Die Frist beträgt 15 Werktage."),
        ("El plazo es de veintisiete días.", "Le délai est de 27 jours."),
        ("It opens at 4 pm.", "Geöffnet ab 16 Uhr."),
        ("It opens at 16:00.", "Ouvert dès 16h."),
        ("It costs EUR 1,800.", "Der Preis beträgt 1.800,00 €."),
        ("The rate is 20 percent.", "La tasa es del 20 %."),
        ("The limit is 30 days.", "The limit is 30 to 45 days."),
        ("It costs €49.", "| plan | price (EUR) |\n|---|---|\n| Start | 49 |"),
        ("It takes two days.", "It takes 48 hours."),
        ("About 2,000 people came.", "1,987 people came."),
        ("Rund 500 Personen kamen.", "Es kamen 487 Personen."),
        ("Il est conservé 730 jours, soit deux ans.", "| `audit.retention_days` | 730 |"),
        ("By 5 June at the latest.", "Receipts are due by the 5th of the following month."),
        ("The setup takes place at quarter past two.", "The setup takes place at 14:15 or at 02:15."),
        ("You need 3.12 or newer.", "Version 3.12 is needed."),
        ("Ansprechpartnerin ist Mme Lindemann.", "Contact: Dr. Lindemann"),
        ("It comes to 2,670 euros: 12 months at 210 plus 150 for setup.", "12 months; 210 a month, 150 for setup"),
        ("Harbour has 40 % of the people.", "Harbour: 6 people, Quay: 4 people, Lighthouse: 5 people"),
        ("Set `KELP_HTTP__TIMEOUT_MS`.", "Put `KELP_` in front: `http.timeout_ms`"),
        ("It takes place a dozen times.", "It takes place 12 times."),
        ("The other 12% came on foot.", "61 % came by bus and 27 % by car"),
        ("A good €385,000 came in.", "€385,200 came in."),
        ("Demo is still on 7.3.", "| demo | 2 | 7.3 |"),
        ("Wartet 4,5 Sekunden.", "| `gateway.timeout_ms` | 4500 | wait for an answer |"),
        (
            "Cela fait 12 h 30.",
            "- Hygiène: 3 h\n- Données: 1 h 30\n- Pillar: 6 h\n- Feu: 2 h",
        ),
        ("Im Tarif Fleet sind 120 Fahrzeuge enthalten.", "Fleet | 640 | 120"),
        (
            "Se borra 60 días después, el 31 de octubre de 2026.",
            "It closes on 1 September 2026, and goes 60 days later.",
        ),
    ],
)
def test_accepts_other_ways_to_write_a_value(claim: str, evidence: str) -> None:
    assert faults(claim, evidence) == []


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("Refunds are paid within 30 days.", "30 days"),
        ("Refunds are paid within 45 hours.", "45 hours"),
        ("PTO is €28.", "€28"),
        ("They were taken by 30 August 2026.", "30 August 2026"),
        ("Support answers until 18:00.", "18:00"),
        ("Support answers on Saturdays.", "Saturdays"),
        ("The error is ERR-4013.", "ERR-4013"),
        ("It needs version 2.4.", "version 2.4"),
        ("Set max_wait.", "max_wait"),
        ("The boss is Marek Nowak.", "Marek Nowak"),
        ("Los reembolsos tardan treinta días.", "treinta días"),
        ("Erstattungen dauern vierzig Tage.", "vierzig Tage"),
        ("Les remboursements prennent vingt jours.", "vingt jours"),
    ],
)
def test_faults_a_value_that_the_documents_do_not_have(claim: str, wrong: str) -> None:
    assert faults(claim, HANDBOOK) == [wrong]


@pytest.mark.parametrize(
    ("claim", "right"),
    [
        ("That leaves 15 days.", True),
        ("That leaves 16 days.", False),
        ("Refunds are paid by 15 October 2026 if you ask on 31 August 2026.", True),
        ("Refunds are paid by 20 October 2026 if you ask on 31 August 2026.", False),
        ("31 August 2026 is a Monday.", True),
        ("31 August 2026 is a Tuesday.", False),
        ("Support answers for 8 hours.", True),
        ("Support answers for 7 hours.", False),
    ],
)
def test_takes_one_step_within_a_passage(claim: str, right: bool) -> None:
    assert (faults(claim, HANDBOOK) == []) is right


@pytest.mark.parametrize(
    ("claim", "right"),
    [
        ("Together they cost €1,969.", True),
        ("Together they cost €1,968.", False),
        ("There are three plans.", True),
        ("There are four plans.", False),
        ("Team costs €71 more than Start.", True),
        ("Team costs €73 more than Start.", False),
        ("12 months of Team cost €1,440.", True),
        ("12 months of Team cost €1,450.", False),
        ("With 15 % off, Team costs €102.", True),
        ("With 15 % off, Team costs €105.", False),
    ],
)
def test_takes_one_step_over_a_table(claim: str, right: bool) -> None:
    assert (faults(claim, PRICES, question="What do 12 months cost, and with 15 % off?") == []) is right


def test_multiplies_a_price_by_the_count_of_the_question() -> None:
    question = "What do 7 seats cost?"
    assert faults("7 seats cost €343 a month.", "A seat costs €49 a month.", question=question) == []
    assert faults("7 seats cost €353 a month.", "A seat costs €49 a month.", question=question) == ["€353"]


def test_joins_only_the_words_that_the_claim_rests_on() -> None:
    passage = "The fee is €80. A deposit of €25 is due. Cleaning costs €13."
    claim = "Together that is €93."
    assert faults(claim, passage, words=("The fee is €80.", "Cleaning costs €13.")) == []
    assert faults(claim, passage, words=("The fee is €80.", "A deposit of €25 is due.")) == ["€93"]


def test_takes_no_second_step() -> None:
    assert faults("7 seats cost €4,116 a year.", "A seat costs €49 a month.", question="And 7 seats?") == ["€4,116"]


def test_leaves_the_values_of_the_question_alone() -> None:
    question = "I joined Contoso on 3 May with 8 people; am I covered?"
    assert (
        faults("With 8 people at Contoso since 3 May you are covered.", "Everybody is covered.", question=question)
        == []
    )


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The CEO decides.", "The Chief Executive Officer decides."),
        ("Ask the Chief Operating Officer.", "Ask the COO."),
        ("Everyone has PTO.", "Everyone has paid time off."),
        ("Norwegian law applies.", "The law of Norway applies."),
        ("Lindqvist's team and the Lindqvists agree.", "Sara Lindqvist agrees."),
        ("Ask Mr Müller.", "Ask Mr Mueller."),
        ("Frag Anna Keller.", "Anna Keller hilft."),
    ],
)
def test_knows_names_by_their_expansions_and_inflections(claim: str, evidence: str) -> None:
    assert faults(claim, evidence) == []


def test_takes_a_german_noun_for_no_name() -> None:
    evidence = "Employees may carry over five days."
    assert faults("Die Mitarbeiter dürfen laut Betriebsvereinbarung fünf Tage Resturlaub übertragen.", evidence) == []
    assert faults("Das genehmigt Anna Keller.", evidence) == ["Anna Keller"]


def test_says_what_is_wrong() -> None:
    [fault] = value_faults("It takes 30 days.", ["It takes 45 days."])
    assert fault.reason == 'the documents do not have "30 days"'
    [fault] = value_faults("It takes 45 hours.", ["It takes 45 days."])
    assert fault.reason == 'the documents have "45 hours" with another unit'
    [fault] = value_faults("31 August 2026 is a Tuesday.", ["It ends on 31 August 2026."])
    assert fault.reason == '"31 August 2026" is not a Tuesday'


def test_has_no_fault_without_values() -> None:
    assert value_faults("No, it does not.", [HANDBOOK]) == ()
    assert value_faults("You must ask first.", []) == ()


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("Over the period it used 124,050 kWh.", "| July | 41,200 | … | August | 38,750 | … | September | 44,100 |"),
        ("The other 12 % came on foot.", "61 % came by bus and 27 % by car"),
        ("It follows on 18 November 2025.", "Release 2.14: 21 October 2025; the next four weeks later"),
        ("Sales were €272,500 higher.", "| Alemania | 685.000 | … | Francia | 412.500 |"),
    ],
)
def test_joins_values_of_the_words_a_claim_rests_on(claim: str, words: str) -> None:
    assert faults(claim, words, words=(words,)) == []


@pytest.mark.parametrize(
    ("claim", "words", "wrong"),
    [
        ("It takes 14 days.", "It takes 30 days.", ["14 days"]),
        ("It takes 30 days, and 14 days for a parcel.", "It takes 30 days", []),  # the words are quoted in part
        ("The letter to the team is by Imogen Castle.", "The letter is by Cosimo Ardent.", ["Imogen Castle"]),
        ("It costs 60 euros.", "The price list says it.", []),
        ("Together that is 44 days.", "It takes 30 days, then 14 days more.", []),
    ],
)
def test_finds_values_that_the_words_have_otherwise(claim: str, words: str, wrong: list[str]) -> None:
    evidence = [words, "A parcel takes 14 days. Imogen Castle writes letters."]
    assert [fault.text for fault in exchanged_values(claim, words, evidence)] == wrong
