"""Rebuilds the sample set's binary documents: the PDF, the Word agreement and the price list.

The invented company's other documents are plain text and are edited where they lie. These three cannot be, so their
words live here and the results are committed beside the rest, byte for byte the same on every run of the same
libraries. Run it after a change: `python tests/build_samples.py`. The product itself never needs it.
"""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from pathlib import Path
from typing import Any

from docx import Document
from fpdf import FPDF
from openpyxl import Workbook
from openpyxl.styles import Font

DOCUMENTS = Path(__file__).parents[1] / "bot" / "samples" / "documents"
WRITTEN = dt.datetime(2026, 1, 20, 9, 0, tzinfo=dt.UTC)
MODIFIED = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(<)")

# Light markup: "# " opens a section, an empty line ends a paragraph, "---" turns the page.
OVERVIEW = """
# 1. What this document is for

Customers ask us the same good questions before they send us their addresses: where the data is kept, who
can see it, how long it stays, and what happens on a bad day. This overview answers them in plain words. It
is version 3.2 of January 2026 and replaces version 3.1 of May 2025.

It describes what we do for every plan. Where a customer's agreement promises more, the agreement prevails.
How our own people are expected to behave is described in the internal page Security at work.

# 2. What we hold

We hold five kinds of data. Order data: addresses, names, time windows and notes to the driver. Round data:
which vehicle went where, and when. Driver positions: where a vehicle was, every 20 seconds, during a round.
Proof of delivery: photos and signatures. Account data: who may sign in, and what has been invoiced.

We do not hold payment card numbers. They go directly from the browser to the payment provider, which gives
us a token and the last four digits.

# 3. Where it is kept

All customer data is stored in Dublin, with a standby copy in Frankfurt. Nothing is stored outside the
European Union. Support staff in the United Kingdom see data on screen and do not store it.

Customers are separated by account in every table, and each query carries the account. A test that runs with
every change tries to read another account's data in 214 ways, and must fail in all of them.

---

# 4. How long it stays

Driver positions are kept for 90 days and are then deleted. After the round has ended only the customer's
administrators can see them.

Photos and signatures taken as proof of delivery are kept for 18 months. The seven-year archive, which is an
add-on in the price list, extends this to seven years.

Order data and rounds are kept for three years, so that plans can learn from the same season in earlier
years. A customer can shorten this to no less than 60 days.

Invoices are kept for ten years, as the law requires. Server logs are kept for 30 days, and records of
access to production for two years.

# 5. Deletion at the end

When an agreement ends, the customer can export everything for 30 days. After that, all data of the account
is deleted within another 30 days, and from the backups as they expire. On request we confirm the deletion
in writing.

Recipients who want to know or erase what is held about them are directed to the customer who sent the
parcel. We help that customer to answer within five working days.

# 6. Encryption

Data on disk is encrypted with AES-256. Data on the way is encrypted with TLS 1.2 or newer; older versions
are refused. Keys are held in a hardware module, are changed every 12 months, and cannot be exported.

Signatures of recipients are encrypted a second time, with a key for each account. Deleting that key makes
the signatures unreadable at once.

---

# 7. Backups

A full backup is made every night, and changes are copied every 15 minutes. Backups are kept for 35 days in
a separate account to which nobody has write access from production.

We aim to lose no more than 15 minutes of data and to be working again within four hours after the loss of a
whole region. A restoration is rehearsed every quarter. The most recent rehearsal, in December 2025, took 2
hours 38 minutes.

# 8. Who can see it

No employee has standing access to production data. Access is requested for one service with a reason, is
approved by the lead of the owning team, and ends after eight hours. Commands are recorded.

Support agents see a customer's data in the support console while a ticket of that customer is open. The
customer's administrators can see when that happened, under Settings, Access log.

# 9. Tests from outside

An independent firm tries to break in once a year. The test in October 2025 found no critical and two medium
weaknesses, which were both closed within 16 days. A summary is available under a confidentiality agreement.

Anyone who finds a weakness can write to security@brindlepost.example. We answer within two working days and
do not take legal action against people who look in good faith.

---

# 10. When something goes wrong

If personal data may have been lost or seen by somebody who should not have seen it, we inform the affected
customers within 48 hours of the first suspicion, by e-mail to the contact named in the account and by
telephone on the Fleet and Enterprise plans.

The message says what happened, which data is concerned, what we have done and what the customer should do.
A full report follows within 14 days.

# 11. Other companies that help us

Four companies process customer data for us: a hosting provider (Dublin and Frankfurt), a provider for text
messages (Lisbon), a provider for e-mail (Paris) and the payment provider (Amsterdam). Their names are
listed in the console under Settings, Legal.

We announce a new one 30 days before it starts. A customer who objects for a good reason may end the
agreement without a fee.

# 12. Questions

The Security Officer, Ines Quillfeather, answers questions about this document. Questionnaires of up to 80
questions are filled in free of charge for Fleet and Enterprise customers; for other plans we send this
overview.
"""

