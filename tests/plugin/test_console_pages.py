"""Tests of what the console's pages do, without a browser."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from nonebug import App

import cognitive_memory_core as core
from cognitive_memory_core import sentences
from cognitive_memory_core.domain.event import Draft
from cognitive_memory_core.domain.figures import Spending, Totals
from cognitive_memory_core.domain.ids import derived_id
from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.domain.turn import Dialogue
from tests.support.builders import a_draft, an_event
from tests.support.clock import NOON
from tests.support.waiting import until

from .console_stage import Console, first_id

PAGES = (
    *("/", "/memories", "/question", "/people", "/people/open?id=2000001", "/places", "/places/open?place=group/20001"),
    *("/places/open?place=private/2000001", "/beliefs", "/jobs", "/settings", "/transfers", "/question/cases"),
    *("/report", "/report?examine=yes", "/prompts", "/records", "/suggestions", "/suggestions?group=20002"),
    "/question?place=group/20001&user_id=2000001&text=部署密钥什么时候换的",
)
ASKED = {"place": "group/20001", "user_id": "2000003", "text": "部署密钥什么时候换的"}


async def test_every_page_is_shown_in_both_languages(shown: Console) -> None:
    """Each page is answered in Chinese and in English, with its heading."""
    async with shown.visited() as visitor:
        for path in PAGES:
            assert "<h1" in await visitor.look(path), path
        await visitor.act("/language", language="en", back="/memories")
        for path in PAGES:
            page = await visitor.look(path)
            assert '<html lang="en">' in page, path
            assert "Log out" in page


async def test_a_question_is_taken_apart(shown: Console) -> None:
    """A question shows its context with tokens, each candidate's and raw line's score; another weight moves it."""
    async with shown.visited() as visitor:
        page = await visitor.look("/question", **ASKED)
        assert "模型拿到的上下文" in page
        assert "部署密钥在 2026-03-06 换过" in page
        assert "排第一的是「" in page
        ranked = page.split('<span class="rank">1</span>', 1)[1].split("</li>", 1)[0]
        assert "送给模型了" in ranked
        assert "字词" in page.split("<h2>原话 ", 1)[1].split("新的在保险柜里", 1)[1].split("</li>")[0]
        cramped = await visitor.look("/question", **ASKED, context_token_budget="200")
        assert "没有送：token 用完了" in cramped
        context = await shown.memory.context(_scene(), ASKED["text"])
        assert f"{context.tokens} / " in page
        none = await visitor.look("/question", **ASKED, auto_top_k="0")
        assert "名额满了" in none or "0 条候选" in none
        assert shown.memory._settings.current.query.auto_top_k  # nothing is stored


async def test_what_takes_long_is_sent_when_it_is_found(shown: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    """The part of a page above a slow answer is sent first and says that the answer is awaited; the answer follows."""
    from nonebot_plugin_cognitive_memory.console import visit

    asked = f"place=group/20001&user_id=2000003&text=部署密钥&event={await _deploy_key(shown)}"
    pages = {
        "/memories?text=部署密钥": "2026-03-06",
        f"/question?{asked}": "模型拿到的上下文",
        "/report": "各处记了什么",
        "/suggestions?group=20002": "打印机卡纸",
        "/memories": "推理小说",
    }
    show_found, may_find = visit.Visit.show_found, asyncio.Event()

    async def held_back(page: Any, template: str, finding: Any, **values: object) -> Any:
        async def found() -> Any:
            await may_find.wait()
            return await finding

        return await show_found(page, template, found(), **values)

    async with shown.visited() as visitor:
        monkeypatch.setattr(visit, "QUICK", 60.0)
        at_once = [await visitor.look(path) for path in pages]
        monkeypatch.setattr(visit, "QUICK", 0.0)
        monkeypatch.setattr(visit.Visit, "show_found", held_back)
        for path, before in zip(pages, at_once, strict=True):
            may_find.clear()
            async with visitor.client.stream("GET", path) as answer:
                parts, first = answer.aiter_text(), ""
                while not ("还在算" in first and first.endswith("</p>")):
                    first += await anext(parts)
                may_find.set()
                rest = "".join([part async for part in parts])
            assert pages[path] in rest, path
            assert before.endswith(rest.removeprefix(visit.ARRIVED)), path


async def test_the_words_of_a_memory_stand_beside_it(shown: Console) -> None:
    """A list shows the words on which a memory rests without a click; of an attribution, no date breaks in two."""
    said = [core.Quote(f"m-{word}", "2000001", word, "阿棠", NOON) for word in ("早换了", "就放那儿")]
    worded = an_event("阿棠换过门锁", _scene("2000001"), quotes=tuple(said), message_ids=("m-a",))
    same = an_event(
        "阿棠(2000001)：“乌龙茶吧”", _scene("2000001"), quotes=(core.Quote("m-b", "2000001", "乌龙茶吧", "阿棠", NOON),)
    )
    await shown.memory._opened.ledger.events.commit(a_draft(worded, same))
    async with shown.visited() as visitor:
        page = await visitor.look("/memories")
    row = page.split("阿棠换过门锁", 1)[1].split("</article>")[0].split("<details>")[0]
    assert "早换了" in row
    assert "就放那儿" in row
    assert 'class="quote"' not in page.split(">乌龙茶吧<", 1)[1].split("</article>")[0]
    from nonebot_plugin_cognitive_memory.replies.memories import WHOSE, words_beneath

    beneath = words_beneath("门锁", said, timezone.utc)
    assert [part[-4:] for part in WHOSE.split(beneath) if part.startswith("—— 阿棠 ")] == ["3月4日"] * 2


async def test_pages_with_nothing_on_them_say_what_can_be_done(shown: Console) -> None:
    """Before a question is asked, lines of people are offered to try; no empty calendar is drawn of a stranger."""
    async with shown.visited() as visitor:
        offered = await visitor.look("/question", place="group/20001")
        assert offered.index("早上好，今天谁带书？") < offered.index("部署密钥上周五换过了")
        asked = offered.split('class="sheet entry" href="/memory/console', 1)[1].split('"')[0].replace("&amp;", "&")
        assert "模型拿到的上下文" in await visitor.look(asked)
        assert 'class="chart"' in await visitor.look("/people/open", id="2000001")
        assert 'class="chart"' not in await visitor.look("/people/open", id="2999999")


async def test_why_something_was_not_recalled(shown: Console) -> None:
    """A memory that was expected is told to be elsewhere, forgotten, or no candidate."""
    async with shown.visited() as visitor:
        elsewhere = first_id(await visitor.look("/memories", place="group/20002"))
        assert "别处学到的" in await visitor.look("/question", **ASKED, event=elsewhere)
        own = first_id(await visitor.look("/memories", place="group/20001", kind="preference"))
        await visitor.act("/memories/change", id=own, action="forget", sure="yes")
        assert "已经忘掉了" in await visitor.look("/question", **ASKED, event=own)


async def test_an_expected_memory_is_named_by_some_of_its_words(shown: Console) -> None:
    """Words of a memory name it, the asker is called by name, and what was recalled cannot be kept as missed."""
    asked = {"place": "group/20001", "user_id": "米粒", "text": "部署密钥什么时候换的"}
    async with shown.visited() as visitor:
        novels = await visitor.look("/question", **asked, wanted="推理小说")
        assert "喜欢推理小说" in novels.split("本该想起的：")[1].split("</a>")[0]
        assert 'name="user_id" list="people" placeholder="名字或号码" value="米粒"' in novels
        key = await visitor.look("/question", **asked, wanted="密钥换过")
        verdict = key.split('<section class="notice">')[1].split("</section>")[0]
        assert "想起了：" in verdict
        assert "这条本该想起" not in verdict
        assert "主要因为字词对得上，得分 " in verdict
        assert "这里没有这样的记忆" in await visitor.look("/question", **asked, wanted="zzz")


async def test_a_name_that_nobody_has_is_no_id(shown: Console) -> None:
    """A question of somebody unknown by name is not answered but says what to write; an unknown number asks."""
    asked = {"place": "group/20001", "text": "部署密钥什么时候换的"}
    async with shown.visited() as visitor:
        unknown = await visitor.look("/question", **asked, user_id="没这个人")
        assert "在群里要写是谁在说：号码，或只有一个人用的名字" in unknown
        assert "模型拿到的上下文" not in unknown
        assert "模型拿到的上下文" in await visitor.look("/question", **asked, user_id="2999999")


async def test_people_are_called_by_name_and_what_others_said_of_them_is_shown(shown: Console) -> None:
    """A person's page lists what others said of them; a filter and a field show a name for an id that has one."""
    async with shown.visited() as visitor:
        page = await visitor.look("/people/open", id="2000003")
        assert "部署密钥" in page.split("别人说起 TA 的")[1]
        assert "别人说起 TA 的" not in await visitor.look("/people/open", id="2000001")
        for path in ("/memories", "/lines"):
            assert 'name="user_id" value="阿棠"' in await visitor.look(path, user_id="2000001")
        assert "阿棠 ✕" in await visitor.look("/memories", user_id="2000001")


