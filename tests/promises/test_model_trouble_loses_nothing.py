"""README: a model that is unavailable or answers nonsense costs time, but no memory."""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone
from pathlib import Path

import pytest

from cognitive_memory_core import CognitiveMemory, Event, Message, Settings, Turn, UnavailableError
from cognitive_memory_core.domain.figures import MergeState
from cognitive_memory_core.errors import BadAnswer, ModelRefused, PermanentError, TooSlow
from cognitive_memory_core.historian import rewriter, worker
from cognitive_memory_core.historian.merging import PAUSES
from cognitive_memory_core.settings.schema import QueueSettings
from tests.support.clock import FrozenClock
from tests.support.model_server import Behaviour, ModelServer, Reply, status
from tests.support.puppet import MERGE, REWRITE, TRIAGE, Puppet
from tests.support.served_models import MISSING
from tests.support.telling import EXACT, READING, a_memory
from tests.support.waiting import PATIENCE, until

FACT = f"阿禾({READING.user_id}) 喜欢喝乌龙茶"


async def told(memory: CognitiveMemory) -> Event:
    """Tell the fact; return the only event once nothing waits."""
    await memory.remember(Turn(READING, observations=(FACT,)))
    assert await memory.drain(PATIENCE)
    (event,) = await memory.events(READING)
    return event


@pytest.mark.parametrize("failure", [UnavailableError("away"), BadAnswer("nonsense"), TooSlow("60 s")])
async def test_what_was_said_waits_for_the_model(tmp_path: Path, failure: Exception) -> None:
    """While the model fails the status reports it; afterwards the event is stored."""
    chat = Puppet(refuses={REWRITE: failure})
    async with a_memory(tmp_path, chat=chat) as memory:
        await memory.remember(Turn(READING, observations=(FACT,)))
        assert not await memory.drain(1.0)
        status = await memory.status()
        assert status.jobs.pending + status.jobs.processing == 1
        assert status.last_error
        chat.refuses.clear()
        assert await memory.drain(PATIENCE)
        assert [event.text for event in await memory.events(READING)] == [FACT]


