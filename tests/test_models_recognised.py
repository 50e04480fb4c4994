"""What a recogniser heard of everyday calls gets the category and the priority that a person would give.

`recognised_calls` says where the words come from. The lexicon was held against the odd half of the calls, as typed and
as recognised; of the even half only totals were looked at, so its totals are what to expect of words by this author,
and other people's will do worse. The figures are what was measured, of 32 calls each: a fall is a fault.
"""

from collections.abc import Sequence

import pytest
from everyday_calls import EverydayCall
from recognised_calls import HEARD, heard
from test_models_calls import judged

MEASURED = {
    ("typed", "-"): (32, 29),
    ("joe", "clean"): (32, 29),
    ("joe", "10dB"): (32, 29),
    ("slt", "clean"): (32, 28),
    ("slt", "10dB"): (27, 23),
    ("hibari", "clean"): (32, 29),
    ("hibari", "10dB"): (32, 29),
}
"""How many of 32 calls get both right: of those that were tuned on, and of those that were held out."""


def right(calls: Sequence[EverydayCall]) -> int:
    return sum(judged(call) == (call.category, call.priority) for call in calls)


@pytest.mark.parametrize(("voice", "noise"), MEASURED)
def test_recognised_calls_are_judged_as_a_person_would(voice: str, noise: str) -> None:
    tuned, held_out = MEASURED[voice, noise]
    assert right(heard(voice, noise, held_out=False)) >= tuned
    assert right(heard(voice, noise, held_out=True)) >= held_out


def test_the_table_has_every_call_in_every_voice() -> None:
    assert len(HEARD) == len(MEASURED) * 64
    assert {(entry.voice, entry.noise) for entry in HEARD} == set(MEASURED)


def test_the_recogniser_costs_little_beside_typed_words() -> None:
    typed = right([entry.call for entry in HEARD if entry.voice == "typed"])
    for voice, noise in MEASURED:
        spoken = right([entry.call for entry in HEARD if (entry.voice, entry.noise) == (voice, noise)])
        assert spoken >= typed - 1 or (voice, noise) == ("slt", "10dB")
