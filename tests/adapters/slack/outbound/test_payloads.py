"""Payloads of buttons and forms can be read back, those of the first version too."""

import pytest

from adapters.slack.outbound.payloads import (
    ChoiceForm,
    ChoiceValue,
    CommandForm,
    FollowUpValue,
    RatingValue,
    ReasonForm,
    SettingsForm,
    encode_form,
    form_in,
)


def test_a_button_that_the_first_version_posted_still_says_what_it_stands_for() -> None:
    assert ChoiceValue.decode("0123abc 2") == ChoiceValue("0123abc", "2")
    assert RatingValue.decode("up 00ff") == RatingValue(helpful=True, trace_id="00ff")
    assert RatingValue.decode("down 00ff") == RatingValue(helpful=False, trace_id="00ff")
    assert FollowUpValue.decode("00ff 2") == FollowUpValue("00ff", 2)


@pytest.mark.parametrize(
    "value", [ChoiceValue("0123abc", "search_on"), RatingValue(True, "00ff"), RatingValue(False, "00ff"),
              FollowUpValue("00ff", 3)]
)  # fmt: skip
def test_what_a_button_carries_reads_back(value: ChoiceValue | RatingValue | FollowUpValue) -> None:
    assert type(value).decode(value.encode()) == value


@pytest.mark.parametrize("hostile", ["", " ", "x" * 2_000, "00ff 99999", "00ff -1", "00ff ²"])
def test_what_was_never_ours_names_nothing(hostile: str) -> None:
    assert FollowUpValue.decode(hostile).number == 0
    assert not RatingValue.decode(hostile).helpful
    assert ChoiceValue.decode(hostile).encode().strip() == hostile.strip()


@pytest.mark.parametrize("ephemeral", [True, False])
def test_a_form_that_the_first_version_opened_still_says_where_it_belongs(ephemeral: bool) -> None:
    kept = '{"checkpoint": "c", "choice": "1", "ephemeral": "%s", "channel": "C1", "root": "17.1", "card": "17.2"}'
    view = {"private_metadata": kept % ephemeral}
    assert form_in(ChoiceForm, view) == ChoiceForm("c", "1", "C1", "17.1", "17.2", ephemeral)
    reason = {"private_metadata": '{"channel": "C1", "root": "17.1", "trace": "00ff", "shown": "17.2", "form": "f"}'}
    assert form_in(ReasonForm, reason) == ReasonForm("C1", "17.1", "00ff", "17.2", "f")


@pytest.mark.parametrize("form", [ChoiceForm("c", "1", "C1", "17.1", "17.2", ephemeral=True), CommandForm("f" * 32),
                                  ReasonForm("C1", "17.1", "00ff", "17.2", "f"), SettingsForm("C1")])  # fmt: skip
def test_what_a_form_keeps_comes_back(form: ChoiceForm | ReasonForm | SettingsForm | CommandForm) -> None:
    assert form_in(type(form), {"private_metadata": encode_form(form)}) == form


@pytest.mark.parametrize("hostile", ["[]", "no JSON", '{"channel": {"a": 1}}', '"x"'])
def test_a_view_that_is_not_ours_keeps_nothing(hostile: str) -> None:
    assert form_in(ReasonForm, {"private_metadata": hostile}) == ReasonForm()
