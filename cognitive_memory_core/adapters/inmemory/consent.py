"""Who wants to be left out, and where the memory is switched."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ...domain.scope import Scope
from ...ports.ledger import Switch
from .state import InMemoryState


class InMemoryConsent:
    """The requests of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Share a state with the other ports."""
        self._state = state

    async def opt_out(self, user_id: str, at: datetime) -> None:
        """Remember that a person wants to be left out."""
        self._state.opted_out.setdefault(user_id, at)

    async def opt_in(self, user_id: str) -> None:
        """Forget that wish."""
        self._state.opted_out.pop(user_id, None)

    async def opted_out(self) -> frozenset[str]:
        """Return everybody who wants to be left out."""
        return frozenset(self._state.opted_out)

    async def set_switch(self, scope: Scope, switch: Switch) -> None:
        """Switch a place."""
        self._state.switches.pop(scope, None)
        if switch != "on":
            self._state.switches[scope] = switch

    async def switches(self) -> Mapping[Scope, Switch]:
        """Return every place that is not simply on."""
        return dict(self._state.switches)

    async def set_sharing(self, user_id: str, *, shared: bool, at: datetime) -> None:
        """Remember that a person opened their own profile, or closed it again."""
        if shared:
            self._state.sharing.setdefault(user_id, at)
        else:
            self._state.sharing.pop(user_id, None)

    async def shared(self) -> frozenset[str]:
        """Return everybody who opened theirs."""
        return frozenset(self._state.sharing)
