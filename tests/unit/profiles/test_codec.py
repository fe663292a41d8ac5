"""Tests of writing profiles to files and reading them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.errors import PermanentError
from cognitive_memory_core.profiles.codec import LARGEST, LONGEST_FRONT, ProfileFile, tidy
from cognitive_memory_core.profiles.paths import ProfileLocation
from tests.support.clock import NOON, SHANGHAI
from tests.support.costs import spent
from tests.support.profiles import GROUP_KEY, TANG, TANG_THERE, a_profile
from tests.support.sizes import sized

ROOT = Path("/data")
SEED = """---
entity_type: user
entity_id: "12345678"
name: Null
tags:
  - Python
  - 异步编程
  - QQ机器人
updated_at: "2026-02-22T10:30:00"
source_event_id: abc123_0_1740218400000
---
Null 是一名 Python 开发者，专注于异步架构设计。曾在 Python 群中多次讨论 asyncio 最佳实践，对 QQ 机器人开发有深入研究。
"""
EXTRA = """mood: 好
level: 5
ratio: 0.50
since: 2020-01-01
nick: "no"
yes: no
empty:
more: {a: [1, "2", ], b: }
long: |
  一
   二
"""
OURS = {"entity_type", "entity_id", "group_id", "agent", "name", "tags", "updated_at", "source_event_id"}
SAFE_IDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=128)
ODD_TEXTS = st.sampled_from(
    [
        "no", "0123456", "1:30", "null", "~", "1e3", "2026-01-01", "a---b", "---", "...", "- x", "? x", "*x",
        "&x y", "!!x", "a: b", "a #b", "{a: b}", "[a]", "\n---\n", "x\nentity_id: 999",
        "x\x85entity_id: 999", "x\u2028name: y", "x\r\ny", "'", '"', "\\", "%x", "@x", "`x", "|", ">", "=", "<<",
        " x ", "x:", "\ufeffx", "\ufffe", "😀", "\ud800", "\x00",
    ]
)  # fmt: skip
TEXTS = ODD_TEXTS | st.text(max_size=60) | st.lists(ODD_TEXTS, max_size=4).map("\n".join)
ZONES = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
EARLIEST, LATEST = (datetime(year, 1, 1) for year in (1900, 2200))  # noqa: DTZ001  # hypothesis adds the zone
INSTANTS = st.datetimes(EARLIEST, LATEST, timezones=ZONES)


@st.composite
def keys(draw: st.DrawFn) -> ProfileKey:
    """Return any profile key."""
    first, second, agent = draw(SAFE_IDS), draw(SAFE_IDS), draw(st.just("default") | SAFE_IDS)
    make = draw(st.sampled_from(["user", "group", "member"]))
    return ProfileKey.member(first, second, agent) if make == "member" else getattr(ProfileKey, make)(first, agent)


PROFILES = st.builds(
    Profile, keys(), name=TEXTS, tags=st.lists(TEXTS, max_size=6).map(tuple), summary=TEXTS, updated_at=INSTANTS,
    source_event_id=st.text([*map(chr, range(32, 127))], max_size=12) | st.sampled_from(["0123", "1e3", "no", "\r"]),
)  # fmt: skip


def read(text: str | bytes, key: ProfileKey = TANG) -> ProfileFile:
    """Read a file as the profile of a key."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return ProfileFile.read(data, ProfileLocation.of(ROOT, key), SHANGHAI, NOON)


def front(text: str, body: str = "好") -> str:
    """Return a file with front matter and body."""
    return f"---\n{text}\n---\n{body}\n"


def said(data: bytes) -> dict[str, object]:
    """Return what YAML reads in the front matter, without the profile's own fields."""
    found = yaml.safe_load(data.decode().split("\n---\n")[0] + "\n")
    return {key: value for key, value in found.items() if key not in OURS}


@given(PROFILES)
@settings(max_examples=sized(150, 1_000), deadline=None)
def test_what_is_written_is_read_back(profile: Profile) -> None:
    """A written profile is read back equal if its ids are ordinary, and writing it again gives the same bytes."""
    data = ProfileFile(tidy(profile)).written()
    file = read(data, profile.key)
    ids = (profile.key.user_id, profile.key.group_id, profile.key.agent, profile.source_event_id)
    assert file.profile == tidy(profile) or not all(one.isascii() and one.isprintable() for one in ids)
    assert file.written() == data
    assert file.others == ()


