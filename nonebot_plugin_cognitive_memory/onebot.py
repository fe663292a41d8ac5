"""OneBot's two versions; an adapter that the bot has not loaded is not imported here either."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nonebot.adapters.onebot import v11, v12
else:

    class _Nothing:
        """A class without instances."""

    class _Version:
        """Gives access to the classes of an adapter's module; while it is not loaded, to a class without instances."""

        def __init__(self, module: str) -> None:
            self._module = module

        def __getattr__(self, name: str) -> Any:
            if self._module not in sys.modules:
                return _Nothing
            found = self.__dict__[name] = getattr(sys.modules[self._module], name)
            return found

    v11, v12 = _Version("nonebot.adapters.onebot.v11"), _Version("nonebot.adapters.onebot.v12")

__all__ = ["v11", "v12"]
