"""Who is watching: the pages that show a panel, by their heartbeats, and how long all of them have been gone. Pure.

A reload and a closing look the same from here, so a page that says good-bye only shortens the wait. A kernel that was
blocked has not heard the beats that came meanwhile: that time does not count.
"""

from collections.abc import Callable
from dataclasses import dataclass

BEAT = 2.0
"""Seconds between two heartbeats of a page."""
GONE = 60.0
"""Seconds without a beat of any page, after which a call that a page drives is hung up."""
BYE = 20.0
"""Seconds for that after a page has said good-bye."""
LAG = 2.0
"""Seconds by which the kernel's loop has to be late for that to be called blocked."""
_MOST = 50  # pages that are kept in mind; a page makes up its own name


@dataclass(slots=True)
class _Page:
    seen: float
    mic: bool = False
    left: bool = False


class Presence:
    """The pages of one panel.

    Args:
        clock: Seconds, monotonic: the kernel's loop's.
        gone: Seconds without a beat after which nobody is there.
        bye: The same after a page's good-bye.
    """

    def __init__(self, clock: Callable[[], float], gone: float = GONE, bye: float = BYE) -> None:
        self._clock, self.gone, self.bye = clock, gone, bye
        self._pages: dict[str, _Page] = {}
        self.owner = ""
        """The page that plays the agent's sound: where Start was pressed, or whose microphone is open."""

    def hello(self, page: str) -> None:
        """Take note of a page that has just opened."""
        self._see(page)

    def beat(self, page: str, mic: bool) -> None:
        """Take note of a heartbeat; a page whose microphone is open plays the sound, too."""
        self._see(page).mic = mic
        if mic:
            self.owner = page

    def owns(self, page: str) -> None:
        """Have *page* play the agent's sound from now on."""
        if page:
            self._see(page)
            self.owner = page

    def leave(self, page: str) -> None:
        """Take note of a page that says good-bye: it may be back in a moment."""
        if found := self._pages.get(page):
            found.left = True

    def lagged(self, seconds: float) -> None:
        """Leave *seconds* out of account, in which the kernel could not hear anybody."""
        for page in self._pages.values():
            page.seen += seconds

    @property
    def known(self) -> bool:
        """Whether a page was ever there."""
        return bool(self._pages)

    @property
    def here(self) -> list[str]:
        """The pages that are there, the oldest first."""
        now = self._clock()
        return [name for name, page in self._pages.items() if not page.left and now - page.seen <= self.gone]

    def away(self) -> float:
        """Return for how many seconds no page has been heard of; 0 before the first one."""
        return max(0.0, self._clock() - max((page.seen for page in self._pages.values()), default=self._clock()))

    def nobody(self) -> bool:
        """Say whether every page that was ever there is gone for good."""
        now = self._clock()
        waits = ((page.seen, self.bye if page.left else self.gone) for page in self._pages.values())
        return self.known and all(now - seen > wait for seen, wait in waits)

    def _see(self, name: str) -> _Page:
        page = self._pages.pop(name, None) or _Page(0.0)
        self._pages[name] = page  # newest last
        while len(self._pages) > _MOST:
            self._pages.pop(next(iter(self._pages)))
        page.seen, page.left = self._clock(), False
        if self.owner not in self._pages:
            self.owner = name
        return page


def lag(slept: float, meant: float) -> float:
    """Return by how many seconds a sleep was late, where that is more than a busy machine explains; else 0."""
    late = slept - meant
    return late if late >= LAG else 0.0


def page_sound(version: tuple[int, ...] | None) -> tuple[bool, str]:
    """Say whether sound of the page's can work with an ipykernel of *version*, and if not, why and what to do.

    Older kernels handle no message of a page while a cell awaits, or handle it in another thread and loop (measured).

    Args:
        version: As in `ipykernel.version_info`; None outside a kernel, where nobody knows better.
    """
    if version is None or tuple(version[:2]) >= (7, 4):
        return True, ""
    found = ".".join(str(part) for part in version[:3])
    return False, (
        f"This kernel runs ipykernel {found}, which takes no sound from a page while a cell runs. Typed turns work. "
        'For speech run `%pip install -U "ipykernel>=7.4"` and restart the kernel.'
    )
