"""Tests of when the HTTP interface is mounted, and behind which prefixes it works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from nonebug import App

from .test_http_access import a_site, mounted
from .test_loading import run
from .web import TOKEN, client, served

LOAD = """
import json, sys
import nonebot

nonebot.init(driver={driver!r}, log_level="INFO", localstore_data_dir="files", **{init!r})
assert nonebot.load_plugin("nonebot_plugin_cognitive_memory")
from nonebot_plugin_cognitive_memory.http import site

app = getattr(nonebot.get_driver(), "server_app", None)
print("ANSWER" + json.dumps({{
    "mounted": site is not None,
    "paths": [route.path for route in getattr(app, "routes", ())],
    "imported": sorted(name for name in sys.modules if name.startswith("nonebot_plugin_cognitive_memory.http.")),
    "fastapi": "fastapi" in sys.modules,
}}))
"""


def loaded(driver: str, folder: Path, **http: Any) -> dict[str, Any]:
    """Load the plugin with these settings in another process; return what became of the interface."""
    is_warm = driver == "~fastapi"  # a warm process has imported FastAPI
    told = run(LOAD.format(driver=driver, init={"cognitive_memory": {"http": http}}), folder, is_warm=is_warm)
    answers = [line.removeprefix("ANSWER") for line in told.splitlines() if line.startswith("ANSWER")]
    assert answers, told
    return {**json.loads(answers[0]), "log": told}


@pytest.mark.parametrize("token", ["", "   "])
def test_without_a_token_nothing_is_mounted(token: str, tmp_path: Path) -> None:
    """With an empty or blank token nothing is mounted and no part of the interface is imported."""
    found = loaded("~fastapi", tmp_path, token=token)
    assert not found["mounted"]
    assert "/memory" not in found["paths"]
    assert found["imported"] == []
    assert not loaded("~none", tmp_path, token=token)["fastapi"]


def test_with_a_token(tmp_path: Path) -> None:
    """With a token and FastAPI's driver the interface is mounted; the token is in no log line, a short one is told."""
    found = loaded("~fastapi", tmp_path, token="canary-7")
    assert found["mounted"]
    assert "/memory" in found["paths"]
    assert "太短" in found["log"]
    assert "canary" not in found["log"]


def test_with_another_driver(tmp_path: Path) -> None:
    """With a token and another driver the plugin loads, mounts nothing and says what to write."""
    found = loaded("~none", tmp_path, token=TOKEN)
    assert not found["mounted"]
    assert not found["fastapi"]
    assert "DRIVER=~fastapi" in found["log"]


@pytest.mark.parametrize("way", ["no proxy", "server", "application"])
async def test_behind_a_prefix(app: App, way: str) -> None:
    """Behind a proxy that removes a prefix every path works, and the document names the address outside."""
    options = {"root_path": "/bots/one"} if way == "server" else {}
    bot = mounted(a_site())
    if way == "application":
        bot = _with_root(bot)
    async with served(bot, **options) as port, client(port) as asking:
        assert (await asking.get("/status")).json()["success"]
        assert (await asking.get("/list/20001")).status_code in (200, 404)
        document = (await asking.get("/openapi.json")).json()
        assert document["servers"] == [{"url": "/memory" if way == "no proxy" else "/bots/one/memory"}]


def _with_root(app: FastAPI) -> Any:
    """Return an application that is told its prefix, as FASTAPI_EXTRA does."""
    app.root_path = "/bots/one"
    return app
