"""Lists of items in pages, as the service cuts them."""

from collections.abc import Mapping, Sequence

from .api_error import ApiError
from .fields import one_of, wrong_type
from .items import Record


def page(items: Sequence[Record], query: Mapping[str, str]) -> Record:
    """Return one page of *items*.

    Args:
        items: All of them, oldest first, each with an `id`.
        query: `limit` (1 to 100, default 20), `order` (`asc`, or `desc`: newest first, the default), `after` (the id
            that the page begins behind).

    Raises:
        ApiError: For a limit or an order that there is not, and for an `after` that is none of the items.
    """
    order = query.get("order", "desc")
    one_of("asc", "desc")(order, "order")
    ordered = list(items) if order == "asc" else list(reversed(items))
    begin, limit = _after(ordered, query.get("after")), _limit(query.get("limit", "20"))
    return whole(ordered[begin : begin + limit], more=begin + limit < len(ordered))


def whole(data: Sequence[Record], *, more: bool = False) -> Record:
    """Return *data* as the service lists it."""
    ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {"first_id": None, "last_id": None}
    return {"object": "list", "data": list(data), **ends, "has_more": more}


def _after(ordered: list[Record], after: str | None) -> int:
    if not after:
        return 0
    for place, item in enumerate(ordered, 1):
        if item["id"] == after:
            return place
    raise ApiError(f"Item with id '{after}' not found.", status=404, param="after")


def _limit(found: str) -> int:
    if not found.isdecimal():
        raise wrong_type("limit", "an integer", found)
    number = int(found.lstrip("0")[:4] or "0")  # `int` takes no thousands of digits, and the first ones tell as well
    if not 1 <= number <= 100:
        side, sign = ("below min", ">= 1") if number < 1 else ("above max", "<= 100")
        message = f"Invalid 'limit': integer {side}imum value. Expected a value {sign}, but got {found} instead."
        raise ApiError(message, code=f"integer_{side.replace(' ', '_')}_value", param="limit")
    return number
