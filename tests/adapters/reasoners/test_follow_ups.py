"""Scenes with follow-ups: what a question leaves out is put in so that it reads as one, and nothing else is touched."""

import pytest

from adapters.reasoners.extractive.question.follow_up import resolve, resolve_part
from adapters.reasoners.extractive.question.spelling import NoLexicon, english
from adapters.reasoners.extractive.question.written_names import with_written_names
from core.model.conversation import Exchange


def after(*questions: str) -> tuple[Exchange, ...]:
    """A thread of these questions, answers unknown."""
    return tuple(Exchange(question) for question in questions)


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("What is the refund policy?", "When does it apply?", "When does the refund policy apply?"),
        ("Where do I file an expense claim?", "Who signs it?", "Who signs the expense claim?"),
        ("Where are Venus flytraps native to?", "What is their prey?", "What is Venus flytraps' prey?"),
        ("Who leads Team Harbour?", "Which services do they own?", "Which services do Team Harbour own?"),
        ("How much is a garage door opener?", "How about replacing it?", "How about replacing the garage door opener?"),
        ("Who packs the spring boxes?", "Which labels do those need?", "Which labels do the spring boxes need?"),
    ],
)
def test_a_pronoun_becomes_what_it_stands_for_as_the_thread_says_it(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


def test_they_are_several_or_have_a_name() -> None:
    before = after("What does the refund policy say about annual customers?")
    assert resolve("What do they get?", before).question == "What do annual customers get?"


def test_the_album_is_called_by_its_name_once_it_has_one() -> None:
    before = (Exchange("Was the album Low Rider well received?"), Exchange("Who produced the album?"))
    assert resolve("Did it sell well?", before).question == "Did the album Low Rider sell well?"


@pytest.mark.parametrize(
    "said",
    [
        "Is sealing worth it?",
        "What does it mean to be insured?",
        "How much is it to have a duvet washed?",
        "Is it possible to pay by card?",
    ],
)
def test_an_it_that_stands_for_nothing_stays(said: str) -> None:
    assert resolve(said, after("How much is a new driveway?")).question == said


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("What does the Depot plan cost?", "and Fleet?", "What does the Fleet plan cost?"),
        ("Do we pay the First Lady?", "What about Ivanka?", "Do we pay Ivanka?"),
        ("How much is on-call paid?", "and if I get woken up?", "How much is on-call paid if I get woken up?"),
        ("How do I make a projector?", "I meant for a lunar eclipse", "How do I make a projector for a lunar eclipse?"),
        ("How fast is the base car?", "No, I meant the Lotus car.", "How fast is the Lotus car?"),
        (
            "How do you treat high blood pressure?",
            "How about high cholesterol?",
            "How do you treat high cholesterol?",
        ),
    ],
)
def test_a_fragment_goes_on_with_the_question_before_it(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("Who runs the auction?", "Where does that take place?", "Where does the auction take place?"),
        ("Who runs the auction?", "When did that last happen?", "When did the auction last happen?"),
        ("How much is a scrub top?", "What if we lose one?", "What if we lose the scrub top?"),
        ("How much is a scrub top?", "And how heavy is one", "And how heavy is the scrub top"),
    ],
)
def test_that_and_one_are_what_was_spoken_of(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


@pytest.mark.parametrize("said", ["Does the invoice cover each one?", "May I have more than one?"])
def test_one_of_several_is_not_the_topic(said: str) -> None:
    assert resolve(said, after("How much is a scrub top?")).question == said


def test_day_one_is_no_thing_that_was_spoken_of() -> None:
    assert "day one" in resolve("what else is on day one", after("When do I meet my buddy?")).question


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("Is there a shuttle from Denbry?", "for nights as well?", "Is there a shuttle from Denbry for nights?"),
        ("Is there a discount for charities?", "on delivery too?", "Is there a discount for charities on delivery?"),
        ("What is paid for a saver ticket?", "and for standard ones?", "What is paid for a standard ticket?"),
        (
            "Is there a discount for charities on delivery?",
            "and for students?",
            "Is there a discount for students on delivery?",
        ),
        ("What does error 423 mean?", "no, 422", "What does error 422 mean?"),
        ("What does a stop cost?", "what was it in 2025?", "What does a stop cost in 2025?"),
    ],
)
def test_a_fragment_takes_the_place_of_its_like(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


def test_where_two_questions_differ_the_next_differs_too() -> None:
    before = after("Can I get a refund for a saver ticket?", "Can I get a refund for a standard ticket?")
    assert resolve("no, I meant flex", before).question == "Can I get a refund for a flex ticket?"


def test_who_meant_the_old_one_asks_no_more_for_the_current_one() -> None:
    before = after("How many months does the current API keep orders?")
    understood = resolve("No, I meant the old one, version 1.", before).question
    assert understood == "How many months does the API keep orders (the old one, version 1)?"


def test_questions_that_differ_everywhere_tell_no_place() -> None:
    before = after("Who approves refunds?", "How long is the job timeout?")
    assert resolve("and the retry timeout?", before).question == "How long is the retry timeout?"


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("What does error 423 mean?", "What do I tell the partner then?", "What do I tell the partner then"),
        ("Is there a canteen?", "How many people eat there?", "How many people eat there"),
        ("Is there a canteen?", "Since when?", "Since when"),
    ],
)
def test_then_and_there_and_since_when_are_of_what_was_just_asked(before: str, said: str, understood: str) -> None:
    topic = "error 423" if "error" in before else "canteen"
    assert resolve(said, after(before)).question == f"{understood} ({topic})?"


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("interest on late payment before 2026", "and the keg deposit then?", "and the keg deposit before 2026?"),
        ("what was the deposit in 2023", "how long was the notice back then", "how long was the notice in 2023"),
        ("how high was the deposit under the old terms", "and the notice then?", "and the notice under the old terms?"),
        ("is the office shut in 2026", "who do i call then", "who do i call then (office shut)"),  # in that case
    ],
)
def test_then_is_the_time_that_was_asked_about_last(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        (
            "how many loan machines do we have",
            "how long can someone keep one",
            "how long can someone keep loan machines",
        ),
        ("how much is a day pass", "can i take one home", "can i take the day pass home"),
        ("how much is a day pass", "which one is the best", "which day pass is the best"),
    ],
)
def test_one_is_of_what_was_asked_about(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


@pytest.mark.parametrize(
    ("former", "part", "understood"),
    [
        ("who leads the wind workshop?", "what's the extension?", "what's the extension (wind workshop)?"),
        ("who leads the wind workshop?", "where is the van park?", "where is the van park?"),
        ("what does it cost?", "how long is the notice?", "how long is the notice?"),
    ],
)
def test_a_later_part_that_names_one_thing_is_asked_of_the_first(former: str, part: str, understood: str) -> None:
    assert resolve_part(part, (former,)).question == understood


def test_there_still_means_what_was_put_right() -> None:
    before = after("What would I pay (the old terms, version 3)?")
    assert (
        resolve("What was guaranteed there?", before).question
        == "What was guaranteed there (the old terms, version 3)?"
    )


def test_that_version_is_the_one_with_a_number() -> None:
    before = after("When did WardLink 5.1 come out?", "How long is the PIN?")
    said = "Was something broken in that version?"
    assert resolve(said, before).question == "Was something broken in that version (WardLink 5.1)?"


def test_a_way_has_two_ends() -> None:
    before = after(
        "How much is a ticket from Seewacht to Port-Rivage?", "How much is a child ticket from Seewacht to Port-Rivage?"
    )
    assert resolve("how long does it take?", before).question == "how long does it take (from Seewacht to Port-Rivage)?"


def test_a_fragment_after_no_question_is_not_made_into_one() -> None:
    assert resolve("What about employees?", after("Good decisions")).question == "What about employees?"


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        ("Speaking of scams, what are the most common scams?", "What are the most common scams?"),
        ("Speaking about sea level, is it rising?", "Is sea level rising?"),
        ("Changing the subject, how many people work in Hull?", "How many people work in Hull?"),
        ("Do you mean I can get my report here in Hull?", "I can get my report here in Hull?"),
        ("no, I meant which series was the best in history?", "which series was the best in history?"),
        ("Support costs are billed in Hull, right?", "Support costs are billed in Hull?"),
    ],
)
def test_turns_of_talk_go(said: str, understood: str) -> None:
    assert resolve(said, after("Where do the Arizona Cardinals play?")).question == understood


