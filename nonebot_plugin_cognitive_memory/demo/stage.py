"""The bot of the demo: a real NoneBot with the FastAPI driver and the OneBot v11 adapter, on loopback."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import nonebot
import uvicorn
from nonebot.adapters.onebot.v11 import Adapter

HOST = "127.0.0.1"
KEEP_OLD_DATES = 36_500  # days: a replayed conversation keeps its dates, and its log must not be pruned


class Stage:
    """A bot prepared in this process, and its port."""

    def __init__(self, home: Path) -> None:
        """Set up NoneBot with all its files under ``home``, and load this plugin and the demo's chat plugin."""
        os.chdir(home)  # so that no .env of the current directory is read
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        hush("WARNING")
        nonebot.init(
            driver="~fastapi",
            host=HOST,
            port=self.port,
            log_level="WARNING",
            localstore_data_dir=home / "data",
            localstore_cache_dir=home / "cache",
            localstore_config_dir=home / "config",
            cognitive_memory={"capture": {"log_days": KEEP_OLD_DATES}},
        )
        nonebot.get_driver().register_adapter(Adapter)
        for plugin in ("nonebot_plugin_cognitive_memory", "companion"):
            if nonebot.load_plugin(plugin) is None:
                raise SystemExit(f"插件 {plugin} 没能加载，原因见上面的日志")

    @property
    def url(self) -> str:
        """Return the URL to which a OneBot client connects."""
        return f"ws://{HOST}:{self.port}/onebot/v11/ws"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve during the ``with`` block."""
        config = uvicorn.Config(nonebot.get_asgi(), log_config=None, log_level="warning", lifespan="on")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[self._listener]))
        try:
            yield  # clients that connect earlier wait in the listener's backlog
        finally:
            server.should_exit = True
            await serving


def hush(level: str) -> None:
    """Log nothing below this level."""
    nonebot.logger.configure(extra={"nonebot_log_level": level})
