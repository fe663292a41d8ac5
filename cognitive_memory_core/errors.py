"""The errors of this library, grouped by what the catching code does.

::

    CognitiveMemoryError
    ├── TransientError        try the same thing again later (requeue)
    │   └── BadAnswer         a model answered, but not with what was asked for
    ├── PermanentError        trying again cannot help (bury)
    ├── UnavailableError      go on with less (degrade)
    │   ├── Busy              a long operation is running; ask again soon
    │   ├── TooSlow           the request timed out
    │   ├── ModelRefused      a provider refuses the key, the model or a parameter
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
        ├── UnknownSuggestion no such open suggestion in this scene
        └── BadArgument       a value that no scene could accept
            └── BadSetting    a setting that cannot have this value
"""

from __future__ import annotations

from . import sentences


class CognitiveMemoryError(Exception):
    """Base class of all errors that this library raises on purpose.

    ``retry_after`` is the pause in seconds that the remote side requests, None if it requests none.
    """

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        """Store message and ``retry_after``."""
        super().__init__(message)
        self.retry_after = retry_after


class TransientError(CognitiveMemoryError):
    """The operation may succeed if repeated."""


class BadAnswer(TransientError):
    """A model's answer is unusable; asking again uses up another attempt."""


class PermanentError(CognitiveMemoryError):
    """The operation will fail again if it is repeated."""


class UnavailableError(CognitiveMemoryError):
    """A component is unavailable, and the caller should go on without it."""


class Busy(UnavailableError):
    """A long operation is running; the same call may succeed soon."""


class TooSlow(UnavailableError):
    """The request timed out; it may still complete and be billed."""


class ModelRefused(UnavailableError):
    """A provider refuses the key, the model or a parameter, for ``waited`` seconds so far; an operator must act."""

    waited = 0.0


class QueueFull(UnavailableError):
    """The queue has reached its limit; nothing was written."""


class StorageRefused(UnavailableError):
    """The disk refused a write; nothing was written partly."""


class DirectoryInUse(UnavailableError):
    """Another process owns the data directory."""


class MistakeError(CognitiveMemoryError):
    """The caller's request is invalid; the same call will fail again."""


class NotPermitted(MistakeError):
    """The scene may not read or change this."""


class LimitReached(MistakeError):
    """The call would exceed a limit that the operator set."""


class AlreadyEvolving(MistakeError):
    """A run that updates the beliefs of this group is under way."""


class UnknownEvent(MistakeError):
    """The scene can read no event with this id."""


class UnknownPin(MistakeError):
    """The scene can read no pin with this id."""


class UnknownBelief(MistakeError):
    """The scene can read no belief with this id."""


class UnknownSuggestion(MistakeError):
    """The scene has no open suggestion with this id."""


class UnknownRevision(MistakeError):
    """The profile has no revision with this id."""


class BadArgument(MistakeError, ValueError):
    """An argument is invalid in every scene."""


class BadSetting(BadArgument):
    """A setting cannot have a value: its dotted ``key``, the ``value`` with secrets hidden, and the ``reason``."""

    def __init__(self, key: str, value: object, reason: str) -> None:
        """Store key, value and reason; the message says what to correct in .env."""
        words, self.key = sentences.settings, key
        self.value = words.HIDDEN if words.is_secret(key) else words.shown(value)
        self.reason = reason
        super().__init__(words.BAD_SETTING.format(name=words.env_name(key), value=self.value, reason=reason))
