"""The demo: a real bot and a real OneBot client in one process, and what the memory made of a conversation.

Started by ``cognitive-memory demo`` as a separate process. Exit status 0: everything was shown; 1: something leaked or
failed, or a turn was not recorded.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transcript import NotATranscript, read_transcript

FAILED = 1


def main() -> int:
    """Play the transcript given as argument, or the sample."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--transcript", type=Path, default=Path(__file__).with_name("sample.json"))
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    try:
        transcript = read_transcript(arguments.transcript)
        with _home(arguments.keep) as home:
            from stage import Stage  # noqa: PLC0415  # a file that cannot be played needs no bot

            stage = Stage(home)
            from show import Show  # noqa: PLC0415  # imports the plugin, which wants a bot first

            shown = asyncio.run(Show(stage, transcript, home, arguments.keep is not None).run())
            return 0 if shown else FAILED
    except NotATranscript as refused:
        print(refused, file=sys.stderr)
    except KeyboardInterrupt:
        print("\n已中断", file=sys.stderr)
    return FAILED


@contextmanager
def _home(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="cognitive-memory-demo-", ignore_cleanup_errors=True) as home:
        try:
            yield Path(home).resolve()
        finally:
            os.chdir(Path(__file__).parent)  # Windows cannot remove the current directory


if __name__ == "__main__":
    sys.exit(main())
