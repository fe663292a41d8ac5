"""Taking people out of files that others wrote, in whichever form."""

from __future__ import annotations

import codecs
import json
from typing import Any

import pytest

from cognitive_memory_core.adapters.files.erasing import summaries_without, without_person
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.text.safety.redaction import Redaction

PLACE = Scope("default", "private", "2000001")
HIDE = Redaction.of({"2000001"}, {"阿棠"})
OTHERS = [{"summary": f"别人的备忘{number}", "location": {"type": "private", "name": "300030"}} for number in range(3)]
ROWS = [*OTHERS, {"summary": "和阿棠聊天", "location": {"type": "group", "name": "1"}}]
WRITTEN = json.dumps(ROWS, ensure_ascii=False)


def erased(data: bytes, *memo_ids: str) -> bytes | None:
    """Take the person out of a list of summaries."""
    return summaries_without(data, memo_ids=memo_ids, place=PLACE, hide=HIDE)


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF8 + WRITTEN.encode(),
        WRITTEN.encode("gb18030"),
        WRITTEN.encode("utf-16"),
        WRITTEN.encode("utf-16-le"),
        WRITTEN.encode("utf-16-be"),
        (WRITTEN[:-1] + ",\n]\n").encode(),
        (WRITTEN[:-1] + ", ]").encode("gb18030"),
    ],
)
def test_a_list_that_an_editor_wrote_loses_the_person_only(data: bytes) -> None:
    """In every encoding that editors use, and with a comma too many, everybody else's rows stay."""
    left: Any = json.loads(erased(data) or b"")
    assert left == [*OTHERS, {**ROWS[3], "summary": "和某位成员聊天"}]


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16"])
def test_a_torn_list_is_cleaned_as_text(encoding: str) -> None:
    """What is no JSON any more keeps all that others wrote, written so that everybody can read it."""
    torn = WRITTEN.replace("}, {", "}\n{").replace("聊天", "聊\\u5929")
    left = (erased(torn.encode(encoding)) or b"").decode()
    assert left == torn.replace("阿棠", "某位成员").replace("\\u5929", "天")
    assert erased(left.encode()) is None


def test_a_list_cut_off_inside_a_character_is_cleaned_as_text() -> None:
    """A crash while the older mode was writing costs nobody their lines."""
    torn = WRITTEN.replace("}, {", "}\n{").encode() + "天".encode()[:2]
    left = erased(torn) or b""
    assert left.decode().count("别人的备忘") == 3
    assert "某位成员" in left.decode()
    assert "阿棠" not in left.decode()


@pytest.mark.parametrize(
    "torn",
    [
        b'[{"summary": "x", "location": {"type": "private", "name": "2000001"}',
        b'[{"summary": "x", "id": "memo1"',
        b'\xff\xfe\xff"' + "阿棠".encode(),
    ],
)
def test_what_cannot_be_cleaned_goes(torn: bytes) -> None:
    """Torn, nobody can tell where a memo of the person ends; and bytes in no encoding are no text."""
    assert erased(torn, "memo1") == b""


def test_a_name_like_anothers_id_takes_nothing_away() -> None:
    """Rows go by ids alone: whoever calls themselves like somebody's number or name takes nothing of theirs along."""
    hide = Redaction.of({"2000001"}, {"300030"})
    assert summaries_without(WRITTEN.encode(), memo_ids=(), place=PLACE, hide=hide) is None


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16"])
def test_a_job_in_another_encoding_loses_the_person_only(encoding: str) -> None:
    """An operator's editor does not make a job of somebody else theirs."""
    job = {"user_id": "2000002", "group_id": "10001", "action_summary": "聊了阿棠", "new_info": ["下雨了"]}
    data = json.dumps(job, ensure_ascii=False).encode(encoding)
    left: Any = json.loads(without_person(data, user_id="2000001", hide=HIDE) or b"")
    assert left == {**job, "action_summary": "聊了某位成员"}
