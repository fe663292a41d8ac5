"""The chat plugin of the demo, which answers without a model; examples/companion_chat is one with a model.

It answers when it is addressed; another line is recorded without an answer if it is worth noting. The handler reads
the memory from its parameter ``context``, and passes what is worth noting to ``record_end``, which costs one durable
file write.
"""

from __future__ import annotations

import re
from collections import deque

from nonebot import on_message, require
from nonebot.adapters import Event
from nonebot.plugin import PluginMetadata

require("nonebot_plugin_cognitive_memory")

from nonebot_plugin_cognitive_memory import CurrentScene, MemoryContext, RecordEnd  # noqa: E402  # after its require()

__plugin_meta__ = PluginMetadata(
    name="有记忆的聊天搭子",
    description="不用模型的示例：被叫到就翻记忆回答，听到值得记的就记下",
    usage="@机器人 说话，或者在群里聊天",
)

SYSTEM_PROMPT = "你是群里的一员，说话简短。"
ASKING = re.compile(r"[?？]|谁|哪|几|多少|怎么|什么|(?:[吗呢没]|来着)\s*$")
FIRST_PERSON = re.compile(r"我(?!们)")
QUOTED = re.compile(r"- \[(?P<day>[\d-]+).*?“(?:\S+ 说：)?(?P<said>.+?)”")
NUMBER = re.compile(r"\(\d+\)")  # after a name: a person's or a group's number
REQUEST = re.compile(r"^(?:你也|帮我)?(?:记住|记一下)[，,：: ]*|[，,]?(?:你也|帮我)?(?:记住|记一下)[。！!]*$")
BEST = 2  # recalled items of an answer
WORTH_NOTING = 8  # characters; shorter lines are mostly greetings


ends: deque[str | None] = deque(maxlen=10_000)
"""The queued job of each turn, if any."""
contexts: deque[str] = deque(maxlen=1)
"""The context of the last answer."""


async def _takes_part(event: Event) -> bool:
    return event.is_tome() or _is_worth_noting(event.get_plaintext())


chat = on_message(rule=_takes_part, priority=50, block=False)


@chat.handle()
async def turn(event: Event, scene: CurrentScene, context: MemoryContext, record_end: RecordEnd) -> None:
    """Answer if addressed, then end the turn."""
    text = event.get_plaintext().strip()
    memo = ""
    if event.is_tome():
        contexts.append(context.text)
        answer = await ask_model(f"{SYSTEM_PROMPT}\n{context.text}", text)
        await chat.send(answer)
        memo = f"回答了 {scene.user_name} 的提问：{answer}" if ASKING.search(text) else ""
    observations = [_observation(text, scene)] if _is_worth_noting(text) else []
    if not memo and not observations:
        return
    ends.append(await record_end(memo, observations))


async def ask_model(system: str, text: str) -> str:
    """Answer without a model: a question with the best recalled memories, anything else with a confirmation."""
    if not ASKING.search(text):
        return "好，记下了。"
    _, _, recalled = system.partition("【相关回忆】\n")
    found = [f"{one['day']} 说的：{NUMBER.sub('', one['said'])}" for one in QUOTED.finditer(recalled)]
    return f"我记得，{'；'.join(found[:BEST])}" if found else "这个我还没有印象。"


def _is_worth_noting(text: str) -> bool:
    return len(text.strip()) >= WORTH_NOTING and not ASKING.search(text)


def _observation(text: str, scene: CurrentScene) -> str:
    """Return a first-person text in the third person and without "note this", as a model would write it."""
    text = REQUEST.sub("", text)
    speaker = f"{scene.user_name}({scene.user_id})"
    if not FIRST_PERSON.search(text):
        return f"{speaker} 说：{text}"
    return FIRST_PERSON.sub(scene.user_name, FIRST_PERSON.sub(speaker, text, count=1))
