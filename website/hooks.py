"""What mkdocs does beside its own work for the site: pages from outside docs/, and links that leave it.

A link to a file of the repository that is a page of the site leads to that page, one to a file of examples/ to the
site's copy of it, any other to the repository. A link or a picture whose target does not exist is a warning, which
``mkdocs build --strict`` refuses.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
BESIDE: Mapping[str, str] = {  # pages of the site that stand outside docs/
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
}
PLUGIN = ROOT / "nonebot_plugin_cognitive_memory"
NIGHT = "@media (prefers-color-scheme: dark) {"
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))|(\s(?:src|href)=\")([^\"#:]+)(\")")
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
BOOSTS = {"troubleshooting.md": 4.0, "settings.md": 2.0, "commands.md": 2.0, "data.md": 2.0}  # of what is searched
REARWARD = (
    *("decisions/", "faults", "benchmarks", "changelog"),
    *("contributing", "glossary", "architecture", "promises"),
)
DECISIONS = "<!-- decisions -->"
JOINED = re.compile(r"(?<=[\u4e00-\u9fff，。；：、！？）」”])\n(?=[\u4e00-\u9fff（「“])")  # Chinese has no spaces
log = logging.getLogger("mkdocs.hooks.links")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs/, the look of cards and console, and the examples as files to download."""
    for path, source in BESIDE.items():
        files.append(File.generated(config, path, content=(ROOT / source).read_text("utf-8")))
    files.append(File.generated(config, "assets/tokens.css", content=tokens()))
    icon = (PLUGIN / "console" / "static" / "icon.svg").read_bytes()
    files.append(File.generated(config, "assets/icon.svg", content=icon))
    for example in examples():
        files.append(File.generated(config, example, content=(ROOT / example).read_bytes()))
    return files


def tokens() -> str:
    """Return the tokens of cards and console; the site's switch chooses the dark ones, not the browser's setting."""
    light, _, dark = (PLUGIN / "cards" / "tokens.css").read_text("utf-8").partition(NIGHT)
    return light + dark.rpartition("}")[0].replace(":root", '[data-md-color-scheme="slate"]')


def examples() -> list[str]:
    """List the files of examples/ that are no pages."""
    found = (path for path in sorted((ROOT / "examples").rglob("*")) if path.is_file())
    return [path.relative_to(ROOT).as_posix() for path in found if path.suffix not in (".md", ".pyc")]


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """List the decisions where the page wants it, settle links outside code, and weigh the page in searches."""
    path = page.file.src_uri
    page.meta.setdefault("search", {"boost": 0.2 if path.startswith(REARWARD) else BOOSTS.get(path, 1.0)})
    text = markdown.replace(DECISIONS, decisions()) if DECISIONS in markdown else markdown
    source = ROOT / BESIDE[path] if path in BESIDE else ROOT / "docs" / path
    made, last = [], 0
    for code in FENCE.finditer(text):
        made += [_settled(text[last : code.start()], source, path, config), code[0]]
        last = code.end()
    return "".join([*made, _settled(text[last:], source, path, config)])


def decisions() -> str:
    """List the decision records, each with its title."""
    rows = []
    for record in sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md")):
        title = record.read_text("utf-8").partition("\n")[0].lstrip("# ")
        rows.append(f"* [{title}]({record.name})")
    return "\n".join(rows)


def _settled(text: str, source: Path, page: str, config: MkDocsConfig) -> str:
    def settle(found: re.Match[str]) -> str:
        before, link, after = (found[1], found[2], found[3]) if found[2] else (found[4], found[5], found[6])
        return f"{before}{_target(link, source, page, config)}{after}"

    return JOINED.sub("", LINK.sub(settle, text))


def _target(link: str, source: Path, page: str, config: MkDocsConfig) -> str:
    """Return where a link leads on the site."""
    target = Path(os.path.normpath(source.parent / link))
    if not target.exists():
        log.warning("%s links to %s, which does not exist", page, link)
        return link
    inside = target.relative_to(ROOT).as_posix()
    here = Path(page).parent.as_posix()
    beside = {original: path for path, original in BESIDE.items()}.get(inside)
    if inside in examples():
        return os.path.relpath(inside, here)
    if beside is not None or inside.startswith("docs/"):
        return os.path.relpath(beside or inside.removeprefix("docs/"), here)
    kind = "tree" if target.is_dir() else "blob"
    return f"{config.extra['repository']}/{kind}/main/{inside}"