@pytest.mark.parametrize("said", ["Is the address in Hull correct?", "For parking in Hull, which permits are there?"])
def test_what_only_looks_like_a_turn_of_talk_stays(said: str) -> None:
    assert resolve(said, after("Where do the Arizona Cardinals play?")).question == said


def test_an_announced_topic_is_not_traced_to_the_thread() -> None:
    resolved = resolve("Speaking about parking, who decides on it?", after("What is the refund policy?"))
    assert resolved.question == "Who decides on parking?"
    assert not resolved.reason


def test_turns_of_talk_stay_where_nothing_else_was_said() -> None:
    assert resolve("I was asking", after("What is the refund policy?")).question == "I was asking"


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("What is GMO labelling?", "What are the pros and cons?", "What are the pros and cons (GMO labelling)?"),
        (
            "When can I return a broken scanner?",
            "What are the requirements?",
            "What are the requirements (broken scanner)?",
        ),
    ],
)
def test_a_question_that_leaves_open_of_what_is_of_what_was_just_asked(before: str, said: str, understood: str) -> None:
    resolved = resolve(said, after(before))
    assert resolved.question == understood
    assert resolved.reason.startswith("about ")


@pytest.mark.parametrize(
    "said",
    [
        "Who approves refunds?",
        "How do refunds work?",
        "Where is the canteen?",
        "Can I bring my dog?",
        "Parking permits?",
    ],
)
def test_a_few_words_about_something_of_their_own_are_a_new_topic(said: str) -> None:
    assert resolve(said, after("How long is the job timeout?")).question == said


