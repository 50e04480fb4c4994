"""What can go wrong, in words: each error says what was expected, what was found and what to do.

Every class builds its own sentence from the facts that it is given, so the same trouble reads the same everywhere.
"""

from .base import CannotWrite, HandoffkitError
from .call import (
    CallBusy,
    CallError,
    CallNotStarted,
    CallOver,
    EmptyTurn,
    NotAVoiceAgent,
    ReplyFailed,
    ReplyTimeout,
    ToolRaised,
)
from .command import CommandNotStarted, CourseFolderRefused, CourseMissing, LabMissing, NoTurns
from .connect import ConnectError, EndpointGone, NotConnected, WrongEndpoint, WrongModel
from .handoff import (
    CallIncomplete,
    ExtractionFailed,
    InaudibleTurns,
    NotAConversation,
    NotAnAgent,
    NothingSaid,
    NothingToCompare,
    ServiceFailed,
    SeveralCalls,
    UnfillableSchema,
)
from .log import (
    LogDamaged,
    LogEmpty,
    LogError,
    LogNotFound,
    LogUnknown,
    NoSuchFrame,
    NotALog,
    NothingToRecover,
    SaveRefused,
)
from .sound import NotOurSound
from .spoken import AudioBusy, NothingHeard, SpeechMissing

__all__ = [
    "AudioBusy",
    "CallBusy",
    "CallError",
    "CallIncomplete",
    "CallNotStarted",
    "CallOver",
    "CannotWrite",
    "CommandNotStarted",
    "ConnectError",
    "CourseFolderRefused",
    "CourseMissing",
    "EmptyTurn",
    "EndpointGone",
    "ExtractionFailed",
    "HandoffkitError",
    "InaudibleTurns",
    "LabMissing",
    "LogDamaged",
    "LogEmpty",
    "LogError",
    "LogNotFound",
    "LogUnknown",
    "NoSuchFrame",
    "NoTurns",
    "NotAConversation",
    "NotALog",
    "NotAVoiceAgent",
    "NotAnAgent",
    "NotConnected",
    "NotOurSound",
    "NothingHeard",
    "NothingSaid",
    "NothingToCompare",
    "NothingToRecover",
    "ReplyFailed",
    "ReplyTimeout",
    "SaveRefused",
    "ServiceFailed",
    "SeveralCalls",
    "SpeechMissing",
    "ToolRaised",
    "UnfillableSchema",
    "WrongEndpoint",
    "WrongModel",
]
