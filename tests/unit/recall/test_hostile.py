"""Tests that hostile text in every section leaves the block intact and the other texts readable."""

from __future__ import annotations

import asyncio
import html
import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loguru import logger

from cognitive_memory_core import sentences
from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.turn import Memo, Pin
from cognitive_memory_core.recall.beliefs_and_profiles import ProfileReader
from cognitive_memory_core.recall.query import CurrentNames
from cognitive_memory_core.recall.render import CLOSED, OPENED
from cognitive_memory_core.settings.schema import Live, QuerySettings, Settings
from cognitive_memory_core.store.search.lines import FoundLine, FoundLines
from tests.support.builders import GROUP, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import a_ledger
from tests.support.listed_profiles import ListedIndex, ListedProfiles, ListedWithdrawals, a_listed
from tests.support.ports import CountingEmbedder, ListedEvents, ListedNotes, ListedVectors, ListedWords, a_recall
from tests.support.sizes import sized
from tests.unit.text.test_prompt_fences import PAYLOADS

TITLES = ("置顶", "用户侧写", "群聊背景", "相关回忆", "相关原话", "近期备忘")
CHAT_TOKEN = re.compile(r"<[|｜]|[|｜]>")
SIDES = ("甲先说的", "乙后说的")
PIECES = st.sampled_from(
    (
        *PAYLOADS,
        "\n",
        "\u200b",
        "<",
        "/",
        "记忆结束",
        ">",
        "＜",
        "&lt;",
        "【置顶】",
        OPENED,
        CLOSED,
        "︻",
        "{x}",
        "- ",
        "#",
    )
)
HOSTILE = st.lists(PIECES | st.text(max_size=20), max_size=8).map("".join)


class SaidLines(ListedWords):
    """A lexical index that finds all events and messages."""

    def __init__(self, events, lines):
        """Use these events and messages."""
        super().__init__([(event, 3.0) for event in events])
        self._lines = lines

    def found_lines(self, _connection, _search):
        """Return all messages, each with the one that it replies to."""
        by_id = {line.id: line for line in self._lines}
        return FoundLines(tuple(FoundLine(line, 0.9, replied=by_id.get(line.reply_to)) for line in self._lines))


def context_with(text, name, *, budget=1_000_000):
    """Build a context with a text in every place for texts and a name in every place for names."""
    live, ledger = Live(Settings(query=QuerySettings(auto_top_k=9, diversity=0.0))), a_ledger()
    said = SIDES[0] + text + SIDES[1]
    events = [
        an_event(said, id="told", sender_name=name),
        an_event(f"{said}。又", id="raw", sender_name=name, is_absolute=False),
    ]
    profiles = [
        a_listed(ProfileKey.member("10001", "2000001"), f"{said}\n\n## {said}\n- {said}", name=name, tags=(said, text)),
        a_listed(ProfileKey.group("10001"), said, name=name, tags=(text,)),
    ]
    consent, embedder = Consent(ledger, live), CountingEmbedder()
    drawn = ProfileReader(
        ListedProfiles(*profiles),
        ListedIndex(*profiles),
        embedder,
        consent,
        live,
        facts=ListedWithdrawals(),
        names=CurrentNames(ledger.names),
    )
    notes = ListedNotes(
        [Memo("m", GROUP.scope, said, NOON, "2000001")],
        [Pin("p", GROUP.scope, said, owner, NOON) for owner in ("", "2000001")],
    )
    scene = replace(GROUP, user_name=name, group_name=name)
    lines = [a_message(f"阿棠喜欢茶{said}", scene, id="asked"), a_message(f"茶{said}", scene, reply_to="asked")]
    recall = a_recall(
        ledger,
        embedder,
        live,
        consent=consent,
        events=ListedEvents(*events),
        words=SaidLines(events, lines),
        vectors=ListedVectors(*((event, 0.9) for event in events)),
        notes=notes,
        profiles=drawn,
    )
    return asyncio.run(recall.context(scene, "阿棠喜欢什么茶", budget=budget))


def forms(text):
    """Return a text as readers may decode it: normalised, with entities resolved, or both."""
    normal = [text, *(unicodedata.normalize(form, text) for form in ("NFC", "NFKC", "NFKD"))]
    return [*normal, *map(html.unescape, normal), *(html.unescape(html.unescape(one)) for one in normal)]


def check_whole(text):
    """Check that a block opens and closes once, starts with the notice, and has only our own or quoted lines."""
    assert text.startswith(f"{OPENED}\n{sentences.context.MEMORY_NOTICE}\n")
    assert text.endswith(f"\n{CLOSED}")
    assert not set("<>") & set(text)
    assert not set("<>") & set(html.unescape(html.unescape(text)))
    for read in forms(text):
        assert (read.count(OPENED), read.count(CLOSED)) == (1, 1)
        assert not CHAT_TOKEN.search(read)
    lines = text.splitlines()[2:-1]
    assert len(lines) == len(text.split("\n")) - 3
    headings = [line for line in lines if not line.startswith("- ")]
    assert headings == [f"【{title}】" for title in TITLES if f"【{title}】" in headings]
    for line in lines:
        inside = line[2:] if line.startswith("- ") else ""
        said = re.sub(r"^\[2026-03-04 (?:周三 )?12:00\] ", "", inside)
        assert not set("[]`【】") & set(said)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_payload_breaks_the_block(payload):
    """Whatever is stored anywhere, the block opens and closes once, and texts around it stay readable."""
    context = context_with(payload, payload)
    check_whole(context.text)
    assert [section.title for section in context.sections] == list(TITLES)
    assert min(map(context.text.count, SIDES)) >= 7


@settings(max_examples=sized(60, 500))
@given(HOSTILE, HOSTILE)
def test_any_block_can_be_logged_in_colours(text, name):
    """A block logged through loguru's colour markup is output unchanged, whatever is stored."""
    written: list[str] = []
    sink = logger.add(written.append, format="{message}", colorize=False, catch=False)
    block = context_with(text, name).text
    try:
        logger.opt(colors=True).info(block)
        logger.opt(colors=True).info(f"<g>context</g> {block}")
        logger.opt(colors=True).info("{}", block)
    finally:
        logger.remove(sink)
    assert written == [f"{block}\n", f"context {block}\n", f"{block}\n"]
