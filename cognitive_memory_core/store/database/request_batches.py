"""Batches of database requests: a thread carries out all requests of a batch in one call."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import Any, Generic, TypeVar

ITERATIONS = 3  # of the event loop that share a batch: tasks just started, and those that they start, are included
T = TypeVar("T")


@dataclass(eq=False)
class DatabaseRequest(Generic[T]):
    """One unit of work on a connection, the future of its caller, and what became of it."""

    work: Callable[[Connection], T]
    answer: asyncio.Future[T]
    results: list[T] = field(default_factory=list[T])
    failure: BaseException | None = None

    def carry_out(self, connection: Connection, translated: AbstractContextManager[None]) -> None:
        """Run the work and keep its result or failure; skip it if its future was cancelled."""
        if not self.answer.cancelled():
            try:
                with translated:
                    self.results.append(self.work(connection))
            except BaseException as failure:  # noqa: BLE001  # raised where it is awaited
                self.failure = failure


class RequestBatches:
    """Collects requests and sends them to an executor; those of three iterations of the event loop share a batch.

    While every thread is busy, later requests are collected into one batch as well. Requests start in order of
    submission.
    """

    def __init__(
        self, executor: Executor, carry_out: Callable[[Sequence[DatabaseRequest[Any]]], None], *, most: int
    ) -> None:
        """Run at most ``most`` requests per batch by ``carry_out`` in a thread; if that raises, the batch fails."""
        self._executor = executor
        self._carry_out = carry_out
        self._most = most
        self._waiting: deque[DatabaseRequest[Any]] = deque()
        self._unsent = 0

    def submit(self, work: Callable[[Connection], T]) -> asyncio.Future[T]:
        """Return a future for the result of the work; cancelling it before the work begins prevents the work."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._waiting.append(DatabaseRequest(work, answer))
        self._unsent += 1
        if self._unsent == 1:
            self._send_after(ITERATIONS)
        return answer

    def _send_after(self, iterations: int) -> None:
        if iterations:
            asyncio.get_running_loop().call_soon(self._send_after, iterations - 1)
        else:
            self.send()

    def send(self) -> None:
        """Send the collected requests; call it on the event loop."""
        unsent, self._unsent = self._unsent, 0
        if not unsent:
            return
        loop = asyncio.get_running_loop()
        for _ in range(0, unsent, self._most):
            self._executor.submit(self._run, loop)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        requests: list[DatabaseRequest[Any]] = []
        with suppress(IndexError):  # another thread took the remaining requests
            while len(requests) < self._most:
                requests.append(self._waiting.popleft())
        try:
            if requests:
                self._carry_out(requests)
        except BaseException as failure:  # noqa: BLE001  # raised where each request is awaited
            for request in requests:
                request.failure = failure
        with suppress(RuntimeError):  # the event loop is closed: no caller is left
            loop.call_soon_threadsafe(_deliver, requests)


def _deliver(requests: Sequence[DatabaseRequest[Any]]) -> None:
    for request in requests:
        if request.answer.done():
            continue
        if request.failure is not None:
            request.answer.set_exception(request.failure)
        else:
            request.answer.set_result(request.results[0])
