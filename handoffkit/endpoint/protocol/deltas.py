"""How a finished text is streamed: in pieces of about a word, each padded against being guessed by its length."""

import hashlib
import re
from base64 import b64encode

_PIECE = re.compile(r"\s*\w{1,12}|\s*[^\w\s]+|\s+")
_MOST = 512  # pieces; a longer text has longer pieces
_BLOCK = 16  # characters; the service pads a delta to a multiple of it


def pieces(text: str) -> list[str]:
    """Split *text* into the deltas that it is streamed in; joined they are the text again."""
    words = _PIECE.findall(text)
    size = -(-len(words) // _MOST)
    return words if size <= 1 else ["".join(words[at : at + size]) for at in range(0, len(words), size)]


def obfuscation(delta: str, place: object) -> str:
    """Return the padding that the service sends with *delta*, letters that mean nothing; the same on every run."""
    digest = hashlib.sha256(f"{place}/{delta}".encode(errors="replace")).digest()
    return b64encode(digest, altchars=b"xy").decode()[: _BLOCK - len(delta) % _BLOCK]
