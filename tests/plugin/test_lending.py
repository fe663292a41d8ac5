"""Tests of the models that chat plugins lend, with plugins made here; tests/companions has the real ones."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import SimpleNamespace as Space
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

import cognitive_memory_core as core

URL, KEY, MODEL, PROXY = "https://api.example.com/v1", "sk-theirs", "some-model", "http://proxy.example:7890"
LENT, NOTHING = (URL, KEY, MODEL, ""), None
Modules = Mapping[str, object]


def llmchat(default: str, **preset: object) -> Modules:
    """Return llmchat with two presets."""
    of = {"api_base": URL, "api_key": KEY, "model_name": MODEL, "proxy": "", **preset}
    presets = [Space(name="first", **of), Space(name="second", **{**of, "model_name": "second-model"})]
    config = Space(api_presets=presets, default_preset=default)
    return {"nonebot_plugin_llmchat": Space(plugin_config=config)}


def suggarchat(protocol: str = "__main__", *, is_loaded: bool = True, url: str = URL) -> Modules:
    """Return suggarchat, whose settings are loaded after its import."""

    async def get_preset(name: str) -> object:
        return Space(base_url=url, api_key=KEY, model=f"{MODEL}-{name}", protocol=protocol)

    manager = Space(get_preset=get_preset, **({"config": Space(preset="bot")} if is_loaded else {}))
    return {"nonebot_plugin_suggarchat.config": Space(config_manager=manager)}


def marshoai(token: str = KEY) -> Modules:
    """Return MarshoAI, where a superuser changed the model."""
    return {
        "nonebot_plugin_marshoai.config": Space(config=Space(marshoai_endpoint=URL, marshoai_token=token)),
        "nonebot_plugin_marshoai.marsho": Space(model_name=MODEL),
        "nonebot_plugin_marshoai.instances": Space(model_name="first-model"),
    }


def deepseek(own_key: str | None = None) -> Modules:
    """Return deepseek with a model that is called by an alias."""
    model = Space(name=MODEL, alias="快的", base_url=URL, api_key=own_key, proxy=PROXY)
    config = Space(api_key=KEY, get_model_config={"快的": model}.__getitem__)
    return {"nonebot_plugin_deepseek.config": Space(ds_config=config, json_config=Space(default_model="快的"))}


class Groupmate(BaseModel):
    """The settings of AI Groupmate that name models."""

    llm_api_key: str = ""
    llm_base_url: str = "https://default.example.com/v1"
    chat_model: str = "default-chat"
    chat_api_key: str = ""
    chat_base_url: str = ""
    chat_api_format: str = "openai"
    summary_model: str = "default-summary"
    summary_api_key: str = ""
    summary_base_url: str = ""
    base_model: str = ""
    qwen_token: str = ""
    tagging_api_key: str = "sk-tagging"
    embedding_api_key: str = ""
    embedding_base_url: str = ""
    embedding_model: str = "default-embedding"
    rerank_api_key: str = ""
    rerank_api_url: str = ""


def groupmate(**fields: str) -> Modules:
    """Return AI Groupmate with these settings."""
    config = Groupmate(**fields)
    return {"nonebot_plugin_ai_groupmate.runtime_config": Space(get_runtime_config=lambda: config)}


def moellmchats(**fields: object) -> Modules:
    """Return moellmchats with a selected model of several keys."""
    models = {
        f"{MODEL} (a)": {"url": f"{URL}/chat/completions", "key": [f"Bearer {KEY}", "b"], "model": MODEL, **fields}
    }
    selector = Space(models=models, model_config={"selected_model": f"{MODEL} (a)"})
    return {"nonebot_plugin_moellmchats.model_selector": Space(model_selector=selector)}


def aitalk(default: str) -> Modules:
    """Return aitalk with two models."""
    models = [Space(name=name, api_url=URL, api_key=KEY, model_name=f"{MODEL}-{name}") for name in ("a", "b")]
    return {"nonebot_plugin_aitalk.config": Space(api_list=models, default_model=default, proxy=PROXY)}


def turbo(url: str | None) -> Modules:
    """Return chatgpt-turbo."""
    config = Space(oneapi_url=url, oneapi_key=KEY, oneapi_model=MODEL)
    return {"nonebot_plugin_chatgpt_turbo": Space(plugin_config=config)}


CASES: list[tuple[str, Modules, tuple[str, ...] | None]] = [
    ("llmchat", llmchat("off"), LENT),
    ("llmchat", llmchat("second"), (URL, KEY, "second-model", "")),
    ("llmchat", llmchat("off", proxy=f" {PROXY}\n"), (URL, KEY, MODEL, PROXY)),
    ("llmchat", llmchat("off", api_key=SecretStr(KEY)), LENT),
    ("llmchat", llmchat("off", api_key=""), NOTHING),
    ("suggarchat", suggarchat(), (URL, KEY, f"{MODEL}-bot", "")),
    ("suggarchat", suggarchat(url=""), ("https://api.openai.com/v1", KEY, f"{MODEL}-bot", "")),
    ("suggarchat", suggarchat("anthropic"), NOTHING),
    ("suggarchat", suggarchat(is_loaded=False), NOTHING),
    ("marshoai", marshoai(), LENT),
    ("marshoai", marshoai(""), NOTHING),
    ("deepseek", deepseek(), (URL, KEY, MODEL, PROXY)),
    ("deepseek", deepseek("sk-of-the-model"), (URL, "sk-of-the-model", MODEL, PROXY)),
    ("ai-groupmate", groupmate(), NOTHING),
    ("ai-groupmate", groupmate(llm_api_key=KEY), ("https://default.example.com/v1", KEY, "default-summary", "")),
    ("ai-groupmate", groupmate(llm_api_key=KEY, llm_base_url=URL, chat_model=MODEL), LENT),
    ("ai-groupmate", groupmate(llm_api_key=KEY, llm_base_url=URL, summary_model=MODEL), LENT),
    ("ai-groupmate", groupmate(llm_api_key=KEY, llm_base_url=URL, chat_api_format="anthropic"), NOTHING),
    ("openai:nonebot_plugin_chatgpt_turbo", turbo(URL), LENT),
    ("openai:nonebot_plugin_chatgpt_turbo", turbo(None), ("https://api.openai.com/v1", KEY, MODEL, "")),
    ("openai:nonebot_plugin_aitalk", aitalk("b"), (URL, KEY, f"{MODEL}-b", PROXY)),
    ("openai:nonebot_plugin_aitalk", aitalk(""), (URL, KEY, f"{MODEL}-a", PROXY)),
    ("openai:nonebot_plugin_moellmchats", moellmchats(), (f"{URL}/chat/completions", KEY, MODEL, "")),
    (
        "openai:nonebot_plugin_moellmchats",
        moellmchats(key=KEY, proxy=PROXY),
        (f"{URL}/chat/completions", KEY, MODEL, PROXY),
    ),
    ("openai:somebody_elses_plugin", {}, NOTHING),
]


@pytest.fixture
def loaded(app: object, monkeypatch: pytest.MonkeyPatch) -> Callable[[Modules], None]:
    """Return a function that puts modules where bridges look for them."""

    def load(modules: Modules) -> None:
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, name, module)

    return load


def lent_by(name: str) -> Callable[[], Any]:
    """Return the function by which a bridge reads its chat plugin's settings."""
    place = "nonebot_plugin_cognitive_memory.bridges"
    kind, _, plugin = name.partition(":")
    if kind == "openai":
        return partial(import_module(f"{place}.openai_calls").lent, plugin)
    return import_module(f"{place}.{name.replace('-', '_')}").lent


