"""PPTX: one block per slide with its title, text, tables, chart data, alternative texts, notes and comments.

The notes list what is left out (hidden slides, images without alternative text, media, embedded files).
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any

from adapters.documents.format import Format
from adapters.documents.number_format import shown_number
from adapters.documents.tables import table
from adapters.documents.titles import choose_title, iso_date, with_address
from adapters.documents.zip_package import is_office_xml, open_transitional, xml
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
MAX_SLIDES = 3_000
MAX_DEPTH = 20
MAX_SERIES = 50
MAX_COMMENTS = 20_000
"""Maximum elements of a slide's comments."""

MAX_CATEGORIES = 500
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_FURNITURE = ("DATE", "FOOTER", "SLIDE_NUMBER", "HEADER")


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the slides in order; hidden ones are left out and named in the notes."""
    deck = _open(open_transitional(data))
    authors = _comment_authors(deck)
    footers: set[str] = set()
    blocks, hidden = [], []
    for number, slide in enumerate(deck.slides, 1):
        if number > MAX_SLIDES:
            break
        if slide.element.get("show") == "0":
            hidden.append(number)
        elif text := "\n\n".join(filter(None, (_slide(slide, number), *_beside(slide, authors, footers)))):
            blocks.append(Block(text, page=number, label=f"slide {number}"))
    if not blocks:
        raise NoText("This presentation has no text on its slides.")
    facts = deck.core_properties
    return ParsedDocument(
        title=choose_title(name, facts.title, _first_title(blocks)),
        blocks=tuple(blocks),
        media_type=MEDIA_TYPE,
        modified=iso_date(facts.modified),
        notes=tuple(_left_out(deck, hidden)),
    )


def _left_out(deck: Any, hidden: list[int]) -> Iterator[str]:
    """Yield notes on slide content that is not read."""
    if hidden:
        yield f"hidden slides left out: {', '.join(map(str, hidden[:20]))}"
    shown = [slide for slide in islice(deck.slides, MAX_SLIDES) if slide.element.get("show") != "0"]
    pictures = sum(not _alt(shape) for slide in shown for shape in slide.shapes if _local(shape.element) == "pic")
    if pictures:
        yield f"pictures without an alternative text not read: {pictures}"
    kinds = [relation.reltype.rpartition("/")[2] for slide in shown for relation in slide.part.rels.values()]
    for kind, name in (("video", "videos"), ("audio", "sounds"), ("oleObject", "embedded objects")):
        if count := kinds.count(kind):
            yield f"{name} not read: {count}"


def _first_title(blocks: list[Block]) -> str | None:
    first = blocks[0].text.split("\n", 1)[0].lstrip("# ")
    return None if re.fullmatch(r"Slide \d+", first) else first


def _open(data: bytes) -> Any:
    import pptx
    from pptx.exc import PackageNotFoundError

    try:
        return pptx.Presentation(BytesIO(data))
    except (PackageNotFoundError, KeyError, ValueError, SyntaxError, AttributeError) as error:
        raise DocumentRejected("This presentation is damaged and cannot be opened.", remedy="Save it again.") from error


def _slide(slide: Any, number: int) -> str:
    """Return a slide's Markdown, '' if it has no text."""
    title = slide.shapes.title
    heading = _one_line(title.text_frame.text) if title is not None and title.has_text_frame else ""
    pieces = [text for shape in _in_order(slide.shapes) if shape != title for text in _shape(shape) if text.strip()]
    if notes := _notes(slide):
        pieces.append(f"Speaker notes: {notes}")
    if not heading and not pieces:
        return ""
    return "\n\n".join([f"## {heading or f'Slide {number}'}", *pieces])


def _beside(slide: Any, authors: dict[str, str], footers: set[str]) -> Iterator[str]:
    """Yield text beside the slide: reviewers' comments, and a footer that no earlier slide had."""
    for shape in slide.shapes:
        if _is_furniture(shape) and "FOOTER" in str(shape.placeholder_format.type) and shape.has_text_frame:
            text = _one_line(shape.text_frame.text)
            if text and text not in footers:
                footers.add(text)
                yield f"Slide footer: {text}"
    for relation in slide.part.rels.values():
        if not relation.is_external and relation.reltype.endswith("/comments"):
            yield from _comments(xml(relation.target_part.blob), authors)


