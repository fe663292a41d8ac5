"""The memory of chat bots: an asyncio library without a dependency on any bot framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .loading_on_use import loaded_on_use

if TYPE_CHECKING:
    from . import mcp_server as mcp_server
    from . import tools as tools
    from .domain.answer import Context as Context
    from .domain.answer import Hit as Hit
    from .domain.answer import Section as Section
    from .domain.belief import Belief as Belief
    from .domain.belief import BeliefHit as BeliefHit
    from .domain.belief import BeliefPage as BeliefPage
    from .domain.belief import Change as Change
    from .domain.belief import Evolution as Evolution
    from .domain.belief import Suggestion as Suggestion
    from .domain.catching_up import CatchUp as CatchUp
    from .domain.catching_up import Talk as Talk
    from .domain.consent import PlaceSwitch as PlaceSwitch
    from .domain.erasure import Erasure as Erasure
    from .domain.event import Event as Event
    from .domain.event import Quote as Quote
    from .domain.figures import Activity as Activity
    from .domain.figures import DayCount as DayCount
    from .domain.figures import Spending as Spending
    from .domain.instants import Interval as Interval
    from .domain.job import FailedJob as FailedJob
    from .domain.message import Backfill as Backfill
    from .domain.message import Message as Message
    from .domain.notes import Memo as Memo
    from .domain.notes import Pin as Pin
    from .domain.people import Alias as Alias
    from .domain.profile import Profile as Profile
    from .domain.profile import ProfileHit as ProfileHit
    from .domain.profile import ProfileKey as ProfileKey
    from .domain.profile import Revision as Revision
    from .domain.quality import QualityReport as QualityReport
    from .domain.reading import Answering as Answering
    from .domain.reading import EventListing as EventListing
    from .domain.reading import LineListing as LineListing
    from .domain.reading import PersonEntry as PersonEntry
    from .domain.reading import PlaceEntry as PlaceEntry
    from .domain.reading import PlaceListing as PlaceListing
    from .domain.reading import ProfileSource as ProfileSource
    from .domain.scope import PlaceKind as PlaceKind
    from .domain.scope import Scene as Scene
    from .domain.scope import Scope as Scope
    from .domain.turn import Turn as Turn
    from .durations import Durations as Durations
    from .errors import AlreadyEvolving as AlreadyEvolving
    from .errors import BadArgument as BadArgument
    from .errors import CognitiveMemoryError as CognitiveMemoryError
    from .errors import DirectoryInUse as DirectoryInUse
    from .errors import LimitReached as LimitReached
    from .errors import MistakeError as MistakeError
    from .errors import NotPermitted as NotPermitted
    from .errors import PermanentError as PermanentError
    from .errors import QueueFull as QueueFull
    from .errors import StorageRefused as StorageRefused
    from .errors import TransientError as TransientError
    from .errors import UnavailableError as UnavailableError
    from .errors import UnknownBelief as UnknownBelief
    from .errors import UnknownEvent as UnknownEvent
    from .errors import UnknownPin as UnknownPin
    from .errors import UnknownRevision as UnknownRevision
    from .errors import UnknownSuggestion as UnknownSuggestion
    from .memory.cognitive_memory import CognitiveMemory as CognitiveMemory
    from .memory.status import Status as Status
    from .models.lent_models import LentModel as LentModel
    from .prompts.previews import PromptPreview as PromptPreview
    from .quality.rendering import report_figures as report_figures
    from .quality.rendering import report_markdown as report_markdown
    from .recall.ranking import Candidate as Candidate
    from .recall.ranking import Explanation as Explanation
    from .settings.configuration import Configuration as Configuration
    from .settings.configuration import SettingsMoved as SettingsMoved
    from .settings.configuration import SettingState as SettingState
    from .settings.configuration import env_settings as env_settings
    from .settings.configuration import setting_meaning as setting_meaning
    from .settings.schema import CaptureSettings as CaptureSettings
    from .settings.schema import EmbeddingSettings as EmbeddingSettings
    from .settings.schema import HistorianSettings as HistorianSettings
    from .settings.schema import HttpSettings as HttpSettings
    from .settings.schema import ModelSettings as ModelSettings
    from .settings.schema import ModelsSettings as ModelsSettings
    from .settings.schema import PinsSettings as PinsSettings
    from .settings.schema import ProfileSettings as ProfileSettings
    from .settings.schema import QuerySettings as QuerySettings
    from .settings.schema import QueueSettings as QueueSettings
    from .settings.schema import Settings as Settings
    from .settings.schema import VectorStoreSettings as VectorStoreSettings
    from .settings.schema import flat_settings as flat_settings
    from .settings.schema import setting_keys as setting_keys
    from .settings.schema import unknown_keys as unknown_keys
    from .store.search.lines import FoundLine as FoundLine
    from .tasks import BackgroundLoop as BackgroundLoop
    from .text.names import clean_name as clean_name
    from .text.relative_words import Offence as Offence
    from .text.relative_words import offences as offences
    from .text.time.time_limits import time_limit as time_limit
    from .text.time.time_words import time_window as time_window
else:
    __getattr__, __all__ = loaded_on_use(
        __name__,
        ("mcp_server", "tools"),
        {
            "tasks": "BackgroundLoop",
            "durations": "Durations",
            "settings.configuration": "Configuration SettingsMoved SettingState env_settings setting_meaning",
            "domain.belief": "Belief BeliefHit BeliefPage Change Evolution Suggestion",
            "domain.erasure": "Erasure",
            "domain.event": "Event Quote",
            "domain.catching_up": "CatchUp Talk",
            "domain.reading": "Answering EventListing LineListing PersonEntry PlaceEntry PlaceListing ProfileSource",
            "domain.message": "Backfill Message",
            "domain.answer": "Context Hit Section",
            "domain.profile": "Profile ProfileHit ProfileKey Revision",
            "domain.consent": "PlaceSwitch",
            "domain.instants": "Interval",
            "domain.scope": "PlaceKind Scene Scope",
            "domain.job": "FailedJob",
            "domain.notes": "Memo Pin",
            "domain.people": "Alias",
            "domain.turn": "Turn",
            "errors": (
                "AlreadyEvolving BadArgument CognitiveMemoryError DirectoryInUse LimitReached MistakeError "
                "NotPermitted PermanentError QueueFull StorageRefused TransientError UnavailableError "
                "UnknownBelief UnknownEvent UnknownPin UnknownRevision UnknownSuggestion"
            ),
            "memory.cognitive_memory": "CognitiveMemory",
            "models.lent_models": "LentModel",
            "domain.figures": "Activity DayCount Spending",
            "domain.quality": "QualityReport",
            "prompts.previews": "PromptPreview",
            "quality.rendering": "report_figures report_markdown",
            "recall.ranking": "Candidate Explanation",
            "settings.schema": (
                "CaptureSettings EmbeddingSettings HistorianSettings HttpSettings ModelSettings ModelsSettings "
                "PinsSettings ProfileSettings QuerySettings QueueSettings Settings VectorStoreSettings "
                "flat_settings setting_keys unknown_keys"
            ),
            "memory.status": "Status",
            "store.search.lines": "FoundLine",
            "text.names": "clean_name",
            "text.relative_words": "Offence offences",
            "text.time.time_limits": "time_limit",
            "text.time.time_words": "time_window",
        },
    )

    def __dir__() -> list[str]:
        return __all__