AGREEMENT = """
# 1. What is agreed

Brindlepost provides its delivery planning service to the customer, on the Fleet plan, for the depots in
Hull, Lincoln and Peterborough. The service comprises planning, dispatch, the driver app and webhooks, as
described in the documentation at docs.brindlepost.example.

The customer may add depots in writing at any time. Each added depot is invoiced from the first day of the
following month.

# 2. Term and notice

This agreement begins on 1 July 2025 and has a first term of 24 months. It is then extended by 12 months at
a time, unless one party gives notice in writing at least 90 days before the end of the current term.

Either party may end the agreement at once if the other is insolvent, or does not remedy a serious breach
within 30 days of being told of it in writing.

# 3. Price and payment

The price is the list price of the plan in force on the first day of each contract year, paid monthly. It
may not rise by more than 4 percent from one contract year to the next.

Invoices are issued on the first of the month and are due within 30 days. Late payments bear interest of 0.8
percent per month. The service may be suspended when an undisputed invoice is more than 45 days late, after
a warning of ten days.

# 4. Availability

Planning and dispatch are available for 99.9 percent of each calendar month. Announced maintenance is not
counted, up to four hours per month. The credits below replace those of the support policy.

# 5. Support

Support is given at the level that belongs to the customer's plan. In the ten days before Mother's Day and
before Valentine's Day, Brindlepost additionally keeps an engineer on standby for the customer from 03:00 to
09:00 UK time, at no charge.

# 6. Data

Brindlepost processes personal data on the customer's behalf as described in the Data protection and
security overview. By way of exception, proof of delivery for the customer's rounds is held
for 36 months.

At the end of the agreement the customer may export its data for 60 days.

# 7. Liability

The liability of each party in a contract year is limited to the fees paid or due in that year. The limit
does not apply to intent, to injury, or to a breach of confidentiality.

Brindlepost is not liable for flowers that wilt because an address was wrong in the customer's own data.

# 8. Confidentiality

Each party keeps the other's confidential information secret during the term and for three years after it.
The customer's list of recipients is always confidential.

# 9. General

The law of England and Wales applies, and the courts of Leeds are competent. Changes need writing; e-mail
suffices if both parties' signatories take part. If a provision is invalid, the rest stands.
"""
CREDITS = [
    ("Available in the month", "Credit on that month's price"),
    ("Below 99.9 percent", "5 percent"),
    ("Below 99.5 percent", "12 percent"),
    ("Below 99.0 percent", "25 percent"),
]

Cell = str | int | float
PRICES: dict[str, list[tuple[Cell, ...]]] = {
    "Plans": [
        (
            "Plan",
            "Price per month, paid monthly (EUR)",
            "Price per month, paid yearly (EUR)",
            "Vehicles included",
            "Each further vehicle per month (EUR)",
            "Depots",
            "Support level",
        ),
        ("Starter", 49, 44, 5, "not available", "1", "Basic"),
        ("Depot", 189, 164, 25, 6.5, "1", "Standard"),
        ("Fleet", 640, 560, 120, 5.2, "up to 8", "Extended"),
        ("Enterprise", "yearly only", "from 1900", "by agreement", "by agreement", "any number", "Round-the-clock"),
    ],
    "Add-ons": [
        ("Add-on", "Unit", "Price (EUR)", "Available from plan"),
        ("Text message to a recipient", "per message", 0.06, "Starter"),
        ("Seven-year archive for proof of delivery", "per depot and month", 35, "Depot"),
        ("Recipient links in your own design", "per month", 55, "Depot"),
        ("Temperature log for refrigerated vans", "per vehicle and month", 3.2, "Depot"),
        ("Second test account", "per month", 90, "Fleet"),
    ],
    "Services": [
        ("Service", "Unit", "Price (EUR)", "Remark"),
        ("Set-up by video call", "half a day", 420, "Included once with Fleet and Enterprise"),
        ("Set-up at the depot", "per day", 1150, "Plus travel at cost"),
        ("Training for dispatchers", "session of three hours, up to 8 people", 380, "In English, Portuguese or Dutch"),
        ("Help with integrations", "per hour", 130, "Billed in quarters of an hour"),
        ("Import of earlier rounds", "per depot", 600, "Up to three years back"),
    ],
    "Terms": [
        ("Subject", "Rule"),
        ("Valid", "From 1 January 2026 until the next list"),
        ("Tax", "All prices are in euros, without value added tax"),
        ("Counting vehicles", "A vehicle counts in a month with at least one round"),
        ("Discounts", "Sales may grant up to 10 percent; above that the Head of Sales decides"),
        ("Charities", "Registered charities and food banks get 30 percent off the plan price"),
        ("Seasonal vehicles", "Between 24 November and 24 December further vehicles cost half"),
        ("Changing plans", "Upwards at any time, downwards at the end of the paid period"),
    ],
}


