"""The page with what was used, for admins."""

import pytest

from core.ports.usage import UsageRow
from tests.adapters.web.page_office import PageOffice

pytestmark = pytest.mark.e2e


async def test_usage_is_added_up_by_channel_base_and_day() -> None:
    async with PageOffice().open() as office:
        await office.room.adds("handbook", refunds_md="Refunds take 14 days.")
        browser = await office.operator()
        assert "There were no questions" in (await browser.get("/usage")).text
        today = office.harness.clock.now().date().isoformat()
        for used in (
            UsageRow(today, "slack:channel:T/C1", "handbook", answers=3, tokens=12_000, cost=0.5),
            UsageRow(today, "slack:channel:T/C2", "no-such-base", quotes=2, tokens=300, cost=0.25),
            UsageRow("2025-12-07", "slack:channel:T/C1", "", not_found=1),
            UsageRow("2025-11-01", "slack:channel:T/old", "", not_found=1),
        ):
            await office.harness.usage_book.book(used)
        page = (await browser.get("/usage")).text
        assert "12,300 tokens" in page
        assert "cost 0.75" in page
        rows = [" ".join(row.replace("</td>", " ").replace('<td class="number">', "").split()) for row in _rows(page)]
        assert "<td>slack:channel:T/C1 3 0 1 12,000 0.5000" in rows
        assert "<td>others 0 2 0 300 0.2500" in rows
        assert "<td>no source 0 0 1 0 —" in rows
        assert f"<td>{today} 3 2 0 12,300 0.7500" in rows
        assert "no-such-base" not in page
        assert "T/old" not in page


def _rows(page: str) -> list[str]:
    return [row.partition("</tr>")[0] for row in page.split("<tr>")[1:]]
