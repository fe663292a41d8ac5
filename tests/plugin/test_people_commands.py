"""The commands of members, admins and superusers: what they do, and who may use them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from nonebot.adapters.onebot import v11

import cognitive_memory_core as core
from cognitive_memory_core.domain.job import QueueCounts

from .stage import SUPERUSER, Stage, message, new_id, said, told
from .test_commands import standing

EVERYBODY = (
    "帮助",
    "状态",
    "列表",
    "搜索 茶",
    "记住 我怕猫",
    "置顶列表",
    "侧写",
    "共享 on",
    "整理",
    "无痕 0",
    "可以记我",
)
ADMINS = ("开", "关 2小时", "只记", "只忆", "总结", "清空", "置顶 周五不讨论工作")
SUPERUSERS = ("统计", "队列", "失败", "重试", "停", "启", "查看 2000001", "回滚 2000001", "配置")


def admin(stage: Stage, role: str = "admin") -> None:
    """Let the platform answer that everybody who asks is an admin."""
    stage.answers["get_group_member_info"] = {"role": role}


def replying(text: str, said: str, speaker: int, user: int, group: int) -> Any:
    """Make a call that replies to a message of somebody."""
    sender = {"user_id": speaker, "nickname": "小林", "card": "", "role": "member"}
    reply = {"time": 1, "message_type": "group", "message_id": 5, "real_id": 5, "sender": sender, "message": said}
    return message(text, user, group, reply=reply)


async def test_pins_stand_in_the_list(stage: Stage, group: int) -> None:
    """Pins have numbers in the list, are found, shown, changed and removed like events."""
    user = new_id()
    here = core.Scene.group(str(group), str(user))
    await told(here, f"阿棠({user}) 喜欢茉莉花茶")
    await stage.ask("/记忆 记住 我对花生过敏", user, group)
    listed = (await stage.ask("/记忆 列表", user, group)).splitlines()
    assert listed[0] == "置顶"
    assert listed[1] == "1. 我对花生过敏"
    assert listed[3].startswith("2. [")
    assert "我对花生过敏" in await stage.ask("/记忆 搜索 花生", user, group)
    await stage.ask("/记忆 列表", user, group)
    assert "你的置顶" in await stage.ask("/记忆 详情 1", user, group)
    assert "我对芒果过敏" in await stage.ask("/记忆 更正 1 我对芒果过敏", user, group)
    assert "我对芒果过敏" in await stage.ask("/记忆 置顶列表", user, group)
    assert "去掉了" in await stage.ask("/记忆 忘掉 1", user, group)
    assert "还没有置顶" in await stage.ask("/记忆 置顶列表", user, group)


@pytest.mark.only_v11
async def test_a_reply_pins_the_message_with_its_speaker(stage: Stage, group: int) -> None:
    """A reply to a message with only the subcommand keeps that message and who said it."""
    speaker = new_id()
    event = replying("/记忆 记住", "周六去爬山", speaker, new_id(), group)
    [answer] = await stage.hear(event)
    assert f"小林({speaker})：“周六去爬山”" in answer


async def test_an_event_in_detail(stage: Stage, group: int) -> None:
    """Details show the whole text, who said it, and the lines that it was made of."""
    user = new_id()
    await told(core.Scene.group(str(group), str(user), user_name="阿棠"), f"阿棠({user}) 喜欢{'很香的' * 40}茶")
    listed = await stage.ask("/记忆 列表", user, group)
    assert "…" in listed
    assert f"{'很香的' * 40}茶" in await stage.ask("/记忆 详情 1", user, group)
    assert "没有这个序号" in await stage.ask("/记忆 详情 7", user, group)


async def test_a_person_corrects_their_own_words_only(stage: Stage, group: int) -> None:
    """A correction replaces the event; others, admins too, cannot change what somebody said."""
    user, other = new_id(), new_id()
    here = core.Scene.group(str(group), str(user), user_name="阿棠")
    await told(here, f"阿棠({user}) 对花生过敏")
    admin(stage)
    await stage.ask("/记忆 列表", other, group)
    assert "不是你说的" in await stage.ask("/记忆 更正 1 什么都吃", other, group)
    await stage.ask("/记忆 列表", user, group)
    assert "改好了" in await stage.ask("/记忆 更正 1 我对芒果过敏", user, group)
    assert await standing(here) == [f"阿棠({user}) 说：我对芒果过敏"]


async def test_forgetting_oneself_takes_two_calls(stage: Stage, group: int) -> None:
    """The first call asks, the same person's second one erases; somebody else's call confirms nothing."""
    user, other = new_id(), new_id()
    here = core.Scene.group(str(group), str(user))
    await told(here, f"阿棠({user}) 喜欢乌龙茶")
    assert "60 秒内再发一次" in await stage.ask("/memory forget me", user, group)
    assert "60 秒内再发一次" in await stage.ask("/记忆 忘记我", other, group)
    assert len(await standing(here)) == 1
    assert "删掉了" in await stage.ask("/记忆 忘记我", user, group)
    assert await standing(here) == []


async def test_clearing_asks_again_when_the_content_changed(stage: Stage, group: int) -> None:
    """A confirmation holds for what was there when it was asked; what came since needs another."""
    user = new_id()
    here = core.Scene.group(str(group), str(user))
    admin(stage)
    await told(here, f"阿棠({user}) 喜欢乌龙茶")
    assert "不能恢复" in await stage.ask("/记忆 清空", user, group)
    await told(here, f"阿棠({user}) 养了一只猫")
    assert "不能恢复" in await stage.ask("/记忆 清空", user, group)
    assert "删掉了" in await stage.ask("/记忆 清空", user, group)
    assert await standing(here) == []


@pytest.mark.parametrize(("seconds", "confirms"), [(59.0, True), (61.0, False)])
def test_a_confirmation_is_valid_for_a_minute(seconds: float, confirms: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """After sixty seconds the question has to be asked again; a confirmation counts once, the same message never."""
    from nonebot_plugin_cognitive_memory.command_table import COMMANDS
    from nonebot_plugin_cognitive_memory.commands import calls

    now, scene = [0.0], core.Scene.private("2000001")
    monkeypatch.setattr(calls, "to_confirm", calls.Lasting(60.0, 10, lambda: now[0]))

    def is_confirmed(message_id: str) -> bool:
        bot: Any = None
        event: Any = SimpleNamespace(message_id=message_id)
        return calls.is_confirmed(calls.Call(bot, event, scene, COMMANDS["clear"], None, ""), 1)

    assert not is_confirmed("m1")
    assert not is_confirmed("m1")
    now[0] = seconds
    assert is_confirmed("m2") is confirms
    if confirms:
        assert not is_confirmed("m3")


@pytest.mark.only_v11
@pytest.mark.parametrize("is_refused", [False, True])
async def test_people_export_what_is_theirs_in_private(stage: Stage, group: int, *, is_refused: bool) -> None:
    """The file is uploaded to the private chat; where the platform refuses files, its lines are the answer."""
    user = new_id()
    await told(core.Scene.group(str(group), str(user)), f"阿棠({user}) 喜欢乌龙茶")
    assert "只能在私聊" in await stage.ask("/记忆 导出", user, group)
    if is_refused:
        stage.answers |= {"upload_private_file": v11.ActionFailed(), "send_private_forward_msg": v11.ActionFailed()}
    said = "\n".join(await stage.hear(message("/记忆 导出", user)))
    assert ("喜欢乌龙茶" in said) is is_refused
    if not is_refused:
        assert "发给你了" in said
        assert any(api == "upload_private_file" for api, _ in stage.calls)
    await stage.ask("/记忆 忘记我", user)
    assert "导出或备份" not in await stage.ask("/记忆 忘记我", user)


@pytest.mark.parametrize("call", ["关 2小时", "off 2h", "关2小时", "只记 两个小时", "只忆 2小时"])
async def test_a_switch_of_a_group_ends_by_itself(stage: Stage, group: int, call: str) -> None:
    """A switch with a time limit says until when, in its answer and in the status; calling again removes the end."""
    from nonebot_plugin_cognitive_memory import get_memory

    user = new_id()
    here = core.Scene.group(str(group), str(user))
    admin(stage)
    told_until = await stage.ask(f"/记忆 {call}", user, group)
    switch = await get_memory().place_switch(here)
    assert switch.until is not None
    assert abs(switch.until - datetime.now(timezone.utc) - timedelta(hours=2)) < timedelta(minutes=5)
    shown = f"{switch.until.astimezone(ZoneInfo('Asia/Shanghai')):%H:%M}"
    assert f"{shown} 为止" in told_until
    assert "自动恢复" in told_until
    assert f"{shown} 为止" in await stage.ask("/记忆 状态 -t", user, group)
    await stage.ask(f"/记忆 {re.split('[ 2]', call)[0]}", user, group)
    assert (await get_memory().place_switch(here)).until is None
    assert "为止" not in await stage.ask("/记忆 状态 -t", user, group)


@pytest.mark.parametrize(
    ("call", "answer"),
    [("关 随便", "没看懂「随便」"), ("只记 到昨天", "已经过了"), ("开 2小时", "没有期限"), ("关 30", "没看懂「30」")],
)
async def test_a_time_limit_that_makes_no_sense_changes_nothing(
    stage: Stage, group: int, call: str, answer: str
) -> None:
    """A limit that is not understood or has passed, and one for switching on, get one sentence; nothing changes."""
    from nonebot_plugin_cognitive_memory import get_memory

    user = new_id()
    here = core.Scene.group(str(group), str(user))
    admin(stage)
    await get_memory().set_switch(here, "recall_only")
    refused = await stage.ask(f"/记忆 {call}", user, group)
    assert answer in refused
    assert len(refused.splitlines()) == 1
    assert await get_memory().place_switch(here) == core.PlaceSwitch(here.scope, "recall_only")


@pytest.mark.parametrize("role", ["member", "admin", "superuser"])
@pytest.mark.parametrize("subcommand", [*EVERYBODY, *ADMINS, *SUPERUSERS])
async def test_who_may_use_what_in_a_group(stage: Stage, group: int, role: str, subcommand: str) -> None:
    """Each command of a group is open to its roles, and every other role is told why not."""
    user = SUPERUSER if role == "superuser" else new_id()
    admin(stage, "admin" if role == "admin" else "member")
    answer = await stage.ask(f"/记忆 {subcommand}", user, group)
    allowed = {"member": EVERYBODY, "admin": EVERYBODY + ADMINS, "superuser": EVERYBODY + ADMINS + SUPERUSERS}[role]
    refused = "只有群主、管理员" in answer or "只有机器人管理员" in answer
    assert answer
    assert refused is (subcommand not in allowed)
    from nonebot_plugin_cognitive_memory import get_memory

    await get_memory().resume()  # undoes 停


async def test_failed_jobs_are_listed_and_retried(stage: Stage, group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A superuser reads place, attempts and error of a failed job, and queues it again by the start of its id."""
    from nonebot_plugin_cognitive_memory import get_memory

    turn = core.Turn(core.Scene.group(str(group), str(new_id())), observations=["某事"])
    job = type("Job", (), {"work": turn})()
    failed = core.FailedJob("abcdef0123456789", "模型答不上来", 4, datetime.now(timezone.utc), job)
    revived: list[str | None] = []

    async def jobs() -> list[core.FailedJob]:
        return [failed]

    async def revive(job_id: str | None = None) -> int:
        revived.append(job_id)
        return 1

    monkeypatch.setattr(get_memory(), "failed_jobs", jobs)
    monkeypatch.setattr(get_memory(), "revive", revive)
    listed = await stage.ask("/记忆 失败", SUPERUSER, group)
    assert f"群 {group}，试了 4 次：模型答不上来" in listed
    assert "重新排队 1" in await stage.ask("/记忆 重试 abcdef", SUPERUSER, group)
    assert "没有找到" in await stage.ask("/记忆 重试 zzz", SUPERUSER, group)
    assert revived == [failed.id]


