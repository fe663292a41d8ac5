"""``cognitive-memory search``: searches the memory, even while a bot is running with it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import tzinfo

from .. import sentences
from ..domain.context import Hit
from ..domain.event import MEMORY_KINDS
from ..domain.ids import checked_id
from ..domain.read_filter import ReadFilter
from ..domain.scope import Scene
from .bot_directory import BotDirectory, declare_directory
from .open_directory import reading, runner
from .parser import DONE, Parser, Subcommand, console, counted, print_json

MOST, USUAL, LONGEST = 200, 10, 4_000


def declare(parser: Parser) -> None:
    """Add the arguments of ``cognitive-memory search``."""
    words = sentences.command_line
    declare_directory(parser)
    parser.options.add_argument("query", metavar="TEXT", help=words.QUERY_ARGUMENT)
    parser.options.add_argument("-n", type=counted(MOST), default=USUAL, metavar="N", help=words.COUNT_OPTION)
    parser.options.add_argument("--group", metavar="ID", default="", help=words.GROUP_OPTION)
    parser.options.add_argument("--user", metavar="ID", default="", help=words.USER_OPTION)
    parser.options.add_argument("--messages", action="store_true", help=words.MESSAGES_OPTION)
    parser.options.add_argument("--json", action="store_true", help=words.JSON_OPTION)


async def _search(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    settings = bot.settings()
    scene = Scene.operator(settings.agent)
    kinds = ("message",) if arguments.messages else MEMORY_KINDS
    user, group = (
        value and checked_id(value, name) for name, value in (("--user", arguments.user), ("--group", arguments.group))
    )
    async with reading(bot) as reader:
        hits = await reader.search(ReadFilter(scene, user, group, kinds), arguments.query[:LONGEST], top_k=arguments.n)
    if arguments.json:
        print_json([_as_json(hit) for hit in hits])
    else:
        lines = [_line(hit, settings.zone) for hit in hits] or [sentences.command_line.NOTHING_FOUND]
        console().print("\n".join(lines), markup=False)
    return DONE


def _line(hit: Hit, zone: tzinfo) -> str:
    event = hit.event
    place = sentences.status.place(event.group_id, event.user_id)
    return f"{event.happened_at.astimezone(zone):%Y-%m-%d %H:%M}  {hit.score:.2f}  [{place}]  {event.text}"


def _as_json(hit: Hit) -> Mapping[str, object]:
    event = hit.event
    return {
        "id": event.id,
        "kind": event.kind,
        "text": event.text,
        "group_id": event.group_id,
        "user_id": event.user_id,
        "sender_id": event.sender_id,
        "quotes": [{"sender_id": quote.sender_id, "text": quote.text} for quote in event.quotes],
        "happened_at": event.happened_at.isoformat(),
        "score": round(hit.score, 4),
    }


COMMAND = Subcommand("search", sentences.command_line.SEARCH_SUMMARY, declare, runner(_search))