@given(PROFILES)
@settings(max_examples=sized(80, 500), deadline=None)
def test_every_yaml_reader_sees_the_same_texts(profile: Profile) -> None:
    """Texts are texts for every YAML reader, without additional keys."""
    kept = tidy(profile)
    found = yaml.safe_load(ProfileFile(kept).written().decode().split("\n---\n")[0])
    assert found.keys() <= OURS
    assert found["name"] == kept.name
    assert tuple(found["tags"]) == kept.tags
    assert found["entity_id"] == (kept.key.user_id or kept.key.group_id)
    assert datetime.fromisoformat(found["updated_at"]) == kept.updated_at
    assert found["source_event_id"] == kept.source_event_id


def test_the_example_of_the_seed_is_read_and_kept() -> None:
    """A file of the older mode is read with unknown keys, in the bot's time zone."""
    text, key = SEED.replace("---\nNull", f"{EXTRA}---\nNull"), ProfileKey.user("12345678")
    file = read(text, key)
    assert file.profile == Profile(
        key,
        "Null",
        ("Python", "异步编程", "QQ机器人"),
        SEED.split("---\n")[2].strip(),
        datetime(2026, 2, 22, 10, 30, tzinfo=SHANGHAI),
        "abc123_0_1740218400000",
    )
    assert read(file.written(), key).profile == file.profile
    assert said(file.written()) == said(text.encode())
    assert said(text.encode())["more"] == {"a": [1, "2"], "b": None}
    assert "\nratio: 0.50\n" in file.written().decode()
    assert '\nentity_id: "12345678"\n' in file.written().decode()


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("no", "no"), ("0123456", "0123456"), ("1:30", "1:30"), ("2026-01-01", "2026-01-01"), ("1e3", "1e3"),
        ("a---b", "a---b"), ('"a\\u2028b"', "a b"), ('"x\\nentity_id: 9"', "x entity_id: 9"), ("Null", "Null"),
        ("", ""), ("'a''b'", "a'b"),
        ("|\n  多\n  行", "多 行"), ('"\\U0001F600"', "😀"), ("=", "="), ("0x1F", "0x1F"),
    ],
)  # fmt: skip
def test_a_name_is_the_text_that_stands_there(written: str, name: str) -> None:
    """A name is read as text, whatever YAML would make of it."""
    file = read(front(f"name: {written}\nupdated_at: 2026-03-04"))
    assert file.profile.name == name
    assert read(file.written()).profile.name == name


@pytest.mark.parametrize(
    "body", ["---", "一\n---\n二", "---\nentity_id: 9\n---\n三", "- - -\n---\n", "a---b", "...", ""]
)
def test_lines_of_dashes_in_a_body_are_text(body: str) -> None:
    """Lines of dashes in the body are text."""
    file = read(front("name: 甲", body))
    assert file.profile.summary == body.strip()
    assert read(file.written()).profile.summary == body.strip()
    assert read(ProfileFile(a_profile(body)).written()).profile == a_profile(body.strip())


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("entity_id: 2000009", TANG), ("entity_type: group", TANG), ("entity_id: 02000001", TANG),
        ('entity_id: "2000001 "', TANG), ("entity_id: [2000001]", TANG), ("group_id: 10009", TANG_THERE),
        ("entity_id: 2000001", GROUP_KEY), ("entity_type: User", TANG), ("name: 甲", ProfileKey.user("张三")),
        ("entity_id: 李四", ProfileKey.user("张三")), ("agent: b", ProfileKey.user("1", "a")),
    ],
)  # fmt: skip
def test_a_file_of_somebody_else_is_refused(text: str, key: ProfileKey) -> None:
    """A file whose ids contradict its path is refused."""
    with pytest.raises(PermanentError):
        read(front(text), key)


def test_what_a_file_leaves_out_its_path_tells() -> None:
    """Missing ids are taken from the path, a missing time from the reading, and foreign values are kept."""
    file = read(front("name: 甲\ngroup_id: [其他]\nagent: {a: b}\ntags: 茶\nsource_event_id:"))
    assert file.profile == Profile(TANG, "甲", ("茶",), "好", NOON)
    assert said(file.written()) == {}
    assert b"agent:\n  a: b\n" in file.written()


