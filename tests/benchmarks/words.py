"""Words as they are compared: what was said against what was heard, and how many of them are wrong.

Case, punctuation and hyphens do not count. A number counts as its words, however it is written: `$29` is "twenty nine
dollars", `3rd` is "third", `9:30` is "nine thirty". Nothing else is forgiven: "any more" for "anymore" is two errors.
"""

import re

UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
UNITS += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
ORDINALS |= {"twelve": "twelfth"}
MONEY = {"$": "dollars", "£": "pounds", "€": "euros"}

_MONEY = re.compile(r"([$£€])(\d[\d,]*)(?:\.(\d\d))?")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)\b")
_NUMBER = re.compile(r"\d+")
_PUNCTUATION = re.compile(r"[^\w']+|(?<!\w)'|'(?!\w)")


def plain(text: str) -> list[str]:
    """Return the words of a text as they are compared."""
    text = text.casefold().replace("’", "'").replace("%", " percent ")
    text = _MONEY.sub(lambda found: f"{found[2]} {MONEY[found[1]]} {found[3] or ''} ", text)
    text = re.sub(r"(?<=\d),(?=\d\d\d)", "", text)
    text = _ORDINAL.sub(lambda found: _ordinal(int(found[1])), text)
    text = _NUMBER.sub(lambda found: f" {_spoken(found[0])} ", text)
    return _PUNCTUATION.sub(" ", text).split()


def errors(said: list[str], heard: list[str]) -> int:
    """Return how many words were left out, put in or exchanged, at the least (Levenshtein's distance)."""
    above = list(range(len(heard) + 1))
    for row, word in enumerate(said, 1):
        line = [row]
        for column, other in enumerate(heard, 1):
            line.append(min(above[column] + 1, line[-1] + 1, above[column - 1] + (word != other)))
        above = line
    return above[-1]


def _spoken(digits: str) -> str:
    """Return a number as it is said; one with a zero in front, or beyond the thousands, figure by figure."""
    if len(digits) > 6 or (len(digits) > 1 and digits[0] == "0"):
        return " ".join(UNITS[int(digit)] for digit in digits)
    return _number(int(digits))


def _number(value: int) -> str:
    if value < 20:
        return UNITS[value]
    if value < 100:
        return f"{TENS[value // 10]} {UNITS[value % 10] if value % 10 else ''}".strip()
    size, name = (100, "hundred") if value < 1000 else (1000, "thousand")
    rest = _number(value % size) if value % size else ""
    return f"{_number(value // size)} {name} {rest}".strip()


def _ordinal(value: int) -> str:
    *before, last = _number(value).split()
    return " ".join([*before, ORDINALS.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")])
