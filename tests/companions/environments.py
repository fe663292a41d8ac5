"""The chat plugins to which there are bridges, with an environment for each: their requirements exclude each other.

``python -m tests companions`` makes what is missing and runs the tests. The environments stand in ``.companions`` of
the repository, or in the directory that ``COMPANIONS`` names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("COMPANIONS", ROOT / ".companions"))
WITH_EACH = ("-e", str(ROOT), "nonebot2[fastapi,websockets]")


@dataclass(frozen=True)
class Environment:
    """The environment of one companion: what is installed beside this plugin."""

    name: str
    requirements: tuple[str, ...]

    @property
    def python(self) -> Path:
        """Return its interpreter, which need not exist."""
        return HOME / self.name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def install(self) -> bool:
        """Make it if it is missing; return whether it is there."""
        if not self.python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(HOME / self.name)], check=True)
        command = [*_installer(str(self.python)), "--quiet", *WITH_EACH, *self.requirements]
        return subprocess.run(command, check=False).returncode == 0


def _installer(python: str) -> list[str]:
    """Return uv's installer where there is one, since it resolves these in seconds, else pip's."""
    uv = shutil.which("uv")
    return [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]


ENVIRONMENTS = {
    one.name: one
    for one in (
        Environment("ai-groupmate", ("nonebot-plugin-ai-groupmate==2.5.*", "aiosqlite")),
        Environment("deepseek", ("nonebot-plugin-deepseek>=0.2,<0.4",)),  # 0.3 wants Python 3.12
        Environment("llmchat", ("nonebot-plugin-llmchat==0.6.*",)),
        Environment("marshoai", ("nonebot-plugin-marshoai==1.2.*", "mcp<2")),
        Environment("openai", ("nonebot-plugin-chatgpt-turbo==1.2.*",)),
        Environment("suggarchat", ("nonebot-plugin-suggarchat==4.0.*", "aiosqlite")),
    )
}


def main() -> int:
    """Install every companion; return 1 if one could not be installed."""
    failed = [one.name for one in ENVIRONMENTS.values() if not one.install()]
    print(f"not installed: {', '.join(failed)}" if failed else f"all in {HOME}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
