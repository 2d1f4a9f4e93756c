"""The summary of a thread: of what its readers may read now, and of nothing else."""

from core.model.conversation import Audience
from core.model.knowledge import KnowledgeBase
from tests.core.scene import Scene

BOARD = Audience(frozenset({"test:channel:T/board"}))


async def test_turns_of_a_base_that_is_no_more_for_the_readers_do_not_go_to_the_summariser() -> None:
    scene = Scene()
    await scene.knows("Refunds are paid within 14 days.", base="board", grants=frozenset({"test:channel:T/board"}))
    for n in range(10):
        await scene.asks(f"question {n} about refunds", audience=BOARD)
    await scene.catalog.save_base(KnowledgeBase("board", "", frozenset({"nobody"})))
    await scene.question_service.reflect(scene.key(), BOARD)
    assert scene.script.calls_of("summarise") == []
    record = await scene.memory.recall(scene.key())
    assert (record.summarised, record.summary) == (2, "")


async def test_turns_that_may_be_read_are_summarised() -> None:
    scene = Scene()
    await scene.knows("Refunds are paid within 14 days.", base="board", grants=frozenset({"test:channel:T/board"}))
    for n in range(10):
        await scene.asks(f"question {n} about refunds", audience=BOARD)
    await scene.question_service.reflect(scene.key(), BOARD)
    assert "question 0" in (await scene.memory.recall(scene.key())).summary
