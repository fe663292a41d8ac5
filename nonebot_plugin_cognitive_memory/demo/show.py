"""What the demo shows: the turns of a conversation, what the memory made of it, and that no place reads another."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import companion
from nonebot.message import event_postprocessor
from stage import HOST, OneBotClient, Stage, hush
from transcript import Place, Transcript, checked

import cognitive_memory_core as core
from cognitive_memory_core import sentences
from nonebot_plugin_cognitive_memory import get_memory

PATIENCE = 90.0  # seconds for the historian
NEWEST, WIDTH = 8, 80


@dataclass(frozen=True)
class Show:
    """One run of the demo, which plays a transcript; all files are under ``home``, and stay there if ``is_kept``."""

    stage: Stage
    transcript: Transcript
    home: Path
    is_kept: bool

    async def run(self) -> bool:
        """Show everything; return whether all of it was as expected."""
        async with self.stage.connected(self.transcript) as client:
            event_postprocessor(client.note_handled)
            places = self.transcript.places
            groups = sum(place.kind == "group" for place in places)
            print(f"认知记忆演示：{self.transcript.name}")
            print(f"   一个真的 NoneBot 在 {HOST}:{self.stage.port}，演示自带的 OneBot v11 客户端已经连上")
            print(f"   {groups} 个群，{len(places) - groups} 个私聊；没有模型，没有密钥，不联网\n")
            heard = await self._captured(client)
            settled = await self._events()
            await self._questions(client)
            tight = await self._isolation()
            if self.is_kept:
                print(f"5. 数据留在 {self.home / 'data' / 'nonebot_plugin_cognitive_memory'}")
            else:
                print("5. 演示的数据到此删掉；想留下来看，加 --keep 目录")
            print("\n装进自己的机器人：见 README「装进你的机器人」；装好后在群里发 /记忆 列表，看它记住了什么")
            hush("ERROR")  # that the client disconnects is expected
            return heard and settled and tight

    async def _captured(self, client: OneBotClient) -> bool:
        lines, messages = self.transcript.lines, self.transcript.messages
        print(f"1. 回放 {len(lines)} 条消息（{lines[0].time:%Y-%m-%d} 到 {lines[-1].time:%Y-%m-%d}）", flush=True)
        if by_bot := len(messages) - len(lines):
            print(f"   文件里机器人自己说的 {by_bot} 条不回放")
        started, handled = time.perf_counter(), 0
        for done, line in enumerate(lines, 1):
            handled += await client.say(line)
            if done * 4 // len(lines) > (done - 1) * 4 // len(lines):
                print(f"   {done}/{len(lines)}", flush=True)
        ended, recorded = len(companion.ends), sum(job_id is not None for job_id in companion.ends)
        print(f"   {time.perf_counter() - started:.1f} 秒，机器人处理完 {handled} 条")
        print(f"   其中 {ended} 条值得记（{companion.WORTH_NOTING} 个字以上的陈述，和问机器人的话），", end="")
        print(f"聊天插件都交给了记忆，记忆收下 {recorded} 条（收下就已经写在盘上，断电也不丢）")
        print("" if recorded == ended else f"   有 {ended - recorded} 条没有收下：演示失败\n")
        return handled == len(lines) and recorded == ended

    async def _events(self) -> bool:
        memory, started = get_memory(), time.perf_counter()
        settled = await memory.drain(PATIENCE)
        status, spent = await memory.status(), time.perf_counter() - started
        print(f"2. 后台把交来的整理成记忆（没有模型，按规则）：又等了 {spent:.1f} 秒", end="")
        print(f"；成了 {status.totals.events} 件事和 {status.totals.memos} 条「答过什么」的备忘", end="")
        waiting = status.jobs.pending + status.jobs.processing
        print(f"，最近的 {NEWEST} 件：" if settled else f"；{PATIENCE:.0f} 秒内没有整理完，还有 {waiting} 个任务")
        groups = {str(place.number): place for place in self.transcript.places if place.kind == "group"}
        for event in reversed(await memory.events(core.Scene.operator(), limit=NEWEST)):
            place = groups.get(event.group_id) or Place(id="", kind="private", user_id=int(event.user_id))
            text = companion.NUMBER.sub("", event.text.removeprefix(f"{sentences.context.BOT_NOTED}："))
            text = text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
            at = event.happened_at.astimezone(core.Settings().zone)
            print(f"   [{at:%Y-%m-%d %H:%M}] {self._where(place)}：{text}")
        print(f"   失败的任务有 {status.jobs.failed} 个\n" if status.jobs.failed else "   没有失败的任务\n")
        return settled and not status.jobs.failed

    async def _questions(self, client: OneBotClient) -> None:
        print("3. 追问：竖线右边是这次回答放进提示词的那一段，写给模型看的")
        for line in self.transcript.asked:
            place, question = self.transcript.place_of(line), line.text
            print(f"   {self._where(place)} {line.name} 问：{question}")
            calling = f"@{self.transcript.bot.name} " if place.kind == "group" else ""
            companion.contexts.clear()
            await client.say(line.model_copy(update={"text": calling + question}))
            context = "".join(companion.contexts)
            print("\n".join(f"   │ {one}" for one in context.splitlines()) or "   │ （没有相关的记忆）")
            if f"] {sentences.context.THE_BOT}：" in context:
                print("   （上面机器人自己的话按真的时间记，所以是今天）")
            print(f"   机器人回：{(client.replies_in(place) or ['（没有回）'])[-1]}\n")

    async def _isolation(self) -> bool:
        print("4. 隔离：在每个地方拿别处说过的话去搜原话、搜记忆、要上下文，看会不会漏出来")
        leaked = False
        for place in self.transcript.places:
            asked, refused, leaks = await checked(get_memory(), self.transcript, place)
            told = f"；点名搜别的群，被拒绝 {refused} 次" if refused else ""
            print(f"   {self._where(place)} 这样问了 {asked} 次，泄漏 {len(leaks)} 条{told}")
            print("".join(f"      泄漏：{text}\n" for text in leaks[:3]), end="")
            leaked = leaked or bool(leaks)
        print()
        return not leaked

    def _where(self, place: Place) -> str:
        if place.kind == "group":
            return f"在群「{place.name}」里"
        return f"和 {self.transcript.name_of(place.number)} 私聊时"
