"""iCalendar: each event, task and note with time, place and people. Invitations in mails use the same code."""

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from adapters.documents.encodings import decode
from adapters.documents.format import Format
from adapters.documents.titles import choose_title, escape_hash, iso_date, safe_link
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

MAX_EVENTS = 20_000
MAX_INVITED = 50
_KINDS = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Note"}
_DAYS = {"MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
         "SU": "Sunday"}  # fmt: skip
_EVERY = {"YEARLY": "year", "MONTHLY": "month", "WEEKLY": "week", "DAILY": "day", "HOURLY": "hour"}
_ORDER = {"1": "first", "2": "second", "3": "third", "4": "fourth", "-1": "last"}


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the calendar's entries in order, each under its title."""
    calendars = _calendars(data)
    blocks = [Block(text, label=label) for calendar in calendars for label, text in _entries(calendar)]
    if not blocks:
        raise NoText("There are no entries in this calendar.")
    return ParsedDocument(
        title=choose_title(name, *(_text(calendar, key) for calendar in calendars for key in ("X-WR-CALNAME", "NAME"))),
        blocks=tuple(blocks),
        media_type="text/calendar",
        notes=(f"only the first {MAX_EVENTS:,} entries were read",) if len(blocks) >= MAX_EVENTS else (),
    )


def invitation(data: bytes) -> str:
    """Return the text of an invitation in a mail, or "" if it cannot be read."""
    try:
        return "\n\n".join(text for calendar in _calendars(data) for _, text in _entries(calendar))
    except DocumentRejected:
        return ""


def _calendars(data: bytes) -> list[Any]:
    from icalendar import Calendar

    text = decode(data).lstrip("\ufeff\n ")
    ends = text.rfind("END:VCALENDAR")
    whole = text[: ends + 13] if ends >= 0 else f"{text}\nEND:VCALENDAR"
    try:
        return Calendar.from_ical(whole, multiple=True)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise DocumentRejected("This calendar is damaged and cannot be read.", remedy="Export it again.") from error


def _entries(calendar: Any) -> Iterator[tuple[str, str]]:
    """Yield (label, Markdown) of each entry of a calendar."""
    count = 0
    for entry in calendar.walk():
        if entry.name not in _KINDS or count >= MAX_EVENTS:
            continue
        count += 1
        title = _text(entry, "SUMMARY") or _KINDS[entry.name]
        facts = [f"- {label}: {text}" for label, text in _facts(calendar, entry) if text]
        said = escape_hash(_text(entry, "DESCRIPTION", lines=True))
        yield f"{title}, {_day(entry)}".rstrip(", "), "\n\n".join(filter(None, (f"## {title}", "\n".join(facts), said)))


def _facts(calendar: Any, entry: Any) -> Iterator[tuple[str, str]]:
    method = _text(calendar, "METHOD").upper()
    if method == "CANCEL" or _text(entry, "STATUS").upper() == "CANCELLED":
        yield "Status", "cancelled"
    yield "When", _when(entry)
    yield "Due", _moment(_value(entry, "DUE"))
    yield "Repeats", _repeats(entry)
    yield "Where", _text(entry, "LOCATION")
    yield "Organizer", _person(entry.get("ORGANIZER"))
    invited = entry.get("ATTENDEE") or []
    people = [_person(one) for one in (invited if isinstance(invited, list) else [invited])]
    more = f" and {len(people) - MAX_INVITED} more" if len(people) > MAX_INVITED else ""
    yield ("Answered" if method == "REPLY" else "Invited"), ", ".join(filter(None, people[:MAX_INVITED])) + more
    yield "Link", safe_link(_text(entry, "URL")) or ""


