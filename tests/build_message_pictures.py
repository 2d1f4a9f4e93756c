"""Photographs what people see in Slack and Discord, into docs/slack-*.png and docs/discord-*.png.

python -m tests.build_message_pictures [slack|discord]

The real process answers on the sample documents, the payloads that it posts become HTML (``tests/pictures``), and the
system's Chromium takes the picture. Nothing is fetched.
"""

import asyncio
import io
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PIL import Image

from tests.pictures.messages import Shown, discord_messages, slack_messages
from tests.pictures.page import discord_page, slack_page

DOCS = Path(__file__).parents[1] / "docs"
COLOURS = 128  # of a palette: text needs no more
SCALE = 1.5
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


async def main(platforms: Sequence[str]) -> None:
    """Play the tests of these platforms and save a picture of each."""
    if "slack" in platforms:
        await photograph("slack", await slack_messages(), slack_page)
    if "discord" in platforms:
        await photograph("discord", await discord_messages(), discord_page)


async def photograph(platform: str, harnesses: Sequence[Shown], page_of: Callable[[Shown], str]) -> None:
    """One picture for each test."""
    from playwright.async_api import async_playwright

    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    async with async_playwright() as started:
        browser = await started.chromium.launch(executable_path=browser_path, args=list(FLAGS))
        page = await browser.new_page(device_scale_factor=SCALE, viewport={"width": 700, "height": 600})
        for shown in harnesses:
            await page.set_content(page_of(shown))
            save(await page.locator("#shown").screenshot(), DOCS / f"{platform}-{shown.name}.png")
        await browser.close()


def save(png: bytes, path: Path) -> None:
    """A small file of a picture."""
    with Image.open(io.BytesIO(png)) as picture:
        small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ("slack", "discord")))
