"""The errors of this library, grouped by what the catching code does.

::

    CognitiveMemoryError
    ├── TransientError        try the same thing again later (requeue)
    │   └── BadAnswer         a model answered, but not with what was asked for
    ├── PermanentError        trying again cannot help (bury)
    ├── UnavailableError      go on with less (degrade)
    │   ├── Busy              a long operation is running; ask again soon
    │   ├── TooSlow           the request timed out
    │   ├── QueueFull         the queue is at its bound; nothing was written
    │   ├── StorageRefused    the disk refused; nothing half-written remains
    │   └── DirectoryInUse    another process owns the data directory
    └── MistakeError          tell the caller; the same call will fail again
        ├── NotPermitted      the scene may not read or change this
        ├── LimitReached      a bound that the operator set
        ├── AlreadyEvolving   one run a group at a time
        ├── UnknownEvent      no such event in this scene
        ├── UnknownPin        no such pin in this scene
        ├── UnknownBelief     no such belief in this scene
        ├── UnknownRevision   no such revision of this profile
        └── BadArgument       a value that no scene could accept
"""

from __future__ import annotations


class CognitiveMemoryError(Exception):
    """Root of everything that this library raises on purpose."""


class TransientError(CognitiveMemoryError):
    """Another try later may succeed; ``retry_after`` is the pause the remote side asks for, in seconds."""

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        """Store message and ``retry_after``."""
        super().__init__(message)
        self.retry_after = retry_after


class BadAnswer(TransientError):
    """A model answered, but not with what was asked for: another try counts."""


class PermanentError(CognitiveMemoryError):
    """Another try cannot help."""


class UnavailableError(CognitiveMemoryError):
    """A component is unavailable; go on with less. ``retry_after`` is the pause it asks for, in seconds."""

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        """Store message and ``retry_after``."""
        super().__init__(message)
        self.retry_after = retry_after


class Busy(UnavailableError):
    """A long operation is running: nothing is broken, and the same call may succeed soon."""


class TooSlow(UnavailableError):
    """The request timed out; it may still complete and be billed."""


class QueueFull(UnavailableError):
    """The queue is at its bound; nothing was written."""


class StorageRefused(UnavailableError):
    """The disk refused a write; nothing half-written remains."""


class DirectoryInUse(UnavailableError):
    """Another process owns the data directory."""


class MistakeError(CognitiveMemoryError):
    """The caller's request is invalid; the same call will fail again."""


class NotPermitted(MistakeError):
    """The scene may not read or change this."""


class LimitReached(MistakeError):
    """The call would exceed a bound that the operator set."""


class AlreadyEvolving(MistakeError):
    """This group's beliefs are being evolved right now."""


class UnknownEvent(MistakeError):
    """The scene can read no event of this id."""


class UnknownPin(MistakeError):
    """The scene can read no pin of this id."""


class UnknownBelief(MistakeError):
    """The scene can read no belief of this id."""


class UnknownRevision(MistakeError):
    """The profile has no revision of this id."""


class BadArgument(MistakeError, ValueError):
    """A value that no scene could accept."""
