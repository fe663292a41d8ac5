"""What the demo shows: the turns of a conversation, what the memory made of it, and that no place reads another."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from statistics import median, quantiles

import companion
from nonebot.message import event_postprocessor
from stage import HOST, OneBotClient, Stage, hush
from transcript import Place, Transcript, TranscriptLine, TranscriptQuestion, checked, spread

import cognitive_memory_core as core
from nonebot_plugin_cognitive_memory import get_memory

PATIENCE = 90.0  # seconds for the historian
QUESTIONS, QUESTION_LENGTHS = 3, range(8, 40)
NEWEST, WIDTH = 8, 80


class Show:
    """One run of the demo."""

    def __init__(self, stage: Stage, transcript: Transcript, home: Path, *, kept: bool) -> None:
        """Prepare to play a transcript; all files are under ``home``."""
        self._stage = stage
        self._transcript = transcript
        self._home = home
        self._kept = kept
        self._names = {line.user_id: line.name for line in transcript.lines}

    async def run(self) -> bool:
        """Show everything; return whether all of it was as expected."""
        async with self._stage.connected(self._transcript) as client:
            event_postprocessor(client.note_handled)
            places = self._transcript.places
            groups = sum(place.kind == "group" for place in places)
            print(f"认知记忆演示：{self._transcript.name}")
            print(f"   一个真的 NoneBot 在 {HOST}:{self._stage.port}，演示自带的 OneBot v11 客户端已经连上")
            print(f"   {groups} 个群，{len(places) - groups} 个私聊；没有模型，没有密钥，不联网\n")
            heard = await self._captured(client)
            settled = await self._events()
            await self._questions(client)
            await self._searches()
            tight = await self._isolation()
            print(f"7. 数据都在 {self._home / 'data' / 'nonebot_plugin_cognitive_memory'}")
            print("   已经留下" if self._kept else "   演示结束就删；想留下来看，加 --keep 目录")
            print("\n装进自己的机器人：见 README「装进你的机器人」；装好后在群里发 /记忆 列表，看它记住了什么")
            hush("ERROR")  # that the client disconnects is expected
            return heard and settled and tight

    async def _captured(self, client: OneBotClient) -> bool:
        lines, messages = self._transcript.lines, self._transcript.messages
        print(f"1. 回放 {len(lines)} 条消息（{lines[0].time:%Y-%m-%d} 到 {lines[-1].time:%Y-%m-%d}）", flush=True)
        if by_bot := len(messages) - len(lines):
            print(f"   文件里机器人自己说的 {by_bot} 条不回放")
        started, handled = time.perf_counter(), 0
        for done, line in enumerate(lines, 1):
            handled += await client.say(line)
            if done * 4 // len(lines) > (done - 1) * 4 // len(lines):
                print(f"   {done}/{len(lines)}", flush=True)
        status = await get_memory().status()
        ended, recorded = len(companion.ends), sum(job_id is not None for job_id, _ in companion.ends)
        print(f"   {time.perf_counter() - started:.1f} 秒，机器人处理完 {handled} 条")
        print(f"   聊天插件结束了 {ended} 轮，记下 {recorded} 轮；此刻有 {_waiting(status)} 个任务还排着")
        print("" if recorded == ended else f"   有 {ended - recorded} 轮没有记下：演示失败\n")
        print("2. 记下一轮，聊天插件要等多久（返回时已经写在盘上，断电也不丢）")
        if len(companion.ends) > 1:
            spent = [seconds * 1000 for _, seconds in companion.ends]
            print(f"   中位 {median(spent):.2f} 毫秒，p95 {quantiles(spent, n=20)[-1]:.2f} 毫秒，{len(spent)} 次")
        print()
        return handled == len(lines) and recorded == ended

    async def _events(self) -> bool:
        memory, started = get_memory(), time.perf_counter()
        settled = await memory.drain(PATIENCE)
        status = await memory.status()
        totals, spent = status.totals, time.perf_counter() - started
        print(f"3. 史官在后台整理（没有模型，按规则）：又等了 {spent:.1f} 秒", end="")
        print(f"；{totals.messages} 条消息（连机器人自己的）里记下 {totals.events} 件事，最近的 {NEWEST} 件：", end="")
        print("" if settled else f"；{PATIENCE:.0f} 秒内没有整理完，还有 {_waiting(status)} 个任务")
        for event in reversed(await memory.events(core.Scene.operator(), limit=NEWEST)):
            where = f"群 {event.group_id}" if event.group_id else f"私聊 {event.user_id}"
            print(f"   [{_minute(event)}] {where} {_short(event.text)}")
        print(f"   （失败的任务 {status.jobs.failed} 个）\n")
        return settled and not status.jobs.failed

    async def _questions(self, client: OneBotClient) -> None:
        print("4. 追问：每次回答之前，放进模型提示词的就是竖线里这一段（机器人自己的话按真的时间记，所以是今天）")
        for number, question in enumerate(self._asked()):
            place, name = self._transcript.place_of(question), self._name(question.asker)
            context = await get_memory().context(place.scene(question.asker), question.text)
            print(f"   {self._where(place)} {name} 问：{question.text}")
            print("\n".join(f"   │ {line}" for line in context.text.splitlines()) or "   │ （没有相关的记忆）")
            line = TranscriptLine(
                id=f"question {number}",
                place=place.id,
                user_id=question.asker,
                name=name,
                time=self._transcript.lines[-1].time + timedelta(hours=1, minutes=number),
                text=f"@{self._transcript.bot.name} {question.text}" if place.kind == "group" else question.text,
            )
            await client.say(line)
            print(f"   机器人回：{(client.replies_in(place) or ['（没有回）'])[-1]}\n")

    async def _searches(self) -> None:
        print("5. 搜索（前面是相关的分数，0 到 1）")
        for search in self._transcript.searches or self._asked()[:1]:
            place, started = self._transcript.place_of(search), time.perf_counter()
            hits = await get_memory().search_events(place.scene(search.asker), search.text, top_k=3)
            spent = (time.perf_counter() - started) * 1000
            print(f"   {self._where(place)} {self._name(search.asker)} 搜：{search.text}（{spent:.1f} 毫秒）")
            for hit in hits:
                print(f"   {hit.score:.2f} [{_minute(hit.event)}] {_short(hit.event.text)}")
        print()

    async def _isolation(self) -> bool:
        print("6. 隔离：在每个地方拿别处说过的话去搜、去要上下文")
        results = await checked(get_memory(), self._transcript)
        for result in results:
            refused = f"，点名别的群被拒 {result.refused} 次" if result.refused else ""
            told = f"问了 {result.asked} 次，看到 {result.shown} 条，泄漏 {len(result.leaks)} 条{refused}"
            print(f"   {self._where(result.place)} {told}")
            print("".join(f"      泄漏：{text}\n" for text in result.leaks[:3]), end="")
        if len(results) == 1:
            print("   只有一个地方，没有别处可问")
        leaks = sum(len(result.leaks) for result in results)
        print(f"   合计泄漏 {leaks} 条\n")
        return not leaks

    def _asked(self) -> Sequence[TranscriptQuestion]:
        """Return the transcript's own questions; without any, questions that people asked each other in it."""
        if self._transcript.questions:
            return spread(self._transcript.questions, QUESTIONS)
        lines = self._transcript.lines
        asked = [line for line in lines if line.text.endswith(("？", "?")) and len(line.text) in QUESTION_LENGTHS]
        wanted = [{**line.model_dump(), "asker": line.user_id, "question": line.text} for line in asked or lines]
        return [TranscriptQuestion.model_validate(one) for one in spread(wanted, QUESTIONS)]

    def _where(self, place: Place) -> str:
        return f"在群「{place.name}」里" if place.kind == "group" else f"和 {self._name(place.number)} 私聊时"

    def _name(self, user_id: int) -> str:
        return self._names.get(user_id, str(user_id))


def _minute(event: core.Event) -> str:
    return f"{event.happened_at.astimezone(core.Settings().zone):%Y-%m-%d %H:%M}"


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def _waiting(status: core.Status) -> int:
    return status.jobs.pending + status.jobs.processing
