"""The summary that openai-agents makes of the talk before a handoff (`nest_handoff_history`), unfolded again.

It is one message of the agent's that lists every turn, the caller's words among them, one numbered line each: a JSON
item, or `role: words` (agents 0.24, `handoffs/history.py`). Left folded, the caller's words would be an agent's.
Only a message that no service has made is taken for one: what a model writes has an id and parts, or a status.
Wrappers that were set anew (`set_conversation_history_wrappers`) are not known here; such a message stays as it is,
and `from_items` says so.
"""

import json
import re

from .files import Record

START, END = "<CONVERSATION HISTORY>", "</CONVERSATION HISTORY>"
PREAMBLES = (
    "For context, here is the conversation so far between the user and the previous agent:",
    "For context, here is the conversation so far:",
)
NOTHING = "(no previous turns recorded)"
_ROLE = re.compile(r"(user|assistant|system|developer)(?: \([^)\n]*\))?: ?(.*)", re.DOTALL)
_TYPE = re.compile(r"(\w+): (\{.*\})", re.DOTALL)


def unfolded(item: Record) -> list[Record] | None:
    """Return the items that a summary lists, in order; None if *item* is no summary, or one that cannot be read."""
    if not looks_nested(item):
        return None
    rest = item["content"].partition("\n")[2]
    if not rest.startswith(START + "\n") or not rest.endswith("\n" + END):
        return None
    body = rest[len(START) + 1 : -len(END) - 1]
    found = [_item(line) for line in _lines(body)] if body != NOTHING else []
    return None if None in found else [each for each in found if each is not None]


def looks_nested(item: Record) -> bool:
    """Say whether *item* begins as a summary does, and no service has made it."""
    content = item.get("content")
    if item.get("role") != "assistant" or set(item) - {"type", "role", "content"} or not isinstance(content, str):
        return False
    return content.partition("\n")[0] in PREAMBLES


def _lines(body: str) -> list[str]:
    """Return what stands behind the numbers 1., 2., …; a line without the next number goes on with the one before."""
    lines: list[str] = []
    for line in body.split("\n"):
        start = f"{len(lines) + 1}. "
        if line.startswith(start):
            lines.append(line.removeprefix(start))
        elif lines:
            lines[-1] += f"\n{line}"
    return lines


def _item(line: str) -> Record | None:
    if (item := _json(line)) is not None:
        return item
    if found := _ROLE.fullmatch(line):
        return {"type": "message", "role": found[1], "content": found[2]}
    if (found := _TYPE.fullmatch(line)) and (item := _json(found[2])) is not None:
        return {"type": found[1], **item}
    return None


def _json(text: str) -> Record | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