@pytest.mark.parametrize(("name", "modules", "said"), CASES)
async def test_each_bridge_reads_what_the_operator_set_for_the_whole_bot(
    loaded: Callable[[Modules], None], name: str, modules: Modules, said: tuple[str, ...] | None
) -> None:
    """Address, key, name and proxy come from the plugin's own settings, and nothing without a key."""
    loaded(modules)
    assert await lent_by(name)() == (said and core.LentModel(name, *said))


async def test_ai_groupmate_lends_its_embedding_and_its_reranking_model_too(loaded: Callable[[Modules], None]) -> None:
    """They come with the chat model, each with an address and a key of its own; without a key neither does."""
    keys = {"embedding_api_key": "sk-e", "rerank_api_key": "sk-r"}
    loaded(groupmate(llm_api_key=KEY, embedding_base_url=URL, rerank_api_url=f"{URL}/rerank", **keys))
    lent = await lent_by("ai-groupmate")()
    assert lent.embedding == core.LentModel("ai-groupmate", URL, "sk-e", "default-embedding")
    assert lent.rerank == core.LentModel("ai-groupmate", f"{URL}/rerank", "sk-r", "BAAI/bge-reranker-v2-m3")
    loaded(groupmate(llm_api_key=KEY, embedding_base_url=URL, rerank_api_url=URL))
    lent = await lent_by("ai-groupmate")()
    assert (lent.embedding, lent.rerank) == (None, None)


