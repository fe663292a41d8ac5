"""Tests of ``/memory`` and ``/记忆``."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nonebot import on_message

import cognitive_memory_core as core

from .stage import SUPERUSER, Stage, message, new_id, told
from .test_belief_commands import grown


async def standing(scene: core.Scene) -> list[str]:
    """Return the texts of what is remembered in a scene."""
    from nonebot_plugin_cognitive_memory import get_memory

    return [event.text for event in await get_memory().events(scene)]


@pytest.mark.parametrize(
    "call", ["/memory", "/memory help", "/记忆", "!memory", "!记忆 帮助", "  /记忆   帮助 ", "/memory\nhelp"]
)
async def test_help(stage: Stage, group: int, call: str) -> None:
    """The command works in both languages, after each sign and with spaces; alone it means help."""
    answer = await stage.ask(call, new_id(), group)
    assert all(word in answer for word in ("帮助", "状态", "列表", "搜索", "记住", "忘掉"))


@pytest.mark.parametrize(
    "call", ["/memory.status", "/memorystatus", "/记忆力", "memory", "记忆 列表", "我的记忆 列表", "?memory"]
)
async def test_no_call(stage: Stage, group: int, call: str) -> None:
    """Text that only resembles the command is not answered."""
    assert await stage.ask(call, new_id(), group) == ""


@pytest.mark.parametrize(
    ("call", "part"),
    [
        ("/记忆 随便", "没有这个子命令"),
        ("/记忆 lsit", "没有这个子命令，最像的是 /记忆 列表"),
        ("/记忆 帮助一下", "写法：/记忆 帮助"),
        ("/记忆 忘记我的生日", "写法：/记忆 忘记我"),
        ("/记忆 纠正", "写法：/记忆 更正"),
        ("/记忆 删除", "写法：/记忆 忘掉"),
        ("/记忆 --shortcut x /记忆", "没有这个子命令"),
        ("/记忆 列表 x", "写法：/记忆 列表"),
        ("/记忆 列表 已忘 x", "写法：/记忆 列表"),
        ("/记忆 忘掉", "写法：/记忆 忘掉"),
        ("/记忆 忘掉 全部", "写法：/记忆 忘掉"),
        ("/记忆 记住", "写法：/记忆 记住"),
        ("/记忆 搜索", "写法：/记忆 搜索"),
        ("/记忆 帮助 我", "写法：/记忆 帮助"),
    ],
)
async def test_misuse(stage: Stage, group: int, call: str, part: str) -> None:
    """An unknown subcommand or a missing argument is answered with one sentence on the correct form."""
    answer = await stage.ask(call, new_id(), group)
    assert part in answer
    assert "\n" not in answer


@pytest.mark.parametrize(
    ("call", "part"),
    [
        ("/记忆 忘了我", "60 秒内再发一次"),
        ("/记忆 删除 我", "60 秒内再发一次"),
        ("/memory forget me", "60 秒内再发一次"),
        ("/记忆 改 7 我对芒果过敏", "没有这个序号"),
        ("/记忆 画像", "还没有侧写"),
        ("/记忆 关闭", "只有群主、管理员"),
        ("/ 记忆 列表", "还没有"),
        ("/记忆搜索星轨展", "没有找到"),
        ("/记忆 搜索星轨展", "没有找到"),
        ("/记忆记住我对花生过敏", "我对花生过敏"),
    ],
)
async def test_words_that_mean_the_same(stage: Stage, group: int, call: str, part: str) -> None:
    """Usual words for a subcommand, its words without a space, and a space after the sign are understood."""
    answer = await stage.ask(call, new_id(), group)
    assert part in answer
    assert "写法" not in answer


async def test_chat_plugins_do_not_see_it(stage: Stage, group: int) -> None:
    """A command is not passed to chat plugins of the usual priority."""
    seen: list[str] = []
    matcher = on_message(priority=1)

    async def listen() -> None:
        seen.append("heard")

    matcher.handle()(listen)
    assert await stage.ask("/记忆 状态", new_id(), group)
    await stage.hear(message("你好", new_id(), group))
    matcher.destroy()
    assert seen == ["heard"]


async def test_status(stage: Stage, group: int) -> None:
    """The status reports a working memory without a model and contains no path."""
    answer = await stage.ask("/memory status", new_id(), group)
    assert "正在工作" in answer
    assert "没有接大模型" in answer
    assert "/" not in answer.replace("/记忆", "")


async def test_status_of_damaged_rows(stage: Stage) -> None:
    """The status says that the ledger has damaged rows and what to run; the console promises no new try."""
    from nonebot_plugin_cognitive_memory.console.memories import remarks_on
    from nonebot_plugin_cognitive_memory.replies import status

    failing = (("ledger rows", "账本有 1 处坏了（memos: row 1）"),)
    damaged = core.Status(is_running=True, last_error=failing[0][1], failing=failing)
    assert "cognitive-memory doctor" in _status_of(damaged)
    assert "memos: row 1" not in _status_of(damaged)
    assert "memos: row 1" in str(status.stats_remarks(damaged))
    assert "坏了" not in _status_of(core.Status(is_running=True))
    shown = remarks_on(replace(damaged, failing=(*failing, ("Indexer", "连不上"))), str)
    assert [remark.key for remark in shown] == ["today.damaged", "today.failing"]


def _status_of(now: core.Status) -> str:
    from nonebot_plugin_cognitive_memory.replies import status

    return str(status.status_remarks(now, (0, 0.0)))


async def test_list_pages(stage: Stage, group: int) -> None:
    """The list shows events newest first, ten per page, with continuous numbers."""
    user = new_id()
    here = core.Scene.group(str(group), str(user))
    assert "还没有" in await stage.ask("/记忆 列表", user, group)
    await told(here, *(f"阿棠({user}) 的第{n}件事" for n in range(1, 13)))
    first = (await stage.ask("/记忆 列表", user, group)).splitlines()
    assert len([line for line in first if line[0].isdigit()]) == 10
    assert first[1].startswith("1. [")
    assert first[-1] == "下一页：/记忆 列表 2"
    second = (await stage.ask("/memory list 2", user, group)).splitlines()
    assert [line.split(".")[0] for line in second[1:]] == ["11", "12"]
    shown = "".join(first + second)
    assert all(f"第{n}件事" in shown for n in range(1, 13))
    assert "没有第 99 页" in await stage.ask("/记忆 列表 99", user, group)
    assert await stage.ask("/记忆 列表 -5", user, group)
    assert await stage.ask(f"/记忆 列表 {10**30}", user, group)


async def test_search(stage: Stage, group: int) -> None:
    """A search returns as many events as requested, falls back to recent lines, and says that there is nothing."""
    user = new_id()
    here = core.Scene.group(str(group), str(user))
    await told(here, f"阿棠({user}) 喜欢乌龙茶", f"阿棠({user}) 喜欢茉莉花茶")
    assert "乌龙茶" in await stage.ask("/记忆 搜索 乌龙茶", user, group)
    one = await stage.ask("/记忆 搜索 喜欢什么茶 -n 1", user, group)
    assert len([line for line in one.splitlines() if line[0].isdigit()]) == 1
    await stage.hear(message("周六去看星轨展", user, group))
    assert "相关的原话" in await stage.ask("/memory search 星轨展", user, group)
    await stage.hear(message("这个东西存在柜子里", user, group))
    for nothing in ("asdfqwer 不存在的东西", "wedding"):
        assert (await stage.ask(f"/记忆 搜索 {nothing}", user, group)).startswith("没有找到相关的记忆")


async def test_lines_that_a_search_finds_have_no_number(stage: Stage, group: int) -> None:
    """Log lines are listed without a number, and forgetting an event by number hides its line."""
    user = new_id()
    here = core.Scene.group(str(group), str(user))
    await stage.hear(message("周六去看星轨展", user, group))
    only_said = (await stage.ask("/记忆 搜索 星轨展", user, group)).splitlines()
    assert only_said[0].startswith("相关的原话")
    assert len(only_said) == 2
    assert "没有这个序号" in await stage.ask("/记忆 忘掉 1", user, group)
    await told(here, f"阿棠({user}) 喜欢星轨展")
    found = (await stage.ask("/记忆 搜索 星轨展", user, group)).splitlines()
    assert [line[:2] for line in found if line[0].isdigit()] == ["1."]
    assert found.index("相关的原话") == 2
    assert "忘掉了" in await stage.ask("/记忆 忘掉 1", user, group)
    assert await standing(here) == []
    assert (await stage.ask("/记忆 搜索 星轨展", user, group)).startswith("没有找到相关的记忆")


async def test_add_pins_the_words_as_they_stand(stage: Stage, group: int) -> None:
    """Everything after the subcommand is pinned literally, including words like subcommands, options and codes."""
    from nonebot_plugin_cognitive_memory import get_memory

    user = new_id()
    for text in ("列表 要按时间排", '他说"好 -n 3', "--help 不是帮助", "[CQ:at,qq=all] $(event) {event}"):
        assert "记住了" in await stage.ask(f"/记忆 记住 {text}", user, group)
        pins = await get_memory().pins(core.Scene.group(str(group), str(user)))
        assert pins[-1].text == text


@pytest.mark.parametrize("listing", ["/记忆 列表 已忘", "/memory list forgotten", "/记忆列表 已忘 1"])
async def test_what_one_forgot_can_be_restored(stage: Stage, group: int, listing: str) -> None:
    """The answer to `forget` names the list of what one forgot, and a number of that list brings it back."""
    user, other = new_id(), new_id()
    here = core.Scene.group(str(group), str(user))
    await told(here, f"阿棠({user}) 怕猫", f"阿棠({user}) 怕狗")
    await told(core.Scene.group(str(group), str(other)), f"小北({other}) 怕鹅")
    assert "没有忘掉过" in await stage.ask(listing, user, group)
    await stage.ask("/记忆 列表", user, group)
    for number in (2, 3):
        assert "/记忆 列表 已忘" in await stage.ask(f"/记忆 忘掉 {number}", user, group)
    shown = (await stage.ask(listing, user, group)).splitlines()
    assert [line[:2] for line in shown[1:]] == ["1.", "2."]
    assert shown[1].endswith("怕猫")
    assert "没有忘掉过" in await stage.ask(listing, other, group)
    assert "没有这个序号" in await stage.ask("/记忆 恢复 3", user, group)
    assert await stage.ask("/记忆 恢复 2", user, group) == "恢复了：机器人记：阿棠 怕狗"
    assert sorted(await standing(here)) == sorted([f"机器人记：阿棠({user}) 怕狗", f"机器人记：小北({other}) 怕鹅"])
    assert "只有群主、管理员" in await stage.ask("/记忆 恢复 1", other, group)


async def test_what_an_admin_forgot_is_restored_by_neither(stage: Stage, group: int) -> None:
    """What an admin has forgotten is no words of the admin, and its author did not forget it: it is in no list."""
    user, admin = new_id(), new_id()
    await told(core.Scene.group(str(group), str(user)), f"阿棠({user}) 怕猫")
    stage.answers["get_group_member_info"] = {"role": "admin"}
    await stage.ask("/记忆 列表", admin, group)
    assert "已忘" not in await stage.ask("/记忆 忘掉 1", admin, group)
    assert "没有忘掉过" in await stage.ask("/记忆 列表 已忘", admin, group)
    assert "没有忘掉过" in await stage.ask("/记忆 列表 已忘", user, group)


async def test_a_list_of_beliefs_takes_the_numbers_over(stage: Stage, group: int, tmp_path: Path) -> None:
    """`restore` means the list shown last: what one forgot, or the beliefs of the group."""
    admin = new_id()
    await told(core.Scene.group(str(group), str(admin)), f"阿棠({admin}) 怕猫")
    stage.answers["get_group_member_info"] = {"role": "admin"}
    await stage.ask("/记忆 列表", admin, group)
    await stage.ask("/记忆 忘掉 1", admin, group)
    await stage.ask("/记忆 列表 已忘", admin, group)
    await grown(tmp_path, group, "每周五讨论新番")
    await stage.ask("/记忆 群记忆", admin, group)
    assert "这条群记忆没有被淘汰" in await stage.ask("/记忆 恢复 1", admin, group)
    await stage.ask("/记忆 列表 已忘", admin, group)
    assert "怕猫" in await stage.ask("/记忆 恢复 1", admin, group)


async def test_numbers_belong_to_who_saw_them(stage: Stage, group: int) -> None:
    """A number is valid only for the person, place and list for which it was shown."""
    user, other = new_id(), new_id()
    await told(core.Scene.group(str(group), str(user)), f"阿棠({user}) 怕猫", f"阿棠({user}) 怕狗")
    await stage.ask("/记忆 列表", user, group)
    assert "没有这个序号" in await stage.ask("/记忆 忘掉 1", other, group)
    assert "没有这个序号" in await stage.ask("/记忆 忘掉 1", user)
    await stage.ask("/记忆 搜索 怕猫 -n 1", user, group)
    assert "没有这个序号" in await stage.ask("/记忆 忘掉 2", user, group)


async def test_pace(stage: Stage, group: int) -> None:
    """The eleventh command at once is answered with the seconds to wait, later ones not at all."""
    user, other = new_id(), new_id()
    answers = [await stage.ask("/记忆 状态", user, group) for _ in range(14)]
    assert ["正在工作" in answer for answer in answers[:10]] == [True] * 10
    assert re.search("太快了，请 [0-9]+ 秒后再试", answers[10])
    assert answers[11:] == ["", "", ""]
    assert "正在工作" in await stage.ask("/记忆 状态", other, group)
    assert "正在工作" in [await stage.ask("/记忆 状态", SUPERUSER, group) for _ in range(14)][-1]


@pytest.mark.parametrize("call", ["/记忆 状态", "/记忆 列表", "/记忆 搜索 茶", "/记忆 记住 我怕猫", "/记忆 忘掉 1"])
async def test_without_a_memory(stage: Stage, group: int, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a memory every command answers, and only a superuser is told the reason."""
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime

    monkeypatch.setattr(lifetime, "memory", core.CognitiveMemory.absent("数据目录 /somewhere 正被占用"))
    assert await stage.ask(call, new_id(), group) == "记忆未启用"
    assert "帮助" in await stage.ask("/记忆 帮助", new_id(), group)
    told_why: Any = await stage.ask(call, SUPERUSER, group)
    assert "/somewhere" in told_why or "太快" in told_why


