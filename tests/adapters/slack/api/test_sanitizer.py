"""The sanitizer for Slack: only exact permitted links, also across the parts of a stream."""

from typing import Any

import pytest

from adapters.slack.api.sanitizer import CallSanitizer, permit, permit_as_shown
from tests.e2e.hostile_texts import ALLOWED, HOSTILE
from tests.e2e.slack_links import active_in_calls

SECTION: dict[str, Any] = {"type": "section", "text": {"type": "mrkdwn", "text": f"<{ALLOWED}|the source>"}}


def sent(method: str, **arguments: Any) -> dict[str, Any]:
    return CallSanitizer().sanitize(method, arguments)


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_cut_of_a_stream_makes_a_link_or_calls_anybody(hostile: str) -> None:
    for cut in range(1, len(hostile)):
        sanitizer = CallSanitizer()
        sanitizer.remember_stream("C1", "1.0")
        calls = [
            ("chat.appendStream", {"channel": "C1", "ts": "1.0", "chunks": [{"type": "markdown_text", "text": piece}]})
            for piece in (hostile[:cut], hostile[cut:])
        ]
        found = active_in_calls([(method, sanitizer.sanitize(method, arguments)) for method, arguments in calls])
        assert (found.links, found.calls) == ([], []), hostile[:cut]


def test_a_link_is_one_only_where_it_is_permitted_beside_the_text() -> None:
    assert active_in_calls([("x", sent("chat.update", blocks=[permit(SECTION, links=[ALLOWED])]))]).links == [ALLOWED]
    assert active_in_calls([("x", sent("chat.update", blocks=[SECTION]))]).links == []


def test_what_permits_is_never_sent() -> None:
    assert "permitted" not in str(sent("chat.update", blocks=[permit(SECTION, links=[ALLOWED], group="S0HELP")]))


def test_a_group_is_called_only_where_it_is_permitted() -> None:
    call: dict[str, Any] = {"type": "section", "text": {"type": "mrkdwn", "text": "<!subteam^S0HELP> <!subteam^S0ALL>"}}
    shown = sent("chat.postMessage", blocks=[permit(call, group="S0HELP")])["blocks"][0]["text"]["text"]
    assert shown == "<!subteam^S0HELP> &lt;!subteam^S0ALL&gt;"


def test_a_message_of_the_own_workspace_is_a_link_and_of_another_is_not() -> None:
    sanitizer = CallSanitizer()
    sanitizer.workspace = "https://ours.slack.com/"
    links = " ".join(f"<https://{name}.slack.com/archives/C1/p1>" for name in ("ours", "theirs"))
    shown = sanitizer.message({"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": links}}]})
    assert active_in_calls([("x", shown)]).links == ["https://ours.slack.com/archives/C1/p1"]


def test_blocks_that_slack_hands_back_keep_their_links_and_get_no_others() -> None:
    rich = {"type": "rich_text", "elements": [{"type": "link", "url": ALLOWED}, {"type": "broadcast", "range": "here"}]}
    shown = sent("chat.update", blocks=permit_as_shown([SECTION, rich]))
    assert active_in_calls([("x", shown)]).links == [ALLOWED, ALLOWED]
    assert "broadcast" not in str(shown)


def test_addresses_of_elements_are_left_out_and_what_is_ours_alone_stays() -> None:
    button = {"type": "button", "url": "https://evil.example", "value": "https://evil.example", "action_id": "a"}
    assert sent("chat.postMessage", blocks=[button])["blocks"] == [
        {"type": "button", "value": "https://evil.example", "action_id": "a"}
    ]