def test_what_is_said_of_the_talk_itself_is_of_nothing_in_the_documents() -> None:
    said = "That was not my question. I asked how wide."
    assert resolve(said, after("Which is the largest river in America?")).question == said


def test_later_in_a_thread_no_topic_is_guessed() -> None:
    before = after("How long is the job timeout?", "Who approves refunds?", "Where is the canteen?")
    assert resolve("What are the requirements?", before).question == "What are the requirements?"


def test_a_document_that_was_only_cited_is_not_what_a_new_question_is_about() -> None:
    thread = (
        Exchange("How many days of holiday do I get?", "27 days of annual leave.", ("Leave",)),
        Exchange("And how many can I carry over?", "Up to five days.", ("Leave",)),
    )
    assert resolve("How do I configure the timeout?", thread).question == "How do I configure the timeout?"


def test_who_asks_something_else_at_a_card_leaves_its_topic_behind() -> None:
    parked = Exchange("How do I configure the timeout?", is_settled=False)
    assert resolve("How long is the trial?", (parked,)).question == "How long is the trial?"
    assert resolve("And how long does it last?", (parked,)).question != "And how long does it last?"


def test_a_name_that_another_was_put_in_the_place_of_is_left_behind() -> None:
    prices = ("Price list",)
    before = (
        Exchange("how much is Glow Plus?", "Glow Plus: £112", prices),
        Exchange("how much is Spark?", "Spark: £49. For every kilowatt-hour: Spark 5.5p, Glow Plus 7p.", prices),
    )
    assert resolve("does it come with a battery?", before).question == "does Spark come with a battery?"


