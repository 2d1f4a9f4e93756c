"""PPTX: one block per slide with its title, text, tables, chart data, alternative texts and speaker notes."""

import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

from adapters.documents.tables import table
from adapters.documents.titles import choose_title, iso_date
from adapters.documents.zip_package import open_package, refuse_declared_entities
from core.model.errors import DocumentRejected
from core.model.parsed_document import Block, Parsed

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
MAX_SLIDES = 3_000
MAX_DEPTH = 20
_FURNITURE = ("DATE", "FOOTER", "SLIDE_NUMBER", "HEADER")


def read(name: str, data: bytes) -> Parsed:
    """Slides in order, hidden ones left out and named in the notes."""
    with open_package(data) as package:
        refuse_declared_entities(package)
    deck = _opened(data)
    blocks, hidden = [], []
    for number, slide in enumerate(deck.slides, 1):
        if number > MAX_SLIDES:
            break
        if slide.element.get("show") == "0":
            hidden.append(number)
        elif text := _slide(slide, number):
            blocks.append(Block(text, page=number, label=f"slide {number}"))
    if not blocks:
        raise DocumentRejected("This presentation has no text on its slides.")
    facts = deck.core_properties
    return Parsed(
        title=choose_title(name, facts.title, _first_title(blocks)),
        blocks=tuple(blocks),
        media_type=MEDIA_TYPE,
        modified=iso_date(facts.modified),
        notes=(f"hidden slides left out: {', '.join(map(str, hidden[:20]))}",) if hidden else (),
    )


def _first_title(blocks: list[Block]) -> str | None:
    first = blocks[0].text.split("\n", 1)[0].lstrip("# ")
    return None if re.fullmatch(r"Slide \d+", first) else first


def _opened(data: bytes) -> Any:
    import pptx
    from pptx.exc import PackageNotFoundError

    try:
        return pptx.Presentation(BytesIO(data))
    except (PackageNotFoundError, KeyError, ValueError, SyntaxError, AttributeError) as error:
        raise DocumentRejected("This presentation is damaged and cannot be opened.", remedy="Save it again.") from error


def _slide(slide: Any, number: int) -> str:
    """A slide's Markdown, '' when nothing is written on it."""
    title = slide.shapes.title
    heading = _one_line(title.text_frame.text) if title is not None and title.has_text_frame else ""
    pieces = [text for shape in _in_order(slide.shapes) if shape != title for text in _shape(shape) if text.strip()]
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        notes = "\n".join(_one_line(line) for line in frame.text.splitlines() if line.strip())
        pieces += [f"Speaker notes: {notes}"] if notes else []
    if not heading and not pieces:
        return ""
    return "\n\n".join([f"## {heading or f'Slide {number}'}", *pieces])


def _in_order(shapes: Iterable[Any]) -> list[Any]:
    """Shapes as they are read: from top to bottom, then left to right; those without a place keep theirs."""
    listed = list(shapes)
    if any(shape.top is None for shape in listed):
        return listed
    return sorted(listed, key=lambda shape: (round(shape.top / 360_000), shape.left or 0))  # EMU: 1 cm rows


def _shape(shape: Any, depth: int = 0) -> Iterator[str]:
    """The texts of a shape, and of those grouped in it."""
    if depth > MAX_DEPTH or _is_furniture(shape):
        return
    if hasattr(shape, "shapes"):
        for inner in _in_order(shape.shapes):
            yield from _shape(inner, depth + 1)
    elif getattr(shape, "has_table", False):
        yield table(_cells(shape.table))
    elif getattr(shape, "has_chart", False):
        yield from _chart(shape.chart)
    elif shape.has_text_frame:
        if text := _paragraphs(shape.text_frame):
            yield text
    elif alt := _alt(shape):
        yield alt


def _is_furniture(shape: Any) -> bool:
    return shape.is_placeholder and any(word in str(shape.placeholder_format.type) for word in _FURNITURE)


def _paragraphs(frame: Any) -> str:
    """Several paragraphs become list items by their level, a single one a sentence."""
    lines = [(paragraph.level, _one_line(paragraph.text)) for paragraph in frame.paragraphs]
    lines = [(level, text) for level, text in lines if text]
    if len(lines) == 1:
        return re.sub(r"^(#+\s)", r"\\\1", lines[0][1])
    return "\n".join(f"{'  ' * level}- {text}" for level, text in lines)


def _cells(grid: Any) -> list[list[str]]:
    return [["" if cell.is_spanned else _one_line(cell.text_frame.text) for cell in row.cells] for row in grid.rows]


def _chart(chart: Any) -> Iterator[str]:
    """A chart as the table behind it."""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield f"Chart: {_one_line(chart.chart_title.text_frame.text)}"
    try:
        plot = chart.plots[0]
        series = list(plot.series)[:50]
        names = [str(category) for category in plot.categories][:500]
        rows = [[name, *(_number(one.values, i) for one in series)] for i, name in enumerate(names)]
        if rows:
            yield table([["", *(str(one.name) for one in series)], *rows])
    except (IndexError, KeyError, ValueError, AttributeError, TypeError, NotImplementedError):
        return  # a kind of chart that python-pptx does not know: its title has to do


def _number(values: Any, index: int) -> str:
    value = values[index] if index < len(values) else None
    return "" if value is None else f"{value:g}"


def _alt(shape: Any) -> str:
    """A picture's alternative text, where a person wrote one."""
    for element in shape.element.iter():
        if str(element.tag).endswith("}cNvPr"):
            alt = _one_line(element.get("descr") or "")
            alt = alt.removesuffix("AI-generated content may be incorrect.").strip()
            written = len(alt) > 2 and not re.fullmatch(r"[\w .-]+\.\w{3,4}", alt)
            return f"[Image: {alt}]" if written else ""
    return ""


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