async def test_what_no_longer_holds_is_marked_in_lists(shown: Console) -> None:
    """A memory that a later one replaces is marked in lists and on its page, with a way to the later one."""
    old = await shown.memory.listings.event(core.Scene.operator(), await _deploy_key(shown))
    at = old.happened_at + timedelta(hours=1)
    new = replace(old, id=derived_id("newer"), text="部署密钥不再换了", replaces=old.id, happened_at=at)
    await shown.memory._opened.ledger.events.commit(Draft("newer", (new,), ()))
    async with shown.visited() as visitor:
        for path in ("/memories", "/places/open?place=group/20001", "/", f"/memories/open?id={old.id}"):
            page = await visitor.look(path)
            assert page.count("有了新说法") == 1, path
            assert f"/memories/open?id={new.id}" in page, path


async def test_a_receipt_stands_where_something_was_done(shown: Console) -> None:
    """What was changed in a part of a page is confirmed in that part, to which the answer leads."""
    async with shown.visited() as visitor:
        answer = await visitor.submit("/settings/change", key="query.auto_top_k", value="5", action="set")
        assert answer.headers["location"].endswith("/settings?group=recall#query.auto_top_k")
        page = await visitor.look("/settings", group="recall")
        row = page.split('<li id="query.auto_top_k">')[1].split("</li>")[0]
        assert page.count('role="status"') == row.count('role="status"') == 1
        await visitor.act("/settings/change", key="query.auto_top_k", action="reset")
        pinned = await visitor.act("/pins/change", place="group/20002", action="add", text="带水")
        assert "好了。" in pinned.split('id="pins"')[1].split("</section>")[0]


