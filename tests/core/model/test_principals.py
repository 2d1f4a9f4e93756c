"""Principals as text and back, and which of them can be granted access."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.plugins import principal_forms
from core.model.conversation import ThreadKey
from core.model.principals import Principal, PrincipalKind, channel_principal

FORMS = principal_forms()
KEPT = [  # as grants are kept in catalogs
    ("slack:channel:T1/C1", Principal("slack", PrincipalKind.CHANNEL, "C1", "T1")),
    ("slack:group:T1/S1", Principal("slack", PrincipalKind.GROUP, "S1", "T1")),
    ("slack:user:T1/U1", Principal("slack", PrincipalKind.USER, "U1", "T1")),
    ("slack:team:T1", Principal("slack", PrincipalKind.TEAM, "T1")),
    ("discord:channel:1/2", Principal("discord", PrincipalKind.CHANNEL, "2", "1")),
    ("discord:role:1/2", Principal("discord", PrincipalKind.ROLE, "2", "1")),
    ("discord:user:1", Principal("discord", PrincipalKind.USER, "1")),
    ("discord:guild:1", Principal("discord", "guild", "1")),
    ("api:token:0A1B", Principal("api", PrincipalKind.TOKEN, "0A1B")),
    ("web:user:ada@example.org", Principal("web", PrincipalKind.USER, "ada@example.org")),
    ("web:readers", Principal("web", PrincipalKind.READERS)),
    ("mail:user:ada@example.org", Principal("mail", PrincipalKind.USER, "ada@example.org")),
]


@pytest.mark.parametrize(("text", "principal"), KEPT)
def test_what_the_first_version_granted_to_reads_and_is_written_the_same(text: str, principal: Principal) -> None:
    assert (Principal.parse(text), str(principal)) == (principal, text)
    assert sum(form.accepts(text) for form in FORMS) == 1


def test_every_form_is_one_that_is_kept() -> None:
    assert {(one.platform, one.kind) for one in FORMS} == {(one.platform, one.kind) for _, one in KEPT}


def test_a_direct_messages_channel_has_an_empty_space() -> None:
    assert ThreadKey("discord", "", "5", "5").place == channel_principal("discord", "", "5") == "discord:channel:/5"
    assert Principal.parse("discord:channel:/5") == Principal("discord", PrincipalKind.CHANNEL, "5", "")


SLIPS = """
everyone|slack:channel:C1|slack:channel:T1/C1/X|slack:channel:T1/|slack:team:T1/C1|slack:role:T1/R|slack:channel:/C1
slack:channel:T1/c1|slack:channel:T1/C1 |web:readers:x|web:user:a b|api:token:|:|slack::|SLACK:team:T1
"""


@pytest.mark.parametrize("text", ["", *SLIPS.strip().replace("\n", "|").split("|")])
def test_a_slip_is_nobody_whom_a_base_can_be_granted_to(text: str) -> None:
    assert not any(form.accepts(text) for form in FORMS)


LIKE_ONE = st.from_regex(r"[a-z]{1,5}:(user|team|channel|readers)(:[^/:]{0,4}(/[^/:]{0,4})?)?", fullmatch=True)


@given(st.text(max_size=60) | LIKE_ONE)
def test_whatever_reads_as_a_principal_is_written_as_it_was(text: str) -> None:
    try:
        assert str(Principal.parse(text)) == text
    except ValueError:
        assert not any(form.accepts(text) for form in FORMS)
