"""A27: nothing that is read is run, dependencies are bounded, and nothing is sent beyond this machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import requires
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

import cognitive_memory_core as core

from ..fault_row import Extent, Row, Seen
from . import world
from .child import ROOT, command_of

DISTRIBUTION = "nonebot-plugin-cognitive-memory"
PACKAGES = ("cognitive_memory_core", "nonebot_plugin_cognitive_memory")
RULES = (  # of ruff (flake8-bandit): running what was read, shells, unsafe loaders and templates, weak hashes, no TLS
    *("S102", "S301", "S302", "S303", "S305", "S307", "S308", "S312", "S321", "S323", "S324", "S401", "S402", "S403"),
    *("S404", "S406", "S407", "S408", "S409", "S411", "S413", "S501", "S502", "S504", "S505", "S506", "S507", "S508"),
    *("S602", "S604", "S605", "S608", "S609", "S610", "S611", "S612", "S701", "S702", "S704"),
)
NO_UPPER_BOUND = frozenset({"packaging", "tzdata"})  # versioned by date, or by calendar: a bound says nothing
_ADDRESS = re.compile(r'sin6?_port=htons\((\d+)\).*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")')
_OURS = r"extra == .(dev|bench|docs|companions)\b"  # extras of those who work on it
TURNS = 12


def a27(extent: Extent) -> Row:
    """Look through the code and the dependencies; then trace what a whole life of the memory connects to."""
    found, unbounded = findings(), unbounded_dependencies()
    with tempfile.TemporaryDirectory() as scratch:
        backends = ("exact",) if extent.quick else ("exact", "chroma")
        traced = {backend: attempts(Path(scratch, backend), backend) for backend in backends}
    outside = [address for attempted in traced.values() for address in attempted]
    files = sum(1 for package in PACKAGES for _ in (ROOT / package).rglob("*.py"))
    note = f"dependencies without an upper bound {unbounded or 'none'} (by date: {', '.join(sorted(NO_UPPER_BOUND))})"
    seen = Seen(lost=len(found), files=files, rules_of_ruff=len(RULES))
    seen.update({f"connections beyond this machine, {one}": len(attempted) for one, attempted in traced.items()})
    seen.examples = [*found, *outside]
    return seen.row(files + len(traced), note, failed=unbounded or outside)


def findings() -> list[str]:
    """Return what ruff finds in both packages, with exceptions that are marked in the code left out."""
    command = [sys.executable, "-m", "ruff", "check", "--select", ",".join(RULES), "--output-format", "json", *PACKAGES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return [
        f"{Path(one['filename']).relative_to(ROOT)}:{one['location']['row']} {one['code']} {one['message']}"
        for one in json.loads(done.stdout)
    ]


def unbounded_dependencies() -> list[str]:
    """Return the dependencies of the distribution and its extras that any later version satisfies."""
    wanted = [one.partition(";")[::2] for one in requires(DISTRIBUTION) or []]
    served = [one.strip() for one, condition in wanted if not re.search(_OURS, condition)]
    names = [re.split(r"[\[><=!~; ]", one)[0] for one in served if not re.search("<|==|~=", one)]
    return [name for name in names if name not in NO_UPPER_BOUND and name != DISTRIBUTION]


def attempts(data: Path, backend: str) -> list[str]:
    """Return the addresses beyond this machine to which a life and its children tried to connect or send."""
    trace = data.with_suffix(".trace")
    environment = {**os.environ, "ANONYMIZED_TELEMETRY": "True"}  # what an unprotected chromadb would follow
    command = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o", str(trace)]
    command += command_of(live, data, backend)
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    return list(_outside(trace.read_text("utf-8", "replace")))


def _outside(trace: str) -> Iterator[str]:
    for port, four, six in _ADDRESS.findall(trace):
        if not ip_address(four or six).is_loopback:
            yield f"{four or six}:{port}"


async def live(folder: str, backend: Literal["exact", "chroma"]) -> None:
    """Use everything that reads, writes or searches, with no endpoint set."""
    data, exported = Path(folder), Path(f"{folder}.jsonl")
    settings = world.SETTINGS.model_copy(update={"vector_store": core.VectorStoreSettings(backend=backend)})
    async with core.CognitiveMemory.open(settings, data) as memory:
        for number in range(TURNS):
            await memory.observe(core.Message(f"m{number}", world.HERE, f"我喜欢第 {number} 号茶", world.NOON))
            await memory.remember(world.turn(number, world.HERE))
        await memory.drain(120)
        await memory.reindex()
        await memory.context(world.HERE, "喜欢什么茶")
        await memory.search_profiles(world.HERE, "茶")
        await memory.evolve(world.HERE)
        await memory.export(exported)
        await memory.import_(exported)
        await memory.forget_user(core.Scene.operator(), world.HERE.user_id)
