"""What can go wrong when a history is turned into another SDK's form."""

from .base import HandoffkitError


class NotItems(HandoffkitError):
    """Something that is no item of a conversation stands in a history of items."""

    def __init__(self, where: str, found: object) -> None:
        kind = type(found)
        super().__init__(
            f"In {where} stands {kind.__module__}.{kind.__qualname__}; an item, and each part of its content, is a "
            "dictionary or a model of the SDK's, and its type, its role and its ids are text. Give "
            "`result.to_input_list()`, `await session.get_items()` or `session.history` as it comes; pydantic-ai "
            "messages need no conversion from items."
        )
