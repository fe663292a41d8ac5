"""Models that a chat plugin lends: whose they are, and how long one may take to name itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pydantic import SecretStr

from .. import sentences
from ..settings.schema import EmbeddingSettings, ModelSettings, ModelsSettings, RerankSettings
from .caller_models import FAILURES

log = logging.getLogger(__name__)
NAMING_SECONDS = 5.0  # that the lender may take to name its model
LONGEST_NAME, LONGEST_ADDRESS, LONGEST_KEY = 200, 2_000, 8_000  # characters


@dataclass(frozen=True)
class LentModel:
    """A chat model of another program, ``lender``, behind an OpenAI-compatible address; ``proxy`` "" means none.

    With it may come the lender's models for ``embedding`` and ``rerank``. Key and proxy are secrets: they are in no
    representation of this object.
    """

    lender: str
    api_url: str
    api_key: str = field(repr=False)
    model_name: str
    proxy: str = field(default="", repr=False)
    embedding: LentModel | None = None
    rerank: LentModel | None = None

    @property
    def is_usable(self) -> bool:
        """Return whether every part is text of a sensible length; only a proxy may be missing."""
        names, addresses = (self.lender, self.model_name), (self.api_url, self.proxy or "-")
        bounded = [*((one, LONGEST_NAME) for one in names), *((one, LONGEST_ADDRESS) for one in addresses)]
        parts: list[tuple[object, int]] = [*bounded, (self.api_key, LONGEST_KEY)]
        is_text = all(isinstance(part, str) and 0 < len(part) <= most for part, most in parts)
        return is_text and all(one.isprintable() for one in names)

    @property
    def host(self) -> str:
        """Return the host of its address; "" if the address has none."""
        try:
            return urlsplit(self.api_url).hostname or ""
        except ValueError:
            return ""


Lend = Callable[[], Awaitable[LentModel | None]]


class Lender:
    """Asks the caller which model it lends now; logs each change by lender, host and name of the model."""

    def __init__(self, lend: Lend, *, is_new: bool) -> None:
        """Ask by ``lend``, which may raise; ``is_new``: the data directory was begun by a version that borrows."""
        self._lend = lend
        self._is_new = is_new
        self.last: LentModel | None = None
        """The model that was lent when the caller was last asked."""
        self._failure = ""

    def lends_to(self, settings: ModelSettings) -> bool:
        """Return whether a role with these settings uses lent models at all."""
        is_wanted = self._is_new if settings.borrow == "auto" else settings.borrow != "off"
        return is_wanted and not settings.model_name

    async def model(self, settings: ModelSettings) -> LentModel | None:
        """Return the model that is lent to a role now; None if there is none.

        There is also none if the caller fails or does not answer in time.
        """
        lent: object = None
        failure, self._failure = self._failure, ""
        try:
            lent = await asyncio.wait_for(self._lend(), NAMING_SECONDS)
        except FAILURES as failed:
            self._failure = type(failed).__name__
            if self._failure != failure:
                log.warning("%s", sentences.models.LENDER_FAILED.format(reason=self._failure))
        if not (isinstance(lent, LentModel) and lent.is_usable and settings.borrow in ("auto", lent.lender)):
            lent = None
        last, self.last = self.last, lent
        news, before = (_said("historian", one) if one else sentences.models.LENT_NO_MORE for one in (lent, last))
        if news != before:
            log.info("%s", news)
        return lent

    async def beside(self, models: ModelsSettings) -> ModelsSettings:
        """Return settings with the embedding and the reranking model that are lent now, where none is chosen.

        They are those of one opening: vectors are bound to a model.
        """
        lent = await self.model(models.historian) if self.lends_to(models.historian) else None
        borrowed = models
        for role in ("embedding", "rerank"):
            own: EmbeddingSettings | RerankSettings = getattr(models, role)
            theirs: LentModel | None = getattr(lent, role, None)
            if isinstance(theirs, LentModel) and theirs.is_usable and not own.model_name and own.local in ("", "auto"):
                parts = {"api_url": theirs.api_url, "api_key": SecretStr(theirs.api_key)}
                filled = own.model_copy(update={**parts, "model_name": theirs.model_name})
                borrowed = borrowed.model_copy(update={role: filled})
                log.info("%s", _said(role, theirs))
        return borrowed


def _said(role: str, lent: LentModel) -> str:
    what = sentences.models.LENT_TO[role]
    return sentences.models.LENT.format(what=what, lender=lent.lender, model=lent.model_name, host=lent.host)
