"""The settings tables of the site and the READMEs, and .env.example, generated from the settings model.

``python -m tests.support.tables`` writes them; tests/promises/test_settings_are_listed.py compares.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, SecretStr

from cognitive_memory_core.sentences.setting_meanings import MEANINGS as TEXTS
from cognitive_memory_core.settings.schema import Settings

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "COGNITIVE_MEMORY__"
BEGIN, END = "<!-- settings:begin -->", "<!-- settings:end -->"
Language = Literal["zh", "en"]

HEADS: Mapping[Language, tuple[str, str, str]] = {
    "zh": ("设置", "默认", "说明"),
    "en": ("setting", "default", "what it does"),
}
ESSENTIAL = (  # the settings that the READMEs list; the site's pages list all
    "timezone",
    "bridges",
    "daily_calls",
    "models.historian.api_url",
    "models.historian.api_key",
    "models.historian.model_name",
    "query.context_token_budget",
    "capture.auto_consider",
    "capture.log_days",
    "capture.ignore_groups",
    "capture.ignore_users",
    "http.token",
)
PAGES: Mapping[str, tuple[Language, tuple[str, ...]]] = {  # where a table stands: its language, and () for all settings
    "README.md": ("zh", ESSENTIAL),
    "README.en.md": ("en", ESSENTIAL),
    "docs/settings.md": ("zh", ()),
    "docs/en/settings.md": ("en", ()),
}
INHERITING = ("models.triage", "models.merge", "models.evolution")  # a blank key uses the historian's


@dataclass(frozen=True)
class Leaf:
    """One setting: its dotted key and its default as .env writes it."""

    key: str
    default: str

    @property
    def variable(self) -> str:
        """Return the variable's name in .env."""
        return PREFIX + self.key.upper().replace(".", "__")


def leaves(group: BaseModel | None = None, prefix: str = "") -> Iterator[Leaf]:
    """Yield every setting with its default."""
    group = Settings() if group is None else group
    for name in type(group).model_fields:
        value = getattr(group, name)
        if isinstance(value, BaseModel):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield Leaf(prefix + name, "" if prefix.removesuffix(".") in INHERITING else _written(value))


def settings_table(language: Language, only: Collection[str] = ()) -> str:
    """Return the table of all settings or some."""
    column = ("zh", "en").index(language)
    rows = [HEADS[language], ("---", "---", "---")]
    for key, default in _rows():
        if only and key not in only:
            continue
        rows.append((f"`{key}`", default, TEXTS[key][column]))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def env_example() -> str:
    """Return .env.example: every setting with its default, commented out."""
    lines = [
        "# 每一项都可以不写；去掉行首的 # 才生效。下面写的是默认值。",
        "# 记忆的文件放在机器人目录的 data/ 下（建议保留这一行，否则同一用户的机器人共用一个目录）：",
        "LOCALSTORE_USE_CWD=true",
    ]
    group = None
    for leaf in leaves():
        above = leaf.key.rpartition(".")[0]
        if above != group:
            lines += ["", f"# --- {above or '总的'} ---"]
            group = above
        text = TEXTS.get(leaf.key, ("", ""))[0]
        lines += [f"# {text}"] * bool(text) + [f"# {leaf.variable}={leaf.default}"]
    return "\n".join(lines) + "\n"


def with_table(text: str, language: Language, only: Collection[str] = ()) -> str:
    """Return a text with the table between its markers."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{settings_table(language, only)}\n{END}{after}"


def _rows() -> Iterator[tuple[str, str]]:
    shown: set[str] = set()
    for leaf in leaves():
        name = next((group for group in INHERITING if leaf.key.startswith(group)), leaf.key)
        if name not in shown:
            shown.add(name)
            yield name, f"`{leaf.default}`" if name == leaf.key and leaf.default else ""


def _written(value: object) -> str:
    if value is None or isinstance(value, SecretStr):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    for file, (each, some) in PAGES.items():
        path = ROOT / file
        path.write_text(with_table(path.read_text("utf-8"), each, some), "utf-8")
    (ROOT / ".env.example").write_text(env_example(), "utf-8")
