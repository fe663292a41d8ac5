"""What can go wrong, named for what whoever catches it does.

::

    CognitiveMemoryError
    ├── TransientError        try the same thing again later (requeue)
    │   └── BadAnswer         a model answered, but not with what was asked for
    ├── PermanentError        trying again cannot help (bury)
    ├── UnavailableError      go on with less (degrade)
    │   ├── Busy              something long is in hand; ask again soon
    │   ├── TooSlow           it was asked and did not answer in time
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
    """Worth another try later; ``retry_after`` is the other side's own wish, in seconds."""

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        """Keep the other side's wish beside the message."""
        super().__init__(message)
        self.retry_after = retry_after


class BadAnswer(TransientError):
    """A model answered, but not with what was asked for: another try counts."""


class PermanentError(CognitiveMemoryError):
    """Another try cannot help."""


class UnavailableError(CognitiveMemoryError):
    """Something is away; go on with less. ``retry_after`` is the other side's own wish, in seconds."""

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        """Keep the other side's wish beside the message."""
        super().__init__(message)
        self.retry_after = retry_after


class Busy(UnavailableError):
    """Something long is in hand: nothing is broken, and the same call may go through soon."""


class TooSlow(UnavailableError):
    """It was asked and did not answer in time: it may be at it still, and what it did may have to be paid for."""


class QueueFull(UnavailableError):
    """The queue is at its bound and took nothing."""


class StorageRefused(UnavailableError):
    """The disk refused a write; nothing half-written remains."""


class DirectoryInUse(UnavailableError):
    """Another process owns the data directory."""


class MistakeError(CognitiveMemoryError):
    """The caller asked for something that cannot be."""


class NotPermitted(MistakeError):
    """The scene may not read or change this."""


class LimitReached(MistakeError):
    """A bound that the operator set stands in the way."""


class AlreadyEvolving(MistakeError):
    """This group's beliefs are being evolved right now."""


class UnknownEvent(MistakeError):
    """No event of this id can be seen from the scene."""


class UnknownPin(MistakeError):
    """No pin of this id can be seen from the scene."""


class UnknownBelief(MistakeError):
    """No belief of this id can be seen from the scene."""


class UnknownRevision(MistakeError):
    """The profile has no revision of this id."""


class BadArgument(MistakeError, ValueError):
    """A value that no scene could accept."""
