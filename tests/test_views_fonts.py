"""Every script is drawn with real letters, or not at all, and then the picture says what to install."""

import warnings
from pathlib import Path

import pytest
from matplotlib import font_manager
from matplotlib.text import Text
from views_samples import agent, caller

from handoffkit.views import timeline
from handoffkit.views.fonts import BASE, EMOJI, choose, drawable, package, script
from handoffkit.wire.conversation import Turn

SAMPLES = {
    "latin": "Größe, naïve, Łódź",
    "cyrillic": "Ноутбук не заряжается",
    "arabic": "الكمبيوتر المحمول لا يشحن",
    "hebrew": "המחשב לא נטען",
    "hangul": "노트북이 충전되지 않아요",
    "CJK": "ノートパソコンが充電できません 你好",
    "devanagari": "मेरा लैपटॉप चार्ज नहीं हो रहा",
    "thai": "แล็ปท็อปชาร์จไม่เข้า",
    "bengali": "ল্যাপটপ চার্জ হচ্ছে না",
    EMOJI: "🎉 👍🏽 👨‍👩‍👧 ❤️ 🔌",
}


def words_of(turns: list[Turn]) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = timeline(turns)
        assert made.png
    return [text.get_text() for text in made.figure.findobj(Text) if text.get_text()]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_script_is_drawn_with_its_own_letters(name: str) -> None:
    text = SAMPLES[name]
    fonts = choose([drawable(text)])
    if fonts.missing:
        pytest.skip(f"No font draws {name}. On Debian: apt-get install {package(name)} (apt.txt lists such packages).")

    words = words_of([caller(text, 0.0, 8.0, spoken=True), agent("ok", 8.5, 9.0)])

    assert fonts.families[0] == BASE
    assert drawable(text) in words
    assert not any("No font" in word for word in words)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_without_a_font_the_turn_shows_its_number_and_the_picture_says_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a machine with nothing but what matplotlib brings.
    own = [entry for entry in font_manager.fontManager.ttflist if "mpl-data" in Path(entry.fname).parts]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", own)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)

    words = words_of([caller(SAMPLES[name], 0.0, 8.0, spoken=True), agent("ok", 8.5, 9.0)])

    if name in ("latin", "cyrillic", "arabic", "hebrew"):
        assert SAMPLES[name] in words
    else:
        assert "1" in words
        assert SAMPLES[name] not in words
        assert any(f"(Debian: {package(name)})" in word for word in words)


def test_what_has_no_letters_anywhere_is_named_without_a_package() -> None:
    words = words_of([caller("\ue123 \U000fffff \u0378", 0.0, 8.0), agent("ok", 8.5, 9.0)])

    assert "1" in words
    assert "unnamed characters (there is none)" in words


def test_a_font_that_was_just_installed_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fonts = choose([SAMPLES["hangul"]])
    if fonts.missing:
        pytest.skip(
            "No font draws Hangul. On Debian: apt-get install fonts-wqy-microhei (apt.txt lists such packages)."
        )
    installed = font_manager.findfont(fonts.families[1])
    damaged = tmp_path / "damaged.ttf"
    damaged.write_bytes(b"no font")
    before = [entry for entry in font_manager.fontManager.ttflist if "mpl-data" in Path(entry.fname).parts]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", before)
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [str(installed), str(damaged)])

    assert choose([SAMPLES["hangul"]]).families == fonts.families


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("한", "hangul"),
        ("中", "CJK"),
        ("ー", "CJK"),
        ("न", "devanagari"),
        ("🎉", EMOJI),
        ("→", EMOJI),
        ("\ue000", "unnamed"),
    ],
)
def test_the_script_of_a_character(character: str, name: str) -> None:
    assert script(character) == name


def test_every_package_that_is_advised_is_in_apt_txt() -> None:
    listed = (Path(__file__).parent.parent / "apt.txt").read_text()

    for name in SAMPLES.keys() - {"latin", "cyrillic", "hebrew"}:
        assert package(name) in listed
