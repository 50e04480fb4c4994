"""Strings that a JSON schema asks for by pattern, length or format.

The patterns are those that people write for codes and names: classes, repeats, groups, alternatives, anchors, simple
look-aheads and back-references. Each string is tried against the pattern before it is used; for a pattern that needs
more (look-behinds, conditions, Unicode properties beyond letters and digits) none may be found. A few formats that
name things on the user's machine (`file-path`) cannot be told from the schema.
"""

import string
from collections.abc import Iterator, Mapping, Sequence
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from .check import compiled

_PREFERRED = "aA0" + string.ascii_letters + string.digits + "-_.,:;/@#+*=!?&%$()[]{}<>'\"|~^` "
_LONGEST = 4000
FORMATS = {
    "date": "1970-01-01",
    "date-time": "1970-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "duration": "PT0S",
    "email": "unknown@example.com",
    "idn-email": "unknown@example.com",
    "name-email": "unknown <unknown@example.com>",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "0.0.0.0",  # noqa: S104
    "ipv6": "::",
    "ipvanyaddress": "0.0.0.0",  # noqa: S104
    "ipv4network": "0.0.0.0/32",
    "ipv6network": "::/128",
    "ipvanynetwork": "0.0.0.0/32",
    "ipv4interface": "0.0.0.0/32",
    "ipv6interface": "::/128",
    "ipvanyinterface": "0.0.0.0/32",
    "uri": "https://example.com/",
    "iri": "https://example.com/",
    "uri-reference": "https://example.com/",
    "iri-reference": "https://example.com/",
    "uri-template": "https://example.com/",
    "multi-host-uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "json-pointer": "",
    "relative-json-pointer": "0",
    "regex": ".*",
    "json-string": "null",
    "path": "unknown",
    "directory-path": ".",
    "binary": "unknown",
    "byte": "",
    "base64": "",
    "base64url": "",
    "base64encoded": "",
} | {f"uuid{version}": f"00000000-0000-{version}000-8000-000000000000" for version in range(1, 9)}
"""A valid string for each format, where the conversation has none.

The first day of 1970 stands for a date that was not said: the filler has no clock.
"""


def fits(text: str, node: Mapping[str, Any]) -> bool:
    """Say whether *text* has the length and matches the pattern of a flat schema."""
    if not node.get("minLength", 0) <= len(text) <= node.get("maxLength", len(text)):
        return False
    pattern = compiled(node["pattern"]) if "pattern" in node else None
    return "pattern" not in node or (pattern is not None and pattern.search(text) is not None)


