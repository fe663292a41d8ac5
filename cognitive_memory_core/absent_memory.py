"""The state of a memory that is not open (null object): reads and turns return nothing, changes are refused."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NoReturn

from . import sentences
from .domain.context import NOTHING, Context
from .errors import UnavailableError, UnknownEvent
from .settings import Live, Settings

if TYPE_CHECKING:
    from .domain.belief import Belief, BeliefHit, BeliefPage, Change, Evolution, Listing
    from .domain.event import Event
    from .domain.figures import Activity
    from .domain.hit import Hit
    from .domain.job import FailedJob
    from .domain.message import Message
    from .domain.note import Memo, Pin
    from .domain.profile import EntityType, Profile, ProfileHit, ProfileKey, Revision
    from .domain.read_filter import ReadFilter
    from .domain.scope import Scene
    from .domain.suggestion import Suggestion
    from .domain.turn import Turn
    from .recall.trace import Explanation
    from .status import Status


class NullReads:
    """The reads of an absent memory: nothing is found."""

    async def context(self, scene: Scene, query: str, *, budget: int | None, shown: frozenset[str] | None) -> Context:
        """Return the empty context that names "disabled"."""
        return NOTHING

    async def explained(
        self, scene: Scene, query: str, *, budget: int | None, settings: Settings | None
    ) -> Explanation:
        """Return the empty context without candidates."""
        from .recall.trace import Explanation  # noqa: PLC0415  # as of all: loaded by who asks

        return Explanation(NOTHING)

    async def hits(self, read_filter: ReadFilter, query: str, *, top_k: int) -> list[Hit]:
        """Return no hits."""
        return []

    async def events(self, scene: Scene, limit: int, offset: int) -> list[Event]:
        """Return no events."""
        return []

    async def forgotten(self, scene: Scene, limit: int, offset: int) -> list[Event]:
        """Return no events."""
        return []

    async def event(self, scene: Scene, event_id: str) -> Event:
        """Raise UnknownEvent."""
        raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)

    async def recent_messages(self, scene: Scene, limit: int, *, until: datetime | None) -> list[Message]:
        """Return no messages."""
        return []

    async def find_messages(self, scene: Scene, message_ids: Collection[str]) -> list[Message]:
        """Return no messages."""
        return []

    async def memos(self, scene: Scene, limit: int) -> list[Memo]:
        """Return no memos."""
        return []

    async def profile(self, scene: Scene, entity_type: EntityType, entity_id: str) -> Profile | None:
        """Return no profile."""
        return None

    async def profiles(
        self, scene: Scene, query: str, *, entity_type: EntityType | None, top_k: int
    ) -> list[ProfileHit]:
        """Return no profiles."""
        return []

    async def revisions(self, scene: Scene, key: ProfileKey) -> list[Revision]:
        """Return no revisions."""
        return []

    async def pins(self, scene: Scene) -> list[Pin]:
        """Return no pins."""
        return []

    async def belief_page(self, scene: Scene, status: Listing, limit: int, offset: int) -> BeliefPage:
        """Return no beliefs."""
        from .domain.belief import BeliefPage  # noqa: PLC0415  # the same

        return BeliefPage((), 0)

    async def belief_hits(self, scene: Scene, query: str, *, limit: int, threshold: float) -> list[BeliefHit]:
        """Return no beliefs."""
        return []

    async def belief_history(self, scene: Scene, belief_id: str) -> list[Belief]:
        """Return no versions."""
        return []

    async def belief_changes(self, scene: Scene, days: int) -> list[Change]:
        """Return no changes."""
        return []

    async def suggestions(self, scene: Scene) -> list[Suggestion]:
        """Return no suggestions."""
        return []


class NullIntake:
    """The intake of an absent memory: accepts nothing and raises no error."""

    def observe(self, message: Message) -> None:
        """Discard a message."""

    async def note_name(self, scene: Scene, heard_at: datetime) -> None:
        """Discard a name."""

    async def remember(self, turn: Turn) -> str | None:
        """Return None: the turn was not accepted."""
        return None

    async def consider(self, scene: Scene, messages: Sequence[Message]) -> str | None:
        """Return None: the dialogue was not accepted."""
        return None

    async def learned(self, scene: Scene, message_ids: Collection[str]) -> frozenset[str]:
        """Return no messages."""
        return frozenset()


class AbsentMemory:
    """Replaces an open memory in the façade; operations that need an open one raise UnavailableError."""

    is_running = False

    def __init__(self, settings: Live[Settings], reason: str = "") -> None:
        """Create with the sentence that explains why the memory is closed; by default, that it was not started."""
        self.settings = settings
        self.reason = reason or sentences.caller.NOT_RUNNING
        self.reads = NullReads()
        self.intake = NullIntake()

    @property
    def opened(self) -> NoReturn:
        """Raise UnavailableError with the reason, because no change can be stored."""
        raise UnavailableError(self.reason)

    def reconsider(self) -> None:
        """Do nothing, because no loop runs."""

    async def evolve(self, scene: Scene, days: int) -> Evolution:
        """Return an Evolution without changes, whose ``message`` is the reason."""
        from .domain.belief import Evolution  # noqa: PLC0415  # the same

        return Evolution(message=self.reason)

    async def evolve_groups(self, within: float) -> int:
        """Return 0: no group is updated."""
        return 0

    async def compress(self, messages: object, budget: int) -> str:
        """Return the newest lines that fit, without a summary; raises BadArgument for anything but messages."""
        from .recall.compression import Compressor, checked_dialogue  # noqa: PLC0415  # the same

        return await Compressor().compress(checked_dialogue(messages), budget)

    async def status(self) -> Status:
        """Return the status of a memory that is not running."""
        from .status import Status  # noqa: PLC0415  # the same

        return Status(is_running=False, reason=self.reason)

    async def activity(self, scene: Scene, days: int) -> Activity:
        """Return no activity."""
        from .domain.figures import Activity  # noqa: PLC0415  # the same

        return Activity()

    async def failed_jobs(self) -> list[FailedJob]:
        """Return no jobs."""
        return []

    async def drain(self, seconds: float) -> bool:
        """Return True: there is nothing to wait for."""
        return True
