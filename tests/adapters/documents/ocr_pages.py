"""Pages of known text as pictures: drawn at a resolution, turned a little, with noise. For tests and measurements."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL import Image

WORDS = (
    "Flights over six hours may be booked in premium economy by anyone.",
    "Receipts are kept for seven years and sent to finance@acme.example.",
    "The on-call engineer answers within 5 minutes and writes a report.",
    "Parental leave is sixteen weeks, paid in full, for both parents.",
    "A refund takes 5 to 10 days; cash is paid out at the desk.",
    "Passwords have at least 14 signs and are changed after an incident.",
    "Build 2024.11 needs 16 GB of memory and 2 cores on each machine.",
    "Invoices above EUR 1,250.00 are approved by two people.",
)


def page_pdf(lines: tuple[str, ...] = WORDS, *, size: int = 11) -> bytes:
    """One page with these lines, each a paragraph."""
    from fpdf import FPDF

    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("times", size=size)
    for line in lines:
        pdf.multi_cell(0, 7, text=line, new_x="LMARGIN", new_y="NEXT")
    return bytes(pdf.output())


def page_in_any_letters(lines: tuple[str, ...]) -> bytes:
    """The same in a font that has Greek and Cyrillic letters too."""
    import matplotlib as mpl
    from fpdf import FPDF

    pdf = FPDF()
    pdf.add_page()
    pdf.add_font("body", fname=Path(mpl.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"))
    pdf.set_font("body", size=11)
    for line in lines:
        pdf.multi_cell(0, 7, text=line, new_x="LMARGIN", new_y="NEXT")
    return bytes(pdf.output())


def picture(pdf: bytes, *, dpi: int = 150, skew: float = 0.0, noise: float = 0.0) -> "Image.Image":
    """The first page as a grey picture; `skew` in degrees, `noise` as the standard deviation of grey levels of 255."""
    import pypdfium2
    from PIL import Image

    with pypdfium2.PdfDocument(pdf) as document:
        drawn: Image.Image = document[0].render(scale=dpi / 72).to_pil()
        image = drawn.convert("L")
    image = image.rotate(skew, resample=Image.Resampling.BICUBIC, fillcolor=255)
    if noise:
        grain = np.random.default_rng(7).normal(0, noise, (image.height, image.width))
        image = Image.fromarray(np.clip(np.asarray(image, dtype=float) + grain, 0, 255).astype(np.uint8))
    return image


def png(image: "Image.Image") -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def scanned(*images: "Image.Image", before: str = "") -> bytes:
    """A PDF of these pictures, a page each, behind a page of text if there is one."""
    from fpdf import FPDF

    pdf = FPDF()
    if before:
        pdf.add_page()
        pdf.set_font("helvetica", size=11)
        pdf.cell(text=before)
    for image in images:
        pdf.add_page()
        pdf.image(io.BytesIO(png(image)), x=0, y=0, w=pdf.w)
    return bytes(pdf.output())
