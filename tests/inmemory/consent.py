"""Opt-outs, switches and sharing, in memory."""

from __future__ import annotations

from datetime import datetime

from cognitive_memory_core.domain.place_switch import PlaceSwitch

from .state import InMemoryState


class InMemoryConsent:
    """The consents of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def opt_out(self, user_id: str, at: datetime) -> None:
        """Record that a person opted out."""
        self._state.opted_out.setdefault(user_id, at)

    async def opt_in(self, user_id: str) -> None:
        """Remove a person's opt-out."""
        self._state.opted_out.pop(user_id, None)

    async def opted_out(self) -> frozenset[str]:
        """Return everybody who opted out."""
        return frozenset(self._state.opted_out)

    async def set_switch(self, switch: PlaceSwitch) -> None:
        """Set the switch of a place."""
        self._state.switches.pop(switch.scope, None)
        if switch.switch != "on":
            self._state.switches[switch.scope] = switch

    async def switches(self) -> list[PlaceSwitch]:
        """Return the switches that are not "on"."""
        return list(self._state.switches.values())

    async def set_sharing(self, user_id: str, *, shared: bool, at: datetime) -> None:
        """Record that a person shares their own profile, or stopped sharing it."""
        if shared:
            self._state.sharing.setdefault(user_id, at)
        else:
            self._state.sharing.pop(user_id, None)

    async def shared(self) -> frozenset[str]:
        """Return everybody who shares their own profile."""
        return frozenset(self._state.sharing)
