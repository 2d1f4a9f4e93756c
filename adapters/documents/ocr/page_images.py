"""The picture of one page: a PDF's page drawn, or one frame of an image file."""

import io
from typing import TYPE_CHECKING

from core.model.errors import DocumentRejected

if TYPE_CHECKING:
    import numpy as np

LONGEST_SIDE = 2_000
"""Pixels; the detector reads no larger picture (rapidocr `max_side_len`)."""

SMALL_SIDE = 1_000
"""Pictures smaller than this are drawn twice as large: letters of a 96 dpi screen are at the detector's limit."""

MAX_PIXELS = 80_000_000


def page_count(data: bytes) -> int:
    """How many pages or frames there are. Raises DocumentRejected for what is no picture."""
    if b"%PDF-" in data[:1024]:
        import pypdfium2

        with pypdfium2.PdfDocument(data) as document:
            return len(document)
    with _open(data) as image:
        return int(getattr(image, "n_frames", 1)) if image.format == "TIFF" else 1


def page_image(data: bytes, page: int) -> "np.ndarray":
    """The page of this number, from 1, as rows of red, green and blue (uint8, H x W x 3).

    Raises:
        DocumentRejected: damaged, no such page, or more pixels than are read.
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
        raise DocumentRejected(f"Page {page} is damaged and cannot be drawn.") from error


def _frame(data: bytes, page: int) -> "np.ndarray":
    import numpy as np
    from PIL import Image, ImageOps

    with _open(data) as image:
        if image.width * image.height > MAX_PIXELS:
            raise DocumentRejected(
                f"This picture has {image.width} x {image.height} pixels, more than are read.",
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


def _open(data: bytes) -> "Image.Image":
    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP"))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise DocumentRejected("This picture is damaged and cannot be read.") from error


if TYPE_CHECKING:
    from PIL import Image
