"""The structured fields of a log line, for programs that read the log; they never identify a person."""

from __future__ import annotations

from typing import Literal

from .scope import Scope

Kind = Literal["job", "rewrite", "triage", "profile", "beliefs", "part"]


def log_fields(kind: Kind, *, job_id: str = "", place: Scope | None = None, part: str = "") -> dict[str, str]:
    """Return the ``extra`` argument of a log call: topic, job, place and component, each "" if unknown.

    A group is written with its id; a private chat only as "private", without its person.
    """
    where = "" if place is None else f"group:{place.place_id}" if place.kind == "group" else "private"
    return {"memory_kind": kind, "memory_job": job_id, "memory_place": where, "memory_part": part}
