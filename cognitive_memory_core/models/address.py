"""Parses and checks a model's address as the operator wrote it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Protocol
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

from .. import sentences

_ENDPOINT = re.compile("/(?:embeddings|chat/completions|rerank)$")  # operators often include these
_SENDABLE = re.compile("[!-~]*")
_METADATA_HOSTS = frozenset({"metadata", "metadata.google.internal", "metadata.goog", "instance-data"})
_METADATA_ADDRESSES = frozenset({"fd00:ec2::254", "100.100.100.200", "168.63.129.16"})


class EndpointSettings(Protocol):
    """Settings with an address and a key."""

    @property
    def api_url(self) -> str:
        """Return the address."""
        ...

    @property
    def api_key(self) -> SecretStr:
        """Return the key; blank for a server that needs none."""
        ...


@dataclass(frozen=True)
class Address:
    """A model's address without a trailing slash or endpoint, its key, and its role's name in the settings."""

    role: str
    url: str
    key: SecretStr

    @classmethod
    def of(cls, settings: EndpointSettings, role: str) -> Address:
        """Build from the settings of a role such as "embedding"; never raises, see :meth:`fault`."""
        url = _ENDPOINT.sub("", settings.api_url.strip().rstrip("/"))
        return cls(role, url, SecretStr(settings.api_key.get_secret_value().strip()))

    @property
    def host(self) -> str:
        """Return the host; call this only if there is no fault."""
        return urlsplit(self.url).hostname or ""

    def fault(self) -> str:
        """Return what the operator must correct before a request can be sent; "" if nothing."""
        try:
            parts = urlsplit(self.url)
            is_whole = parts.port != 0 and _is_whole(parts)
        except ValueError:
            return sentences.models.address_unusable(self.role)
        if not is_whole or not _SENDABLE.fullmatch(self.url):
            return sentences.models.address_unusable(self.role)
        if is_forbidden(parts.hostname or ""):
            return sentences.models.address_forbidden(self.role)
        if not _SENDABLE.fullmatch(self.key.get_secret_value()):
            return sentences.models.key_unusable(self.role)
        return ""


def _is_whole(parts: SplitResult) -> bool:
    return (
        parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and not (parts.query or parts.fragment or parts.username or parts.password)
    )


def is_forbidden(host: str) -> bool:
    """Return whether a host is link-local or a cloud's metadata service, which hands out credentials."""
    host = host.rstrip(".").lower()
    if host in _METADATA_HOSTS:
        return True
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address.is_link_local or str(address) in _METADATA_ADDRESSES
