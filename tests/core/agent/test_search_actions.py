"""Recognizing repeated searches."""

from dataclasses import replace

from core.agent.gather import new_actions
from core.model.inquiry import Search, SearchKnowledge
from core.model.knowledge import KnowledgeBase
from tests.adapters.reasoners.harness import inquiry

HANDBOOK, API = KnowledgeBase("handbook", "How we work"), KnowledgeBase("api", "The API reference")
MADE = (Search(SearchKnowledge("refunds"), found=8, new=8),)


def test_the_same_query_in_the_only_base_by_its_name_is_a_repeat() -> None:
    asked = replace(inquiry(bases=(HANDBOOK,)), searches=MADE)
    assert new_actions(asked, (SearchKnowledge("Refunds", "handbook"), SearchKnowledge("refunds"))) == ()
    named = replace(asked, searches=(Search(SearchKnowledge("refunds", "handbook"), found=8, new=8),))
    assert new_actions(named, (SearchKnowledge("refunds"),)) == ()


def test_in_one_base_of_several_it_is_none() -> None:
    asked = replace(inquiry(bases=(HANDBOOK, API)), searches=MADE)
    in_one = SearchKnowledge("refunds", "handbook")
    assert new_actions(asked, (in_one, in_one, SearchKnowledge("refunds"))) == (in_one,)
