"""Which sentences are quoted, and how they stand in the answer: what a newcomer reads of the reasoner that quotes."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from adapters.reasoners.extractive.compose.quote_markdown import shorten
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.score.weighing import Similarity
from adapters.reasoners.extractive.understand.answer_type import NEUTRAL, fits, is_broad, is_strict, thing_asked
from core.model.evidence import EvidenceLibrary, Grade, Hit
from core.model.inquiry import Investigate
from core.model.knowledge import Passage
from core.model.passage_units import Form, befores, in_context, units
from core.model.text import content_words
from core.ports.index import Vectors
from tests.adapters.reasoners.harness import inquiry, meter, passage, thread
from tests.fakes.memory.encoder import HashingEncoder

FAQ = (
    "Do drivers need a special phone?\nNo. The app runs on ordinary phones. Photos are kept for three days without a "
    "signal, and are sent when it returns to the phone.\n\nHow can I pay?\nBy card on every plan, or by transfer."
)
CLAIMS = (
    "Photograph the receipt in Chit and send it. Reports go out on Thursdays. "
    "Nobody approves their own claims, whatever the sum."
)


@pytest.fixture
def reasoner() -> ExtractiveReasoner:
    return ExtractiveReasoner(HashingEncoder())


def shelf(*passages: Passage, grade: int = 8) -> EvidenceLibrary:
    found, added = EvidenceLibrary().add([Hit(one, 0.8) for one in passages], "asked")
    return found.with_grades({item.id: Grade(grade) for item in added})


async def answered(reasoner: ExtractiveReasoner, question: str, *passages: Passage) -> str:
    found = shelf(*passages)
    asked = inquiry(question, library=found, plan=Investigate(question, (question,)))
    return "".join([str(part) async for part in reasoner.compose(asked, thread(), found.relevant(5), meter())])


def of(text: str, title: str = "Refunds", **more: Any) -> Passage:
    return passage(1, text, title, **more)


async def test_how_long_is_answered_by_the_sentence_with_a_time(reasoner: ExtractiveReasoner) -> None:
    text = await answered(
        reasoner,
        "How long do refunds take?",
        of("Small refunds took far too long for our taste. Refunds go back by card. They arrive within five days."),
    )
    assert "They arrive within five days. [1]" in text


async def test_a_statement_that_is_its_own_title_is_quoted(reasoner: ExtractiveReasoner) -> None:
    said = "The lift is inspected by the facility team each spring."
    assert f"{said} [1]" in await answered(reasoner, "who inspects the lift?", of(said, said))


@pytest.mark.parametrize("text", ["It is inspected by the facility team.", "Every employee may.", "Nobody has a key."])
def test_who_may_be_a_group(text: str) -> None:
    assert fits("Who inspects it?", text) >= NEUTRAL


async def test_a_way_of_doing_something_is_told_from_the_beginning_of_its_section(
    reasoner: ExtractiveReasoner,
) -> None:
    text = await answered(reasoner, "how do I claim expenses", of(CLAIMS, "Expenses", heading=("How to claim",)))
    assert text.index("Photograph the receipt") < text.index("Nobody approves")


async def test_a_question_for_one_figure_gets_one_sentence(reasoner: ExtractiveReasoner) -> None:
    text = await answered(
        reasoner,
        "How many stops may a job have?",
        of("A job may have at most 5,000 stops. Vans are painted every 3 years. Jobs are planned at night.", "Limits"),
    )
    assert "5,000 stops" in text
    assert "painted" not in text


async def test_of_a_table_the_row_that_is_asked_for_is_shown(reasoner: ExtractiveReasoner) -> None:
    rows = "".join(f"| {plan} | {price} |\n" for plan, price in (("Starter", 49), ("Depot", 189), ("Fleet", 640)))
    table = f"| Plan | Price per month, any number of depots |\n|---|---|\n{rows}| Enterprise | 1900 |\n| Ferry | 80 |"
    text = await answered(reasoner, "What is the price of the Depot plan?", of(table, "Prices"))
    assert "| Depot | 189 [1] |" in text
    assert "Ferry" not in text


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("What is the defibrillator location?", ["Clifton", "Redland", "Bedminster"]),
        ("What is the defibrillator location in Redland?", ["Redland"]),
    ],
)
async def test_of_a_short_table_all_rows_are_shown_where_none_is_asked_for(
    reasoner: ExtractiveReasoner, question: str, shown: list[str]
) -> None:
    table = (
        "| Club | Fire exit | Defibrillator |\n|---|---|---|\n| Clifton | Back door | Reception, left wall |\n"
        "| Redland | Side door | First floor, by the lift |\n| Bedminster | Pool door | — |"
    )
    text = await answered(reasoner, question, of(table, "Safety"))
    assert [club for club in ("Clifton", "Redland", "Bedminster") if club in text] == shown


async def test_an_older_version_never_stands_without_the_newer_one(reasoner: ExtractiveReasoner) -> None:
    old = replace(of("Refunds of any kind arrive within ten days.", "Refund policy (2024)"), dated="2024-03-01")
    new = replace(
        passage(2, "Refunds of every kind arrive in five days at most.", "Refund policy (2026)"), dated="2026-02-01"
    )
    text = await answered(reasoner, "Within how many days do refunds of any kind arrive?", old, new)
    assert "five days" in text
    assert "ten days" not in text


async def test_a_bare_yes_or_no_reads_on_without_a_marker_of_its_own(reasoner: ExtractiveReasoner) -> None:
    text = await answered(reasoner, "Do drivers need a special phone?", of(FAQ, "Questions"))
    assert "section Do drivers need a special phone?:" in text
    assert "> No. The app runs on ordinary phones. [1]" in text


async def test_what_is_left_out_between_two_sentences_is_marked(reasoner: ExtractiveReasoner) -> None:
    between = "Rain fell. Nobody came. The band played on regardless."
    text = await answered(
        reasoner,
        "Which vans and ferries are there?",
        of(f"Vans there are seven of. {between} Ferries there are two of.", "Fleet list"),
    )
    assert "[1] … Ferries" in text
    assert "Rain fell" not in text


async def test_a_list_stands_under_the_words_that_lead_in_to_it(reasoner: ExtractiveReasoner) -> None:
    text = await answered(
        reasoner,
        "How do deliveries fail?",
        of("Since then deliveries fail like this:\n\n- A delivery that fails waits.\n- Ten failures suspend it."),
    )
    assert "Since then deliveries fail like this:\n\n- A delivery that fails waits. [1]" in text


async def test_a_listing_is_shown_whole_or_only_named(reasoner: ExtractiveReasoner) -> None:
    short, long = ("```\n" + "POST /jobs/create a planning job\n" * times + "```" for times in (2, 200))
    whole = await answered(reasoner, "How do I create a planning job?", of(short, "JobStore"))
    named = await answered(reasoner, "How do I create a planning job?", of(long, "JobStore"))
    assert short in whole
    assert "There is a listing of 202 lines in [1]." in named


def test_a_long_stretch_ends_at_a_full_stop_and_never_within_a_link() -> None:
    link = "[the description of everything](https://example.org/a/very/long/address)"
    assert shorten(f"{'It goes on. ' * 45}See {link} for more. {'And on. ' * 40}").endswith(".")
    endless = shorten(f"{'and so on, ' * 52} {link} {'and on ' * 40}")
    assert endless.endswith(" …")
    assert "[" not in endless


def test_a_line_of_its_own_is_the_heading_of_what_follows_it() -> None:
    found = units(FAQ)
    assert [unit.under for unit in found] == [
        "Do drivers need a special phone?",
        "Do drivers need a special phone?",
        "How can I pay?",
    ]


def test_a_wrapped_line_is_no_heading() -> None:
    found = units(
        "The shift lasts one week and changes hands on\nTuesday at ten. Nobody carries two of\nthem in a row."
    )
    assert [unit.text for unit in found] == [
        "The shift lasts one week and changes hands on Tuesday at ten.",
        "Nobody carries two of them in a row.",
    ]


def test_a_line_that_was_wrapped_before_a_long_link_is_no_heading() -> None:
    found = units(
        "The yard was started privately by\n[Ada Quill](https://quill.example) and [Bo Reed](https://reed.example)."
        " Most of\nits first boats were paid for by the [Harbour Trust](https://harbour-trust.example/about)."
    )
    assert [unit.under for unit in found] == ["", ""]
    assert found[0].text.startswith("The yard was started privately by [Ada Quill]")


def test_a_heading_does_not_end_in_an_article() -> None:
    found = units("You can ask for a cabin in the\nWest Wing, and for one with a desk if you write long reports there.")
    assert [unit.under for unit in found] == [""]


def test_a_sentence_goes_on_in_small_letters_though_another_line_is_long() -> None:
    link = f"See the [overview](https://docs.example/{'way/' * 40})."
    found = units(f"The ferry office is a small hut beside the landing stage\nwith a green roof.\n{link}")
    assert found[0].text == "The ferry office is a small hut beside the landing stage with a green roof."


def test_the_rest_of_an_item_is_no_heading_over_the_next() -> None:
    found = units("- Agree with the skipper on what the crew will need and on the\n  tools they bring\n- Pay the berth")
    assert [(unit.under, unit.text[:7]) for unit in found] == [("", "- Agree"), ("", "- Pay t")]


def test_an_item_within_an_item_stands_under_the_words_that_head_it() -> None:
    found = units("- Two weeks ahead\n  - Trips by ferry\n- Five weeks ahead:\n  - Trips by plane\n- Nothing else.")
    assert [unit.under for unit in found] == ["", "Two weeks ahead", "", "Five weeks ahead:", ""]


def test_the_end_of_a_sentence_in_small_letters_is_no_heading() -> None:
    found = units(
        "Keep the list of berths in a shared folder, which we\nrecommended that you sync to Harbour\nDrive."
        " It opens on any machine of the office, and the old one is gone for good."
    )
    assert [unit.under for unit in found] == ["", ""]


def test_a_list_that_stands_apart_from_its_item_is_led_to_by_it() -> None:
    found = units(
        "- **Ashore - #670:** Any time away of less than three weeks. Including:\n\n  - Jury duty\n  - Weddings"
    )
    assert [unit.under[:17] for unit in found] == ["", "**Ashore - #670:*", "**Ashore - #670:*"]


def test_the_line_over_a_table_is_its_heading_and_nothing_to_quote() -> None:
    found = units("Rope or chain\n| | Rope | Chain |\n|---|---|---|\n| Weight | light | heavy |")
    assert [(unit.form, unit.under) for unit in found] == [(Form.ROW, "Rope or chain")]


def test_the_line_over_code_is_its_heading_and_nothing_to_quote() -> None:
    found = units("Delete a berth\n```sh\nberths delete 7\n```\n\nClear all berths\n```sh\nberths clear\n```")
    assert [(unit.form, unit.under) for unit in found] == [
        (Form.CODE, "Delete a berth"),
        (Form.CODE, "Clear all berths"),
    ]


def test_lines_that_name_things_stay_things_of_their_own() -> None:
    found = units(
        "Generic: accuracy\nOperational: time\nWe measure both of these things on every release that goes out."
    )
    assert [unit.text for unit in found][:2] == ["Generic: accuracy", "Operational: time"]


@pytest.mark.parametrize("later", ["They arrive soon.", "We take nothing for these payments."])
def test_a_unit_is_read_below_its_headings_and_after_what_it_looks_back_to(later: str) -> None:
    paid = of(f"Refunds go back by card. {later}", "Refund policy", heading=("Refunds", "How it is paid"))
    found = units(paid.text)
    assert in_context(paid, found[1], befores(found)[found[1]]) == (
        f"Refund policy, How it is paid: Refunds go back by card. {later}"
    )


def test_a_sentence_that_stands_alone_is_read_alone() -> None:
    found = units("Refunds go back by card. A payment arrives soon.")
    assert not befores(found)


def test_a_row_is_read_with_the_names_of_its_columns() -> None:
    table = of("| Plan | Price |\n|---|---|\n| Depot | 189 |", "Prices")
    assert in_context(table, units(table.text)[0]) == "Prices: Plan: Depot; Price: 189"


@pytest.mark.parametrize(
    ("question", "text", "without"),
    [
        ("When was it founded?", "Halvard founded it.", True),
        ("When was it founded?", "It was founded in 2009.", False),
        ("What happens when a delivery fails?", "It is tried again.", False),
        ("Who approves it?", "It is approved by the Head of People.", False),
        ("Who approves it?", "It is approved in writing.", True),
        ("How much is it?", "It is much dearer.", True),
        ("How cold does cell 4 get?", "Cell 4 gets colder.", True),
        ("How cold does cell 4 get?", "| 4 | −40 °C |", False),
        ("How heavy is it?", "It is too heavy to lift.", True),
        ("What do we charge for a no-show?", "It is charged to whoever made the booking.", True),
        ("What do we charge for a no-show?", "| No-show | 75.00 |", False),
        ("What do you pay with?", "With the fleet card.", False),
        ("From which IP range do the hooks come?", "We send from 203.0.113.64/28.", False),
    ],
)
def test_a_text_without_the_kind_of_thing_asked_for_is_no_answer(question: str, text: str, *, without: bool) -> None:
    assert (is_strict(question) and fits(question, text) < NEUTRAL) is without


def test_a_sentence_that_tells_what_to_do_fits_how_to() -> None:
    question = "How do I claim expenses?"
    assert fits(question, "Photograph the receipt and send it.") > fits(question, "Claims are paid on Thursdays.")


@pytest.mark.parametrize(
    ("question", "broad"),
    [("how do I book leave", True), ("sick leave", True), ("Is the API down?", False), ("How long is leave?", False)],
)
def test_only_a_broad_question_is_answered_by_a_section(question: str, *, broad: bool) -> None:
    assert is_broad(question) is broad


class Counting(HashingEncoder):
    """An encoder that counts what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded = 0

    async def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.encoded += len(texts)
        return await super().encode_passages(texts)


