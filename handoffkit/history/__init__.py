"""Conversations as messages: turns of the log as pydantic-ai's, and those as openai-agents' items and back. Pure.

`to_items` and `from_items` are for agents that read text (the Responses API), `to_session_history` and
`from_session_history` for what a `RealtimeSession` remembers, `to_seed` for a realtime session that begins with an
earlier talk. Each returns a `Converted`: the conversation, the operator's text apart from it, and every loss by name.
`KINDS` is the table of what can be lost, and why; anything else that a model could read is kept. Calls and results
that are alone are repaired in every direction, since both services refuse them.
"""

from .losses import KINDS, Converted, Loss
from .read_items import from_items
from .redaction import redacted
from .session_history import from_session_history, to_session_history
from .turns import messages
from .words import INAUDIBLE, Unanswered, caller_words, unanswered
from .write_items import to_items
from .write_seed import to_seed

__all__ = [  # noqa: RUF022 - by letters, as everywhere else here
    "Converted",
    "INAUDIBLE",
    "KINDS",
    "Loss",
    "Unanswered",
    "caller_words",
    "from_items",
    "from_session_history",
    "messages",
    "redacted",
    "to_items",
    "to_seed",
    "to_session_history",
    "unanswered",
]
