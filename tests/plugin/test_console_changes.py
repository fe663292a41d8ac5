"""Tests of what is changed, tried and taken in on the console's pages, and of our own records."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from nonebug import App

import cognitive_memory_core as core
from tests.support.builders import OPERATOR
from tests.support.clock import NOON
from tests.support.model_server import ModelServer, status

from .console_stage import Console, Visitor, console, first_id


async def test_what_somebody_changed_meanwhile_is_not_forgotten(shown: Console) -> None:
    """Forgetting, or undoing, what was corrected meanwhile changes nothing, and shows what stands now."""
    async with shown.visited() as visitor:
        event_id = first_id(await visitor.look("/memories", place="group/20001", kind="preference"))
        corrected = await visitor.act("/memories/correct", id=event_id, text="阿棠(2000001) 喜欢科幻小说")
        assert "撤销这次更正" in corrected
        [standing] = [one.id for one in await shown.memory.listings.events(OPERATOR, core.EventListing(), 50, 0)
                      if "科幻" in one.text]  # fmt: skip
        again = await shown.memory.correct_event(OPERATOR, standing, "阿棠(2000001) 喜欢奇幻小说")
        token = await visitor.form_token()
        for path, fields in (
            ("/memories/change", {"id": event_id, "action": "forget", "sure": "yes"}),
            ("/memories/undo", {}),
        ):
            answer = await visitor.send(path, form_token=token, **fields)
            assert answer.status_code == 409, path
            assert "喜欢奇幻小说" in answer.text
        assert (await shown.memory.listings.event(OPERATOR, again.id)).retired_at is None


async def test_lines_of_a_profile_by_hand(shown: Console) -> None:
    """A line is written, changed and removed by hand; one that rests on a memory is not, and what was typed is kept."""
    async with shown.visited() as visitor:
        key = {"key": "member/20001/2000001"}
        assert "周三来不了" in await visitor.act("/profiles/edit", **key, line="", text="周三来不了")
        page = await visitor.act("/profiles/edit", **key, line="周三来不了", text="周四来不了")
        assert 'value="周四来不了"' in page
        assert 'name="line" value="新加的一行"' not in page
        token = await visitor.form_token()
        for line in ("周三来不了", "新加的一行"):
            refused = await visitor.send("/profiles/edit", form_token=token, **key, line=line, text="周五来不了")
            assert refused.status_code == 422
            assert "周五来不了" in refused.text
        page = await visitor.act("/profiles/edit", **key, line="周四来不了", text="周四来不了", action="remove")
        assert 'value="周四来不了"' not in page


async def test_a_memory_is_added_by_hand(shown: Console) -> None:
    """What a person said is handed in on the page of the place, for one person, by id or by a name of nobody else."""
    async with shown.visited() as visitor:
        said = {"place": "group/20001", "text": "我周末都在图书馆"}
        assert "收下了" in await visitor.act("/memories/add", **said, user_id="阿棠")
        assert await shown.memory.drain(30)
        assert "图书馆" in await visitor.look("/memories", user_id="2000001")
        for user_id in ("2000011", "2000012"):
            scene = core.Scene.group("20001", user_id, user_name="Kay", group_name="读书会")
            await shown.memory.observe(core.Message(f"of {user_id}", scene, "大家好呀", NOON))
        assert await shown.memory.drain(30)
        for nobody in ("", "没有这个人", "Nobody", "Kay"):
            refused = await visitor.submit("/memories/add", **said, user_id=nobody)
            assert refused.status_code == 422
            assert "我周末都在图书馆" in refused.text


async def test_prompts_are_tried_and_not_stored(shown: Console) -> None:
    """Each prompt is shown with a sample; another wording is shown filled, or why it cannot be used, and not stored."""
    async with shown.visited() as visitor:
        assert "我对花生过敏" in await visitor.look("/prompts")
        own = "说短些\n<!-- prompt -->\n$time $place $people $lines $max_chars"
        assert "说短些\n\n2026年3月6日" in await visitor.act("/prompts/try", name="compress", template=own)
        assert "只写一次" in await visitor.act("/prompts/try", name="compress", template="说短些")
        assert "说短些" not in await visitor.look("/prompts")


async def test_records_are_ours_and_say_no_words(shown: Console) -> None:
    """The records have what this plugin logged, without quoted words and secrets, and nothing that NoneBot logged."""
    from loguru import logger

    from nonebot_plugin_cognitive_memory.console.records import Records, is_own

    records = Records()
    number = logger.add(records.take, filter=is_own, format="{message}")
    try:
        logged = partial(_logged_by, "nonebot_plugin_cognitive_memory.lifecycle")
        said = "[认知记忆] 史官没有回答“我昨天和小李吵了一架”，密钥 sk-secret"
        logger.patch(logged).bind(memory_job="j1", other="x").warning(said)
        logger.patch(partial(_logged_by, "nonebot")).info("[认知记忆] Message 我昨天和小李吵了一架")
        logger.patch(logged).info("没有我们的字头")
    finally:
        logger.remove(number)
    secret = core.Settings.from_mapping({"models": {"historian": {"api_key": "sk-secret"}}})
    [one] = records.newest(secret)
    assert one.text == "史官没有回答“…10”，密钥 …"
    assert one.fields == {"job": "j1"}


async def test_an_export_is_imported(shown: Console, tmp_path: Path) -> None:
    """An uploaded export is imported, each row once; without a session, the form's token or its page, nothing is."""
    exported = tmp_path / "memory.jsonl"
    await shown.memory.export(exported)
    upload = {"file": ("memory.jsonl", exported.read_bytes())}
    origin = shown.address.split("/memory")[0]

    async def sent(visitor: Visitor, token: str, origin: str = origin, **given: Any) -> int:
        fields = {"data": {"form_token": token}, "files": upload, **given}
        return (await visitor.client.post("/transfers/import", headers={"Origin": origin}, **fields)).status_code

    async with shown.visited() as visitor:
        token = await visitor.form_token()
        assert await sent(visitor, "") == 403
        assert await sent(visitor, token, "https://evil.example.com", files={"file": b"{}"}) == 403
        assert await sent(visitor, token, files=None) == 415
        assert "导入了" not in await visitor.look("/transfers")
        assert await sent(visitor, token) == 303
        page = ""
        while "导入了，新的有 0 条" not in page:
            await asyncio.sleep(0.05)
            page = await visitor.look("/transfers")
        visitor.client.cookies.clear()
        answer = await visitor.client.post("/transfers/import", headers={"Origin": origin}, files={"file": b"{}"})
        assert answer.headers["location"].endswith("/login")


async def test_the_doctor_tries_the_model_and_shows_no_answer(app: App, tmp_path: Path, monkeypatch: Any) -> None:
    """An examination says what is wrong with a model that is set and what to do, without its answer and the key."""
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    async with ModelServer() as server, console(tmp_path / "data") as one, one.visited() as visitor:
        server.chat = status(401, message="answer-canary")
        for key, value in (("API_URL", server.url), ("API_KEY", "sk-canary"), ("MODEL_NAME", "m1")):
            monkeypatch.setenv(f"COGNITIVE_MEMORY__MODELS__HISTORIAN__{key}", value)
        page = await visitor.act("/running/examine")
        assert "密钥" in page
        assert "检查结果" in page
        assert server.asked
        assert "canary" not in page


def _logged_by(room: str, record: Any) -> None:
    record["name"] = room
