"""Hold the calls that the notebooks show as they were once, and keep them: `python tests/saved_calls.py`.

Words and times differ from processor to processor, so a notebook shows such a call from its file, and holds what the
reader's own machine hears to bounds. The sound is left out: it would be most of the course's size.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from pydantic_ai import Agent

import handoffkit as hk

ROOT = Path(__file__).resolve().parent.parent
SAVED = ROOT / "notebooks" / "saved"
LAPTOP = ROOT / "audio" / "laptop-will-not-charge"
INSTRUCTIONS = "You are a friendly, concise phone support agent. Ask one question at a time."
PATIENT = {"turn_detection": {"silence_duration_ms": 700}}
EXPLANATION = (
    "Let me explain what happens now. First I write down what you have told me. Then I look at the guarantee "
    "of your laptop. After that somebody from our workshop calls you, usually on the same day. If the charger "
    "is broken, we send you another one. If it is the battery, you can bring the laptop to us, and we change it "
    "while you wait. It is best to save your files before that. Please keep your receipt at hand, too."
)


async def a_spoken_turn() -> hk.Call:
    """Return a call of one spoken turn, at the pace of speech."""
    hk.connect()
    async with hk.Call(Agent(instructions=INSTRUCTIONS), model_settings=PATIENT) as call:
        await call.send_audio(LAPTOP / "turn-1.wav")
    return call


async def an_interruption() -> hk.Call:
    """Return a call whose caller speaks over a long reply, about three seconds into it."""
    hk.connect(model={"gpt-realtime": hk.ScriptedModel([EXPLANATION, "I see. Go on."])})
    async with hk.Call(Agent(instructions=INSTRUCTIONS), model_settings=PATIENT) as call:
        asking = asyncio.create_task(call.send_audio(LAPTOP / "turn-2.wav"))
        pieces = 0
        async for _ in hk.log().follow("response.output_audio.delta", label=call.label):
            if (pieces := pieces + 1) == 60:
                break
        await call.send_audio(LAPTOP / "turn-3.wav", over=True)
        await asking
    return call


def keep(call: hk.Call, name: str, folder: Path = SAVED) -> Path:
    """Save the events of *call*, without its sound, as the folder *name*; return that folder."""
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as whole:
        saved = call.save(Path(whole) / name)
        (target / "call.jsonl").write_bytes((saved / "call.jsonl").read_bytes())
    return target


async def main() -> None:
    print(keep(await a_spoken_turn(), "a-spoken-turn"))
    print(keep(await an_interruption(), "an-interruption"))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
