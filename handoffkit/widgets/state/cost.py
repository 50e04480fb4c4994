"""What tokens cost, in words. Prices are genai-prices' own list, which pydantic-ai goes by, too."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

NO_COST = "no cost"
"""Of a simulation: nothing was spent."""
UNKNOWN = "price unknown"


def price(usage: Mapping[str, Any], model: str) -> Decimal | None:
    """Return US dollars for a response's tokens; None if the model is not on the list.

    Args:
        usage: As the service sends it with a response, of Realtime or of Responses.
        model: The model's name, as the service gives it.
    """
    from genai_prices import Usage, calc_price

    given, made = _part(usage, "input_token_details", "input_tokens_details"), _part(usage, "output_token_details")
    counts = {
        "input_tokens": _count(usage, "input_tokens"),
        "output_tokens": _count(usage, "output_tokens"),
        "cache_read_tokens": _count(given, "cached_tokens"),
        "input_audio_tokens": _count(given, "audio_tokens"),
        "cache_audio_read_tokens": _count(_part(given, "cached_tokens_details"), "audio_tokens"),
        "output_audio_tokens": _count(made, "audio_tokens"),
    }
    try:
        return calc_price(Usage(**counts), model, provider_id="openai").total_price
    except (LookupError, ValueError):
        return None


def in_words(cost: Decimal | None, *, simulated: bool, some_unknown: bool = False) -> str:
    """Return a cost in words: `$0.019`, `no cost` of a simulation, `price unknown`."""
    if simulated:
        return NO_COST
    if cost is None:
        return UNKNOWN
    words = f"${cost:.3f}" if cost < 1 else f"${cost:.2f}"
    words = "under $0.001" if 0 < cost < Decimal("0.0005") else words
    return f"{words} and more" if some_unknown else words


def _part(usage: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    found = next((usage[name] for name in names if isinstance(usage.get(name), Mapping)), None)
    return found if found is not None else {}


def _count(usage: Mapping[str, Any], name: str) -> int:
    found = usage.get(name)
    return found if type(found) is int and found >= 0 else 0
