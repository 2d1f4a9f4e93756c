"""Images of pages: for OCR, and for people with a quote highlighted.

Runs only in the sandbox, because the bytes are untrusted. A quote is matched by its letters and digits, because spaces,
hyphens and line breaks depend on the renderer.
"""

import ctypes
import io
import re
from typing import TYPE_CHECKING, Any

from core.model.errors import DocumentRejected

if TYPE_CHECKING:
    import numpy as np
    import pypdfium2
    from PIL import Image

LONGEST_SIDE = 2_000
"""In pixels; the detector does not read larger images (rapidocr `max_side_len`)."""

SMALL_SIDE = 1_000
"""Smaller images are enlarged up to twofold: letters of a 96 dpi screen are at the detector's limit."""

MAX_PIXELS = 80_000_000


def page_count(data: bytes) -> int:
    """Return the number of pages or frames. Raises DocumentRejected if the data is not an image or PDF."""
    if b"%PDF-" in data[:1024]:
        import pypdfium2

        with pypdfium2.PdfDocument(data) as document:
            return len(document)
    with _open_image(data) as image:
        return int(getattr(image, "n_frames", 1)) if image.format == "TIFF" else 1


def page_image(data: bytes, page: int) -> "np.ndarray":
    """Return the page with this number, from 1, as RGB rows (uint8, H x W x 3).

    Raises:
        DocumentRejected: damaged, no such page, or more pixels than the limit.
    """
    return _render_page(data, page) if b"%PDF-" in data[:1024] else _frame(data, page)


def _render_page(data: bytes, page: int) -> "np.ndarray":
    import numpy as np
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(data) as document:
            shown = document[page - 1]
            scale = LONGEST_SIDE / max(*shown.get_size(), 1.0)
            drawn = shown.render(scale=min(scale, 300 / 72), rev_byteorder=True).to_numpy()
            return np.ascontiguousarray(drawn[:, :, :3])
    except (pypdfium2.PdfiumError, IndexError) as error:
        raise DocumentRejected(f"Page {page} is damaged and cannot be shown.") from error


def _frame(data: bytes, page: int) -> "np.ndarray":
    import numpy as np
    from PIL import Image, ImageOps

    with _open_image(data) as image:
        if image.width * image.height > MAX_PIXELS:
            raise DocumentRejected(
                f"This picture has {image.width} x {image.height} pixels, which is too many.",
                remedy="Make it smaller.",
            )
        try:
            image.seek(page - 1)
            upright = ImageOps.exif_transpose(image)
            opaque = Image.new("RGB", upright.size, "white")
            with_alpha = upright.convert("RGBA")
            opaque.paste(with_alpha, mask=with_alpha.getchannel("A"))
        except (EOFError, OSError, ValueError, SyntaxError) as error:
            raise DocumentRejected("This picture is damaged and cannot be read.") from error
        longest = max(opaque.size)
        factor = min(LONGEST_SIDE / longest, 2.0) if longest < SMALL_SIDE or longest > LONGEST_SIDE else 1.0
        if factor != 1.0:
            size = (max(1, round(opaque.width * factor)), max(1, round(opaque.height * factor)))
            opaque = opaque.resize(size, Image.Resampling.LANCZOS)
        return np.asarray(opaque)


def _open_image(data: bytes) -> "Image.Image":
    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP"))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise DocumentRejected("This picture is damaged and cannot be read.") from error


WIDTH = 1_400  # pixels: sharp at twice the width of the panel that shows it
MOST_PIXELS = 6_000_000
MOST_SIGNS = 40_000  # per page
SHORTEST = 12  # letters of a sentence that is worth highlighting on its own
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")

Span = tuple[int, int]


def draw(data: bytes, page: int, quote: str) -> dict[str, Any]:
    """Draw the page with this number, from 1: PNG bytes, its size, the number of pages, boxes of the quote.

    Raises:
        DocumentRejected: not a PDF, damaged, or no such page.
    """
    import pypdfium2

    if b"%PDF-" not in data[:1024]:
        raise DocumentRejected("Only pages of PDFs can be shown as pictures.")
    try:
        with pypdfium2.PdfDocument(data) as document:
            pages = len(document)
            if not 1 <= page <= pages:
                raise DocumentRejected(f"There is no page {page}. The document has {pages}.")
            return {"pages": pages} | _draw_page(document[page - 1], quote)
    except pypdfium2.PdfiumError as error:
        raise DocumentRejected(f"Page {page} is damaged and cannot be shown.") from error


def _draw_page(page: "pypdfium2.PdfPage", quote: str) -> dict[str, Any]:
    width, height = (max(side, 1.0) for side in page.get_size())
    scale = min(WIDTH / width, (MOST_PIXELS / (width * height)) ** 0.5)
    picture = page.render(scale=scale).to_pil().convert("RGB")
    kept = io.BytesIO()
    picture.quantize(64).save(kept, "PNG", optimize=False)
    spans = _spans(page.get_textpage(), quote) if quote.strip() else []
    return {
        "png": kept.getvalue(),
        "width": picture.width,
        "height": picture.height,
        "marks": [box for span in spans for box in _boxes(page, span, picture.size)],
    }


def _spans(text: Any, quote: str) -> list[Span]:
    """Return the character ranges of the quote on the page: the whole quote, or the sentences that are found."""
    import pypdfium2.raw as pdfium

    count = min(text.count_chars(), MOST_SIGNS)
    signs = [chr(pdfium.FPDFText_GetUnicode(text, n)) for n in range(count)]
    places = [n for n, sign in enumerate(signs) if sign.isalnum() for _ in sign.casefold()]
    letters = "".join(sign.casefold() for sign in signs if sign.isalnum())
    whole = _find(letters, places, quote)
    if whole is not None:
        return [whole]
    sentences = [one for one in _SENTENCE.split(quote) if sum(map(str.isalnum, one)) >= SHORTEST]
    return [span for one in sentences if (span := _find(letters, places, one)) is not None]


def _find(letters: str, places: list[int], quote: str) -> Span | None:
    wanted = "".join(sign.casefold() for sign in quote if sign.isalnum())
    at = letters.find(wanted) if wanted else -1
    return None if at < 0 else (places[at], places[at + len(wanted) - 1] + 1)


def _boxes(page: "pypdfium2.PdfPage", span: Span, size: tuple[int, int]) -> list[list[float]]:
    """Return the rectangles of these characters in the image, one per line: [x, y, width, height]."""
    import pypdfium2.raw as pdfium

    text = page.get_textpage()
    found: list[list[float]] = []
    for n in range(text.count_rects(span[0], span[1] - span[0])):
        left, bottom, right, top = text.get_rect(n)
        corners = [_on_picture(pdfium, page, size, x, y) for x, y in ((left, top), (right, bottom))]
        (x1, y1), (x2, y2) = corners
        found.append([min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1)])
    return found


def _on_picture(pdfium: Any, page: Any, size: tuple[int, int], x: float, y: float) -> tuple[int, int]:
    """Return a position on the page as pixels of its image, also for rotated pages."""
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, across, down)
    return across.value, down.value