@pytest.fixture
def lenders(app: object, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the lenders, empty."""
    from nonebot_plugin_cognitive_memory import lending

    found: dict[str, Any] = {}
    monkeypatch.setattr(lending, "_lenders", found)
    monkeypatch.setattr(lending, "SECONDS", 0.05)
    return found


def lending_by(*given: object) -> Callable[[], Any]:
    """Return a lender that returns a model of these parts."""

    async def lent() -> object:
        from nonebot_plugin_cognitive_memory.lending import lent_by

        return lent_by("hostile", *given)

    return lent


async def failing() -> None:
    """Fail as settings do that are not there."""
    raise NameError(KEY)


async def test_the_first_with_a_usable_model_lends_it(lenders: dict[str, Any], log: list[str]) -> None:
    """One that raises, hangs, or has values of other types is passed over; the log has no value of its settings."""
    from nonebot_plugin_cognitive_memory.lending import lent_model

    assert await lent_model() is None
    lenders["raises"] = failing
    lenders["hangs"] = asyncio.Event().wait
    for number, hostile in enumerate(
        [(URL, KEY, 7), (URL, [KEY], MODEL), ({}, KEY, MODEL), (URL, KEY, MODEL, object())]
    ):
        lenders[f"hostile{number}"] = lending_by(*hostile)
    assert await lent_model() is None
    lenders["good"] = lending_by(URL, KEY, MODEL)
    assert await lent_model() == core.LentModel("hostile", URL, KEY, MODEL)
    assert sum("读不出" in line for line in log) == 2
    assert KEY not in "".join(log)


@pytest.mark.parametrize(
    ("borrow", "names", "borrows", "is_lent", "said"),
    [
        ("auto", ("llmchat",), True, True, "模型 some-model（llmchat 的，api.example.com；费用算在它的密钥上）"),
        ("auto", ("llmchat",), True, False, "无模型：规则史官（llmchat 设好模型和密钥就用它的）"),
        ("auto", ("llmchat",), False, True, "写 COGNITIVE_MEMORY__MODELS__HISTORIAN__BORROW=llmchat）"),
        ("auto", ("llmchat",), False, False, "无模型：规则史官"),
        ("off", (), False, False, "无模型：规则史官"),
        ("suggarchat", (), True, False, "BORROW 里写的 suggarchat 没有接上"),
    ],
)
def test_the_start_line_says_whose_model_is_used(  # a table
    app: object, borrow: str, names: tuple[str, ...], borrows: bool, is_lent: bool, said: str
) -> None:
    """It names the lender and the host, or says in one hint what the operator can do."""
    from nonebot_plugin_cognitive_memory.replies.log import historian

    lent = core.LentModel("llmchat", URL, KEY, MODEL) if is_lent else None
    settings = core.ModelSettings(borrow=borrow)
    assert said in historian(settings, lent, names, borrows=borrows)
    assert historian(core.ModelSettings(model_name="own"), lent, names, borrows=borrows) == "模型 own"


def test_status_and_figures_say_whose_model_is_used(app: object) -> None:
    """Anybody learns whose model reads their lines, a superuser also what it cost today."""
    from nonebot_plugin_cognitive_memory.replies import status

    now = core.Status(is_running=True, model=MODEL, lender="llmchat")
    assert ("plain", "整理用 llmchat 的模型 some-model") in status.status_remarks(now, (0, 0))
    assert ("plain", "整理用 llmchat 的 some-model，算在它的密钥上") in status.stats_remarks(now)
