"""Whatever form a link has, an independent reader of the sanitized text finds none but a source's."""

import random

import pytest

from core.model.answer_links import SourceLinks, addresses_in, clickable, without_foreign_links
from tests.e2e.hostile_texts import ALLOWED, HOSTILE
from tests.hostile_markdown import EVIL, FORMS, NAMED, hostile_markdown
from tests.markdown_reader import active_in, slack_links_in

SOURCES = SourceLinks(frozenset({ALLOWED}), (f"See {NAMED} and {EVIL} and <irc:evil> and mailto:evil@evil.example.",))


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_a_form_of_a_link_is_active_before_and_not_after(text: str) -> None:
    assert active_in(text) or slack_links_in(text)
    safe = without_foreign_links(text, SOURCES)
    assert active_in(safe) == []
    assert slack_links_in(safe) == []


@pytest.mark.parametrize(
    "text",
    [
        "> " * 90 + f"[x]({NAMED} 't')",
        "".join(f"{'  ' * n}- a\n" for n in range(70)) + f"{'  ' * 70}- [x]({NAMED} 't')",
        "[" * 70 + "x" + f"]({NAMED} 't')" * 70,
    ],
)
def test_what_is_nested_too_deep_to_be_rewritten_is_escaped(text: str) -> None:
    assert "](" not in without_foreign_links(text, SOURCES)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_hostile_text_keeps_an_active_link(text: str) -> None:
    safe = without_foreign_links(text, SOURCES)
    assert [one for one in active_in(safe) if one != ALLOWED] == []


@pytest.mark.parametrize("seed", range(20))
def test_no_combination_of_forms_keeps_an_active_link(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(25):
        text = hostile_markdown(chance, [EVIL, NAMED, ALLOWED])
        safe = without_foreign_links(text, SOURCES)
        # After a bracket that closes no link, GitHub's readers go on: to another page of the source's own site.
        assert [one for one in active_in(safe) if one.partition(")")[0] != ALLOWED] == [], text
        assert without_foreign_links(safe, SOURCES) == safe


def quoted(text: str) -> str:
    """A hostile document's text, quoted word for word in an answer that cites it, as it is shown."""
    found = addresses_in(text)
    links = {ALLOWED} | clickable(found, ALLOWED, frozenset({"*.allowed.example"}))
    return without_foreign_links(text, SourceLinks(frozenset(links), (text,), found))


@pytest.mark.parametrize("text", [*HOSTILE.values(), *FORMS.values()], ids=[*HOSTILE.keys(), *FORMS.keys()])
def test_a_hostile_document_that_is_cited_makes_no_link_to_a_host_that_nobody_allows(text: str) -> None:
    shown = quoted(text)
    assert [one for one in active_in(shown) if not one.startswith("https://ok.example/")] == []
    assert [one for one in slack_links_in(shown) if "ok.example/" not in one] == []


@pytest.mark.parametrize("seed", range(20))
def test_no_combination_of_a_hostile_document_that_is_cited_makes_one(seed: int) -> None:
    chance = random.Random(1_000 + seed)
    for _ in range(25):
        text = hostile_markdown(chance, [EVIL, NAMED, ALLOWED])
        shown = quoted(text)
        assert [one for one in active_in(shown) if not one.startswith("https://ok.example/")] == [], text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"[a]({ALLOWED} 'title') b", f"[a]({ALLOWED}) b"),
        (f"[a][1] b\n\n[1]: {ALLOWED}", f"[a]({ALLOWED}) b\n\n"),
        (f"> - [x [y] z]({NAMED}\n>   'title') and `[c]({ALLOWED})`", f"> - x [y] z (`{NAMED}`) and `[c]({ALLOWED})`"),
        ("Use `vector<std::string>` or List<String>.", "Use `vector<std::string>` or List<String>."),
        ("Use vector<std::string>.", "Use vector&lt;std::string>."),
        ("a < b and c > d, see [1](2).", "a < b and c > d, see 1."),
        ("```html\n<a href='x'>\n```", "```html\n<a href='x'>\n```"),
    ],
)
def test_what_is_not_a_foreign_link_stays(text: str, shown: str) -> None:
    assert without_foreign_links(text, SOURCES) == shown
