"""Who may read what, as a table: written from the design alone, independent of the code's own rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from cognitive_memory_core.domain.scope import Scene

from .planted import Planted, Standing

Condition = Callable[[Planted, Scene, Standing], bool]

YES: Condition = lambda _planted, _scene, _standing: True  # noqa: E731  # a table of words reads best
NO: Condition = lambda _planted, _scene, _standing: False  # noqa: E731
OWN_WORDS: Condition = lambda planted, scene, _standing: planted.said_by == scene.user_id  # noqa: E731
OWN: Condition = lambda planted, scene, _standing: planted.person == scene.user_id  # noqa: E731
OURS: Condition = lambda planted, scene, _standing: planted.person in ("", scene.user_id)  # noqa: E731
OPEN: Condition = lambda planted, scene, standing: standing.is_open(planted, scene)  # noqa: E731
OWN_OPEN: Condition = lambda *asked: OWN(*asked) and OPEN(*asked)  # noqa: E731

TABLE: dict[tuple[str, str], tuple[Condition, Condition]] = {
    # kind, and where it was learned: readable in a group, in a private chat
    ("words", "here"): (YES, YES),
    ("words", "in another group"): (NO, OWN_WORDS),
    ("words", "in another chat"): (NO, NO),
    ("memo", "here"): (YES, YES),
    ("memo", "in another group"): (NO, NO),
    ("memo", "in another chat"): (NO, NO),
    ("pin", "here"): (OURS, YES),
    ("pin", "in another group"): (NO, NO),
    ("pin", "in another chat"): (NO, NO),
    ("profile of the group", "here"): (YES, NO),
    ("profile of the group", "in another group"): (NO, NO),
    ("profile of a member", "here"): (YES, NO),
    ("profile of a member", "in another group"): (NO, OWN),
    ("profile of a person", "here"): (NO, YES),
    ("profile of a person", "in another chat"): (OPEN, NO),
    ("past profile of the group", "here"): (YES, NO),
    ("past profile of the group", "in another group"): (NO, NO),
    ("past profile of a member", "here"): (OWN, NO),
    ("past profile of a member", "in another group"): (NO, OWN),
    ("past profile of a person", "here"): (NO, YES),
    ("past profile of a person", "in another chat"): (OWN_OPEN, NO),
}


def may_read(planted: Planted, scene: Scene, standing: Standing) -> bool:
    """Return whether a scene may be shown a text directly."""
    if planted.token in standing.gone or planted.agent != scene.agent or planted.people & standing.opted_out:
        return False
    if scene.kind == "operator":
        return True
    if standing.is_mute(scene) and planted.what != "pin":  # pins are shown for editing in muted places, too
        return False
    return TABLE[_row(planted), _learned(planted, scene)][scene.kind == "private"](planted, scene, standing)


def may_meet(token: str, scene: Scene, standing: Standing) -> bool:
    """Return whether a scene may see the token of a secret, directly or in a profile that it went into."""
    planted = standing.planted[token]
    return may_read(planted, scene, standing) or any(
        may_read(profile, scene, standing) for profile in _drawn_from(planted, standing)
    )


def may_meet_in_the_past(token: str, scene: Scene, standing: Standing) -> bool:
    """Return whether a scene may see it in a past profile, which never shows withdrawn words."""
    planted = standing.planted[token]
    if token in standing.gone:
        return False
    past = (replace(one, token="") for one in _drawn_from(planted, standing) if one.what == "past profile")
    return may_meet(token, scene, standing) or any(may_read(one, scene, standing) for one in past)


def _drawn_from(planted: Planted, standing: Standing) -> Iterator[Planted]:
    """Yield the profiles that somebody's words go into: theirs there, the group's, or their shared one."""
    if planted.what != "words" or planted.is_message or not planted.said_by or planted.said_by != planted.person:
        return
    for what in ("profile", "past profile"):
        profile = replace(planted, what=what, said_by="", subjects=())
        yield profile
        if planted.is_in_group:
            yield replace(profile, person="")
        if standing.is_shared_by_all:
            yield replace(profile, is_in_group=False, place_id=planted.person)


def _row(planted: Planted) -> str:
    if "profile" not in planted.what:
        return planted.what
    whose = ("a member" if planted.person else "the group") if planted.is_in_group else "a person"
    return f"{planted.what} of {whose}"


def _learned(planted: Planted, scene: Scene) -> str:
    if planted.stands_in(scene):
        return "here"
    return "in another group" if planted.is_in_group else "in another chat"
