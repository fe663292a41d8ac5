"""A OneBot v12 client on a real WebSocket; it is used as the client of v11 is."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from .onebot import AHE, BOT, GROUP_NAME, OneBotClient

IMPLEMENTATION = "a-client"
SELF = {"platform": "qq", "user_id": str(BOT)}
_events = count(1)


@dataclass
class TwelveClient(OneBotClient):
    """One account's connection by OneBot v12: ids are texts, and names are told only to who asks for them.

    Numbers are sent as texts; an id given as a text is sent as it is.
    """

    names: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])  # by group and person

    async def begin(self) -> None:
        """Introduce the implementation and its account, as the standard asks."""
        version = {"impl": IMPLEMENTATION, "version": "1.0.0", "onebot_version": "12"}
        await self._push("meta", "connect", version=version)
        status = {"good": True, "bots": [{"self": SELF, "online": True}]}
        await self._push("meta", "status_update", status=status)

    async def say(self, text: str, *, user: Any = AHE, name: str = "阿禾", group: Any = None, **more: Any) -> int:
        """Send a person's line to the bot; return the message's number."""
        number = next(_events)
        self.names[str(group or ""), str(user)] = name
        mention = [] if group is None else [{"type": "mention", "data": {"user_id": str(BOT)}}]
        place = {} if group is None else {"group_id": str(group)}
        said = {
            "message_id": str(number),
            "user_id": str(user),
            "message": [*mention, {"type": "text", "data": {"text": text}}],
            "alt_message": text,
            "self": SELF,
            **place,
            **more,
        }
        await self._push("message", "private" if group is None else "group", **said)
        return number

    async def withdraw(self, number: int, *, user: str, group: str) -> None:
        """Withdraw a line of a group."""
        gone = {
            "message_id": str(number),
            "user_id": str(user),
            "operator_id": str(user),
            "group_id": str(group),
            "self": SELF,
        }
        await self._push("notice", "group_message_delete", **gone)

    async def _push(self, kind: str, detail_type: str, /, **fields: Any) -> None:
        event = {"id": f"e{next(_events)}", "time": time.time(), "type": kind, "detail_type": detail_type}
        await self.wire.send(json.dumps({**event, "sub_type": "", **fields}))

    def _known(self, action: str, params: Mapping[str, Any], number: int) -> Mapping[str, Any] | None:
        user = str(params.get("user_id", ""))
        match action:
            case "get_group_member_info" | "get_user_info":
                group = str(params.get("group_id", ""))
                told = {"user_id": user, "user_name": self.names.get((group, user), ""), "user_displayname": ""}
                role = self.roles.get((int(group), int(user))) if group.isdigit() and user.isdigit() else None
                return {**told, "user_remark": "", "qq.role": role or "member"}
            case "get_group_info":
                return {"group_id": params["group_id"], "group_name": GROUP_NAME}
            case "upload_file":
                return {"file_id": f"f{number}"}
            case "send_message":
                return {"message_id": str(number), "time": time.time()}
            case _:
                return None

    def _answered(self, status: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**status, "message": ""}

    def _place(self, params: Mapping[str, Any]) -> int | str:
        place = params.get("group_id") or params["user_id"]
        return int(place) if place.isdigit() else place
