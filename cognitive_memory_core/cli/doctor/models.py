"""Tries each model and the Chroma server that are set with one short request: address, key, name, length of vectors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

from ... import sentences
from ...errors import CognitiveMemoryError
from ...lost_ledger import LEDGER
from ...models import fastembed_models
from ...models.client import ModelClient
from ...models.embedding import OpenAIEmbedder
from ...models.local import local_embedder
from ...models.reranking import HttpReranker
from ...ports.models import is_hashing
from ...read_only import DirectorySnapshot, opened_reader
from ...settings import ChatRole, EmbeddingSettings, ModelSettings, ModelsSettings, RerankSettings, Settings
from ...vectors.chroma.store import server_refusal
from ..bot_directory import BotDirectory
from .findings import ExaminedBot, Finding
from .storage import dimensions_changed

ROLES: tuple[ChatRole, ...] = ("historian", "triage", "merge", "evolution")
SECONDS = 30.0
AnyModel = ModelSettings | EmbeddingSettings | RerankSettings


async def try_models(examined: ExaminedBot) -> AsyncIterator[Finding]:
    """Ask every chat model, the embedding model and the reranking model that are set."""
    if examined.configuration is None:
        return
    settings = examined.configuration.settings
    if not settings.models.historian.model_name:
        yield await _without_model(examined, settings)
    for wanted in (settings.models.embedding, settings.models.rerank):
        if not wanted.model_name and "/" in wanted.local:
            yield await asyncio.to_thread(_named_model, wanted.local, wanted.local_path, examined.bot)
    if not settings.models.embedding.model_name and "/" not in settings.models.embedding.local:
        used = await asyncio.to_thread(local_embedder, settings.models.embedding, Path())
        yield Finding("fine", sentences.doctor.HASHING if is_hashing(used) else sentences.doctor.ENCODER)
    for finding in _half_set(settings.models):
        yield finding
    if examined.is_offline:
        yield Finding("hint", sentences.doctor.OFFLINE)
        return
    for role, wanted in _chat_models(settings.models).items():
        yield await _tried(role, wanted, partial(_chat, role, wanted))
    if _is_whole(embedding := settings.models.embedding):
        yield await _tried("embedding", embedding, partial(_embedding, examined, settings))
    if _is_whole(rerank := settings.models.rerank):
        yield await _tried("rerank", rerank, partial(_rerank, rerank))


def _chat_models(models: ModelsSettings) -> dict[str, ModelSettings]:
    """Map to each distinct chat model that is set, from the first role that uses it."""
    found: dict[str, ModelSettings] = {}
    for role in ROLES:
        if _is_whole(wanted := models.of(role)) and wanted not in found.values():
            found[role] = wanted
    return found


def _named_model(name: str, local_path: str, bot: BotDirectory) -> Finding:
    """Look for the files of a model of this machine; blocking."""
    try:
        data_dir = bot.data_dir
    except CognitiveMemoryError:  # no bot has run yet
        data_dir = Path()
    if refusal := fastembed_models.refusal(name, fastembed_models.folder_of(name, local_path, data_dir)):
        return Finding("fault", sentences.doctor.LOCAL_MODEL_REFUSED.format(name=name), refusal)
    return Finding("fine", sentences.doctor.LOCAL_MODEL.format(name=name))


async def _without_model(examined: ExaminedBot, settings: Settings) -> Finding:
    """Return whose model the bot borrows while it runs, or how to get one."""
    words, names = sentences.doctor, "、".join(settings.bridges)
    snapshot = await _snapshot(examined, settings)
    if lenders := snapshot.lenders if snapshot else settings.lenders(is_new=True):
        return Finding("fine", words.BORROWED.format(names="、".join(lenders)))
    if settings.bridges and settings.models.historian.borrow == "auto":
        key = sentences.settings.env_name("models.historian.borrow")
        advice = words.MAY_BORROW_ADVICE.format(key=key, name=settings.bridges[0])
        return Finding("hint", words.MAY_BORROW.format(names=names), advice)
    return Finding("hint", words.NO_MODEL, words.NO_MODEL_ADVICE)


def _is_whole(wanted: AnyModel) -> bool:
    return bool(wanted.model_name and wanted.api_url)


def _half_set(models: ModelsSettings) -> Iterator[Finding]:
    """Yield a fault for each model of which a part is set and the name or the address is missing."""
    wanted: dict[str, AnyModel] = {role: models.of(role) for role in ROLES}
    for role, full in (wanted | {"embedding": models.embedding, "rerank": models.rerank}).items():
        own = getattr(models, role).model_fields_set
        given = next((key for key in ("api_key", "api_url", "model_name") if key in own), "")
        if given and not _is_whole(full):
            names = given, "api_url" if full.model_name else "model_name"
            given, missing = (sentences.settings.env_name(f"models.{role}.{name}") for name in names)
            what = sentences.doctor.HALF_MODEL.format(given=given, missing=missing)
            yield Finding("fault", what, sentences.doctor.HALF_MODEL_ADVICE.format(given=given, missing=missing))


async def _tried(role: str, wanted: AnyModel, ask: Callable[[ModelClient], Awaitable[Finding]]) -> Finding:
    """Return what ``ask`` finds with a client of the model, or that the model refused."""
    client = ModelClient(wanted, role, _Uncharged())
    try:
        return await ask(client)
    except CognitiveMemoryError as refused:
        what = sentences.doctor.MODEL_FAILS.format(role=role, reason=refused)
        return Finding("fault", what, sentences.doctor.model_advice(str(refused)))
    finally:
        await client.close()


async def _chat(role: str, wanted: ModelSettings, client: ModelClient) -> Finding:
    messages = [{"role": "user", "content": sentences.doctor.PROBE}]
    body: dict[str, object] = {"model": wanted.model_name, "messages": messages, "max_tokens": wanted.max_tokens}
    kept = {key: value for key, value in (body | wanted.extra_body).items() if value is not None}
    await client.answer(role, "/chat/completions", kept, min(wanted.timeout_seconds, SECONDS))
    return Finding("fine", sentences.doctor.MODEL_ANSWERS.format(role=role, name=wanted.model_name))


async def _embedding(examined: ExaminedBot, settings: Settings, client: ModelClient) -> Finding:
    wanted = settings.models.embedding
    embedder = OpenAIEmbedder(wanted, client, seconds=SECONDS, query_seconds=SECONDS)
    length = len(await embedder.embed_query(sentences.doctor.PROBE))
    stored = await _snapshot(examined, settings)
    if stored and stored.dimensions and stored.dimensions != length:
        return dimensions_changed(length, stored.dimensions)
    return Finding("fine", sentences.doctor.EMBEDDING_ANSWERS.format(name=wanted.model_name, length=length))


async def _rerank(wanted: RerankSettings, client: ModelClient) -> Finding:
    await HttpReranker(wanted, client).scores(sentences.doctor.PROBE, [sentences.doctor.PROBE])
    return Finding("fine", sentences.doctor.MODEL_ANSWERS.format(role="rerank", name=wanted.model_name))


async def _snapshot(examined: ExaminedBot, settings: Settings) -> DirectorySnapshot | None:
    """Return the figures of the data directory; None if it has no ledger, or one that cannot be read."""
    try:
        data_dir = examined.bot.data_dir
        if not (data_dir / LEDGER).is_file():
            return None
        async with opened_reader(settings, data_dir) as reader:
            return await reader.snapshot()
    except CognitiveMemoryError:
        return None


async def try_vector_server(examined: ExaminedBot) -> AsyncIterator[Finding]:
    """Ask the Chroma server, if one is set."""
    settings = examined.configuration.settings.vector_store if examined.configuration else None
    if settings is None or examined.is_offline:
        return
    if refusal := await asyncio.to_thread(server_refusal, settings, SECONDS):
        yield Finding("fault", refusal, sentences.doctor.CHROMA_ADVICE)
    elif settings.url:
        yield Finding("fine", sentences.doctor.CHROMA_ANSWERS)


class _Uncharged:
    """A meter of model calls that counts nothing, because the ledger may belong to a running bot."""

    def count(self, purpose: str, tokens: int, answered: int = 0) -> None:
        """Count nothing."""
