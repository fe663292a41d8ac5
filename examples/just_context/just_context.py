"""The least that a chat plugin needs to remember: one more parameter, and its text in the prompt."""

from nonebot import get_driver, on_message, require
from nonebot.adapters import Event
from nonebot.rule import to_me
from openai import AsyncOpenAI

require("nonebot_plugin_cognitive_memory")
from nonebot_plugin_cognitive_memory import MemoryContext  # noqa: E402  # after its require()

config = get_driver().config
model = AsyncOpenAI(base_url=config.chat_api_url, api_key=config.chat_api_key)
chat = on_message(rule=to_me(), priority=50, block=True)


@chat.handle()
async def answer(event: Event, context: MemoryContext) -> None:
    """Answer with what the memory knows before the question."""
    system, said = f"你是群里的一员，说话简短。\n{context.text}", event.get_plaintext()
    prompt = [{"role": "system", "content": system}, {"role": "user", "content": said}]
    completion = await model.chat.completions.create(model=config.chat_model_name, messages=prompt)
    await chat.finish(completion.choices[0].message.content)
