"""Tries each model and the Chroma server that are set with one short request: address, key, name, length of vectors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from ... import sentences
from ...errors import CognitiveMemoryError
from ...models import fastembed_models
from ...models.client import ModelClient
from ...models.embedding import OpenAIEmbedder
from ...models.local import local_embedder
from ...models.reranking import HttpReranker
from ...ports.models import is_hashing
from ...read_only import DirectorySnapshot, Uncounted, opened_reader
from ...settings import ChatRole, EmbeddingSettings, ModelSettings, RerankSettings
from ...vectors.chroma.store import server_refusal
from .findings import ExaminedBot, Finding, fault, fine, hint

ROLES: tuple[ChatRole, ...] = ("historian", "triage", "merge", "evolution")
SECONDS = 30.0
AnyModel = ModelSettings | EmbeddingSettings | RerankSettings
words = sentences.command_line


async def try_models(examined: ExaminedBot) -> AsyncIterator[Finding]:
    """Ask every chat model, the embedding model and the reranking model that are set."""
    models = examined.settings.models
    snapshot = await _snapshot(examined)
    if not models.historian.model_name:
        yield _without_model(examined, snapshot)
    for wanted in (models.embedding, models.rerank):
        if not wanted.model_name and "/" in wanted.local:
            folder = fastembed_models.folder_of(wanted.local, wanted.local_path, examined.data_dir)
            if refusal := await asyncio.to_thread(fastembed_models.refusal, wanted.local, folder):
                yield Finding("fault", words.LOCAL_MODEL_REFUSED.format(name=wanted.local), refusal)
            else:
                yield fine(words.LOCAL_MODEL, name=wanted.local)
    if not models.embedding.model_name and "/" not in models.embedding.local:
        used = await asyncio.to_thread(local_embedder, models.embedding, Path())
        yield fine(words.HASHING if is_hashing(used) else words.ENCODER)
    by_role: dict[str, AnyModel] = {role: models.of(role) for role in ROLES}
    by_role |= {"embedding": models.embedding, "rerank": models.rerank}
    for role, wanted in by_role.items():
        own = getattr(models, role).model_fields_set
        given = next((key for key in ("api_key", "api_url", "model_name") if key in own), "")
        if given and not (wanted.model_name and wanted.api_url):
            keys = given, "api_url" if wanted.model_name else "model_name"
            given, missing = (sentences.settings.env_name(f"models.{role}.{key}") for key in keys)
            yield fault(words.HALF_MODEL, words.HALF_MODEL_ADVICE, given=given, missing=missing)
    if examined.is_offline:
        yield hint(words.OFFLINE)
        return
    tried: list[AnyModel] = []
    for role, wanted in by_role.items():
        if wanted.model_name and wanted.api_url and wanted not in tried:  # roles may share a model
            tried.append(wanted)
            yield await _tried(role, wanted, snapshot.dimensions if snapshot else 0)


def _without_model(examined: ExaminedBot, snapshot: DirectorySnapshot | None) -> Finding:
    """Return whose model the bot borrows while it runs, or how to get one."""
    settings = examined.settings
    if lenders := snapshot.lenders if snapshot else settings.lenders(is_new=True):
        return fine(words.BORROWED, names="、".join(lenders))
    if settings.bridges and settings.models.historian.borrow == "auto":
        key = sentences.settings.env_name("models.historian.borrow")
        advice = words.MAY_BORROW_ADVICE.format(key=key, name=settings.bridges[0])
        return Finding("hint", words.MAY_BORROW.format(names="、".join(settings.bridges)), advice)
    return hint(words.NO_MODEL, words.NO_MODEL_ADVICE)


async def _snapshot(examined: ExaminedBot) -> DirectorySnapshot | None:
    """Return the figures of the data directory; None if it has no ledger, or one that cannot be read."""
    try:
        if examined.has_ledger:
            async with opened_reader(examined.settings, examined.data_dir) as reader:
                return await reader.snapshot()
    except CognitiveMemoryError:
        pass
    return None


async def _tried(role: str, wanted: AnyModel, stored: int) -> Finding:
    """Return whether a model answers, and its vectors have the length of the ``stored`` ones, if there are any."""
    client = ModelClient(wanted, role, Uncounted())
    try:
        if isinstance(wanted, EmbeddingSettings):
            embedder = OpenAIEmbedder(wanted, client, seconds=SECONDS, query_seconds=SECONDS)
            length = len(await embedder.embed_query(words.PROBE))
            if stored and stored != length:
                return fault(words.DIMENSIONS_CHANGED, words.DIMENSIONS_ADVICE, given=length, stored=stored)
            return fine(words.EMBEDDING_ANSWERS, name=wanted.model_name, length=length)
        if isinstance(wanted, RerankSettings):
            await HttpReranker(wanted, client).scores(words.PROBE, [words.PROBE])
        else:
            messages = [{"role": "user", "content": words.PROBE}]
            body: dict[str, object] = {"model": wanted.model_name, "messages": messages}
            body |= {"max_tokens": wanted.max_tokens, **wanted.extra_body}
            kept = {key: value for key, value in body.items() if value is not None}
            await client.answer(role, "/chat/completions", kept, min(wanted.timeout_seconds, SECONDS))
    except CognitiveMemoryError as refused:
        what = words.MODEL_FAILS.format(role=role, reason=refused)
        return Finding("fault", what, words.model_advice(str(refused)))
    else:
        return fine(words.MODEL_ANSWERS, role=role, name=wanted.model_name)
    finally:
        await client.close()


async def try_vector_server(examined: ExaminedBot) -> AsyncIterator[Finding]:
    """Ask the Chroma server, if one is set."""
    settings = examined.settings.vector_store
    if not examined.is_offline:
        if refusal := await asyncio.to_thread(server_refusal, settings, SECONDS):
            yield Finding("fault", refusal, words.CHROMA_ADVICE)
        elif settings.url:
            yield fine(words.CHROMA_ANSWERS)
