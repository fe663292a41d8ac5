"""One daemon thread for blocking calls."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class Worker:
    """Runs calls one after the other in a daemon thread, so that a hung call does not keep the bot from exiting."""

    def __init__(self, name: str) -> None:
        """Prepare the queue; the thread starts with the first call."""
        self._name = name
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._last: Future[Any] | None = None
        self.has_ended = False

    @property
    def is_busy(self) -> bool:
        """Return whether a call is running or queued."""
        return self._last is not None and not self._last.done()

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Submit a call; the future carries its result or exception."""
        future: Future[T] = Future()
        self._last = future
        self._calls.put(lambda: _settle(future, call))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        return future

    def end(self) -> None:
        """End the thread after the queued calls; a call submitted later never runs."""
        self.has_ended = True
        self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            call()


def _settle(future: Future[Any], call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as raised:  # noqa: BLE001  # it is raised again where the future is awaited
        future.set_exception(raised)