@pytest.mark.parametrize("failure", [BadAnswer("nonsense"), TooSlow("60 s"), PermanentError("400")])
async def test_what_no_model_ever_answers_is_stored_as_it_came(
    tmp_path: Path, failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the last attempt the observation itself is stored, marked; a working model improves it later."""
    monkeypatch.setattr(worker, "FIRST_PAUSE", 0.01)
    chat = Puppet(refuses={REWRITE: failure})
    async with a_memory(tmp_path, chat=chat) as memory:
        event = await told(memory)
        assert (event.text, event.is_absolute) == (f"机器人记：{FACT}", False)
        assert (await memory.status()).jobs.failed == 0
        chat.refuses.clear()
        event = await told(memory)
        assert (event.text, event.is_absolute, event.count) == (FACT, True, 2)


@pytest.mark.parametrize("failure", [BadAnswer("nonsense"), TooSlow("60 s"), PermanentError("400")])
async def test_a_dialogue_that_no_model_judges_is_judged_by_rules(
    tmp_path: Path, failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dialogue for which the model gives no valid answer is judged by rules."""
    monkeypatch.setattr(worker, "FIRST_PAUSE", 0.01)
    chat = Puppet(refuses={TRIAGE: failure})
    async with a_memory(tmp_path, chat=chat) as memory:
        at = datetime.now(timezone.utc)
        lines = [Message(f"m{number}", READING, text, at) for number, text in enumerate(["我对花生过敏", "哈哈"])]
        await memory.consider(READING, lines)
        assert await memory.drain(PATIENCE)
        assert [event.sender_id for event in await memory.events(READING)] == [READING.user_id]
        assert (await memory.status()).jobs.failed == 0


async def test_turns_of_a_place_are_worked_one_after_the_other(tmp_path: Path) -> None:
    """While the model is slow with a turn, no later one of the same place is begun, and both are stored in order."""
    chat = Puppet(seconds=0.3)
    async with a_memory(tmp_path, chat=chat) as memory:
        await memory.remember(Turn(READING, observations=(FACT,)))
        await until(lambda: chat.count(REWRITE) == 1)
        await memory.remember(Turn(READING, observations=(f"阿禾({READING.user_id}) 在学吉他",)))
        for _ in range(10):
            assert chat.count(REWRITE) == 1 or await memory.events(READING)
            await asyncio.sleep(0.05)
        assert await memory.drain(PATIENCE)
        assert [event.text[-4:] for event in await memory.events(READING)] == ["在学吉他", FACT[-4:]]


async def test_an_outage_is_no_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the model was away, an invalid answer after it is one attempt, and the job is asked again."""
    monkeypatch.setattr(worker, "FIRST_PAUSE", 0.01)
    settings = EXACT.model_copy(update={"queue": QueueSettings(job_max_retries=1)})
    chat = Puppet(failures=[*[UnavailableError("away")] * 3, BadAnswer("nonsense")])
    async with a_memory(tmp_path, settings, chat=chat) as memory:
        event = await told(memory)
        assert (event.text, event.is_absolute) == (FACT, True)


async def test_facts_wait_for_their_profile(tmp_path: Path) -> None:
    """Facts wait visibly while merge answers are invalid, and are in the profile afterwards."""
    chat, clock = Puppet(refuses={MERGE: BadAnswer("nonsense")}), FrozenClock()
    async with a_memory(tmp_path, chat=chat, clock=clock) as memory:
        await memory.consider(READING, [Message("m1", READING, "我喜欢喝乌龙茶", clock.now())])
        while chat.count(MERGE) < len(PAUSES):
            assert not await memory.drain(1.0)
            clock.advance(seconds=PAUSES[-1])  # the failure may be recorded before or after
        status = await memory.status()
        assert (status.merges.facts, status.merges.failing) == (1, 1)
        assert await memory.get_profile(READING, "user", READING.user_id) is None
        chat.refuses.clear()
        while not await memory.drain(1.0):
            clock.advance(seconds=PAUSES[-1])
        profile = await memory.get_profile(READING, "user", READING.user_id)
        assert profile is not None
        assert "乌龙茶" in profile.summary
        while (await memory.status()).merges != MergeState():  # the end of the trouble is noted after the profile
            await memory.drain(0.1)


@pytest.mark.parametrize("answer", [status(401), status(403), lambda _: Reply(MISSING, 404)])
async def test_a_refused_key_or_model_is_told(tmp_path: Path, answer: Behaviour) -> None:
    """If a provider refuses the key or the model, the job waits, and the status names the setting to correct."""
    async with ModelServer() as server:
        server.chat = answer
        model = {"api_url": server.url, "api_key": "sk-canary", "model_name": "m"}
        settings = {"vector_store": {"backend": "exact"}, "models": {"historian": model}}
        async with a_memory(tmp_path, Settings.from_mapping(settings)) as memory:
            await memory.remember(Turn(READING, observations=(FACT,)))

            async def is_told() -> bool:
                return "COGNITIVE_MEMORY__MODELS__HISTORIAN__" in (await memory.status()).refusal

            await until(is_told)
            told = await memory.status()
            assert told.jobs.pending + told.jobs.processing == 1
            assert dict(told.failing)["historian"] == told.refusal
            assert "canary" not in str(told)


async def test_a_refused_job_is_tried_at_the_operators_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the key is mended, "try now" does not wait for the end of a pause, and the model writes the event."""
    monkeypatch.setattr(worker, "FIRST_PAUSE", 1e6)
    chat = Puppet(refuses={REWRITE: ModelRefused("key")})
    async with a_memory(tmp_path, chat=chat) as memory:
        await memory.remember(Turn(READING, observations=(FACT,)))
        assert not await memory.drain(0.5)
        assert (await memory.status()).refusal
        chat.refuses.clear()
        await memory.revive()
        assert await memory.drain(PATIENCE)
        assert [(event.text, event.is_absolute) for event in await memory.events(READING)] == [(FACT, True)]
        assert not (await memory.status()).refusal


@pytest.mark.parametrize("is_told", [False, True])
async def test_the_rules_take_what_a_model_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_told: bool
) -> None:
    """After an hour, or at the operator's word, the rules make a refused job, marked; a model writes it later."""
    monkeypatch.setattr(worker, "FIRST_PAUSE", 1e6 if is_told else 0.01)
    chat = Puppet(refuses={REWRITE: ModelRefused("key")})
    async with a_memory(tmp_path, chat=chat) as memory:
        await memory.remember(Turn(READING, observations=(FACT,)))
        assert not await memory.drain(0.5)
        assert await memory.events(READING) == []
        if is_told:
            await memory.revive(by_rules=True)
        else:
            monkeypatch.setattr(rewriter, "REFUSED_FOR", 0.0)
        assert await memory.drain(PATIENCE)
        (event,) = await memory.events(READING)
        assert (event.text, event.is_absolute) == (f"机器人记：{FACT}", False)
        chat.refuses.clear()
        await memory.remember(Turn(READING, observations=(FACT,)))
        await memory.revive()
        assert await memory.drain(PATIENCE)
        (event,) = await memory.events(READING)
        assert (event.text, event.is_absolute, event.count) == (FACT, True, 2)
