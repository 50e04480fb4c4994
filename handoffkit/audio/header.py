"""What a WAV file says about itself, held against what is really there. It reads the header and no sound.

The layout is Microsoft's: RIFF chunks of a name, a length and an even number of bytes, `fmt ` (WAVEFORMATEX or
WAVEFORMATEXTENSIBLE) before `data`; RF64 with its `ds64` chunk is EBU Tech 3306.
"""

import os
import re
import struct
from dataclasses import dataclass
from typing import BinaryIO

from ..errors import BadHeader, NotAWav, SoundEmpty, UnknownEncoding
from .magic import guess

WAV_MAGIC = (b"RIFF", b"RF64")
UNKNOWN_SIZE = 0x7FFF_0000
"""Bytes: programs that write into a pipe cannot know the length, and write one from here up."""
_MAX_CHUNKS = 1000  # before the sound; a file of nothing but empty chunks would keep us busy
_EXTENSIBLE = 0xFFFE
_INT, _FLOAT, _ALAW, _MULAW = 1, 3, 6, 7
_WIDTHS = {_INT: {1, 2, 3, 4}, _FLOAT: {4, 8}, _ALAW: {1}, _MULAW: {1}}
_ENCODINGS = {_INT: "int", _FLOAT: "float", _ALAW: "A-law", _MULAW: "µ-law"}
_OTHERS = {2: "ADPCM", 0x11: "ADPCM", 0x31: "GSM 6.10", 0x50: "MPEG audio", 0x55: "MP3", 0xFF: "AAC", 0x1610: "AAC"}
_GUID = bytes.fromhex("00000000 1000 8000 00AA00389B71")
"""The rest of an extensible format's name, if its first two bytes are one of the old numbers."""
_CHUNK = re.compile(rb"[A-Za-z0-9_ ]{3}[A-Za-z0-9_ \0]")


@dataclass(frozen=True)
class Header:
    """How to read the sound of one WAV file.

    Attributes:
        rate: Hz, as the file says; any number.
        channels: At least 1.
        width: Bytes of one sample.
        encoding: `int` (8 bits unsigned, else signed), `float`, `A-law` or `µ-law`.
        offset: Where the sound begins, in bytes.
        size: Bytes of sound that are really there.
        damage: What is wrong with the file, in words; empty if nothing is.
    """

    rate: int
    channels: int
    width: int
    encoding: str
    offset: int
    size: int
    damage: str = ""

    @property
    def frame(self) -> int:
        """Bytes of one sample of every channel."""
        return self.channels * self.width

    def __str__(self) -> str:
        sort = "" if self.encoding == "int" else f" {self.encoding}"
        channels = {1: "mono", 2: "stereo"}.get(self.channels, f"{self.channels} channels")
        return f"{self.rate} Hz, {8 * self.width} bit{sort}, {channels}"


def read_header(file: BinaryIO, name: str) -> Header:
    """Return what *file* says about its sound, corrected by its true length.

    Raises:
        NotAWav, BadHeader, UnknownEncoding, SoundEmpty: It holds no sound that can be read.
    """
    total = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(12)
    if head[:4] not in WAV_MAGIC or head[8:] != b"WAVE":
        raise SoundEmpty(name, "it has 0 bytes") if not head else NotAWav(name, guess(head + file.read(512)))
    form, long_size = b"", 0
    for _ in range(_MAX_CHUNKS):
        chunk = file.read(8)
        if len(chunk) < 8:
            break
        kind, length = struct.unpack("<4sI", chunk)
        if kind == b"data":
            return _header(form, file, name, total, long_size if length == 0xFFFF_FFFF and long_size else length)
        if length > total - file.tell():
            raise BadHeader(name, f"its part {_word(kind)!r} claims {length} bytes, more than the file has")
        body = file.read(min(length, 64))
        form = body if kind == b"fmt " else form
        long_size = int.from_bytes(body[8:16], "little") if kind == b"ds64" else long_size
        file.seek(length - len(body) + length % 2, os.SEEK_CUR)
    raise SoundEmpty(name, "it ends before its sound begins")


def _header(form: bytes, file: BinaryIO, name: str, total: int, claimed: int) -> Header:
    """*file* stands where the sound begins."""
    rate, channels, width, encoding, doubt = _form(form, name)
    offset = file.tell()
    size, damage = _size(file, total - offset, claimed, rate * channels * width)
    return Header(rate, channels, width, encoding, offset, size, "; ".join(filter(None, (doubt, damage))))


def _form(form: bytes, name: str) -> tuple[int, int, int, str, str]:
    """Return rate, channels, bytes of a sample, encoding, and what is doubtful about them."""
    if len(form) < 16:
        raise BadHeader(name, f"its format takes {len(form)} bytes, and should take 16 or more")
    tag, channels, rate, speed, frame, bits = struct.unpack("<HHIIHH", form[:16])
    if tag == _EXTENSIBLE:
        known = len(form) >= 40 and form[26:40] == _GUID
        tag = int.from_bytes(form[24:26], "little") if known else tag
    if tag not in _WIDTHS:
        raise UnknownEncoding(name, _OTHERS.get(tag, f"the format 0x{tag:04x}"))
    if not channels or not rate:
        raise BadHeader(name, f"it says {channels} channels and {rate} Hz")
    width = _width(bits, channels, frame, speed == rate * frame)
    if not bits or width not in _WIDTHS[tag]:
        raise UnknownEncoding(name, f"{bits} bit {_ENCODINGS[tag]}")
    doubt = "" if frame == channels * width else f"its header contradicts itself, so it was read as {8 * width} bit"
    return rate, channels, width, _ENCODINGS[tag], doubt


def _width(bits: int, channels: int, frame: int, agreed: bool) -> int:
    """Return the bytes of a sample: 24 bits may lie in 4 bytes, at their upper end, if the header agrees."""
    if bits == 24 and frame == 4 * channels and agreed:
        return 4
    return -(-bits // 8)


def _size(file: BinaryIO, left: int, claimed: int, speed: int) -> tuple[int, str]:
    """Return the bytes of sound that are there, and what is wrong with that."""
    if claimed > left:
        missing = (claimed - left) / speed
        return left, "" if claimed >= UNKNOWN_SIZE else f"it was cut off, and {missing:.1f} s of its sound are missing"
    offset = file.tell()
    file.seek(claimed + claimed % 2, os.SEEK_CUR)
    rest = left - claimed - claimed % 2
    if rest < 8 or _is_chunk(file.read(8), rest - 8):
        return claimed, ""
    if not claimed:  # written into a pipe by a program that would have filled it in later
        return left, ""
    file.seek(offset)
    return claimed, f"after its sound there are {rest} bytes that its header does not count; they were left out"


def _is_chunk(head: bytes, left: int) -> bool:
    return bool(_CHUNK.fullmatch(head[:4])) and int.from_bytes(head[4:], "little") <= left


def _word(kind: bytes) -> str:
    return kind.decode("ascii", "replace").strip()
