from core.model.conversation import Person
from core.model.json_codec import from_json, to_json


def test_a_lone_surrogate_of_a_platform_becomes_a_question_mark_and_the_rest_stays() -> None:
    kept = to_json(Person("slack:U1", "Zoë \ud800 🙂"))
    assert from_json(Person, kept) == Person("slack:U1", "Zoë ? 🙂")