def shaped(text: str, node: Mapping[str, Any]) -> str:
    """Return *text* cut or filled up to the length of a schema, at a word where it can be, whatever its pattern."""
    low, high = node.get("minLength", 0), node.get("maxLength", max(_LONGEST, node.get("minLength", 0)))
    if len(text) > high:
        cut = text[:high]
        at_word = cut.rsplit(" ", 1)[0].rstrip(" ,;:—–-") if " " in cut and text[high] != " " else cut.rstrip()
        text = at_word if len(at_word) >= max(low, high // 2) else cut
    if len(text) < low:
        text = (text + " " + "unknown " * (low // 8 + 1))[:low] if text else ("unknown " * (low // 8 + 1))[:low]
    return text[:-1] + "." if text.endswith(" ") else text


def salted(text: str, salt: int, node: Mapping[str, Any]) -> str:
    """Return another text for each *salt*: its number stands at the end."""
    if not salt:
        return text
    mark = f" {salt + 1}" if len(text) + 4 <= node.get("maxLength", _LONGEST) else str(salt + 1)
    return text[: max(0, node.get("maxLength", _LONGEST) - len(mark))] + mark


def examples(node: Mapping[str, Any], salt: int = 0) -> Iterator[str]:
    """Yield strings that match the pattern of a schema and have its length, each tried; maybe none."""
    source = node.get("pattern", "")
    pattern = compiled(source)
    if pattern is None:
        return
    parsed = parser.parse(pattern.pattern)
    seen = set()
    for extra in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987):
        for branch in range(4):
            for ahead in (False, True):
                made = _Maker(extra, branch, ahead, salt).make(parsed)
                for text in _stretched(made, node):
                    if text not in seen and len(text) <= _LONGEST and fits(text, node):
                        seen.add(text)
                        yield text


def _stretched(text: str, node: Mapping[str, Any]) -> Iterator[str]:
    """Yield *text*, and where it is too short also with letters or digits before or after it."""
    yield text
    lacking = node.get("minLength", 0) - len(text)
    if 0 < lacking <= _LONGEST:
        yield from (text + fill * lacking for fill in "a0 ")
        yield from (fill * lacking + text for fill in "a0 ")


class _Maker:
    """Makes one string from a parsed pattern.

    Args:
        extra: How many more repeats than the fewest are made.
        branch: Which alternative is taken, counted round.
        ahead: Write what look-aheads ask for in front of the rest.
        salt: Takes another character of each class.
    """

    def __init__(self, extra: int, branch: int, ahead: bool, salt: int) -> None:
        self._extra, self._branch, self._ahead, self._salt = extra, branch, ahead, salt
        self._groups: dict[int, str] = {}
        self._made = 0

    def make(self, parsed: Sequence[Any]) -> str:
        parts = []
        for op, argument in parsed:
            if self._made > _LONGEST:
                break
            parts.append(self._part(str(op), argument))
        return "".join(parts)

    def _part(self, op: str, argument: Any) -> str:
        match op:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                self._made += 1
                return self._character(op, argument)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                low, high, inner = argument
                count = min(int(high), int(low) + self._extra, _LONGEST)
                return "".join(self.make(inner) for _ in range(count) if self._made <= _LONGEST)
            case "SUBPATTERN":
                group, _, _, inner = argument
                text = self.make(inner)
                self._groups[group or 0] = text
                return text
            case "ATOMIC_GROUP":
                return self.make(argument)
            case "BRANCH":
                branches = argument[1]
                return self.make(branches[self._branch % len(branches)])
            case "GROUPREF":
                return self._groups.get(argument, "")
            case "ASSERT":
                direction, inner = argument
                return self.make(inner) if self._ahead and direction > 0 else ""
        return ""

    def _character(self, op: str, argument: Any) -> str:
        if op == "LITERAL":
            return chr(argument)
        if op == "ANY":
            return "a"
        tests = [("NEGATE", None), ("LITERAL", argument)] if op == "NOT_LITERAL" else [(str(o), a) for o, a in argument]
        allowed = [letter for letter in _PREFERRED if _in_class(letter, tests)]
        if allowed:
            return allowed[self._salt % len(allowed)]
        first = next((a[0] if o == "RANGE" else a for o, a in tests if o in ("RANGE", "LITERAL")), ord("a"))
        return chr(first)


def _in_class(letter: str, tests: Sequence[tuple[str, Any]]) -> bool:
    negated = bool(tests) and tests[0][0] == "NEGATE"
    return negated != any(_passes(letter, op, argument) for op, argument in tests if op != "NEGATE")


def _passes(letter: str, op: str, argument: Any) -> bool:
    if op == "LITERAL":
        return ord(letter) == int(argument)
    if op == "RANGE":
        return bool(argument[0] <= ord(letter) <= argument[1])
    category = str(argument)
    test = {
        "CATEGORY_DIGIT": letter.isdigit(),
        "CATEGORY_SPACE": letter.isspace(),
        "CATEGORY_WORD": letter.isalnum() or letter == "_",
    }
    plain = category.replace("_NOT_", "_")
    return test.get(plain, False) != ("_NOT_" in category)


def other(text: str, salt: int) -> str:
    """Return another example of a format, where one digit or letter can be counted up; salt 0 gives *text*."""
    if not salt:
        return text
    for old, new in (
        ("000000000000", f"{salt:012d}"),
        ("1970-", f"{1970 + salt}-"),
        ("0.0.0.0", f"0.0.{salt // 256}.{salt % 256}"),  # noqa: S104
    ):
        if old in text:
            return text.replace(old, new)
    for old, new in (
        ("unknown", f"unknown{salt}"),
        ("https://example.com/", f"https://example.com/{salt}"),
        ("PT0S", f"PT{salt}S"),
    ):
        if old in text:
            return text.replace(old, new, 1)
    return (
        text.replace("00:00:00", f"00:{salt // 60 % 60:02}:{salt % 60:02}") if "00:00:00" in text else f"{text}{salt}"
    )
