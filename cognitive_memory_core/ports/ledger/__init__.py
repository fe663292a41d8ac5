"""The ledger: the source of truth for all indexes. One Protocol per noun; a missing row is None or omitted, no error.

Every method may raise StorageRefused (a write) or UnavailableError (a read). Every write is durable when it returns.
A module holds the ports of one noun; import their names from this package.
"""

from .archive import Activity, Archive, ArchiveRow, DayCount, OptOut, RowSource, Shared, Totals
from .eraser import Copy, ErasedRows, Eraser, PurgeState
from .event_vectors import Checkpoint, CheckpointBook, EmbeddedEvent, VectorChange, VectorLedger, VectorRow
from .events import EventEraser, EventLedger, FoundLine, LineSearch, TracedEvents, WordIndex
from .facts import FactBook, PendingFacts
from .listings import OperatorLists
from .messages import BoundedLog, HidingLog, MessageLog
from .missed_events import MissedBook
from .notes import NoteBook, PinBook
from .operation import LEDGER_ROWS, Accounts, ClockState, ClockStore, LedgerExamination, LedgerExaminer, Spending
from .people import MOST_ALIASES, MOST_NAMES, Alias, ConsentBook, IncognitoBook, NameBook
from .profile_index import IndexedProfile, ProfileIndex

__all__ = [
    "LEDGER_ROWS",
    "MOST_ALIASES",
    "MOST_NAMES",
    "Accounts",
    "Activity",
    "Alias",
    "Archive",
    "ArchiveRow",
    "BoundedLog",
    "Checkpoint",
    "CheckpointBook",
    "ClockState",
    "ClockStore",
    "ConsentBook",
    "Copy",
    "DayCount",
    "EmbeddedEvent",
    "ErasedRows",
    "Eraser",
    "EventEraser",
    "EventLedger",
    "FactBook",
    "FoundLine",
    "HidingLog",
    "IncognitoBook",
    "IndexedProfile",
    "LedgerExamination",
    "LedgerExaminer",
    "LineSearch",
    "MessageLog",
    "MissedBook",
    "NameBook",
    "NoteBook",
    "OperatorLists",
    "OptOut",
    "PendingFacts",
    "PinBook",
    "ProfileIndex",
    "PurgeState",
    "RowSource",
    "Shared",
    "Spending",
    "Totals",
    "TracedEvents",
    "VectorChange",
    "VectorLedger",
    "VectorRow",
    "WordIndex",
]
