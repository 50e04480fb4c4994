"""Pictures of a log: transcript, event table, timeline. They take data and return data; all text is escaped.

matplotlib is loaded when a timeline is drawn, and not before.
"""

from .table import RawFrame, Table, table
from .timeline import Timeline, timeline
from .transcript import Transcript, transcript

__all__ = ["RawFrame", "Table", "Timeline", "Transcript", "table", "timeline", "transcript"]