def test_a_name_that_is_asked_about_again_is_not_left_behind() -> None:
    before = after("how much is Glow?", "how much is Spark?", "how much is Glow?")
    assert resolve("does it come with a battery?", before).question == "does Glow come with a battery?"


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("who manages the farm at otter lower", "and upper?", "who manages the farm at otter upper?"),
        ("what does a thousand triploid cost", "and diploid?", "what does a thousand diploid cost?"),
        ("what is the rent per month", "and per year?", "what is the rent per year?"),
        ("is the desk staffed on Monday", "and on Friday?", "is the desk staffed on Friday?"),
        ("how do i order seed?", "how early?", "how early do i order seed?"),
    ],
)
def test_a_single_word_takes_the_place_of_its_opposite(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        (
            "how many weeks maternity leave on full pay",
            "not maternity - partner",
            "how many weeks partner leave on full pay?",
        ),
        ("cancel fee for diploid spat?", "i mean natives, not diploid", "cancel fee for natives spat?"),
        ("when did otter lower open", "wrong site, pinnock i mean", "when did pinnock open?"),
        ("plausible range for salinity?", "oops, temperature", "plausible range for temperature?"),
        ("and where do passports go then", "sorry, I meant cameras", "and where do cameras go then?"),
        ("what did BW21 cost", "ok and BW3, i mean when was that one put in", "when was BW3 put in"),
        (
            "what does the kiln shelf cost to hire?",
            "sorry not the shelf, the wheel",
            "what does the wheel cost to hire?",
        ),
        ("what is the Java client called?", "not the Java one, the Rust one", "what is the Rust client called?"),
        ("what do you keep when I cancel pitches?", "no no, cabins", "what do you keep when I cancel cabins?"),
        ("hotell limmit london", "sory i ment outside london", "hotell limmit outside london?"),
        ("when does the shop in Leith open?", "oops, i'm at the quay", "when does the shop at the quay open?"),
        ("First aider at Dunmarrow?", "oops wrong site, i'm at the quay", "First aider at the quay?"),
        ("Who signs holidays in the office?", "no, I'm in sales", "Who signs holidays in sales?"),
        ("what does a rehair cost in the barn", "sorry, i meant at the quay", "what does a rehair cost at the quay?"),
        ("which phone does the app want", "i meant tablet, sorry", "which phone does the app want (tablet)?"),
        ("charge per tonne for a 180 t freighter", "make that a 60 t one", "charge per tonne for a 60 t freighter?"),
        ("points for not using the bell", "no wait, for going too fast", "points for going too fast?"),
        ("points for not using the bell", "wait no, for going too fast", "points for going too fast?"),
        ("how long are photos of boats kept", "and for drawn... sorry I meant the logs", "how long are logs kept?"),
    ],
)
def test_what_is_put_right_takes_the_place_of_what_was_wrong(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("what was the fee in 2026?", "and a year earlier", "what was the fee in 2025?"),
        ("security charge per passenger?", "and a year earlier", "security charge per passenger in 2025?"),
        ("security charge per passenger?", "and the year after?", "security charge per passenger in 2027?"),
    ],
    ids=["of the year that was asked about", "of the year of what was quoted", "the year after"],
)
def test_a_year_earlier_is_counted_from_the_year_that_was_asked_about_or_quoted(
    before: str, said: str, understood: str
) -> None:
    assert resolve(said, (Exchange(before, "4.80", ("charges-2026",)),)).question == understood


def test_without_any_year_there_is_none_before_it() -> None:
    said = "and a year earlier"
    assert "20" not in resolve(said, (Exchange("security charge per passenger?", "4.80", ("charges",)),)).question


def test_a_word_alone_takes_the_place_of_another_of_its_kind() -> None:
    assert (
        resolve("saturday?", after("how late is it open on wednesdays")).question == "how late is it open on saturday?"
    )


def test_a_word_alone_that_is_of_no_such_kind_is_asked_of_what_was_spoken_of() -> None:
    assert resolve("extension?", after("who heads the fire service")).question == "extension (fire service)?"


def test_catchwords_without_a_question_mark_may_be_a_new_topic() -> None:
    assert resolve("parking", after("who heads the fire service")).question == "parking"


def test_a_word_in_the_place_of_its_like_keeps_what_was_put_behind_the_question() -> None:
    before = after("how late is it open on wednesdays (Passes)")
    assert resolve("saturday?", before).question == "how late is it open on saturday (Passes)?"


def test_what_was_put_in_the_place_of_a_part_holds_the_last_question_and_what_stands_behind_it_does_not() -> None:
    assert resolve("and for annual plans?", after("How long are refunds open for vouchers?")).holds_last
    assert not resolve("why?", after("Refunds are open for 30 days")).holds_last


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("how old must I be?", "what would the old terms have said", "how old must I be under the old terms?"),
        ("how old must I be?", "what does the 2024 edition say", "how old must I be under the 2024 edition?"),
        ("how long do you keep a found phone", "a passport?", "how long do you keep a passport?"),
    ],
)
def test_what_another_edition_says_and_another_thing_are_asked_as_the_last_question_was(
    before: str, said: str, understood: str
) -> None:
    assert resolve(said, after(before)).question == understood


def test_what_a_distance_was_asked_in_is_no_place() -> None:
    before = after("which station is closest to Thrushcombe", "how far is it to Thrushcombe in km")
    assert resolve("and who is the manager there", before).question == "and who is the manager there (Thrushcombe)"


def test_one_before_something_else_is_of_the_things_just_spoken_of() -> None:
    before = after("which gate has a prayer room")
    assert "prayer room before security" in resolve("is there one before security too", before).question