async def test_a_month_is_added_up_also_with_a_price_that_is_only_tried(shown: Console) -> None:
    """The costs of a month have a sum, for which a price can be tried on the page; what is no price is refused."""
    spending = Spending("merge", 2, 3_000_000, answered=1_000_000)
    await shown.memory._opened.ledger.housekeeping.spend(NOON.date(), spending)
    async with shown.visited() as visitor:
        total = (await visitor.look("/running", price="2/8")).split("合计（30 天）")[1].split("</tr>")[0]
        assert "3,000,000" not in total
        assert ("2,000,000" in total, "12.00" in total) == (True, True)
        assert "看不懂这个单价" in await visitor.look("/running", price="贵")


async def test_what_should_have_been_found_is_kept(shown: Console) -> None:
    """A case is kept once, is counted by the report, can be tried again, and goes with its asker."""
    async with shown.visited() as visitor:
        event_id = first_id(await visitor.look("/memories", place="group/20001", kind="preference"))
        case = {"place": "group/20001", "user_id": "2000003", "text": "他爱看什么", "event": event_id}
        for _ in range(2):
            assert "质量报告里会算上" in await visitor.act("/question/missed", **case)
        listed = await visitor.look("/question/cases")
        assert listed.count("他爱看什么") == 1
        assert "本该想起的：1" in await visitor.look("/report")
        await shown.memory.forget_user(_scene(), "2000003")
        assert "他爱看什么" not in await visitor.look("/question/cases")
        await visitor.act("/question/missed", **{**case, "user_id": "2000001"})
        await visitor.act("/question/drop", id=first_id(await visitor.look("/question/cases")))
        assert "他爱看什么" not in await visitor.look("/question/cases")


