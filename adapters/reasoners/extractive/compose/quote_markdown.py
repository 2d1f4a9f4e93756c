"""Quotes as Markdown below their sources: sentences as a paragraph, lists as lists, tables with a header.

``selection`` chooses the quotes. Every sentence that states something has the id of its evidence.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.model.evidence import Evidence
from core.model.markdown_lines import LIST_ITEM, without_links
from core.model.passage_units import Form, Unit, heading_over, units
from core.model.text import content_words, sentences

_LONG = 600  # characters of one sentence, item or row; longer ones are not prose and are cut
_LONG_CODE = 2_400  # characters; a longer code block is mentioned, not shown
BARE_ANSWER = re.compile(r"^(?:yes|no|not yet|only partly)[.,!]?$", re.IGNORECASE)
_RELEASE = re.compile(r"\W*v?\d+\.\d")  # a release heading, without which "Added" below it is unclear
_CLAUSE = re.compile(r"(?<=[,;:])\s|\s(?=[–—(])")


@dataclass(frozen=True, slots=True)
class Quotation:
    """Units of one passage that are quoted together, in reading order."""

    evidence: Evidence
    units: tuple[Unit, ...]


def render(quotations: Sequence[Quotation]) -> Iterator[str]:
    """Yield the quotes below their sources, as Markdown."""
    for place, group in groupby(quotations, key=origin):
        yield f"{place}\n\n"
        led = ""
        for quotation in group:
            yield render_quotation(quotation, led)
            led = quotation.units[-1].under if quotation.units[-1].form is Form.ITEM else ""


def origin(quotation: Quotation) -> str:
    """Return the line that names the source of the quotes below."""
    passage = quotation.evidence.passage
    heading = [part for part in passage.heading if part.casefold() != passage.title.casefold()]
    if small := heading_over(quotation.units):
        heading.append(small)
    if len(heading) > 1 and _RELEASE.match(heading[-2]):
        heading[-1] = f"{heading[-2]}, {heading[-1]}"
    where = f", section {heading[-1]}" if heading else ""
    page = f", page {passage.locator.page}" if passage.locator.page is not None else ""
    return f"From *{passage.title}*{where}{page}:"


def render_quotation(quotation: Quotation, before: str = "") -> str:
    """Return one passage's quotes with its marker: sentences as a block quote, lists and tables in their own form.

    ``before`` is the introduction of the list right above, which continues here.
    """
    mark = f"[{quotation.evidence.id}]"
    parts: list[str] = []
    for (form, _), group in groupby(quotation.units, key=lambda unit: (unit.form, unit.head)):
        members = list(group)
        if form is Form.ROW:
            parts.append("\n".join((*members[0].head, *(_mark_row(unit.text, mark) for unit in members))))
        elif form is Form.ITEM:
            parts.append(_list_lines(members, mark, before))
        elif form is Form.CODE:
            parts.extend(_code(unit, mark) for unit in members)
        else:
            everything = units(quotation.evidence.passage.text)
            runs = (list(run) for _, run in groupby(members, key=lambda unit: unit.block))
            parts.append("\n>\n".join(f"> {_paragraph(run, everything, mark)}" for run in runs))
        before = members[-1].text
    return "\n\n".join(parts) + "\n\n"


def _paragraph(members: Sequence[Unit], everything: Sequence[Unit], mark: str) -> str:
    """Join sentences of one paragraph, with an ellipsis for omitted sentences."""
    said = ""
    for at, unit in enumerate(members):
        adjoining = at == 0 or everything.index(unit) == everything.index(members[at - 1]) + 1
        marked = f"{shorten(unit.text)} {mark}" if _states(unit.text) else unit.text
        said = f"{said}{' ' if adjoining else ' … '}{marked}"
    return said.strip()


def _states(text: str) -> bool:
    """Return whether a sentence states something, unlike a question or a bare yes or no."""
    return not text.rstrip('*_"”’ ').endswith("?") and bool(content_words(text)) and not BARE_ANSWER.match(text)


def _list_lines(members: Sequence[Unit], mark: str, before: str) -> str:
    """Return the items below their introduction, unless that is quoted right before."""
    lead = members[0].under
    items = "\n".join(_item(unit, mark) for unit in members)
    return f"{lead}\n\n{items}" if lead != before and lead.rstrip("*_ ").endswith(":") else items


def _item(unit: Unit, mark: str) -> str:
    """Return a list item with a marker after each sentence, because each is a claim."""
    text = shorten(unit.text)
    bullet = LIST_ITEM.match(text)
    start = bullet.end() if bullet else 0
    return text[:start] + " ".join(f"{sentence} {mark}" for sentence in sentences(text[start:]))


def _mark_row(row: str, mark: str) -> str:
    """Put a marker in the row's last cell, so that the table stays valid."""
    bare = row.rstrip()
    return f"{bare[:-1].rstrip()} {mark} |" if bare.endswith("|") else f"{bare} {mark}"


def _code(unit: Unit, mark: str) -> str:
    """Return a whole code block, or mention it if it is too long."""
    if len(unit.text) <= _LONG_CODE:
        return f"{unit.text}\n\n(as in {mark})"
    return f"There is a listing of {len(unit.text.splitlines())} lines in {mark}."


def shorten(text: str) -> str:
    """Cut a very long text at a full stop, a comma or a word, but never within a link."""
    if len(without_links(text)) <= _LONG:
        return text  # with its links, which ``answer_links`` filters later
    text = without_links(text)
    kept = ""
    for sentence in sentences(text):
        if len(kept) + len(sentence) + 1 > _LONG:
            break
        kept = f"{kept} {sentence}".strip()
    if kept:
        return kept
    ends = [gap.start() for gap in _CLAUSE.finditer(text, 0, _LONG)]
    return f"{text[: max(ends)] if ends and max(ends) > _LONG // 2 else text[:_LONG].rsplit(' ', 1)[0]} …"
