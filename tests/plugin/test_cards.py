"""Tests of picture cards: what is drawn, what is sent, and when text is sent instead."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import pytest
from nonebot.adapters.onebot import v11, v12
from PIL import Image

import cognitive_memory_core as core
from tests.support.fonts import a_font
from tests.support.puppet import Puppet, statement, stating
from tests.support.telling import EXACT
from tests.support.waiting import PATIENCE, until

from .stage import SUPERUSER, Stage, message, new_id, said, twelve_message

MEMBER = core.ProfileKey.member("10001", "2000001")
HERE = core.Scene.group("10001", "2000001", user_name="阿棠", group_name="读书会")
NOON = datetime(2026, 3, 1, 4, tzinfo=timezone.utc)
NASTY = "<img src=x onerror=alert(1)>{{7*7}}[链接](https://example.com)\u202e\u0000**粗**" + "\u0301" * 500
SUMMARY = "## 喜好\n- 喜欢**乌龙茶**\n- 怕辣\n\n## 近况\n最近在学[滑板](https://example.com)"


@pytest.fixture
def fonts(tmp_path: Path) -> Path:
    """Return a folder with a font that has Chinese characters."""
    return a_font(tmp_path / "fonts").parent


@pytest.fixture
def studio(fonts: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Let commands draw cards with the test's font."""
    from nonebot_plugin_cognitive_memory.cards import Studio
    from nonebot_plugin_cognitive_memory.commands import answering

    with monkeypatch.context() as patch:
        drawing = Studio(fonts)
        patch.setattr(answering, "studio", lambda: drawing)
        yield drawing


def a_profile(summary: str = SUMMARY, name: str = "阿棠", tags: tuple[str, ...] = ("爱喝茶",)) -> core.Profile:
    """Return a profile of a member of a group."""
    return core.Profile(MEMBER, name, tags, summary, NOON)


def a_card(profile: core.Profile | None = None, words: Mapping[str, str] = MappingProxyType({})) -> Any:
    """Return the card of a profile, with the words beneath its lines."""
    from nonebot_plugin_cognitive_memory.cards import profile_card

    return profile_card(profile or a_profile(), HERE, "2026-03-01 12:00", words)


def words_of(card: Any) -> str:
    """Return all words that a card shows."""
    from nonebot_plugin_cognitive_memory.cards.layout import LIGHT, CardLayout, Words

    _, parts = CardLayout(LIGHT, lambda cluster, size, bold: float(size)).parts(card)
    return "\n".join("".join(part.clusters) for part in parts if isinstance(part, Words))


def size_of(png: bytes | None) -> tuple[int, int]:
    """Return the size of a picture, which must be whole."""
    assert png is not None
    picture = Image.open(io.BytesIO(png))
    picture.load()
    return picture.size


async def test_cards_are_drawn_light_and_dark(app: object, fonts: Path) -> None:
    """A card is a PNG with the same content in light and in dark colours."""
    from nonebot_plugin_cognitive_memory.cards import Studio
    from nonebot_plugin_cognitive_memory.cards.layout import DARK, LIGHT

    studio = Studio(fonts)
    light, dark = await studio.drawn(a_card(), LIGHT), await studio.drawn(a_card(), DARK)
    assert size_of(light) == size_of(dark)
    for png, theme in ((light, LIGHT), (dark, DARK)):
        assert Image.open(io.BytesIO(png)).convert("RGB").getpixel((500, 250)) == theme["sheet"]
    assert light != dark


