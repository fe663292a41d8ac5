"""The page of the failed jobs."""

from __future__ import annotations

from starlette.responses import Response

from .visit import PAGE, Visit


async def jobs(visit: Visit) -> Response:
    """List the failed jobs, the latest first, with what people can do about each."""
    failed = (await visit.memory.failed_jobs())[::-1]
    rows = failed[visit.offset : visit.offset + PAGE]
    places = {one.id: one.job.scope for one in rows if one.job}
    status = await visit.memory.status()
    return await visit.show(
        "jobs.html",
        rows=rows,
        places=places,
        names=await visit.names_of(places.values()),
        is_working=bool(status.jobs.pending or status.jobs.processing) and not status.paused,
        total=len(failed),
        has_more=len(failed) > visit.offset + PAGE,
        status_now=status,
    )


async def retry(visit: Visit) -> Response:
    """Queue one failed job again, or all."""
    count = await visit.memory.revive(visit.sent("id") or None)
    return visit.go("/jobs", notice=visit.words("jobs.revived", count=count))


async def pause(visit: Visit) -> Response:
    """Pause the historian if the form's ``wish`` is "pause", else let it continue."""
    if visit.sent("wish") == "pause":
        await visit.memory.pause()
    else:
        await visit.memory.resume()
    return visit.go("/jobs", notice=visit.words("people.done"))


PAGES = (("GET", "/jobs", jobs), ("POST", "/jobs/retry", retry), ("POST", "/jobs/pause", pause))
