"""What the elements of modals hold, within Slack's limits."""

from adapters.slack.outbound.views import MOST_OPTIONS, multi_select, select

MANY = {f"S{number}": f"@group-{number}" for number in range(150)}


def test_what_is_chosen_is_offered_however_many_there_are() -> None:
    element = select("handoff", "Whom", MANY, "S120")["element"]
    assert len(element["options"]) == MOST_OPTIONS
    assert element["initial_option"] in element["options"]


def test_all_that_is_chosen_is_offered_however_many_there_are() -> None:
    element = multi_select("bases", "Bases", MANY, ["S3", "S120", "S149"])["element"]
    assert len(element["options"]) == MOST_OPTIONS
    assert [one["value"] for one in element["initial_options"]] == ["S3", "S120", "S149"]
    assert all(one in element["options"] for one in element["initial_options"])


def test_the_order_stays_where_all_fit() -> None:
    element = select("handoff", "Whom", {"b": "B", "a": "A"}, "a")["element"]
    assert [one["value"] for one in element["options"]] == ["b", "a"]