async def test_a_profile_is_rolled_back(shown: Console) -> None:
    """A person's page shows the profile with sources and versions, and puts an earlier version back."""
    async with shown.visited() as visitor:
        page = await visitor.look("/people/open", id="2000001")
        assert "新加的一行" in page
        assert "每一条从哪来（2）" in page
        (line,) = [line for line in page.splitlines() if '<span class="text">新加的一行' in line]
        assert "/memories/open?id=" in line
        revision = page.split('name="revision" value="', 1)[1].split('"', 1)[0]
        after = await visitor.act("/profiles/restore", key="member/20001/2000001", revision=revision)
        assert "换回了" in after
        profile = await shown.memory.get_profile(_scene("2000001"), "user", "2000001")
        assert profile is not None
        assert "新加的一行" not in profile.summary


async def test_consent_and_erasure_of_a_person(shown: Console) -> None:
    """A person is opted out and in again; erasing needs their id to be typed, after a page that counts what goes."""
    async with shown.visited() as visitor:
        assert "不让记" in await visitor.act("/people/consent", id="2000002", wish="optout")
        await visitor.act("/people/consent", id="2000002", wish="optin")
        assert "共享侧写" in await visitor.act("/people/consent", id="2000001", wish="share")
        asked = await visitor.act("/people/erase", id="2000001")
        assert "3 条记忆" in asked
        assert "3 条记忆" in await visitor.act("/people/erase", id="2000001", sure="2000002")
        assert "推理小说" in await visitor.look("/memories")
        assert "删掉了" in await visitor.act("/people/erase", id="2000001", sure="2000001")
        assert "推理小说" not in await visitor.look("/memories")


async def test_a_place_is_switched_and_cleared(shown: Console) -> None:
    """A place's switch is set, and clearing it needs its id to be typed."""
    async with shown.visited() as visitor:
        assert "只记不用" in await visitor.act("/places/switch", place="group/20002", switch="record_only")
        assert "没有改" in await visitor.act("/places/switch", place="group/20002", switch="off", until="昨天")
        switched = await visitor.act("/places/switch", place="group/20002", switch="off", until="2小时")
        assert "自动恢复" in switched
        assert "现在：不记，也不用，到 " in switched
        assert "不记，也不用，到 " in await visitor.look("/places")
        assert "1 句原话" in await visitor.act("/places/erase", place="group/20002")
        await visitor.act("/places/erase", place="group/20002", sure="20002")
        assert "香山" not in await visitor.look("/memories")
        assert "推理小说" in await visitor.look("/memories")


async def test_beliefs_have_a_timeline(shown: Console) -> None:
    """A belief is weakened, retired and restored; its page and the week's changes say who did it, and why."""
    async with shown.visited() as visitor:
        listed = await visitor.look("/beliefs", group="20001")
        assert "不剧透" in listed
        assert "—— " in listed, "the words that it rests on"
        belief = listed.split("/beliefs/open?", 1)[1].split("id=", 1)[1].split('"', 1)[0]
        fields = {"group": "20001", "id": belief}
        assert "依据 1 句" in await visitor.look("/beliefs/open", **fields)
        assert "只在周六跑步" in await visitor.act("/beliefs/change", **fields, action="reword", text="只在周六跑步")
        assert "0.30" in await visitor.act("/beliefs/change", **fields, action="strength", strength="0.3")
        retired = await visitor.act("/beliefs/change", **fields, action="retire", reason="过时了")
        assert "淘汰的" in retired
        assert "管理员手动" in retired
        assert "原因： <span" in retired
        current = retired.split('name="id" value="')[-1].split('"', 1)[0]
        await visitor.act("/beliefs/change", group="20001", id=current, action="restore")
        changes = await visitor.look("/beliefs", group="20001")
        assert "过时了" in changes
        assert "“部署密钥上周五换过了" in changes.rsplit("<section", 1)[1], "beneath a change"
        assert '<span class="tag">恢复</span>' in changes
        assert "id=operator" not in retired + changes, "the operator is no person"


