"""What a tool returned, in plain words."""

import json
import re
from collections.abc import Mapping
from typing import Any

from .lexicon import lexicon
from .summary import cut
from .words import name_words

_LONGEST = 300
_FAILED = re.compile(r"^\W*(?:error|exception|failed|failure)\b|^\W*(?=an error\b|traceback\b)", re.IGNORECASE)


def spoken_result(output: str) -> str:
    """Return a sentence or two for what a tool returned: text as it is, JSON read out, errors said as such."""
    voice = lexicon().voice
    value = _decoded(output)
    if isinstance(value, dict) and set(value) == {"assistant"}:
        return str(voice["transferred"]).format(name=value["assistant"])
    failure = _failure(value)
    if failure:
        return str(voice["failed"]).format(result=_ended(cut(failure, _LONGEST)))
    if value is True or (isinstance(value, str) and value.strip().lower() in ("ok", "done", "success")):
        return str(voice["done"])
    if value in (None, False, "", [], {}):
        return str(voice["nothing"])
    return str(voice["found"]).format(result=_ended(cut(_read_out(value), _LONGEST)))


def _decoded(output: str) -> Any:
    try:
        return json.loads(output)
    except (ValueError, RecursionError):
        return output.strip()


def _failure(value: Any) -> str:
    """Return the words of an error, or an empty string."""
    if isinstance(value, str):
        return _FAILED.sub("", value, count=1).lstrip(" :,-") or value if _FAILED.match(value) else ""
    if isinstance(value, Mapping) and value.get("error"):
        error = value["error"]
        return error if isinstance(error, str) else _read_out(error)
    return ""


def _read_out(value: Any) -> str:
    """Return JSON as words: "status is shipped, and arrives is Friday"; lists as "a, b and c"."""
    if isinstance(value, Mapping):
        parts = [f"{' '.join(name_words(str(name)))} is {_read_out(inner)}" for name, inner in list(value.items())[:12]]
        return _joined(parts)
    if isinstance(value, list):
        more = f" and {len(value) - 5} more" if len(value) > 5 else ""
        return (
            _joined([_read_out(inner) for inner in value[:5]]) if not more else ", ".join(map(_read_out, value[:5]))
        ) + more
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "not known"}[value]
    return " ".join(str(value).split())


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + (" and " if parts else "") + "".join(parts[-1:])


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
