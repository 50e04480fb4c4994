"""The table of this folder's calls: what is said, by whom, how it was recorded, and the ticket that it should give.

`make.py` makes the recordings from it, and holds them to it.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Recording:
    """One call: what is said, by whom, how it was recorded, and the ticket that a person would write."""

    turns: tuple[str, ...]
    """The caller's turns, as written."""
    voice: str
    """A key of `VOICES`."""
    category: str
    """hardware, software, billing or other."""
    priority: str
    """low, medium or high."""
    mentions: tuple[str, ...]
    """What a good summary has, as the beginnings of words; of those with `|` between them any one will do."""
    why: str
    """Why the ticket is this one."""
    rate: int = 24_000
    """Frames a second in the file (Hz)."""
    channels: int = 1
    """1, or 2 for a stereo microphone that the caller sits left of."""
    noise: str | None = None
    """pink or white; None is a quiet room."""
    snr_db: float | None = None
    """The speech's level above the noise's (dB)."""
    telephone: bool = False
    """Whether the sound went through a telephone's band."""
    level_dbfs: float = -24.0
    """The level of the speech, as RMS from its first to its last sound (dB below full scale)."""
    seed: int = 1
    """Which take this is: it seeds the noise, and the chance inside a voice."""

    def words(self) -> dict[str, Any]:
        """Return what words.json says of it."""
        kept = ("turns", "voice", "rate", "channels", "noise", "snr_db", "telephone", "level_dbfs", "seed")
        return {name: value for name, value in _plain(self).items() if name in kept}

    def truth(self) -> dict[str, Any]:
        """Return what truth.json says of it."""
        return {name: _plain(self)[name] for name in ("category", "priority", "mentions", "why")}


def _plain(recording: Recording) -> dict[str, Any]:
    """Return its fields as JSON has them: lists, no tuples."""
    named: dict[str, Any] = json.loads(json.dumps(asdict(recording)))
    return named


CALLS: dict[str, Recording] = {
    "laptop-will-not-charge": Recording(
        turns=(
            "Hi there. My laptop won't charge anymore, the little light next to the plug just doesn't come on.",
            "I tried another outlet and a different cable, and it's still completely dead.",
            "It's kind of urgent, because I have a presentation tomorrow morning and all my slides are on it.",
        ),
        voice="joe",
        category="hardware",
        priority="high",
        mentions=("laptop", "charg", "presentation"),
        why="A thing that does not work, and a deadline tomorrow.",
        rate=22_050,
        level_dbfs=-23.0,
    ),
    "charged-twice": Recording(
        turns=(
            "Hello, I'm calling about my bill. You charged me twice this month, once on the third and again on the "
            "fourth.",
            "It's twenty-nine dollars both times, on the same credit card.",
            "I'd just like one of them refunded, please. I want to keep the subscription.",
        ),
        voice="nezumi",
        category="billing",
        priority="medium",
        mentions=("charg", "twice|double", "refund"),
        why="Money taken twice; no deadline, and not only a question.",
        level_dbfs=-27.0,
    ),
    "app-crashes": Recording(
        turns=(
            "Your app keeps crashing on my phone. Every time I try to upload a picture, it just closes.",
            "I've already deleted it and installed it again, and it still does the same thing.",
        ),
        voice="joe",
        category="software",
        priority="medium",
        mentions=("app", "crash"),
        why="A program that fails; the phone is fine, and nobody said that it hurries.",
        rate=16_000,
        noise="pink",
        snr_db=10.0,
        level_dbfs=-26.0,
    ),
    "junk-pickup": Recording(
        turns=(
            "Hi, I'd like to book a junk pickup. I've got an old sofa, a mattress and a broken washing machine.",
            "Next Thursday would be great, some time in the morning if you can.",
            "Everything will be out on the driveway, so nobody needs to come inside.",
        ),
        voice="alpha",
        category="other",
        priority="medium",
        mentions=("pickup|pick up", "sofa", "thursday"),
        why="A booking. The washing machine is broken, but nobody is asked to mend it.",
        rate=8_000,
        telephone=True,
        level_dbfs=-25.0,
    ),
    "wrong-address": Recording(
        turns=(
            "I think my parcel went to the wrong address. The tracking says it was delivered yesterday, but there's "
            "nothing here.",
            "I moved in October, so you might still have my old place on Maple Street.",
            "The new one is forty-two Station Road. Could you send it there, please?",
        ),
        voice="kumo",
        category="other",
        priority="medium",
        mentions=("parcel|package", "address"),
        why="A delivery; no deadline was named.",
        rate=16_000,
        noise="white",
        snr_db=10.0,
        level_dbfs=-26.0,
        seed=3,
    ),
    "two-problems": Recording(
        turns=(
            "Hello, I've got two things, actually. Our label printer has stopped working, and there's also a fee on "
            "my last invoice that I don't understand.",
            "The invoice can wait. The printer is the important one, it jams on every sheet and the orders have to go "
            "out tonight.",
        ),
        voice="gongitsune",
        category="hardware",
        priority="high",
        mentions=("printer", "invoice"),
        why="The caller says which of the two comes first: the printer, by tonight. The invoice must not be lost.",
        rate=16_000,
        level_dbfs=-30.0,
    ),
    "change-of-mind": Recording(
        turns=(
            "Hi, I bought some headphones from you and I'd like my money back.",
            "They don't make any sound on the left side.",
            "Actually, you know what, forget the refund. Could you just send me a new pair instead? There's no rush.",
        ),
        voice="pico-british",
        category="hardware",
        priority="low",
        mentions=("headphone", "new pair|replace"),
        why="It began as a refund (billing) and ended as a broken thing to replace, and the caller has time.",
        rate=16_000,
        level_dbfs=-28.0,
    ),
    "question-only": Recording(
        turns=(
            "Hi, I just have a quick question. Are you open on Saturdays?",
            "Great, that's all I wanted to know. Thank you.",
        ),
        voice="tebukuro",
        category="other",
        priority="low",
        mentions=("saturday",),
        why="A question and no trouble.",
        rate=44_100,
        channels=2,
        level_dbfs=-20.0,
    ),
    "router-drops": Recording(
        turns=(
            "My internet keeps dropping out. The router switches itself off and on again, three or four times a day.",
            "It's about two years old. I've changed the power supply, and that didn't help.",
        ),
        voice="awb",
        category="hardware",
        priority="medium",
        mentions=("router|internet",),
        why="The box itself restarts. A nuisance, not a standstill.",
        rate=16_000,
        level_dbfs=-32.0,
    ),
    "refund-never-came": Recording(
        turns=(
            "Hello. I sent a pair of boots back three weeks ago, and I still haven't got my money.",
            "The tracking says that you received them on the second of November.",
            "It was eighty-five pounds, and I paid by card.",
        ),
        voice="pico-american",
        category="billing",
        priority="medium",
        mentions=("boots", "money|refund"),
        why="Money that is owed. Boots were sent, but no delivery is the matter.",
        rate=16_000,
        level_dbfs=-29.0,
    ),
}
