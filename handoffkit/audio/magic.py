"""What a file that is no WAV looks like, by how it begins."""

_BEGINNINGS = (
    (b"ID3", "an MP3 file"),
    (b"OggS", "an Ogg file (Vorbis or Opus)"),
    (b"fLaC", "a FLAC file"),
    (b"\x1aE\xdf\xa3", "a WebM or Matroska file"),
    (b"FORM", "an AIFF file"),
    (b"#!AMR", "an AMR file"),
    (b"caff", "a CAF file"),
    (b".snd", "an AU file"),
    (b"RIFX", "a WAV file with the bytes the other way round (RIFX)"),
    (b"RIFF", "a RIFF file of another kind, or one that is cut off"),
    (b"RF64", "an RF64 file of another kind, or one that is cut off"),
    (b"riff", "a Wave64 file"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP file, or a document that is one"),
    (b"version https://git-lfs", "a pointer of Git LFS whose file was not fetched (`git lfs pull` fetches it)"),
)


def known(head: bytes) -> str:
    """Return what a file that begins with *head* surely is; empty if its beginning says nothing."""
    if head[4:8] == b"ftyp":
        return "an M4A or MP4 file"
    return next((kind for magic, kind in _BEGINNINGS if head.startswith(magic)), "")


def guess(head: bytes) -> str:
    """Return what a file that begins with *head* (a few hundred bytes) looks like, in words."""
    if found := known(head):
        return found
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0:
        return "an MP3 or AAC file, by its looks"
    if not any(head):
        return "a file of zeros"
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:
            return "a file of unknown kind"
    return "a text file"
