"""Tests that docs/http.md says what the interface does."""

from __future__ import annotations

from pathlib import Path

from nonebug import App

from tests.support.http_reference import with_routes

GUIDE = Path(__file__).parents[2] / "docs" / "http.md"


def test_the_guide_lists_the_routes(app: App) -> None:
    """docs/http.md has every route of the OpenAPI document, with parameters, an example body and fields of the answer.

    To write it again: ``python -m tests.plugin.test_http_guide``.
    """
    text = GUIDE.read_text("utf-8")
    assert with_routes(text, the_document()) == text


def test_the_guide_names_the_limits(app: App) -> None:
    """The limits that the guide tells are those of the code."""
    from nonebot_plugin_cognitive_memory.http import gates
    from nonebot_plugin_cognitive_memory.replies.http_guide import STATUSES

    text = GUIDE.read_text("utf-8")
    limits = (gates.PER_MINUTE, gates.BURST, gates.STRANGERS_PER_MINUTE)
    assert all(f" {limit} 个" in text for limit in limits)
    assert f"{gates.LARGEST // 1024} KB" in text
    assert all(str(status) in text for status in STATUSES)


def the_document() -> dict:
    """Return the document of the interface."""
    import cognitive_memory_core as core
    from nonebot_plugin_cognitive_memory.http.routes import Backing
    from nonebot_plugin_cognitive_memory.http.site import Site, document

    absent = Backing(core.CognitiveMemory.absent, core.Settings)
    return dict(document(Site("a-token-for-this-test", (), absent).api))


def write() -> None:
    """Write the list of routes into the guide."""
    import tempfile

    import nonebot

    nonebot.init(driver="~none", localstore_data_dir=tempfile.gettempdir(), log_level="ERROR")
    nonebot.load_plugin("nonebot_plugin_cognitive_memory")
    GUIDE.write_text(with_routes(GUIDE.read_text("utf-8"), the_document()), "utf-8")


if __name__ == "__main__":
    write()
