"""Ids of calls as the side that they go to takes them: the same new id wherever one stands that it would refuse."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import ToolCallPart, ToolReturnPart

from .losses import Losses
from .steps import Step

RESPONSES = re.compile(r".{1,64}", re.DOTALL)
REALTIME = re.compile(r"[a-zA-Z0-9_-]{1,32}")
_LENGTH = 32  # of a new id, which both take


def with_call_ids(steps: Iterable[Step], fitting: re.Pattern[str], losses: Losses) -> Iterator[Step]:
    """Yield *steps* with new ids for the calls whose own are not *fitting*; such a call loses its item's id, too."""
    new: dict[str, str] = {}
    for step in steps:
        part: Any = step.part
        if not isinstance(part, ToolCallPart | ToolReturnPart) or fitting.fullmatch(part.tool_call_id):
            yield step
            continue
        old = part.tool_call_id
        if old not in new:
            new[old] = hashlib.sha256(old.encode(errors="replace")).hexdigest()[:_LENGTH]
            losses.add("name", step.where, f"the id of a call ({old}) is made anew, since it would be refused")
        part = replace(part, tool_call_id=new[old])
        if isinstance(part, ToolCallPart) and part.id:
            losses.leave("ids of items")  # the service would look the old call up
            part = replace(part, id=None)
        yield replace(step, part=part)