async def test_a_refused_model_is_told_with_what_to_do(
    stage: Stage, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a provider refuses the key, 状态 and 失败 say so; a superuser tries now or lets the rules work."""
    from nonebot_plugin_cognitive_memory import get_memory

    now = replace(await get_memory().status(), refusal="请检查 API_KEY", jobs=QueueCounts(pending=3))
    asked: list[bool] = []

    async def status() -> core.Status:
        return now

    async def revive(job_id: str | None = None, *, by_rules: bool = False) -> int:
        assert job_id is None
        asked.append(by_rules)
        return 0

    monkeypatch.setattr(get_memory(), "status", status)
    monkeypatch.setattr(get_memory(), "revive", revive)
    assert "模型服务不肯回答" in await stage.ask("/记忆 状态", new_id(), group)
    failed = await stage.ask("/记忆 失败", SUPERUSER, group)
    assert "请检查 API_KEY。3 段对话等着，没有丢" in failed
    assert "/记忆 重试 规则" in failed
    assert "3 段马上再试" in await stage.ask("/记忆 重试", SUPERUSER, group)
    assert "规则" in await stage.ask("/记忆 重试 规则", SUPERUSER, group)
    assert asked == [False, True]


async def test_a_newcomer_reads_when_their_words_are_considered(stage: Stage, group: int) -> None:
    """While nothing is remembered yet, list and status say how much is gathered, and that it can be done now."""
    user = new_id()
    await stage.hear(message("我周六要去爬黄山", user, group, to_me=True))
    for call in ("/记忆 列表", "/记忆 状态"):
        assert "攒了 1 句" in await stage.ask(call, user, group)
    assert "整理" in await stage.ask("/记忆 整理", user, group)


async def test_the_private_list_names_the_group(stage: Stage, group: int) -> None:
    """What was said in a group is marked with its name, or its number where no name was heard, in private."""
    from nonebot_plugin_cognitive_memory import get_memory

    user = new_id()
    await said(core.Scene.group(str(group), str(user)), "我喜欢乌龙茶")
    assert f"（群 {group}）" in await stage.ask("/记忆 列表", user)
    named = core.Scene.group(str(group), str(user), group_name="读书会")
    await get_memory().observe(core.Message("m-named", named, "今天读什么", datetime.now(timezone.utc)))
    assert await get_memory().drain(20)
    assert "（读书会）" in await stage.ask("/记忆 列表", user)


@pytest.mark.only_v11
async def test_long_answers_are_forwarded_or_sent_in_parts(stage: Stage) -> None:
    """A long answer is one merged forward; where that is refused, all of it comes in parts."""
    from nonebot_plugin_cognitive_memory.commands.answering import say

    text = "\n".join(f"第 {number} 行" + "字" * 60 for number in range(40))
    event = message("x", new_id())
    await say(stage.bot, event, text)
    assert [api for api, _ in stage.calls] == ["send_private_forward_msg"]
    stage.calls.clear()
    stage.answers["send_private_forward_msg"] = v11.ActionFailed()
    await say(stage.bot, event, text)
    sent = [data["message"].extract_plain_text() for api, data in stage.calls if api == "send_msg"]
    assert "\n".join(sent) == text


async def test_versions_are_listed_and_chosen_by_number(stage: Stage, group: int) -> None:
    """A superuser sees past versions with their dates and brings one back by its number in that list."""
    user = new_id()
    scene = core.Scene.group(str(group), str(user), user_name="阿禾")
    for drink in ("乌龙茶", "美式咖啡"):
        await said(scene, f"我喜欢喝{drink}")
    assert "\n1. 20" in await stage.ask(f"/记忆 查看 {user}", SUPERUSER, group)
    assert "没有更早" in await stage.ask(f"/记忆 回滚 {user} 9", SUPERUSER, group)
    assert "换回了" in await stage.ask(f"/记忆 回滚 {user} 1", SUPERUSER, group)
    assert "美式咖啡" not in await stage.ask("/记忆 侧写", user, group)


async def test_a_summary_of_the_latest_lines(stage: Stage, group: int) -> None:
    """An admin gets the latest lines in short; without a model these are the newest that fit."""
    admin(stage)
    user = new_id()
    assert "没有记下什么话" in await stage.ask("/记忆 总结", user, group)
    await stage.hear(message("周六去爬山", user, group))
    answer = await stage.ask("/记忆 总结 20", user, group)
    assert "周六去爬山" in answer
    assert "没有接大模型" in answer


async def test_a_number_shows_what_is_stored_now(stage: Stage, group: int) -> None:
    """What was forgotten after a list was shown is not shown again by its number, and a corrected event keeps its."""
    user, other = new_id(), new_id()
    here = core.Scene.group(str(group), str(user), user_name="阿棠")
    await told(here, f"阿棠({user}) 对花生过敏")
    await stage.ask("/记忆 列表", other, group)
    await stage.ask("/记忆 列表", user, group)
    await stage.ask("/记忆 更正 1 我对芒果过敏", user, group)
    assert "芒果" in await stage.ask("/记忆 详情 1", user, group)
    assert "没有这个序号" in await stage.ask("/记忆 详情 1", other, group)
    assert "忘掉了" in await stage.ask("/记忆 忘掉 1", user, group)
    assert await standing(here) == []
    assert "没有这个序号" in await stage.ask("/记忆 忘掉 1", user, group)


@pytest.mark.only_v11
async def test_a_forged_call_erases_nobody(stage: Stage, group: int) -> None:
    """A call that the platform knows as another message is not carried out, however often it is sent."""
    user = new_id()
    here = core.Scene.group(str(group), str(user))
    await told(here, f"阿棠({user}) 喜欢乌龙茶")
    stage.answers["get_msg"] = {"sender": {"user_id": 1}, "message_type": "group", "message": "你好"}
    for _ in range(2):
        assert "没能向平台核实" in await stage.ask("/记忆 忘记我", user, group)
    assert len(await standing(here)) == 1


async def test_words_of_people_who_are_not_recorded_are_not_pinned(stage: Stage, group: int) -> None:
    """A reply to somebody who opted out pins nothing of what they said."""
    from nonebot_plugin_cognitive_memory import get_memory

    speaker = new_id()
    await get_memory().opt_out(str(speaker))
    [answer] = await stage.hear(replying("/记忆 记住", "我的秘密", speaker, new_id(), group))
    assert "秘密" not in answer
    await get_memory().opt_in(str(speaker))


async def test_people_stand_in_lists_by_name(stage: Stage, group: int) -> None:
    """Lists and searches show people by name, without the year and their numbers."""
    user = new_id()
    await told(core.Scene.group(str(group), str(user), user_name="阿棠"), f"阿棠({user}) 喜欢乌龙茶")
    for call in ("/记忆 列表", "/记忆 搜索 乌龙茶", "/记忆 详情 1"):
        answer = await stage.ask(call, user, group)
        assert "阿棠 喜欢乌龙茶" in answer
        assert str(user) not in answer
        assert f"[{datetime.now(timezone.utc):%Y}-" not in answer


async def test_a_search_is_not_filled_up(stage: Stage, group: int) -> None:
    """What is less than half as relevant as the best hit is left out, and a line that an event repeats, too."""
    user = new_id()
    here = core.Scene.group(str(group), str(user), user_name="阿棠")
    await told(here, f"阿棠({user}) 对花生过敏", f"阿棠({user}) 的生日是三月九号", f"阿棠({user}) 住在青石巷附近")
    for text in ("花生酱也不行吗", "周五晚上有空", "哈哈哈"):
        await stage.hear(message(text, user, group))
    answer = await stage.ask("/记忆 搜索 花生", user, group)
    assert "过敏" in answer
    assert "花生酱" in answer
    assert "哈哈哈" not in answer
    assert "有空" not in answer
    assert "生日" not in answer
    assert "青石巷" not in answer


async def test_who_forgot_themselves_learns_what_comes_next(stage: Stage, group: int) -> None:
    """After an erasure the answer says that new lines are recorded, except to those who opted out."""
    user = new_id()
    await stage.ask("/记忆 忘记我", user, group)
    assert "别记我" in await stage.ask("/记忆 忘记我", user, group)
    await stage.ask("/记忆 别记我", user, group)
    await stage.ask("/记忆 忘记我", user, group)
    assert "别记我" not in await stage.ask("/记忆 忘记我", user, group)


@pytest.mark.only_v11
async def test_an_answer_that_cannot_be_sent_costs_one_line(stage: Stage, group: int, log: list[str]) -> None:
    """If the platform takes no reply, the log says so in one line, without a traceback, and nothing else is sent."""
    from nonebot_plugin_cognitive_memory import limits

    limits._warned._values.clear()
    stage.answers["send_msg"] = v11.ActionFailed()
    await stage.bot.handle_event(message("/记忆 帮助", new_id(), group))
    assert [line for line in log if "没有发出去：ActionFailed" in line]
    assert not [line for line in log if line.startswith("ERROR")]
    assert [api for api, _ in stage.calls].count("send_msg") == 1


@pytest.mark.only_v11
async def test_a_memory_that_is_switched_off_still_forgets(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``enabled=false`` memos are kept, so people can be forgotten, left out and given their data; no more."""
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime

    user = new_id()
    here = core.Scene.private(str(user))
    settings = core.Settings.from_mapping({"enabled": False, "vector_store": {"backend": "exact"}})
    async with core.CognitiveMemory.open(settings, tmp_path) as memory:
        monkeypatch.setattr(lifetime, "memory", memory)
        await memory.remember(core.Turn(here, memo="聊了暗号青石板"))
        assert "记忆未启用" in await stage.ask("/记忆 列表", user)
        assert "发给你了" in await stage.ask("/记忆 导出", user)
        assert "60 秒内再发一次" in await stage.ask("/记忆 忘记我", user)
        assert "备忘 1" in await stage.ask("/记忆 忘记我", user)
        assert await memory.memos(here) == []
        assert "不记你" in await stage.ask("/记忆 别记我", user)


@pytest.mark.parametrize("call", ["忘记我", "别记我", "导出"])
async def test_without_a_memory_nobody_is_told_that_they_were_forgotten(
    stage: Stage, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the memory could not be opened, the answer is that it is off, however often one asks."""
    from nonebot_plugin_cognitive_memory.commands import entry
    from nonebot_plugin_cognitive_memory.lifecycle import Lifetime, lifetime

    closed = Lifetime(lifetime._setup)
    monkeypatch.setattr(entry, "lifetime", closed)
    monkeypatch.setattr(lifetime, "memory", core.CognitiveMemory.absent())
    user = new_id()
    assert {await stage.ask(f"/记忆 {call}", user) for _ in range(2)} == {"记忆未启用"}
