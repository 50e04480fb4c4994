"""The Realtime protocol of one session, as rules."""

from .session import Pending, RealtimeSession

__all__ = ["Pending", "RealtimeSession"]