async def test_a_wording_is_put_back_with_its_source(shown: Console) -> None:
    """An earlier wording replaces the present one in one step and has its lines again, until that is undone."""
    async with shown.visited() as visitor:
        old = await _deploy_key(shown)
        wrong = await visitor.act("/memories/correct", id=old, text="阿棠(2000001) 说部署密钥在 2026-03-09 换过")
        assert "撤销这次更正" in wrong
        assert "换成那个写法" in wrong
        new = first_id(wrong.split("换成那个写法")[0].rsplit("<form", 1)[1])
        back = await visitor.act("/memories/correct", id=new, text="阿棠(2000001) 说部署密钥在 2026-03-06 换过")
        assert "2026-03-06 换过</h1>" in back
        assert "新的在保险柜里" in back
        undone = await visitor.act("/memories/undo")
        assert "2026-03-09 换过</h1>" in undone
        assert "新的在保险柜里" not in undone
        active = await visitor.look("/memories", place="group/20001", text="部署密钥")
        assert active.count("换过</a>") == 1


async def test_settings_are_found_by_what_they_are_for(shown: Console) -> None:
    """Each setting says what it is for, and is found by these words; nothing else is listed then."""
    async with shown.visited() as visitor:
        page = await visitor.look("/settings", text="每轮自动想起几条")
        assert "query.auto_top_k" in page
        assert "timezone" not in page


async def test_suggestions_are_accepted_and_dismissed(shown: Console) -> None:
    """A group's suggestions are made when it is chosen; an accepted one becomes a belief, a decided one is gone."""
    async with shown.visited() as visitor:
        assert "打印机卡纸" not in await visitor.look("/suggestions")
        assert "现在没有建议" in await visitor.look("/suggestions", group="20001")
        page = await visitor.look("/suggestions", group="20002")
        assert "打印机卡纸" in page
        assert "2 个人、2 天里遇到过" in page
        assert page.split("“打印机卡纸”", 1)[1].split("<details", 1)[0].count("“卡纸，先别重启打印机”") == 1
        fields = {"group": "20002", "id": first_id(page)}
        assert "打印机卡纸" in await visitor.act("/suggestions/decide", **fields, action="perhaps")
        assert "采纳了" in await visitor.act("/suggestions/decide", **fields, action="accept")
        assert "重启打印机" in await visitor.look("/beliefs", group="20002")
        assert "现在没有建议" in await visitor.look("/suggestions", group="20002")
        assert (await visitor.submit("/suggestions/decide", **fields, action="dismiss")).status_code == 409


async def test_a_day_of_the_calendar_leads_to_its_lines(shown: Console) -> None:
    """The days on which something was said lead to their lines, in order, with what became memory marked."""
    async with shown.visited() as visitor:
        cells = (await visitor.look("/")).split('class="chart"')[1].split('<a href="/memory/console')[1:]
        days = [await visitor.look(cell.split('"', 1)[0].replace("&amp;", "&")) for cell in cells if "/lines?" in cell]
        assert sum(day.count('<span class="bubble') for day in days) == 5
        (said,) = [day for day in days if "新的在保险柜里" in day]
        assert said.index("早上好") < said.index("新的在保险柜里") < said.index("我记一下")
        assert "成了记忆" in said.split("新的在保险柜里")[0].split("早上好")[1]
        assert "1 句成了记忆</small>" in said
        nobody = await visitor.look("/lines", place="group/20002", user_id="阿棠")
        assert "保险柜" not in nobody


async def test_pins_are_added_edited_and_removed(shown: Console) -> None:
    """A pin is added, edited and removed on the page of its place."""
    async with shown.visited() as visitor:
        place = {"place": "group/20002"}
        added = await visitor.act("/pins/change", **place, action="add", text="带水")
        pin = first_id(added)
        change = {**place, "action": "save", "id": pin}
        assert "带水和帽子" in await visitor.act("/pins/change", **change, was="带水", text="带水和帽子")
        refused = await visitor.submit("/pins/change", **change, was="带水", text="带水和\n防晒")
        assert (refused.status_code, "带水和\n防晒" in refused.text) == (409, True)
        assert "带水" not in await visitor.act("/pins/change", **place, action="remove", id=pin)
        assert not await shown.memory.pins(core.Scene.operator(group_id="20002"))


