"""Tests that the reference page for authors is what the code says."""

from __future__ import annotations

from tests.support.authors_reference import PAGE, page


def test_the_reference_is_made_from_the_code() -> None:
    """The page has the signature and the docstring of each name as the code has them."""
    import nonebot_plugin_cognitive_memory as plugin

    assert PAGE.read_text("utf-8") == page(plugin)


def test_every_public_name_is_in_the_reference() -> None:
    """The plugin exports nothing that the page leaves out, but its settings, its constant and its class of tools."""
    import nonebot_plugin_cognitive_memory as plugin

    left_out = {name for name in plugin.__all__ if f"### `{name}`" not in page(plugin)}
    assert left_out == {"Config", "MemoryToolbox", "TOOL_GUIDE"}