def test_the_colours_can_be_read(app: object) -> None:
    """Text of cards and console has a contrast of 4.5 or more with every ground, as white has with every accent."""
    from nonebot_plugin_cognitive_memory.cards.layout import DARK, LIGHT, WHITE, Accent

    def brightness(colour: tuple[int, int, int]) -> float:
        parts = [one / 255 for one in colour]
        red, green, blue = (one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for theme in (LIGHT, DARK):
        grounds, texts = ([theme[name] for name in names] for names in (("page", "sheet", "label"), ("text", "faint")))
        accents = [(WHITE, theme[f"{name}{end}"]) for name in get_args(Accent) for end in ("", "-to")]
        for one, other in [*accents, *((text, ground) for text in texts for ground in grounds)]:
            dark, light = sorted((brightness(one), brightness(other)))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (one, other)


def test_words_stand_beneath_what_a_model_made_of_them(app: object) -> None:
    """A line or tag that a model worded stands above the words it was made of, in picture and text; portraits say so.

    Issue 31, rules 2 and 5: 收了两万块, from somebody's denial, is seen with the denial.
    """
    own = "我没收过谁的两万块"
    quote = core.Quote("m1", "2000001", own, "阿棠", datetime(2025, 11, 3, 4, tzinfo=timezone.utc))
    beneath = replies().memories.words_beneath("收了两万块", [quote], timezone.utc, own="2000001")
    assert beneath == f"“{own}” —— 2025年11月3日"
    assert replies().memories.words_beneath(f"阿棠(2000001)：“{own}”", [quote], timezone.utc) == ""
    assert replies().memories.words_beneath(f"不是“{own}”吗", [quote], timezone.utc) == ""
    assert replies().memories.words_beneath(f"不{own}", [quote], timezone.utc).endswith("—— 阿棠 2025年11月3日")
    card = a_card(a_profile("## 经历\n- 收了两万块", tags=("收钱",)), {"收了两万块": beneath, "收钱": beneath})
    for shown in (card.text, words_of(card)):
        assert shown.count(own) == 2
        assert shown.index("收钱") < shown.index(own) < shown.index("收了两万块") < shown.rindex(own)
        assert "自己说的，未经核实" in shown


async def test_no_chat_reply_shows_a_twisted_text_without_its_words(
    stage: Stage, group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever an obeying model writes, every reply of a chat that shows it shows what the person said.

    Issue 31, rules 2 and 5.
    """
    from nonebot_plugin_cognitive_memory.commands import memories, people, places

    user = new_id()
    here = core.Scene.group(str(group), str(user), user_name="阿棠")
    own, written = "我不吃辣，海鲜也过敏", f"阿棠({user})吃辣，海鲜也过敏"
    said = statement(1, written, [str(user)], str(user), lines=[1], kind="preference")
    twisting = stating(said, drawing=["吃辣，海鲜也过敏"])
    async with core.CognitiveMemory.open(EXACT, tmp_path / "twisted", chat=Puppet(twisting)) as memory:
        for module in (memories, people, places):
            monkeypatch.setattr(module, "get_memory", lambda: memory)
        await memory.consider(here, [core.Message("m1", here, own, datetime.now(timezone.utc))])
        assert await memory.drain(PATIENCE)
        for call in ("列表", "搜索 海鲜", "详情 1", "侧写 -t", "列表", "忘掉 1", "列表 已忘", "恢复 1"):
            answer = await stage.ask(f"/记忆 {call}", user, group)
            assert "吃辣，海鲜也过敏" in answer.replace(own, ""), (call, answer)
            assert own in answer, (call, answer)


async def test_what_a_chat_plugin_noted_stands_beneath_what_a_model_made_of_it(
    stage: Stage, group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An observation that no line says is shown as it was handed in, beside the model's wording of it, in details too.

    Issue 31, rule 6.
    """
    from nonebot_plugin_cognitive_memory.commands import memories

    user = new_id()
    here = core.Scene.group(str(group), str(user), user_name="阿棠")
    note, written = "阿棠不吃辣，海鲜也过敏", f"阿棠({user})吃辣，海鲜也过敏"
    twisting = stating(statement(1, written, [str(user)], "", lines=[]))
    async with core.CognitiveMemory.open(EXACT, tmp_path / "noted", chat=Puppet(twisting)) as memory:
        monkeypatch.setattr(memories, "get_memory", lambda: memory)
        await memory.remember(core.Turn(here, observations=(note,)))
        assert await memory.drain(PATIENCE)
        for call in ("列表", "详情 1"):
            answer = await stage.ask(f"/记忆 {call}", user, group)
            assert "吃辣，海鲜也过敏" in answer.replace(note, ""), (call, answer)
            assert note in answer, (call, answer)
        (event,) = await memory.events(here)
    from nonebot_plugin_cognitive_memory.console.pages import beneath

    assert [quote.text for quote in beneath(event, timezone.utc)] == [note], "the console's lists"


def replies() -> Any:
    """Return the sentences of the plugin, which loads with the app."""
    from nonebot_plugin_cognitive_memory import replies

    return replies


def test_nothing_in_a_text_is_markup(app: object) -> None:
    """What looks like HTML or a template in a name or a statement is drawn as it stands, without control characters."""
    shown = words_of(a_card(a_profile(f"- {NASTY}", NASTY, (NASTY,))))
    assert "<img" in shown
    assert "{{7*7}}" in shown
    assert not {"\u202e", "\u0000"} & {*shown}
    assert shown.count("\u0301") < 20


async def test_the_size_of_a_card_is_bounded(app: object, fonts: Path) -> None:
    """However long a profile is, its card has a bounded height, and ends where the text command tells the rest."""
    from nonebot_plugin_cognitive_memory.cards import Studio
    from nonebot_plugin_cognitive_memory.cards.layout import LIGHT

    huge = a_profile("\n".join(f"## 第{n}\n- {'长' * 5_000}" for n in range(300)), "名" * 5_000, ("签" * 999,) * 99)
    width, height = size_of(await Studio(fonts).drawn(a_card(huge), LIGHT))
    assert width == 1_000
    assert height <= 4_000
    assert "-t" in words_of(a_card(huge)).splitlines()[-1]


@pytest.mark.parametrize(
    "name", ["", "👨‍👩‍👧‍👦🐱", "꧁༺阿༻꧂", "ثلاثة", "\u200b\u200b", "A" * 300, "\U0001f1e8\U0001f1f3#️⃣", "𠮷野家"]
)
async def test_any_name_is_drawn(app: object, fonts: Path, name: str) -> None:
    """A card is drawn for a name of emoji, rare signs, other scripts or invisible characters, and for a long one."""
    from nonebot_plugin_cognitive_memory.cards import Studio
    from nonebot_plugin_cognitive_memory.cards.layout import DARK

    width, _ = size_of(await Studio(fonts).drawn(a_card(a_profile(name=name)), DARK))
    assert width == 1_000


def test_a_sign_that_no_font_has_is_left_out(app: object, tmp_path: Path) -> None:
    """A sign without a glyph takes no room and is not drawn: a card shows no crossed boxes."""
    from nonebot_plugin_cognitive_memory.cards.fonts import found_fonts
    from nonebot_plugin_cognitive_memory.cards.layout import Words
    from nonebot_plugin_cognitive_memory.cards.painting import Typefaces, painted

    typefaces = Typefaces(found_fonts(a_font(tmp_path / "one").parent, folders=[]))
    missing = "\u0e01"

    def drawn(*clusters: str) -> bytes:
        words = Words(10, 40, clusters, 24, (0, 0, 0))
        return painted(80, [words], (255, 255, 255), typefaces)

    assert typefaces.length(missing, 24, bold=False) == 0.0
    assert drawn("阿", missing, "棠") == drawn("阿", "棠")
    assert drawn("阿", f"棠{missing}") == drawn("阿", "棠")


async def seen(stage: Stage, text: str, user: int, group: int | None = None) -> list[Any]:
    """Ask and return the messages that the bot sent."""
    before = len(stage.calls)
    event = message(text, user, group)
    stage.heard = event
    await stage.bot.handle_event(event)
    return [data["message"] for api, data in stage.calls[before:] if api == "send_msg"]


async def test_the_day_is_a_card_for_superusers_in_private(
    stage: Stage, studio: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daily report is one picture, with -t its text, to superusers in their private chat alone.

    It says where the costs of a month stand, if there is a console.
    """
    from nonebot_plugin_cognitive_memory.commands import scheduled

    await said(core.Scene.group("10077", "2000077"), "我喜欢喝普洱茶")
    [sent] = await seen(stage, "/记忆 日报", SUPERUSER)
    assert [part.type for part in sent] == ["image"]
    [told] = await seen(stage, "/记忆 日报 -t", SUPERUSER)
    assert "新记住的" in told.extract_plain_text()
    assert "普洱茶" in told.extract_plain_text()
    assert "/running#costs" not in told.extract_plain_text()
    monkeypatch.setattr(scheduled, "access", object())
    [told] = await seen(stage, "/记忆 日报 -t", SUPERUSER)
    assert "/memory/console/running#costs" in told.extract_plain_text()
    assert "日报（" not in (await seen(stage, "/记忆 日报 -t", new_id()))[0].extract_plain_text()
    assert "日报（" not in (await seen(stage, "/记忆 日报 -t", SUPERUSER, 10077))[0].extract_plain_text()


@pytest.mark.parametrize("protocol", ["v11", "v12"])
async def test_the_day_comes_by_itself_once(
    app: object, studio: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    """If it is switched on, each superuser gets one picture in private a day, within hours of the time; else nobody."""
    from nonebot_plugin_cognitive_memory import config, json_file
    from nonebot_plugin_cognitive_memory.commands import scheduled

    stage = Stage(protocol, answers={"upload_file": {"file_id": "drawn"}})
    file = json_file.JsonFile[dict[str, Any]](tmp_path / "daily.json", dict)
    eight = datetime(2026, 3, 1, 8, 1, tzinfo=timezone.utc)
    monkeypatch.setattr(scheduled, "get_bots", lambda: {"1": stage.bot})
    assert not await scheduled.send_due(file, eight)
    wanted = core.Settings.from_mapping({"capture": {"daily_report": "8：00"}})
    monkeypatch.setattr(config.setup, "settings", wanted)
    for at in (eight.replace(hour=7), eight.replace(day=28, month=2, hour=13)):
        assert not await scheduled.send_due(file, at)
    assert await scheduled.send_due(file, eight)
    assert not await scheduled.send_due(file, eight.replace(hour=9))
    api = "send_private_msg" if protocol == "v11" else "send_message"
    [sent] = [data for name, data in stage.calls if name == api]
    assert str(sent["user_id"]) == str(SUPERUSER)
    assert [part.type for part in ([sent["message"]] if protocol == "v11" else sent["message"])] == ["image"]
    stage.refused_texts.append("image")
    assert await scheduled.send_due(file, eight.replace(day=2))
    assert "日报（" in str([data for name, data in stage.calls if name == api][-1]["message"])


async def test_ones_profile_is_a_picture(stage: Stage, group: int, studio: Any) -> None:
    """A profile is answered with a picture, one of the group too, and with -t with the text that it shows."""
    user = new_id()
    await said(core.Scene.group(str(group), str(user)), "我喜欢喝乌龙茶")
    [sent] = await seen(stage, "/记忆 侧写", user, group)
    assert [part.type for part in sent] == ["image"]
    [told] = await seen(stage, "/记忆 侧写 -t", user, group)
    assert "乌龙茶" in told.extract_plain_text()
    assert "写法：/记忆 侧写" in (await seen(stage, "/记忆 侧写 全部", user, group))[0].extract_plain_text()


@pytest.mark.parametrize("place", ["group", "private"])
async def test_a_client_that_takes_only_text_gets_all_of_it(stage: Stage, group: int, studio: Any, place: str) -> None:
    """If the client refuses pictures and merged forwards, a long answer arrives whole, in parts of plain text."""
    from nonebot_plugin_cognitive_memory.cards import daily_card
    from nonebot_plugin_cognitive_memory.commands.answering import say

    stage.refused_texts.append("base64://")
    for api in ("send_group_forward_msg", "send_private_forward_msg"):
        stage.answers[api] = v11.ActionFailed()
    event = message("/记忆 群侧写", new_id(), group if place == "group" else None)
    card = daily_card(
        {}, [(f"第 {number} 件事" + "字" * 60, "") for number in range(40)], [], "03-03 09:00", "03-04 09:00"
    )
    await say(stage.bot, event, card)
    picture, *told = [data["message"] for api, data in stage.calls if api == "send_msg"]
    assert [part.type for part in picture] == ["image"]
    assert f"send_{place}_forward_msg" in [api for api, _ in stage.calls]
    assert {part.type for said in told for part in said} == {"text"}
    assert len(told) > 1
    assert "\n".join(said.extract_plain_text() for said in told) == card.text


@pytest.mark.parametrize("lacks", ["font", "library"])
async def test_text_without_font_or_library(
    stage: Stage, group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    """Without a Chinese font or without the library the answer is text, and nothing fails."""
    from nonebot_plugin_cognitive_memory import cards
    from nonebot_plugin_cognitive_memory.cards import fonts
    from nonebot_plugin_cognitive_memory.commands import answering

    found_fonts = fonts.found_fonts
    latin = a_font(tmp_path, "NotoSansSC-Regular.ttf", range(0x20, 0x7F)).parent
    (latin / "broken.ttf").write_bytes(b"\0" * 99)
    monkeypatch.setattr(fonts, "found_fonts", lambda _: found_fonts(latin, ()))
    drawing = cards.Studio(latin, has_library=lacks != "library")
    monkeypatch.setattr(answering, "studio", lambda: drawing)
    for _ in range(2):
        [told] = await seen(stage, "/记忆 状态", SUPERUSER, group)
        assert [part.type for part in told] == ["text"]
    assert drawing.missing == lacks


async def test_version_twelve_uploads_first(twelve_stage: Stage, studio: Any) -> None:
    """On OneBot v12 a picture is uploaded and sent by its file id; where that is refused, text is sent."""
    twelve_stage.answers["upload_file"] = {"file_id": "f-1"}
    event = twelve_message("/记忆 状态", f"u{new_id()}", f"g{new_id()}")
    await twelve_stage.bot.handle_event(event)
    [sent] = [data["message"] for api, data in twelve_stage.calls if api == "send_message"]
    assert sent == v12.Message(v12.MessageSegment.image("f-1"))
    twelve_stage.answers["upload_file"] = v12.ActionFailed()
    [told] = await twelve_stage.hear(twelve_message("/记忆 状态", f"u{new_id()}", f"g{new_id()}"))
    assert "记忆正在工作" in told


async def test_drawing_is_off_the_event_loop_and_bounded(
    app: object, fonts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cards are drawn in another thread, one at a time; who comes when too many wait gets no card."""
    import asyncio

    from nonebot_plugin_cognitive_memory import cards
    from nonebot_plugin_cognitive_memory.cards.layout import LIGHT

    go, inside = threading.Event(), list[int]()

    def draw(self: Any, card: Any, theme: Any) -> bytes:
        inside.append(threading.get_ident())
        assert go.wait(PATIENCE)
        return b"png"

    monkeypatch.setattr(cards.Studio, "_draw", draw)
    painter = cards.Studio(fonts)
    waiting = [asyncio.create_task(painter.drawn(a_card(), LIGHT)) for _ in range(cards.MOST_WAITING)]
    await until(lambda: len(inside) == 1)
    assert await painter.drawn(a_card(), LIGHT) is None
    assert len(inside) == 1
    go.set()
    assert await asyncio.gather(*waiting) == [b"png"] * cards.MOST_WAITING
    assert threading.get_ident() not in inside


def test_the_operators_font_comes_first(app: object, tmp_path: Path) -> None:
    """A font in the plugin's own folder is preferred to the system's, and a regular cut to a bold one."""
    from nonebot_plugin_cognitive_memory.cards.fonts import found_fonts

    own, system = tmp_path / "own", tmp_path / "system"
    for folder, names in (
        (own, ["Mine-Bold.ttf", "Mine-Regular.ttf"]),
        (system, ["msyh.ttc", "NotoSansCJK-Regular.ttc"]),
    ):
        folder.mkdir()
        for name in names:
            (folder / name).write_bytes(b"")
    found = found_fonts(own, (system,))
    assert [path.name for path in found.chinese] == [
        "Mine-Regular.ttf",
        "Mine-Bold.ttf",
        "NotoSansCJK-Regular.ttc",
        "msyh.ttc",
    ]
    assert found.bold_of(own / "Mine-Regular.ttf") == own / "Mine-Bold.ttf"
    assert found_fonts(tmp_path / "none", ()).chinese == []
