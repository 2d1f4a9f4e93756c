"""Payloads of forms and menus are read as they were written, those of the first version too."""

import pytest

from adapters.discord.outbound.forms import (
    FormId,
    FormKind,
    MenuOption,
    SettingsChange,
    SettingsMenu,
    encode_setting,
    read_menu,
    read_typed,
)
from core.model.channel_settings import ChosenSettings, ReplyStyle
from core.model.inquiry import CheckpointKind
from core.model.profile import Behaviour, Profile

FIRST_VERSION = {
    "footnote:words:0f1e:other-words": FormId(FormKind.WORDS, "0f1e", "other-words"),
    "footnote:reason:0123456789abcdef": FormId(FormKind.REASON, "0123456789abcdef"),
    "footnote:correction:0123456789abcdef": FormId(FormKind.CORRECTION, "0123456789abcdef"),
    "footnote:languages:1234567890": FormId(FormKind.LANGUAGES, "1234567890"),
    "footnote:confidence:1234567890": FormId(FormKind.CONFIDENCE, "1234567890"),
    f"footnote:files:{'0' * 24}": FormId(FormKind.FILES, "0" * 24),
}


@pytest.mark.parametrize("custom_id", FIRST_VERSION)
def test_a_form_of_the_first_version_is_read_and_written_as_it_was(custom_id: str) -> None:
    assert FormId.decode(custom_id) == FIRST_VERSION[custom_id]
    assert FIRST_VERSION[custom_id].encode() == custom_id


@pytest.mark.parametrize("custom_id", ["", "footnote:files:", "footnote:other:1", "another:files:1"])
def test_what_is_no_form_of_ours_is_none(custom_id: str) -> None:
    assert FormId.decode(custom_id) is None


BEFORE = ChosenSettings(profile=Profile.THOROUGH, behaviour=Behaviour.CONSERVATIVE, sources_first=True, handoff="7")

CHANGES: dict[str, tuple[SettingsMenu, list[str], ChosenSettings]] = {
    "a profile, and no behaviour": (SettingsMenu.EFFORT, ["profile=quick"], ChosenSettings(profile=Profile.QUICK)),
    "both": (
        SettingsMenu.EFFORT,
        ["profile=quick", "behaviour=thorough"],
        ChosenSettings(profile=Profile.QUICK, behaviour=Behaviour.THOROUGH),
    ),
    "neither": (SettingsMenu.EFFORT, [], ChosenSettings()),
    "bases": (SettingsMenu.BASES, ["a", "b, c"], ChosenSettings(bases=frozenset({"a", "b, c"}))),
    "all bases": (SettingsMenu.BASES, [], ChosenSettings()),
    "when it asks back": (
        SettingsMenu.CHECKPOINTS,
        ["clarify", "of no version"],
        ChosenSettings(checkpoints=frozenset({CheckpointKind.CLARIFY})),
    ),
    "never": (SettingsMenu.CHECKPOINTS, [], ChosenSettings(checkpoints=frozenset())),
    "where": (SettingsMenu.REPLY_STYLE, ["private"], ChosenSettings(reply_style=ReplyStyle.PRIVATE)),
    "how sure": (SettingsMenu.AUTO_ANSWER, ["medium"], ChosenSettings(auto_answer=0.8)),
    "not unasked": (SettingsMenu.AUTO_ANSWER, ["off"], ChosenSettings(auto_answer=0.0)),
    "posts": (SettingsMenu.FORUM_POSTS, ["yes"], ChosenSettings(forum_posts=True)),
    "no posts": (SettingsMenu.FORUM_POSTS, ["no"], ChosenSettings(forum_posts=False)),
    "sources first": (SettingsMenu.OTHER, ["sources_first=no"], ChosenSettings(sources_first=False)),
    "a role": (SettingsMenu.HANDOFF, ["123456"], ChosenSettings(handoff="123456")),
    "no role": (SettingsMenu.HANDOFF, [], ChosenSettings(handoff="")),
}


@pytest.mark.parametrize("what", CHANGES)
def test_an_option_of_the_first_version_chooses_what_it_chose(what: str) -> None:
    menu, values, expected = CHANGES[what]
    change = read_menu(menu, values)
    assert isinstance(change, SettingsChange)
    assert change.chosen == expected


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_leaves_what_it_does_not_name(what: str) -> None:
    menu, values, expected = CHANGES[what]
    change = read_menu(menu, values)
    assert isinstance(change, SettingsChange)
    after = change.apply(BEFORE)
    for name in ("profile", "behaviour", "sources_first", "handoff"):
        assert getattr(after, name) == getattr(expected if name in change.names else BEFORE, name)


def test_what_is_chosen_no_more_is_the_default_again() -> None:
    change = read_menu(SettingsMenu.EFFORT, ["behaviour=thorough"])
    assert isinstance(change, SettingsChange)
    assert change.apply(BEFORE).profile is None


def test_back_to_the_defaults_chooses_nothing() -> None:
    change = read_menu(SettingsMenu.OTHER, [MenuOption.DEFAULTS])
    assert isinstance(change, SettingsChange)
    assert change.apply(BEFORE) == ChosenSettings()


def test_what_has_to_be_typed_opens_its_form() -> None:
    assert read_menu(SettingsMenu.OTHER, ["languages"]) is FormKind.LANGUAGES
    assert read_menu(SettingsMenu.AUTO_ANSWER, ["number"]) is FormKind.CONFIDENCE


def test_what_is_typed_is_read() -> None:
    assert read_typed(FormKind.LANGUAGES, "English, German ,").chosen.languages == ("English", "German")
    assert read_typed(FormKind.LANGUAGES, " ").chosen.languages == ()
    assert read_typed(FormKind.CONFIDENCE, "0,85").chosen.auto_answer == 0.85
    for nonsense in ("", "very", "2"):
        with pytest.raises(ValueError, match="threshold"):
            read_typed(FormKind.CONFIDENCE, nonsense)


@pytest.mark.parametrize("profile", Profile)
def test_an_option_is_read_as_it_was_written(profile: Profile) -> None:
    chosen = ChosenSettings(profile=profile)
    change = read_menu(SettingsMenu.EFFORT, [encode_setting(chosen)])
    assert isinstance(change, SettingsChange)
    assert change.chosen == chosen