async def test_health_tells_models_costs_and_what_to_do(shown: Console) -> None:
    """The page of health shows whose models are asked, how to set one, and what needs a hand."""
    async with shown.visited() as visitor:
        page = await visitor.look("/running")
        assert "HISTORIAN__<wbr>API_URL=<wbr>https://" in page
        assert "没有配整理用的模型" in page
        assert "模型和花费" in page
        assert "每天最多 1000 次，今天用了 0 次" in page


async def test_what_became_of_a_retried_job_is_shown(shown: Console) -> None:
    """A failed job names no internal role; done again, its page shows what was learned and that rules did it."""
    queue = shown.memory._opened.queue
    await shown.memory.pause()
    gone = an_event("阿棠怕蛇", _scene(), message_ids=("m-gone",))
    await shown.memory._opened.ledger.events.commit(a_draft(gone))
    await shown.memory.forget_event(core.Scene.operator(), gone.id)
    lines = [core.Message(one, _scene(), said, NOON) for one, said in (("m-gone", "我怕蛇"), ("m2", "我会游泳"))]
    turn = core.Turn(_scene(), observations=["阿棠喜欢桂花乌龙"], source_message="我喜欢桂花乌龙")
    for job in (Job("again", turn, NOON), Job("dialogue", Dialogue(_scene(), lines), NOON)):
        await queue.enqueue(job)
        claim = await queue.claim()
        assert claim
        await queue.bury(claim, sentences.models.MODEL_AWAY.format(role="historian", status=503))
    async with shown.visited() as visitor:
        failed = await visitor.look("/jobs")
        assert "模型（写记忆）暂时不可用" in failed
        assert "阿棠喜欢桂花乌龙" in failed.split("里面的话（2）")[1].split("</details>")[0]
        assert "桂花乌龙" not in await visitor.look("/jobs", agent="another")
        assert ("我会游泳" in failed, "我怕蛇" in failed) == (True, False)
        assert "任务由规则整理" in failed
        assert "还没有做完" in await visitor.act("/jobs/retry", id="again")
        await shown.memory.resume()
        await shown.memory.drain(30.0)
        done = await visitor.look("/jobs")
        assert "做完了，记下 1 条" in done
        assert "桂花乌龙" in done


async def test_settings_are_changed_or_shown_with_their_line(shown: Console) -> None:
    """A hot setting is changed and put back, others show their line of .env, and a refused value says why."""
    async with shown.visited() as visitor:
        assert "COGNITIVE_MEMORY__" not in await visitor.look("/settings")
        assert "COGNITIVE_MEMORY__AGENT=default" in await visitor.look("/settings", group="general")
        record = await visitor.look("/settings", group="record")
        assert '<option value="all" selected>都整理（all）</option>' in record
        assert "现在是 5（每轮自动想起几条" in await visitor.act(
            "/settings/change", key="query.auto_top_k", value="5", action="set"
        )
        assert "现在是 8（每轮自动想起几条" in await visitor.act(
            "/settings/change", key="query.auto_top_k", action="reset"
        )
        for key, value in (("query.auto_top_k", "many"), ("http.token", "x")):
            refused = await visitor.submit("/settings/change", key=key, value=value, action="set")
            assert refused.status_code == 422, key


async def test_whom_not_to_record_may_be_told_by_name(shown: Console) -> None:
    """In the lists of groups and people that are not recorded, a name that one alone has is stored as its id."""
    async with shown.visited() as visitor:
        for key, value, stored in (
            ("capture.ignore_groups", "爬山群，20009", "20002&#34;, &#34;20009"),
            ("capture.ignore_users", '["豆沙"]', "2000002"),
            ("capture.ignore_groups", "没见过的群", "没见过的群"),
        ):
            page = await visitor.act("/settings/change", key=key, value=value, action="set")
            assert f"现在是 [&#34;{stored}&#34;]" in page
        for key in ("capture.ignore_groups", "capture.ignore_users"):
            await visitor.act("/settings/change", key=key, action="reset")


