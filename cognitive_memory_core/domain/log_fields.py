"""The structured fields of a log line, for programs that read the log; people are never among them."""

from __future__ import annotations

from typing import Literal

from .scope import Scope

Kind = Literal["job", "rewrite", "triage", "profile", "beliefs", "part"]


def log_fields(kind: Kind, *, job_id: str = "", place: Scope | None = None, part: str = "") -> dict[str, str]:
    """Return ``extra`` of a log call: what the line is about, the job, the place, the component; "" where unknown.

    A private chat is "private" without its person.
    """
    where = "" if place is None else f"group:{place.place_id}" if place.kind == "group" else "private"
    return {"memory_kind": kind, "memory_job": job_id, "memory_place": where, "memory_part": part}
