"""The parent's handle on the child process: starts it, exchanges messages, ends it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from .frames import BadFrame, encoded, read_frame
from .protocol import Envelope, framed, unframed

_PACKAGE = __package__ or ""
_ROOT = Path(__file__).resolve().parents[len(_PACKAGE.split("."))]
_PASSED_ON = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    *("PYTHONHOME", "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "COMSPEC"),
)
COMMAND = (sys.executable or "python", "-m", f"{_PACKAGE}.child")


class ProcessEnded(Exception):
    """The process has ended, or was killed for sending invalid data; ``status`` is its exit status."""

    def __init__(self, status: int | None) -> None:
        """Keep the status; negative for a signal."""
        super().__init__(f"exit status {status}")
        self.status = status


def clean_environment(environment: Mapping[str, str], import_path: Sequence[str]) -> dict[str, str]:
    """Return the environment that Python needs to start and import the same modules, without settings or keys."""
    kept = {name: environment[name] for name in _PASSED_ON if name in environment}
    found = [os.path.abspath(entry) for entry in import_path if entry]  # noqa: PTH100  # links stay links
    path = dict.fromkeys([*found, str(_ROOT)])
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",  # glibc: with a heap per thread, each heap would keep what its thread freed
        "MALLOC_MMAP_THRESHOLD_": "1048576",
        "MALLOC_PERTURB_": "165",  # glibc: fills allocated blocks, so that no earlier content reaches a file
        "ANONYMIZED_TELEMETRY": "False",
    }


class ChildProcess:
    """One child process, from its start to its end."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        """Start the process in a group of its own, so that a Ctrl-C for the bot does not end it; raises OSError."""
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter with our own module
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=clean_environment(os.environ, sys.path),
            start_new_session=True,
            creationflags=_process_group_flags(),
        )

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def has_ended(self) -> bool:
        """Return whether the process has ended by itself; does not block."""
        return self._process.poll() is not None

    def exchange(self, envelope: Envelope) -> Envelope:
        """Send a request and block until its answer; raises BadFrame, and sends nothing, if the request is too large.

        Raises ProcessEnded if no answer will come; the process is reaped then.
        """
        request = encoded(framed(envelope))
        try:
            _write(self._process.stdin, request)
            answer = self._answer()
        except (OSError, BadFrame, ValueError):
            answer = None
        if answer is None or answer.number != envelope.number:
            self.kill()
            raise ProcessEnded(self.end(0))
        return answer

    def kill(self) -> None:
        """Kill the process now, from any thread; a blocked exchange returns."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def end(self, timeout: float) -> int | None:
        """Close the input, wait ``timeout`` seconds, then kill; return the exit status. Blocks."""
        with contextlib.suppress(OSError, ValueError):
            _close(self._process.stdin)
        try:
            status = self._process.wait(timeout) if timeout else self._process.wait()
        except subprocess.TimeoutExpired:
            self.kill()
            status = self._process.wait()
        _close(self._process.stdout)
        return status

    def _answer(self) -> Envelope | None:
        assert self._process.stdout is not None  # noqa: S101  # it was asked for
        frame = read_frame(self._process.stdout)
        return None if frame is None else unframed(frame)


def _write(pipe: IO[bytes] | None, content: bytes) -> None:
    if pipe is not None:
        pipe.write(content)
        pipe.flush()


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        pipe.close()


def _process_group_flags() -> int:
    names = ("CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW")  # exist on Windows only
    return sum(int(getattr(subprocess, name, 0)) for name in names)
