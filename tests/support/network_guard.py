"""Refuses and records connections and name lookups beyond this machine, of a process and of its Python children.

A child loads this file alone, by the ``sitecustomize`` on its ``PYTHONPATH``: it imports only what is loaded anyway.
Not watched are programs other than Python, native code of libraries, and children started without that path; row A27
of the faults traces a life of the memory with all of these.
"""

from __future__ import annotations

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
_ADDRESSED = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getnameinfo"})
_NAMED = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_LOCAL = frozenset({"", "localhost", "::1", "::", "0.0.0.0"})
_SITECUSTOMIZE = """
import sys
sys.path.insert(0, {folder!r})
import network_guard
del sys.path[0]
network_guard.watch({record!r})
"""


class BeyondThisMachine(OSError):
    """Refuses an attempt; an OSError, as the network raises where there is none."""


def start(folder: str) -> str:
    """Watch this process and later children; ``folder`` gets what they need. Return the file of the attempts."""
    record = os.path.join(folder, "attempts.txt")  # noqa: PTH118
    for path, content in ((record, ""), (os.path.join(folder, "sitecustomize.py"), _SITECUSTOMIZE)):  # noqa: PTH118
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(content.format(folder=_HERE, record=record))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH"))))
    sys.path.append(folder)  # Chroma's child is given this process's path
    watch(record)
    return record


def watch(record: str) -> None:
    """Refuse attempts for the rest of the process; each becomes a line of the file ``record``."""

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if (host := _host(event, arguments)) is not None and not _is_local(host):
            with open(record, "a", encoding="utf-8") as file:  # noqa: PTH123
                file.write(f"{event} {host}\n")
            raise BeyondThisMachine(f"{event} {host}: tests stay on this machine")

    sys.addaudithook(refuse)


def python_path(*folders: object) -> str:
    """Return a ``PYTHONPATH`` for a child: folders, then what this process hands on, so that the child is watched."""
    return os.pathsep.join(filter(None, (*map(str, folders), os.environ.get("PYTHONPATH"))))


def _host(event: str, arguments: tuple[object, ...]) -> str | None:
    """Return the host that an event names; None for other events and for sockets without hosts."""
    if event in _ADDRESSED:
        address = arguments[-1]
        named = address[0] if isinstance(address, tuple) and address else None
    else:
        named = arguments[0] if event in _NAMED else None
        if event == "socket.getaddrinfo" and isinstance(named, str) and _is_number(named):
            return None  # no name server is asked; a connection to it is refused
    return named.decode("ascii", "replace") if isinstance(named, bytes) else named if isinstance(named, str) else None


def _is_number(host: str) -> bool:
    """Return whether a host is an IPv4 address, in any of its notations ("2852039166", "0xA9FEA9FE")."""
    try:
        sys.modules["_socket"].inet_aton(host)  # loaded: its event is being handled
    except (OSError, UnicodeError):
        return False
    return True


def _is_local(host: str) -> bool:
    return host.lower() in _LOCAL or host.startswith("127.") or host.lower().endswith(".localhost")
