"""The sanitizer for Discord: exact permitted links, unchanged code, and no way around it."""

import ast
from pathlib import Path

import pytest

from adapters.discord.outbound.sanitizer import LAYOUT_TEXT_LIMIT, SanitizedForm, SanitizedView, Text, markdown
from tests.e2e.discord_links import addresses_in
from tests.e2e.hostile_texts import ALLOWED, HOSTILE

ROOT = Path(__file__).resolve().parents[3]
LINKS = frozenset({ALLOWED})


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_nothing_is_a_link_but_what_is_permitted(hostile: str) -> None:
    for around in ("{}", "a {} b", "**{}**", "> {}", "- {}", "`a` {} `b`", "```\na\n```\n{}", f"[1](<{ALLOWED}>) {{}}"):
        shown = markdown(around.format(hostile), LINKS)
        assert [one for one in addresses_in(shown) if one != ALLOWED] == [], shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"see {ALLOWED}.", f"see <{ALLOWED}>."),
        (f"[the source]({ALLOWED})", f"[the source](<{ALLOWED}>)"),
        (f"[[1]](<{ALLOWED}>)", f"[[1]](<{ALLOWED}>)"),
        (f"[{ALLOWED}]({ALLOWED})", f"<{ALLOWED}>"),
    ],
)
def test_a_permitted_link_is_written_so_that_it_cannot_be_read_otherwise(text: str, shown: str) -> None:
    assert markdown(text, LINKS) == shown


def test_a_label_that_is_another_address_stands_beside_the_link() -> None:
    shown = markdown(f"[bank.example/login]({ALLOWED})", LINKS)
    assert shown.endswith(f"(<{ALLOWED}>)")
    assert "](" not in shown


@pytest.mark.parametrize(
    "text", ["run `curl http://localhost:9090/x` now", "```sh\ngit clone https://a.example/b\n```"]
)
def test_a_command_in_code_can_be_copied_as_it_is(text: str) -> None:
    assert markdown(text) == text


def test_a_text_that_grows_too_long_loses_its_end_and_never_half_a_link() -> None:
    links = " ".join(f"[{n}](<{ALLOWED}>)" for n in range(300))
    view = SanitizedView(Text(links[: LAYOUT_TEXT_LIMIT - 5] + " a://b" * 200, links=LINKS))
    assert view.content_length() <= LAYOUT_TEXT_LIMIT
    (shown,) = (one.content for one in view.walk_children() if isinstance(one, Text))
    assert set(addresses_in(shown)) == {ALLOWED}


def test_there_is_no_other_door() -> None:
    """Only the sanitizer makes views and forms, and all text goes to Discord in them."""
    for path in (ROOT / "adapters" / "discord").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = ast.unparse(call.func)
            allowed_here = path.name == "sanitizer.py"
            assert allowed_here or name not in {"ui.LayoutView", "ui.View", "ui.Modal", "discord.Embed"}, path
            given = {keyword.arg for keyword in call.keywords}
            if name.rpartition(".")[2] in {"send", "send_message", "edit_message", "edit_original_response"}:
                assert not given & {"content", "embed", "embeds"}, path


def test_a_form_is_sanitized_as_it_is_made() -> None:
    assert SanitizedForm("a\u202eb\x1b[0m", "footnote:words:1:2").title == "ab[0m"
