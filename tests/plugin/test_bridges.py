"""Tests of the bridges with chat plugins made here; tests/companions has the real ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from .stage import Stage, loaded_plugin, message

MODULE = "fake_chat_for_bridges"
FAKE = """
class Model:
    async def ask(self, messages, model): return "好"
    async def tell(self, words): return "好"
"""


@pytest.fixture(scope="module", autouse=True)
def _fake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Load a chat plugin that has a model to ask, and a distribution with a version."""
    folder = tmp_path_factory.mktemp("fake")
    distribution = folder / "fake_chat-1.2.3.dist-info"
    distribution.mkdir()
    (distribution / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-chat\nVersion: 1.2.3\n", "utf-8")
    with loaded_plugin(folder, MODULE, FAKE):
        yield


@pytest.mark.parametrize(
    ("module", "tried", "part", "reason"),
    [
        (MODULE, "==1.2.*", "Model.ask", ""),
        (MODULE, "==1.1.*", "Model.ask", "装的 fake-chat 是 1.2.3，这里只试过 1.1.*"),
        (MODULE, "==1.2.*", "Model.answer", f"它内部变了样，找不到 {MODULE}.Model.answer"),
        (MODULE, "==1.2.*", "Model.tell", f"它内部变了样，找不到 {MODULE}.Model.tell(messages, model)"),
        ("nobody_loaded_this", "==1.2.*", "Model.ask", "机器人没有加载插件 nobody_loaded_this"),
    ],
    ids=["fits", "version", "gone", "shape", "not loaded"],
)
def test_a_companion_that_is_not_as_tried_is_refused(
    log: list[str], monkeypatch: pytest.MonkeyPatch, *, module: str, tried: str, part: str, reason: str
) -> None:
    """A bridge is attached only to what it was tried with; each refusal is one line, and raises nothing."""
    from nonebot_plugin_cognitive_memory import bridges, lending
    from nonebot_plugin_cognitive_memory.bridges.shared import part_of

    attached: list[object] = []
    one = SimpleNamespace(MODULE=module, TRIED={"fake-chat": tried}, lent=None)
    one.attach = lambda: attached.append(part_of(module, part, ("messages", "model")))
    monkeypatch.setitem(sys.modules, f"{bridges.__name__}.fake", one)
    monkeypatch.setattr(bridges, "COMPANIONS", ("fake",))
    monkeypatch.setattr(lending, "_lenders", {})
    bridges.attach("fake")
    assert bool(attached) is not bool(reason)
    assert lending.lender_names() == (() if reason else ("fake",))
    refused = [line for line in log if "没有给 fake 接上记忆" in line]
    assert [reason in line for line in refused] == ([True] if reason else [])


def test_an_unknown_bridge_is_refused(log: list[str]) -> None:
    """A name that is no bridge is refused in a line that lists the names there are."""
    from nonebot_plugin_cognitive_memory import bridges

    bridges.attach("nobody")
    [line] = [line for line in log if "没有给 nobody 接上记忆" in line]
    assert "llmchat" in line


async def test_a_plugin_that_a_test_loaded_is_gone_after_it(stage: Stage, group: int, tmp_path: Path) -> None:
    """A chat plugin made here can be loaded again, and hears nothing said in later tests, whose turn it would keep."""
    heard: list[object] = []
    source = "from nonebot import on_message\nheard = None\n@on_message().handle()\nasync def hear(): heard.append(1)\n"
    for _ in range(2):
        with loaded_plugin(tmp_path, "fake_chat_for_one_test", source) as chat:
            chat.heard = heard
            await stage.hear(message("早", 2000001, group))
        await stage.hear(message("早", 2000001, group))
    assert len(heard) == 2
