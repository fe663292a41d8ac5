"""The settings in force: those of .env, except for hot settings that were changed at run time.

Changes are stored in overrides.json in the data directory, as an object of dotted keys, and win over .env. Hot
settings take effect at once; every other one keeps its value until the next start.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from pydantic import SecretStr

from .. import sentences
from ..disk import Disk, Vanished, is_withheld
from ..domain.figures import Price
from ..errors import BadArgument, BadSetting, PermanentError, StorageRefused
from ..sentences.setting_meanings import MEANINGS
from .schema import Settings, flat_settings, setting_keys, value_at

OVERRIDES_FILE = "overrides.json"
HOT = (
    *("query", "historian", "capture", "evolution"),
    *("profile.merge_delay_seconds", "profile.merge_min_facts", "profile.merge_max_facts"),
)
CONSENT = "capture.groups", "capture.ignore_groups", "capture.ignore_users"  # who is recorded
LONGEST_VALUE = 4_000  # characters
LONGEST_NAME = 200
FIELD = "cognitive_memory"
DEFAULTS = Settings()


@dataclass(frozen=True)
class SettingState:
    """One setting for display: values are written as in .env, secrets are hidden.

    ``env_value`` is the value without the change made at run time; it equals ``value`` unless ``is_overridden``.
    """

    key: str
    value: str
    default: str
    env_value: str
    is_hot: bool
    is_overridden: bool


@dataclass(frozen=True)
class SettingsMoved:
    """The effects of a change of settings, as dotted keys.

    ``changed`` have another value now, ``waiting`` get theirs at the next start, ``shadowed`` changed in .env without
    effect because overrides.json sets them. ``problems`` are Chinese sentences on changes that were not used, and why.
    """

    changed: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    shadowed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def env_settings(variables: Mapping[str, str | None]) -> dict[str, object]:
    """Return those variables of .env or of the process that are settings of the memory, by dotted key, decoded.

    The case of the names is ignored.
    """
    found: dict[str, object] = {}
    for name, value in sorted((name.lower(), value) for name, value in variables.items() if value is not None):
        if name == FIELD and isinstance(whole := decoded(value), dict):
            found |= flat_settings(cast("Mapping[str, object]", whole))
        elif name.startswith(f"{FIELD}__"):
            key = name.removeprefix(f"{FIELD}__").replace("__", ".")
            found |= flat_settings({key: decoded(value)})
    return found


def decoded(value: str) -> object:
    """Decode a value as NoneBot decodes a line of .env: as JSON if possible, else as text."""
    try:
        return json.loads(value.strip())
    except (ValueError, RecursionError):
        return value


def setting_meaning(key: str, language: Literal["zh", "en"]) -> str:
    """Return one sentence on what a setting is for; "" if its name says it."""
    chinese, english = MEANINGS.get(key, ("", ""))
    return chinese if language == "zh" else english


def is_hot(key: str) -> bool:
    """Return whether a change of this setting takes effect without a restart."""
    return any(key == hot or key.startswith(f"{hot}.") for hot in HOT)


def with_hot(current: Settings, wanted: Settings) -> Settings:
    """Return ``current`` with its hot settings replaced by those of ``wanted``."""
    for group, _, name in (key.partition(".") for key in HOT):
        hot = getattr(wanted, group)
        if name:
            hot = getattr(current, group).model_copy(update={name: getattr(hot, name)})
        current = current.model_copy(update={group: hot})
    return current


class Configuration:
    """Settings from .env and overrides.json. Methods do blocking file I/O and must not run concurrently."""

    def __init__(self, given: Mapping[str, object], data_dir: Path | None, *, disk: Disk | None = None) -> None:
        """Read overrides.json over ``given``, the settings of .env; raises BadSetting for a bad value in ``given``."""
        self._given = flat_settings(given)
        self.path = data_dir / OVERRIDES_FILE if data_dir else None
        self._disk = disk or Disk()
        self._from_env = Settings.from_mapping(given)
        self._file: Mapping[str, object] = {}  # its content when it was last readable, with keys that cannot be used
        self._stored: dict[str, object] = {}  # those of them that can
        self.problems: tuple[str, ...] = ()
        self._load()
        self.settings = self._started = self._wanted()

    @property
    def overridden(self) -> Mapping[str, str]:
        """The overridden keys with their values, written for display."""
        return {key: written(key, value_at(self.settings, key)) for key in self._stored}

    def state(self, name: str) -> SettingState:
        """Return one setting by any spelling of its name; raises BadArgument for an unknown one."""
        key = found_key(name)
        return SettingState(
            key,
            written(key, value_at(self.settings, key)),
            written(key, value_at(DEFAULTS, key)),
            written(key, value_at(self._from_env, key)),
            is_hot(key),
            key in self._stored,
        )

    def change(self, name: str, text: str) -> SettingsMoved:
        """Set a hot setting from text and store it; raises BadArgument (unknown, not hot, bad), StorageRefused."""
        key = found_key(name)
        if len(text) > LONGEST_VALUE:
            raise BadArgument(sentences.settings.VALUE_TOO_LONG.format(key=key, limit=LONGEST_VALUE))
        wanted = decoded(text.strip())
        if wanted is None or wanted == "":
            default = written(key, value_at(DEFAULTS, key)) or "…"
            raise BadArgument(sentences.settings.BLANK_VALUE.format(key=key, default=default))
        _, new = self._checked(key, wanted)
        self._load()
        return self._store({**self._file, key: value_at(new, key)})

    def reset(self, name: str = "") -> SettingsMoved:
        """Remove the override of a setting, or all for ""; raises BadArgument for an unknown name, StorageRefused."""
        self._load()
        key = name if name in self._file or not name else found_key(name)  # one that no setting has can be reset, too
        return self._store({one: value for one, value in self._file.items() if key and one != key})

    def reload(self, given: Mapping[str, object]) -> SettingsMoved:
        """Read overrides.json again, with ``given`` as the settings of .env; a bad value in them changes nothing.

        A setting of CONSENT that is missing in ``given`` keeps its value: a file may be cut off above its line.
        """
        before, wanted, kept = self._from_env, flat_settings(given), list[str]()
        for key in CONSENT:
            if (earlier := value_at(before, key)) and wanted.get(key) in (None, ""):
                wanted[key] = earlier
                kept.append(sentences.settings.CONSENT_KEPT.format(name=sentences.settings.env_name(key)))
        try:
            self._from_env = Settings.from_mapping(wanted)
        except BadSetting as refused:
            return SettingsMoved(problems=(str(refused),))
        self._given = wanted
        self._load()
        self.problems = (*self.problems, *kept)
        return self._moved(before)

    def _moved(self, before: Settings | None = None) -> SettingsMoved:
        earlier, wanted = self.settings, self._wanted()
        self.settings = with_hot(earlier, wanted)
        hidden = _differing(before or self._from_env, self._from_env)
        return SettingsMoved(
            changed=_differing(earlier, self.settings),
            waiting=tuple(key for key in _differing(self._started, wanted) if not is_hot(key)),
            shadowed=tuple(key for key in hidden if key in self._stored),
            problems=self.problems,
        )

    def _wanted(self) -> Settings:
        return Settings.from_mapping({**self._given, **self._stored})

    def _checked(self, name: str, value: object, *, is_exact: bool = False) -> tuple[str, Settings]:
        """Return the key of a hot setting, and the settings with this value; raises BadArgument."""
        key = found_key(name)
        if not is_hot(key):
            raise BadArgument(sentences.settings.NOT_HOT.format(key=key, name=sentences.settings.env_name(key)))
        if is_exact and key != name:
            raise BadArgument(sentences.settings.unknown_setting(name, [key]))
        try:
            return key, Settings.from_mapping({**self._given, key: value})
        except BadSetting as refused:
            words = sentences.settings.BAD_CHANGE
            raise BadArgument(words.format(key=key, value=refused.value, reason=refused.reason)) from None

    def _load(self) -> None:
        """Read overrides.json and use it; if it cannot be read, keep the present overrides.

        A missing file is empty, unless there are overrides; one that the disk fails to deliver may be intact.
        """
        words, damage, self._is_withheld = sentences.settings, "", False
        content: object = {}
        try:
            content = json.loads(self._disk.read(self.path).decode("utf-8-sig")) if self.path else {}
        except Vanished:
            damage = words.NO_FILE if self._stored else ""
        except (PermanentError, StorageRefused) as unreadable:
            self._is_withheld = is_withheld(unreadable)
            damage = str(unreadable) if self._is_withheld else words.NO_READABLE_FILE
        except (ValueError, RecursionError):
            damage = words.NO_JSON
        if not isinstance(content, dict):
            damage = sentences.storage_errors.NOT_AN_OBJECT
        self._damage = damage
        if damage and (self._stored or self._is_withheld):
            self.problems = (words.OVERRIDES_WITHHELD.format(reason=damage),)
        elif damage:
            self._use({}, [words.OVERRIDES_DAMAGED.format(path=self.path, reason=damage)])
        else:
            self._use(cast("dict[str, object]", content), [])

    def _use(self, content: Mapping[str, object], problems: list[str]) -> None:
        usable: dict[str, object] = {}
        for key, value in content.items():
            try:
                self._checked(key, value, is_exact=True)
            except BadArgument as refused:
                problems.append(sentences.settings.OVERRIDE_IGNORED.format(key=key, reason=str(refused)))
            else:
                usable[key] = value
        self._file, self._stored, self.problems = content, usable, tuple(problems)

    def _store(self, content: Mapping[str, object]) -> SettingsMoved:
        """Replace overrides.json, and use its new content; a damaged file is kept under another name."""
        if self.path is None or self._is_withheld:
            raise StorageRefused(self._damage or sentences.settings.NO_DIRECTORY)
        self._disk.make_folder(self.path.parent)
        if self._damage and self._disk.find(self.path):
            self._disk.move(self.path, self.path.with_name(f"{self.path.name}.damaged"))
        self._disk.rewrite(self.path, (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode())
        self._damage = ""
        self._use(content, [])
        return self._moved()


def found_key(name: str) -> str:
    """Return the dotted key of a setting from any spelling of its name; raises BadArgument that lists similar keys."""
    keys = setting_keys()
    wanted = name.strip()[:LONGEST_NAME].lower().replace("__", ".").removeprefix(f"{FIELD}.").strip(".")
    alike = [key for key in keys if key == wanted] or [key for key in keys if key.endswith(f".{wanted}")]
    if len(alike) == 1:
        return alike[0]
    inside = [key for key in keys if key.startswith(f"{wanted}.")]
    if inside and wanted:
        raise BadArgument(sentences.settings.IS_A_GROUP.format(name=wanted, example=inside[0]))
    from difflib import get_close_matches  # noqa: PLC0415  # only for a mistyped key

    by_leaf = {key.rpartition(".")[2]: key for key in keys}
    alike_leaves = get_close_matches(wanted.rpartition(".")[2], by_leaf, 3, 0.6)
    near = alike or get_close_matches(wanted, keys, 3, 0.6) or [by_leaf[leaf] for leaf in alike_leaves]
    raise BadArgument(sentences.settings.unknown_setting(name.strip(), near))


def written(key: str, value: object) -> str:
    """Return a value as it is written in .env, "" for None; a secret is hidden."""
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value is None or value in ("", {}):
        return ""
    if sentences.settings.is_secret(key):
        return sentences.settings.HIDDEN
    return str(value) if isinstance(value, str | Price) else json.dumps(value, ensure_ascii=False)


def _differing(one: Settings, other: Settings) -> tuple[str, ...]:
    return tuple(key for key in setting_keys() if value_at(one, key) != value_at(other, key))