N = LONGEST_FRONT
HOSTILE = {
    "deep lists": "a: " + "[" * (N - 9), "deep maps": "a: " + "{" * (N - 9),
    "deep pairs": "a: " + "[a: " * (N // 4 - 1),
    "deep blocks": "- " * (N // 2), "questions": "? " * (N // 2), "set": "a: {" + "a," * (N // 2 - 4) + "}",
    "keys": "".join(f"k{number}: 1\n" for number in range(N // 9)), "scalar": "a: " + "x" * (N - 9),
    "escapes": 'a: "' + "\\x41" * (N // 4 - 2) + '"', "aliases": "a: &a [x]\nb: [" + "*a," * (N // 3 - 6) + "]",
    "laughs": "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]", "colons": "a:" * (N // 2), "quotes": "'" * N,
    "closing": "a: [" + "]" * (N - 5), "anchors": "a: " + "&a " * (N // 3 - 2), "blanks": "a:" + " " * (N - 9) + "b",
    "comments": "#\n" * (N // 2 - 1), "literal": "a: |\n" + " x\n" * (N // 3 - 2), "lines": "\n" * (N - 2),
    "folded": "a: >\n" + " x\n\n" * (N // 4 - 2), "plain lines": "a: x\n" + " x\n" * (N // 3 - 2),
    "tag": "a: !!python/object/apply:os.system ['x']", "bang": "a: ! b", "tags": "a: " + "!a " * (N // 3 - 2),
    "text tag": "a: !!str 5", "directive": "%TAG ! tag:\n" * (N // 13), "two documents": "a: 1\n--- b\n",
    "control": "a: \x01", "half": 'a: "\\ud800"', "beyond": 'a: "\\U00110000"', "list": "- a", "text": "好",
    "complex key": "? [a]\n: b", "tab": "\ta: b", "merge bomb": "<<: [{a: b}, {c: d}]",
    "time": "updated_at: 昨天", "year": "updated_at: 0001-01-01T00:00:00", "tags in tags": "tags: [[a]]",
}  # fmt: skip
FINE = {"scalar", "escapes", "blanks", "comments", "literal", "lines", "folded", "plain lines", "merge bomb"}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_front_matter_is_refused_quickly(name: str) -> None:
    """Hostile front matter is refused or read as text, always quickly."""
    fine: list[bool] = []
    least = spent(lambda: fine.append(_is_read("scalar")))
    assert spent(lambda: fine.append(_is_read(name))) < 50 * least
    assert set(fine[3:]) == {name in FINE}


def _is_read(name: str) -> bool:
    try:
        read(front(HOSTILE[name].strip("\n")))
    except PermanentError:
        return False
    return True


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe---", "好".encode(), b"---\nname: a\n", b"x\n---\nname: a\n---\n", b"--- \n",
     "---\nname: 甲\n---\n好".encode("gb18030"),
     b"---\nname: a\n---\n" + b"x" * LARGEST, b"---\na: " + b"x" * LONGEST_FRONT + b"\n---\n", b"\0" * 100],
)  # fmt: skip
def test_what_is_no_profile_is_refused(data: bytes) -> None:
    """Truncated, foreign, too long and wrongly encoded files are refused."""
    with pytest.raises(PermanentError):
        read(data)


def test_editors_of_windows_are_understood() -> None:
    """A byte order mark and Windows line ends are accepted."""
    file = read("\ufeff" + front("name: 甲\ntags:\n- 茶", "一\n二").replace("\n", "\r\n"))
    assert file.profile == Profile(TANG, "甲", ("茶",), "一\n二", NOON)


@given(st.data())
@settings(max_examples=sized(150, 1_000), deadline=None)
def test_a_flipped_byte_never_makes_another_key(data: st.DataObject) -> None:
    """A damaged file is refused or read as the same key, without another error."""
    whole = bytearray(ProfileFile(a_profile(key=TANG_THERE), read(front("level: 5")).others).written())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        file = read(bytes(whole), TANG_THERE)
    except PermanentError:
        return
    assert file.profile.key == TANG_THERE
    assert read(file.written(), TANG_THERE).profile == file.profile