def _comments(root: "Element", authors: dict[str, str]) -> Iterator[str]:
    """Yield comments and replies, legacy and modern, marked to separate them from the slide's own text."""
    for comment in islice(root.iter(), MAX_COMMENTS):
        if _local(comment) not in ("cm", "reply"):
            continue
        own = [child for child in comment if _local(child) in ("text", "txBody")]
        text = _one_line(" ".join(piece.text or "" for child in own for piece in child.iter()))
        author = authors.get(comment.get("authorId", ""), "")
        what = "Reply" if _local(comment) == "reply" else "Comment"
        if text:
            yield f"[{what}{f' by {author}' if author else ''}: {text}]"


def _comment_authors(deck: Any) -> dict[str, str]:
    """Return the names of comment authors by their ids."""
    parts = (
        relation.target_part
        for relation in deck.part.rels.values()
        if not relation.is_external and relation.reltype.endswith(("/commentAuthors", "/authors"))
    )
    people = (person for part in parts for person in xml(part.blob).iter())
    return {person.get("id", ""): person.get("name", "") for person in people if person.get("name")}


def _local(element: "Element") -> str:
    return str(element.tag).rpartition("}")[2]


def _notes(slide: Any) -> str:
    """Return the text of the notes page, from its notes field or from text boxes."""
    if not slide.has_notes_slide:
        return ""
    page = slide.notes_slide
    frames = [page.notes_text_frame]
    if frames == [None]:
        frames = [shape.text_frame for shape in page.shapes if shape.has_text_frame and not _is_furniture(shape)]
    lines = (_one_line(line) for frame in frames if frame is not None for line in frame.text.splitlines())
    return "\n".join(line for line in lines if line)


def _in_order(shapes: Iterable[Any]) -> list[Any]:
    """Return shapes from top to bottom, then left to right; one without a position follows the previous one."""
    placed: list[tuple[tuple[int, int], Any]] = []
    last = (0, 0)
    for shape in shapes:
        top, left = shape.top, shape.left
        if top is not None:
            last = (round(top / 360_000), left or 0)  # EMU: rows of 1 cm
        placed.append((last, shape))
    return [shape for _, shape in sorted(placed, key=lambda pair: pair[0])]


