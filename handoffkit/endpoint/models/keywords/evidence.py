"""Facts in a caller's words: numbers, money, dates, times, emails, phone and order numbers, names, addresses.

Each finder takes text and returns what it found, in order. They know the common English forms and nothing else, read
no clock (so "tomorrow" stays a word), and take an ambiguous date such as 3/4/2025 for no date at all.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .lexicon import lexicon
from .words import Token, tokens

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_MONTH_WORDS = "january february march april may june july august september october november december"
_UNITS = {word: value for value, word in enumerate(_ONES.split())}
_TENS = {w: v * 10 for v, w in enumerate(_TENS_WORDS.split(), 2)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_COUNTED = {"once": 1, "twice": 2, "couple": 2, "pair": 2, "dozen": 12}
_MONTHS = {
    name[:length]: number for number, name in enumerate(_MONTH_WORDS.split(), 1) for length in (3, len(name))
} | {"sept": 9}
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_COIN = {"$": "USD", "dollar": "USD", "buck": "USD", "usd": "USD", "€": "EUR", "euro": "EUR", "eur": "EUR"} | {
    "£": "GBP", "pound": "GBP", "gbp": "GBP", "quid": "GBP", "₩": "KRW", "won": "KRW", "¥": "JPY", "yen": "JPY"
}  # fmt: skip
_EMAIL = re.compile(r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}")
_SPOKEN_EMAIL = re.compile(
    r"\b([a-z0-9._-]{1,40}(?: dot [a-z0-9]{1,40}){0,3}) at ([a-z0-9-]{1,40}(?: dot [a-z0-9]{1,40}){1,3})\b",
    re.IGNORECASE,
)
_PHONE = re.compile(r"(?<![\w-])(?:\+|\(?\d)[\d ()./-]{6,20}\d(?![\w-])")
_URL = re.compile(r"\bhttps?://[^\s<>\"']+|\bwww\.[^\s<>\"']+", re.IGNORECASE)
_REFERENCE = re.compile(
    r"#\s?(?P<hash>[A-Za-z0-9][\w-]*)|\b(?P<code>(?=[\w-]{0,30}\d)(?=[\w-]{0,30}[A-Za-z-])[A-Za-z0-9]{1,30}(?:-[A-Za-z0-9]{1,30}){0,5})\b|\b(?P<num>\d{3,})\b"
)
_ISO_DATE = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_SLASH_DATE = re.compile(r"\b(\d{1,2})[/.](\d{1,2})[/.](\d{4})\b")
_DAY_MONTH = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([A-Za-z]{3,9})\.?,? (\d{4})\b")
_MONTH_DAY = re.compile(r"\b([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b")
_TIME = re.compile(
    r"\b(\d{1,2})(?:[:.](\d{2}))?\s*(a\.?m\b\.?|p\.?m\b\.?)|\b([01]?\d|2[0-3]):([0-5]\d)\b", re.IGNORECASE
)
_WHEN = re.compile(
    rf"\b(?:(?:by|before|until) )?(?:(?:next|this|on|last|coming) "
    rf"(?:{_DAYS}|week|month|weekend|morning|afternoon|evening|year)"
    rf"|today|tonight|tomorrow(?: (?:morning|afternoon|evening|night|at noon))?|{_DAYS}|yesterday"
    r"|(?:in|within) (?:an?|\w+|a few|half an) (?:minutes?|hours?|days?|weeks?|months?|hour)"
    rf"|(?:{_MONTH_WORDS.replace(' ', '|').replace('|may|', '|')}) \d{1, 2}(?:st|nd|rd|th)?"
    r"|the \d{1,2}(?:st|nd|rd|th)(?: of \w+)?)(?: (?:at|around) \d{1,2}(?::\d{2})?(?:\s?[ap]\.?m\b)?)?\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"\b\d{1,5}[a-z]? (?:[\w'-]+ ){0,3}"
    r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|boulevard|blvd|way|court|square|place|terrace|close)\b"
    r"(?:,? (?:apartment|apt|flat|unit) \w+)?(?:, [A-Z][\w'-]+)?",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"\b(?:my (?:full )?name(?:'s| is|s)|name is|this is|i am called|call me|i'm|i am|under the name(?: of)?) "
    r"((?:[^\W\d_][\w'’.-]*)(?: [^\W\d_][\w'’-]*){0,2})",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(in|to|from|near|at|for) (?:the )?([A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2})")
_PLACE_UNMARKED = re.compile(r"\b(?:in|to|from|near) ([a-z][\w'’-]{2,})(?:[.?!,]|$| (?:today|tomorrow|now|please)\b)")


@dataclass(frozen=True, slots=True)
class Number:
    """A number that was said."""

    value: float
    start: int
    """Index of its first token."""
    end: int
    """Index after its last token."""
    currency: str = ""
    """An ISO 4217 code, if it is an amount of money."""
    unit: str = ""
    """The word after it, without a plural s (`minute`, `chair`), or empty."""


def numbers(text: str) -> list[Number]:
    """Return the numbers of *text*, in digits or in words, with what they count."""
    words, found, index = tokens(text), [], 0
    while index < len(words):
        read = _read_number(words, index)
        if read:
            found.append(_with_unit(text, words, read[0], index, read[1]))
        index = read[1] if read else index + 1
    return found


def _with_unit(text: str, words: list[Token], value: float, start: int, end: int) -> Number:
    joined = end < len(words) and not text[words[end - 1].end : words[end].start].strip(" -")
    after = words[end].text if joined else ""
    before = text[max(0, words[start].start - 4) : words[start].start].rstrip()
    sign = "" if before[:-1].rstrip()[-1:].isdigit() else before[-1:]
    trailing = text[words[end - 1].end : words[end - 1].end + 2].strip()[:1]
    unit = after[:-1] if after.endswith("s") and len(after) > 3 else after
    currency = _COIN.get(sign) or _COIN.get(trailing) or _COIN.get(unit) or ""
    return Number(-value if sign == "-" else value, start, end, currency, unit)


def _read_number(words: list[Token], index: int) -> tuple[float, int] | None:
    """Return the number that begins at *index* and the index after it, or None."""
    word = words[index].text
    if word[0].isdigit():
        value = _digits(word)
        if value is None:
            return None
        if index + 1 < len(words) and words[index + 1].text in _SCALES:
            return value * _SCALES[words[index + 1].text], index + 2
        return value, index + 1
    if word in _COUNTED:
        return float(_COUNTED[word]), index + 1
    return _number_words(words, index)


def _digits(word: str) -> float | None:
    if ":" in word or not word.isascii() or len(word) > 30:
        return None
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", word):
        return float(word.replace(",", ""))
    if re.fullmatch(r"\d+(,\d{1,2})?|\d+\.\d+", word):
        return float(word.replace(",", "."))
    return None


def _number_words(words: list[Token], start: int) -> tuple[float, int] | None:
    total, part, index = 0, 0, start
    while index < len(words):
        word = words[index].text
        value = _UNITS.get(word, _TENS.get(word))
        if value is not None and _fits(part, value):
            part += value
        elif word == "hundred" and 0 < part < 100:
            part *= 100
        elif word in ("thousand", "million") and part:
            total, part = total + part * _SCALES[word], 0
        elif not (word == "and" and part and part % 100 == 0 and _is_number_word(words, index + 1)):
            break
        index += 1
    return (float(total + part), index) if index > start else None


def _fits(part: int, value: int) -> bool:
    """Say whether *value* can follow *part* in one number: 5 after 20 does, 5 after 4 is a new number."""
    if value >= 10:
        return part % 100 == 0
    return (part % 10 == 0 and part % 100 != 10 and value > 0) or (part == 0 and value == 0)


def _is_number_word(words: list[Token], index: int) -> bool:
    return index < len(words) and (words[index].text in _UNITS or words[index].text in _TENS)


def amounts(text: str) -> list[Number]:
    """Return the amounts of money in *text*."""
    return [number for number in numbers(text) if number.currency]


def emails(text: str) -> list[str]:
    """Return the email addresses, written or spoken ("ann at mail dot com")."""
    spoken = [f"{m.group(1)}@{m.group(2)}".replace(" dot ", ".").lower() for m in _SPOKEN_EMAIL.finditer(text)]
    return _EMAIL.findall(text) + spoken


def urls(text: str) -> list[str]:
    """Return the web addresses, with `https://` before those that were said without."""
    found = [url.rstrip(".,;:!?)") for url in _URL.findall(text)]
    return [url if url.lower().startswith("http") else f"https://{url}" for url in found]


def phones(text: str) -> list[str]:
    """Return what looks like a phone number: 7 to 15 digits, as it was written or its digits as they were said."""
    written = [m.group().strip() for m in _PHONE.finditer(text) if not _ISO_DATE.search(m.group())]
    return [p for p in written if 7 <= sum(c.isdigit() for c in p) <= 15] + [
        d for d in _spelled(text) if 7 <= len(d) <= 15
    ]


def references(text: str) -> list[str]:
    """Return order numbers and other codes: `#1001`, `A-1001`, digits from three on, or digits said one by one."""
    cleaned = _EMAIL.sub(" ", _URL.sub(" ", _TIME.sub(" ", text)))
    found = [m.group("hash") or m.group("code") or m.group("num") for m in _REFERENCE.finditer(cleaned)]
    return [code for code in found if not re.fullmatch(r"\d+(st|nd|rd|th|am|pm|kg|km|x)", code, re.I)] + _spelled(text)


def _spelled(text: str) -> list[str]:
    """Return runs of three or more digits that were said one by one: "four two seven one"."""
    digits = {word: str(value) for word, value in _UNITS.items() if value < 10} | {"oh": "0"}
    runs: list[str] = []
    run = ""
    for token in [*tokens(text), Token("", 0, 0)]:
        if token.text in digits or (len(token.text) == 1 and token.text.isdigit()):
            run += digits.get(token.text, token.text)
        else:
            runs, run = ([*runs, run] if len(run) >= 3 else runs), ""
    return runs


def dates(text: str) -> list[str]:
    """Return the dates that are clear without a clock, as `YYYY-MM-DD`: those with a day, a month and a year."""
    found = [(m.start(), m.group(1), m.group(2), m.group(3)) for m in _ISO_DATE.finditer(text)]
    found += [(m.start(), m.group(3), *_day_and_month(m.group(1), m.group(2))) for m in _SLASH_DATE.finditer(text)]
    for match in _DAY_MONTH.finditer(text):
        found.append((match.start(), match.group(3), str(_MONTHS.get(match.group(2).lower(), 0)), match.group(1)))
    for match in _MONTH_DAY.finditer(text):
        found.append((match.start(), match.group(3), str(_MONTHS.get(match.group(1).lower(), 0)), match.group(2)))
    return [date for _, *parts in sorted(found) for date in _iso(*map(int, parts))]


def _day_and_month(first: str, second: str) -> tuple[str, str]:
    """Return month and day of two numbers of which one is above 12 or both are the same; else zeros."""
    if first == second or int(first) > 12 >= int(second):
        return second, first
    return (first, second) if int(second) > 12 else ("0", "0")


def _iso(year: int, month: int, day: int) -> Iterator[str]:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    longest = (0, 31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if year >= 1 and 1 <= month <= 12 and 1 <= day <= longest[month]:
        yield f"{year:04}-{month:02}-{day:02}"


def times(text: str) -> list[str]:
    """Return the times of day as `HH:MM:SS`."""
    found = []
    for match in _TIME.finditer(text):
        hour, minute = int(match.group(1) or match.group(4)), int(match.group(2) or match.group(5) or 0)
        if match.group(3):
            hour = hour % 12 + (12 if match.group(3).lower().startswith("p") else 0)
        if hour < 24 and minute < 60 and (not match.group(1) or int(match.group(1)) <= 12):
            found.append(f"{hour:02}:{minute:02}:00")
    return found


def whens(text: str) -> list[str]:
    """Return words for a day or a time, as they were said: "tomorrow", "next Thursday", "March 5"."""
    return [match.group().strip() for match in _WHEN.finditer(text)]


def addresses(text: str) -> list[str]:
    """Return street addresses with a house number in front: "12 Baker Street"."""
    return [match.group().strip(" ,") for match in _ADDRESS.finditer(text)]


def names(text: str) -> list[str]:
    """Return the names that callers give as their own ("my name is ann lee"), with capitals."""
    found = []
    for match in _NAME.finditer(text):
        sure = (
            "name" in match.group().lower() or "call me" in match.group().lower() or "called" in match.group().lower()
        )
        words = match.group(1).split()
        kept: list[str] = []
        for word in words:
            if not _may_be_name(word, sure):
                break
            kept.append(word.strip(".'’"))
        if kept:
            found.append(" ".join(word if word[0].isupper() else word.capitalize() for word in kept))
    return found


def _may_be_name(word: str, sure: bool) -> bool:
    plain = word.strip(".'’-").lower().replace("'", "").replace("’", "")
    return bool(plain) and plain not in _NOT_NAMES and (word[0].isupper() or (sure and not _is_known(plain)))


def _is_known(word: str) -> bool:
    """Say whether *word*, as it is spelled, means something to the lexicon."""
    reading = lexicon().read(word)
    return reading.words == (word,) and bool(reading.hits)


_NOT_NAME_WORDS = (
    "and the a an i im my me we you he she it its this that is am are was not no on in at from calling here speaking "
    "with about for to so but because very just still also please there what how when where who which having trying "
    "unable sorry sure happy hello hi can could would will have has had of by or if all good fine"
)
_NOT_NAMES = frozenset(_NOT_NAME_WORDS.split())


def places(text: str) -> list[str]:
    """Return words that name a place, by the preposition before them: "in Paris"; the end of "weather in paris" too."""
    marked = [match.group(2) for match in _PLACE.finditer(text) if not _calendar(match.group(2))]
    unmarked = [m.group(1) for m in _PLACE_UNMARKED.finditer(text) if not _is_known(m.group(1))]
    return marked + [word.capitalize() for word in unmarked if word not in _NOT_NAMES and not _calendar(word)]


def _calendar(words: str) -> bool:
    first = words.split()[0].lower()
    return first in _MONTHS or first in _DAYS.split("|") or first in _NOT_NAMES