def _paragraphs(markup: str) -> list[str]:
    return [" ".join(block.split()) for block in markup.strip().split("\n\n")]


class Overview(FPDF):  # type: ignore[misc]  # fpdf2 has no type information here
    """The PDF's running head and page number."""

    def header(self) -> None:
        self.set_font("Helvetica", size=8)
        self.cell(0, 6, "Brindlepost: Data protection and security overview, version 3.2", align="R")
        self.ln(10)

    def footer(self) -> None:
        self.set_y(-14)
        self.set_font("Helvetica", size=8)
        self.cell(0, 6, f"Page {self.page_no()}", align="C")


def build_overview(path: Path) -> None:
    pdf = Overview()
    pdf.set_creation_date(WRITTEN)
    pdf.set_title("Data protection and security overview")
    pdf.set_author("Brindlepost Ltd")
    pdf.set_lang("en")
    pdf.set_margin(24)
    pdf.add_page()
    _line(pdf, "Data protection and security overview", size=20)
    for paragraph in _paragraphs(OVERVIEW):
        if paragraph == "---":
            pdf.add_page()
        elif paragraph.startswith("# "):
            pdf.start_section(paragraph[2:])
            _line(pdf, paragraph[2:], size=14)
        else:
            pdf.set_font("Helvetica", size=11)
            pdf.multi_cell(0, 5.6, paragraph, align="L", new_x="LMARGIN", new_y="NEXT")
            pdf.ln(2.5)
    pdf.output(str(path))


def _line(pdf: FPDF, text: str, size: int) -> None:
    pdf.ln(3)
    pdf.set_font("Helvetica", style="B", size=size)
    pdf.multi_cell(0, size * 0.55, text, align="L", new_x="LMARGIN", new_y="NEXT")
    pdf.ln(2)


def build_agreement(path: Path) -> None:
    document = Document()
    document.core_properties.title = "Service agreement with Thistledown Wholesale Flowers"
    document.core_properties.author = "Brindlepost Ltd"
    document.add_heading("Service agreement", level=0)
    document.add_paragraph(
        "Between Brindlepost Ltd, Leeds (“Brindlepost”) and Thistledown Wholesale Flowers Ltd, Hull (“the customer”). "
        "Signed on 16 June 2025 by Halvard Prynne for Brindlepost and by Philippa Ambergate for the customer."
    )
    for paragraph in _paragraphs(AGREEMENT):
        if paragraph.startswith("# "):
            document.add_heading(paragraph[2:], level=1)
            continue
        document.add_paragraph(paragraph)
        if paragraph.endswith("of the support policy."):
            _add_credits(document)
    document.save(str(path))
    _settle(path)


def _add_credits(document: Any) -> None:
    table = document.add_table(rows=0, cols=2, style="Table Grid")
    for row in CREDITS:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text


def build_price_list(path: Path) -> None:
    book = Workbook()
    book.remove(book.active)
    book.properties.title = "Price list 2026"
    book.properties.creator = "Brindlepost Ltd"
    for name, rows in PRICES.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        for cell in sheet[1]:
            cell.font = Font(bold=True)
        for column in sheet.columns:
            sheet.column_dimensions[column[0].column_letter].width = max(len(str(cell.value)) for cell in column) + 2
        sheet.freeze_panes = "A2"
    book.save(str(path))
    _settle(path)


def _settle(path: Path) -> None:
    """Gives an Office file fixed dates, so that building it twice changes nothing in version control."""
    with zipfile.ZipFile(path) as archive:
        parts = [(name, archive.read(name)) for name in archive.namelist()]
    stamp = WRITTEN.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts:
            settled = MODIFIED.sub(rb"\g<1>" + stamp + rb"\g<2>", content) if name == "docProps/core.xml" else content
            entry = zipfile.ZipInfo(name, WRITTEN.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, settled)


if __name__ == "__main__":
    build_overview(DOCUMENTS / "policies" / "data-protection-overview.pdf")
    build_agreement(DOCUMENTS / "sales" / "service-agreement-thistledown.docx")
    build_price_list(DOCUMENTS / "sales" / "price-list-2026.xlsx")