async def test_a_failing_disk_is_answered(stage: Stage, group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the disk refuses, the answer says so without a path."""
    from nonebot_plugin_cognitive_memory import get_memory

    async def refused(*_: object, **__: object) -> None:
        raise core.StorageRefused("写不进 /secret/path")

    monkeypatch.setattr(get_memory(), "pin", refused)
    answer = await stage.ask("/记忆 记住 我怕猫", new_id(), group)
    assert "稍后再试" in answer
    assert "/secret" not in answer


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("花生 过敏", ("花生 过敏", 5)),
        ("花生 -n 3", ("花生", 3)),
        ("-n 3 花生", ("花生", 3)),
        ("花生 -n 0", ("花生", 1)),
        ("花生 -n 999", ("花生", 20)),
        ("花生-n 3", ("花生-n 3", 5)),
        ("花生 -n", None),
        ("花生 -n abc", None),
        ("花生 -n ３", None),
    ],
)
def test_how_many(text: str, split: tuple[str, int] | None) -> None:
    """``-n N`` is removed from a query wherever it stands, and bounded."""
    from nonebot_plugin_cognitive_memory.commands.memories import split_count

    assert split_count(text) == split


@pytest.mark.only_v11
def test_the_page_and_the_help_follow_the_table_of_commands() -> None:
    """docs/commands.md lists each command under those who may use it, and the help of those people names it."""
    from nonebot_plugin_cognitive_memory.command_table import COMMANDS
    from nonebot_plugin_cognitive_memory.replies.commands import help_text

    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text("utf-8").partition("<!-- transcript")[0]
    sections = re.split(r"^(?:人人可用|群主和管理员|机器人管理员)", page, flags=re.MULTILINE)[1:]
    rows = [set(re.findall(r"^\| `/记忆 ([^ `]+)[^`]*`（`(\w+)`", section, re.MULTILINE)) for section in sections]
    here = core.Scene.group("10001", "2000001")
    for who, listed in zip(("anyone", "admins", "superusers"), rows, strict=True):
        those = (who, "owners") if who == "superusers" else (who,)
        named = {(command.words[0], command.name) for command in COMMANDS.values() if command.who in those}
        help_says = help_text(here, decides=who == "admins", is_superuser=who == "superusers")
        named ^= {("恢复", "restore")} if who != "superusers" else set()  # everybody's own events, admins' beliefs
        assert listed == named, "the table of docs/commands.md (left) and COMMANDS (right) differ"
        assert not [name for word, name in named if word not in help_says or name.replace("_", " ") not in help_says]
