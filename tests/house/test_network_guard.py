"""Tests of the guard that keeps tests on this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.sources import ROOT

BEYOND = "import socket; socket.gethostbyname('example.com')"
REFUSED = {
    "connection": "socket.socket().connect(('192.0.2.1', 9))",
    "connection_of_ipv6": "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 9))",
    "datagram": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))",
    "name": "socket.getaddrinfo('example.com', 80)",
    "name_in_the_event_loop": "asyncio.run(asyncio.open_connection('example.com', 80))",
    "child": "run([sys.executable, '-c', BEYOND])",
    "child_of_the_vector_store": "run([sys.executable, '-c', BEYOND], env=clean_environment(os.environ, sys.path))",
    "child_with_its_own_path": "run([sys.executable, '-c', BEYOND], env={'PYTHONPATH': python_path('/nowhere')})",
}
ALLOWED = {
    "a_server": "server = socket.create_server(('127.0.0.1', 0)); socket.create_connection(server.getsockname())",
    "a_pair": "socket.socketpair()",
    "a_number": "socket.getaddrinfo('2852039166', 80)",
    "a_socket_file": "socket.socket(socket.AF_UNIX).bind('\\0' + os.urandom(8).hex())",
}
HEAD = f"""
import asyncio, contextlib, os, socket, sys
from subprocess import run
from cognitive_memory_core.vectors.chroma.process import clean_environment
from tests.support.network_guard import python_path
BEYOND = {BEYOND!r}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="socket files are POSIX's")
def test_a_test_that_reaches_beyond_this_machine_fails(tmp_path: Path) -> None:
    """A connection or lookup beyond this machine is refused and fails its test, which did not mind; children's too."""
    minded_not = "    with contextlib.suppress(OSError):\n        "
    tests = [f"def test_{name}():\n{minded_not}{attempt}" for name, attempt in REFUSED.items()]
    tests += [f"def test_{name}():\n    {attempt}" for name, attempt in ALLOWED.items()]
    (tmp_path / "test_network.py").write_text("\n".join((HEAD, *tests)), "utf-8")
    plugins = ("-p", "no:nonebug", "-p", "no:cacheprovider", "-p", "tests.conftest", "-W", "ignore::ResourceWarning")
    command = [sys.executable, "-m", "pytest", "-q", *plugins, str(tmp_path)]
    unguarded = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # it has a guard of its own
    told = subprocess.run(command, cwd=ROOT, env=unguarded, capture_output=True, text=True, check=False).stdout
    assert set(re.findall(r"^_+ ERROR at teardown of test_(\w+) _+\nreached beyond", told, re.MULTILINE)) == set(
        REFUSED
    )
    assert f"{len(REFUSED) + len(ALLOWED)} passed, {len(REFUSED)} errors" in told
