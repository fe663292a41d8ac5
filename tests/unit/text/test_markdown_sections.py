"""Tests of splitting a Markdown text into sections and joining it again."""

from __future__ import annotations

from cognitive_memory_core.historian.profile_page import sections_of, title_of


def test_a_text_is_split_before_its_headings() -> None:
    """Headings of level two and deeper start a section; a level-one title and an empty heading do not."""
    found = sections_of("# 阿棠\n插画师\n\n## 兴趣\n- 茶\n##\n### 细节 ###\n- 红茶")
    assert [(title_of(heading), "\n".join(lines).strip()) for heading, lines in found] == [
        ("", "# 阿棠\n插画师"),
        ("兴趣", "- 茶\n##"),
        ("细节", "- 红茶"),
    ]
