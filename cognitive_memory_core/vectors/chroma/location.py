"""Where the generations of an index are, and which of them is in use. Used by the bot and by Chroma's process."""

from __future__ import annotations

import contextlib
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...disk import Disk

if TYPE_CHECKING:  # Chroma's process needs no settings
    from ...settings.schema import VectorStoreSettings

TENANT, SERVER_DATABASE = "default_tenant", "default_database"  # Chroma's, used if none is set
PORT = 8000  # Chroma's, used if the address names none
DATABASE = "chroma.sqlite3"
_NUMBER = re.compile(r"[0-9]{4,9}")


class Refusal(Exception):
    """Why a request is refused, and a detail for the message.

    "locked": another process holds the folder; "missing": chromadb cannot be imported; "gone": no such generation;
    "foreign": the database, named in the detail, holds another bot's collections; "failed": anything else.
    """

    def __init__(self, why: str, detail: str = "") -> None:
        """Keep the reason, one of the words above, and its detail."""
        super().__init__(why, detail)


@dataclass(frozen=True)
class IndexLocation:
    """A folder with a folder for each generation, or a server.

    The folder also has the file ``current``, with the number of the generation in use. All methods block.
    """

    folder: str
    url: str = ""
    tenant: str = ""
    database: str = ""
    token: str = field(default="", repr=False)

    @classmethod
    def of(cls, folder: Path, settings: VectorStoreSettings) -> IndexLocation:
        """Return the location that the settings name."""
        token = settings.token.get_secret_value()
        return cls(str(folder.absolute()), settings.url, settings.tenant, settings.database, token)

    @property
    def address(self) -> str:
        """Return the server's full address; a bare host gets Chroma's default port."""
        is_whole = "://" in self.url
        parts = urlsplit(self.url if is_whole else f"//{self.url}", "http")
        port = "" if is_whole or parts.port else f":{PORT}"
        return f"{parts.scheme}://{parts.netloc}{port}{parts.path}".rstrip("/")

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers that carry the token."""
        return {"Authorization": f"Bearer {self.token}", "X-Chroma-Token": self.token} if self.token else {}

    def number_in_use(self) -> int | None:
        """Return the number of the generation in use; None if the file is missing, unreadable or invalid."""
        try:
            with (Path(self.folder) / "current").open("rb") as opened:
                number = opened.read(80).decode("ascii").strip()
        except (OSError, ValueError):
            return None
        return int(number) if _NUMBER.fullmatch(number) else None

    def seems_in_use(self) -> bool:
        """Return whether a generation is recorded as in use and, where it is a local folder, is still there.

        No server is asked for its generations.
        """
        number = self.number_in_use()
        if number is None or self.url:
            return number is not None
        return (Path(self.folder) / f"{number:04d}" / DATABASE).is_file()

    def put_in_use(self, number: int) -> None:
        """Record durably which generation is in use; raises StorageRefused."""
        Disk().rewrite(Path(self.folder) / "current", b"%04d\n" % number)


def folders_of_generations(folder: Path) -> dict[int, Path]:
    """Return the folder of each generation that is stored here, complete or not, by number."""
    return {int(path.name): path for path in folder.iterdir() if _NUMBER.fullmatch(path.name)}


def clear_generations(folder: Path) -> None:
    """Remove every generation of the embedded store, as far as the system allows, and that one is in use; blocking.

    Vectors that will not be used again are removed because they reveal what people said.
    """
    with contextlib.suppress(OSError):
        for path in folders_of_generations(folder).values():
            (folder / "current").unlink(missing_ok=True)
            shutil.rmtree(path, ignore_errors=True)
