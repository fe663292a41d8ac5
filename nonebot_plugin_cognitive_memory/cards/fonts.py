"""Finds fonts: first in the plugin's own folder, then where the system keeps them.

The doctor of the core runs this file alone, so that it imports nothing but the standard library.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

ENDINGS = frozenset({".ttf", ".otf", ".ttc", ".otc"})
MOST_FILES = 20_000  # looked at, so that a huge or looping folder ends
CHINESE = (  # beginnings of file names without signs, the preferred ones first
    *("notosanscjk", "notosanssc", "notosanshans", "sourcehansans", "harmonyossanssc", "misans", "alibabapuhuiti"),
    *("msyh", "pingfang", "hiraginosansgb", "wqymicrohei", "wqyzenhei", "deng", "lxgw", "simhei", "stheiti"),
    *("droidsansfallback", "notoserifcjk", "notoserifsc", "sourcehanserif", "simsun", "stsong", "songti", "kaiti"),
    *("arplumingcn", "uming", "ukai", "gbsn00lp", "fandol", "unifont", "arialunicode"),
)
EMOJI = ("notocoloremoji", "seguiemj", "applecoloremoji", "twemoji", "joypixels", "blobmoji")
SYMBOLS = ("notosanssymbols2", "notosanssymbols", "seguisym", "symbola", "dejavusans", "arialunicode", "unifont")
_BOLD = ("bold", "bd", "semibold", "medium", "heavy", "black")
_OTHER_CUTS = ("thin", "light", "demilight", "extralight", "mono", "italic", "oblique", "condensed", *_BOLD)


@dataclass(frozen=True)
class FontFiles:
    """Font files in the order in which to try them; ``bold`` maps a regular file to the bold one in its folder."""

    chinese: Sequence[Path]
    emoji: Sequence[Path]
    symbols: Sequence[Path]
    files: Sequence[Path]

    def bold_of(self, regular: Path) -> Path | None:
        """Return the bold cut of a regular font in the same folder; None if there is none."""
        stem = _plain(regular.stem).replace("regular", "")
        beside = [path for path in self.files if path.parent == regular.parent and path != regular]
        return next((path for end in _BOLD for path in beside if _plain(path.stem) == stem + end), None)


def found_fonts(own: Path | None, folders: Sequence[Path] | None = None) -> FontFiles:
    """Return the fonts in the folder ``own``, then those in ``folders``, by default the system's."""
    mine = sorted(_fonts_in(own)) if own else []
    others = system_folders() if folders is None else folders
    files = list(dict.fromkeys([*mine, *(path for folder in others for path in sorted(_fonts_in(folder)))]))
    given = sorted((path for path in mine if not _rank(path, EMOJI + SYMBOLS)), key=_is_other_cut)
    return FontFiles(
        chinese=[*given, *(path for path in _ranked(files, CHINESE) if path not in given)],
        emoji=_ranked(files, EMOJI),
        symbols=_ranked(files, SYMBOLS),
        files=files,
    )


def system_folders() -> list[Path]:
    """Return the folders in which this system keeps fonts."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  # Path.home raises where there is none
    if sys.platform == "win32":
        windows, local = os.environ.get("WINDIR", r"C:\Windows"), os.environ.get("LOCALAPPDATA", "")
        return [Path(windows) / "Fonts", *([Path(local) / "Microsoft" / "Windows" / "Fonts"] if local else [])]
    if sys.platform == "darwin":
        assets = Path("/System/Library/AssetsV2")
        named = [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library" / "Fonts"]
        return [*named, *sorted(assets.glob("com_apple_MobileAsset_Font*"))]
    shared = os.environ.get("XDG_DATA_HOME") or home / ".local" / "share"
    return [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path(shared) / "fonts", home / ".fonts"]


def _fonts_in(folder: Path) -> Iterator[Path]:
    """Yield the fonts below a folder, without following links to folders; what cannot be read is passed over."""
    files = (Path(parent) / name for parent, _, names in os.walk(folder) for name in names)
    yield from (path for path in islice(files, MOST_FILES) if path.suffix.lower() in ENDINGS)


def _ranked(files: Sequence[Path], names: Sequence[str]) -> list[Path]:
    """Return the files whose names begin with one of ``names``, in the order of ``names``, regular cuts first."""
    known = [(rank, path) for path in files if (rank := _rank(path, names))]
    return [path for _, path in sorted(known, key=lambda pair: (pair[0], _is_other_cut(pair[1]), pair[1].name))]


def _rank(path: Path, names: Sequence[str]) -> int:
    stem = _plain(path.stem)
    return next((at for at, name in enumerate(names, 1) if stem.startswith(name)), 0)


def _is_other_cut(path: Path) -> bool:
    stem = _plain(path.stem)
    return any(stem.endswith(cut) or cut in stem.removeprefix("deja") for cut in _OTHER_CUTS)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))
