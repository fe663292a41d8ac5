"""README: a statement repeated five times is remembered once."""

from __future__ import annotations

from pathlib import Path

from tests.support.clock import FrozenClock
from tests.support.puppet import REWRITE, Puppet, Question, careful, shaped, statement
from tests.support.telling import READING, a_memory, tell


async def test_five_times_is_one_event_that_counts_five(tmp_path: Path) -> None:
    """Five turns with the same observation leave one event whose count is five."""
    async with a_memory(tmp_path) as memory:
        for _ in range(5):
            await tell(memory, READING, "阿禾(2156083317) 不吃香菜")
        assert [event.count for event in await memory.events(READING)] == [5]


async def test_what_happens_twice_is_no_repetition(tmp_path: Path) -> None:
    """An illness in March and again in June, in the same words, is two events; a lasting state is asked once."""
    clock = FrozenClock()

    def dating(question: Question) -> object:
        """Add a date, except to lasting states."""
        if question.name != REWRITE:
            return careful(question)
        day = f"{clock.now():%Y年%m月%d日}"
        said = ((number, text if "香菜" in text else f"{day}，{text}") for number, text in question.tasks)
        return shaped(question, *(statement(number, text, [READING.user_id]) for number, text in said))

    chat = Puppet(dating)
    async with a_memory(tmp_path, chat=chat, clock=clock) as memory:
        for _ in range(2):
            await tell(memory, READING, "阿禾(2156083317) 感冒发烧了", "阿禾(2156083317) 不吃香菜")
            clock.advance(days=90)
        counts = {event.text: event.count for event in await memory.events(READING)}
    ill = [text for text in counts if "发烧" in text]
    assert len(ill) == 2
    assert counts["阿禾(2156083317) 不吃香菜"] == 2
    assert sum("香菜" in text for question in chat.asked for _, text in question.tasks) == 1
