"""Tests of prompt templates that the operator provides: used if valid, otherwise reported with a correction."""

from __future__ import annotations

from datetime import timezone
from importlib import resources
from pathlib import Path

import pytest

from cognitive_memory_core.prompts.library import TEMPLATES, PromptLibrary, Task
from cognitive_memory_core.prompts.previews import previews
from tests.prompts.asked import EVENING, LIBRARY, PEOPLE, facts, given, job_context, merge, said

OWN = """按我的规矩改写，$$ 是美元。
一条答一条。

<!-- prompt -->
现在是 $time，在 ${place}，$speaker 说：
$people
$lines
$tasks
"""
REFUSED = {
    "blank": ("  \n", "不空"),
    "unread": ("", "普通文件"),
    "long": (OWN + "长" * 20_000, "20000"),
    "gbk": (OWN + "\ufffd", "UTF-8"),
    "unseparated": (OWN.replace("<!-- prompt -->", "---"), "<!-- prompt -->"),
    "separated twice": (OWN + "<!-- prompt -->", "只写一次"),
    "without instructions": (OWN[OWN.index("<!--") :], "隔开"),
    "stray": (OWN + "一共 $ 5", "$$"),
    "stray above": ("共 $5\n" + OWN, "$$"),
    "above": ("$lines\n" + OWN, "$lines"),
    "unknown": (OWN + "$memo $budget", "$budget、$memo"),
    "another's": (OWN + "$max_chars", "$max_chars"),
    "lacking": (OWN.replace("$tasks", "").replace("$lines", ""), "缺少 $lines、$tasks"),
}


def prompts(library: PromptLibrary) -> tuple[str, str]:
    """Return the instructions and the prompt of a question that rewrites one observation."""
    ask = library.rewrite([Task(1, "甲")], job_context(), lines=[said(1, PEOPLE[0].id, "乙 $5 {x}")])
    return ask.instructions, ask.prompt


def test_an_own_template_takes_the_place_of_ours() -> None:
    """A valid template replaces the built-in one, with ``$$`` as a dollar; other templates stay built in."""
    library = PromptLibrary({"rewrite": OWN})
    instructions, prompt = prompts(library)
    assert library.problems == ()
    assert instructions == "按我的规矩改写，$ 是美元。\n一条答一条。"
    assert prompt.startswith("现在是 2026年3月5日 周四 21:48（Asia/Shanghai），在 群聊 渡口开发组🚢")
    assert "乙 $5 {x}\n</聊天>" in prompt
    triage = library.triage([said(1, PEOPLE[0].id, "乙")], job_context())
    assert triage.instructions == LIBRARY.triage([said(1, PEOPLE[0].id, "乙")], job_context()).instructions


@pytest.mark.parametrize(("text", "told"), REFUSED.values(), ids=REFUSED.keys())
def test_an_unusable_template_is_named_and_not_used(text: str, told: str) -> None:
    """An invalid template is reported in one Chinese sentence that says how to correct it, and is not used."""
    library = PromptLibrary({"rewrite": text})
    (problem,) = library.problems
    assert problem.startswith("prompts/rewrite.md 没有使用，先用自带的：")
    assert told in problem
    assert "\n" not in problem
    assert len(problem) < 300
    assert prompts(library) == prompts(LIBRARY)


def test_a_flood_of_placeholders_makes_a_short_sentence() -> None:
    """The report about a template is short, however many and however long its placeholders are."""
    (problem,) = PromptLibrary({"merge": OWN + " ".join(f"${'x' * 900}{at}" for at in range(15))}).problems
    assert len(problem) < 900


def test_every_template_ships_and_is_fit_to_be_copied() -> None:
    """Each built-in template passes the check for the operator's templates."""
    folder = resources.files("cognitive_memory_core.prompts") / "templates"
    own = {name: (folder / f"{name}.md").read_text("utf-8") for name in TEMPLATES}
    library = PromptLibrary(own)
    assert library.problems == ()
    assert prompts(library) == prompts(LIBRARY)
    of_person = given(PEOPLE[0], facts("甲"))
    own_ask, _ = library.merge(of_person, EVENING, max_chars=10)
    assert own_ask.prompt == merge(of_person, 10).prompt


def test_a_template_of_an_earlier_version_is_still_used() -> None:
    """A template for evolution that still has the summary of older lines is used; nothing stands there."""
    own = "按我的规矩\n<!-- prompt -->\n$time $place\n最多 $most 条\n$people\n$beliefs\n$earlier\n$lines"
    library = PromptLibrary({"evolve": own})
    ask = library.evolve([], [said(1, PEOPLE[0].id, "乙")], job_context(), most=9)
    assert (library.problems, ask.instructions, "$" in ask.prompt) == ((), "按我的规矩", False)


def test_prompts_are_shown_filled(tmp_path: Path) -> None:
    """Each prompt is shown with a sample: the file's template, one that is only tried, and why one cannot be used."""
    (tmp_path / "rewrite.md").write_text(OWN, "utf-8")
    shown = {one.name: one for one in previews(tmp_path, {"triage": "没有分开"}, EVENING.tzinfo or timezone.utc)}
    assert set(shown) == set(TEMPLATES)
    assert all("花生" in one.prompt for one in shown.values() if one.name != "evolve")
    assert shown["rewrite"].instructions.startswith("按我的规矩改写，$ 是美元")
    assert (shown["triage"].is_own, "<!-- prompt -->" in shown["triage"].problem) == (True, True)
    assert "没有分开" not in shown["triage"].instructions
    assert (shown["merge"].is_own, shown["merge"].problem) == (False, "")
