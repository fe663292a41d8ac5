"""Requests to a database, carried out together by one thread: one trip between threads for many of them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from sqlite3 import Connection
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Request(Generic[T]):
    """One piece of work on a connection, with the future of whoever waits for it."""

    def __init__(self, work: Callable[[Connection], T], answer: asyncio.Future[T]) -> None:
        """Keep the work until a thread carries it out."""
        self.failure: BaseException | None = None
        self.answer = answer
        self._work = work
        self._results: list[T] = []

    def carry_out(self, connection: Connection) -> None:
        """Run the work and keep its result or its failure; skip it where nobody waits any more."""
        if self.answer.cancelled():
            return
        try:
            self._results.append(self._work(connection))
        except BaseException as failure:  # noqa: BLE001  # raised where it is awaited
            self.failure = failure

    def deliver(self) -> None:
        """Hand the outcome to whoever waits; call it on the event loop."""
        if self.answer.done():
            return
        if self.failure is not None:
            self.answer.set_exception(self.failure)
        else:
            self.answer.set_result(self._results[0])


class RequestBatches:
    """Collects requests and sends them to an executor; those of two turns of the event loop travel together.

    While every thread is busy, later requests gather and go in one batch as well. Requests start in the order in which
    they came.
    """

    def __init__(self, executor: Executor, carry_out: Callable[[Sequence[Request[Any]]], None], *, most: int) -> None:
        """Let ``carry_out`` run at most ``most`` requests a batch in a thread; what it raises fails the whole batch."""
        self._executor = executor
        self._carry_out = carry_out
        self._most = most
        self._waiting: deque[Request[Any]] = deque()
        self._unsent = 0

    async def submit(self, work: Callable[[Connection], T]) -> T:
        """Return what the work returns; a request that is cancelled before it began never runs."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._waiting.append(Request(work, answer))
        self._unsent += 1
        if self._unsent == 1:
            loop.call_soon(loop.call_soon, self.send)  # a turn later: tasks that were just begun ask, too
        return await answer

    def send(self) -> None:
        """Send what was collected; call it on the event loop."""
        unsent, self._unsent = self._unsent, 0
        if not unsent:
            return
        loop = asyncio.get_running_loop()
        for _ in range(0, unsent, self._most):
            self._executor.submit(self._run, loop)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        requests = self._taken()
        if not requests:
            return
        try:
            self._carry_out(requests)
        except BaseException as failure:  # noqa: BLE001  # raised where each request is awaited
            for request in requests:
                request.failure = failure
        with suppress(RuntimeError):  # the event loop is closed: nobody waits
            loop.call_soon_threadsafe(_deliver, requests)

    def _taken(self) -> list[Request[Any]]:
        taken: list[Request[Any]] = []
        with suppress(IndexError):  # another thread took the rest
            while len(taken) < self._most:
                taken.append(self._waiting.popleft())
        return taken


def _deliver(requests: Sequence[Request[Any]]) -> None:
    for request in requests:
        request.deliver()