async def test_an_export_is_not_removed_while_it_is_written(app: App) -> None:
    """While an export is written, neither its folder is removed nor a second one begun."""
    from nonebot_plugin_cognitive_memory.console.running_transfers import Transfers

    memory, transfers = SlowMemory(), Transfers()
    await asyncio.gather(transfers.export(memory), transfers.export(memory))  # type: ignore[arg-type]  # what is asked
    first = transfers.latest["export"]
    assert first.task
    assert not await transfers.discard(memory)  # type: ignore[arg-type]  # as above
    assert await asyncio.to_thread(first.path.parent.is_dir)
    memory.may_end.set()
    await first.task
    assert memory.written == [first.path]
    assert await transfers.discard(memory)  # type: ignore[arg-type]  # as above
    assert not await asyncio.to_thread(first.path.parent.exists)


async def test_a_cancelled_export_leaves_nothing(app: App) -> None:
    """A cancelled export ends at once, its folder is removed, and its rows so far were counted as they came."""
    from nonebot_plugin_cognitive_memory.console.running_transfers import Transfers, rows_written

    memory, transfers = SlowMemory(), Transfers()
    await transfers.export(memory)  # type: ignore[arg-type]  # what is asked
    one = transfers.latest["export"]
    draft = one.path.with_name("draft")
    await asyncio.to_thread(draft.write_bytes, b"head\nfirst\nsec")
    assert (one.total, await asyncio.to_thread(rows_written, one)) == (3, 1)
    await asyncio.to_thread(draft.write_bytes, b"head\nfirst\nsecond\n")
    assert await asyncio.to_thread(rows_written, one) == 2
    assert await transfers.cancel(memory, "export")  # type: ignore[arg-type]  # as above
    assert not await asyncio.to_thread(one.path.parent.exists)
    assert (memory.written, transfers.latest) == ([], {})
    assert not await transfers.cancel(memory, "export")  # type: ignore[arg-type]  # as above


class SlowMemory:
    """Writes exports that end when the test says so."""

    def __init__(self) -> None:
        """Write nothing yet."""
        self.may_end = asyncio.Event()
        self.written: list[Path] = []

    async def export(self, path: Path, *, user_id: str | None = None, place: object = None) -> int:
        """Wait, then note the file."""
        await self.may_end.wait()
        self.written.append(path)
        return 0

    async def status(self) -> core.Status:
        """Return a status with three rows."""
        return core.Status(is_running=True, totals=Totals(events=1, messages=2))

    async def discard_export(self, path: Path) -> None:
        """Delete the file."""
        await asyncio.to_thread(path.unlink, missing_ok=True)


async def test_an_export_is_downloaded_and_a_backup_is_made(shown: Console, tmp_path: Path) -> None:
    """An export, of all or of one person, runs, is downloaded and deleted; a backup is made beside the directory."""
    async with shown.visited() as visitor:
        await visitor.act("/transfers/begin", kind="export")

        async def is_done(mark: str) -> bool:
            return mark in await visitor.look("/transfers")

        await until(lambda: is_done("/transfers/download"))
        text = await visitor.look("/transfers/download")
        assert text.startswith('{"format": "cognitive-memory"') or '"cognitive-memory"' in text.splitlines()[0]
        assert "推理小说" in text
        await visitor.act("/transfers/discard")
        assert "/transfers/download" not in await visitor.look("/transfers")
        await visitor.act("/transfers/begin", kind="export", user_id="2000002")
        await until(lambda: is_done("/transfers/download"))
        theirs = await visitor.look("/transfers/download")
        assert "周六去爬香山" in theirs
        assert "推理小说" not in theirs
        await visitor.act("/transfers/discard")
        await visitor.act("/transfers/begin", kind="backup")
        await until(lambda: is_done("备份好了"))
        assert len(await asyncio.to_thread(lambda: list(tmp_path.glob("data.backup-*/ledger.db")))) == 1


async def _deploy_key(shown: Console) -> str:
    hits = await shown.memory.search_events(core.Scene.operator(), "部署密钥", top_k=1)
    return hits[0].event.id


def _scene(user_id: str = "2000003"):
    return core.Scene.group("20001", user_id)