def _when(entry: Any) -> str:
    """Return start and end with weekdays; for whole days, the last day instead of iCalendar's exclusive end."""
    start, end = _value(entry, "DTSTART"), _value(entry, "DTEND")
    if start is None:
        return ""
    length = _value(entry, "DURATION")
    if end is None and isinstance(length, timedelta):
        end = start + length
    if not isinstance(start, datetime):
        last = end - timedelta(days=1) if isinstance(end, date) and not isinstance(end, datetime) else start
        return _moment(start) if last <= start else f"{_moment(start)} to {_moment(last)}"
    if not isinstance(end, datetime):
        return _moment(start)
    same_day = start.date() == end.date() and start.tzinfo == end.tzinfo
    return (
        f"{_moment(start, zone=not same_day)}–{end:%H:%M} {_zone(start)}".rstrip()
        if same_day
        else (f"{_moment(start)} to {_moment(end)}")
    )


def _moment(value: Any, *, zone: bool = True) -> str:
    if isinstance(value, datetime):
        return f"{value:%A}, {value:%Y-%m-%d %H:%M}{f' {_zone(value)}' if zone and _zone(value) else ''}"
    return f"{value:%A}, {value:%Y-%m-%d}" if isinstance(value, date) else ""


def _zone(moment: datetime) -> str:
    return str(getattr(moment.tzinfo, "key", None) or moment.tzname() or "")


def _day(entry: Any) -> str:
    start = _value(entry, "DTSTART")
    return f"{start:%Y-%m-%d}" if isinstance(start, date) else iso_date(_text(entry, "DTSTAMP")) or ""


def _repeats(entry: Any) -> str:
    """Return a recurrence rule in words; unusual parts stay as they are."""
    rule = entry.get("RRULE")
    rule = rule[0] if isinstance(rule, list) and rule else rule
    if not isinstance(rule, dict):
        return ""
    parts = {str(key).upper(): value if isinstance(value, list) else [value] for key, value in rule.items()}
    often = str(parts.get("FREQ", [""])[0]).upper()
    each, unit = str(parts.get("INTERVAL", [1])[0]), _EVERY.get(often, often.lower())
    said = f"every {unit}" if each == "1" else f"every {each} {unit}s"
    if days := parts.get("BYDAY"):
        said += f" on {', '.join(map(_weekday, map(str, days)))}"
    if days := parts.get("BYMONTHDAY"):
        said += f" on day {', '.join(map(str, days))}"
    if until := parts.get("UNTIL"):
        said += f" until {until[0]:%Y-%m-%d}" if isinstance(until[0], date) else ""
    if times := parts.get("COUNT"):
        said += f", {times[0]} times"
    return said


def _weekday(code: str) -> str:
    match = re.fullmatch(r"([+-]?\d)?([A-Z]{2})", code.strip().upper())
    if not match or match[2] not in _DAYS:
        return code
    order = _ORDER.get((match[1] or "").lstrip("+"), "")
    return f"the {order} {_DAYS[match[2]]}" if order else _DAYS[match[2]]


def _person(value: Any) -> str:
    """Return a name with its address and its answer."""
    if value is None:
        return ""
    address = re.sub(r"(?i)^mailto:", "", str(value)).strip()
    params = getattr(value, "params", {})
    name, answer = str(params.get("CN", "")).strip('" '), str(params.get("PARTSTAT", "")).lower()
    who = f"{name} <{address}>" if name and name != address and "@" in address else name or address
    return f"{who} ({answer})" if answer in ("accepted", "declined", "tentative") else who


def _value(entry: Any, name: str) -> Any:
    value = entry.get(name)
    value = value[0] if isinstance(value, list) and value else value
    return getattr(value, "dt", None)


def _text(entry: Any, name: str, *, lines: bool = False) -> str:
    value = entry.get(name)
    value = value[0] if isinstance(value, list) and value else value
    text = "" if value is None else str(value)
    return re.sub(r"\n{3,}", "\n\n", text).strip() if lines else re.sub(r"\s+", " ", text).strip()


FORMATS = (
    Format(
        media_type="text/calendar",
        read=read,
        label="calendars",
        suffixes=("ics", "ical", "ifb"),
        in_text=lambda known, head: (
            known in (None, "text/plain") and head.lstrip("\ufeff \n").upper().startswith("BEGIN:VCALENDAR")
        ),
        rank=1,
    ),
)
