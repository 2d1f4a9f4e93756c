"""Kinds of value, and the words for units, months, weekdays and clock times in English, German, French and Spanish."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

YearMonthDay = tuple[int | None, int | None, int | None]


class Kind(StrEnum):
    """Kinds of hard facts."""

    NUMBER = "number"
    MONEY = "money"
    PERCENT = "percent"
    DATE = "date"
    TIME = "time"
    WEEKDAY = "weekday"
    DURATION = "duration"
    QUANTITY = "quantity"
    VERSION = "version"
    CODE = "code"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Value:
    """A hard fact in a text.

    ``numbers`` are the possible readings of the number as written: "2.700" may be 2700 or 2.7. ``amounts`` are the same
    in the base unit (seconds or months, grams, euros); a time is in minutes since midnight. ``step`` is the weight of
    the last digit written, in base units. ``dates`` are the possible readings of a date, whose year or day may be
    missing. ``key`` is the text by which weekdays, names, versions and codes are compared. ``loose`` marks wording such
    as "a day" or "half", which supports a claim but is not a hard fact in one. ``about``: a word like "roughly" comes
    before it. ``counts``: a noun that is not a unit follows, such as people or seats.
    """

    kind: Kind
    text: str
    start: int
    end: int
    numbers: tuple[Fraction, ...] = ()
    unit: str = ""
    factor: Fraction = Fraction(1)
    step: Fraction = Fraction(1)
    dates: tuple[YearMonthDay, ...] = ()
    key: str = ""
    loose: bool = False
    about: bool = False
    counts: bool = False
    amounts: tuple[Fraction, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "amounts", tuple(number * self.factor for number in self.numbers))


@dataclass(frozen=True, slots=True)
class UnitOfMeasure:
    """A unit: its base unit, and how many base units it equals."""

    kind: Kind
    base: str
    factor: Fraction


_UNITS = {
    Kind.DURATION: """
        second 1/1000: ms msec millisecond milliseconds millisekunde millisekunden milliseconde millisecondes
            milisegundo milisegundos
        second 1: s sec secs second seconds sek sekunde sekunden seconde secondes segundo segundos
        second 60: min mins minute minutes minuten minuto minutos
        second 3600: h hr hrs hour hours std stunde stunden heure heures hora horas
        second 86400: d day days tag tage tagen tages jour jours journée journées día días dia dias werktag
            werktage werktagen arbeitstag arbeitstage arbeitstagen kalendertag kalendertage kalendertagen
            urlaubstag urlaubstage urlaubstagen
        second 604800: week weeks wk wks woche wochen semaine semaines semana semanas
        second 1209600: fortnight fortnights
        month 1: month months monat monate monaten monats mois mes meses
        month 3: quarter quarters quartal quartale quartalen trimestre trimestres
        month 6: halbjahr semestre semestres
        month 12: year years yr yrs jahr jahre jahren jahres ans année années anual año años
        month 120: decade decades jahrzehnt jahrzehnte jahrzehnten décennie décennies década décadas""",
    Kind.MONEY: """
        euro 1: € eur euro euros
        euro 1/100: cent cents centime centimes céntimo céntimos
        dollar 1: $ us$ usd dollar dollars dólar dólares
        pound 1: £ gbp pound pounds pfund livre livres libra libras
        franc 1: chf franc francs franken
        yen 1: ¥ jpy yen
        krona 1: nok dkk krona kronor krone kroner kronen
        rupee 1: ₹ inr rupee rupees
        real 1: brl r$""",
    Kind.PERCENT: "percent 1: % percent pct prozent percentage prozentpunkt prozentpunkte prozentpunkten",
    Kind.QUANTITY: """
        byte 1: byte bytes octet octets
        byte 1000: kb ko kilobyte kilobytes
        byte 1000000: mb mo megabyte megabytes
        byte 1000000000: gb gigabyte gigabytes
        byte 1000000000000: tb terabyte terabytes
        byte 1024: kib
        byte 1048576: mib
        byte 1073741824: gib
        bit 1000000: mbit mbps
        bit 1000000000: gbit gbps
        metre 1/1000: mm millimetre millimetres millimeter millimeters milímetros millimètres
        metre 1/100: cm centimetre centimetres centimeter centimeters zentimeter centímetros centimètres
        metre 1: m metre metres meter meters metern mètre mètres metro metros
        metre 1000: km kms kilometre kilometres kilometer kilometers kilometern kilomètre kilomètres kilómetro
            kilómetros
        metre 1609344/1000: mile miles meile meilen milla millas
        metre 3048/10000: ft foot feet
        area 1: m² sqm m2 qm
        gram 1/1000: mg milligram milligrams milligramm
        gram 1: g gram grams gramm gramme grammes gramo gramos
        gram 1000: kg kgs kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo kilogramos
        gram 1000000: t tonne tonnes ton tons tonnen tonelada toneladas
        gram 45359237/100000: lb lbs
        litre 1/1000: ml millilitre millilitres milliliter milliliters
        litre 1: l litre litres liter liters litro litros
        celsius 1: °c celsius
        fahrenheit 1: °f fahrenheit
        watthour 1000: kwh
        watthour 1000000: mwh
        watt 1: w watt watts
        watt 1000: kw
        volt 1: v volt volts
        hertz 1000000: mhz
        hertz 1000000000: ghz""",
}
_ENTRY = re.compile(r"([a-z]+) ([\d/]+): ([^:]+)(?=\s[a-z]+ [\d/]+:|$)")
UNITS = {
    word: UnitOfMeasure(kind, base, Fraction(factor))
    for kind, table in _UNITS.items()
    for base, factor, listed in _ENTRY.findall(table)
    for word in listed.split()
}
# Number words after digits. "m" and "M" mean a million only after a currency.
SCALES = {
    word: factor
    for factor, listed in {
        1_000: "k K thousand tsd Tsd tausend Tausend mille mil",
        1_000_000: "mn mio Mio million millions Million Millionen millón millones",
        1_000_000_000: "bn mrd Mrd billion billions Milliarde Milliarden milliard milliards",
    }.items()
    for word in listed.split()
}

_MONTHS = """january jan januar jänner janvier janv enero ene|february feb februar février févr fevrier febrero
march mar märz maerz mrz mars marzo|april apr avril avr abril abr|may mai mayo|june jun juni juin junio
july jul juli juillet juil julio|august aug août aout agosto|september sep sept septembre septiembre setiembre
october oct oktober okt octobre octubre|november nov novembre noviembre
december dec dezember dez décembre déc decembre diciembre dic"""
MONTHS = {word: at for at, names in enumerate(re.split(r"[|\n]", _MONTHS), 1) for word in names.split()}
_WEEKDAYS = """monday mondays montag montags lundi lundis lunes|tuesday tuesdays dienstag dienstags mardi mardis martes
wednesday wednesdays mittwoch mittwochs mercredi mercredis miércoles miercoles
thursday thursdays donnerstag donnerstags jeudi jeudis jueves
friday fridays freitag freitags vendredi vendredis viernes
saturday saturdays samstag samstags sonnabend samedi samedis sábado sábados
sunday sundays sonntag sonntags dimanche dimanches domingo domingos"""
WEEKDAYS = {word: at for at, names in enumerate(re.split(r"[|\n]", _WEEKDAYS)) for word in names.split()}
ABOUT = re.compile(
    r"(?i)(?:\b(?:about|around|approx(?:imately|\.)?|roughly|nearly|almost|some|over|more than|less than|under|just"
    r"|a good|rund|etwa|circa|ca\.?|ungefähr|knapp|fast|gut|über|mehr als|environ|autour de|près de|presque|plus de"
    r"|quelque|moins de|unos|unas|aproximadamente|alrededor de|cerca de|casi|más de|menos de)|[~≈≃])\s*\W{0,2}$"
)
