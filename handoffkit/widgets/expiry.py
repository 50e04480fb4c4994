"""When a service ends a session: warned before, said after. Pure."""

from .troubles import Trouble, expired, expiring

WARNED = 120.0
"""Seconds before the end from which on it is said."""
_SHARE = 0.1
_LATE = 5.0  # seconds by which clocks may differ


def warning(now: float, began: float | None, expires: float | None) -> Trouble | None:
    """Return the warning that a call which is on needs now, if any.

    Args:
        now: Seconds on the log's clock.
        began: When the call began on it.
        expires: When the service ends it; None if it does not say.
    """
    if expires is None:
        return None
    whole = expires - (now if began is None else began)
    left = expires - now
    return expiring(left) if left < 0 or left < min(WARNED, _SHARE * whole) else None


def verdict(ended: float | None, expires: float | None) -> Trouble | None:
    """Return what is to be said of a call that ended at *ended*, if it was the service's clock that ended it."""
    if ended is None or expires is None or ended < expires - _LATE:
        return None
    return expired()