async def test_a_sentence_is_encoded_once_for_grading_and_quoting() -> None:
    encoder = Counting()
    similarity, refunds = Similarity(encoder), of("Refunds go back by card. They arrive soon.")
    await similarity.of_units("refunds?", [(refunds, unit) for unit in units(refunds.text)])
    await similarity.of_units("cards?", [(refunds, unit) for unit in units(refunds.text)])
    assert encoder.encoded == 2


class Slow(Counting):
    """An encoder that hangs in its second call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    async def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.calls == 2:
            await asyncio.Event().wait()
        return await super().encode_passages(texts)


async def test_what_was_encoded_before_a_deadline_is_there_when_it_is_asked_for_again() -> None:
    encoder = Slow()
    similarity = Similarity(encoder, seconds=0.3)
    sentences = [f"Refunds of kind {number} take {number} days." for number in range(40)]
    assert set(await similarity.of_sentences("refunds?", sentences)) == {0.0}, "words alone: all or none"
    before = encoder.encoded
    assert before > 0
    assert any(await similarity.of_sentences("refunds?", sentences))
    assert encoder.encoded == len(sentences), "none of them twice"


def test_a_numbered_heading_over_its_paragraph_is_no_item_of_a_list() -> None:
    text = "5. Yield\nWe guarantee 85 % of it.\n\n6. Insurance\nStorm, fire and hail are covered, but for £150."
    assert [(unit.under, unit.text) for unit in units(text)] == [
        ("5. Yield", "We guarantee 85 % of it."),
        ("6. Insurance", "Storm, fire and hail are covered, but for £150."),
    ]


def test_short_steps_stay_a_list() -> None:
    steps = "1. Read the wind at the eaves\n2. Photograph the roof\n3. Call the depot"
    assert [unit.text for unit in units(steps)] == steps.splitlines()


@pytest.mark.parametrize("half", ["```python\nsize = 500\nlimit = 12", "    size = 500\n    limit = 12\n```"])
def test_half_a_listing_is_quoted_between_two_marks(half: str) -> None:
    (unit,) = units(half)
    assert unit.text.count("```") == 2
    assert "size = 500" in unit.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long is the audit log kept?", "| `retention.audit` | 7y | who changed what |"),
        ("when are wages paid?", "Wages are paid on the last working day of the month."),
        ("when are expenses due?", "They go through by the 20th."),
    ],
)
def test_a_time_is_one_as_settings_and_calendars_have_it(question: str, text: str) -> None:
    assert fits(question, text) == 1.0


def test_the_thing_that_is_asked_for_is_told_from_what_it_is_of() -> None:
    assert thing_asked("what is the phone number of Ada Byron?") == content_words("phone number")
    assert thing_asked("how many roofers work for Fernie") == content_words("roofers")
    assert thing_asked("Where is the depot?") == ()


GENERATOR = (
    "The generator starts by itself after 15 seconds and feeds light, the lock doors, the servers and the barrier "
    "washers of both halls. It has diesel for nine hours. It does not feed the tunnels, the ironers, the folders and "
    "the dryers, nor the compressors behind the hall, which stand still until the mains are back. Ring the fitter."
)


async def test_what_follows_and_looks_back_is_quoted_with_a_sentence(reasoner: ExtractiveReasoner) -> None:
    text = await answered(reasoner, "How long does the generator run?", of(GENERATOR, "No power"))
    assert "It has diesel for nine hours." in text
    assert "Ring the fitter" not in text


async def test_quotes_a_short_paragraph_whole_if_its_best_sentence_lacks_a_query_term(
    reasoner: ExtractiveReasoner,
) -> None:
    leave = "Leave of office staff: 28 days. What is left lapses on 31 March."
    assert "31 March" in await answered(reasoner, "When does leave of office staff lapse?", of(leave, "Booklet"))


async def test_a_sentence_that_has_the_figure_stands_alone(reasoner: ExtractiveReasoner) -> None:
    kept = "Five-minute readings: 400 days. Recordings of calls: 90 days. Applications for jobs: eight months."
    text = await answered(reasoner, "How long are recordings of calls kept?", of(kept, "Privacy"))
    assert "90 days" in text
    assert "eight months" not in text


@pytest.mark.parametrize(
    ("text", "under", "first"),
    [
        ("**9. Behaviour.** Quiet hours stand on the board. Drones are forbidden.", "9. Behaviour", "Quiet hours"),
        (
            "**2026.11 (3 November 2026)** Returns are scanned. Deposits go back.",
            "2026.11 (3 November 2026)",
            "Returns",
        ),
        ("**Mid** is 22 May to 3 July. **Low** is the rest.", "", "**Mid** is 22 May"),
        ("**Owner:** Ann Lee. Changed in May.", "", "**Owner:** Ann Lee"),
    ],
)
def test_a_heading_at_the_start_of_a_paragraph_applies_to_all_its_sentences(text: str, under: str, first: str) -> None:
    found = units(text)
    assert found[0].text.startswith(first)
    assert [unit.under for unit in found] == [under] * 2


CANCELLING = (
    "- Go to the portal of the transit office.\n- Log in to your account.\n- Click on Transit application.\n"
    "- Click on Withdraw.\n- Click Continue."
)


async def test_rules_in_a_list_are_no_steps(reasoner: ExtractiveReasoner) -> None:
    rules = "- Transit passes are for staff.\n- It ends in June.\n- Guests pay themselves.\n- Nobody lends a pass."
    text = await answered(reasoner, "How can guests pay?", of(rules, "Transit benefit"))
    assert "Guests pay themselves." in text
    assert "ends in June" not in text


@pytest.mark.parametrize(
    ("led_to", "brought"),
    [
        ("| | Punch | Ledger |\n| - | - | - |\n| Cadence | weekly | fortnightly |", "fortnightly"),
        ("- Punch is filled in every week.\n- Ledger is filled in every other week.", "every other week"),
        ("```\npunch --weekly\n```", "punch --weekly"),
    ],
    ids=["a table", "a list", "a listing"],
)
async def test_words_that_announce_something_bring_it(reasoner: ExtractiveReasoner, led_to: str, brought: str) -> None:
    compared = f"Punch is a different tool than Ledger. Here is a quick comparison:\n\n{led_to}"
    text = await answered(reasoner, "How is Punch a different tool than Ledger?", of(compared, "Hours"))
    assert "quick comparison" in text
    assert brought in text


async def test_what_is_announced_is_not_brought_where_it_is_long(reasoner: ExtractiveReasoner) -> None:
    listed = "\n".join(f"- Entry {number} of the archive." for number in range(12))
    compared = f"Punch is a different tool than Ledger. Here is a quick comparison:\n\n{listed}"
    text = await answered(reasoner, "How is Punch a different tool than Ledger?", of(compared, "Hours"))
    assert "Entry 11" not in text


async def test_a_bare_plural_asks_for_the_whole_list(reasoner: ExtractiveReasoner) -> None:
    benefits = "- Transport benefits: a rail pass.\n- A bicycle on loan.\n- Lunch on Fridays."
    text = await answered(reasoner, "transport benefit?", of(benefits, "Perks"))
    whole = await answered(reasoner, "transport benefits?", of(benefits, "Perks"))
    assert "Lunch" in whole
    assert "Lunch" not in text


async def test_a_list_that_was_cut_into_two_passages_is_quoted_whole_and_in_order(reasoner: ExtractiveReasoner) -> None:
    lead = "We offer badges in three different formats:\n\n"
    first = replace(of(f"{lead}* SVG: a picture.\n* JSON: for programs.", "Badges"), section="formats", ordinal=1)
    second = replace(passage(2, f"{lead}* Shields: badge formats for both.", "Badges"), section="formats", ordinal=2)
    elsewhere = replace(passage(3, f"{lead}* PNG: gone since.", "Badges"), section="older", ordinal=3)
    text = await answered(reasoner, "How many badge formats are there?", second, elsewhere, first)
    told = [text.find(name) for name in ("SVG", "JSON", "Shields")]
    assert min(told) > -1
    assert told == sorted(told)
    assert text.count("three different formats") == 1
    assert "PNG" not in text
