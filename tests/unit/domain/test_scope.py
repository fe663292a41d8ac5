"""Tests of scopes and of which scene may read them."""

from __future__ import annotations

from typing import Any

import pytest

from cognitive_memory_core.domain.scope import Scene, Scope, checked_scene
from cognitive_memory_core.errors import BadArgument, NotPermitted

U, V = "2000001", "2000002"
GROUP_G = Scope("default", "group", "10001")
OTHER_GROUP = Scope("default", "group", "10002")
CHAT_WITH_U = Scope("default", "private", U)
CHAT_WITH_V = Scope("default", "private", V)

IN_G_ASKED_BY_U = Scene.group("10001", U)
IN_G_ASKED_BY_V = Scene.group("10001", V)
ALONE_WITH_U = Scene.private(U)
OPERATOR = Scene.operator()
OPERATOR_IN_G = Scene.operator(group_id="10001")


@pytest.mark.parametrize(
    ("learned", "said_by", "in_group_g", "alone_with_u"),
    [
        pytest.param(GROUP_G, U, True, True, id="U in this group"),
        pytest.param(GROUP_G, V, True, False, id="somebody else in this group"),
        pytest.param(GROUP_G, "", True, False, id="the bot in this group"),
        pytest.param(OTHER_GROUP, U, False, True, id="U in another group"),
        pytest.param(OTHER_GROUP, V, False, False, id="somebody else in another group"),
        pytest.param(OTHER_GROUP, "", False, False, id="the bot in another group"),
        pytest.param(CHAT_WITH_U, U, False, True, id="U in private"),
        pytest.param(CHAT_WITH_U, "", False, True, id="the bot to U in private"),
        pytest.param(CHAT_WITH_V, V, False, False, id="somebody else in private"),
        pytest.param(CHAT_WITH_V, "", False, False, id="the bot to somebody else in private"),
        pytest.param(CHAT_WITH_V, U, False, False, id="U's name on what was said in somebody else's chat"),
    ],
)
def test_every_cell_of_the_rule(learned: Scope, said_by: str, in_group_g: bool, alone_with_u: bool) -> None:
    """A group reads what was learned in it, a person in private their own words, the operator everything."""
    assert learned.readable_by(IN_G_ASKED_BY_U, sender_id=said_by) is in_group_g
    assert learned.readable_by(IN_G_ASKED_BY_V, sender_id=said_by) is in_group_g
    assert learned.readable_by(ALONE_WITH_U, sender_id=said_by) is alone_with_u
    assert learned.readable_by(OPERATOR, sender_id=said_by) is True
    assert learned.readable_by(OPERATOR_IN_G, sender_id=said_by) is True


@pytest.mark.parametrize("scope", [GROUP_G, CHAT_WITH_U, Scope("a b", "group", "群:1/..")])
def test_a_scope_survives_its_key(scope: Scope) -> None:
    """The key of a scope is one text from which the same scope is restored."""
    assert Scope.of_key(scope.key) == scope


def test_an_operator_without_a_group_stands_nowhere() -> None:
    """Asking for the scope of an operator without a group raises BadArgument with a Chinese message."""
    with pytest.raises(BadArgument, match="场合"):
        _ = OPERATOR.scope


@pytest.mark.parametrize("bad", ["", "x" * 129, "1\n", "1\x00", None, 10001, ["1"], {"$ne": ""}])
def test_a_scene_takes_no_id_that_nobody_has(bad: Any) -> None:
    """An id that is no text, empty, too long or has control characters makes no scene."""
    for make in (
        lambda: Scene.group(bad, U),
        lambda: Scene.group("10001", bad),
        lambda: Scene.private(bad),
        lambda: Scene.group("10001", U, agent=bad),
        lambda: Scene.operator(bad),
    ):
        with pytest.raises(BadArgument):
            make()


@pytest.mark.parametrize("bad", ["", "x" * 129, 5])
def test_an_operator_names_a_group_or_none(bad: Any) -> None:
    """A blank group id of an operator raises BadArgument and does not mean every group."""
    with pytest.raises(BadArgument):
        Scene.operator(group_id=bad)


@pytest.mark.parametrize(
    ("scene", "target"),
    [
        (IN_G_ASKED_BY_U, {}),
        (IN_G_ASKED_BY_U, {"group_id": "10001"}),
        (IN_G_ASKED_BY_U, {"group_id": "10001", "user_id": V}),
        (IN_G_ASKED_BY_U, {"user_id": V}),
        (IN_G_ASKED_BY_U, {"user_id": "", "group_id": ""}),
        (ALONE_WITH_U, {"user_id": U}),
        (ALONE_WITH_U, {"group_id": "10002"}),
        (OPERATOR, {"group_id": "10002", "user_id": V}),
    ],
)
def test_a_target_may_narrow(scene: Scene, target: dict[str, str]) -> None:
    """A target within what the scene may read is permitted; a person may ask for their own words of any group."""
    scene.check_target(**target)


@pytest.mark.parametrize(
    ("scene", "target"),
    [
        (IN_G_ASKED_BY_U, {"group_id": "10002"}),
        (IN_G_ASKED_BY_U, {"group_id": "*"}),
        (IN_G_ASKED_BY_U, {"group_id": "10001 OR 1=1"}),
        (IN_G_ASKED_BY_U, {"group_id": "10002", "user_id": U}),
        (ALONE_WITH_U, {"user_id": V}),
        (ALONE_WITH_U, {"user_id": V, "group_id": "10001"}),
        (ALONE_WITH_U, {"user_id": "*"}),
    ],
)
def test_a_target_never_widens(scene: Scene, target: dict[str, str]) -> None:
    """A target outside the scene raises NotPermitted with a Chinese message, and is never answered partly."""
    with pytest.raises(NotPermitted, match="这里看不到别的"):
        scene.check_target(**target)


@pytest.mark.parametrize("kind", ["", "all", "GROUP", None])
def test_there_are_three_kinds_of_scene(kind: Any) -> None:
    """A scene of an unknown kind raises BadArgument and is never treated as an operator's."""
    with pytest.raises(BadArgument):
        Scene(kind, "default", "10001", U)


@pytest.mark.parametrize(("given", "kept"), [("名" * 200, "名" * 128), (None, ""), (12345, ""), ("阿棠", "阿棠")])
def test_a_name_is_cut_and_never_refused(given: Any, kept: str) -> None:
    """An unverified name never makes a scene fail: it is cut, or dropped if it is no text."""
    scene = Scene.group("10001", U, user_name=given, group_name=given)
    assert (scene.user_name, scene.group_name) == (kept, kept)


def test_what_is_no_scene_is_refused() -> None:
    """A value that is no scene raises BadArgument, and so does an operator where a place is needed."""
    for value, placed in ((None, False), ("10001", False), (GROUP_G, False), (OPERATOR, True), (OPERATOR_IN_G, True)):
        with pytest.raises(BadArgument):
            checked_scene(value, placed=placed)
    assert checked_scene(OPERATOR) is OPERATOR
    assert checked_scene(ALONE_WITH_U, placed=True) is ALONE_WITH_U


def test_a_role_decides_no_access() -> None:
    """An admin reads what everybody in the group reads; an unknown role is a member's."""
    admin = Scene.group("10001", U, is_admin=True)
    assert admin == IN_G_ASKED_BY_U
    assert (admin.is_admin, IN_G_ASKED_BY_U.is_admin, ALONE_WITH_U.is_admin) == (True, False, False)
    assert not OTHER_GROUP.readable_by(admin, sender_id=V)
