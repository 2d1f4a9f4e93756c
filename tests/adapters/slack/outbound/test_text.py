"""Text of models and documents cannot ping anyone or contain active links."""

import re

from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.inbound.message_words import mentions, plain_message
from adapters.slack.outbound.text import Escaper, escape, group_call, link, safe_markdown, shorten

CALLS = re.compile(r"<[!@]|<#|(?<![\w.])@(?:channel|here|everyone)\b")
HOSTILE = st.lists(
    st.sampled_from(
        ["<", ">", "!", "@", "channel", "here", "everyone", "subteam^S1", "U123", "&", "lt;", "a", " ", "|", "#"]
    )
)


@given(HOSTILE)
def test_no_cut_of_a_stream_puts_a_call_together(parts: list[str]) -> None:
    escaper = Escaper()
    assert not CALLS.search("".join(escaper.push(part) for part in parts))


@given(HOSTILE)
def test_pieces_joined_are_the_whole_text_escaped(parts: list[str]) -> None:
    escaper = Escaper()
    assert "".join(escaper.push(part) for part in parts) == Escaper().push("".join(parts))


def test_an_address_is_left_as_it_is() -> None:
    assert escape("write to ada@paper.example") == "write to ada@paper.example"


def test_a_quote_stays_a_quote() -> None:
    assert safe_markdown("> said <b>\n\n1 > 0") == "> said &lt;b&gt;\n\n1 &gt; 0"


def test_a_title_is_no_quote() -> None:
    assert escape("> said\n > so") == "&gt; said\n &gt; so"


def test_a_link_cannot_break_out_of_its_label() -> None:
    assert link("https://a.example/x?a=1&b=2", "<!here>|x") == "<https://a.example/x?a=1&amp;b=2|&lt;!here&gt;¦x>"
    assert link("javascript:alert(1)", "x") == "x"
    assert link("https://a.example/>|<!here", "x") == "x"


def test_shortening_keeps_entities_whole() -> None:
    assert shorten("aaaa &amp; bbbb", 9) == "aaaa…"


def test_what_was_said_is_heard_as_plain_text() -> None:
    text = "<@U0BOT> ask <@U2|bob> in <#C1|general> about &lt;tags&gt; <https://a.example|the page> <!subteam^S1|@ops>"
    assert plain_message(text, "U0BOT") == "ask @bob in #general about <tags> the page @ops"
    assert mentions(text) == {"U0BOT", "U2", "S1"}


def test_only_a_groups_id_becomes_a_call() -> None:
    assert group_call("S0HELP") == "<!subteam^S0HELP>"
    assert group_call("!channel") == ""
    assert group_call("S0HELP> <!channel") == ""
