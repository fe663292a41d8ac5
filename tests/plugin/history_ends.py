"""OneBot ends that keep the history of a group, each in its dialect."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nonebot.adapters.onebot import v11

from .stage import BOT, Stage

Line = Mapping[str, Any]
FIRST = 1_700  # the number of the first line of a group


def chat_of(group: int, count: int, *, start: int | None = None, own: int = 10) -> list[dict[str, Any]]:
    """Return lines of a group, the oldest first, of which the bot said every tenth."""
    start = int(time.time()) - 40 * count if start is None else start
    lines: list[dict[str, Any]] = []
    for number in range(count):
        person = BOT if number % own == own - 1 else 4_600_001 + number % 7
        lines.append(
            {
                "self_id": BOT,
                "post_type": "message_sent" if person == BOT else "message",
                "message_type": "group",
                "sub_type": "normal",
                "group_id": group,
                "user_id": person,
                "time": start + 20 * number,
                "message": [{"type": "text", "data": {"text": f"第 {number} 句"}}],
                "raw_message": f"第 {number} 句",
                "font": 14,
                "sender": {"user_id": person, "nickname": "阿棠", "card": f"名片{person % 10}", "role": "member"},
                "number": FIRST + number,
            }
        )
    return lines


@dataclass
class History:
    """The ``lines`` that an end keeps; ``dialect`` tells how it answers."""

    dialect: str = "napcat"
    lines: Sequence[Line] = ()

    def page(self, data: Mapping[str, Any]) -> Sequence[Line]:
        """Return the lines that the end gives for a call."""
        count, end = data["count"], len(self.lines)
        if self.dialect == "llbot":
            if "message_seq" in data:
                end = sum(line["number"] <= data["message_seq"] for line in self.lines)
            return self.lines[max(end - count, 0) : end]
        anchor = data.get("message_seq" if self.dialect == "napcat" else "message_id")
        if anchor is not None:
            ids = [self.told(line)["message_id"] for line in self.lines]
            if anchor not in ids or (self.dialect == "napcat" and not data["reverse_order"]):
                raise v11.ActionFailed(wording="消息不存在")
            end = ids.index(anchor) + 1
        if self.dialect == "lagrange" and end < count:
            raise v11.ActionFailed(wording="retcode 100")
        if self.dialect == "napcat" and end <= 1 and anchor is not None:
            raise v11.ActionFailed(wording="没有更早的")
        return self.lines[max(end - count, 0) : end]

    def answer(self, data: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the end's answer to a call over a wire; None if it refuses."""
        try:
            return {"messages": [*map(self.told, self.page(data))]}
        except v11.ActionFailed:
            return None

    def told(self, line: Line) -> Line:
        """Return a line with the ids that the end gives it."""
        number = line["number"]
        hashed = number * 2_654_435_761 % 2**31
        fields = {key: value for key, value in line.items() if key != "number"}
        match self.dialect:
            case "napcat":
                return {
                    **fields,
                    "message_id": hashed,
                    "message_seq": hashed,
                    "real_id": hashed,
                    "real_seq": str(number),
                }
            case "snowluma":
                return {**fields, "message_id": -hashed, "message_seq": number}
            case _:
                return {**fields, "message_id": hashed, "message_seq": number}


@dataclass
class HistoryEnd(Stage, History):
    """A bot whose platform keeps a history. ``bad`` replaces or refuses answers."""

    asked: list[Mapping[str, Any]] = field(default_factory=list)
    bad: Callable[[int, Any], Any] = lambda _, answer: answer

    async def _call(self, bot: object, api: str, **data: Any) -> Any:
        if api == "get_version_info":
            return {"app_name": NAMES[self.dialect]}
        if api not in ("get_group_msg_history", "get_friend_msg_history"):
            return await super()._call(bot, api, **data)
        self.calls.append((api, data))
        self.asked.append(data)
        try:
            answer: Any = {"messages": [*map(self.told, self.page(data))]}
        except v11.ActionFailed as refused:
            answer = refused
        answer = self.bad(len(self.asked), answer)
        if isinstance(answer, Exception):
            raise answer
        return answer


NAMES = {
    "napcat": "NapCat.Onebot",
    "llbot": "LLOneBot",
    "lagrange": "Lagrange.OneBot",
    "snowluma": "SnowLuma",
    "another": "SomeOneBot",
}
