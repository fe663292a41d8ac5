"""Checks of the machine: versions of packages, fonts for picture cards, the clock."""

from __future__ import annotations

import platform
import re
import runpy
import sys
from collections.abc import Iterator, Sequence
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
OLDEST_PYTHON = (3, 10)
WRITTEN = datetime(2026, 1, 1, tzinfo=timezone.utc)  # no clock that is right shows an earlier time


def packages(examined: ExaminedBot) -> Iterator[Finding]:  # noqa: ARG001  # the machine's, whatever bot is examined
    """Yield a finding for each package that is missing, or has a version that this release does not support."""
    if sys.version_info < OLDEST_PYTHON:
        yield Finding("fault", sentences.doctor.OLD_PYTHON, sentences.doctor.OLD_PYTHON_ADVICE)
    try:
        wanted = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        yield Finding("fault", sentences.doctor.NOT_INSTALLED, sentences.doctor.INSTALL)
        return
    yield from package_findings(wanted)


def package_findings(wanted: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding for each requirement that is missing or installed in an unsupported version."""
    needs = (one for one in map(Requirement, wanted) if one.marker is None or one.marker.evaluate({"extra": ""}))
    bad = [said for need in needs if (said := _complaint(need))]
    if bad:
        yield Finding("fault", sentences.doctor.BAD_PACKAGES.format(packages="、".join(bad)), sentences.doctor.INSTALL)
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


def fonts(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding for each thing that drawing picture cards lacks: Pillow, or a font with Chinese characters."""
    yield from pillow_findings(has_pillow=find_spec("PIL") is not None)
    found = chinese_fonts(examined)
    if found is not None:
        yield from font_findings(found, _own_fonts(examined))


def pillow_findings(*, has_pillow: bool) -> Iterator[Finding]:
    """Yield a finding if Pillow is missing."""
    if not has_pillow:
        yield Finding("hint", sentences.doctor.NO_PILLOW, sentences.doctor.PILLOW_ADVICE)


def font_findings(found: Sequence[Path], folder: Path) -> Iterator[Finding]:
    """Yield a finding on the fonts found; ``folder`` is where an operator may put one."""
    if found:
        yield Finding("fine", sentences.doctor.FONT_FOUND.format(path=found[0]))
    else:
        yield Finding("hint", sentences.doctor.NO_FONT, sentences.doctor.FONT_ADVICE.format(folder=folder))


def chinese_fonts(examined: ExaminedBot) -> list[Path] | None:
    """Return the fonts that the plugin would draw Chinese with; None without the plugin.

    The plugin's search for fonts is loaded from its file, because importing the package needs a running bot.
    """
    found = find_spec(PLUGIN)
    if found is None or found.origin is None:
        return None
    script = Path(found.origin).parent / "cards" / "fonts.py"
    if not script.is_file():
        return None
    return list(runpy.run_path(str(script))["found_fonts"](_own_fonts(examined)).chinese)


def bridges(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding for each name in ``bridges`` that no bridge has; without the plugin nothing is known of them.

    The plugin's files are read, because importing the package needs a running bot.
    """
    found = find_spec(PLUGIN)
    if examined.configuration is None or found is None or found.origin is None:
        return
    package = (Path(found.origin).parent / "bridges" / "__init__.py").read_text("utf-8")
    assigned = _COMPANIONS.search(package)
    known = re.findall(r'"(.+?)"', assigned[1]) if assigned else []
    for name in examined.configuration.settings.bridges:
        if name not in known and not re.match("openai:.", name):
            advice = sentences.doctor.UNKNOWN_BRIDGE_ADVICE.format(known="、".join(known))
            yield Finding("fault", sentences.doctor.UNKNOWN_BRIDGE.format(name=name), advice)


def _own_fonts(examined: ExaminedBot) -> Path:
    return (examined.bot.given_dir or examined.bot.set_dir or shared_dir()) / "fonts"


def clock(examined: ExaminedBot) -> Iterator[Finding]:  # noqa: ARG001  # the machine's, whatever bot is examined
    """Yield a finding if the clock was never set."""
    yield from clock_findings(datetime.now(timezone.utc))


def clock_findings(now: datetime) -> Iterator[Finding]:
    """Yield a finding if the clock shows a time before :data:`WRITTEN`."""
    if now < WRITTEN:
        what = sentences.doctor.CLOCK_UNSET.format(now=f"{now:%Y-%m-%d}")
        yield Finding("fault", what, sentences.doctor.CLOCK_ADVICE)
