"""Any recording becomes PCM16, mono, 24000 Hz; what cannot is refused in words; what lies is not believed."""

import asyncio
import base64
import contextlib
import io
import os
import re
import selectors
import struct
import subprocess
import sys
import tracemalloc
import warnings
import wave
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handoffkit import audio, errors
from handoffkit.audio import Sound, load, pace
from handoffkit.audio.magic import known
from handoffkit.audio.player import INLINE_SECONDS, bars
from handoffkit.errors import HandoffkitError, SoundDamaged

Floats = npt.NDArray[np.floating[Any]]
RATES = (8000, 11025, 16000, 22050, 24000, 44100, 48000, 96000)
GUID = bytes.fromhex("000000001000800000AA00389B71")
INT, FLOAT, ALAW, MULAW, EXTENSIBLE = 1, 3, 6, 7, 0xFFFE


def tone(rate: int = 24000, seconds: float = 0.5, hertz: float = 440.0, amplitude: float = 0.5) -> Floats:
    return amplitude * np.sin(np.arange(round(rate * seconds)) * 2 * np.pi * hertz / rate)


def packed(values: Floats, bits: int, tag: int = INT) -> bytes:
    """Pack samples from -1 to 1 as a WAV file has them: an implementation of its own, beside the one under test."""
    if tag == FLOAT:
        return values.astype(f"<f{bits // 8}").tobytes()
    whole = [round(float(value) * (2 ** (bits - 1) - 1)) for value in values.reshape(-1)]
    if bits == 8:
        return bytes(value + 128 for value in whole)
    return b"".join(value.to_bytes(bits // 8, "little", signed=True) for value in whole)


def wav(
    data: bytes,
    rate: int = 24000,
    channels: int = 1,
    bits: int = 16,
    tag: int = INT,
    *,
    size: int | None = None,
    frame: int | None = None,
    speed: int | None = None,
    before: bytes = b"",
    after: bytes = b"",
    extensible: bool = False,
) -> bytes:
    """Write a WAV file that says what it is told to say, true or not."""
    frame = channels * bits // 8 if frame is None else frame
    speed = rate * frame if speed is None else speed
    head = struct.pack("<HHIIHH", EXTENSIBLE if extensible else tag, channels, rate, speed, frame, bits)
    if extensible:
        head += struct.pack("<HHIH", 22, bits, 0, tag) + GUID
    parts = b"WAVE" + chunk(b"fmt ", head) + before
    parts += b"data" + struct.pack("<I", len(data) if size is None else size) + data + after
    return b"RIFF" + struct.pack("<I", len(parts)) + parts


def chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def samples(sound: Sound) -> Floats:
    return np.frombuffer(sound.pcm, "<i2") / 32768


def spectrum(sound: Sound) -> tuple[Floats, Floats]:
    """Return Hz and dB relative to a tone of full scale."""
    values = samples(sound)
    window = np.hanning(len(values))
    share = np.abs(np.fft.rfft(values * window)) / window.sum() * 2
    return np.fft.rfftfreq(len(values), 1 / 24000), 20 * np.log10(share + 1e-9)


def silently(source: Any, **options: Any) -> Sound:
    """Load without allowing a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load(source, **options)


# What is loaded


@settings(deadline=None)
@given(
    rate=st.integers(1000, 384_000),
    frames=st.integers(60, 3000),
    channels=st.integers(1, 9),
    kind=st.sampled_from([(8, INT), (16, INT), (24, INT), (32, INT), (32, FLOAT), (64, FLOAT)]),
    extensible=st.booleans(),
)
def test_any_wav_comes_back_with_its_duration(
    rate: int, frames: int, channels: int, kind: tuple[int, int], extensible: bool
) -> None:
    values = np.tile(np.linspace(-0.5, 0.5, frames)[:, None], (1, channels))
    sound = silently(wav(packed(values, *kind), rate, channels, *kind, extensible=extensible))
    assert abs(sound.seconds - frames / rate) <= 0.001
    assert sound.peak < -4  # half of full scale, and what a filter adds at an edge
    assert sound.found.startswith(f"{rate} Hz, {kind[0]} bit")


@settings(deadline=None)
@given(width=st.sampled_from([1, 2, 3, 4]), channels=st.integers(1, 4), rate=st.sampled_from(RATES))
def test_what_the_standard_library_writes_is_read(width: int, channels: int, rate: int) -> None:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((channels, width, rate, 0, "NONE", ""))
        writer.writeframes(packed(np.repeat(tone(rate, 0.2), channels), 8 * width))
    sound = silently(file.getvalue())
    assert abs(sound.ms - 200) <= 1
    assert abs(sound.level - -9.03) < 0.2  # a sine of half the amplitude


@pytest.mark.parametrize("rate", RATES)
def test_a_tone_keeps_its_pitch_and_level(rate: int) -> None:
    hertz, level = spectrum(silently(wav(packed(tone(rate, 2.0), 16), rate)))
    assert abs(hertz[level.argmax()] - 440) < 1
    assert abs(level.max() - -6.02) < 0.1


def test_a_tone_that_24000_hz_cannot_hold_leaves_nothing_behind() -> None:
    values = tone(48000, 2.0, 15_000, 0.9) * np.hanning(96_000)
    hertz, level = spectrum(silently(wav(packed(values, 24), 48000, bits=24)))
    assert level.max() < -60, f"{hertz[level.argmax()]} Hz"


@settings(deadline=None)
@given(data=st.binary(min_size=2, max_size=400))
def test_our_own_form_is_kept_to_the_bit(data: bytes) -> None:
    data = data[: len(data) // 2 * 2]
    assert load(wav(data)).pcm == data
    assert load(np.frombuffer(data, "<i2")).pcm == data
    if not known(data):
        assert load(data).pcm == data


def test_channels_are_averaged() -> None:
    stereo = np.stack([np.full(2400, 0.5), np.full(2400, -0.1)], axis=1)
    for sound in (silently(wav(packed(stereo, 32, FLOAT), 24000, 2, 32, FLOAT)), silently(stereo)):
        assert samples(sound) == pytest.approx(np.full(2400, 0.2), abs=1e-4)
        assert sound.found.endswith("stereo")


def test_one_piece_follows_another_without_a_seam() -> None:
    values = tone(44100, 30.0, 1000)
    sound = silently(wav(packed(np.repeat(values, 2).reshape(-1, 2), 32, FLOAT), 44100, 2, 32, FLOAT))  # 10 MB
    assert sound.seconds == 30
    second = slice(24_000, -24_000)
    assert np.abs(samples(sound) - tone(24000, 30.0, 1000))[second].max() < 2e-4


@pytest.mark.parametrize(
    ("tag", "codes", "expected"),
    [
        (MULAW, b"\xff\x7f\x80\x00\x8f\xf0", [0, 0, 32124, -32124, 16764, 120]),
        (ALAW, b"\xd5\x55\xaa\x2a\x80\x90", [8, -8, 32256, -32256, 5504, 2752]),
    ],
)
def test_telephone_codes_are_the_numbers_of_g711(tag: int, codes: bytes, expected: list[int]) -> None:
    sound = silently(wav(codes, bits=8, tag=tag))
    assert np.frombuffer(sound.pcm, "<i2").tolist() == expected
    assert sound.found == f"24000 Hz, 8 bit {'A-law' if tag == ALAW else 'µ-law'}, mono"


@pytest.mark.parametrize("tag", [ALAW, MULAW])
def test_every_telephone_code_has_a_partner_of_the_other_sign(tag: int) -> None:
    values = np.frombuffer(silently(wav(bytes(range(256)), bits=8, tag=tag)).pcm, "<i2").astype(int)
    assert values[:128].tolist() == (-values[128:]).tolist()
    assert len(set(values.tolist())) == (256 if tag == ALAW else 255)


def test_24_bits_may_lie_in_32() -> None:
    data = packed(tone(), 32)
    assert silently(wav(data, bits=24, frame=4)).pcm == silently(wav(data, bits=32)).pcm


def test_other_parts_of_a_file_are_passed_over() -> None:
    data = packed(tone(), 16)
    other = chunk(b"LIST", b"INFOISFT" + b"x" * 101) + chunk(b"fact", b"\0\0\0\0")
    assert silently(wav(data, before=other, after=chunk(b"LIST", b"odd"))).pcm == data


def test_a_long_file_of_another_generation_is_read() -> None:
    data = packed(tone(), 16)
    sizes = chunk(b"ds64", struct.pack("<QQQI", 0, len(data), 0, 0))
    plain = wav(data, size=0xFFFFFFFF, after=chunk(b"LIST", b"INFO"))
    assert silently(b"RF64\xff\xff\xff\xffWAVE" + sizes + plain[12:]).pcm == data


def test_a_path_is_a_str_or_a_path_and_gives_its_name(tmp_path: Path) -> None:
    path = tmp_path / "turn-1.wav"
    path.write_bytes(wav(packed(tone(44100), 16), 44100))
    for source in (path, str(path)):
        sound = silently(source)
        assert (sound.name, sound.found, sound.ms) == ("turn-1.wav", "44100 Hz, 16 bit, mono", 500)
    assert load(sound) is sound


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_of_every_kind_are_pcm_of_the_rate_that_is_named(kind: Any) -> None:
    sound = silently(kind(packed(tone(16000), 16)), sample_rate=16000)
    assert (sound.ms, sound.name, sound.found) == (500, "bytes", "16000 Hz, 16 bit, mono")


# Arrays


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", ">f4", "int16", "int32", "int8", "uint8", ">i2"])
def test_an_array_of_any_kind_is_the_same_sound(kind: str) -> None:
    values = tone()
    full = {"int16": 32767, "int32": 2**31 - 1, "int8": 127, "uint8": 127, ">i2": 32767}.get(kind, 1)
    array = (values * full + (128 if kind == "uint8" else 0)).astype(kind)
    assert samples(silently(array)) == pytest.approx(values, abs=0.02)


@pytest.mark.parametrize("shape", [(1000,), (1000, 1), (1, 1000), (1000, 2), (2, 1000), (8, 1000), (1000, 8), (3, 1)])
def test_an_array_may_stand_upright_or_lie(shape: tuple[int, ...]) -> None:
    sound = silently(np.full(shape, 0.25))
    assert samples(sound).tolist() == [0.25] * max(shape)


def test_plain_numbers_are_taken_by_what_they_are() -> None:
    assert silently([0.0, 0.5, -0.5]).pcm == struct.pack("<3h", 0, 16384, -16384)
    assert silently([0, 16384, -16384]).pcm == struct.pack("<3h", 0, 16384, -16384)
    assert silently((0.5,) * 3, sample_rate=24000.0).ms == 0


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (np.zeros((4, 100, 2)), r"the shape \(4, 100, 2\)"),
        (np.zeros((9, 9)), r"the shape \(9, 9\)"),
        (np.zeros((2, 2)), r"the shape \(2, 2\)"),
        (np.array(0.5), r"the shape \(\)"),
        (3, r"the shape \(\)"),
        (np.zeros(4, complex), "complex128"),
        (np.zeros(4, bool), "bool"),
        (np.zeros(4, "uint16"), "uint16 from 0 to 0"),
        (np.array([0, 70000]), r"int64 from 0 to 70000.*astype\('int16'\)"),
        (["a", "b"], "list, as an array of <U1"),
        (None, "NoneType"),
        ([[1.0], [1.0, 2.0]], "list that is no array"),
        (iter([0.1]), "iterator"),
        ([0.1, float("nan"), float("inf")], r"2 numbers that are NaN or infinite.*nan_to_num"),
        (np.array([0.0, 12000.0]), r"floats up to 12000\. If they are PCM16"),
    ],
)
def test_an_array_that_is_no_sound_is_refused(source: Any, words: str) -> None:
    with pytest.raises(errors.BadArray, match=words) as caught:
        load(source)
    assert str(caught.value).startswith("Sound is floats from -1 to 1 or integers")


def test_what_refuses_to_become_an_array_is_refused() -> None:
    class Strange:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("no")

    with pytest.raises(errors.BadArray, match=r"Strange that is no array \(no\)"):
        load(Strange())


@pytest.mark.parametrize("source", [[], np.zeros((0, 2)), b"", b"\0", bytearray()])
def test_no_sound_is_said_to_be_none(source: Any) -> None:
    with pytest.raises(errors.SoundEmpty, match="There is no sound in"):
        load(source)


def test_floats_that_are_a_little_too_loud_are_cut_off_and_said() -> None:
    with pytest.warns(SoundDamaged, match=r"its loudest sample is 1\.50 times what fits"):
        sound = load([0.0, 1.5, -1.5])
    assert sound.pcm == struct.pack("<3h", 0, 32767, -32768)


@pytest.mark.parametrize("rate", [0, -1, 999, 384_001, True, 44100.5, "44100", 10**30])
def test_a_sample_rate_that_no_recording_has_is_refused(rate: Any) -> None:
    with pytest.raises(errors.WrongSampleRate, match=re.escape(f"from 1000 to 384000; found {rate!r}")):
        load(np.zeros(100), sample_rate=rate)


def test_a_wav_says_its_own_sample_rate() -> None:
    data = wav(packed(tone(44100), 16), 44100)
    assert silently(data, sample_rate=44100).ms == 500
    with pytest.raises(errors.SampleRateTwice, match="44100 Hz, and sample_rate=16000 says otherwise"):
        load(data, sample_rate=16000)


# Files that are none


def test_a_missing_file_is_answered_with_those_that_are_near(tmp_path: Path) -> None:
    with pytest.raises(errors.SoundNotFound, match="that folder has no WAV file"):
        load(tmp_path / "turn-1.wav")
    for name in ("turn-1.wav", "turn-2.WAV", "other.wav", "turn-1.txt"):
        (tmp_path / name).touch()
    with pytest.raises(errors.SoundNotFound, match=r"that folder has 'turn-1\.wav'.*Give the path"):
        load(tmp_path / "turn1.wav")
    with pytest.raises(errors.SoundNotFound, match=r"has 'other\.wav', 'turn-1\.wav', 'turn-2\.WAV'"):
        load(tmp_path / "zzz")
    with pytest.raises(errors.SoundNotFound, match="there is not even that folder"):
        load(tmp_path / "nowhere" / "turn-1.wav")
    with pytest.raises(errors.SoundNotFound):
        load("a\0b")


def test_what_is_no_ordinary_file_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(errors.SoundUnreadable, match=r"it is a folder.*sources\.folder"):
        load(tmp_path)
    with pytest.raises(errors.SoundUnreadable, match="too long"):
        load("My laptop does not charge. " * 40)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.wav")
        with pytest.raises(errors.SoundUnreadable, match="no ordinary file"):
            load(tmp_path / "pipe.wav")


def test_a_file_that_may_not_be_read_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "turn.wav").touch()

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # root may read everything, so the mode of the file would not do
    with pytest.raises(errors.SoundUnreadable, match="Permission denied"):
        load(tmp_path / "turn.wav")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"ID3\x04rest", "an MP3 file"),
        (b"\xff\xfb\x90\x64" + b"\0" * 40, "an MP3 or AAC file"),
        (b"OggS\0\2", "an Ogg file"),
        (b"fLaC\0\0\0\x22", "a FLAC file"),
        (b"\0\0\0\x20ftypM4A ", "an M4A or MP4 file"),
        (b"\x1aE\xdf\xa3rest", "a WebM or Matroska file"),
        (b"FORM\0\0\0\x08AIFF", "an AIFF file"),
        (b"RIFX\0\0\0\0WAVE", "the other way round"),
        (b"RIFF\0\0\0\0AVI LIST", "a RIFF file of another kind"),
        (b"RIFF", "a RIFF file of another kind, or one that is cut off"),
        (b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
        ("Guten Tag, wie geht’s?".encode() * 100, "a text file"),
        (b"\0" * 4000, "a file of zeros"),
        (b"\x93NUMPY\x01\0", "a file of unknown kind"),
    ],
)
def test_another_kind_of_file_is_named(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "turn.wav"
    path.write_bytes(data)
    with pytest.raises(errors.NotAWav, match=words) as caught:
        load(path)
    assert "ffmpeg -i IN -ar 24000 -ac 1 -c:a pcm_s16le OUT.wav" in str(caught.value)


@pytest.mark.parametrize("data", [b"ID3\x04rest", b"OggS\0\2", b"fLaC", b"\0\0\0\x20ftypM4A ", b"\x1aE\xdf\xa3"])
def test_bytes_of_another_kind_are_not_played_as_noise(data: bytes) -> None:
    with pytest.raises(errors.NotAWav, match="'bytes' should be a WAV file"):
        load(data)


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "turn.wav"
    path.touch()
    with pytest.raises(errors.SoundEmpty, match="it has 0 bytes"):
        load(path)


@pytest.mark.parametrize(
    "data",
    [wav(b""), wav(b"", after=chunk(b"LIST", b"INFO")), wav(b"\1"), wav(b"")[:-8], wav(b"\0\0" * 3, 384_000)],
)
def test_a_wav_without_sound_is_said_to_have_none(data: bytes) -> None:
    with pytest.raises(errors.SoundEmpty, match="There is no sound in 'bytes'"):
        load(data)


@pytest.mark.parametrize(
    ("tag", "bits", "words"),
    [
        (2, 4, "ADPCM"),
        (0x11, 4, "ADPCM"),
        (0x55, 0, "MP3"),
        (0x1234, 16, "the format 0x1234"),
        (INT, 0, "0 bit int"),
        (INT, 64, "64 bit int"),
        (FLOAT, 16, "16 bit float"),
        (MULAW, 16, "16 bit µ-law"),
    ],
)
def test_an_encoding_that_is_not_read_is_named(tag: int, bits: int, words: str) -> None:
    with pytest.raises(errors.UnknownEncoding, match=f"a WAV file with {words} in it"):
        load(wav(bytes(100), bits=bits, tag=tag))


# Headers that lie


def test_a_file_that_was_cut_off_gives_what_is_there() -> None:
    data = packed(tone(), 16)
    with pytest.warns(SoundDamaged, match=r"it was cut off, and 1\.5 s of its sound are missing") as caught:
        sound = load(wav(data, size=len(data) + 72_000))
    assert sound.pcm == data
    assert caught.pop(SoundDamaged).filename == __file__


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF000, 0xFFFFFFFF - 36])
def test_a_length_that_a_pipe_could_not_know_is_taken_from_the_file(size: int) -> None:
    data = packed(tone(), 16)
    assert silently(wav(data, size=size)).pcm == data


def test_sound_that_the_header_does_not_count_is_reported() -> None:
    data = packed(tone(), 16)
    with pytest.warns(SoundDamaged, match="after its sound there are 23600 bytes"):
        assert load(wav(data, size=400)).pcm == data[:400]


@pytest.mark.parametrize(("frame", "speed"), [(4, None), (0, 0), (3, 7), (65535, 1)])
def test_a_block_that_contradicts_the_width_is_not_believed(frame: int, speed: int | None) -> None:
    data = packed(tone(), 16)
    with pytest.warns(SoundDamaged, match="its header contradicts itself, so it was read as 16 bit"):
        assert load(wav(data, frame=frame, speed=speed)).pcm == data


def test_a_wrong_byte_rate_alone_does_no_harm() -> None:
    assert silently(wav(packed(tone(), 16), speed=1)).ms == 500


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (wav(bytes(100), channels=0, frame=0), "0 channels"),
        (wav(bytes(100), rate=0), "0 Hz"),
        (wav(bytes(100), before=b"LIST\xff\xff\xff\xff"), "its part 'LIST' claims 4294967295 bytes"),
        (b"RIFF\0\0\0\0WAVEdata\4\0\0\0\1\0\2\0", "its format takes 0 bytes"),
        (b"RIFF\0\0\0\0WAVEfmt \2\0\0\0\1\0data\4\0\0\0\1\0\2\0", "its format takes 2 bytes"),
        (wav(packed(np.array([30000.0]), 32, FLOAT), bits=32, tag=FLOAT), r"floats up to 1, and reach 3e\+04"),
    ],
)
def test_a_header_that_cannot_be_true_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(errors.BadHeader, match=f"cannot be true: .*{words}"):
        load(data)


@pytest.mark.parametrize("rate", [1, 999, 384_001, 2**32 - 1])
def test_a_wav_of_an_impossible_rate_is_refused(rate: int) -> None:
    with pytest.raises(errors.WrongSampleRate, match=f"found {rate}"):
        load(wav(bytes(100), rate, speed=1))


def test_half_a_sample_at_the_end_is_left_out() -> None:
    data = packed(tone(), 16)
    assert silently(wav(data + b"\1")).pcm == data
    with pytest.warns(SoundDamaged, match="its last byte is half a sample"):
        assert load(data + b"\1").pcm == data


def test_numbers_that_are_none_become_quiet_and_are_counted() -> None:
    values = np.array([0.5, np.nan, np.inf, -np.inf, 0.25])
    with pytest.warns(SoundDamaged, match="3 of its samples are no numbers"):
        sound = load(wav(packed(values, 64, FLOAT), bits=64, tag=FLOAT))
    assert samples(sound).tolist() == [0.5, 0, 0, 0, 0.25]


def test_a_recording_is_at_most_ten_minutes_long(tmp_path: Path) -> None:
    assert audio.MAX_SECONDS == 600
    path = tmp_path / "meeting.wav"
    with path.open("wb") as file:  # with a hole in it: 20 minutes that take no room
        file.write(wav(b"", size=20 * 60 * 48_000))
        file.truncate(44 + 20 * 60 * 48_000)
    with pytest.raises(errors.SoundTooLong, match=r"'meeting\.wav' lasts 20\.0 minutes; .* at most 10\. Cut it"):
        load(path)
    for source in (np.broadcast_to(0.0, (10**12,)), bytes(601 * 2000)):
        with pytest.raises(errors.SoundTooLong):
            load(source, sample_rate=1000)


def test_a_header_that_claims_four_gigabytes_takes_no_memory_for_them() -> None:
    plain = wav(bytes(4800))
    lies = [
        wav(bytes(4800), size=0xFFFFFFFE),
        wav(bytes(4800), channels=65535, size=0xFFFFFFFE, frame=65535, bits=32),
        wav(bytes(4800), before=b"LIST\xf0\xff\xff\xff"),
        plain.replace(struct.pack("<I", 16), struct.pack("<I", 0xFFFFFFF0)),
        b"RF64\xff\xff\xff\xffWAVE" + chunk(b"ds64", b"\xff" * 28) + wav(bytes(4800), size=0xFFFFFFFF)[12:],
    ]
    load(plain)  # so that what is imported is not counted
    tracemalloc.start()
    try:
        for lie in lies:
            try:
                assert len(load(lie).pcm) <= 4800
            except HandoffkitError:
                continue
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


# Whatever comes


def only_our_errors(data: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SoundDamaged)
        try:
            sound = load(data)
        except HandoffkitError:
            return
        assert 0 < len(sound.pcm) <= len(data) * 24 * 2 + 4096  # one-byte samples at 1000 Hz grow the most


@settings(deadline=None)
@given(data=st.binary(max_size=600))
def test_random_bytes_raise_nothing_but_our_errors(data: bytes) -> None:
    only_our_errors(data)
    only_our_errors(b"RIFF\0\0\0\0WAVE" + data)


@settings(max_examples=400, deadline=None)
@given(
    base=st.sampled_from(
        [
            wav(packed(tone(seconds=0.01), 16)),
            wav(packed(tone(seconds=0.01), 24), bits=24, extensible=True),
            wav(packed(tone(seconds=0.01), 32, FLOAT), bits=32, tag=FLOAT, after=chunk(b"LIST", b"INFO")),
            wav(packed(tone(seconds=0.01), 8), 8000, bits=8, tag=MULAW, before=chunk(b"fact", b"\0\0\0\0")),
        ]
    ),
    changes=st.lists(st.tuples(st.integers(0, 110), st.integers(0, 255)), min_size=1, max_size=8),
    end=st.integers(0, 700),
)
def test_a_mutated_header_raises_nothing_but_our_errors(
    base: bytes, changes: list[tuple[int, int]], end: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = bytearray(base)
    for at, value in changes:
        data[min(at, len(data) - 1)] = value
    only_our_errors(bytes(data))
    only_our_errors(bytes(data[:end]))
    path = tmp_path_factory.getbasetemp() / "mutated.wav"
    path.write_bytes(data)
    for read in (audio.read_wav, audio.wav_data):
        with contextlib.suppress(errors.NotOurSound):
            read(path)


@settings(deadline=None)
@given(
    words=st.lists(st.sampled_from([0, 1, 2, 4, 255, 0x7FFF, 0xFFFE, 0xFFFF]), min_size=8, max_size=8),
    size=st.sampled_from([0, 1, 0x7FFFFFFF, 0xFFFFFFFF]),
)
def test_a_header_of_extreme_numbers_raises_nothing_but_our_errors(words: list[int], size: int) -> None:
    head = struct.pack("<8H", *words)
    only_our_errors(b"RIFF\0\0\0\0WAVE" + chunk(b"fmt ", head) + b"data" + struct.pack("<I", size) + bytes(100))


# A sound


def test_a_sound_is_one_line() -> None:
    assert repr(load(tone(seconds=3.2))) == str(load(tone(seconds=3.2))) == "<Sound array, 3.2 s, −9 dBFS>"
    assert repr(Sound(b"", "a\nb\x1b[31m")) == "<Sound a b␛[31m, 0.0 s, −120 dBFS>"


def test_levels_are_decibels_of_full_scale() -> None:
    square = Sound(struct.pack("<2h", 32767, -32767) * 1000)
    assert abs(square.level) < 0.01
    assert abs(square.peak) < 0.01
    silence = Sound(bytes(4800))
    assert (silence.level, silence.peak) == (-120, -120)
    assert Sound(b"").level == Sound(b"").peak == -120
    assert load(tone(seconds=2.5)).level == pytest.approx(-9.03, abs=0.01)


@settings(deadline=None)
@given(size=st.integers(0, 4000), ms=st.integers(1, 50))
def test_blocks_are_the_sound(size: int, ms: int) -> None:
    sound = Sound(bytes(range(250)) * 2 * (size // 250))
    blocks = list(sound.blocks(ms))
    assert b"".join(blocks) == sound.pcm
    assert all(len(block) == 48 * ms for block in blocks[:-1])
    assert all(blocks)


def test_pcm_has_whole_samples_and_blocks_have_a_length() -> None:
    with pytest.raises(ValueError, match="found 3 bytes"):
        Sound(b"abc")
    with pytest.raises(ValueError, match="found 0"):
        Sound(b"ab").blocks(0)


def test_a_sound_becomes_quieter_and_louder() -> None:
    sound = load(tone(amplitude=0.25), sample_rate=24000)
    quiet = sound.louder(-6)
    assert quiet.level == pytest.approx(sound.level - 6, abs=0.01)
    assert quiet.louder(6).level == pytest.approx(sound.level, abs=0.01)
    assert (quiet.name, quiet.found) == (sound.name, sound.found)


@settings(deadline=None)
@given(amplitude=st.floats(0.1, 1.0), db=st.floats(-100, 100))
def test_louder_never_cuts_off_a_peak(amplitude: float, db: float) -> None:
    sound = load(np.array([amplitude, -amplitude / 2] * 20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.SoundLimited)
        high, low = samples(sound.louder(db))[:2]
    assert abs(high + 2 * low) <= 40 / 32768  # its form stays


def test_louder_says_when_it_could_not() -> None:
    sound = load(tone(amplitude=0.5))
    with pytest.warns(errors.SoundLimited, match=r"changed by \+6\.0 dB instead of \+20\.0 dB"):
        assert sound.louder(20).peak == pytest.approx(0, abs=0.01)
    assert Sound(bytes(100)).louder(20).pcm == bytes(100)


@pytest.mark.parametrize("db", [float("nan"), float("inf"), 101, -101, "6", None, True])
def test_a_change_of_level_is_a_number(db: Any) -> None:
    sound = load(tone())
    for change in (sound.louder, sound.with_noise):
        with pytest.raises(errors.WrongLevel, match=re.escape(f"found {db!r}")):
            change(db)


@pytest.mark.parametrize("color", ["white", "pink"])
def test_noise_has_the_distance_that_is_asked_for(color: Any) -> None:
    sound = load(tone(seconds=2.0, amplitude=0.2))
    noisy = sound.with_noise(10, color=color)
    rest = samples(noisy) - samples(sound)
    assert 20 * np.log10(np.sqrt((rest**2).mean())) == pytest.approx(sound.level - 10, abs=0.1)
    assert noisy.pcm == sound.with_noise(10, 0, color=color).pcm != sound.with_noise(10, 1, color=color).pcm


def test_pink_noise_has_the_same_power_in_every_octave_and_white_has_not() -> None:
    levels = {}
    for color in ("white", "pink"):
        sound = load(np.full(240_000, 0.1)).with_noise(3, color=color)
        power = np.abs(np.fft.rfft(samples(sound))) ** 2
        hertz = np.fft.rfftfreq(240_000, 1 / 24000)
        levels[color] = [10 * np.log10(power[(hertz >= low) & (hertz < 2 * low)].sum()) for low in (250, 4000)]
    assert levels["white"][1] - levels["white"][0] == pytest.approx(12, abs=1)  # four octaves up, 3 dB each
    assert levels["pink"][1] == pytest.approx(levels["pink"][0], abs=1)


def test_noise_that_would_be_cut_off_makes_both_quieter() -> None:
    sound = load(tone(amplitude=0.9)).with_noise(-10)
    assert sound.peak == pytest.approx(0, abs=0.01)
    assert (np.abs(samples(sound)) > 0.999).sum() <= 2


def test_noise_needs_something_to_be_quieter_than() -> None:
    with pytest.raises(errors.WrongLevel, match="this recording is silent"):
        Sound(bytes(100)).with_noise(10)
    with pytest.raises(ValueError, match="found 'brown'"):
        load(tone()).with_noise(10, color="brown")  # type: ignore[arg-type]


def test_a_sound_is_saved_as_a_wav_that_anything_reads(tmp_path: Path) -> None:
    sound = load(tone())
    assert sound.save(tmp_path / "turn.wav") == tmp_path / "turn.wav"
    with wave.open(str(tmp_path / "turn.wav"), "rb") as file:
        assert file.getparams()[:4] == (1, 2, 24000, 12000)
        assert file.readframes(12000) == sound.pcm
    assert load(tmp_path / "turn.wav").pcm == sound.pcm
    with pytest.raises(errors.CannotWrite, match="No such file or directory"):
        sound.save(str(tmp_path / "nowhere" / "turn.wav"))


def test_a_sound_plays_in_a_notebook_and_its_name_is_text() -> None:
    sound = Sound(load(tone(seconds=1.0)).pcm, "<script>alert(1)</script>.wav", "<b>")
    html = sound._repr_html_()
    assert "<script" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;.wav" in html
    assert html.count("<audio ") == 1
    data = re.search(r'src="data:audio/wav;base64,([A-Za-z0-9+/=]+)"', html)
    assert data is not None
    assert load(base64.b64decode(data[1])).pcm == sound.pcm
    assert "can be played here" not in html


def test_a_long_sound_is_not_put_into_a_notebook_whole() -> None:
    html = Sound(bytes(48_000 * (INLINE_SECONDS + 1)))._repr_html_()
    assert len(html) < INLINE_SECONDS * 48_000 * 4 / 3 + 2000
    assert "Its first 120 s can be played here" in html


def test_bars_show_where_it_is_loud() -> None:
    quiet, loud = bytes(72_000), load(tone(seconds=1.5, amplitude=1.0)).pcm
    assert bars(quiet + loud) == "▁" * 36 + "█" * 36
    assert bars(b"") == ""
    assert bars(b"\0\0") == "▁"


# Pace


class VirtualTime(selectors.DefaultSelector):
    """A selector for which time passes only while the loop has nothing to do, and then at once."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        self.now += timeout or 0.0
        return super().select(0)


def with_virtual_time(blocks: Iterable[bytes], late: dict[int, float], **options: Any) -> list[tuple[float, bytes]]:
    """Return each block with the time at which it came, where the reader is late by so many seconds at a block."""
    selector = VirtualTime()

    class Loop(asyncio.SelectorEventLoop):
        def time(self) -> float:
            return selector.now

    async def read() -> list[tuple[float, bytes]]:
        found = []
        paced: AsyncIterator[bytes] = pace(blocks, **options)
        async for block in paced:
            found.append((selector.now, block))
            selector.now += late.get(len(found), 0.0)  # a loop that was busy
        return found

    with asyncio.Runner(loop_factory=lambda: Loop(selector)) as runner:
        return runner.run(read())


def test_a_block_comes_when_it_would_have_been_recorded() -> None:
    blocks = [bytes(1920)] * 3 + [bytes(480)]
    came = [at for at, _ in with_virtual_time(blocks, {})]
    assert came == pytest.approx([0.04, 0.08, 0.12, 0.13], abs=1e-6)


def test_ten_minutes_do_not_drift() -> None:
    came = [
        at for at, _ in with_virtual_time([bytes(48 * 7)] * (600_000 // 7), dict.fromkeys(range(0, 9000, 2), 0.003))
    ]
    assert came[-1] == pytest.approx(600_000 // 7 * 0.007, abs=1e-5)


def test_who_was_late_catches_up() -> None:
    came = [at for at, _ in with_virtual_time([bytes(1920)] * 10, {2: 0.2})]
    assert came == pytest.approx([0.04, 0.08, *[0.28] * 5, 0.32, 0.36, 0.4], abs=1e-6)


async def test_as_fast_as_it_goes_still_lets_others_run() -> None:
    ran = []

    async def other() -> None:
        for turn in range(3):
            ran.append(turn)
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    seen = [list(ran) async for _ in pace([b"\0\0"] * 3, realtime=False)]
    await task
    assert [len(each) for each in seen] == [1, 2, 3]


def test_without_a_pace_no_time_passes() -> None:
    found = with_virtual_time([bytes(48_000)] * 100, {}, realtime=False)
    assert [at for at, _ in found] == [0.0] * 100


# The import


def test_importing_it_loads_neither_numpy_nor_soxr() -> None:
    code = "import handoffkit.audio, handoffkit.sources, sys; print('numpy' in sys.modules, 'soxr' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", "False"]
