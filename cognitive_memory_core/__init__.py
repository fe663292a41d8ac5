"""The memory of chat bots: an asyncio library without a dependency on any bot framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .loading_on_use import loaded_on_use

if TYPE_CHECKING:
    from . import mcp_server, tools
    from .configuration import Configuration, SettingsMoved, SettingState, setting_keys, setting_meaning
    from .domain.belief import Belief, BeliefHit, BeliefPage, Change, Evolution, Suggestion
    from .domain.catch_up import CatchUp, Talk
    from .domain.context import Context, Hit, Section
    from .domain.erasure import Erasure
    from .domain.event import Event, Quote
    from .domain.figures import Activity, DayCount, Spending
    from .domain.interval import Interval
    from .domain.listing import (
        Answering,
        EventListing,
        LineListing,
        PersonEntry,
        PlaceEntry,
        PlaceListing,
        ProfileSource,
        SeenName,
    )
    from .domain.message import Backfill, Message
    from .domain.note import Memo, Pin
    from .domain.profile import Profile, ProfileHit, ProfileKey, Revision
    from .domain.quality import QualityReport
    from .domain.scope import PlaceKind, PlaceSwitch, Scene, Scope
    from .domain.turn import FailedJob, Turn
    from .env_variables import merged_settings, nested_settings
    from .errors import (
        AlreadyEvolving,
        BadArgument,
        CognitiveMemoryError,
        DirectoryInUse,
        LimitReached,
        MistakeError,
        NotPermitted,
        PermanentError,
        QueueFull,
        StorageRefused,
        TransientError,
        UnavailableError,
        UnknownBelief,
        UnknownEvent,
        UnknownPin,
        UnknownRevision,
        UnknownSuggestion,
    )
    from .memory import CognitiveMemory
    from .models.lent import LentModel
    from .prompts.preview import PromptPreview
    from .quality.rendering import report_figures, report_markdown, report_page
    from .recall.ranking import Candidate, Explanation, LineCandidate
    from .settings import (
        CaptureSettings,
        EmbeddingSettings,
        HistorianSettings,
        HttpSettings,
        ModelSettings,
        ModelsSettings,
        PinsSettings,
        ProfileSettings,
        QuerySettings,
        QueueSettings,
        Settings,
        VectorStoreSettings,
        unknown_keys,
    )
    from .status import Status
    from .stopwatches import Durations
    from .tasks import BackgroundLoop
    from .text.names import clean_name
    from .text.statements.lexicon import Offence, offences
    from .text.time.time_limits import time_limit
    from .text.time.time_words import time_window

__all__ = [
    "Activity",
    "AlreadyEvolving",
    "Answering",
    "Backfill",
    "BackgroundLoop",
    "BadArgument",
    "Belief",
    "BeliefHit",
    "BeliefPage",
    "Candidate",
    "CaptureSettings",
    "CatchUp",
    "Change",
    "CognitiveMemory",
    "CognitiveMemoryError",
    "Configuration",
    "Context",
    "DayCount",
    "DirectoryInUse",
    "Durations",
    "EmbeddingSettings",
    "Erasure",
    "Event",
    "EventListing",
    "Evolution",
    "Explanation",
    "FailedJob",
    "HistorianSettings",
    "Hit",
    "HttpSettings",
    "Interval",
    "LentModel",
    "LimitReached",
    "LineCandidate",
    "LineListing",
    "Memo",
    "Message",
    "MistakeError",
    "ModelSettings",
    "ModelsSettings",
    "NotPermitted",
    "Offence",
    "PermanentError",
    "PersonEntry",
    "Pin",
    "PinsSettings",
    "PlaceEntry",
    "PlaceKind",
    "PlaceListing",
    "PlaceSwitch",
    "Profile",
    "ProfileHit",
    "ProfileKey",
    "ProfileSettings",
    "ProfileSource",
    "PromptPreview",
    "QualityReport",
    "QuerySettings",
    "QueueFull",
    "QueueSettings",
    "Quote",
    "Revision",
    "Scene",
    "Scope",
    "Section",
    "SeenName",
    "SettingState",
    "Settings",
    "SettingsMoved",
    "Spending",
    "Status",
    "StorageRefused",
    "Suggestion",
    "Talk",
    "TransientError",
    "Turn",
    "UnavailableError",
    "UnknownBelief",
    "UnknownEvent",
    "UnknownPin",
    "UnknownRevision",
    "UnknownSuggestion",
    "VectorStoreSettings",
    "clean_name",
    "mcp_server",
    "merged_settings",
    "nested_settings",
    "offences",
    "report_figures",
    "report_markdown",
    "report_page",
    "setting_keys",
    "setting_meaning",
    "time_limit",
    "time_window",
    "tools",
    "unknown_keys",
]

__getattr__ = loaded_on_use(
    __name__,
    ("mcp_server", "tools"),
    {
        "tasks": "BackgroundLoop",
        "configuration": "Configuration SettingsMoved SettingState setting_keys setting_meaning",
        "domain.catch_up": "CatchUp Talk",
        "domain.belief": "Belief BeliefHit BeliefPage Change Evolution Suggestion",
        "domain.context": "Context Hit Section",
        "domain.erasure": "Erasure",
        "domain.event": "Event Quote",
        "domain.interval": "Interval",
        "domain.listing": (
            "Answering EventListing LineListing PersonEntry PlaceEntry PlaceListing ProfileSource SeenName"
        ),
        "domain.message": "Backfill Message",
        "domain.note": "Memo Pin",
        "domain.profile": "Profile ProfileHit ProfileKey Revision",
        "domain.quality": "QualityReport",
        "domain.scope": "PlaceKind PlaceSwitch Scene Scope",
        "domain.turn": "FailedJob Turn",
        "errors": (
            "AlreadyEvolving BadArgument CognitiveMemoryError DirectoryInUse LimitReached MistakeError "
            "NotPermitted PermanentError QueueFull StorageRefused TransientError UnavailableError "
            "UnknownBelief UnknownEvent UnknownPin UnknownRevision UnknownSuggestion"
        ),
        "memory": "CognitiveMemory",
        "models.lent": "LentModel",
        "domain.figures": "Activity DayCount Spending",
        "prompts.preview": "PromptPreview",
        "quality.rendering": "report_figures report_markdown report_page",
        "recall.ranking": "Candidate Explanation LineCandidate",
        "settings": (
            "CaptureSettings EmbeddingSettings HistorianSettings HttpSettings ModelSettings ModelsSettings "
            "PinsSettings ProfileSettings QuerySettings QueueSettings Settings VectorStoreSettings "
            "unknown_keys"
        ),
        "status": "Status",
        "stopwatches": "Durations",
        "text.names": "clean_name",
        "text.statements.lexicon": "Offence offences",
        "text.time.time_limits": "time_limit",
        "text.time.time_words": "time_window",
        "env_variables": "merged_settings nested_settings",
    },
)


def __dir__() -> list[str]:
    return __all__