def test_there_is_the_place_that_was_asked_about_last() -> None:
    before = after("where is the first aid kit at the quay", "where is the first aid kit at the nursery")
    assert resolve("is there a defibrillator there?", before).question == "is there a defibrillator at the nursery?"


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("how early can I turn up before my slot", "and how late?", "how late can I turn up before my slot?"),
        ("how many times is a webhook retried", "over how long?", "over how long is a webhook retried?"),
        ("how do I claim expenses?", "by when?", "by when do I claim expenses?"),
        ("is the canteen open at night", "when then?", "when is the canteen open at night?"),
    ],
)
def test_a_bare_question_word_takes_the_place_of_the_one_before_it(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        (
            "rate limit of the booking api",
            "was that lower in version 1?",
            "rate limit of the booking api in version 1?",
        ),
        ("who staffs the desk at Poole?", "is it the same in Bremen?", "who staffs the desk at Poole in Bremen?"),
        (
            "how many days of leave do I get",
            "no sorry, i meant what it was back in 2024",
            "how many days of leave do I get in 2024?",
        ),
        (
            "what did edition 2023 say about interest",
            "and in the edition that counts now?",
            "what did the edition that counts now say about interest?",
        ),
        (
            "what do we charge for a no-show?",
            "no, I meant last year's price",
            "what do we charge for a no-show (last year's price)?",
        ),
        (
            "what is new in the latest release?",
            "and the one before?",
            "what is new in the one before the latest release?",
        ),
        ("which python does frostgate 3 need", "and 2.9?", "which python does frostgate 2.9 need?"),
        ("who do members ring during the day?", "and at night?", "who do members ring at night?"),
        ("what is a kayak in low season?", "no i meant when it's high season", "what is a kayak in high season?"),
        ("is the slip open on Mondays?", "and on Sundays?", "is the slip open on Sundays?"),
    ],
)
def test_the_same_is_asked_of_another_time_or_version(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("who approves expenses?", "and above 500 euros?", "who approves expenses above 500 euros?"),
        ("who approves refunds above 2,000 euros?", "and below?", "who approves refunds below 2,000 euros?"),
        ("how much is a filter of 4 mm", "sorry i meant 14 mm", "how much is a filter of 14 mm?"),
        (
            "how long do you keep proof of delivery photos?",
            "and driver positions?",
            "how long do you keep driver positions?",
        ),
        (
            "what's the internal emergency number",
            "and when I'm calling from my own mobile?",
            "what's the internal emergency number when I'm calling from my own mobile?",
        ),
        ("who is the site manager at Kettle Point", "Harrow Lane?", "who is the site manager at Harrow Lane?"),
        (
            "who handles the lost parcels in the May incident",
            "no, i mean the one in august with the broken door",
            "who handles the lost parcels in the incident in august with the broken door?",
        ),
    ],
)
def test_what_is_added_or_put_in_finds_its_place(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        ("oh wait I meant CH", "status CH in stock?"),
        ("meant CH, not QH", "status CH in stock?"),
    ],
)
def test_a_correction_needs_not_say_that_it_is_one_in_full(said: str, understood: str) -> None:
    assert resolve(said, after("status QH in stock?")).question == understood


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("how much leave do permanent staff get", "and seasonal ones?", "how much leave do seasonal staff get?"),
        (
            "what is a heated berth at Oar Bay in low season",
            "and a bigger one there in high season",
            "what is a bigger berth at Oar Bay in high season?",
        ),
    ],
)
def test_ones_are_another_kind_of_what_was_asked_about(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


def test_a_place_of_the_asker_is_no_other_thing_than_was_asked_about() -> None:
    before = after("who has to approve a new oven?", "who has to approve a conference?")
    assert resolve("no, I'm in sales", before).question == "who has to approve a conference in sales?"


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        ("ive lived in Leith till last year", "how long does a pass take (ive lived in Leith till last year)?"),
        ("we're a charity", "how long does a pass take (we're a charity)?"),
        ("I'm a student, so what is it for me?", "how long does a pass take (I'm a student)?"),
        ("what if it's a sunday", "how long does a pass take (a sunday)?"),
        ("and what if that falls on a holiday?", "how long does a pass take (on a holiday)?"),
        ("I'm in sales, who pays?", "I'm in sales, who pays?"),
        ("I lost my phone", "I lost my phone"),
    ],
)
def test_the_askers_own_case_is_one_of_the_last_question_and_what_happened_to_them_is_not(
    said: str, understood: str
) -> None:
    assert resolve(said, after("how long does a pass take?")).question == understood


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("how long does Tempo Plus run?", "and the monthly price", "the monthly price (Tempo Plus)?"),
        ("what does the deposit cover?", "and the fee?", "what does the fee cover?"),
        ("how long does Tempo Plus run?", "and Tempo Solo?", "how long does Tempo Solo run?"),
    ],
)
def test_a_price_asked_for_next_is_of_the_same_thing_and_no_thing_of_its_own(
    before: str, said: str, understood: str
) -> None:
    assert resolve(said, after(before)).question == understood


