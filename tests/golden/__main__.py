"""Make the archive of a version: ``python -m tests.golden COMMIT NAME [--exact] [--grown]``: ``HEAD 1.0.0-format-12``.

The code of the commit is unpacked into a temporary folder and run with the packages that are installed now.
``--exact`` leaves Chroma out, ``--grown`` adds a group with beliefs and experiences.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from . import ENDING, FOLDER

ROOT = Path(__file__).absolute().parents[2]
PACKAGES = ("cognitive_memory_core", "nonebot_plugin_cognitive_memory")


def main(commit: str, name: str, *options: str) -> None:
    """Fill a directory with the code of a commit and pack it."""
    with tempfile.TemporaryDirectory() as scratch:
        code, data = Path(scratch, "code"), Path(scratch, "data")
        code.mkdir()
        packed = subprocess.run(["git", "archive", commit, *PACKAGES], cwd=ROOT, check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", str(code)], input=packed.stdout, check=True)
        filling = [sys.executable, str(Path(__file__).with_name("fill.py")), str(data), *options]
        subprocess.run(filling, cwd=scratch, env={**os.environ, "PYTHONPATH": str(code)}, check=True)
        FOLDER.mkdir(exist_ok=True)
        with tarfile.open(FOLDER / f"{name}{ENDING}", "w:xz") as archive:
            archive.add(data, ".", filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main(*sys.argv[1:])
