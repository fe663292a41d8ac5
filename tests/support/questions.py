"""Every read path of a memory, used in a scene: what it showed but must not, and what it must show but did not."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import cognitive_memory_core as core

from .clock import NOON
from .histories import History
from .planted import Planted, What, tokens_in
from .reading_rule import may_meet, may_meet_in_the_past, may_read
from .sowing import GROUPS, PEOPLE, WORDS, Sower

ALL = 200
BUDGET = 100_000
SORTS: tuple[What, ...] = ("words", "words", "words", "memo", "pin", "profile", "past profile")


@dataclass(frozen=True)
class Asking:
    """One call, and what its answer must show; ``may`` says what it may show if that does not follow from the scene."""

    call: Awaitable[object]
    must: Iterable[Planted] = ()
    may: Callable[[str], bool] | None = None


@dataclass(frozen=True)
class Verdict:
    """The result of one answer: tokens that the scene must not see, and tokens that are missing."""

    path: str
    leaked: frozenset[str]
    missing: frozenset[str]
    shown: int


@dataclass(frozen=True)
class Question:
    """A scene that reads a history; ``about`` is a secret of any place, whose token is searched for."""

    history: History
    scene: core.Scene
    about: Planted
    dice: random.Random

    @property
    def memory(self) -> core.CognitiveMemory:
        """Return the memory that is asked."""
        return self.history.memory

    @property
    def words(self) -> str:
        """Return what is asked: mostly a secret's own token, else a common word."""
        return self.about.token if self.dice.random() < 0.7 else self.dice.choice(WORDS)

    def may(self, planted: Planted) -> bool:
        """Return whether the scene may read a secret."""
        return may_read(planted, self.scene, self.history.standing)

    def readable(self, what: str, *, message: bool = False, here: bool = False) -> list[Planted]:
        """Return everything of a kind that the scene may read."""
        found = (
            one for one in self.history.standing.planted.values() if one.what == what and one.is_message == message
        )
        return [one for one in found if self.may(one) and not (here and not one.stands_in(self.scene))]

    def sort_of(self, what: What) -> Planted:
        """Return a random secret of a kind that the scene may read, or the one the question is about."""
        readable = self.readable(what)
        return self.dice.choice(readable) if readable and self.dice.random() < 0.5 else self.about

    def sought(self, what: What, *, message: bool = False) -> tuple[str, list[Planted]]:
        """Return what to search for and what must be found: something readable, arbitrary, or common words."""
        readable = self.readable(what, message=message)
        chance = self.dice.random()
        if chance < 0.5 and readable:
            one = self.dice.choice(readable)
            return one.token, [one]
        if chance < 0.8:
            return self.about.token, [one for one in readable if one == self.about]
        return self.dice.choice(WORDS), []

    def sought_profile(self) -> tuple[str, list[Planted]]:
        """Return the same for profiles; in a group, a shared profile is found only where its person is known."""
        words, must = self.sought("profile")
        is_here, standing = self.scene.kind == "group", self.history.standing
        return words, [
            one for one in must if one.is_in_group or not is_here or standing.is_known(one.person, self.scene)
        ]


def question_of(history: History, *, only_private: bool = False) -> Question:
    """Return a question about a random secret, half of the time where it was told or by its author.

    With ``only_private`` all questions are asked in groups, about private secrets.
    """
    dice, secrets = history.sower.dice, history.standing.planted.values()
    what = dice.choice(SORTS)
    about = dice.choice([one for one in secrets if one.what == what and not (only_private and one.is_in_group)])
    scene = _asking(history.sower, about)
    if only_private:
        scene = core.Scene.group(dice.choice(GROUPS), dice.choice(PEOPLE), agent=about.agent)
    return Question(history, scene, about, dice)


def _asking(sower: Sower, about: Planted) -> core.Scene:
    chance = sower.dice.random()
    if chance < 0.35 and about.is_in_group:
        return core.Scene.group(about.place_id, sower.dice.choice(PEOPLE), agent=about.agent)
    if chance < 0.5:
        return core.Scene.private(about.said_by or about.person or about.place_id, agent=about.agent)
    return sower.scene(operators=0.15)


def context(asked: Question) -> Asking:
    """Build a context, often with room for everything."""
    return Asking(asked.memory.context(asked.scene, asked.words, budget=asked.dice.choice((None, BUDGET))))


def search(asked: Question) -> Asking:
    """Search events."""
    words, must = asked.sought("words")
    return Asking(asked.memory.search_events(asked.scene, words, top_k=50), must)


def search_messages(asked: Question) -> Asking:
    """Search the log."""
    words, must = asked.sought("words", message=True)
    return Asking(asked.memory.search_events(asked.scene, words, kinds=("message",), top_k=50), must)


def search_narrowed(asked: Question) -> Asking:
    """Search with random targets, many of them in other places."""
    dice = asked.dice
    return Asking(
        asked.memory.search_events(
            asked.scene,
            asked.sought("words", message=dice.random() < 0.5)[0],
            user_id=dice.choice((None, None, asked.scene.user_id or None, *PEOPLE)),
            group_id=dice.choice((None, asked.scene.group_id or None, *GROUPS)),
            kinds=dice.choice(((), ("message",), ("event", "message"), ("preference",))),
            top_k=dice.choice((1, 12, 50)),
            time_from=dice.choice((None, None, NOON - timedelta(days=dice.randrange(400)))),
            time_to=dice.choice((None, None, NOON - timedelta(days=dice.randrange(400)))),
        )
    )