def test_a_place_in_the_last_question_ends_before_its_verb() -> None:
    before = after("what does the contract for own linen say about the term?")
    assert resolve("and for rental?", before).question == "what does the contract for rental say about the term?"


def test_in_charge_is_in_no_place() -> None:
    before = after("who was in charge")
    assert resolve("and in the ferry incident?", before).question == "who was in charge in the ferry incident?"


def test_his_is_of_who_was_named_first_and_not_of_the_longest_name() -> None:
    before = (Exchange("who looks after the vans?", "Colm Reddy. vans. Cold Ash Lane. 62."),)
    assert resolve("what's his extension?", before).question == "what's Colm Reddy's extension?"


def test_a_month_typed_small_is_no_thing() -> None:
    before = after("deposit for a boat? i signed in march 2024")
    assert "take march" not in resolve("may i take it to Spain?", before).question


def test_a_site_typed_small_is_a_site() -> None:
    before = (Exchange("who is in charge at fennside", "Fennside. Colm Reddy. 4400."),)
    asked = "since when does that site exist"
    assert resolve(asked, before, english()).question == f"{asked} (fennside)"


def test_what_is_put_right_is_not_doubled() -> None:
    assert resolve("meant cell 3, not 4", after("how cold does cell 4 get")).question == "how cold does cell 3 get?"


def test_what_was_only_added_is_not_said_of_the_next() -> None:
    before = (Exchange("mileage for own car?"), Exchange("mileage for own car if i take a colleague along?"))
    assert resolve("by bike?", before).question == "mileage for own car by bike?"


def test_a_name_put_in_takes_the_place_of_the_one_put_in_before() -> None:
    assert resolve("what about T1", after("what do i do first (D2)?")).question == "what do i do first (T1)?"


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        (
            "when is chamber 8 defrosted",
            "and how long does that take",
            "and how long does that take (chamber 8 defrosted)",
        ),
        ("what happened on 14 January?", "how long did it last?", "how long did it last (on 14 January)?"),
    ],
)
def test_what_takes_long_is_what_was_done_and_no_thing(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


def test_it_is_something_else_than_what_is_asked_of_it() -> None:
    assert resolve("which Postgres does it need", after("what changed in Frostgate 4.0?")).question == (
        "which Postgres does Frostgate 4.0 need"
    )


def test_an_amount_is_nothing_that_people_speak_of() -> None:
    before = (Exchange("how many days of leave do I get?"), Exchange("who approves a claim of 800 euros?"))
    assert "800" not in resolve("and how many of them can I carry over?", before).question


def test_a_language_to_answer_in_is_no_place() -> None:
    before = after("Und wer genehmigt den Urlaub?")
    assert resolve("ok, in English: who approves my leave?", before).question == "who approves my leave?"


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("price frozen storage brackwater", "at Fennside?", "price frozen storage Fennside?"),
        (
            "electricity used at kettle point in june",
            "no I meant Brackwater, same month",
            "electricity used at Brackwater in june?",
        ),
        ("who is the manager at loch aill lower", "and upper?", "who is the manager at loch aill upper?"),
    ],
)
def test_names_typed_small_are_names(before: str, said: str, understood: str) -> None:
    answered = (Exchange(before, "Brackwater. The Kettle Point hub and the Loch Aill farm, as Brackwater."),)
    assert resolve(said, answered, english()).question == understood


def test_where_no_words_are_known_none_is_taken_for_a_name() -> None:
    window = (Exchange("wo steht der kasten in leeds", "In Leeds."),)
    assert with_written_names(window, NoLexicon()) == window
    assert with_written_names((Exchange("the fennside dock"),), english())[0].question == "the Fennside dock"


