"""Checks of the machine: versions of packages, fonts for picture cards, names of bridges, the clock."""

from __future__ import annotations

import platform
import re
import runpy
from collections.abc import Iterator
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement

from ... import sentences
from ..bot_directory import PLUGIN, shared_dir
from .findings import ExaminedBot, Finding

DISTRIBUTION = "nonebot-plugin-cognitive-memory"
_COMPANIONS = re.compile(r"^COMPANIONS = \((.*?)\)", re.MULTILINE | re.DOTALL)
WRITTEN = datetime(2026, 1, 1, tzinfo=timezone.utc)  # no clock that is right shows an earlier time


def packages(_: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding on the packages that are missing, or have a version that this release does not support."""
    try:
        wanted = [Requirement(one) for one in requires(DISTRIBUTION) or ()]
    except PackageNotFoundError:
        yield Finding("fault", sentences.doctor.NOT_INSTALLED, sentences.doctor.INSTALL)
        return
    needs = (one for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""}))
    if bad := "、".join(filter(None, map(_complaint, needs))):
        yield Finding("fault", sentences.doctor.BAD_PACKAGES.format(packages=bad), sentences.doctor.INSTALL)
    else:
        yield Finding("fine", sentences.doctor.PACKAGES_FIT.format(python=platform.python_version()))


def _complaint(need: Requirement) -> str:
    try:
        found = version(need.name)
    except PackageNotFoundError:
        return sentences.doctor.PACKAGE_MISSING.format(name=need.name)
    if need.specifier.contains(found, prereleases=True):
        return ""
    return sentences.doctor.PACKAGE_WRONG.format(name=need.name, found=found, wanted=need.specifier)


def _plugin_file(name: str) -> Path | None:
    """Return a file of the plugin, which is read because importing the package needs a running bot; None without it."""
    found = find_spec(PLUGIN)
    path = Path(found.origin).parent / name if found and found.origin else None
    return path if path and path.is_file() else None


def fonts(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding for each thing that drawing picture cards lacks: Pillow, or a font with Chinese characters."""
    if find_spec("PIL") is None:
        yield Finding("hint", sentences.doctor.NO_PILLOW, sentences.doctor.PILLOW_ADVICE)
    script = _plugin_file("cards/fonts.py")
    if script is None:
        return
    own = (examined.bot.given_dir or examined.bot.set_dir or shared_dir()) / "fonts"
    if found := runpy.run_path(str(script))["found_fonts"](own).chinese:
        yield Finding("fine", sentences.doctor.FONT_FOUND.format(path=found[0]))
    else:
        yield Finding("hint", sentences.doctor.NO_FONT, sentences.doctor.FONT_ADVICE.format(folder=own))


def bridges(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding for each name in ``bridges`` that no bridge has; without the plugin nothing is known of them."""
    package = _plugin_file("bridges/__init__.py")
    if examined.configuration is None or package is None:
        return
    assigned = _COMPANIONS.search(package.read_text("utf-8"))
    known = re.findall(r'"(.+?)"', assigned[1]) if assigned else []
    for name in examined.configuration.settings.bridges:
        if name not in known and not re.match("openai:.", name):
            advice = sentences.doctor.UNKNOWN_BRIDGE_ADVICE.format(known="、".join(known))
            yield Finding("fault", sentences.doctor.UNKNOWN_BRIDGE.format(name=name), advice)


def clock(_: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if the clock was never set."""
    if (now := datetime.now(timezone.utc)) < WRITTEN:
        what = sentences.doctor.CLOCK_UNSET.format(now=f"{now:%Y-%m-%d}")
        yield Finding("fault", what, sentences.doctor.CLOCK_ADVICE)