def _shape(shape: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts of a shape and of its grouped shapes."""
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
            yield with_address(text, _leads_to(shape)) if "\n" not in text else text
    elif diagram := _diagram(shape):
        yield diagram
    elif alt := _alt(shape):
        yield alt


def _is_furniture(shape: Any) -> bool:
    return shape.is_placeholder and any(word in str(shape.placeholder_format.type) for word in _FURNITURE)


def _paragraphs(frame: Any) -> str:
    """Return several paragraphs as list items by level, or a single one as text."""
    lines = [(paragraph.level, _one_line(_with_links(paragraph))) for paragraph in frame.paragraphs]
    lines = [(level, text) for level, text in lines if text]
    if len(lines) == 1:
        return re.sub(r"^(#+\s)", r"\\\1", lines[0][1])
    return "\n".join(f"{'  ' * level}- {text}" for level, text in lines)


def _with_links(paragraph: Any) -> str:
    """Return a paragraph's text with link addresses; a line break becomes a space."""
    addresses = {id(run._r): _address(run.hyperlink) for run in paragraph.runs}  # noqa: SLF001 - the run's own element
    pieces = []
    for child in paragraph._p:  # noqa: SLF001 - python-pptx lists runs without the breaks and fields between them
        if _local(child) in ("r", "fld"):
            text = "".join(piece.text or "" for piece in child.iter(f"{_DRAWING}t"))
            pieces.append(with_address(text, addresses.get(id(child))))
        elif _local(child) == "br":
            pieces.append(" ")
    return "".join(pieces)


def _leads_to(shape: Any) -> str | None:
    """Return the link target of a click on a shape."""
    with suppress(TypeError, KeyError, AttributeError, ValueError):
        return _address(shape.click_action.hyperlink)
    return None


def _address(link: Any) -> str | None:
    """Return the address of a link, or None if its relation is missing."""
    with suppress(KeyError, AttributeError, ValueError):
        return str(link.address) if link.address else None
    return None


def _cells(grid: Any) -> list[list[str]]:
    return [["" if cell.is_spanned else _cell(cell) for cell in row.cells] for row in grid.rows]


def _cell(cell: Any) -> str:
    return _one_line(" ".join(_with_links(paragraph) for paragraph in cell.text_frame.paragraphs))


def _chart(chart: Any) -> Iterator[str]:
    """Yield a chart as one table per plot."""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield f"Chart: {_one_line(chart.chart_title.text_frame.text)}"
    try:
        plots = list(chart.plots)[:10]
    except (IndexError, KeyError, ValueError, AttributeError, TypeError, NotImplementedError):
        return  # python-pptx does not support this kind of chart, so only its title is read
    for plot in plots:
        with suppress(IndexError, KeyError, ValueError, AttributeError, TypeError, NotImplementedError):
            if rows := _plot_rows(plot):
                yield table(rows)


def _plot_rows(plot: Any) -> list[list[str]]:
    """Return a plot's rows: a category and its value in each series; for scatter plots the series, x and y."""
    series = list(plot.series)[:MAX_SERIES]
    names = [" ".join(map(str, labels)) for labels in plot.categories.flattened_labels][:MAX_CATEGORIES]
    if names:
        rows = [[name, *(_number(one.values, i) for one in series)] for i, name in enumerate(names)]
        return [["", *(str(one.name) for one in series)], *rows]
    points = [
        [str(one.name), *(_point(one, axis, i) for axis in ("xVal", "yVal", "bubbleSize"))]
        for one in series
        for i in range(min(len(list(one.values)), MAX_CATEGORIES))
    ]
    width = 4 if any(point[3] for point in points) else 3
    return [row[:width] for row in [["Series", "x", "y", "size"], *points]] if points else []


def _point(series: Any, axis: str, index: int) -> str:
    """Return a coordinate of a point in a scatter or bubble chart from the file."""
    for point in series._element.iterfind(f"{_CHART}{axis}//{_CHART}pt"):  # noqa: SLF001 - python-pptx reads y alone
        if point.get("idx") == str(index):
            text = str(point.findtext(f"{_CHART}v") or "")
            return shown_number(float(text), None) if re.fullmatch(r"[-+.\deE]+", text) else text
    return ""


def _number(values: Any, index: int) -> str:
    value = values[index] if index < len(values) else None
    return "" if value is None else shown_number(value, None)


def _diagram(shape: Any) -> str:
    """Return the text of a diagram (SmartArt), which is in a separate part, as a list."""
    data = shape.element.find(f".//{_DIAGRAM}relIds")
    identifier = data.get(f"{_RELATIONS}dm") if data is not None else None
    if identifier is None or identifier not in shape.part.rels:
        return ""
    root = xml(shape.part.related_part(identifier).blob)
    points = root.iterfind(f"{_DIAGRAM}ptLst/{_DIAGRAM}pt")
    texts = (_one_line("".join(piece.text or "" for piece in point.iter(f"{_DRAWING}t"))) for point in points)
    return "\n".join(f"- {text}" for text in texts if text)


def _alt(shape: Any) -> str:
    """Return an image's alternative text if a person wrote it."""
    for element in shape.element.iter():
        if str(element.tag).endswith("}cNvPr"):
            alt = _one_line(element.get("descr") or "")
            alt = alt.removesuffix("AI-generated content may be incorrect.").strip()
            written = len(alt) > 2 and not re.fullmatch(r"[\w .-]+\.\w{3,4}", alt)
            return f"[Image: {alt}]" if written else ""
    return ""


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


FORMATS = (
    Format(
        media_type=MEDIA_TYPE,
        read=read,
        label="PPTX",
        suffixes=("pptx",),
        promises="PowerPoint file",
        in_package=lambda package: is_office_xml(package, "ppt/"),
        not_a_title=r"powerpoint[ ]presentation|presentation\d*|slide[ ]?\d*|microsoft[ ]powerpoint\b.*|.*\.pptx?",
    ),
)