def test_that_team_is_the_one_that_the_last_answer_names() -> None:
    before = (Exchange("who owns ovenwatch?", "ovenwatch. Team Crumb. In memory."),)
    assert resolve("who leads that team?", before).question == "who leads Team Crumb?"
    two = (Exchange("who owns ovenwatch?", "ovenwatch. Team Crumb. vanwatch. Team Crust."),)
    assert "Team" not in resolve("who leads that team?", two).question


def test_he_is_who_was_named_and_not_the_office() -> None:
    before = (Exchange("who leads Team Crumb?", "Colm Reddy. Team Lead. Team Crumb. Leith."),)
    assert resolve("is he in Leith?", before).question == "is Colm Reddy in Leith?"


@pytest.mark.parametrize("before", ["who approves a new oven?", "who approves an oven?"])
def test_another_thing_need_not_be_new_as_the_one_before_it_was(before: str) -> None:
    assert resolve("and a van?", after(before)).question.replace("an van", "a van") == "who approves a van?"


def test_as_what_is_asked_of_the_same() -> None:
    assert resolve("as a baker?", after("when do i start")).question == "when do i start as a baker?"
    assert resolve("as far as Leith?", after("when do i start")).question == "as far as Leith?"


@pytest.mark.parametrize(("title", "understood"), [("Your first days", "primary"), ("Leith bakery", "Leith bakery")])
def test_what_a_page_calls_itself_to_its_readers_is_no_thing_that_was_spoken_of(title: str, understood: str) -> None:
    before = [Exchange(asked, "", (title,)) for asked in ("when do i go first", "when do i go first as primary?")]
    assert resolve("what do i get for that", before).question == f"what do i get for {understood}"


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("which oven is the newest?", "until when is it covered?", "until when is the newest oven covered?"),
        ("which delivery van is the biggest", "who drives that?", "who drives the biggest delivery van?"),
    ],
)
def test_it_is_what_was_singled_out(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


def test_the_one_before_is_counted_from_the_newest_that_was_asked_about() -> None:
    asked = resolve("until when is it covered?", after("which oven is the newest?")).question
    before = after("which oven is the newest?", asked)
    assert resolve("and the one before?", before).question == "until when is the one before the newest oven covered?"


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        (
            "how many spare codes do i get when i switch on 2fa",
            "ok and where do i switch it on",
            "ok and where do i switch 2fa on",
        ),
        ("what does it cost to book the sauna on a Sunday", "who can book it?", "who can book the sauna?"),
    ],
)
def test_it_is_what_the_same_was_done_to(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        (
            "how often does it look into my mailbox?",
            "where do i change that",
            "where do i change how often it looks into my mailbox",
        ),
        (
            "how long do deleted files sit in the trash?",
            "can i set it to 10 days?",
            "can i set how long deleted files sit in the trash to 10 days?",
        ),
        ("who owns the trash?", "can i change that?", "can i change the trash?"),
    ],
)
def test_what_is_changed_is_how_often_or_how_long_it_is_done(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("how fast do we react to a p2", "what about p4s?", "how fast do we react to a p4?"),
        (
            "how often do we post then (p2)",
            "what about p4s? do we still have to run",
            "how often do we post then (p4)? do we still have to run",
        ),
        ("how can i stop that daily chess mail", "and the weekly one?", "how can i stop that weekly chess mail?"),
        ("which linter do we use for kotlin", "and swift", "which linter do we use for swift?"),
        ("wich lintr do we use for kotln", "and swift", "wich lintr do we use for swift?"),
        (
            "how long is the link valid",
            "and when i come back another day and ask for a new link?",
            "how long is the link valid when i come back another day and ask for a new link?",
        ),
    ],
)
def test_another_case_takes_the_place_of_its_like(before: str, said: str, understood: str) -> None:
    assert resolve(said, after(before)).question == understood


def test_a_case_of_its_own_is_no_thing_that_was_spoken_of() -> None:
    said = "and if it's only a new scan of the same letter, can the tool find those"
    assert resolve(said, after("how do i refuse a file that came a second time?")).question == said


def test_somebody_is_nobody_that_was_spoken_of() -> None:
    assert "(somebody" not in resolve("does that work?", after("somebody posted the sheet, how do i hide it")).question
    said = "what does someone see who opens it after that?"
    asked = "what does someone see who opens the link after that?"
    assert resolve(said, after("who may open the link")).question == asked