def listed(asked: Question) -> Asking:
    """List events."""
    readable = asked.readable("words")
    return Asking(asked.memory.events(asked.scene, limit=ALL), readable if len(readable) <= ALL else ())


def paged(asked: Question) -> Asking:
    """List a page of events."""
    return Asking(asked.memory.events(asked.scene, limit=5, offset=asked.dice.randrange(12)))


def recent(asked: Question) -> Asking:
    """Read the newest lines of the log."""
    said = asked.readable("words", message=True, here=True)
    return Asking(asked.memory.recent_messages(asked.scene, ALL), said if len(said) <= ALL else ())


def memos(asked: Question) -> Asking:
    """Read memos."""
    return Asking(asked.memory.memos(asked.scene, ALL), asked.readable("memo", here=True))


def pins(asked: Question) -> Asking:
    """Read pins."""
    return Asking(asked.memory.pins(asked.scene), asked.readable("pin", here=True))


def profile(asked: Question) -> Asking:
    """Ask for a profile by its key, with its id as written here."""
    about = asked.sort_of("profile")
    key = about.key
    entity_id = "/".join(part for part in (key.group_id, key.user_id) if part)
    must = [about] if about.what == "profile" and asked.may(about) else ()
    return Asking(asked.memory.get_profile(asked.scene, key.entity_type, entity_id), must)


def user_portrait(asked: Question) -> Asking:
    """Ask for a person's profile, of any place."""
    person = asked.dice.choice((asked.scene.user_id or PEOPLE[0], asked.about.person or asked.about.place_id))
    return Asking(asked.memory.get_profile(asked.scene, "user", person))


def search_portraits(asked: Question) -> Asking:
    """Search profiles."""
    (words, must), entity_type = asked.sought_profile(), asked.dice.choice((None, None, "user", "member", "group"))
    found = asked.memory.search_profiles(asked.scene, words, entity_type=entity_type, top_k=50)
    return Asking(found, must if entity_type is None else ())


def past_portraits(asked: Question) -> Asking:
    """Ask for the revisions of a profile."""
    about = asked.sort_of("past profile")
    must = [about] if about.what == "past profile" and asked.may(about) else ()
    may = partial(may_meet_in_the_past, scene=asked.scene, standing=asked.history.standing)
    return Asking(asked.memory.profile_revisions(asked.scene, about.key), must, may)


def export(asked: Question) -> Asking:
    """Export one person's words, pins and profiles, of every place and agent."""
    person, standing = asked.dice.choice(PEOPLE), asked.history.standing
    own = [one for one in standing.planted.values() if is_own(one, person) and one.token not in standing.gone]
    return Asking(_exported(asked, person), own, {one.token for one in own}.__contains__)


async def _exported(asked: Question, person: str) -> str:
    path = asked.history.folder / "export.jsonl"
    await asked.memory.export(path, user_id=person)
    return path.read_text("utf-8")


def is_own(planted: Planted, person: str) -> bool:
    """Return whether a secret belongs to a person: their words, the pins that they own or wrote, their profiles."""
    if planted.what == "memo":
        return False
    if planted.what == "pin":  # a pin of the whole group also belongs to its author
        return person in (planted.person, planted.said_by)
    return planted.said_by == person if planted.what == "words" else planted.person == person


Ways = dict[str, tuple[Callable[[Question], Asking], int]]
PATHS: Ways = {
    "context": (context, 8),
    "search_events": (search, 8),
    "search_events of the log": (search_messages, 6),
    "search_events narrowed": (search_narrowed, 8),
    "events": (listed, 3),
    "events by page": (paged, 3),
    "recent_messages": (recent, 4),
    "memos": (memos, 4),
    "pins": (pins, 4),
    "get_profile": (profile, 6),
    "get_profile of a user": (user_portrait, 4),
    "search_profiles": (search_portraits, 6),
    "profile_revisions": (past_portraits, 4),
    "export": (export, 2),
}


async def answered(history: History, *, ways: Ways = PATHS, only_private: bool = False) -> tuple[Question, Verdict]:
    """Ask a random question by one of the read paths, chosen by weight."""
    asked = question_of(history, only_private=only_private)
    path = asked.dice.choices([*ways], [weight for _, weight in ways.values()])[0]
    return asked, await judged(path, ways[path][0](asked), asked)


async def judged(path: str, asking: Asking, asked: Question) -> Verdict:
    """Run the call, and compare the answer with what it may and must show; a refusal counts by its message."""
    standing = asked.history.standing
    try:
        answer = await asking.call
    except core.MistakeError as refused:
        answer = str(refused)
    may = asking.may or (lambda token: may_meet(token, asked.scene, standing))
    shown = tokens_in(answer)
    must = {one.token for one in asking.must} - standing.doubtful
    return Verdict(path, frozenset(token for token in shown if not may(token)), frozenset(must - shown), len(shown))
