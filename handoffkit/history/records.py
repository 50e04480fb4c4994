"""Items as plain dictionaries, whatever they came as, and what of them is not known here."""

from collections.abc import Iterable
from typing import Any

from ..errors import NotItems
from .files import Record
from .losses import Losses

_TEXTS = {"type", "role", "status", "id", "item_id", "call_id", "name", "phase", "namespace", "encrypted_content"}


def record(item: Any, where: str) -> Record:
    """Return an item, or a part of one, without its empty fields; it is a dictionary or a model of an SDK's.

    Raises:
        NotItems: It is neither, or its type, a role or an id is no text.
    """
    if isinstance(item, dict):
        found: Record = {name: value for name, value in item.items() if value is not None}
    elif hasattr(item, "model_dump"):
        found = item.model_dump(exclude_none=True)
    else:
        raise NotItems(where, item)
    for name in _TEXTS & found.keys():
        if not isinstance(found[name], str):
            raise NotItems(f"the field {name} of {where}", found[name])
    return found


def records(found: Any, where: str) -> list[Record]:
    """Return a list of parts as dictionaries; none, if there are none."""
    if found is None:
        return []
    if isinstance(found, str | bytes) or not isinstance(found, Iterable):
        raise NotItems(where, found)
    return [record(each, where) for each in found]


def note_fields(item: Record, known: set[str], where: str, losses: Losses) -> None:
    """Note the fields of *item* that are not *known*; an id that is not is one that no model reads."""
    for name in sorted(set(item) - known):
        if name in ("id", "item_id", "provider_data", "created_by"):
            losses.leave("ids of items" if name.endswith("id") else name)
        elif item[name] not in ([], {}, False):
            losses.add("unknown", where, f"its field {name} is left out")
