"""A Jupyter toolkit for learning and prototyping voice agents.

A notebook needs this one import. Neither SDK is loaded by it: that happens when a call or a handoff needs one.
"""

from . import audio, checks, errors
from .call import Call
from .connect import connect, disconnect, log
from .endpoint.faults import Fault
from .endpoint.models import KeywordModel, ScriptedModel, TextModel
from .endpoint.models.prompt import Reasoning, ToolCall
from .extraction.comparison import compare
from .handoff import handoff
from .log import EventLog, load, recover
from .widgets.show import panel

__all__ = [
    "Call",
    "EventLog",
    "Fault",
    "KeywordModel",
    "Reasoning",
    "ScriptedModel",
    "TextModel",
    "ToolCall",
    "audio",
    "checks",
    "compare",
    "connect",
    "disconnect",
    "errors",
    "handoff",
    "load",
    "log",
    "panel",
    "recover",
]
