"""Builds the reranker: the caller's, the configured one, or none."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ports.models import Meter, Reranker
from ..settings import RerankSettings
from .breaker import Breaker, GuardedReranker
from .caller_models import CallerReranker

if TYPE_CHECKING:
    from .client import ModelClient
    from .rerank import HttpReranker


@dataclass(frozen=True)
class Reranking:
    """A reranking model behind its breaker; empty if there is none."""

    reranker: Reranker | None = None
    breakers: tuple[Breaker, ...] = ()


async def reranking_of(
    wanted: RerankSettings, meter: Meter, stack: AsyncExitStack, given: Reranker | None
) -> Reranking:
    """Return the reranker; ``given`` takes precedence over the configured one."""
    if given is None and not wanted.model_name:
        return Reranking()
    inner = CallerReranker(given) if given else await _chosen(wanted, meter, stack)
    breaker = Breaker("rerank")
    return Reranking(GuardedReranker(inner, breaker), (breaker,))


async def _chosen(wanted: RerankSettings, meter: Meter, stack: AsyncExitStack) -> Reranker:
    client, make = await asyncio.to_thread(_model, wanted)
    stack.push_async_callback(client.close)
    return make(wanted, client, meter)


def _model(wanted: RerankSettings) -> tuple[ModelClient, type[HttpReranker]]:
    """Build a client; call it in a thread and only if needed: imports and certificates take half a second."""
    from .client import ModelClient  # noqa: PLC0415  # see above
    from .rerank import HttpReranker  # noqa: PLC0415  # see above

    return ModelClient(wanted, "rerank"), HttpReranker
