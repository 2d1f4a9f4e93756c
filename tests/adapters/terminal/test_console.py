"""The terminal shows text as text."""

import io
import re

import pytest
from rich.markdown import Markdown
from rich.text import Text

from adapters.terminal.console import SafeConsole
from tests.e2e.hostile_texts import DISGUISES, LINKS


@pytest.mark.parametrize("hostile", [*DISGUISES.values(), *LINKS.values()])
def test_no_text_moves_the_cursor_hides_a_link_or_turns_letters(hostile: str) -> None:
    file = io.StringIO()
    console = SafeConsole(file=file, force_terminal=True, color_system=None, width=200)
    console.print(Text(hostile))
    console.print(Markdown(hostile))
    console.print(hostile, markup=False)
    shown = file.getvalue()
    assert "\x1b]8" not in shown
    assert not set(shown) & set("\x07\x9b\x00\x0b\u202e\u2066\u200f\u061c")
    assert re.fullmatch(r"(?:[^\x1b]|\x1b\[[\d;]*m)*", shown), "only colours"
