"""The access check of every read: applied before a store is queried, and again to every row before it is returned.

A caller that asks for another group or person is rejected here, by :func:`requested_filter`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from . import sentences
from .consent import Consent, Redactable
from .domain.belief import Belief, Change
from .domain.event import MEMORY_KINDS, Event
from .domain.message import Hit, Message
from .domain.profile import Profile, ProfileHit, ProfileKey, Revision
from .domain.reading import ReadFilter
from .domain.scope import Interval, Scene, Scope, checked_id
from .domain.turn import Memo, Pin
from .errors import BadArgument
from .settings import Live, Settings


class ReadAccess:
    """Decides what a scene may read, and redacts people who opted out.

    The checks use the request, the row itself and the present consent, and do not trust the store: a row that the scene
    may not read is left out even if the store returns it.
    """

    def __init__(self, consent: Consent, settings: Live[Settings]) -> None:
        """Create over consent and settings, both of which are read anew at each call."""
        self._consent = consent
        self._settings = settings

    @property
    def hidden_people(self) -> frozenset[str]:
        """Ids of the people who opted out."""
        return self._consent.opted_out

    @property
    def is_enabled(self) -> bool:
        """Whether the memory is enabled; with ``enabled=false`` only lists, recent messages and memos can be read."""
        return self._settings.current.enabled

    def may_recall(self, scene: Scene) -> bool:
        """Return whether the switch of the place permits reads."""
        return self._consent.may_recall(scene)

    def may_search(self, scene: Scene) -> bool:
        """Return whether events and profiles may be searched: the switch permits reads and the memory is enabled."""
        return self.is_enabled and self.may_recall(scene)

    def may_find(self, scene: Scene) -> bool:
        """Return whether messages may be looked up by id: the place permits recording or retrieval."""
        return self.may_recall(scene) or self._consent.is_recorded(scene.scope)

    def admits(self, scene: Scene, item: Event | Message | Memo | Pin) -> bool:
        """Return whether a scene may see an item.

        Messages, memos and pins must be of the scene's place. A pin of a person who opted out stays visible to its
        owner, who may remove it.
        """
        if isinstance(item, Event):
            return self.present_filter(scene).admits(item)
        if isinstance(item, Message):
            return item.scene.scope == scene.scope and item.scene.user_id not in self.hidden_people
        if isinstance(item, Memo):
            return item.scope == scene.scope and item.user_id not in self.hidden_people
        return item.scope == scene.scope and (scene.kind == "operator" or item.owner_id in ("", scene.user_id))

    def present_filter(self, scene: Scene) -> ReadFilter:
        """Return the read filter of all events that a scene may see now, without those of people who opted out."""
        return ReadFilter(scene, without=self.hidden_people)

    def shown(self, scene: Scene, items: Iterable[Redactable]) -> list[Redactable]:
        """Return the items of a list that a scene may see, redacted."""
        return [self._consent.redacted(item) for item in items if self.admits(scene, item)]

    def hits(self, read_filter: ReadFilter, hits: Iterable[Hit]) -> list[Hit]:
        """Return the hits that a read filter admits, redacted, without neighbouring lines that the scene may not see.

        A score above 1, to which boosts for age and people can raise it, is returned as 1; the order does not change.
        """
        read_filter = replace(read_filter, without=self.hidden_people)
        around = replace(read_filter, user_id="", group_id="", kinds=(), window=None)
        redacted = self._consent.redacted
        return [
            replace(
                hit,
                event=redacted(hit.event),
                score=min(hit.score, 1.0),
                neighbours=tuple(redacted(line) for line in hit.neighbours if around.admits(line.as_event())),
            )
            for hit in hits
            if read_filter.admits(hit.event)
        ]

    def is_shared(self, user_id: str) -> bool:
        """Return whether a person's own profile may be shown in the groups that they are known in."""
        return self._settings.current.sharing == "shared" or user_id in self._consent.shared

    @property
    def sharing_people(self) -> frozenset[str] | None:
        """Ids of the people who share their own profile; None if everybody does."""
        return None if self._settings.current.sharing == "shared" else self._consent.shared

    def may_read_profile(self, scene: Scene, key: ProfileKey) -> bool:
        """Return whether a scene may read a profile; a shared one may be read in groups, not in other private chats."""
        return key.readable_by(scene, shared=scene.kind == "group" and self.is_shared(key.user_id))

    def admits_profile(self, scene: Scene, key: ProfileKey) -> bool:
        """Return whether a scene may see a profile: it may read it, and the person has not opted out."""
        return self.may_read_profile(scene, key) and key.user_id not in self.hidden_people

    def profile(self, scene: Scene, profile: Profile | None) -> Profile | None:
        """Return a profile, redacted; None if it is None or the scene may not see it."""
        if profile is None or not self.admits_profile(scene, profile.key):
            return None
        return self.redacted(profile)

    def profile_hits(self, scene: Scene, hits: Iterable[ProfileHit]) -> list[ProfileHit]:
        """Return the hits whose profile the scene may see, redacted."""
        shown = ((hit, self.profile(scene, hit.profile)) for hit in hits)
        return [replace(hit, profile=profile) for hit, profile in shown if profile is not None]

    def revisions(self, scene: Scene, key: ProfileKey, revisions: Sequence[Revision]) -> list[Revision]:
        """Return the revisions of a profile, redacted; empty unless the person, the group or an operator asks."""
        if scene.kind != "operator" and key.user_id not in ("", scene.user_id):
            return []
        own = ((one, self.profile(scene, one.profile)) for one in revisions if one.profile.key == key)
        return [replace(one, profile=profile) for one, profile in own if profile is not None]

    def redacted(self, profile: Profile) -> Profile:
        """Return a profile in which people who opted out are redacted, other than its own person."""
        hide = self._consent.hidden
        return replace(profile.reworded(hide), name=hide(profile.name))

    def belief(self, scope: Scope, belief: Belief) -> Belief | None:
        """Return a belief, redacted; None if it is not of this place, or only people who opted out said it."""
        if belief.scope == scope and not self.hidden_people:
            return belief
        left = tuple(one for one in belief.supporters if one not in self.hidden_people)
        if belief.scope != scope or (belief.supporters and not left):
            return None
        hide = self._consent.hidden
        tags = tuple(tag for tag in map(hide, belief.tags) if tag)
        said = (hide(belief.statement), hide(belief.change_summary), tags, left)
        if said == (belief.statement, belief.change_summary, belief.tags, belief.supporters):
            return belief
        return replace(belief, statement=said[0], change_summary=said[1], tags=tags, supporters=left)

    def change(self, scope: Scope, change: Change) -> Change | None:
        """Return an entry of the change log, redacted; None if it is not of this place."""
        if change.scope != scope:
            return None
        hide = self._consent.hidden
        by = "" if change.changed_by in self.hidden_people else change.changed_by
        redacted_change = replace(
            change, old_statement=hide(change.old_statement), new_statement=hide(change.new_statement)
        )
        return replace(redacted_change, change_reason=hide(change.change_reason), changed_by=by)

    def hidden(self, text: str) -> str:
        """Return a text with people who opted out redacted."""
        return self._consent.hidden(text)


def requested_filter(
    scene: Scene, user_id: str | None, group_id: str | None, kinds: Sequence[str], window: Interval | None
) -> ReadFilter:
    """Return the read filter of a search that a caller narrows to a person, a group, kinds and a time.

    Raises NotPermitted for a group or person outside the scene, BadArgument for an invalid id or kind.
    """
    wanted = (kinds,) if isinstance(kinds, str) else tuple(kinds or ())
    for kind in wanted:
        if kind not in (*MEMORY_KINDS, "message"):
            raise BadArgument(sentences.caller.bad_value("kinds", kind, "、".join((*MEMORY_KINDS, "message"))))
    target_user = checked_id(user_id, "user_id") if user_id is not None else ""
    target_group = checked_id(group_id, "group_id") if group_id is not None else ""
    scene.check_target(user_id=target_user, group_id=target_group)
    return ReadFilter(scene, target_user, target_group, wanted, window)
