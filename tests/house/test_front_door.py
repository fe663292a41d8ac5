"""Tests of the public names and signatures, which other code depends on."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import cognitive_memory_core as core

NOUNS = {
    "Backfill",
    "Belief",
    "BeliefHit",
    "BeliefPage",
    "Change",
    "Evolution",
    "Context",
    "Erasure",
    "Event",
    "FailedJob",
    "Hit",
    "Interval",
    "LentModel",
    "Memo",
    "Message",
    "Offence",
    "Pin",
    "Profile",
    "ProfileHit",
    "ProfileKey",
    "QualityReport",
    "Quote",
    "Revision",
    "Scene",
    "Status",
    "Suggestion",
    "Turn",
}
FUNCTIONS = {"offences", "report_figures", "report_markdown", "time_limit", "time_window"}
ERRORS = {
    "AlreadyEvolving",
    "BadArgument",
    "CognitiveMemoryError",
    "DirectoryInUse",
    "LimitReached",
    "MistakeError",
    "NotPermitted",
    "PermanentError",
    "QueueFull",
    "StorageRefused",
    "TransientError",
    "UnavailableError",
    "UnknownBelief",
    "UnknownEvent",
    "UnknownPin",
    "UnknownRevision",
    "UnknownSuggestion",
}
SETTINGS = {
    "CaptureSettings",
    "Configuration",
    "EmbeddingSettings",
    "HistorianSettings",
    "HttpSettings",
    "ModelSettings",
    "ModelsSettings",
    "PinsSettings",
    "ProfileSettings",
    "QuerySettings",
    "QueueSettings",
    "SettingState",
    "Settings",
    "SettingsMoved",
    "VectorStoreSettings",
    "clean_name",
    "env_settings",
    "flat_settings",
    "setting_keys",
    "setting_meaning",
    "unknown_keys",
}
BESIDE = {  # parts of nouns, what an operator lists, and the loop that the plugin shares
    *("Activity", "Answering", "BackgroundLoop", "Candidate", "DayCount", "Durations", "EventListing", "Explanation"),
    *(
        "FoundLine",
        "LineListing",
        "PersonEntry",
        "PlaceEntry",
        "PlaceKind",
        "PlaceListing",
        "PlaceSwitch",
        "ProfileSource",
        "PromptPreview",
    ),
    *("Alias", "CatchUp", "Scope", "Section", "Spending", "Talk"),
}
NAMESPACES = {"mcp_server", "tools"}  # modules with names of their own
METHODS = {
    "observe": "(self, message)",
    "backfill": "(self, messages)",
    "remember": "(self, turn)",
    "consider": "(self, scene, messages)",
    "context": "(self, scene, query, *, budget=None, shown=None)",
    "search_events": (
        "(self, scene, query, *, user_id=None, group_id=None, kinds=(), top_k=None, time_from=None, time_to=None)"
    ),
    "get_profile": "(self, scene, entity_type, entity_id)",
    "search_profiles": "(self, scene, query, *, entity_type=None, top_k=None)",
    "profile_revisions": "(self, scene, key)",
    "restore_profile": "(self, scene, key, revision_id)",
    "edit_profile": "(self, scene, key, line, text)",
    "prompts": "(self, tried='', template='')",
    "set_sharing": "(self, user_id, shared)",
    "pin": "(self, scene, text, *, for_group=False)",
    "update_pin": "(self, scene, pin_id, text)",
    "unpin": "(self, scene, pin_id)",
    "pins": "(self, scene)",
    "memos": "(self, scene, limit=None)",
    "events": "(self, scene, *, limit=20, offset=0)",
    "catch_up": "(self, scene, *, since=None)",
    "correct_event": "(self, scene, event_id, text)",
    "forget_event": "(self, scene, event_id)",
    "restore_event": "(self, scene, event_id)",
    "forget_user": "(self, scene, user_id, *, names=())",
    "forget_scene": "(self, scene)",
    "backup": "(self, path)",
    "opt_out": "(self, user_id)",
    "opt_in": "(self, user_id)",
    "incognito": "(self, scene, minutes)",
    "set_switch": "(self, scene, switch, *, until=None)",
    "place_switch": "(self, scene)",
    "place_switches": "(self, scene)",
    "recall_message": "(self, scene, message_id)",
    "status": "(self)",
    "report": "(self, scene, *, days=30, examine=True)",
    "activity": "(self, scene, *, days=14)",
    "failed_jobs": "(self)",
    "revive": "(self, job_id=None, *, by_rules=False)",
    "pause": "(self)",
    "resume": "(self)",
    "drain": "(self, timeout)",
    "evolve": "(self, scene, *, days=1)",
    "beliefs": "(self, scene, *, status='active', limit=20, offset=0)",
    "search_beliefs": "(self, scene, query, *, limit=5, threshold=0.7)",
    "belief_history": "(self, scene, belief_id)",
    "belief_changes": "(self, scene, *, days=7)",
    "retire_belief": "(self, scene, belief_id, reason)",
    "restore_belief": "(self, scene, belief_id)",
    "reword_belief": "(self, scene, belief_id, statement)",
    "set_belief_strength": "(self, scene, belief_id, strength)",
    "suggestions": "(self, scene)",
    "decide_suggestion": "(self, scene, suggestion_id, accept)",
    "export": "(self, path, *, user_id=None, place=None, agent=None)",
    "import_": "(self, path)",
    "configure": "(self, settings)",
    "explain": "(self, scene, query, *, budget=None, settings=None)",
}


def bare(function: Callable[..., object]) -> str:
    """Return a signature without its annotations."""
    signature = inspect.signature(function)
    parameters = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def test_all_public_names_are_meant() -> None:
    """The core exports exactly the promised names, in order, and each of them exists."""
    assert list(core.__all__) == sorted(
        NOUNS | FUNCTIONS | ERRORS | SETTINGS | BESIDE | NAMESPACES | {"CognitiveMemory"}
    )
    assert all(hasattr(core, name) for name in core.__all__)


def test_the_methods_are_called_as_promised() -> None:
    """Each method of the façade is a coroutine function with the promised parameters and defaults."""
    found = {name: getattr(core.CognitiveMemory, name) for name in METHODS}
    assert {name: bare(method) for name, method in found.items()} == METHODS
    assert not [name for name, method in found.items() if not inspect.iscoroutinefunction(method)]


def test_the_memory_is_opened_as_promised() -> None:
    """A memory is opened with settings and a directory, and does background work by default."""
    parameters = inspect.signature(core.CognitiveMemory.open).parameters
    assert list(parameters)[:2] == ["settings", "data_dir"]
    assert parameters["background"].default is True
    beside = [parameter for name, parameter in parameters.items() if name not in ("settings", "data_dir")]
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in beside)
    assert {"chat", "clock", "embedder", "reranker"} <= set(parameters)


def test_nouns_are_frozen_and_can_be_injected() -> None:
    """Every public data class is frozen, and its annotations resolve at run time, as dependency injection needs."""
    nouns: dict[str, Any] = {name: getattr(core, name) for name in NOUNS}
    assert not [name for name, noun in nouns.items() if not dataclasses.is_dataclass(noun)]
    assert not [name for name, noun in nouns.items() if not noun.__dataclass_params__.frozen]
    fields = {name: {field.name for field in dataclasses.fields(noun)} for name, noun in nouns.items()}
    assert not [name for name, noun in nouns.items() if not set(get_type_hints(noun)) >= fields[name]]
